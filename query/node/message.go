package node

import (
	"math/big"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/ton/address"
	tontoken "tonscribe/ton/token"
)

// Message is a message of a transaction.
type Message struct {
	Hash                [32]byte
	Source, Destination *address.Address // nil where there is none
	Value               *big.Int
	Currencies          []Currency
	FwdFee, IhrFee      *big.Int
	CreatedLT           uint64
	Body, Init          *cell.Cell // Init is nil without an initial state
	Text                Text
	external            bool // no internal one
}

// Text is what a message's body says to people.
type Text struct {
	Kind Comment
	// Bytes are those of a comment behind its opcode, and the bits of any other body.
	Bytes []byte
}

// Comment says what the body of a message is.
type Comment uint8

// The kinds of bodies.
const (
	NoComment        Comment = iota
	PlainComment             // a text
	EncryptedComment         // a text that the receiver only can read
	UnreadableBody           // a special cell
)

// parseMessage reads a Message (TL-B).
func parseMessage(c *cell.Cell) (*Message, error) {
	s, err := c.BeginParse()
	if err != nil {
		return nil, err
	}
	m := &Message{Hash: c.HashKey(), Value: new(big.Int), FwdFee: new(big.Int), IhrFee: new(big.Int)}
	r := readerOf(s)
	if r.Bit() {
		m.external = true
		m.externalInfo(r)
	} else {
		m.internalInfo(r)
	}
	m.Init = r.stateInit()
	m.Body = r.either()
	m.Text = textOf(m.Body)
	return m, r.Err()
}

// internalInfo reads int_msg_info after its tag.
func (m *Message) internalInfo(r *reader) {
	r.Skip(3) // ihr_disabled, bounce, bounced
	m.Source = r.party()
	m.Destination = r.party()
	m.Value, m.Currencies = r.currencies()
	m.IhrFee = withoutFlags(r.Coins())
	m.FwdFee = r.Coins()
	m.CreatedLT = r.Uint(64)
	r.Skip(32)
}

// withoutFlags is the fee for instant hypercube routing. Since version 12 of
// the virtual machine its place holds flags, of which there are two; as a fee
// so small a number never was.
func withoutFlags(fee *big.Int) *big.Int {
	const flags = 3
	if fee.IsUint64() && fee.Uint64() <= flags {
		return new(big.Int)
	}
	return fee
}

// externalInfo reads ext_in_msg_info and ext_out_msg_info after their first bit.
func (m *Message) externalInfo(r *reader) {
	if out := r.Bit(); out {
		m.Source = r.party()
		r.address()
		m.CreatedLT = r.Uint(64)
		r.Skip(32)
		return
	}
	r.address()
	m.Destination = r.party()
	r.Coins()
}

const (
	opcodeText      = 0
	opcodeEncrypted = 0x2167da4b
)

// textOf reads a body.
func textOf(body *cell.Cell) Text {
	s, err := body.BeginParse()
	if err != nil || body.IsSpecial() {
		return Text{Kind: UnreadableBody}
	}
	rest := s.Copy()
	if opcode, err := rest.LoadUInt(32); err == nil && (opcode == opcodeText || opcode == opcodeEncrypted) {
		cells := maxTextCells
		if text, ok := tontoken.Snake(rest, maxTextBytes, &cells); ok {
			if opcode == opcodeEncrypted {
				return Text{EncryptedComment, text}
			}
			return Text{PlainComment, text}
		}
	}
	_, data, _ := s.RestBits() // nothing on an error
	return Text{Bytes: data}
}

// maxTextCells is how many cells a chain can have, and maxTextBytes is more
// than they hold.
const (
	maxTextCells = MaxDepth + 1
	maxTextBytes = 1024 * 128
)

package v2

import (
	"encoding/base64"
	"math/big"
	"strings"

	"github.com/xssnick/tonutils-go/tvm/cell"

	tontoken "tonscribe/ton/token"
)

type extraCurrency struct {
	_      typed    `type:"extraCurrency"`
	ID     int32    `json:"id"`
	Amount *big.Int `json:"amount"`
}

type accountAddress struct {
	_       typed  `type:"accountAddress"`
	Address string `json:"account_address"`
}

// messageData is a message's body in one of three forms.
type messageData interface{ isMessageData() }

type dataRaw struct {
	_         typed      `type:"msg.dataRaw"`
	Body      *cell.Cell `json:"body"`
	InitState *cell.Cell `json:"init_state"`
}

type dataText struct {
	_    typed  `type:"msg.dataText"`
	Text []byte `json:"text"`
}

type dataEncryptedText struct {
	_    typed  `type:"msg.dataEncryptedText"`
	Text []byte `json:"text"`
}

func (dataRaw) isMessageData()           {}
func (dataText) isMessageData()          {}
func (dataEncryptedText) isMessageData() {}

// messageParts are what both forms of a message have in common.
type messageParts struct {
	Hash            [32]byte        `json:"hash"`
	Value           *big.Int        `json:"value"`
	ExtraCurrencies []extraCurrency `json:"extra_currencies"`
	FwdFee          *big.Int        `json:"fwd_fee"`
	IhrFee          *big.Int        `json:"ihr_fee"`
	CreatedLT       uint64          `json:"created_lt,string"`
	BodyHash        [32]byte        `json:"body_hash"`
	Data            messageData     `json:"msg_data"`
}

// rawMessage is the message of getTransactionsStd and of lists of blocks.
type rawMessage struct {
	_           typed          `type:"raw.message"`
	Source      accountAddress `json:"source"`
	Destination accountAddress `json:"destination"`
	messageParts
}

// extMessage is the message of getTransactions and of the tryLocate methods.
type extMessage struct {
	_           typed  `type:"ext.message"`
	Source      string `json:"source"`
	Destination string `json:"destination"`
	messageParts
	Message *string `json:"message,omitempty"`
	Problem string  `json:"message_decode_error,omitempty"`
}

// message is a message read from its cell.
type message struct {
	messageParts
	source, destination Address
	from, to            bool // there is a source, a destination
	external            bool // no internal one
	message             *string
	problem             string
}

func (m *message) raw() *rawMessage {
	return &rawMessage{
		Source: accountAddress{Address: shown(m.source, m.from)}, Destination: accountAddress{Address: shown(m.destination, m.to)},
		messageParts: m.messageParts,
	}
}

func (m *message) ext() *extMessage {
	return &extMessage{
		Source: shown(m.source, m.from), Destination: shown(m.destination, m.to),
		messageParts: m.messageParts, Message: m.message, Problem: m.problem,
	}
}

// shown is an address of a message, empty when there is none.
func shown(a Address, there bool) string {
	if !there {
		return ""
	}
	return a.bounceable()
}

// parseMessage reads a Message (TL-B).
func parseMessage(c *cell.Cell) (*message, error) {
	s, err := c.BeginParse()
	if err != nil {
		return nil, err
	}
	m := &message{messageParts: messageParts{Hash: c.HashKey(), Value: new(big.Int), FwdFee: new(big.Int), IhrFee: new(big.Int)}}
	r := readerOf(s)
	if r.Bit() {
		m.external = true
		m.externalInfo(r)
	} else {
		m.internalInfo(r)
	}
	init := r.stateInit()
	body := r.either()
	if r.Err() != nil {
		return nil, r.Err()
	}
	m.BodyHash = body.HashKey()
	m.body(body, init)
	return m, nil
}

// internalInfo reads int_msg_info after its tag.
func (m *message) internalInfo(r *reader) {
	r.Skip(3) // ihr_disabled, bounce, bounced
	m.source, m.from = r.address()
	m.destination, m.to = r.address()
	m.Value, m.ExtraCurrencies = r.currencies()
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
func (m *message) externalInfo(r *reader) {
	if out := r.Bit(); out {
		m.source, m.from = r.address()
		r.address()
		m.CreatedLT = r.Uint(64)
		r.Skip(32)
		return
	}
	r.address()
	m.destination, m.to = r.address()
	r.Coins()
}

const (
	opcodeText      = 0
	opcodeEncrypted = 0x2167da4b
)

// body decides how the body is shown.
func (m *message) body(body, init *cell.Cell) {
	m.Data = dataRaw{Body: body, InitState: init}
	s, err := body.BeginParse()
	if err != nil || body.IsSpecial() {
		m.problem = "Failed to load cell or get body slice. But why?"
		return
	}
	if opcode, err := s.PreloadUInt(32); err == nil && (opcode == opcodeText || opcode == opcodeEncrypted) {
		if err := s.SkipBits(32); err != nil {
			return
		}
		cells := mostTextCells
		if text, ok := tontoken.Snake(s, mostTextBytes, &cells); ok {
			shown := strings.ToValidUTF8(string(text), "\uFFFD")
			m.message = &shown
			m.Data = dataText{Text: text}
			if opcode == opcodeEncrypted {
				m.Data = dataEncryptedText{Text: text}
			}
			return
		}
		s, _ = body.BeginParse() // it was read before
	}
	text := ""
	if _, data, err := s.RestBits(); err == nil && len(data) > 0 {
		text = base64.StdEncoding.EncodeToString(data) + "\n"
	}
	m.message = &text
}

// mostTextCells is how many cells a chain can have, and mostTextBytes is more
// than they hold.
const (
	mostTextCells = mostDepth + 1
	mostTextBytes = 1024 * 128
)

// Package body reads the bodies of messages and payloads by the layouts of their
// opcodes. Layouts are data (opcodes.txt, types.txt and layouts.txt, TL-B). In come
// cells; out come either the fields of a body, in order, for those who know what they
// look for (Layout), or all that it says, as JSON for answers (Decoder).
//
// Both go down only where a layout says so. What shared cells stand for is bounded:
// text by a budget, JSON by those of a Decoder, so that a body costs what its layout
// costs. The package must never ask who sent a message or what became of it.
package body

import (
	"errors"
	"fmt"
	"math/big"
	"unicode/utf8"

	"github.com/xssnick/tonutils-go/tvm/cell"

	toncell "tonscribe/ton/cell"
	"tonscribe/ton/token"
)

// Opcodes that are asked for by name.
const (
	Comment          = 0x00000000
	EncryptedComment = 0x2167da4b
)

// Opcodes of layouts that are asked for by name.
var (
	JettonTransfer         = opcodeOf("jetton_transfer")
	JettonInternalTransfer = opcodeOf("jetton_internal_transfer")
	JettonBurn             = opcodeOf("jetton_burn")
	JettonBurnNotification = opcodeOf("jetton_burn_notification")
	NFTTransfer            = opcodeOf("nft_transfer")
	StonfiSwap             = opcodeOf("stonfi_swap")
)

const (
	// MaxText is the longest text that is read, in bytes.
	MaxText = token.MaxValue
	// maxTextCells bounds the chain of cells that a text lies in.
	maxTextCells = 128
)

// ErrText is the error of a text that is too long or not UTF-8.
var ErrText = errors.New("no text")

// Field is a field of a body.
type Field struct {
	Name  string
	Value any // uint64, *big.Int, Address, *cell.Cell (nil for nothing), Payload, string
}

// Address is that of an account: 36 bytes as in records, nil for addr_none and for the
// forms that are none.
type Address []byte

// Payload is an Either Cell ^Cell.
type Payload struct {
	Cell   *cell.Cell // nil where there is none
	Inline bool       // not in a cell of its own
}

// Fields are those of a body, in the order of its layout.
type Fields []Field

// Read reads a body behind its opcode. With an error the fields before the one
// that does not fit are there.
func (l *Layout) Read(r *toncell.Reader) (Fields, error) {
	return l.append(make(Fields, 0, len(l.fields)), r)
}

func (l *Layout) append(list Fields, r *toncell.Reader) (Fields, error) {
	for i := range l.fields {
		f := &l.fields[i]
		if f.inner != nil {
			var err error
			if list, err = f.inner.append(list, toncell.NewReader(r.Ref())); err != nil {
				return list, err
			}
			continue
		}
		value := f.read(r)
		if err := r.Err(); err != nil {
			return list, fmt.Errorf("%s: %w", f.name, err)
		}
		if f.name != unnamed {
			list = append(list, Field{f.name, value})
		}
	}
	return list, nil
}

// Value returns the value of a field of the type, and the type's zero value
// where there is none.
func Value[T any](list Fields, name string) (value T) {
	for i := range list {
		if list[i].Name == name {
			value, _ = list[i].Value.(T)
			break
		}
	}
	return value
}

// Uint returns a field of uintN.
func (f Fields) Uint(name string) uint64 { return Value[uint64](f, name) }

// Amount returns a field of Coins, big-endian without leading zeros.
func (f Fields) Amount(name string) []byte {
	if n := Value[*big.Int](f, name); n != nil {
		return n.Bytes()
	}
	return nil
}

// Address returns a field of MsgAddress.
func (f Fields) Address(name string) Address { return Value[Address](f, name) }

// Cell returns a field of ^Cell.
func (f Fields) Cell(name string) *cell.Cell { return Value[*cell.Cell](f, name) }

// Payload returns a field of Either Cell ^Cell.
func (f Fields) Payload(name string) Payload { return Value[Payload](f, name) }

// Text reads text in a chain of cells to its end. It fails where the text is
// longer than MaxText or not UTF-8.
func Text(r *toncell.Reader) string {
	if r.Err() != nil {
		return ""
	}
	cells := maxTextCells
	text, whole := token.Snake(r.Slice(), MaxText, &cells)
	if !whole || len(text) > MaxText || !utf8.Valid(text) {
		r.Fail(ErrText)
		return ""
	}
	return string(text)
}

// readPayload reads what some senders leave out altogether.
func readPayload(r *toncell.Reader) any {
	switch {
	case r.BitsLeft() == 0:
		return Payload{}
	case r.Bit():
		return Payload{Cell: r.Ref()}
	case r.Ended():
		return Payload{}
	}
	return Payload{Cell: r.Rest(), Inline: true}
}

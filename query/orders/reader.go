package orders

import (
	"unicode/utf8"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/contract"
	"tonscribe/ton/token"
)

// reader reads a cell; ok is false once something was not there.
type reader struct {
	s       *cell.Slice
	c       *cell.Cell
	ok      bool
	address func([]byte)
}

func newReader(c *cell.Cell, address func([]byte)) *reader {
	r := &reader{c: c, address: address}
	if c == nil || c.IsSpecial() {
		return r
	}
	s, err := c.BeginParse()
	r.s, r.ok = s, err == nil
	return r
}

func (r *reader) failed(err error) bool {
	if err != nil {
		r.ok = false
	}
	return !r.ok
}

func (r *reader) uint(bits uint) uint64 {
	if !r.ok {
		return 0
	}
	n, err := r.s.LoadUInt(bits)
	if r.failed(err) {
		return 0
	}
	return n
}

// coinBytes reads VarUInteger 16 as a magnitude without leading zeros.
func (r *reader) coinBytes() []byte {
	if !r.ok {
		return nil
	}
	n, err := r.s.LoadVarUInt(16)
	if r.failed(err) {
		return nil
	}
	return n.Bytes()
}

// readAddress is nil for addr_none.
func (r *reader) readAddress() []byte {
	if !r.ok {
		return nil
	}
	a, ok := contract.ReadAddress(r.s)
	if r.ok = ok; ok && len(a) > 0 {
		r.address(a)
	}
	return a
}

// reference reads what a reference leads to.
func (r *reader) reference() *reader {
	if !r.ok {
		return &reader{address: r.address}
	}
	c, err := r.s.LoadRefCell()
	if r.failed(err) {
		return &reader{address: r.address}
	}
	return newReader(c, r.address)
}

// maybe is the cell of a Maybe ^Cell, nil for nothing.
func (r *reader) maybe() *cell.Cell {
	if r.uint(1) == 0 {
		return nil
	}
	return r.reference().whole()
}

// whole is the cell that is read.
func (r *reader) whole() *cell.Cell { return r.c }

// rest is what is left as a cell.
func (r *reader) rest() *cell.Cell {
	if !r.ok {
		return nil
	}
	c, err := r.s.ToCell()
	if r.failed(err) {
		return nil
	}
	return c
}

// left is how many bits are left.
func (r *reader) left() uint {
	if !r.ok {
		return 0
	}
	return r.s.BitsLeft()
}

// The longest text that is read.
const (
	mostText  = token.MaxValue
	mostCells = 128
)

// snake is the text in this cell and those behind it, false when it is none.
func (r *reader) snake() (string, bool) {
	if !r.ok {
		return "", false
	}
	cells := mostCells
	text, ok := token.Snake(r.s, mostText, &cells)
	if !ok || len(text) > mostText {
		return "", false
	}
	return string(text), utf8.Valid(text)
}

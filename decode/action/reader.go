package action

import (
	"encoding/base64"
	"encoding/binary"
	"math/big"
	"strings"
	"unicode/utf8"

	"tonscribe/ton/cell"
)

// Bounds of text in a chain of cells.
const (
	maxText      = 1 << 16 // bytes
	maxTextCells = 1 << 10
)

// Reader reads a body in the order of its TL-B scheme. After the first read that
// does not fit every read gives zeros, and Failed says so, so that a body is
// checked once. The zero Reader is empty.
type Reader struct {
	cell.Slice
	bag *cell.Bag
}

// Address reads a MsgAddress, nil for addr_none and for the forms that are no
// address of an account.
func (r *Reader) Address() Address {
	switch r.Uint(2) {
	case 1: // addr_extern
		r.Skip(int(r.Uint(9)))
	case 2: // addr_std
		if r.Bool() {
			r.Skip(int(r.Uint(5)))
		}
		return r.account(int32(int8(r.Uint(8))))
	case 3: // addr_var
		if r.Bool() {
			r.Skip(int(r.Uint(5)))
		}
		size := int(r.Uint(9))
		if workchain := int32(uint32(r.Uint(32))); size == 256 {
			return r.account(workchain)
		}
		r.Skip(size)
	}
	return nil
}

func (r *Reader) account(workchain int32) Address {
	a := make(Address, 36)
	binary.BigEndian.PutUint32(a, uint32(workchain))
	r.Read(a[4:])
	if r.Failed() {
		return nil
	}
	return a
}

// Coins reads a VarUInteger 16.
func (r *Reader) Coins() *big.Int { return r.Big(uint(r.Uint(4)) * 8) }

// Big reads a number of n bits without a sign, n at most 512.
func (r *Reader) Big(n uint) *big.Int {
	if n <= 64 {
		return new(big.Int).SetUint64(r.Uint(n))
	}
	var b [64]byte
	head := n % 8
	size := int(n+7) / 8
	if head != 0 {
		b[0] = byte(r.Uint(head))
		r.Read(b[1:size])
	} else {
		r.Read(b[:size])
	}
	return new(big.Int).SetBytes(b[:size])
}

// SignedBig reads a two's complement number of n bits.
func (r *Reader) SignedBig(n uint) *big.Int {
	v := r.Big(n)
	if n > 0 && v.Bit(int(n)-1) == 1 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), n))
	}
	return v
}

// Hash reads 256 bits.
func (r *Reader) Hash() []byte {
	h := make([]byte, 32)
	r.Read(h)
	return h
}

// Open reads a reference and begins to read its cell. Where there is none the
// Reader that it returns has failed.
func (r *Reader) Open() Reader { return Reader{r.Next(), r.bag} }

// MaybeOpen reads Maybe ^Cell and begins to read the cell; false for nothing.
func (r *Reader) MaybeOpen() (Reader, bool) {
	if !r.Bool() {
		return Reader{bag: r.bag}, false
	}
	return r.Open(), !r.Failed()
}

// Cell reads ^Cell as it is.
func (r *Reader) Cell() BoC { return bocOf(r.Ref()) }

// MaybeCell reads Maybe ^Cell as it is, nil for nothing.
func (r *Reader) MaybeCell() BoC {
	if !r.Bool() {
		return nil
	}
	return r.Cell()
}

// Payload reads Either Cell ^Cell, which some senders leave out altogether, or
// write without its first bit.
func (r *Reader) Payload() Payload {
	switch {
	case r.Failed() || r.BitsLeft() == 0 && r.RefsLeft() == 0:
		return Payload{}
	case r.BitsLeft() == 0:
		return r.Rest()
	}
	whole := r.Rest()
	if !r.Bool() {
		return Payload{Reader: *r, There: true}
	}
	if r.RefsLeft() == 0 {
		return whole
	}
	c := r.Ref()
	return Payload{Reader: Reader{c.Slice(), r.bag}, There: true, whole: c}
}

// Rest is what is left, as a payload.
func (r Reader) Rest() Payload {
	return Payload{Reader: r, There: !r.Failed() && (r.BitsLeft() > 0 || r.RefsLeft() > 0)}
}

// BoC is what is left of a Reader as a cell, nil after a failure.
func (r Reader) BoC() BoC {
	if r.Failed() || r.bag == nil {
		return nil
	}
	var b cell.Builder
	b.StoreRest(&r.Slice)
	c, err := r.bag.Add(&b)
	if err != nil {
		return nil
	}
	return bocOf(c)
}

func bocOf(c cell.Cell) BoC {
	if !c.Valid() {
		return nil
	}
	boc, err := cell.BoC(c)
	if err != nil {
		return nil
	}
	return boc
}

// Payload is what a transfer carries to its receiver. Its Reader stands at its
// beginning.
type Payload struct {
	Reader
	There bool
	whole cell.Cell // where it has a cell of its own
}

// BoC is the payload as a cell, nil where there is none.
func (p Payload) BoC() BoC {
	switch {
	case !p.There:
		return nil
	case p.whole.Valid():
		return bocOf(p.whole)
	}
	return p.Reader.BoC()
}

// Opcode returns the first 32 bits, false where there are fewer.
func (p Payload) Opcode() (uint32, bool) {
	v, ok := p.Peek(32)
	return uint32(v), ok && p.There
}

// Body returns a Reader behind the opcode where the payload has the opcode.
func (p Payload) Body(opcode uint32) (Reader, bool) {
	if op, ok := p.Opcode(); !ok || op != opcode {
		return Reader{}, false
	}
	p.Skip(32)
	return p.Reader, true
}

// Comment returns the text of a payload that begins with the opcode of a comment,
// or the base64 of an encrypted one; nil where there is none.
func (p Payload) Comment() (text *string, encrypted bool) {
	if r, ok := p.Body(opComment); ok {
		return commentOf(r), false
	}
	if r, ok := p.Body(opEncryptedComment); ok {
		return cipherOf(r), true
	}
	return nil, false
}

// commentOf reads the text of a comment behind its opcode: UTF-8 whose broken
// bytes are written as \xNN, without NUL.
func commentOf(r Reader) *string {
	if r.BitsLeft() == 0 && r.RefsLeft() == 1 {
		r = r.Open() // the text in a cell of its own
	}
	b, ok := r.Bytes()
	if !ok || len(b) == 0 {
		return nil
	}
	text := escaped(b)
	return &text
}

func escaped(b []byte) string {
	if utf8.Valid(b) {
		return strings.ReplaceAll(string(b), "\x00", "")
	}
	var out strings.Builder
	for len(b) > 0 {
		c, size := utf8.DecodeRune(b)
		switch {
		case c == utf8.RuneError && size == 1:
			const digits = "0123456789abcdef"
			out.Write([]byte{'\\', 'x', digits[b[0]>>4], digits[b[0]&15]})
		case c != 0:
			out.Write(b[:size])
		}
		b = b[size:]
	}
	return out.String()
}

func cipherOf(r Reader) *string {
	b, ok := r.Bytes()
	if !ok || len(b) == 0 {
		return nil
	}
	text := base64.StdEncoding.EncodeToString(b)
	return &text
}

// Bytes reads bytes in a chain of cells to its end (TEP-64, snake). It gives false
// where the bits are no whole bytes, or there are too many.
func (r Reader) Bytes() ([]byte, bool) {
	var out []byte
	for cells := maxTextCells; ; cells-- {
		n := r.BitsLeft()
		if r.Failed() || n%8 != 0 || r.RefsLeft() > 1 || cells == 0 || len(out)+n/8 > maxText {
			return nil, false
		}
		at := len(out)
		out = append(out, make([]byte, n/8)...)
		r.Read(out[at:])
		if r.RefsLeft() == 0 {
			return out, true
		}
		r = r.Open()
	}
}

package cell

import (
	"encoding/binary"
	"errors"
	"math/big"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// ErrNoAccount is the error of an address that is not one of an account.
var ErrNoAccount = errors.New("no address of an account")

// ErrSpecial is the error of reading a special cell, such as a pruned branch or a
// library, as an ordinary one.
var ErrSpecial = errors.New("a special cell where an ordinary one is read")

// Reader reads a cell of tonutils-go in the order of a TL-B scheme. After the
// first read that does not fit, every read gives zeros and Err tells why, so that
// what a scheme says in a line is a line of Go, and is checked once. It goes down
// only where it is told to, so that shared cells cost nothing.
type Reader struct {
	slice *cell.Slice
	err   error
}

// NewReader begins to read a cell. A nil or special one fails at once.
func NewReader(c *cell.Cell) *Reader {
	if c == nil || c.IsSpecial() {
		return &Reader{slice: cell.BeginCell().ToSlice(), err: ErrSpecial}
	}
	s, err := c.BeginParse()
	if err != nil {
		s = cell.BeginCell().ToSlice()
	}
	return &Reader{slice: s, err: err}
}

// ReaderOf reads on where s is; s moves along.
func ReaderOf(s *cell.Slice) *Reader { return &Reader{slice: s} }

// Err is the error of the first read that did not fit, or nil.
func (r *Reader) Err() error { return r.err }

// Fail makes the reader fail with err, unless it has failed before or err is nil.
func (r *Reader) Fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// Slice is the position, for what reads slices.
func (r *Reader) Slice() *cell.Slice { return r.slice }

// BitsLeft is the number of unread bits, 0 after a failure.
func (r *Reader) BitsLeft() uint {
	if r.err != nil {
		return 0
	}
	return r.slice.BitsLeft()
}

// Ended reports whether neither bits nor references are left.
func (r *Reader) Ended() bool {
	return r.err != nil || r.slice.BitsLeft() == 0 && r.slice.RefsNum() == 0
}

// Uint reads n bits, at most 64.
func (r *Reader) Uint(n uint) uint64 {
	if r.err != nil {
		return 0
	}
	var v uint64
	v, r.err = r.slice.LoadUInt(n)
	return v
}

// Bit reads one bit.
func (r *Reader) Bit() bool { return r.Uint(1) == 1 }

// Skip passes n bits.
func (r *Reader) Skip(n uint) {
	if r.err == nil {
		r.err = r.slice.SkipBits(n)
	}
}

// Hash reads 256 bits.
func (r *Reader) Hash() (h [32]byte) {
	if r.err == nil {
		r.err = r.slice.LoadSliceInto(h[:], 256)
	}
	return h
}

// Coins reads a VarUInteger 16.
func (r *Reader) Coins() *big.Int {
	if r.err == nil {
		var v *big.Int
		if v, r.err = r.slice.LoadBigCoins(); v != nil {
			return v
		}
	}
	return new(big.Int)
}

// Account reads a MsgAddress: four bytes of workchain, big-endian, and the account
// id of an addr_std without anycast, nil for addr_none. The other forms fail with
// ErrNoAccount.
func (r *Reader) Account() []byte {
	tag := r.Uint(2)
	if tag == 0 {
		return nil
	}
	if anycast := r.Bit(); tag != 2 || anycast {
		r.Fail(ErrNoAccount)
	}
	workchain, id := int32(int8(r.Uint(8))), r.Hash()
	if r.err != nil {
		return nil
	}
	return append(binary.BigEndian.AppendUint32(make([]byte, 0, 36), uint32(workchain)), id[:]...)
}

// Party reads a MsgAddress of any form: Account's bytes of an addr_std, and of an
// addr_var that is as long, with an anycast prefix written into the account id; nil of
// the others.
func (r *Reader) Party() []byte {
	const plain = 0b100 // addr_std$10 without anycast
	if r.err != nil {
		return nil
	}
	if tag, err := r.slice.PreloadUInt(3); err == nil && tag == plain {
		return r.Account()
	}
	var a *address.Address
	if a, r.err = r.slice.LoadAddr(); r.err != nil || a.BitsLen() != 256 || a.Type() != address.StdAddress && a.Type() != address.VarAddress {
		return nil
	}
	workchain := a.Workchain()
	if workchain != int32(int8(workchain)) {
		return nil
	}
	account := append(binary.BigEndian.AppendUint32(make([]byte, 0, 36), uint32(workchain)), a.Data()...)
	if cast := a.Anycast(); cast != nil {
		prefix := cast.Prefix()
		for i := range cast.Depth() {
			SetBit(account[4:], i, prefix[i/8]&(0x80>>(i%8)) != 0)
		}
	}
	return account
}

// Ref reads a reference; nil after a failure.
func (r *Reader) Ref() *cell.Cell {
	if r.err != nil {
		return nil
	}
	var c *cell.Cell
	c, r.err = r.slice.LoadRefCell()
	return c
}

// MaybeRef reads Maybe ^Cell; nil for nothing.
func (r *Reader) MaybeRef() *cell.Cell {
	if !r.Bit() {
		return nil
	}
	return r.Ref()
}

// Rest is what is left, as a cell; nil after a failure.
func (r *Reader) Rest() *cell.Cell {
	if r.err != nil {
		return nil
	}
	var c *cell.Cell
	c, r.err = r.slice.ToCell()
	return c
}

// Either reads Either Cell ^Cell, of which the first is all that is left; nil
// after a failure.
func (r *Reader) Either() *cell.Cell {
	if r.Bit() {
		return r.Ref()
	}
	return r.Rest()
}

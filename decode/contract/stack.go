package contract

import (
	"math/big"

	"github.com/xssnick/tonutils-go/tvm/cell"

	toncell "tonscribe/ton/cell"
	"tonscribe/ton/tvm"
)

// results are what a get-method left, read from the bottom. After the first
// value that is not what it should be, ok stays false and every value is zero.
// Values beyond those that are read are allowed.
type results struct {
	values tvm.Tuple
	next   int
	ok     bool
}

func (r *results) take() any {
	if !r.ok || r.next >= len(r.values) {
		r.ok = false
		return nil
	}
	value := r.values[r.next]
	r.next++
	return value
}

// isSlice reports whether the next value is a slice.
func (r *results) isSlice() bool {
	if !r.ok || r.next >= len(r.values) {
		return false
	}
	_, is := r.values[r.next].(*cell.Slice)
	return is
}

func (r *results) integer() *big.Int {
	value, ok := r.take().(*big.Int)
	if !ok {
		r.ok = false
		return new(big.Int)
	}
	return value
}

// amount is a number that is not negative, as in records.
func (r *results) amount() []byte {
	value := r.integer()
	if value.Sign() < 0 {
		r.ok = false
		return nil
	}
	return value.Bytes()
}

// hash is a number as the 256 bits of a hash; nil for one that is none, and for 0,
// which stands for no hash.
func (r *results) hash() []byte {
	value := r.integer()
	if !r.ok || value.Sign() <= 0 || value.BitLen() > 256 {
		return nil
	}
	return value.FillBytes(make([]byte, 32))
}

func (r *results) uint64() uint64 {
	value := r.integer()
	if !value.IsUint64() {
		r.ok = false
		return 0
	}
	return value.Uint64()
}

func (r *results) uint32() uint32 {
	value := r.uint64()
	if value>>32 != 0 {
		r.ok = false
		return 0
	}
	return uint32(value)
}

func (r *results) truth() bool { return r.integer().Sign() != 0 }

// address is an address, or empty for addr_none.
func (r *results) address() []byte {
	value, ok := r.take().(*cell.Slice)
	if !ok || value == nil {
		r.ok = false
		return nil
	}
	account, ok := wholeAddress(value)
	r.ok = r.ok && ok
	return account
}

// anyone is an address, or empty for addr_none and for null.
func (r *results) anyone() []byte {
	if r.skipNull() {
		return nil
	}
	return r.address()
}

// someone is an address that is not addr_none.
func (r *results) someone() []byte {
	account := r.address()
	r.ok = r.ok && account != nil
	return account
}

func (r *results) slice() *cell.Slice {
	value, ok := r.take().(*cell.Slice)
	if !ok || value == nil {
		r.ok = false
		return cell.BeginCell().ToSlice()
	}
	return value.Copy()
}

func (r *results) cell() *cell.Cell {
	value := r.optionalCell()
	r.ok = r.ok && value != nil
	return value
}

// optionalCell is nil for null.
func (r *results) optionalCell() *cell.Cell {
	switch value := r.take().(type) {
	case nil:
		return nil
	case *cell.Cell:
		return value
	}
	r.ok = false
	return nil
}

func (r *results) skip() { r.take() }

// skipNull passes over the next value where that is null, and reports whether it was.
func (r *results) skipNull() bool {
	null := r.ok && r.next < len(r.values) && r.values[r.next] == nil
	if null {
		r.next++
	}
	return null
}

// wholeAddress reads a slice that is one address and nothing else: nil for
// addr_none; false for every other kind.
func wholeAddress(s *cell.Slice) (account []byte, ok bool) {
	s = s.Copy()
	account, ok = ReadAddress(s)
	return account, ok && s.BitsLeft() == 0 && s.RefsNum() == 0
}

// ReadAddress reads an address of an account as records have it, nil for
// addr_none; false for the other forms of MsgAddress.
func ReadAddress(s *cell.Slice) (account []byte, ok bool) {
	r := toncell.ReaderOf(s)
	account = r.Account()
	return account, r.Err() == nil
}

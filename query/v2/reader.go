package v2

import (
	"encoding/binary"
	"math/big"

	"github.com/xssnick/tonutils-go/tvm/cell"

	toncell "tonscribe/ton/cell"
)

// reader reads a cell and remembers the first error, so that what a TL-B scheme
// says in a line is a line here too.
type reader struct {
	*cell.Slice
	err error
}

func parse(c *cell.Cell) *reader {
	s, err := c.BeginParse()
	if err != nil {
		return &reader{Slice: cell.BeginCell().ToSlice(), err: err}
	}
	return &reader{Slice: s}
}

func (r *reader) note(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reader) uint(bits uint) uint64 {
	n, err := r.LoadUInt(bits)
	r.note(err)
	return n
}

func (r *reader) bit() bool { return r.uint(1) == 1 }

func (r *reader) skip(bits uint) { r.note(r.SkipBits(bits)) }

func (r *reader) hash() (h [32]byte) {
	r.note(r.LoadSliceInto(h[:], 256))
	return h
}

func (r *reader) coins() *big.Int {
	n, err := r.LoadBigCoins()
	r.note(err)
	if n == nil {
		return new(big.Int)
	}
	return n
}

// ref is a reference; an empty cell after an error.
func (r *reader) ref() *cell.Cell {
	c, err := r.LoadRefCell()
	r.note(err)
	if c == nil {
		return cell.BeginCell().EndCell()
	}
	return c
}

func (r *reader) address() (Address, bool) {
	a, err := r.LoadAddr()
	r.note(err)
	return addressOf(a)
}

// currencies reads a CurrencyCollection.
func (r *reader) currencies() (*big.Int, []extraCurrency) {
	coins := r.coins()
	if !r.bit() {
		return coins, nil
	}
	return coins, r.extra(r.ref())
}

// mostCurrencies is how many extra currencies are read. No network has as many.
const mostCurrencies = 256

// extra reads a HashmapE 32 (VarUInteger 32).
func (r *reader) extra(root *cell.Cell) []extraCurrency {
	if r.err != nil {
		return nil
	}
	all, err := toncell.Dictionary{Root: root, Bits: 32}.Entries(mostCurrencies)
	r.note(err)
	var list []extraCurrency
	for _, e := range all {
		amount, err := e.Value.LoadVarUInt(32)
		r.note(err)
		list = append(list, extraCurrency{ID: int32(binary.BigEndian.Uint32(e.Key)), Amount: amount})
	}
	return list
}

// stateInit reads Maybe (Either StateInit ^StateInit); nil for none.
func (r *reader) stateInit() *cell.Cell {
	if !r.bit() {
		return nil
	}
	if r.bit() {
		return r.ref()
	}
	b := cell.BeginCell()
	copyBits := func(n uint) (bits uint64) {
		bits = r.uint(n)
		r.note(b.StoreUInt(bits, n))
		return bits
	}
	if copyBits(1) == 1 {
		copyBits(5) // fixed_prefix_length
	}
	if copyBits(1) == 1 {
		copyBits(2) // tick, tock
	}
	for range 3 { // code, data, library
		if copyBits(1) == 1 {
			r.note(b.StoreRef(r.ref()))
		}
	}
	return b.EndCell()
}

// either reads Either X ^X to the end: the rest of the slice or a reference.
func (r *reader) either() *cell.Cell {
	if r.bit() {
		return r.ref()
	}
	if r.err != nil {
		return cell.BeginCell().EndCell()
	}
	rest, err := r.ToCell()
	r.note(err)
	if rest == nil {
		return cell.BeginCell().EndCell()
	}
	return rest
}

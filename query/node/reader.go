package node

import (
	"encoding/binary"
	"math/big"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/ton/address"
	toncell "tonscribe/ton/cell"
)

// reader reads a cell. After a failure it gives empty cells, not nil.
type reader struct{ *toncell.Reader }

func parse(c *cell.Cell) *reader { return &reader{toncell.NewReader(c)} }

func readerOf(s *cell.Slice) *reader { return &reader{toncell.ReaderOf(s)} }

// ref is a reference; an empty cell after an error.
func (r *reader) ref() *cell.Cell { return orEmpty(r.Ref()) }

// either reads Either X ^X to the end: the rest of the slice or a reference.
func (r *reader) either() *cell.Cell { return orEmpty(r.Either()) }

func orEmpty(c *cell.Cell) *cell.Cell {
	if c == nil {
		return cell.BeginCell().EndCell()
	}
	return c
}

// address reads an account's address. ok is false for addr_none and for external
// addresses; an anycast prefix is written into the account id.
func (r *reader) address() (a address.Address, ok bool) {
	account := r.Party()
	if account == nil {
		return a, false
	}
	return address.Address(account), true
}

// party is an address that may be missing: nil then.
func (r *reader) party() *address.Address {
	if a, ok := r.address(); ok {
		return &a
	}
	return nil
}

// currencies reads a CurrencyCollection.
func (r *reader) currencies() (*big.Int, []Currency) {
	coins := r.Coins()
	if !r.Bit() {
		return coins, nil
	}
	return coins, r.extra(r.ref())
}

// maxCurrencies is how many extra currencies are read. No network has as many.
const maxCurrencies = 256

// extra reads a HashmapE 32 (VarUInteger 32).
func (r *reader) extra(root *cell.Cell) []Currency {
	if r.Err() != nil {
		return nil
	}
	all, err := toncell.Dictionary{Root: root, Bits: 32}.Entries(maxCurrencies)
	r.Fail(err)
	var list []Currency
	for _, e := range all {
		amount, err := e.Value.LoadVarUInt(32)
		r.Fail(err)
		list = append(list, Currency{ID: int32(binary.BigEndian.Uint32(e.Key)), Amount: amount})
	}
	return list
}

// stateInit reads Maybe (Either StateInit ^StateInit); nil for none.
func (r *reader) stateInit() *cell.Cell {
	if !r.Bit() {
		return nil
	}
	if r.Bit() {
		return r.ref()
	}
	b := cell.BeginCell()
	copyBits := func(n uint) (bits uint64) {
		bits = r.Uint(n)
		r.Fail(b.StoreUInt(bits, n))
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
			r.Fail(b.StoreRef(r.ref()))
		}
	}
	return b.EndCell()
}

package devnet

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// call runs a get-method through the lite server at the town's block.
func (w *town) call(raw, method string, params ...any) (*ton.ExecutionResult, error) {
	a, err := address.ParseRawAddr(raw)
	if err != nil {
		return nil, err
	}
	r, err := w.client.RunGetMethod(w.Context(), w.block, a, method, params...)
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", method, raw, err)
	}
	return r, nil
}

// reading takes values off a get-method's result; what is not there is an error
// of the whole.
type reading struct {
	*ton.ExecutionResult
	err error
}

func (r *reading) keep(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reading) number(i uint) *big.Int {
	n, err := r.Int(i)
	r.keep(err)
	if n == nil {
		return new(big.Int)
	}
	return n
}

// decimal is a number as the API shows amounts.
func (r *reading) decimal(i uint) string { return r.number(i).String() }

// count is a number as the API shows small ones.
func (r *reading) count(i uint) any { return float64(r.number(i).Int64()) }

func (r *reading) flag(i uint) bool { return r.number(i).Sign() != 0 }

func (r *reading) address(i uint) any {
	s, err := r.Slice(i)
	if err != nil {
		r.keep(err)
		return nil
	}
	a, err := s.Copy().LoadAddr()
	r.keep(err)
	return shown(a)
}

// cell is nil where the result is null.
func (r *reading) cell(i uint) *cell.Cell {
	if empty, err := r.IsNil(i); err != nil || empty {
		r.keep(err)
		return nil
	}
	c, err := r.Cell(i)
	r.keep(err)
	return c
}

// list is a dictionary of addresses as the API shows it, null for none.
func (r *reading) list(i uint) any {
	dict := r.cell(i)
	if dict == nil {
		return nil
	}
	entries, err := dict.AsDict(8).LoadAll()
	r.keep(err)
	type entry struct {
		at  uint64
		raw any
	}
	var all []entry
	for _, e := range entries {
		a, err := e.Value.LoadAddr()
		r.keep(err)
		all = append(all, entry{e.Key.MustLoadUInt(8), shown(a)})
	}
	slices.SortFunc(all, func(x, y entry) int { return int(x.at) - int(y.at) })
	shownAll := []any{}
	for _, e := range all {
		shownAll = append(shownAll, e.raw)
	}
	return shownAll
}

func addressSlice(a any) *cell.Slice {
	parsed := address.MustParseRawAddr(a.(string))
	return cell.BeginCell().MustStoreAddr(parsed).EndCell().MustBeginParse()
}

// ignoreExit is nil for a get-method that did not end well: what it is asked is
// not what the contract is.
func ignoreExit(err error) error {
	var refused ton.ContractExecError
	if errors.As(err, &refused) {
		return nil
	}
	return err
}

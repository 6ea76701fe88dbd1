package tvm

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// ErrType is returned when a value on the stack is not what was asked for.
var ErrType = errors.New("unexpected value on the stack")

func at[T any](t Tuple, i int) (T, error) {
	var none T
	if i < 0 || i >= len(t) {
		return none, fmt.Errorf("%w: value %d of %d", ErrType, i, len(t))
	}
	value, ok := t[i].(T)
	if !ok {
		return none, fmt.Errorf("%w: value %d is %T, not %T", ErrType, i, t[i], none)
	}
	return value, nil
}

// Int is the i-th value from the bottom as an integer.
func (t Tuple) Int(i int) (*big.Int, error) { return at[*big.Int](t, i) }

// Bool is the i-th value as a truth value: an integer other than 0.
func (t Tuple) Bool(i int) (bool, error) {
	value, err := t.Int(i)
	return err == nil && value.Sign() != 0, err
}

// Cell is the i-th value as a cell, nil for null.
func (t Tuple) Cell(i int) (*cell.Cell, error) {
	if i >= 0 && i < len(t) && t[i] == nil {
		return nil, nil
	}
	return at[*cell.Cell](t, i)
}

// Slice is a copy of the i-th value, a slice. A cell is opened.
func (t Tuple) Slice(i int) (*cell.Slice, error) {
	if whole, err := at[*cell.Cell](t, i); err == nil && whole != nil {
		return whole.BeginParse()
	}
	slice, err := at[*cell.Slice](t, i)
	if err != nil {
		return nil, err
	}
	return slice.Copy(), nil
}

// Tuple is the i-th value as a tuple.
func (t Tuple) Tuple(i int) (Tuple, error) { return at[Tuple](t, i) }

// Address is the i-th value, a slice that holds one address and nothing else.
// addr_none gives an address for which IsAddrNone is true.
func (t Tuple) Address(i int) (*address.Address, error) {
	slice, err := t.Slice(i)
	if err != nil {
		return nil, err
	}
	addr, err := slice.LoadAddr()
	if err != nil {
		return nil, fmt.Errorf("value %d: %w", i, err)
	}
	return addr, nil
}

package tvm

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"
	"github.com/xssnick/tonutils-go/tvm/tuple"
	"github.com/xssnick/tonutils-go/tvm/vm"
)

// A value on the stack is one of
//
//	*big.Int       an integer of 257 bits
//	NaN            an integer that is none
//	*cell.Cell     a cell
//	*cell.Slice    what is left to be read of a cell
//	*cell.Builder  a cell being written
//	Tuple          up to 255 values
//	nil            null
//	Continuation   code on the stack; it can only be a result
//
// Arguments may also be int, int64, uint32, uint64, bool (−1 and 0) and
// *address.Address (a slice).

// Tuple is a tuple of values, and the form of a whole stack.
type Tuple []any

// NaN is the result of quiet arithmetic that failed.
type NaN struct{}

// Continuation stands for code that a method left on its stack.
type Continuation struct{}

const (
	// maxValues is how many values of a result are read. Tuples share their
	// elements: a few dozen opcodes make one that would unfold to 2^60 values.
	maxValues = 1 << 14
	// maxNesting is how deep values are read that are nested in others, as in the
	// node. The elements of a list lie at one depth, however many they are.
	maxNesting = 1024
)

var (
	// ErrStackTooLarge is returned for a result that unfolds to more than can be
	// handed on.
	ErrStackTooLarge = errors.New("the result of the get-method is too large")
	// ErrStackTooDeep is returned for a result whose values are nested deeper.
	ErrStackTooDeep = fmt.Errorf("%w: nested more than %d deep", ErrStackTooLarge, maxNesting)
)

func toMachine(value any) (any, error) {
	switch v := value.(type) {
	case nil:
		return nil, nil
	case *big.Int, *cell.Cell, *cell.Slice, *cell.Builder:
		return v, nil
	case int:
		return big.NewInt(int64(v)), nil
	case int64:
		return big.NewInt(v), nil
	case uint32:
		return big.NewInt(int64(v)), nil
	case uint64:
		return new(big.Int).SetUint64(v), nil
	case bool:
		if v {
			return big.NewInt(-1), nil
		}
		return new(big.Int), nil
	case *address.Address:
		b := cell.BeginCell()
		if err := b.StoreAddr(v); err != nil {
			return nil, fmt.Errorf("address: %w", err)
		}
		return b.ToSlice(), nil
	case NaN:
		return vm.NaN{}, nil
	case Tuple:
		return toTuple(v)
	case []any:
		return toTuple(v)
	}
	return nil, fmt.Errorf("a value of type %T cannot be on the stack", value)
}

func toTuple(values []any) (tuple.Tuple, error) {
	if len(values) > 255 {
		return tuple.Tuple{}, fmt.Errorf("a tuple of %d values, 255 are allowed", len(values))
	}
	held := make([]any, len(values))
	for i, value := range values {
		var err error
		if held[i], err = toMachine(value); err != nil {
			return tuple.Tuple{}, err
		}
	}
	return tuple.NewTupleOwned(held), nil
}

func fromStack(stack *vm.Stack) (Tuple, error) {
	if stack == nil {
		return Tuple{}, nil
	}
	reader := stackReader{left: maxValues}
	values := make(Tuple, stack.Len())
	for i := len(values) - 1; i >= 0; i-- {
		value, err := stack.PopAny()
		if err != nil {
			return nil, err
		}
		if values[i], err = reader.read(value, 0); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// stackReader copies values out of the machine; left is how many more it may.
type stackReader struct{ left int }

func (r *stackReader) read(value any, depth int) (any, error) {
	if r.left--; r.left < 0 {
		return nil, ErrStackTooLarge
	}
	if depth > maxNesting {
		return nil, ErrStackTooDeep
	}
	switch v := value.(type) {
	case nil, vm.Null:
		return nil, nil
	case *big.Int:
		return new(big.Int).Set(v), nil
	case vm.NaN:
		return NaN{}, nil
	case *cell.Cell:
		return v.WithoutTrace(), nil
	case *cell.Slice:
		if v == nil {
			return nil, nil
		}
		return v.Copy().SetTrace(nil), nil
	case *cell.Builder:
		return v.Copy().SetTrace(nil), nil
	case tuple.Tuple:
		return r.tuple(v, depth)
	case vm.Continuation:
		return Continuation{}, nil
	}
	return nil, fmt.Errorf("the machine left a value of type %T", value)
}

// tuple reads a tuple. A list is pairs, each the last element of the one before:
// they are followed one after the other, and do not count as nesting.
func (r *stackReader) tuple(v tuple.Tuple, depth int) (any, error) {
	whole := make(Tuple, v.Len())
	for part := whole; ; {
		var rest *tuple.Tuple
		for i := range part {
			element, err := v.RawIndex(i)
			if err != nil {
				return nil, err
			}
			if pair, ok := element.(tuple.Tuple); ok && len(part) == 2 && i == 1 && pair.Len() == 2 {
				rest = &pair
				continue
			}
			if part[i], err = r.read(element, depth+1); err != nil {
				return nil, err
			}
		}
		if rest == nil {
			return whole, nil
		}
		if r.left--; r.left < 0 {
			return nil, ErrStackTooLarge
		}
		next := make(Tuple, 2)
		part[1], part, v = next, next, *rest
	}
}

package tvm

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

// ErrNotSerializable is returned for a stack that has no cell form.
var ErrNotSerializable = errors.New("the stack cannot be serialized")

// EncodeStack is TL-B VmStack: the depth in 24 bits, then a list of values from
// the top on.
func EncodeStack(stack Tuple) (encoded *cell.Cell, err error) {
	defer contain(&err)
	root := cell.BeginCell()
	if err := root.StoreUInt(uint64(len(stack)), 24); err != nil {
		return nil, err
	}
	writer := stackWriter{left: maxValues}
	rest := cell.BeginCell()
	for _, value := range stack {
		next := cell.BeginCell()
		if err := next.StoreRef(rest.EndCell()); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNotSerializable, err)
		}
		if err := writer.write(next, value); err != nil {
			return nil, err
		}
		rest = next
	}
	if len(stack) == 0 {
		return root.EndCell(), nil
	}
	if err := root.StoreBuilder(rest); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotSerializable, err)
	}
	return root.EndCell(), nil
}

type stackWriter struct{ left int }

// write stores TL-B VmStackValue.
func (w *stackWriter) write(b *cell.Builder, value any) error {
	if w.left--; w.left < 0 {
		return fmt.Errorf("%w: too many values", ErrNotSerializable)
	}
	value, err := plain(value)
	if err != nil {
		return err
	}
	switch v := value.(type) {
	case nil:
		err = b.StoreUInt(0x00, 8)
	case *big.Int:
		err = writeInt(b, v)
	case NaN:
		err = b.StoreUInt(0x02ff, 16)
	case *cell.Cell:
		if err = b.StoreUInt(0x03, 8); err == nil {
			err = b.StoreRef(v)
		}
	case *cell.Slice:
		err = writeSlice(b, v)
	case *cell.Builder:
		if err = b.StoreUInt(0x05, 8); err == nil {
			err = b.StoreRef(v.EndCell())
		}
	case Tuple:
		return w.writeTuple(b, v)
	default:
		err = fmt.Errorf("a value of type %T", value)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotSerializable, err)
	}
	return nil
}

// plain reduces the forms that arguments may have to those of results.
func plain(value any) (any, error) {
	switch v := value.(type) {
	case []any:
		return Tuple(v), nil
	case Tuple, NaN, Continuation:
		return v, nil
	}
	held, err := toMachine(value)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotSerializable, err)
	}
	return held, nil
}

// writeInt uses the short form for what fits 64 bits, as the reference does.
func writeInt(b *cell.Builder, v *big.Int) error {
	if v.IsInt64() {
		if err := b.StoreUInt(0x01, 8); err != nil {
			return err
		}
		return b.StoreBigInt(v, 64)
	}
	if err := b.StoreUInt(0x0200>>1, 15); err != nil {
		return err
	}
	return b.StoreBigInt(v, 257)
}

// writeSlice refers to the whole cell and says which part of it is meant.
func writeSlice(b *cell.Builder, v *cell.Slice) error {
	base := v.BaseCell()
	if base == nil {
		base = cell.BeginCell().EndCell()
	}
	if err := b.StoreUInt(0x04, 8); err != nil {
		return err
	}
	if err := b.StoreRef(base.WithoutTrace()); err != nil {
		return err
	}
	firstBit, endBit := v.BitRange()
	firstRef, endRef := v.RefRange()
	for _, part := range []struct {
		value uint64
		bits  uint
	}{{uint64(firstBit), 10}, {uint64(endBit), 10}, {uint64(firstRef), 3}, {uint64(endRef), 3}} {
		if err := b.StoreUInt(part.value, part.bits); err != nil {
			return err
		}
	}
	return nil
}

// writeTuple stores the length and then TL-B VmTuple: the last value beside a
// reference to the rest, where a rest of one value stands for itself.
func (w *stackWriter) writeTuple(b *cell.Builder, values Tuple) error {
	if err := b.StoreUInt(0x07<<16|uint64(len(values)), 24); err != nil {
		return fmt.Errorf("%w: %w", ErrNotSerializable, err)
	}
	var head *cell.Cell
	for i, value := range values {
		tail := cell.BeginCell()
		if err := w.write(tail, value); err != nil {
			return err
		}
		if i == 0 {
			head = tail.EndCell()
			continue
		}
		if i == len(values)-1 {
			return storeRefs(b, head, tail.EndCell())
		}
		pair := cell.BeginCell()
		if err := storeRefs(pair, head, tail.EndCell()); err != nil {
			return err
		}
		head = pair.EndCell()
	}
	if head == nil {
		return nil
	}
	return storeRefs(b, head)
}

func storeRefs(b *cell.Builder, refs ...*cell.Cell) error {
	for _, ref := range refs {
		if err := b.StoreRef(ref); err != nil {
			return fmt.Errorf("%w: %w", ErrNotSerializable, err)
		}
	}
	return nil
}

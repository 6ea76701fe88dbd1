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
	w := stackWriter{left: maxValues}
	rest := cell.BeginCell()
	for _, value := range stack {
		next := cell.BeginCell()
		w.refs(next, rest.EndCell())
		w.write(next, value)
		rest = next
		if w.err != nil {
			break
		}
	}
	root := cell.BeginCell()
	w.uint(root, uint64(len(stack)), 24)
	if len(stack) > 0 {
		w.check(root.StoreBuilder(rest))
	}
	if w.err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotSerializable, w.err)
	}
	return root.EndCell(), nil
}

// stackWriter writes up to left values. After the first that has no form, err
// tells why.
type stackWriter struct {
	left int
	err  error
}

func (w *stackWriter) check(err error) {
	if w.err == nil {
		w.err = err
	}
}

func (w *stackWriter) uint(b *cell.Builder, v uint64, bits uint) { w.check(b.StoreUInt(v, bits)) }

func (w *stackWriter) refs(b *cell.Builder, refs ...*cell.Cell) {
	for _, ref := range refs {
		w.check(b.StoreRef(ref))
	}
}

// write stores TL-B VmStackValue.
func (w *stackWriter) write(b *cell.Builder, value any) {
	if w.left--; w.left < 0 {
		w.check(errors.New("too many values"))
	}
	if w.err != nil {
		return
	}
	switch v := w.plain(value).(type) {
	case nil:
		w.uint(b, 0x00, 8)
	case *big.Int: // in the short form where it fits 64 bits, as in the reference
		if v.IsInt64() {
			w.uint(b, 0x01, 8)
			w.check(b.StoreBigInt(v, 64))
		} else {
			w.uint(b, 0x0200>>1, 15)
			w.check(b.StoreBigInt(v, 257))
		}
	case NaN:
		w.uint(b, 0x02ff, 16)
	case *cell.Cell:
		w.uint(b, 0x03, 8)
		w.refs(b, v)
	case *cell.Slice:
		w.slice(b, v)
	case *cell.Builder:
		w.uint(b, 0x05, 8)
		w.refs(b, v.EndCell())
	case Tuple:
		w.tuple(b, v)
	default:
		w.check(fmt.Errorf("a value of type %T", value))
	}
}

// plain reduces the forms that arguments may have to those of results.
func (w *stackWriter) plain(value any) any {
	switch v := value.(type) {
	case []any:
		return Tuple(v)
	case Tuple, NaN, Continuation:
		return v
	}
	held, err := toMachine(value)
	w.check(err)
	return held
}

// slice refers to the whole cell and says which part of it is meant.
func (w *stackWriter) slice(b *cell.Builder, v *cell.Slice) {
	base := v.BaseCell()
	if base == nil {
		base = cell.BeginCell().EndCell()
	}
	w.uint(b, 0x04, 8)
	w.refs(b, base.WithoutTrace())
	firstBit, endBit := v.BitRange()
	firstRef, endRef := v.RefRange()
	w.uint(b, uint64(firstBit)<<10|uint64(endBit), 20)
	w.uint(b, uint64(firstRef)<<3|uint64(endRef), 6)
}

// tuple stores the length and then TL-B VmTuple: the last value beside a reference
// to the rest, where a rest of one value stands for itself.
func (w *stackWriter) tuple(b *cell.Builder, values Tuple) {
	w.uint(b, 0x07<<16|uint64(len(values)), 24)
	var refs []*cell.Cell
	for _, value := range values {
		tail := cell.BeginCell()
		if w.write(tail, value); w.err != nil {
			return
		}
		if len(refs) == 2 {
			pair := cell.BeginCell()
			w.refs(pair, refs...)
			refs = []*cell.Cell{pair.EndCell()}
		}
		refs = append(refs, tail.EndCell())
	}
	w.refs(b, refs...)
}

package v2

import (
	"math/big"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/ton/tvm"
)

// The typed entries of a stack (contract 2.0).
type (
	numberDecimal struct {
		_      typed    `type:"tvm.numberDecimal"`
		Number *big.Int `json:"number"`
	}
	tvmSlice struct {
		_     typed      `type:"tvm.slice"`
		Bytes *cell.Cell `json:"bytes"`
	}
	tvmTuple struct {
		_        typed        `type:"tvm.tuple"`
		Elements []stackEntry `json:"elements"`
	}
	tvmList struct {
		_        typed        `type:"tvm.list"`
		Elements []stackEntry `json:"elements"`
	}

	// stackEntry is one of the entries below.
	stackEntry interface{ isStackEntry() }

	entryNumber struct {
		_      typed         `type:"tvm.stackEntryNumber"`
		Number numberDecimal `json:"number"`
	}
	entryCell struct {
		_    typed   `type:"tvm.stackEntryCell"`
		Cell tvmCell `json:"cell"`
	}
	entrySlice struct {
		_     typed    `type:"tvm.stackEntrySlice"`
		Slice tvmSlice `json:"slice"`
	}
	entryTuple struct {
		_     typed    `type:"tvm.stackEntryTuple"`
		Tuple tvmTuple `json:"tuple"`
	}
	entryList struct {
		_    typed   `type:"tvm.stackEntryList"`
		List tvmList `json:"list"`
	}
	entryUnsupported struct {
		_ typed `type:"tvm.stackEntryUnsupported"`
	}
)

func (entryNumber) isStackEntry()      {}
func (entryCell) isStackEntry()        {}
func (entrySlice) isStackEntry()       {}
func (entryTuple) isStackEntry()       {}
func (entryList) isStackEntry()        {}
func (entryUnsupported) isStackEntry() {}

// The limits of a result (contract 2.32).
const (
	mostEntries   = 8000
	deepestLegacy = 100
	deepestTyped  = 256
)

// stackWriter writes a stack within the limits.
type stackWriter struct {
	left    int
	deepest int
	spelt   int // how many more cells may be spelt out
}

func newStackWriter(deepest int) *stackWriter {
	return &stackWriter{left: mostEntries, deepest: deepest, spelt: mostSpelt}
}

func (w *stackWriter) enter(depth int) error {
	if depth >= w.deepest {
		return tooDeep(w.deepest)
	}
	if w.left--; w.left < 0 {
		return failed("Result stack has more than %d entries", mostEntries)
	}
	return nil
}

// typedStack is a stack as typed entries, the bottom first.
func typedStack(stack tvm.Tuple) ([]stackEntry, error) {
	return newStackWriter(deepestTyped).entries(stack, 0)
}

func (w *stackWriter) entries(values []any, depth int) ([]stackEntry, error) {
	list := make([]stackEntry, 0, len(values))
	for _, value := range values {
		e, err := w.entry(value, depth)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

func (w *stackWriter) entry(value any, depth int) (stackEntry, error) {
	if err := w.enter(depth); err != nil {
		return nil, err
	}
	switch v := value.(type) {
	case *big.Int:
		return entryNumber{Number: numberDecimal{Number: v}}, nil
	case *cell.Cell:
		return entryCell{Cell: tvmCell{Bytes: v}}, nil
	case *cell.Slice:
		c, err := v.ToCell()
		if err != nil {
			return entryUnsupported{}, nil //nolint:nilerr // it has no form
		}
		return entrySlice{Slice: tvmSlice{Bytes: c}}, nil
	case nil, tvm.Tuple:
		return w.sequence(v, depth)
	}
	return entryUnsupported{}, nil
}

// sequence tells lists from tuples.
func (w *stackWriter) sequence(value any, depth int) (stackEntry, error) {
	if elements, ok := linked(value); ok {
		list, err := w.entries(elements, depth+1)
		return entryList{List: tvmList{Elements: list}}, err
	}
	elements, err := w.entries(value.(tvm.Tuple), depth+1)
	return entryTuple{Tuple: tvmTuple{Elements: elements}}, err
}

// linked takes a list apart: null, or a pair of an element and a list.
func linked(value any) (elements []any, ok bool) {
	for {
		if value == nil {
			return elements, true
		}
		pair, ok := value.(tvm.Tuple)
		if !ok || len(pair) != 2 {
			return nil, false
		}
		elements, value = append(elements, pair[0]), pair[1]
	}
}

// legacyPair is [label, value].
type legacyPair [2]any

// legacyCellValue is the value of a pair with a cell.
type legacyCellValue struct {
	Bytes  *cell.Cell  `json:"bytes"`
	Object *legacyCell `json:"object,omitempty"`
}

// legacyStack is a stack as pairs, the bottom first.
func legacyStack(stack tvm.Tuple) ([]legacyPair, error) {
	w := newStackWriter(deepestLegacy)
	pairs := make([]legacyPair, 0, len(stack))
	for _, value := range stack {
		pair, err := w.pair(value)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, pair)
	}
	return pairs, nil
}

func (w *stackWriter) pair(value any) (legacyPair, error) {
	e, err := w.entry(value, 0)
	if err != nil {
		return legacyPair{}, err
	}
	switch e := e.(type) {
	case entryNumber:
		return legacyPair{"num", hexNumber(e.Number.Number)}, nil
	case entryCell:
		return legacyPair{"cell", legacyCellValue{Bytes: e.Cell.Bytes, Object: spell(e.Cell.Bytes, &w.spelt)}}, nil
	case entrySlice:
		return legacyPair{"cell", legacyCellValue{Bytes: e.Slice.Bytes, Object: spell(e.Slice.Bytes, &w.spelt)}}, nil
	case entryList:
		return legacyPair{"list", e.List}, nil
	case entryTuple:
		return legacyPair{"tuple", e.Tuple}, nil
	}
	return legacyPair{"unsupported", ""}, nil
}

// hexNumber writes 0x1f and -0x1f.
func hexNumber(n *big.Int) string {
	if n.Sign() < 0 {
		return "-0x" + new(big.Int).Neg(n).Text(16)
	}
	return "0x" + n.Text(16)
}

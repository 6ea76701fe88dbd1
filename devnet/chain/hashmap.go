package chain

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

// augmented is a HashmapAugE (hashmap.tlb): a trie by key bits whose every node
// carries an extra. Unlike the library's dictionary it takes all changes of a
// block at once and so hashes each changed node once.
type augmented struct {
	bits uint
	aug  cell.Augmentation
	root *cell.Cell // nil when empty
}

// change sets a key to a value, or deletes it when the value is nil.
type change struct {
	key   []byte
	value *cell.Builder
}

var errAbsent = errors.New("no such key")

func loadAugmented(s *cell.Slice, bits uint, aug cell.Augmentation) augmented {
	a := augmented{bits: bits, aug: aug}
	if s.MustLoadBoolBit() {
		a.root = sure(s.LoadRefCell())
	}
	return sure(a, aug.SkipExtra(s))
}

// store appends the map in the form of HashmapAugE.
func (a augmented) store(b *cell.Builder) *cell.Builder {
	return b.MustStoreMaybeRef(a.root).MustStoreBuilder(a.extra())
}

func (a augmented) toCell() *cell.Cell { return a.store(cell.BeginCell()).EndCell() }

// extra is the extra of all values together.
func (a augmented) extra() *cell.Builder {
	if a.root == nil {
		return sure(a.aug.EmptyExtra()).ToBuilder()
	}
	s := a.atExtra(a.parse(a.root, 0, nil))
	rest := s.Copy()
	sure(rest, a.aug.SkipExtra(rest))
	return sure(s.FetchSubslice(s.BitsLeft()-rest.BitsLeft(), s.RefsNum()-rest.RefsNum())).ToBuilder()
}

// get finds a value; errAbsent when there is none.
func (a augmented) get(key []byte) (*cell.Slice, error) {
	node, at := a.root, uint(0)
	for node != nil {
		e := a.parse(node, at, key)
		if commonBits(e.key, key, at, e.end) < e.end {
			break
		}
		if e.end == a.bits {
			return a.value(e), nil
		}
		node, at = e.side(int(bitOf(key, e.end))), e.end+1
	}
	return nil, errAbsent
}

// value is what follows the extra of a leaf.
func (a augmented) value(e *edge) *cell.Slice {
	value := e.body.Copy()
	return sure(value, a.aug.SkipExtra(value))
}

// walk calls fn for every key in order.
func (a augmented) walk(fn func(key []byte, value *cell.Slice) error) error {
	if a.root == nil {
		return nil
	}
	return a.walkEdge(a.parse(a.root, 0, nil), fn)
}

func (a augmented) walkEdge(e *edge, fn func([]byte, *cell.Slice) error) error {
	if e.end == a.bits {
		return fn(e.key, a.value(e))
	}
	for side := range 2 {
		if err := a.walkEdge(a.child(e, e.end, side), fn); err != nil {
			return err
		}
	}
	return nil
}

// update makes all changes; keys must differ. A deleted key must be there.
func (a augmented) update(changes []change) (_ augmented, err error) {
	defer rescue(&err)
	if len(changes) == 0 {
		return a, nil
	}
	slices.SortFunc(changes, func(x, y change) int { return bytes.Compare(x.key, y.key) })
	var before *edge
	if a.root != nil {
		before = a.parse(a.root, 0, nil)
	}
	a.root = a.seal(a.merge(before, changes), 0)
	return a, nil
}

// part is the map of the keys that begin with the first bits of prefix.
func (a augmented) part(prefix []byte, bits uint) augmented {
	if a.root == nil {
		return a
	}
	e := a.parse(a.root, 0, nil)
	for {
		if common := min(e.end, bits); commonBits(e.key, prefix, 0, common) < common {
			a.root = nil
			return a
		}
		if e.end >= bits {
			a.root = a.seal(e, 0)
			return a
		}
		e = a.child(e, e.end, int(bitOf(prefix, e.end)))
	}
}

// with is a map together with another one that has no key in common with it.
func (a augmented) with(o augmented) augmented {
	var changes []change
	_ = o.walk(func(key []byte, value *cell.Slice) error {
		changes = append(changes, change{bytes.Clone(key), value.ToBuilder()})
		return nil
	})
	return sure(a.update(changes))
}

// edge is a node with the whole key prefix that leads to it. body is what
// follows the label: extra and value of a leaf, two references and extra of a
// fork.
type edge struct {
	key  []byte
	end  uint // bits of key that the node fixes
	body *cell.Slice
	// sealed is the node's cell when its label begins at bit from.
	sealed *cell.Cell
	from   uint
}

func (e *edge) side(side int) *cell.Cell { return sure(e.body.PeekRefCellAt(side)) }

// parse reads a node whose label begins at bit `at` of the key.
func (a augmented) parse(node *cell.Cell, at uint, prefix []byte) *edge {
	if node.IsSpecial() {
		panic(fmt.Errorf("hashmap node %x is pruned", node.Hash()))
	}
	s := node.MustBeginParse()
	key := make([]byte, (a.bits+7)/8)
	copy(key, prefix[:min(uint(len(prefix)), (at+7)/8)])
	n := readLabel(s, key, at, a.bits)
	return &edge{key: key, end: at + n, body: s, sealed: node, from: at}
}

// seal gives an edge's cell for a label that begins at bit from; nil for nil.
func (a augmented) seal(e *edge, from uint) *cell.Cell {
	if e == nil {
		return nil
	}
	if e.sealed != nil && e.from == from {
		return e.sealed
	}
	b := cell.BeginCell()
	writeLabel(b, e.key, from, e.end, a.bits)
	return b.MustStoreBuilder(e.body.ToBuilder()).EndCell()
}

// merge applies sorted changes, all of which agree with each other in the bits
// that lead to e, below e (nil: nothing is there).
func (a augmented) merge(e *edge, changes []change) *edge {
	if len(changes) == 0 {
		return e
	}
	first, last := changes[0], changes[len(changes)-1]
	at := commonBits(first.key, last.key, 0, a.bits)
	if e != nil {
		at = min(commonBits(e.key, first.key, 0, e.end), commonBits(e.key, last.key, 0, e.end))
	} else if len(changes) == 1 && first.value == nil {
		panic(fmt.Errorf("%w: %x", errAbsent, first.key))
	}
	if at == a.bits {
		if len(changes) > 1 {
			panic(fmt.Errorf("key %x is set twice", first.key))
		}
		return a.leaf(first)
	}
	split, _ := slices.BinarySearchFunc(changes, byte(1), func(c change, bit byte) int { return int(bitOf(c.key, at)) - int(bit) })
	return a.fork(first.key, at, [2]*edge{
		a.merge(a.child(e, at, 0), changes[:split]), a.merge(a.child(e, at, 1), changes[split:]),
	})
}

// child is what is on one side of bit `at` of an edge that reaches at least
// there; nil for nil.
func (a augmented) child(e *edge, at uint, side int) *edge {
	switch {
	case e == nil || at < e.end && int(bitOf(e.key, at)) != side:
		return nil
	case at < e.end:
		return e
	}
	return a.parse(e.side(side), at+1, withBit(e.key, at, side == 1))
}

func (a augmented) leaf(c change) *edge {
	if c.value == nil {
		return nil
	}
	extra, err := a.aug.LeafExtra(c.value.ToSlice())
	if err != nil {
		panic(fmt.Errorf("key %x: %w", c.key, err))
	}
	return &edge{key: c.key, end: a.bits, body: extra.ToBuilder().MustStoreBuilder(c.value).ToSlice()}
}

func (a augmented) fork(key []byte, at uint, children [2]*edge) *edge {
	if children[0] == nil {
		return children[1]
	}
	if children[1] == nil {
		return children[0]
	}
	b := cell.BeginCell().MustStoreRef(a.seal(children[0], at+1)).MustStoreRef(a.seal(children[1], at+1))
	extra := sure(a.aug.CombineExtra(a.atExtra(children[0]), a.atExtra(children[1])))
	return &edge{key: key, end: at, body: b.MustStoreBuilder(extra.ToBuilder()).ToSlice()}
}

// atExtra is a slice that begins with the extra of a node.
func (a augmented) atExtra(e *edge) *cell.Slice {
	s := e.body.Copy()
	if e.end < a.bits {
		return sure(s, s.SkipBitsAndRefs(0, 2))
	}
	return s
}

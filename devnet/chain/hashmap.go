package chain

import (
	"bytes"
	"errors"
	"fmt"
	"sort"

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

func loadAugmented(s *cell.Slice, bits uint, aug cell.Augmentation) (augmented, error) {
	a := augmented{bits: bits, aug: aug}
	some, err := s.LoadBoolBit()
	if err != nil {
		return a, err
	}
	if some {
		if a.root, err = s.LoadRefCell(); err != nil {
			return a, err
		}
	}
	return a, aug.SkipExtra(s)
}

// store appends the map in the form of HashmapAugE.
func (a augmented) store(b *cell.Builder) error {
	if err := b.StoreMaybeRef(a.root); err != nil {
		return err
	}
	extra, err := a.extra()
	if err != nil {
		return err
	}
	return b.StoreBuilder(extra)
}

func (a augmented) toCell() (*cell.Cell, error) {
	b := cell.BeginCell()
	if err := a.store(b); err != nil {
		return nil, err
	}
	return b.EndCell(), nil
}

// extra is the extra of all values together.
func (a augmented) extra() (*cell.Builder, error) {
	if a.root == nil {
		c, err := a.aug.EmptyExtra()
		if err != nil {
			return nil, err
		}
		return c.ToBuilder(), nil
	}
	e, err := a.parse(a.root, 0, nil)
	if err != nil {
		return nil, err
	}
	return a.cutExtra(e)
}

// get finds a value; errAbsent when there is none.
func (a augmented) get(key []byte) (*cell.Slice, error) {
	node, at := a.root, uint(0)
	for node != nil {
		e, err := a.parse(node, at, key)
		if err != nil {
			return nil, err
		}
		if commonBits(e.key, key, at, e.end) < e.end {
			return nil, errAbsent
		}
		if e.end == a.bits {
			value := e.body.Copy()
			return value, a.aug.SkipExtra(value)
		}
		if node, err = e.body.PeekRefCellAt(int(bitOf(key, e.end))); err != nil {
			return nil, err
		}
		at = e.end + 1
	}
	return nil, errAbsent
}

// walk calls fn for every key in order.
func (a augmented) walk(fn func(key []byte, value *cell.Slice) error) error {
	if a.root == nil {
		return nil
	}
	return a.walkNode(a.root, 0, make([]byte, (a.bits+7)/8), fn)
}

func (a augmented) walkNode(node *cell.Cell, at uint, key []byte, fn func([]byte, *cell.Slice) error) error {
	e, err := a.parse(node, at, key)
	if err != nil {
		return err
	}
	if e.end == a.bits {
		value := e.body.Copy()
		if err := a.aug.SkipExtra(value); err != nil {
			return err
		}
		return fn(e.key, value)
	}
	for side := range 2 {
		child, err := e.body.PeekRefCellAt(side)
		if err != nil {
			return err
		}
		if err := a.walkNode(child, e.end+1, withBit(e.key, e.end, side == 1), fn); err != nil {
			return err
		}
	}
	return nil
}

// update makes all changes; keys must differ. A deleted key must be there.
func (a augmented) update(changes []change) (augmented, error) {
	if len(changes) == 0 {
		return a, nil
	}
	sort.Slice(changes, func(i, j int) bool { return bytes.Compare(changes[i].key, changes[j].key) < 0 })
	var before *edge
	if a.root != nil {
		var err error
		if before, err = a.parse(a.root, 0, nil); err != nil {
			return a, err
		}
	}
	after, err := a.merge(before, changes)
	if err != nil {
		return a, err
	}
	a.root, err = a.seal(after, 0)
	return a, err
}

// part is the map of the keys that begin with the first bits of prefix.
func (a augmented) part(prefix []byte, bits uint) (augmented, error) {
	node, at := a.root, uint(0)
	var key []byte
	for node != nil {
		e, err := a.parse(node, at, key)
		if err != nil {
			return a, err
		}
		if common := commonBits(e.key, prefix, 0, min(e.end, bits)); common < min(e.end, bits) {
			break
		}
		if e.end >= bits {
			a.root, err = a.seal(e, 0)
			return a, err
		}
		side := bitOf(prefix, e.end)
		if node, err = e.body.PeekRefCellAt(int(side)); err != nil {
			return a, err
		}
		key, at = withBit(e.key, e.end, side == 1), e.end+1
	}
	a.root = nil
	return a, nil
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

// parse reads a node whose label begins at bit `at` of the key.
func (a augmented) parse(node *cell.Cell, at uint, prefix []byte) (*edge, error) {
	if node.IsSpecial() {
		return nil, fmt.Errorf("hashmap node %x is pruned", node.Hash())
	}
	s, err := node.BeginParse()
	if err != nil {
		return nil, err
	}
	key := make([]byte, (a.bits+7)/8)
	copy(key, prefix[:min(uint(len(prefix)), (at+7)/8)])
	n, err := readLabel(s, key, at, a.bits)
	if err != nil {
		return nil, fmt.Errorf("hashmap node %x: %w", node.Hash(), err)
	}
	return &edge{key: key, end: at + n, body: s, sealed: node, from: at}, nil
}

// seal gives an edge's cell for a label that begins at bit from; nil for nil.
func (a augmented) seal(e *edge, from uint) (*cell.Cell, error) {
	if e == nil {
		return nil, nil
	}
	if e.sealed != nil && e.from == from {
		return e.sealed, nil
	}
	b := cell.BeginCell()
	if err := writeLabel(b, e.key, from, e.end, a.bits); err != nil {
		return nil, err
	}
	if err := b.StoreBuilder(e.body.ToBuilder()); err != nil {
		return nil, err
	}
	return b.EndCell(), nil
}

// merge applies sorted changes, all of which agree with each other in the bits
// that lead to e, below e (nil: nothing is there).
func (a augmented) merge(e *edge, changes []change) (*edge, error) {
	if len(changes) == 0 {
		return e, nil
	}
	if e == nil {
		return a.build(changes)
	}
	first, last := changes[0].key, changes[len(changes)-1].key
	at := min(commonBits(e.key, first, 0, e.end), commonBits(e.key, last, 0, e.end))
	if at == a.bits {
		if len(changes) > 1 {
			return nil, fmt.Errorf("key %x is set twice", first)
		}
		return a.leaf(changes[0])
	}
	split := sort.Search(len(changes), func(i int) bool { return bitOf(changes[i].key, at) == 1 })
	sides := [2][]change{changes[:split], changes[split:]}
	var children [2]*edge
	for side := range children {
		child, err := a.child(e, at, side)
		if err == nil {
			children[side], err = a.merge(child, sides[side])
		}
		if err != nil {
			return nil, err
		}
	}
	return a.fork(e.key, at, children)
}

// child is what is on one side of bit `at` of an edge that reaches at least
// there.
func (a augmented) child(e *edge, at uint, side int) (*edge, error) {
	if at < e.end {
		if int(bitOf(e.key, at)) == side {
			return e, nil
		}
		return nil, nil
	}
	node, err := e.body.PeekRefCellAt(side)
	if err != nil {
		return nil, err
	}
	return a.parse(node, at+1, withBit(e.key, at, side == 1))
}

func (a augmented) build(changes []change) (*edge, error) {
	if len(changes) == 1 {
		if changes[0].value == nil {
			return nil, fmt.Errorf("%w: %x", errAbsent, changes[0].key)
		}
		return a.leaf(changes[0])
	}
	first, last := changes[0].key, changes[len(changes)-1].key
	at := commonBits(first, last, 0, a.bits)
	if at == a.bits {
		return nil, fmt.Errorf("key %x is set twice", first)
	}
	split := sort.Search(len(changes), func(i int) bool { return bitOf(changes[i].key, at) == 1 })
	left, err := a.build(changes[:split])
	if err != nil {
		return nil, err
	}
	right, err := a.build(changes[split:])
	if err != nil {
		return nil, err
	}
	return a.fork(first, at, [2]*edge{left, right})
}

func (a augmented) leaf(c change) (*edge, error) {
	if c.value == nil {
		return nil, nil
	}
	extra, err := a.aug.LeafExtra(c.value.ToSlice())
	if err != nil {
		return nil, fmt.Errorf("key %x: %w", c.key, err)
	}
	b := extra.ToBuilder()
	if err := b.StoreBuilder(c.value); err != nil {
		return nil, err
	}
	return &edge{key: c.key, end: a.bits, body: b.ToSlice()}, nil
}

func (a augmented) fork(key []byte, at uint, children [2]*edge) (*edge, error) {
	if children[0] == nil {
		return children[1], nil
	}
	if children[1] == nil {
		return children[0], nil
	}
	b := cell.BeginCell()
	var extras [2]*cell.Slice
	for side, child := range children {
		sealed, err := a.seal(child, at+1)
		if err != nil {
			return nil, err
		}
		if err := b.StoreRef(sealed); err != nil {
			return nil, err
		}
		if extras[side], err = a.atExtra(child); err != nil {
			return nil, err
		}
	}
	extra, err := a.aug.CombineExtra(extras[0], extras[1])
	if err != nil {
		return nil, err
	}
	if err := b.StoreBuilder(extra.ToBuilder()); err != nil {
		return nil, err
	}
	return &edge{key: key, end: at, body: b.ToSlice()}, nil
}

// atExtra is a slice that begins with the extra of a node.
func (a augmented) atExtra(e *edge) (*cell.Slice, error) {
	s := e.body.Copy()
	if e.end < a.bits {
		return s, s.SkipBitsAndRefs(0, 2)
	}
	return s, nil
}

func (a augmented) cutExtra(e *edge) (*cell.Builder, error) {
	s, err := a.atExtra(e)
	if err != nil {
		return nil, err
	}
	rest := s.Copy()
	if err := a.aug.SkipExtra(rest); err != nil {
		return nil, err
	}
	extra, err := s.FetchSubslice(s.BitsLeft()-rest.BitsLeft(), s.RefsNum()-rest.RefsNum())
	if err != nil {
		return nil, err
	}
	return extra.ToBuilder(), nil
}

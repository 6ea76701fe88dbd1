// Package cell has the cells of TON: bags of cells (BoC) read and written, and
// cells of strangers read within bounds.
//
// A Bag holds every cell of a BoC in a few flat arrays with its hashes and depths
// for all levels, and its Slices read cells bit by bit without allocating; blocks
// are decoded with it. Everything is checked by Parse: lengths, references
// (forward only), level masks, exotic cells, stored hashes and the CRC-32C, so
// what a Cell or Slice of a Bag gives can be trusted to have that hash. Nothing
// panics on bad bytes.
//
// What comes from contracts, messages and get-methods as cells of tonutils-go is
// read with Reader, Dictionary and SizeOf. Cells share parts: sixty cells that
// each refer twice to the next are 2^60 as a tree. Sizes take time and memory for
// the distinct cells only; whatever follows references otherwise has a budget. A
// stranger's cell is never changed.
//
// Nothing here knows what a cell means.
package cell

import (
	"errors"
	"fmt"
	"math"
)

// Limits of what Parse accepts.
const (
	MaxSize  = 1 << 26 // bytes of a BoC
	MaxCells = 1 << 21
	MaxDepth = 1024
	MaxRoots = 64
)

// Kinds of errors that Parse, Add and Slice.Err wrap.
var (
	ErrFormat    = errors.New("bad bag of cells")
	ErrLimit     = errors.New("bag of cells over the limit")
	ErrChecksum  = errors.New("bag of cells has a wrong checksum")
	ErrHash      = errors.New("stored cell hash is wrong")
	ErrExotic    = errors.New("bad exotic cell")
	ErrUnderflow = errors.New("cell ends too early")
	ErrPruned    = errors.New("exotic cell where an ordinary one is read")
	ErrAmount    = errors.New("amount does not fit 64 bits")
)

// Kind is the type of a cell; exotic kinds have the value of their type byte.
type Kind uint8

// The kinds of cells.
const (
	Ordinary     Kind = 0
	PrunedBranch Kind = 1
	Library      Kind = 2
	MerkleProof  Kind = 3
	MerkleUpdate Kind = 4
)

// slack is kept after the last data byte so that 64-bit loads never leave the
// buffer.
const slack = 16

// unhashed is the number of zeros at the beginning of hashes and depths: what a
// cell without hashes has.
const unhashed = 4

// node is one cell. Its data starts at buf[off]; buf[off-2:off] holds the
// descriptors with level 0, in the form in which they are hashed.
type node struct {
	off    uint32
	hash   uint32 // first of popcount(mask)+1 entries in hashes and depths
	bits   uint16
	mask   uint8
	refs   uint8
	kind   Kind
	stored bool // the BoC has its hashes in front of the data
	ref    [4]uint32
}

// Bag holds the cells of one BoC and the cells added to it. The zero Bag is
// ready for Parse; another Parse reuses its memory and makes every Cell and
// Slice of it invalid. Reading is safe from several goroutines, adding is not.
type Bag struct {
	buf    []byte
	nodes  []node
	hashes [][32]byte
	depths []uint16
	roots  []uint32
	scan   []bool // referenced by a cell before it, or to be hashed
	sizes  []uint64
	work   [2 + 128 + 4*(2+32)]byte
}

// Parse reads a BoC into a new Bag.
func Parse(boc []byte) (*Bag, error) {
	b := new(Bag)
	if err := b.Parse(boc); err != nil {
		return nil, err
	}
	return b, nil
}

// Len is the number of cells, added ones included.
func (b *Bag) Len() int { return len(b.nodes) }

// Unfolded is the size of a cell as a tree: the bytes of all cells below it, each
// as often as it is referred to, or the greatest number there is. Every cell is
// visited once.
func (b *Bag) Unfolded(c Cell) uint64 {
	if cap(b.sizes) < len(b.nodes) {
		b.sizes = make([]uint64, len(b.nodes)+len(b.nodes)/4)
	}
	sizes := b.sizes[:len(b.nodes)]
	for i := len(sizes) - 1; i >= int(c.i); i-- { // references lead forward
		n := &b.nodes[i]
		size := 2 + (uint64(n.bits)+7)/8
		for _, r := range n.ref[:n.refs] {
			if size += sizes[r]; size < sizes[r] {
				size = math.MaxUint64
				break
			}
		}
		sizes[i] = size
	}
	return sizes[c.i]
}

// Roots is the number of roots.
func (b *Bag) Roots() int { return len(b.roots) }

// Root is the i-th root.
func (b *Bag) Root(i int) Cell { return Cell{b, b.roots[i]} }

// Single is the root of a bag that must have exactly one.
func (b *Bag) Single() (Cell, error) {
	if len(b.roots) != 1 {
		return Cell{}, fmt.Errorf("%w: %d roots where one is expected", ErrFormat, len(b.roots))
	}
	return b.Root(0), nil
}

// Cell is a cell of a Bag. The zero Cell is no cell.
type Cell struct {
	bag *Bag
	i   uint32
}

// Valid reports whether c is a cell at all.
func (c Cell) Valid() bool { return c.bag != nil }

// Index is the place of the cell in its Bag, below Len.
func (c Cell) Index() int { return int(c.i) }

// Hash is the representation hash. The array belongs to the Bag.
func (c Cell) Hash() *[32]byte {
	n := &c.bag.nodes[c.i]
	return &c.bag.hashes[n.hash+hashIndex(n.mask, 3)]
}

// HashAt is the hash at a level, 0 to 3: HashAt(0) of a cell below a Merkle
// proof or update is the hash of the cell with everything in place of its
// pruned branches. The array belongs to the Bag.
func (c Cell) HashAt(level int) *[32]byte {
	n := &c.bag.nodes[c.i]
	return &c.bag.hashes[n.hash+hashIndex(n.mask, level)]
}

// DepthAt is the depth at a level, 0 to 3.
func (c Cell) DepthAt(level int) int {
	n := &c.bag.nodes[c.i]
	return int(c.bag.depths[n.hash+hashIndex(n.mask, level)])
}

// Depth is the depth of the cell as it is.
func (c Cell) Depth() int { return c.DepthAt(3) }

// Level is the level of the cell, 0 to 3.
func (c Cell) Level() int { return levelOf(c.bag.nodes[c.i].mask) }

// Kind is the type of the cell.
func (c Cell) Kind() Kind { return c.bag.nodes[c.i].kind }

// Bits is the number of data bits.
func (c Cell) Bits() int { return int(c.bag.nodes[c.i].bits) }

// Refs is the number of references.
func (c Cell) Refs() int { return int(c.bag.nodes[c.i].refs) }

// Ref is the i-th reference, i below Refs.
func (c Cell) Ref(i int) Cell { return Cell{c.bag, c.bag.nodes[c.i].ref[i]} }

// Slice reads an ordinary cell from its beginning. A slice of an exotic cell is
// empty and its Err wraps ErrPruned.
func (c Cell) Slice() Slice {
	s := c.RawSlice()
	if c.bag.nodes[c.i].kind != Ordinary {
		s.end, s.refs, s.fault = s.pos, s.ref, faultExotic
	}
	return s
}

// RawSlice reads any cell from its beginning, the type byte of an exotic one
// included.
func (c Cell) RawSlice() Slice {
	n := &c.bag.nodes[c.i]
	return Slice{bag: c.bag, cell: c.i, pos: n.off * 8, end: n.off*8 + uint32(n.bits), refs: n.refs}
}

package synthetic

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

var (
	errTemplate = errors.New("not usable as a template")
	castagnoli  = crc32.MakeTable(crc32.Castagnoli)
)

// graph holds the cells of a block so that some can be overwritten and all
// hashes above them brought up to date without building the block anew.
//
// A live cell may change; a frozen one never does. Everything below a Merkle
// proof or another special cell is frozen: such cells name what is below them by
// hash.
type graph struct {
	nodes []node
	// order is that of the bag of cells: parents before children, the root first.
	order []int32
	// steps are the live cells whose hash must be made again, children first.
	steps []int32
}

type node struct {
	// data is the cell's bits, zero behind them when live, with the completion
	// tag when frozen.
	data []byte
	bits int
	refs [4]int32
	d1   byte
	live bool
	// dirty says that the cell, or one below it, differs from the template.
	dirty bool
	depth uint16
	hash  [32]byte
}

func (n *node) refCount() int { return int(n.d1 & 7) }

type cellKey struct {
	hash   cell.Hash
	frozen bool
}

// newGraph loads the cells below root, but nothing of the state update, reference
// 2 of the block: an empty cell stands in its place.
func newGraph(root *cell.Cell) (*graph, error) {
	g := &graph{}
	seen := map[cellKey]int32{}
	stateUpdate, err := root.PeekRef(2)
	if err != nil {
		return nil, fmt.Errorf("block without a state update: %w", err)
	}
	top, err := g.load(root, false, stateUpdate.HashKey(), seen)
	if err != nil {
		return nil, err
	}
	if top != 0 {
		return nil, fmt.Errorf("%w: empty block", errTemplate)
	}
	return g, nil
}

func (g *graph) load(c *cell.Cell, frozen bool, stateUpdate cell.Hash, seen map[cellKey]int32) (int32, error) {
	if c.HashKey() == stateUpdate {
		g.nodes = append(g.nodes, node{hash: cell.BeginCell().EndCell().HashKey()})
		return int32(len(g.nodes) - 1), nil
	}
	frozen = frozen || c.IsSpecial()
	if !frozen && c.Level() != 0 {
		return 0, fmt.Errorf("%w: pruned cells outside of the state update", errTemplate)
	}
	key := cellKey{c.HashKey(), frozen}
	if i, ok := seen[key]; ok {
		return i, nil
	}
	i := int32(len(g.nodes))
	seen[key] = i
	g.nodes = append(g.nodes, node{})
	n := node{bits: int(c.BitsSize()), live: !frozen, depth: c.Depth(), hash: c.HashKey()}
	n.d1 = byte(c.RefsNum()) | c.LevelMask().Mask<<5
	if c.IsSpecial() {
		n.d1 |= 8
	}
	n.data = make([]byte, c.SerializedBOCBodySize())
	c.SerializeBOCBodyTo(n.data)
	if tail := n.bits & 7; tail != 0 && n.live {
		n.data[len(n.data)-1] &^= 1 << (7 - tail)
	}
	for j := range n.refCount() {
		child, err := c.PeekRef(j)
		if err != nil {
			return 0, fmt.Errorf("reference %d: %w", j, err)
		}
		if n.refs[j], err = g.load(child, frozen, stateUpdate, seen); err != nil {
			return 0, err
		}
	}
	g.nodes[i] = n
	return i, nil
}

// finish is called when the cells to overwrite are marked dirty: it spreads the
// mark upwards, joins equal cells that stay as they are, and fixes the orders.
// first are the cells to be hashed before all others, each after what is below it.
func (g *graph) finish(first []int32) {
	spread := make([]bool, len(g.nodes))
	g.spread(0, spread)
	same := map[[32]byte]int32{}
	for i := range g.nodes {
		if n := &g.nodes[i]; !n.dirty {
			if _, ok := same[n.hash]; !ok {
				same[n.hash] = int32(i)
			}
			g.freeze(n)
		}
	}
	for i := range g.nodes {
		n := &g.nodes[i]
		for j := range n.refCount() {
			if child := &g.nodes[n.refs[j]]; !child.dirty {
				n.refs[j] = same[child.hash]
			}
		}
	}
	stepped := make([]bool, len(g.nodes))
	for _, i := range first {
		g.addSteps(i, stepped)
	}
	g.addSteps(0, stepped)
	placed := make([]bool, len(g.nodes))
	g.place(0, placed)
	for i, j := 0, len(g.order)-1; i < j; i, j = i+1, j-1 {
		g.order[i], g.order[j] = g.order[j], g.order[i]
	}
}

func (g *graph) spread(i int32, done []bool) bool {
	n := &g.nodes[i]
	if done[i] || !n.live {
		return n.dirty
	}
	done[i] = true
	for j := range n.refCount() {
		if g.spread(n.refs[j], done) {
			n.dirty = true
		}
	}
	return n.dirty
}

func (g *graph) freeze(n *node) {
	if n.live && n.bits&7 != 0 {
		n.data[len(n.data)-1] |= 1 << (7 - n.bits&7)
	}
	n.live = false
}

func (g *graph) addSteps(i int32, done []bool) {
	n := &g.nodes[i]
	if done[i] || !n.dirty {
		return
	}
	done[i] = true
	for j := range n.refCount() {
		g.addSteps(n.refs[j], done)
	}
	g.steps = append(g.steps, i)
}

func (g *graph) place(i int32, done []bool) {
	if done[i] {
		return
	}
	done[i] = true
	n := &g.nodes[i]
	for j := n.refCount() - 1; j >= 0; j-- { // turned round in the end: the header comes first
		g.place(n.refs[j], done)
	}
	g.order = append(g.order, i)
}

// rehash makes the hash of a live cell from its bits and the hashes below it.
// Depths never change: the shape of the graph does not.
func (g *graph) rehash(i int32) {
	var buffer [2 + 128 + 4*34]byte
	n := &g.nodes[i]
	out := append(buffer[:0], n.d1, byte(n.bits>>3+(n.bits+7)>>3))
	out = append(out, n.data...)
	if n.bits&7 != 0 {
		out[len(out)-1] |= 1 << (7 - n.bits&7)
	}
	for j := range n.refCount() {
		out = binary.BigEndian.AppendUint16(out, g.nodes[n.refs[j]].depth)
	}
	for j := range n.refCount() {
		out = append(out, g.nodes[n.refs[j]].hash[:]...)
	}
	n.hash = sha256.Sum256(out)
}

// bag appends the bag of cells with CRC-32C, without index.
func (g *graph) bag(dst []byte, index []int32) []byte {
	start := len(dst)
	width, total := 1, 0
	for width < 4 && len(g.order)>>(8*width) != 0 {
		width++
	}
	for at, i := range g.order {
		index[i] = int32(at)
		n := &g.nodes[i]
		total += 2 + len(n.data) + n.refCount()*width
	}
	dst = append(dst, 0xb5, 0xee, 0x9c, 0x72, 0x40|byte(width), 4)
	dst = appendUint(dst, len(g.order), width)
	dst = appendUint(dst, 1, width)
	dst = appendUint(dst, 0, width)
	dst = appendUint(dst, total, 4)
	dst = appendUint(dst, 0, width)
	for _, i := range g.order {
		n := &g.nodes[i]
		dst = append(dst, n.d1, byte(n.bits>>3+(n.bits+7)>>3))
		dst = append(dst, n.data...)
		if n.live && n.bits&7 != 0 {
			dst[len(dst)-1] |= 1 << (7 - n.bits&7)
		}
		for j := range n.refCount() {
			dst = appendUint(dst, int(index[n.refs[j]]), width)
		}
	}
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

func appendUint(dst []byte, v, width int) []byte {
	for i := width - 1; i >= 0; i-- {
		dst = append(dst, byte(v>>(8*i)))
	}
	return dst
}

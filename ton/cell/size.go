package cell

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

// ErrTooManyCells is returned when there are more distinct cells than allowed.
var ErrTooManyCells = errors.New("too many distinct cells")

// Size is how large some cells are together.
type Size struct {
	// Cells and Bits count each distinct cell once, as fees of storage do.
	Cells, Bits uint64
	// TreeCells and TreeBits count a cell as often as it is referred to, which is
	// what a walk that remembers nothing passes through. They stay at the highest
	// number when they would pass it.
	TreeCells, TreeBits uint64
	// Depth is the number of references on the longest way down.
	Depth int
}

// SizeOf is the size of roots and of all they refer to; a nil root is none. It
// ends with ErrTooManyCells at the first distinct cell beyond limit.
func SizeOf(limit int, roots ...*cell.Cell) (Size, error) {
	var all Size
	seen := map[cell.Hash]subtree{}
	for _, root := range roots {
		if root == nil {
			continue
		}
		if err := all.visit(root.WithoutTrace(), seen, limit); err != nil {
			return Size{}, err
		}
		part := seen[root.HashKey()]
		all.TreeCells = add(all.TreeCells, part.cells)
		all.TreeBits = add(all.TreeBits, part.bits)
		all.Depth = max(all.Depth, part.depth)
	}
	return all, nil
}

// subtree is the size of a cell with all below it, as a tree.
type subtree struct {
	cells, bits uint64
	depth       int
}

// open is a cell whose references are being visited.
type open struct {
	cell *cell.Cell
	hash cell.Hash
	next int // the reference to be visited next
	sum  subtree
}

// visit puts root and everything below it into seen, children before parents.
func (s *Size) visit(root *cell.Cell, seen map[cell.Hash]subtree, limit int) error {
	if _, ok := seen[root.HashKey()]; ok {
		return nil
	}
	way, err := s.enter(nil, root, limit)
	if err != nil {
		return err
	}
	for len(way) > 0 {
		last := &way[len(way)-1]
		if last.next == int(last.cell.RefsNum()) {
			seen[last.hash] = last.sum
			way = way[:len(way)-1]
			continue
		}
		child, err := last.cell.PeekRef(last.next)
		if err != nil {
			return fmt.Errorf("reference %d of cell %x: %w", last.next, last.hash, err)
		}
		below, ok := seen[child.HashKey()]
		if !ok {
			// It is counted when it has been left and is met once more.
			if way, err = s.enter(way, child, limit); err != nil {
				return err
			}
			continue
		}
		last.next++
		last.sum.cells = add(last.sum.cells, below.cells)
		last.sum.bits = add(last.sum.bits, below.bits)
		last.sum.depth = max(last.sum.depth, below.depth+1)
	}
	return nil
}

func (s *Size) enter(way []open, c *cell.Cell, limit int) ([]open, error) {
	if s.Cells >= uint64(max(limit, 0)) {
		return nil, fmt.Errorf("%w: more than %d", ErrTooManyCells, limit)
	}
	own := uint64(c.BitsSize())
	s.Cells++
	s.Bits += own
	return append(way, open{cell: c, hash: c.HashKey(), sum: subtree{cells: 1, bits: own}}), nil
}

// add is the sum of both, or the highest number.
func add(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return math.MaxUint64
	}
	return sum
}

package cell_test

import (
	"errors"
	"math"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/test/support/costtest"
	size "tonscribe/ton/cell"
)

// doubled is a cell of 8 bits, and above it n times a cell of 16 bits that
// refers twice to the one below.
func doubled(n int) *cell.Cell {
	c := cell.BeginCell().MustStoreUInt(7, 8).EndCell()
	for i := range n {
		c = cell.BeginCell().MustStoreUInt(uint64(i), 16).MustStoreRef(c).MustStoreRef(c).EndCell()
	}
	return c
}

// chain is n cells of 8 bits, each but the last with one reference.
func chain(n int) *cell.Cell {
	c := cell.BeginCell().MustStoreUInt(0, 8).EndCell()
	for i := 1; i < n; i++ {
		c = cell.BeginCell().MustStoreUInt(uint64(i&255), 8).MustStoreRef(c).EndCell()
	}
	return c
}

func TestATreeIsCountedFromItsDistinctCells(t *testing.T) {
	leaf := cell.BeginCell().MustStoreUInt(1, 3).EndCell()
	for name, c := range map[string]struct {
		roots []*cell.Cell
		want  size.Size
	}{
		"nothing":              {nil, size.Size{}},
		"no root":              {[]*cell.Cell{nil}, size.Size{}},
		"a leaf":               {[]*cell.Cell{leaf}, size.Size{Cells: 1, Bits: 3, TreeCells: 1, TreeBits: 3}},
		"a leaf twice":         {[]*cell.Cell{leaf, leaf}, size.Size{Cells: 1, Bits: 3, TreeCells: 2, TreeBits: 6}},
		"three doublings":      {[]*cell.Cell{doubled(3)}, size.Size{Cells: 4, Bits: 56, TreeCells: 15, TreeBits: 7*16 + 8*8, Depth: 3}},
		"a part of the other":  {[]*cell.Cell{doubled(2), doubled(3)}, size.Size{Cells: 4, Bits: 56, TreeCells: 7 + 15, TreeBits: 3*16 + 4*8 + 7*16 + 8*8, Depth: 3}},
		"sixty doublings":      {[]*cell.Cell{doubled(60)}, size.Size{Cells: 61, Bits: 60*16 + 8, TreeCells: 1<<61 - 1, TreeBits: math.MaxUint64, Depth: 60}},
		"a thousand doublings": {[]*cell.Cell{doubled(1000)}, size.Size{Cells: 1001, Bits: 1000*16 + 8, TreeCells: math.MaxUint64, TreeBits: math.MaxUint64, Depth: 1000}},
		"as deep as a bag may": {[]*cell.Cell{chain(1024)}, size.Size{Cells: 1024, Bits: 1024 * 8, TreeCells: 1024, TreeBits: 1024 * 8, Depth: 1023}},
	} {
		costtest.Check(t, func() {
			got, err := size.SizeOf(10_000, c.roots...)
			if err != nil || got != c.want {
				t.Errorf("%s: %+v (%v), want %+v", name, got, err, c.want)
			}
		})
	}
}

func TestCountingEndsAtItsLimit(t *testing.T) {
	for limit, want := range map[int]error{-1: size.ErrTooManyCells, 0: size.ErrTooManyCells, 60: size.ErrTooManyCells, 61: nil} {
		if _, err := size.SizeOf(limit, doubled(60)); !errors.Is(err, want) {
			t.Errorf("61 cells with a limit of %d: %v, want %v", limit, err, want)
		}
	}
	if got, err := size.SizeOf(0, nil); err != nil || got != (size.Size{}) {
		t.Errorf("no cell with a limit of 0: %+v, %v", got, err)
	}
}

// walk counts as a tree and remembers nothing; false when there is more than limit.
func walk(c *cell.Cell, left *int) (cells, bits uint64, depth int, ok bool) {
	if *left--; *left < 0 {
		return 0, 0, 0, false
	}
	cells, bits = 1, uint64(c.BitsSize())
	for i := range int(c.RefsNum()) {
		n, b, d, ok := walk(c.MustPeekRef(i), left)
		if !ok {
			return 0, 0, 0, false
		}
		cells, bits, depth = cells+n, bits+b, max(depth, d+1)
	}
	return cells, bits, depth, true
}

func FuzzSizeOf(f *testing.F) {
	for _, c := range []*cell.Cell{doubled(0), doubled(3), doubled(60), chain(1024)} {
		f.Add(c.ToBOC())
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		root, err := cell.FromBOC(raw)
		if err != nil {
			return
		}
		var got size.Size
		costtest.Check(t, func() { got, err = size.SizeOf(1<<16, root) })
		if err != nil {
			if !errors.Is(err, size.ErrTooManyCells) {
				t.Errorf("%d bytes: %v", len(raw), err)
			}
			return
		}
		left := 10_000
		if cells, bits, depth, ok := walk(root, &left); ok && (got.TreeCells != cells || got.TreeBits != bits || got.Depth != depth) {
			t.Errorf("%+v, want as a tree %d cells, %d bits, depth %d", got, cells, bits, depth)
		}
		if got.Cells > got.TreeCells || got.Bits > got.TreeBits {
			t.Errorf("%+v: more distinct than as a tree", got)
		}
	})
}

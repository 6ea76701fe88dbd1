package chain

import "github.com/xssnick/tonutils-go/tvm/cell"

// compare finds what two states have in common, of which a MerkleUpdate from one
// to the other is made: the common cells are pruned, and of the old state only the
// paths to them are kept.
//
// The common cells are found without tracing any reads. Both trees are walked
// from the deepest cells to the shallowest: when all cells of greater depth have
// been looked at, a cell is common exactly if both walks have met it, and only
// what is not common is walked further. That costs as much as has changed, and
// leaves nothing behind in the cells of the new state.
func compare(before, after *cell.Cell) *difference {
	d := &difference{nodes: map[cell.Hash]*differing{}, built: map[cell.Hash]*cell.Cell{}, bared: map[cell.Hash]*cell.Cell{}}
	d.meet(before, inOld)
	d.meet(after, inNew)
	d.walk()
	return d
}

func (d *difference) update(before, after *cell.Cell) *cell.Cell {
	return sure(cell.CreateMerkleUpdate(d.oldBody(before, 0), d.newBody(after)))
}

const (
	inOld byte = 1 << iota
	inNew
	inBoth = inOld | inNew
)

type differing struct {
	cell  *cell.Cell
	sides byte
	keep  byte // whether a common cell is below: 0 unknown, 1 no, 2 yes
}

type difference struct {
	nodes   map[cell.Hash]*differing
	byDepth [][]*differing
	open    int // cells of the new side that wait
	built   map[cell.Hash]*cell.Cell
	bared   map[cell.Hash]*cell.Cell
}

// bare is the new state without memories. A cell that the TVM has made knows
// the run that made it, which would stay in memory as long as the account
// lives; so common cells become those of the old state, and the others copies.
func (d *difference) bare(c *cell.Cell) *cell.Cell {
	hash := c.HashKey()
	switch known := d.bared[hash]; {
	case d.common(c):
		return d.nodes[hash].cell
	case c.IsSpecial():
		return c.WithoutTrace()
	case known != nil:
		return known
	}
	content := sure(c.BeginParseWithoutTrace())
	bits := content.BitsLeft()
	b := cell.BeginCell().MustStoreSlice(content.MustLoadSlice(bits), bits)
	for content.RefsNum() > 0 {
		b.MustStoreRef(d.bare(sure(content.LoadRefCell())))
	}
	d.bared[hash] = b.EndCell()
	return d.bared[hash]
}

func (d *difference) meet(c *cell.Cell, side byte) {
	hash := c.HashKey()
	n := d.nodes[hash]
	if n == nil {
		n = &differing{cell: c}
		d.nodes[hash] = n
		depth := int(c.Depth())
		for len(d.byDepth) <= depth {
			d.byDepth = append(d.byDepth, nil)
		}
		d.byDepth[depth] = append(d.byDepth[depth], n)
	}
	if n.sides&side == 0 && side == inNew {
		d.open++
	}
	if side&inOld != 0 {
		n.cell = c
	}
	n.sides |= side
}

func (d *difference) walk() {
	for depth := len(d.byDepth) - 1; depth >= 0; depth-- {
		for _, n := range d.byDepth[depth] {
			if n.sides&inNew != 0 {
				d.open--
			}
		}
		for _, n := range d.byDepth[depth] {
			if n.sides == inBoth || n.cell.IsSpecial() {
				continue
			}
			for i := range int(n.cell.RefsNum()) {
				d.meet(n.cell.MustPeekRef(i), n.sides)
			}
		}
		if d.open == 0 {
			return // nothing more can be common
		}
	}
}

func (d *difference) common(c *cell.Cell) bool {
	n := d.nodes[c.HashKey()]
	return n != nil && n.sides == inBoth
}

// newBody is the new side: common cells are pruned. Special cells (libraries,
// Merkle proofs in contract data) stay whole.
func (d *difference) newBody(c *cell.Cell) *cell.Cell {
	if d.common(c) {
		return sure(cell.CreatePrunedBranch(c, 1, 3))
	}
	if c.RefsNum() == 0 || c.IsSpecial() {
		return c
	}
	hash := c.HashKey()
	if b := d.built[hash]; b != nil {
		return b
	}
	d.built[hash] = rebuild(c, d.newBody)
	return d.built[hash]
}

// oldBody is the old side: pruned is what is common, and what leads to nothing
// common. The frame of a state is never pruned, as readers exist that want it.
func (d *difference) oldBody(c *cell.Cell, level int) *cell.Cell {
	return rebuild(c, func(child *cell.Cell) *cell.Cell {
		frame := level < frameLevels && !child.IsSpecial()
		if d.common(child) || !frame && !d.leads(child) {
			return sure(cell.CreatePrunedBranch(child, 1, 3))
		}
		return d.oldBody(child, level+1)
	})
}

// frameLevels below a state are its parts and, in the masterchain, the cell of
// McStateExtra that has no name.
const frameLevels = 2

// leads reports whether a common cell with references is below c.
func (d *difference) leads(c *cell.Cell) bool {
	n := d.nodes[c.HashKey()]
	if n == nil || n.cell.IsSpecial() {
		return false
	}
	if n.keep != 0 {
		return n.keep == 2
	}
	n.keep = 1
	for i := range int(c.RefsNum()) {
		if child := c.MustPeekRef(i); child.RefsNum() > 0 && (d.common(child) || d.leads(child)) {
			n.keep = 2
			break
		}
	}
	return n.keep == 2
}

func rebuild(c *cell.Cell, each func(*cell.Cell) *cell.Cell) *cell.Cell {
	refs := make([]*cell.Cell, c.RefsNum())
	for i := range refs {
		refs[i] = each(c.MustPeekRef(i))
	}
	return sure(c.RebuildWithRefs(refs))
}

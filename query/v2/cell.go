package v2

import (
	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// legacyCell is a cell spelt out.
type legacyCell struct {
	Data    legacyBits    `json:"data"`
	Refs    []*legacyCell `json:"refs"`
	Special bool          `json:"special"`
}

// legacyBits are the bits of a cell. When they fill no whole number of bytes,
// the last byte has a one after the last bit.
type legacyBits struct {
	Base64 []byte `json:"b64"`
	Len    int    `json:"len"`
}

// mostSpelt is how many cells of an answer are spelt out. Cells that many share are written
// once in a bag, but again and again here: a handful of them unfolds to more
// than any machine holds.
const mostSpelt = 1 << 14

// spell is nil for a cell that unfolds to more than left.
func spell(c *cell.Cell, left *int) *legacyCell {
	if *left--; *left < 0 {
		return nil
	}
	bits, data, err := c.ToBuilder().ToSlice().RestBits()
	if err != nil {
		return nil
	}
	if rest := bits % 8; rest != 0 {
		data[len(data)-1] |= 0x80 >> rest
	}
	spelt := &legacyCell{Data: legacyBits{Base64: data, Len: int(bits)}, Special: c.IsSpecial()}
	for i := range c.RefsNum() {
		ref, err := c.PeekRef(int(i))
		if err != nil {
			return nil
		}
		child := spell(ref, left)
		if child == nil {
			return nil
		}
		spelt.Refs = append(spelt.Refs, child)
	}
	return spelt
}

// tvmCell is TL's tvm.cell.
type tvmCell struct {
	_     typed      `type:"tvm.cell"`
	Bytes *cell.Cell `json:"bytes"`
}

// The limits of what callers send as bags of cells.
const (
	mostCells = 1 << 14
	mostDepth = 1024
)

// parseBag reads a caller's bag of cells with one root; name is what the
// contract's text calls it.
func parseBag(data []byte, name string) (*cell.Cell, error) {
	root, err := cell.FromBOCWithOptions(data, cell.BOCParseOptions{MaxCells: mostCells})
	if err != nil || root == nil {
		return nil, failed("INVALID_BAG_OF_CELLS: %s", name)
	}
	if root.Depth() > mostDepth {
		return nil, failed("INVALID_BAG_OF_CELLS: %s is deeper than %d", name, mostDepth)
	}
	return root, nil
}

// addressOf is an account's address as cells have it. ok is false for addr_none
// and for external addresses; an anycast prefix is written into the account id.
func addressOf(a *address.Address) (own Address, ok bool) {
	if a == nil || a.BitsLen() != 256 || a.Type() != address.StdAddress && a.Type() != address.VarAddress {
		return own, false
	}
	if w := a.Workchain(); w < -128 || w > 127 {
		return own, false
	}
	own.Workchain = a.Workchain()
	copy(own.ID[:], a.Data())
	if cast := a.Anycast(); cast != nil {
		overwrite(own.ID[:], cast.Prefix(), cast.Depth())
	}
	return own, true
}

// overwrite copies the first bits of prefix over those of id.
func overwrite(id, prefix []byte, bits uint) {
	for i := range bits {
		mask := byte(0x80) >> (i % 8)
		id[i/8] = id[i/8]&^mask | prefix[i/8]&mask
	}
}

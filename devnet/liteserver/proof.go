package liteserver

import (
	"errors"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// References of a Block cell (TL-B Block).
const (
	refInfo = iota
	refValueFlow
	refStateUpdate
	refExtra
)

// Blocks and states are the chain's own, known by their hashes: one that cannot be
// read is a mistake of this program, so that reading it panics, which a query's
// client sees as an internal error.

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// load reads a value of a TL-B type. Dictionaries read through it join the proof.
func load[T any](s *cell.Slice) *T {
	value := new(T)
	return must(value, tlb.LoadFromCell(value, s))
}

// find looks a key up, nil when there is none.
func find(s *cell.Slice, err error) *cell.Slice {
	if errors.Is(err, cell.ErrNoSuchKeyInDict) {
		return nil
	}
	return must(s, err)
}

func key256(id []byte) *cell.Cell { return cell.BeginCell().MustStoreSlice(id, 256).EndCell() }

// prove makes a Merkle proof of root that holds the cells which visit reads.
func prove(root *cell.Cell, visit func(root *cell.Slice)) *cell.Cell {
	builder := cell.NewMerkleProofBuilder(root)
	visit(builder.Root().MustBeginParse())
	return must(builder.CreateProof())
}

// child reads the cell behind a reference, and by that puts it into the proof.
func child(s *cell.Slice, ref int) *cell.Slice { return must(s.PeekRefCellAt(ref)).MustBeginParse() }

// skip passes bits.
func skip(s *cell.Slice, bits uint) *cell.Slice { return must(s, s.SkipBits(bits)) }

// readAll puts everything under s into the proof.
func readAll(s *cell.Slice) {
	for i := range s.RefsNum() {
		readAll(child(s, i))
	}
}

// visitHeader reads BlockInfo and the two state hashes.
func visitHeader(block *cell.Slice) {
	readAll(child(block, refInfo))
	child(block, refStateUpdate)
}

// proveBlock proves what visit reads of a block.
func (c *Component) proveBlock(id *ton.BlockIDExt, visit func(block *cell.Slice)) (*cell.Cell, error) {
	block, err := c.dependencies.History.Block(id)
	if err != nil {
		return nil, err
	}
	return prove(block.Root, visit), nil
}

// stateProof proves what visit reads of the state after a block, in two roots:
// the block with the state's hash, and the state.
func (c *Component) stateProof(id *ton.BlockIDExt, visit func(state *cell.Slice)) ([]*cell.Cell, error) {
	header, err := c.proveBlock(id, visitHeader)
	if err != nil {
		return nil, err
	}
	root, err := c.dependencies.History.State(id)
	if err != nil {
		return nil, err
	}
	return []*cell.Cell{header, prove(root, visit)}, nil
}

// stateProofs is stateProof with each root in a bag of cells of its own.
func (c *Component) stateProofs(id *ton.BlockIDExt, visit func(state *cell.Slice)) (block, state []byte, err error) {
	roots, err := c.stateProof(id, visit)
	if err != nil {
		return nil, nil, err
	}
	return boc(roots[0]), boc(roots[1]), nil
}

// mcExtra reads the McStateExtra of a masterchain state (its last reference). Its
// third part, where validators and key blocks stand, always joins the proof: some
// clients parse it without looking whether it is there.
func mcExtra(state *cell.Slice) *tlb.McStateExtra {
	extra := child(state, 3)
	child(extra, int(must(extra.BitAt(16)))+1)
	return load[tlb.McStateExtra](extra)
}

// mcInfo reads the part of McStateExtra that has no name.
func mcInfo(extra *tlb.McStateExtra) *tlb.McStateExtraBlockInfo {
	return load[tlb.McStateExtraBlockInfo](extra.Info.MustBeginParse())
}

// mcBlockExtra reads a masterchain block down to its McBlockExtra.
func mcBlockExtra(block *cell.Slice) *cell.Slice { return child(child(block, refExtra), 3) }

// boc serialises the way proofs are sent.
func boc(roots ...*cell.Cell) []byte {
	if len(roots) == 0 {
		return nil
	}
	return cell.ToBOCWithOptions(roots, cell.BOCSerializeOptions{})
}

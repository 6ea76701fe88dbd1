package liteserver

import (
	"errors"
	"fmt"

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

// refTotals is where ShardStateUnsplit has its balances and libraries.
const refTotals = 2

// prove makes a Merkle proof of root that holds the cells which visit reads.
func prove(root *cell.Cell, visit func(root *cell.Slice) error) (*cell.Cell, error) {
	builder := cell.NewMerkleProofBuilder(root)
	loader, err := builder.Root().BeginParse()
	if err != nil {
		return nil, err
	}
	if err := visit(loader); err != nil {
		return nil, err
	}
	return builder.CreateProof()
}

// child reads the cell behind a reference, and by that puts it into the proof.
func child(s *cell.Slice, ref int) (*cell.Slice, error) {
	c, err := s.PeekRefCellAt(ref)
	if err != nil {
		return nil, err
	}
	return c.BeginParse()
}

// readAll puts everything under s into the proof.
func readAll(s *cell.Slice) error {
	for i := range s.RefsNum() {
		next, err := child(s, i)
		if err != nil {
			return err
		}
		if err := readAll(next); err != nil {
			return err
		}
	}
	return nil
}

// visitInfo reads a block's BlockInfo with its references to other blocks.
func visitInfo(block *cell.Slice) error {
	info, err := child(block, refInfo)
	if err != nil {
		return err
	}
	return readAll(info)
}

// visitHeader reads BlockInfo and the two state hashes.
func visitHeader(block *cell.Slice) error {
	if err := visitInfo(block); err != nil {
		return err
	}
	_, err := child(block, refStateUpdate)
	return err
}

// stateProof proves what visit reads of the state after a block, in two roots:
// the block with the state's hash, and the state.
func (c *Component) stateProof(id *ton.BlockIDExt, visit func(state *cell.Slice) error) ([]*cell.Cell, error) {
	block, err := c.dependencies.History.Block(id)
	if err != nil {
		return nil, err
	}
	root, err := c.dependencies.History.State(id)
	if err != nil {
		return nil, err
	}
	header, err := prove(block.Root, visitHeader)
	if err != nil {
		return nil, fmt.Errorf("proof of block %s: %w", show(id), err)
	}
	state, err := prove(root, visit)
	if err != nil {
		return nil, fmt.Errorf("proof of the state of block %s: %w", show(id), err)
	}
	return []*cell.Cell{header, state}, nil
}

// custom is the McStateExtra of a masterchain state (its last reference). Its
// third part, where validators and key blocks stand, always joins the proof: some
// clients parse it without looking whether it is there.
func custom(state *cell.Slice) (*cell.Slice, error) {
	if state.RefsNum() < 4 {
		return nil, errors.New("not a masterchain state")
	}
	extra, err := child(state, 3)
	if err != nil {
		return nil, err
	}
	hashes, err := extra.BitAt(16)
	if err != nil {
		return nil, err
	}
	_, err = child(extra, int(hashes)+1)
	return extra, err
}

// mcExtra reads McStateExtra; dictionaries read through it join the proof.
func mcExtra(state *cell.Slice) (*tlb.McStateExtra, error) {
	s, err := custom(state)
	if err != nil {
		return nil, err
	}
	var extra tlb.McStateExtra
	if err := tlb.LoadFromCell(&extra, s); err != nil {
		return nil, fmt.Errorf("masterchain state: %w", err)
	}
	return &extra, nil
}

// boc serialises the way proofs are sent.
func boc(roots ...*cell.Cell) []byte {
	if len(roots) == 0 {
		return nil
	}
	return cell.ToBOCWithOptions(roots, cell.BOCSerializeOptions{})
}

// show is an id as TON tools write it.
func show(id *ton.BlockIDExt) string {
	return fmt.Sprintf("(%d,%016x,%d)", id.Workchain, uint64(id.Shard), id.SeqNo)
}

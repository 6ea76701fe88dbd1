package node

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// Signatures returns the validators' signatures of the masterchain block with a
// seqno: a ton.SignatureSet of one of its kinds.
func (n *Node) Signatures(ctx context.Context, seqno uint32) (*ton.BlockIDExt, any, error) {
	id, err := n.Master(ctx, seqno)
	if err != nil {
		return nil, nil, err
	}
	before, err := n.Master(ctx, id.SeqNo-1)
	if err != nil {
		return nil, nil, err
	}
	set, err := n.signatures(ctx, before, id)
	return id, set, err
}

// fromAnyBlock asks for a proof from the block before, key block or not.
const fromAnyBlock = 1 << 12

// signatures are those of a block, out of the step from the block before. They
// are checked against the validators of that block's configuration.
func (n *Node) signatures(ctx context.Context, before, id *ton.BlockIDExt) (set any, err error) {
	validators, err := n.validatorsAt(ctx, before)
	if err != nil {
		return nil, err
	}
	request := ton.GetBlockProof{Mode: 1 | fromAnyBlock, KnownBlock: before, TargetBlock: id}
	_, err = query(ctx, n, request, id.SeqNo, func(got ton.PartialBlockProof) error {
		if len(got.Steps) == 0 {
			return errors.New("getBlockProof: it has no step")
		}
		link, ok := got.Steps[len(got.Steps)-1].(ton.BlockLinkForward)
		if !ok || link.To == nil || !link.To.Equals(id) {
			return fmt.Errorf("getBlockProof: the last step is a %T", got.Steps[len(got.Steps)-1])
		}
		set = link.SignatureSet
		return validators.check(id, link)
	})
	return set, err
}

// validatorsOf are parameters 28 and 34 of a configuration.
type validatorsOf struct {
	catchain   tlb.CatchainConfig
	validators tlb.ValidatorSetAny
}

func (n *Node) validatorsAt(ctx context.Context, master *ton.BlockIDExt) (*validatorsOf, error) {
	v := &validatorsOf{}
	// The zerostate is no block, but what it configures holds in the first one.
	if master.SeqNo == 0 {
		var err error
		if master, err = n.Master(ctx, 1); err != nil {
			return nil, err
		}
	}
	root, err := n.servers.Config(ctx, master, 28, 34)
	if err != nil {
		return nil, err
	}
	for id, into := range map[uint32]any{28: &v.catchain, 34: &v.validators} {
		param, err := paramOf(root, id)
		if err != nil || param == nil {
			return nil, fmt.Errorf("configuration parameter %d: %w", id, err)
		}
		if err := tlb.Parse(into, param); err != nil {
			return nil, fmt.Errorf("configuration parameter %d: %w", id, err)
		}
	}
	return v, nil
}

func (v *validatorsOf) check(id *ton.BlockIDExt, link ton.BlockLinkForward) error {
	dest, err := cell.FromBOC(link.DestProof)
	if err != nil {
		return err
	}
	block, err := ton.CheckBlockProof(dest, id.RootHash)
	if err != nil {
		return err
	}
	info := &block.BlockInfo
	validators, err := ton.GetMainValidators(id, v.catchain, v.validators, info.GenCatchainSeqno)
	if err != nil {
		return err
	}
	// tonutils-go sorts what it checks.
	switch s := link.SignatureSet.(type) {
	case ton.SignatureSetSimplex:
		return ton.CheckBlockSignaturesSimplex(id, uint32(s.CCSeqno), uint32(s.ValidatorSetHash), s.SessionID, s.Slot, s.Candidate, slices.Clone(s.Signatures), validators)
	case ton.SignatureSetOrdinary:
		return ton.CheckBlockSignatures(id, uint32(s.CatchainSeqno), uint32(s.ValidatorSetHash), slices.Clone(s.Signatures), validators)
	case ton.SignatureSet:
		return ton.CheckBlockSignatures(id, uint32(s.CatchainSeqno), uint32(s.ValidatorSetHash), slices.Clone(s.Signatures), validators)
	}
	return fmt.Errorf("getBlockProof: signatures of type %T", link.SignatureSet)
}

package v2

import (
	"fmt"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/internal/lite"
	"tonscribe/query/openapi"
)

type blockSignature struct {
	_         typed  `type:"blocks.signature"`
	Node      []byte `json:"node_id_short"`
	Signature []byte `json:"signature"`
}

type blockSignatures struct {
	_          typed            `type:"blocks.blockSignatures"`
	ID         blockID          `json:"id"`
	Signatures []blockSignature `json:"signatures"`
}

// blockSignaturesSimplex are those of the newer consensus.
type blockSignaturesSimplex struct {
	_          typed            `type:"blocks.blockSignatures.simplex"`
	ID         blockID          `json:"id"`
	Signatures []blockSignature `json:"signatures"`
	Session    []byte           `json:"session_id"`
	Slot       int32            `json:"slot"`
	Candidate  []byte           `json:"candidate"`
}

// signatureSet is one of the two.
type signatureSet interface{ isSignatureSet() }

func (blockSignatures) isSignatureSet()        {}
func (blockSignaturesSimplex) isSignatureSet() {}

var getMasterchainBlockSignatures = &Method{
	Name: "getMasterchainBlockSignatures", Tag: tagBlocks, Summary: "Masterchain block signatures",
	Description: "The validators' signatures of a masterchain block.",
	Params:      []Param{masterSeqno}, Cache: keepBlocks,
	Result: openapi.TypeOf[signatureSet](),
	serve: func(c *call) (any, error) {
		id, err := c.masterAt(uint32(c.number("seqno")))
		if err != nil {
			return nil, err
		}
		before, err := c.masterAt(id.SeqNo - 1)
		if err != nil {
			return nil, err
		}
		set, err := c.signatures(before, id)
		if err != nil {
			return nil, err
		}
		return newSignatureSet(id, set), nil
	},
}

func newSignatureSet(id *ton.BlockIDExt, set any) signatureSet {
	switch s := set.(type) {
	case ton.SignatureSetSimplex:
		return blockSignaturesSimplex{
			ID: newBlockID(id), Signatures: newSignatures(s.Signatures), Session: s.SessionID, Slot: s.Slot, Candidate: s.Candidate,
		}
	case ton.SignatureSetOrdinary:
		return blockSignatures{ID: newBlockID(id), Signatures: newSignatures(s.Signatures)}
	}
	return blockSignatures{ID: newBlockID(id), Signatures: newSignatures(set.(ton.SignatureSet).Signatures)}
}

func newSignatures(list []ton.Signature) []blockSignature {
	signatures := make([]blockSignature, 0, len(list))
	for _, s := range list {
		signatures = append(signatures, blockSignature{Node: s.NodeIDShort, Signature: s.Signature})
	}
	return signatures
}

// fromAnyBlock asks for a proof from the block before, key block or not.
const fromAnyBlock = 1 << 12

// signatures are those of a block, out of the step from the block before. They
// are checked against the validators of that block's configuration.
func (c *call) signatures(before, id *ton.BlockIDExt) (set any, err error) {
	validators, err := c.validatorsAt(before)
	if err != nil {
		return nil, err
	}
	_, _, err = c.node.Query(c, lite.Query{
		Request: ton.GetBlockProof{Mode: 1 | fromAnyBlock, KnownBlock: before, TargetBlock: id}, Seqno: id.SeqNo,
		Check: func(answer any) error {
			got, ok := answer.(ton.PartialBlockProof)
			if !ok || len(got.Steps) == 0 {
				return fmt.Errorf("getBlockProof: answered with %T", answer)
			}
			link, ok := got.Steps[len(got.Steps)-1].(ton.BlockLinkForward)
			if !ok || link.To == nil || !link.To.Equals(id) {
				return fmt.Errorf("getBlockProof: the last step is a %T", got.Steps[len(got.Steps)-1])
			}
			set = link.SignatureSet
			return validators.check(id, link)
		},
	})
	return set, err
}

// validatorsOf are parameters 28 and 34 of a configuration.
type validatorsOf struct {
	catchain   tlb.CatchainConfig
	validators tlb.ValidatorSetAny
}

func (c *call) validatorsAt(master *ton.BlockIDExt) (*validatorsOf, error) {
	v := &validatorsOf{}
	// The zerostate is no block, but what it configures holds in the first one.
	if master.SeqNo == 0 {
		var err error
		if master, err = c.masterAt(1); err != nil {
			return nil, err
		}
	}
	root, err := c.node.Config(c, master, 28, 34)
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
	switch s := link.SignatureSet.(type) {
	case ton.SignatureSetSimplex:
		return ton.CheckBlockSignaturesSimplex(id, uint32(s.CCSeqno), uint32(s.ValidatorSetHash), s.SessionID, s.Slot, s.Candidate, s.Signatures, validators)
	case ton.SignatureSetOrdinary:
		return ton.CheckBlockSignatures(id, uint32(s.CatchainSeqno), uint32(s.ValidatorSetHash), s.Signatures, validators)
	case ton.SignatureSet:
		return ton.CheckBlockSignatures(id, uint32(s.CatchainSeqno), uint32(s.ValidatorSetHash), s.Signatures, validators)
	}
	return fmt.Errorf("getBlockProof: signatures of type %T", link.SignatureSet)
}

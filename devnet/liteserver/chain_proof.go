package liteserver

import (
	"context"
	"math/big"

	"github.com/xssnick/tonutils-go/tl"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/history"
)

// maxSteps of one answer; a longer chain of proofs is asked for in parts.
const maxSteps = 16

// refTotals is where ShardStateUnsplit has its balances and libraries.
const refTotals = 2

// targetGiven is the bit of mode in getBlockProof for a target block.
const targetGiven = 1

// blockProof leads from a masterchain block that the client knows to another:
// backwards by one link, forwards over the key blocks between, each signed by
// the validators that the key block before it names.
func (c *Component) blockProof(_ context.Context, q ton.GetBlockProof) (tl.Serializable, error) {
	known, err := c.masterBlock(q.KnownBlock)
	if err != nil {
		return nil, err
	}
	target, err := c.head()
	if q.Mode&targetGiven != 0 {
		target, err = c.masterBlock(q.TargetBlock)
	}
	if err != nil {
		return nil, err
	}
	answer := ton.PartialBlockProof{From: known.ID, To: known.ID, Steps: []any{}}
	for len(answer.Steps) < maxSteps && !answer.To.Equals(target.ID) {
		step, to, err := c.step(answer.To, target.ID)
		if err != nil {
			return nil, err
		}
		answer.Steps, answer.To = append(answer.Steps, step), to
	}
	answer.Complete = answer.To.Equals(target.ID)
	return answer, nil
}

func (c *Component) masterBlock(id *ton.BlockIDExt) (history.Meta, error) {
	if id.Workchain != masterchain || id.Shard != wholeShard {
		return history.Meta{}, refuse(codeFatal, "block %s does not belong to the masterchain", history.Name(id))
	}
	if id.SeqNo == 0 {
		_, err := c.dependencies.History.State(id)
		return history.Meta{ID: id}, err
	}
	return c.dependencies.History.Meta(id)
}

// step is one link from a block towards the target.
func (c *Component) step(from, target *ton.BlockIDExt) (link any, to *ton.BlockIDExt, err error) {
	if target.SeqNo < from.SeqNo {
		link, err = c.back(from, target)
		return link, target, err
	}
	var header *tlb.BlockHeader
	if from.SeqNo > 0 {
		if header, err = c.blockInfo(from); err != nil {
			return nil, nil, err
		}
	}
	if header != nil && !header.KeyBlock {
		to, err = c.bySeqno(header.PrevKeyBlockSeqno)
		if err != nil {
			return nil, nil, err
		}
		link, err = c.back(from, to)
		return link, to, err
	}
	if to, err = c.nextOnTheWay(from, target); err != nil {
		return nil, nil, err
	}
	link, err = c.forward(from, to)
	return link, to, err
}

// nextOnTheWay is the first key block after from, or the target when none lies
// between.
func (c *Component) nextOnTheWay(from, target *ton.BlockIDExt) (*ton.BlockIDExt, error) {
	next := target
	for {
		header, err := c.blockInfo(next)
		if err != nil {
			return nil, err
		}
		if header.PrevKeyBlockSeqno <= from.SeqNo {
			return next, nil
		}
		if next, err = c.bySeqno(header.PrevKeyBlockSeqno); err != nil {
			return nil, err
		}
	}
}

func (c *Component) bySeqno(seqno uint32) (*ton.BlockIDExt, error) {
	if seqno == 0 {
		zero, err := c.dependencies.History.Zerostate(masterchain)
		if err != nil {
			return nil, err
		}
		return zero.ID, nil
	}
	meta, err := c.dependencies.History.BySeqno(masterchain, 1<<63, seqno)
	return meta.ID, err
}

func (c *Component) blockInfo(id *ton.BlockIDExt) (*tlb.BlockHeader, error) {
	block, err := c.dependencies.History.Block(id)
	if err != nil {
		return nil, err
	}
	return headerOf(block.Root), nil
}

func headerOf(block *cell.Cell) *tlb.BlockHeader {
	return load[tlb.BlockHeader](block.MustPeekRef(refInfo).MustBeginParse())
}

// back proves an older block by the list of old blocks in a newer one's state.
func (c *Component) back(from, to *ton.BlockIDExt) (ton.BlockLinkBackward, error) {
	link := ton.BlockLinkBackward{From: from, To: to}
	var err error
	link.Proof, link.StateProof, err = c.stateProofs(from, visitPrevBlock(to.SeqNo))
	if err != nil || to.SeqNo == 0 {
		return link, err
	}
	link.ToKeyBlock, link.DestProof, err = c.destination(to)
	return link, err
}

// destination is the header proof of the block that a link leads to.
func (c *Component) destination(id *ton.BlockIDExt) (key bool, proof []byte, err error) {
	header, err := c.blockInfo(id)
	if err != nil {
		return false, nil, err
	}
	answer, err := c.header(id, 0)
	return header.KeyBlock, answer.HeaderProof, err
}

// forward proves a newer block by the signatures of validators from a key
// block's config.
func (c *Component) forward(from, to *ton.BlockIDExt) (ton.BlockLinkForward, error) {
	link := ton.BlockLinkForward{From: from, To: to}
	config, err := c.validatorsProof(from)
	if err != nil {
		return link, err
	}
	link.ConfigProof = boc(config)
	if link.ToKeyBlock, link.DestProof, err = c.destination(to); err != nil {
		return link, err
	}
	link.SignatureSet, err = c.dependencies.History.Signatures(to.SeqNo)
	return link, err
}

// validatorsProof proves config parameters 28 and 34 in a key block, or in the
// zerostate.
func (c *Component) validatorsProof(id *ton.BlockIDExt) (*cell.Cell, error) {
	if id.SeqNo == 0 {
		state, err := c.dependencies.History.State(id)
		if err != nil {
			return nil, err
		}
		return prove(state, func(state *cell.Slice) { visitValidators(mcExtra(state).ConfigParams.Config.Params) }), nil
	}
	return c.proveBlock(id, visitKeyBlock(visitValidators))
}

// visitKeyBlock reads a key block down to its config.
func visitKeyBlock(visit func(params *cell.Dictionary)) func(*cell.Slice) {
	return func(block *cell.Slice) {
		visitHeader(block)
		visit(load[tlb.McBlockExtra](mcBlockExtra(block)).ConfigParams.Config.Params)
	}
}

func visitValidators(params *cell.Dictionary) { visitParams(params, 28, 34) }

// visitPrevBlock reads a masterchain state down to an old block's entry in
// OldMcBlocksInfo. The official client also unpacks the state's header, down to
// the root of its config and the entry of the zerostate.
func visitPrevBlock(seqno uint32) func(*cell.Slice) {
	return func(state *cell.Slice) {
		child(state, refTotals)
		extra := mcExtra(state)
		extra.ConfigParams.Config.Params.AsCell().MustBeginParse()
		info := mcInfo(extra)
		for _, entry := range []int64{0, int64(seqno)} {
			must(info.PrevBlocks.LoadValueByIntKey(big.NewInt(entry)))
		}
	}
}

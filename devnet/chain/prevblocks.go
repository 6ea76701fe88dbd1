package chain

import (
	"math/big"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/tuple"
)

// Contracts may ask (PREVMCBLOCKS, PREVKEYBLOCK, PREVMCBLOCKS_100) for the last
// masterchain blocks, the last key block, and the last ones with a seqno that
// is a multiple of 100.
const (
	previousBlocks = 16
	previousStep   = 100
)

// past is PrevBlocksInfo as of a masterchain block.
type past struct {
	info  tuple.Tuple
	seqno uint32
	known bool
}

// previous is PrevBlocksInfo for the blocks made after the head.
func (c *Chain) previous() tuple.Tuple {
	if head := c.master.block.ID.SeqNo; !c.past.known || c.past.seqno != head {
		c.past = past{tuple.NewTupleValue(
			c.blockTuples(head, 1), c.blockTuple(c.lastKeySeqno()), c.blockTuples(head/previousStep*previousStep, previousStep),
		), head, true}
	}
	return c.past.info
}

// blockTuples are blocks from seqno on, backwards, as many as contracts see.
func (c *Chain) blockTuples(seqno, step uint32) tuple.Tuple {
	list := []any{c.blockTuple(seqno)}
	for len(list) < previousBlocks && seqno >= step {
		seqno -= step
		list = append(list, c.blockTuple(seqno))
	}
	return tuple.NewTupleValue(list...)
}

func (c *Chain) blockTuple(seqno uint32) tuple.Tuple {
	ref := c.master.block.ref()
	if seqno != ref.SeqNo {
		value := sure(c.extra.blocks.get(bigEndian(uint64(seqno))[4:]))
		value.MustLoadBoolBit() // whether it is a key block
		sure(value, tlb.LoadFromCell(&ref, value))
	}
	return tuple.NewTupleValue(
		big.NewInt(int64(masterchain)), new(big.Int).SetUint64(fullShard), new(big.Int).SetUint64(uint64(ref.SeqNo)),
		new(big.Int).SetBytes(ref.RootHash), new(big.Int).SetBytes(ref.FileHash),
	)
}

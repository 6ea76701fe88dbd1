package chain

import (
	"fmt"
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

// previous is PrevBlocksInfo for the blocks made after the head.
func (c *Chain) previous() (tuple.Tuple, error) {
	if c.past.known && c.past.seqno == c.master.block.ID.SeqNo {
		return c.past.info, nil
	}
	info, err := c.previousInfo()
	if err == nil {
		c.past = past{info, c.master.block.ID.SeqNo, true}
	}
	return info, err
}

// past is PrevBlocksInfo as of a masterchain block.
type past struct {
	info  tuple.Tuple
	seqno uint32
	known bool
}

func (c *Chain) previousInfo() (tuple.Tuple, error) {
	head := c.master.block.ID.SeqNo
	last, err := c.blockTuples(head, 1)
	if err != nil {
		return tuple.Tuple{}, err
	}
	key, err := c.blockTuple(c.lastKeySeqno())
	if err != nil {
		return tuple.Tuple{}, err
	}
	hundreds, err := c.blockTuples(head/previousStep*previousStep, previousStep)
	if err != nil {
		return tuple.Tuple{}, err
	}
	return tuple.NewTupleValue(last, key, hundreds), nil
}

// blockTuples are blocks from seqno on, backwards, as many as contracts see.
func (c *Chain) blockTuples(seqno, step uint32) (tuple.Tuple, error) {
	var list []any
	for len(list) < previousBlocks {
		t, err := c.blockTuple(seqno)
		if err != nil {
			return tuple.Tuple{}, err
		}
		list = append(list, t)
		if seqno < step {
			break
		}
		seqno -= step
	}
	return tuple.NewTupleValue(list...), nil
}

func (c *Chain) blockTuple(seqno uint32) (tuple.Tuple, error) {
	ref := c.master.block.ref()
	if seqno != ref.SeqNo {
		value, err := c.extra.blocks.get(bigEndian(uint64(seqno))[4:])
		if err != nil {
			return tuple.Tuple{}, fmt.Errorf("masterchain block %d: %w", seqno, err)
		}
		if err := value.SkipBits(1); err != nil { // whether it is a key block
			return tuple.Tuple{}, err
		}
		if err := tlb.LoadFromCell(&ref, value); err != nil {
			return tuple.Tuple{}, fmt.Errorf("masterchain block %d: %w", seqno, err)
		}
	}
	return tuple.NewTupleValue(
		big.NewInt(int64(masterchain)), new(big.Int).SetUint64(fullShard), new(big.Int).SetUint64(uint64(ref.SeqNo)),
		new(big.Int).SetBytes(ref.RootHash), new(big.Int).SetBytes(ref.FileHash),
	), nil
}

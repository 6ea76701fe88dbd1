package chain

import (
	"fmt"
	"maps"

	"github.com/xssnick/tonutils-go/tlb"
)

// shardEnds knows, by masterchain seqno, at which lt each shard ended as the
// state of that masterchain block shows it.
type shardEnds map[uint32][]shardEnd

type shardEnd struct {
	shard shardID
	endLT uint64
}

func (e shardEnds) note(master *shardHead, shards []*shardHead) {
	list := []shardEnd{{masterShard, master.block.EndLT}}
	for _, h := range shards {
		list = append(list, shardEnd{shardOf(h.block), h.block.EndLT})
	}
	e[master.block.ID.SeqNo] = list
}

// of is the lt at which the shard with a hop ended.
func (e shardEnds) of(seqno uint32, at hop) (uint64, error) {
	for _, end := range e[seqno] {
		if end.shard.holds(at.workchain, at.prefix) {
			return end.endLT, nil
		}
	}
	return 0, fmt.Errorf("the shards of masterchain block %d are not known", seqno)
}

// read takes the ends from a masterchain block.
func (e shardEnds) read(b *Block) (err error) {
	defer rescue(&err)
	var block tlb.Block
	if err := tlb.Parse(&block, b.Root); err != nil {
		return err
	}
	if block.Extra == nil || block.Extra.Custom == nil {
		return fmt.Errorf("it is no masterchain block")
	}
	list := []shardEnd{{masterShard, block.BlockInfo.EndLt}}
	for _, d := range parseShards(block.Extra.Custom.ShardHashes) {
		list = append(list, shardEnd{d.shard, d.endLT})
	}
	e[block.BlockInfo.SeqNo] = list
	return nil
}

// forget drops what no state refers to any more.
func (e shardEnds) forget(before uint32) {
	maps.DeleteFunc(e, func(seqno uint32, _ []shardEnd) bool { return seqno < before })
}

package history

import (
	"slices"

	"tonscribe/devnet/chain"
)

// recent is the last bundles, with their states, and the newest block of every
// shard however old it is.
type recent struct {
	size    int
	bundles map[uint32]*chain.Bundle
	blocks  map[blockKey]*chain.Block
	tops    map[blockKey]*chain.Block
}

func newRecent(size int) recent {
	return recent{size: size, bundles: map[uint32]*chain.Bundle{}, blocks: map[blockKey]*chain.Block{}, tops: map[blockKey]*chain.Block{}}
}

func (r *recent) add(b *chain.Bundle, tops map[blockKey]*chain.Block) {
	seqno := b.Master.ID.SeqNo
	r.bundles[seqno] = b
	for _, block := range blocksOf(b) {
		r.blocks[keyOf(block.ID)] = block
	}
	r.tops = tops
	if seqno <= uint32(r.size) {
		return
	}
	if old := r.bundles[seqno-uint32(r.size)]; old != nil {
		delete(r.bundles, seqno-uint32(r.size))
		for _, block := range blocksOf(old) {
			delete(r.blocks, keyOf(block.ID))
		}
	}
}

// blocksOf are the blocks of a bundle, the shards' first.
func blocksOf(b *chain.Bundle) []*chain.Block {
	return append(slices.Clone(b.Shards), b.Master)
}

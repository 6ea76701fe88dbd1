package devnet

import (
	"cmp"
	"fmt"
	"slices"
)

// shards of the basechain, at the head, in the order of their prefixes.
func (m *maker) shards() []uint64 {
	_, blocks := m.chain.Head()
	shards := make([]uint64, 0, len(blocks))
	for _, b := range blocks {
		if b.ID.Workchain == 0 {
			shards = append(shards, uint64(b.ID.Shard))
		}
	}
	slices.Sort(shards)
	return slices.Compact(shards)
}

// split asks for a shard to be split; 0 is the largest one.
func (m *maker) split(shard uint64) error {
	shards := m.shards()
	if shard == 0 {
		shard = slices.MaxFunc(shards, compareSizes)
	}
	if len(shards) >= m.maxShards {
		return fmt.Errorf("there are %d shards already", len(shards))
	}
	return m.chain.Split(shard)
}

// merge asks for a shard and its sibling to be merged; 0 is the smallest pair.
func (m *maker) merge(shard uint64) error {
	shards := m.shards()
	if len(shards) <= minShards {
		return fmt.Errorf("there are only %d shards", len(shards))
	}
	if shard == 0 {
		pairs := slices.DeleteFunc(slices.Clone(shards), func(s uint64) bool { return !slices.Contains(shards, siblingOf(s)) })
		shard = slices.MinFunc(pairs, compareSizes)
	}
	return m.chain.Merge(shard)
}

// minShards is what the basechain always has.
const minShards = 2

// compareSizes of two shards; of equal ones the first is the larger.
func compareSizes(a, b uint64) int { return cmp.Or(cmp.Compare(a&-a, b&-b), cmp.Compare(b, a)) }

// siblingOf is the other half of the shard's parent.
func siblingOf(shard uint64) uint64 { return shard ^ (shard&-shard)<<1 }

// reshape asks for a split, or when there are many shards for merges, each time
// that one is due. Who cannot be asked now is asked the next time.
func (m *maker) reshape(seqno uint32) {
	if m.reshard == 0 || seqno%m.reshard != 0 {
		return
	}
	if n := len(m.shards()); n >= m.maxShards || n > minShards && seqno/m.reshard%3 == 0 {
		_ = m.merge(0)
		return
	}
	_ = m.split(0)
}

package verify

import (
	"math/bits"
	"sort"
)

// coverage knows which logical times of which shards the blocks of the range
// cover: what happened there must be in the tables, what happened elsewhere was
// before the range or in a gap. Blocks that follow each other make one run, so
// that there are few: each start, gap, split and merge begins new ones.
type coverage struct {
	shards map[shardOf][]run // by start
	// lengths are the lengths of the prefixes of all shards, a bit for each.
	lengths map[int32]uint64
}

type shardOf struct {
	workchain int32
	shard     uint64
}

// run is the logical times [start, end).
type run struct{ start, end uint64 }

func newCoverage() *coverage {
	return &coverage{shards: map[shardOf][]run{}, lengths: map[int32]uint64{}}
}

// add extends a shard's last run by a block that follows it, or begins a new one.
func (c *coverage) add(s shardOf, start, end uint64, follows bool) {
	if s.shard == 0 {
		return // no block id has it
	}
	runs := c.shards[s]
	if n := len(runs); follows && n > 0 {
		runs[n-1].end = max(runs[n-1].end, end)
		return
	}
	c.shards[s] = append(runs, run{start, end})
	c.lengths[s.workchain] |= 1 << (63 - bits.TrailingZeros64(s.shard))
}

// has reports whether the range covers an account at a logical time.
func (c *coverage) has(workchain int32, prefix, lt uint64) bool {
	for lengths := c.lengths[workchain]; lengths != 0; lengths &= lengths - 1 {
		tag := uint64(1) << (63 - bits.TrailingZeros64(lengths))
		runs := c.shards[shardOf{workchain, prefix&^(tag<<1-1) | tag}]
		// The last run that starts at lt or before.
		n := sort.Search(len(runs), func(i int) bool { return runs[i].start > lt })
		if n > 0 && lt < runs[n-1].end {
			return true
		}
	}
	return false
}

// shardHolds reports whether a shard, in the form of block ids, has an account.
func shardHolds(shard, prefix uint64) bool {
	tag := shard & -shard
	return shard != 0 && prefix&^(tag<<1-1) == shard&^(tag<<1-1)
}

func parentOf(shard uint64) uint64 {
	tag := shard & -shard
	return shard&^tag | tag<<1
}

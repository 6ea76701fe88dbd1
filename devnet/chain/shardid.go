package chain

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/bits"
)

// masterchain is the workchain of the masterchain; basechain is the other one.
const (
	masterchain int32 = -1
	basechain   int32 = 0
)

// fullShard is the shard that is a whole workchain.
const fullShard = uint64(1) << 63

// maxSplit is the depth up to which every shard is a direct neighbour of every
// other one: the first hop of hypercube routing fixes four bits.
const maxSplit = 4

// shardID is a workchain and a shard: the prefix of its accounts, then a one.
type shardID struct {
	workchain int32
	shard     uint64
}

var masterShard = shardID{masterchain, fullShard}

func (s shardID) String() string { return fmt.Sprintf("%d:%016x", s.workchain, s.shard) }

// depth is the length of the prefix.
func (s shardID) depth() uint { return 63 - uint(bits.TrailingZeros64(s.shard)) }

// prefix is the shard without the one that ends it.
func (s shardID) prefix() uint64 { return s.shard & (s.shard - 1) }

func (s shardID) child(right bool) shardID {
	half := s.shard & -s.shard >> 1
	if right {
		return shardID{s.workchain, s.shard + half}
	}
	return shardID{s.workchain, s.shard - half}
}

func (s shardID) parent() shardID {
	low := s.shard & -s.shard
	return shardID{s.workchain, s.shard - low | low<<1}
}

func (s shardID) sibling() shardID {
	low := s.shard & -s.shard
	return shardID{s.workchain, s.shard ^ low<<1}
}

func (s shardID) isRight() bool { return s.shard&(s.shard&-s.shard<<1) != 0 }

// holds reports whether accounts that begin with prefix belong to the shard.
func (s shardID) holds(workchain int32, prefix uint64) bool {
	low := s.shard & -s.shard
	return s.workchain == workchain && (prefix^s.shard)&^(low|(low-1)) == 0
}

// contains reports whether o is s or a part of it.
func (s shardID) contains(o shardID) bool {
	return s.depth() <= o.depth() && s.holds(o.workchain, o.shard)
}

func (s shardID) meets(o shardID) bool { return s.contains(o) || o.contains(s) }

// accountPrefix is the part of an account id that shards are told apart by.
func accountPrefix(id []byte) uint64 { return binary.BigEndian.Uint64(id) }

// compare orders shards by workchain, then by prefix.
func (s shardID) compare(o shardID) int {
	return cmp.Or(cmp.Compare(s.workchain, o.workchain), cmp.Compare(s.shard, o.shard))
}

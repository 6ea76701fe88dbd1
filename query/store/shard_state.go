package store

import (
	"context"
	"fmt"
	"slices"

	"tonscribe/schema/record"
)

// ShardState is the newest block of every shard as of a masterchain block, and
// that block itself, by workchain, shard and seqno; empty when the masterchain
// block is unknown.
func (s *Store) ShardState(ctx context.Context, v *View, mcSeqno int32) ([]*record.Block, error) {
	bundle, err := s.Bundle(ctx, v, mcSeqno)
	if err != nil || len(bundle) == 0 {
		return nil, err
	}
	state := shardState{}
	state.add(bundle)
	// Shards that had no block in this bundle had one before it.
	high := uint32(mcSeqno)
	for width := uint32(8); high > v.First.Id.Seqno && !state.complete() && width <= 1<<15; width *= 8 {
		low := high - min(width, high)
		older, err := s.blocksIn(ctx, v, low, high)
		if err != nil {
			return nil, err
		}
		state.add(older)
		high = low
	}
	slices.SortFunc(state.blocks, compareShards)
	return state.blocks, nil
}

// blocksIn are the blocks of the bundles in [low, high), newest first.
func (s *Store) blocksIn(ctx context.Context, v *View, low, high uint32) ([]*record.Block, error) {
	var list []*record.Block
	for seqno := high - 1; ; seqno-- {
		held, ok := v.head.blocksOf(seqno)
		if !ok {
			break
		}
		list = append(list, held...)
		if seqno <= low {
			return list, nil
		}
	}
	list, err := s.blocks(ctx, fmt.Sprintf("SELECT record FROM blocks WHERE mc_seqno >= %d AND mc_seqno < %d AND workchain != -1", low, high))
	slices.SortStableFunc(list, func(a, b *record.Block) int { return int(int64(b.McSeqno) - int64(a.McSeqno)) })
	return list, err
}

// shardState gathers the newest block of each shard.
type shardState struct{ blocks []*record.Block }

// add takes blocks that are older than those before. A block counts unless a
// newer one covers a part of its shard.
func (s *shardState) add(list []*record.Block) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *record.Block) int {
		if a.McSeqno != b.McSeqno {
			return int(int64(b.McSeqno) - int64(a.McSeqno))
		}
		return int(int64(b.Id.Seqno) - int64(a.Id.Seqno))
	})
	for _, b := range list {
		covered := slices.ContainsFunc(s.blocks, func(newer *record.Block) bool {
			return newer.Id.Workchain == b.Id.Workchain && intersect(newer.Id.Shard, b.Id.Shard)
		})
		if !covered {
			s.blocks = append(s.blocks, b)
		}
	}
}

// intersect says that one shard contains the other.
func intersect(a, b uint64) bool {
	lowA, highA := bounds(a)
	lowB, highB := bounds(b)
	return lowA <= highB && lowB <= highA
}

// bounds is the range of account prefixes of a shard.
func bounds(shard uint64) (low, high uint64) {
	tag := shard & -shard
	return shard - tag, shard + (tag - 1)
}

// complete says that the shards of the basechain cover all accounts.
func (s *shardState) complete() bool {
	var covered uint64 // of 2^63 halves of accounts, so that the whole fits
	for _, b := range s.blocks {
		if b.Id.Workchain == 0 {
			low, high := bounds(b.Id.Shard)
			covered += (high-low)/2 + 1
		}
	}
	return covered >= 1<<63
}

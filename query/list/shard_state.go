package list

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tonscribe/query/head"
	"tonscribe/query/sql"
	"tonscribe/schema/record"
)

// nearHead is how many bundles before one are looked through in memory for the
// newest block of a shard.
const nearHead = 16

// ShardState is the newest block of every shard as of a masterchain block, and
// that block itself, by workchain, shard and seqno; empty when the masterchain
// block is unknown. A shard whose newest block was committed before the first
// bundle, or in one that was skipped, is left out.
func (l *Lists) ShardState(ctx context.Context, v *View, mcSeqno int32) ([]*record.Block, error) {
	bundle, err := l.Bundle(ctx, v, mcSeqno)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(bundle, func(b *record.Block) bool { return b.Id.Workchain == masterchain })
	if at < 0 {
		return nil, nil
	}
	state := shardState{wanted: map[head.BlockID]bool{}, blocks: []*record.Block{bundle[at]}}
	for _, newest := range bundle[at].Shards {
		if newest.Seqno > 0 { // a zerostate is no block
			state.wanted[head.BlockID{Workchain: newest.Workchain, Shard: newest.Shard, Seqno: newest.Seqno}] = true
		}
	}
	state.add(bundle)
	for seqno := uint32(mcSeqno) - 1; len(state.wanted) > 0 && uint32(mcSeqno)-seqno <= nearHead; seqno-- {
		held, ok := v.Head.BlocksOf(seqno)
		if !ok {
			break
		}
		state.add(held)
	}
	if len(state.wanted) > 0 {
		list, err := l.blocksOf(ctx, v, "blocks_index", state.missing())
		if err != nil {
			return nil, err
		}
		state.add(list)
	}
	slices.SortFunc(state.blocks, compareShards)
	return state.blocks, nil
}

const masterchain = -1

// shardState gathers the newest block of each shard.
type shardState struct {
	wanted map[head.BlockID]bool
	blocks []*record.Block
}

// add takes the blocks that are wanted.
func (s *shardState) add(list []*record.Block) {
	for _, b := range list {
		if id := head.IDOf(b); s.wanted[id] {
			delete(s.wanted, id)
			s.blocks = append(s.blocks, b)
		}
	}
}

// missing are the rows of blocks_index of the blocks that are wanted still.
func (s *shardState) missing() sql.Conditions {
	ids := sql.Among{Columns: blockColumns[1:]}
	for id := range s.wanted {
		ids.Tuples = append(ids.Tuples, []any{id.Workchain, id.Shard, id.Seqno})
	}
	slices.SortFunc(ids.Tuples, func(a, b []any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return blocksByID().With(ids)
}

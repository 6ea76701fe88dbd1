package liteserver

import (
	"bytes"
	"context"
	"fmt"

	"github.com/xssnick/tonutils-go/tl"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// maxStats entries in one answer, as in the node.
const maxStats = 1000

// Bits of mode in getValidatorStats.
const (
	startAfter    = 1 << 0
	allowEqual    = 1 << 1
	modifiedAfter = 1 << 2
)

// Tags of TL-B BlockCreateStats.
const (
	createStats    = 0x17
	createStatsExt = 0x34
)

// validatorStats proves who made how many blocks: block_create_stats of the
// masterchain state.
func (c *Component) validatorStats(_ context.Context, q ton.GetValidatorStats) (tl.Serializable, error) {
	commit, err := c.commitOf(q.ID)
	if err != nil {
		return nil, err
	}
	answer := ton.ValidatorStats{Mode: q.Mode & 0xff, ID: commit.Master, Complete: true}
	roots, err := c.stateProof(commit.Master, func(state *cell.Slice) error {
		keys, err := visitStats(state)
		if err != nil {
			return err
		}
		limit := min(max(int(q.Limit), 0), maxStats)
		for _, key := range keys {
			if q.Mode&startAfter != 0 && !reached(key, q.StartAfter, q.Mode&allowEqual != 0) {
				continue
			}
			if int(answer.Count) == limit {
				answer.Complete = false
				break
			}
			answer.Count++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	answer.StateProof, answer.DataProof = boc(roots[0]), boc(roots[1])
	return answer, nil
}

func reached(key, start []byte, equal bool) bool {
	order := bytes.Compare(key, start)
	return order > 0 || equal && order == 0
}

// visitStats reads a masterchain state's block_create_stats whole: a devnet has
// a handful of validators.
func visitStats(state *cell.Slice) ([][]byte, error) {
	extra, err := mcExtra(state)
	if err != nil {
		return nil, err
	}
	loader, err := extra.Info.BeginParse()
	if err != nil {
		return nil, err
	}
	var info tlb.McStateExtraBlockInfo
	if err := tlb.LoadFromCell(&info, loader); err != nil {
		return nil, err
	}
	if info.BlockCreateStats == nil {
		return nil, nil
	}
	stats, err := info.BlockCreateStats.BeginParse()
	if err != nil {
		return nil, err
	}
	tag, err := stats.LoadUInt(8)
	if err != nil {
		return nil, err
	}
	if tag != createStats && tag != createStatsExt {
		return nil, fmt.Errorf("block_create_stats: tag %#x", tag)
	}
	dict, err := stats.LoadDict(256)
	if err != nil || dict.IsEmpty() {
		return nil, err
	}
	items, err := dict.LoadAll()
	if err != nil {
		return nil, err
	}
	keys := make([][]byte, 0, len(items))
	for _, item := range items {
		key, err := item.Key.LoadSlice(256)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

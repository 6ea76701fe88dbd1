package liteserver

import (
	"bytes"
	"context"

	"github.com/xssnick/tonutils-go/tl"
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

// validatorStats proves who made how many blocks: block_create_stats of the
// masterchain state.
func (c *Component) validatorStats(_ context.Context, q ton.GetValidatorStats) (tl.Serializable, error) {
	commit, err := c.commitOf(q.ID)
	if err != nil {
		return nil, err
	}
	answer := ton.ValidatorStats{Mode: q.Mode & 0xff, ID: commit.Master, Complete: true}
	answer.StateProof, answer.DataProof, err = c.stateProofs(commit.Master, func(state *cell.Slice) {
		for _, item := range visitStats(state) {
			order := bytes.Compare(item.Key.MustLoadSlice(256), q.StartAfter)
			if q.Mode&startAfter != 0 && (order < 0 || order == 0 && q.Mode&allowEqual == 0) {
				continue
			}
			if answer.Complete = answer.Count < min(max(q.Limit, 0), maxStats); !answer.Complete {
				break
			}
			answer.Count++
		}
	})
	return answer, err
}

// visitStats reads a masterchain state's block_create_stats whole: a devnet has
// a handful of validators.
func visitStats(state *cell.Slice) []cell.DictKV {
	info := mcInfo(mcExtra(state))
	if info.BlockCreateStats == nil {
		return nil
	}
	stats := skip(info.BlockCreateStats.MustBeginParse(), 8) // the tag of one of the two forms
	return must(stats.MustLoadDict(256).LoadAll())
}

package store

import (
	"context"
	"fmt"

	"github.com/ClickHouse/ch-go/proto"

	"tonscribe/schema/record"
)

// extent is how far the blocks of a shard, or those of a shard in all workchains,
// reach in time and lt.
type extent struct{ utime, lts Range }

// empty reports whether there is no such block.
func (e *extent) empty() bool { return e.utime.From > e.utime.To }

// add makes an extent reach from a block to a later one.
func (e *extent) add(oldest, newest *record.Block) {
	e.utime.From, e.utime.To = min(e.utime.From, uint64(oldest.GenUtime)), max(e.utime.To, uint64(newest.GenUtime))
	e.lts.From, e.lts.To = min(e.lts.From, oldest.StartLt), max(e.lts.To, newest.EndLt)
}

// and returns what two ranges have in common.
func (r Range) and(o Range) Range {
	return Range{From: max(r.From, o.From), To: min(r.To, o.To), Given: r.Given}
}

// maxWorkchains is in how many workchains a shard is looked for.
const maxWorkchains = 8

// extentOf returns how far the blocks of a shard reach. A shard's times and lts
// rise with its seqnos, so the first and the last one tell: what is asked of a
// shard that never was, or was not then, is not looked for in all of the chain.
func (s *Store) extentOf(ctx context.Context, v *View, workchain *int32, shard uint64) (e extent, err error) {
	none := Range{From: ^uint64(0)}
	e = extent{none, none}
	workchains, err := s.workchains(ctx, workchain)
	if err != nil {
		return e, err
	}
	for _, w := range workchains {
		f := &BlockFilter{Workchain: &w, Shard: &shard, Utime: Everything, Lts: Everything}
		var ends [2]*record.Block
		for i, descending := range []bool{false, true} {
			list, _, err := s.pageOfBlocks(ctx, &blockList{f, v, Page{Limit: 1, Descending: descending}, nil})
			if err != nil {
				return e, err
			}
			if len(list) == 0 {
				break
			}
			ends[i] = list[0]
		}
		if ends[1] != nil {
			e.add(ends[0], ends[1])
		}
	}
	return e, nil
}

// workchains are those that there are blocks of, or the only one that is asked
// for.
func (s *Store) workchains(ctx context.Context, only *int32) (list []int32, err error) {
	if only != nil {
		return []int32{*only}, nil
	}
	from := conditions{"path = 'id' AND key = 0"}
	for len(list) < maxWorkchains {
		rows, err := s.blockRows(ctx, fmt.Sprintf("SELECT toUInt64(0) AS value, %s FROM blocks_index WHERE %s ORDER BY path, key, workchain LIMIT 1%s", blockColumns, from, inSmallBlocks(1)))
		if err != nil || len(rows) == 0 {
			return list, err
		}
		list = append(list, rows[0].id.workchain)
		from = conditions{"path = 'id' AND key = 0", fmt.Sprintf("workchain > %d", rows[0].id.workchain)}
	}
	return list, nil
}

// hasRows reports whether a table has a row in a range of its key.
func (s *Store) hasRows(ctx context.Context, table, key string) (found bool, err error) {
	var one proto.ColUInt8
	statement := fmt.Sprintf("SELECT toUInt8(1) AS one FROM %s WHERE %s LIMIT 1%s", table, key, inSmallBlocks(1))
	err = s.run(ctx, "keys", statement, proto.Results{{Name: "one", Data: &one}}, func(rows int) error {
		found = found || rows > 0
		return nil
	})
	return found, err
}

// narrow leaves of a filter what can hold for the blocks of its workchain and
// shard. It is false when nothing can.
func (s *Store) narrow(ctx context.Context, v *View, table string, workchain *int32, shard *uint64, utime, lts *Range) (bool, error) {
	switch {
	case shard != nil:
		e, err := s.extentOf(ctx, v, workchain, *shard)
		if err != nil || e.empty() {
			return false, err
		}
		*utime, *lts = utime.and(e.utime), lts.and(e.lts)
	case workchain != nil && table == "transactions":
		if found, err := s.hasRows(ctx, table, fmt.Sprintf("workchain = %d", *workchain)); err != nil || !found {
			return false, err
		}
	case workchain != nil:
		if found, err := s.hasRows(ctx, table, fmt.Sprintf("path = 'id' AND key = 0 AND workchain = %d", *workchain)); err != nil || !found {
			return false, err
		}
	}
	return utime.From <= utime.To && lts.From <= lts.To, nil
}

// accountsOf is the range of account prefixes of a shard.
func accountsOf(shard uint64) (low, high uint64) {
	tag := shard & -shard
	return shard - tag, shard + (tag - 1)
}

package list

import (
	"context"

	"tonscribe/query/list/paging"
	"tonscribe/query/list/plan"
	"tonscribe/query/sql"
	"tonscribe/schema/record"
)

// extent is how far the blocks of a shard, or those of a shard in all workchains,
// reach in time and lt.
type extent struct{ utime, lts Span }

// empty reports whether there is no such block.
func (e *extent) empty() bool { return e.utime.From > e.utime.To }

// add makes an extent reach from a block to a later one.
func (e *extent) add(oldest, newest *record.Block) {
	e.utime.From, e.utime.To = min(e.utime.From, uint64(oldest.GenUtime)), max(e.utime.To, uint64(newest.GenUtime))
	e.lts.From, e.lts.To = min(e.lts.From, oldest.StartLt), max(e.lts.To, newest.EndLt)
}

// maxWorkchains is in how many workchains a shard is looked for.
const maxWorkchains = 8

// extentOf returns how far the blocks of a shard reach. A shard's times and lts
// rise with its seqnos, so the first and the last one tell: what is asked of a
// shard that never was, or was not then, is not looked for in all of the chain.
func (l *Lists) extentOf(ctx context.Context, v *View, workchain *int32, shard uint64) (e extent, err error) {
	none := Span{From: ^uint64(0)}
	e = extent{none, none}
	workchains, err := l.workchains(ctx, v, workchain)
	if err != nil {
		return e, err
	}
	for _, w := range workchains {
		f := &BlockFilter{Workchain: &w, Shard: &shard, Utime: Everything, Lts: Everything}
		var ends [2]*record.Block
		for i, descending := range []bool{false, true} {
			list, _, err := l.longBlocks(ctx, newBlockList(v, f, paging.Page{Limit: 1, Descending: descending}, nil))
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
func (l *Lists) workchains(ctx context.Context, v *View, only *int32) (list []int32, err error) {
	if only != nil {
		return []int32{*only}, nil
	}
	p := &plan.Plan{Reads: "block keys", Table: "blocks_index", SmallBlocks: true, Columns: []plan.Column{{Name: "workchain", Type: plan.Int32}}, Keys: []string{"workchain"}, Order: []plan.Term{{Words: 1}}}
	r := plan.Range{Prefix: []string{"path", "key"}, Where: blocksByID()}
	for len(list) < maxWorkchains {
		rows, err := p.First(ctx, l.source(v), &r)
		if err != nil || len(rows) == 0 {
			return list, err
		}
		list = append(list, rows[0].Signed(0))
		r.Where = blocksByID().With(sql.Above("workchain", rows[0].Signed(0)))
	}
	return list, nil
}

// narrow leaves of a filter what can hold for the blocks of its workchain and
// shard. It is false when nothing can.
func (l *Lists) narrow(ctx context.Context, v *View, table string, workchain *int32, shard *uint64, utime, lts *Span) (bool, error) {
	switch {
	case shard != nil:
		e, err := l.extentOf(ctx, v, workchain, *shard)
		if err != nil || e.empty() {
			return false, err
		}
		*utime, *lts = utime.And(e.utime), lts.And(e.lts)
	case workchain != nil && table == "transactions":
		if found, err := l.has(ctx, v, table, sql.Conditions{sql.Is("workchain", *workchain)}); err != nil || !found {
			return false, err
		}
	case workchain != nil:
		if found, err := l.has(ctx, v, table, blocksByID().With(sql.Is("workchain", *workchain))); err != nil || !found {
			return false, err
		}
	}
	return utime.From <= utime.To && lts.From <= lts.To, nil
}

// has reports whether a table has a row in a range of its key.
func (l *Lists) has(ctx context.Context, v *View, table string, c sql.Conditions) (bool, error) {
	if held, err := v.Memory.Find(ctx, table, c); err != nil || len(held) > 0 {
		return err == nil, err
	}
	return l.reader.Has(ctx, table, c...)
}

// accountsOf is the range of account prefixes of a shard.
func accountsOf(shard uint64) (low, high uint64) {
	tag := shard & -shard
	return shard - tag, shard + (tag - 1)
}

package list

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"tonscribe/query/head"
	"tonscribe/query/list/paging"
	"tonscribe/query/list/plan"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// BlockFilter says which blocks are wanted; the zero value and Everything mean
// all.
type BlockFilter struct {
	Workchain *int32
	Shard     *uint64
	Seqno     *int32
	McSeqno   *int32
	RootHash  *Hash
	FileHash  *Hash
	Utime     Span
	Lts       Span
	// AnyOrder reports whether the caller asked for none; the newest come first.
	AnyOrder bool
}

// BlockKey is the key of a block in a list.
type BlockKey struct {
	Utime     uint32
	Workchain int32
	Shard     uint64
	Seqno     uint32
	StartLt   uint64
}

// BlockKeyOf returns the key of a block.
func BlockKeyOf(b *record.Block) BlockKey {
	return BlockKey{b.GenUtime, b.Id.Workchain, b.Id.Shard, b.Id.Seqno, b.StartLt}
}

// ByLt reports whether the list is in the order of start_lt: nobody asked for an order
// and the filter is a range of it.
func (f *BlockFilter) ByLt() bool {
	return f.AnyOrder && f.Lts.Given && !f.Utime.Given && f.McSeqno == nil && f.Seqno == nil && f.RootHash == nil && f.FileHash == nil
}

// ofShard reports whether the list is that of one shard, which has a range of its
// own.
func (f *BlockFilter) ofShard() bool {
	return f.Workchain != nil && f.Shard != nil && !f.Utime.Given && !f.Lts.Given
}

func (f *BlockFilter) compare(a, b *BlockKey, descending bool) int {
	first := cmp.Compare(a.Utime, b.Utime)
	if f.ByLt() {
		first = cmp.Compare(a.StartLt, b.StartLt)
	}
	c := cmp.Or(first, cmp.Compare(a.Workchain, b.Workchain), cmp.Compare(a.Shard, b.Shard), cmp.Compare(a.Seqno, b.Seqno))
	if descending {
		return -c
	}
	return c
}

func (f *BlockFilter) matches(b *record.Block) bool {
	return (f.Workchain == nil || b.Id.Workchain == *f.Workchain) &&
		(f.Shard == nil || b.Id.Shard == *f.Shard) &&
		(f.Seqno == nil || int64(b.Id.Seqno) == int64(*f.Seqno)) &&
		(f.McSeqno == nil || int64(b.McSeqno) == int64(*f.McSeqno)) &&
		(f.RootHash == nil || string(f.RootHash[:]) == string(b.Id.RootHash)) &&
		(f.FileHash == nil || string(f.FileHash[:]) == string(b.Id.FileHash)) &&
		f.Utime.Has(uint64(b.GenUtime)) && f.Lts.Has(b.StartLt)
}

// blockList declares a list of blocks.
type blockList struct {
	*paging.Records[*record.Block, BlockKey]
	filter *BlockFilter
	view   *View
}

func newBlockList(v *View, f *BlockFilter, page paging.Page, after *BlockKey) *blockList {
	l := &blockList{filter: f, view: v, Records: &paging.Records[*record.Block, BlockKey]{
		Page: page, After: after, Key: BlockKeyOf,
		Compare: func(a, b *BlockKey) int { return f.compare(a, b, page.Descending) },
		Same:    func(a, b *record.Block) bool { return head.IDOf(a) == head.IDOf(b) },
	}}
	l.Match = func(b *record.Block) bool { return b.McSeqno <= v.Watermark && l.filter.matches(b) }
	return l
}

// isBehind reports whether a block lies behind the cursor.
func (l *blockList) isBehind(b *record.Block) bool {
	k := BlockKeyOf(b)
	return l.After == nil || l.Compare(&k, l.After) > 0
}

// Blocks is a page of the list, and whether there are more after it.
func (l *Lists) Blocks(ctx context.Context, v *View, f *BlockFilter, page paging.Page, after *BlockKey) ([]*record.Block, bool, error) {
	if f.Seqno != nil && *f.Seqno < 0 || f.McSeqno != nil && (*f.McSeqno < 0 || uint32(*f.McSeqno) > v.Watermark) {
		return nil, false, nil
	}
	b := newBlockList(v, f, page, after)
	if found, ok := b.fromHead(); ok {
		l.fromHead.WithLabelValues("blocks").Inc()
		list, more := b.All(found)
		return list, more, nil
	}
	if table, c := b.short(); table != "" {
		found, err := l.blocksOf(ctx, v, table, c)
		if err != nil {
			return nil, false, err
		}
		list, more := b.All(found)
		return list, more, nil
	}
	if (f.Workchain != nil || f.Shard != nil) && !f.ofShard() {
		narrowed := *f
		b.filter = &narrowed
		if some, err := l.narrow(ctx, v, "blocks_index", f.Workchain, f.Shard, &narrowed.Utime, &narrowed.Lts); err != nil || !some {
			return nil, false, err
		}
	}
	return l.longBlocks(ctx, b)
}

// fromHead gives all candidates when the head holds enough.
func (l *blockList) fromHead() ([]*record.Block, bool) {
	f, h := l.filter, &l.view.Head
	if f.McSeqno != nil {
		return h.BlocksOf(uint32(*f.McSeqno))
	}
	if f.RootHash != nil || f.FileHash != nil || f.Shard != nil || f.Seqno != nil || f.ByLt() || !l.Page.Descending || !h.Reaches(l.view.Watermark) {
		return nil, false
	}
	need := l.Page.Offset + l.Page.Limit + 1
	var found []*record.Block
	for i := len(h.Bundles) - 1; i >= 0; i-- {
		for _, b := range h.Bundles[i].Blocks() {
			if f.matches(b) && l.isBehind(b) {
				found = append(found, b)
			}
		}
		if len(found) >= need && certain(found, h.BlocksBefore[i]) >= need {
			return found, true
		}
		if len(h.Bundles)-i > 4*need+1000 {
			break // a rare kind of block: the tables know better where they are
		}
	}
	return nil, false
}

// certain counts the blocks that nothing older can come before.
func certain(found []*record.Block, before uint32) (n int) {
	for _, b := range found {
		if b.GenUtime > before {
			n++
		}
	}
	return n
}

// blockColumns are the columns by which rows of blocks_index name one of blocks.
var blockColumns = []string{"mc_seqno", "workchain", "shard", "seqno"}

// blocksOf reads the blocks that rows of a table lead to.
func (l *Lists) blocksOf(ctx context.Context, v *View, table string, c sql.Conditions) ([]*record.Block, error) {
	held, err := plan.Records(ctx, v.Memory, table, c)
	if err != nil {
		return nil, err
	}
	where := c.String()
	if table != "blocks" {
		columns := strings.Join(blockColumns, ", ")
		where = "(" + columns + ") IN (SELECT " + columns + " FROM " + sql.Beside(table) + " WHERE " + where + ")"
	}
	return paging.ReadRecords(ctx, l.source(v), "blocks", "SELECT record FROM blocks WHERE "+where, held, head.UnpackBlock)
}

// blocksByID are the rows of blocks_index that find blocks by their ids, and
// blocksByHash those of a root or file hash.
func blocksByID() sql.Conditions {
	return sql.Conditions{sql.Is("path", sql.Name("id")), sql.Is("key", 0)}
}
func blocksByHash(h *Hash) sql.Conditions {
	return sql.Conditions{sql.Is("path", sql.Name("hash")), sql.Is("key", schema.Prefix(h[:]))}
}

// short returns the rows of a table that lead to lists that are short by nature; the
// table is empty for others.
func (l *blockList) short() (table string, c sql.Conditions) {
	f := l.filter
	c = blocksByID()
	switch {
	case f.RootHash != nil:
		c = blocksByHash(f.RootHash)
	case f.FileHash != nil:
		c = blocksByHash(f.FileHash)
	case f.McSeqno != nil:
		return "blocks", sql.Conditions{sql.Is("mc_seqno", *f.McSeqno)}
	case f.Seqno != nil:
		blockIDConditions(&c, f.Workchain, f.Shard, f.Seqno)
	default:
		return "", nil
	}
	return "blocks_index", c
}

func blockIDConditions(c *sql.Conditions, workchain *int32, shard *uint64, seqno *int32) {
	if workchain != nil {
		c.Add(sql.Is("workchain", *workchain))
	}
	if shard != nil {
		c.Add(sql.Is("shard", *shard))
	}
	if seqno != nil {
		c.Add(sql.Is("seqno", *seqno))
	}
}

// The words of a row that leads to a block. The value is what the table is ordered
// by: a time, an lt or a seqno.
const blockValue, blockMcSeqno, blockWorkchain, blockShard, blockSeqno = 0, 1, 2, 3, 4

// plan reads a list that may be long, and tells what of a key its value is.
func (l *blockList) plan() (p *plan.Plan, value func(*BlockKey) uint64) {
	f, d := l.filter, l.Page.Descending
	r := plan.Range{Prefix: []string{"path"}}
	p = &plan.Plan{Reads: "block keys", Table: "blocks_index", Descending: d, Bundle: "mc_seqno", Watermark: l.view.Tables, Order: []plan.Term{{At: blockValue, Words: 1, Descending: d}, {At: blockWorkchain, Words: 3, Descending: d}}}
	column := "key"
	value = func(k *BlockKey) uint64 { return uint64(k.Utime) }
	blockIDConditions(&r.Where, f.Workchain, f.Shard, f.Seqno)
	switch {
	case f.ByLt():
		value = func(k *BlockKey) uint64 { return k.StartLt }
		r.Where.Add(sql.Is("path", sql.Name("lt")))
		r.Where.Between("key", f.Lts.From, f.Lts.To, ^uint64(0))
	case f.Lts.Given:
		// Only the table itself has both; bundles of earlier lts are left out:
		// a masterchain block's lt is above those of all it commits.
		p.Table, r.Prefix, column = "blocks", nil, "gen_utime"
		if f.Lts.From > 0 {
			const bundle = "mc_seqno >= (SELECT min(mc_seqno) FROM (SELECT mc_seqno FROM blocks_index WHERE path = 'lt' AND key >= %d AND workchain = -1 ORDER BY path, key LIMIT 1))"
			r.Where.Add(sql.Narrows(fmt.Sprintf(bundle, f.Lts.From)))
		}
		r.Where.Between("gen_utime", f.Utime.From, f.Utime.To, 1<<32-1)
		r.Where.Between("start_lt", f.Lts.From, f.Lts.To, ^uint64(0))
	case f.ofShard():
		// A shard's times rise with its seqnos.
		r.Prefix, column = []string{"path", "key", "workchain", "shard"}, "seqno"
		value = func(k *BlockKey) uint64 { return uint64(k.Seqno) }
		r.Where.Add(blocksByID()...)
	default:
		r.Where.Add(sql.Is("path", sql.Name("utime")))
		r.Where.Between("key", f.Utime.From, f.Utime.To, 1<<32-1)
	}
	first := plan.Column{Name: "value", SQL: "toUInt64(" + column + ")", Key: column, At: blockValue}
	id := []plan.Column{{Name: "workchain", At: blockWorkchain, Type: plan.Int32}, {Name: "shard", At: blockShard}, {Name: "seqno", At: blockSeqno, Type: plan.Uint32}}
	p.Columns = append([]plan.Column{first, {Name: "mc_seqno", At: blockMcSeqno, Type: plan.Uint32}}, id...)
	p.Keys, p.Seek = []string{column}, []plan.Column{first}
	if column != "seqno" {
		p.Keys, p.Seek = append(p.Keys, "workchain", "shard", "seqno"), append(p.Seek, id...)
	}
	p.Ranges = []plan.Range{r}
	return p, value
}

// longBlocks reads a page of a list that may be long.
func (l *Lists) longBlocks(ctx context.Context, b *blockList) ([]*record.Block, bool, error) {
	p, value := b.plan()
	q := &paging.Query[*record.Block, BlockKey]{
		Records: b.Records, Source: l.source(b.view), Plan: p, RowsOfItem: 1,
		RowOf: func(k *BlockKey) plan.Row {
			return plan.Row{blockValue: value(k), blockWorkchain: plan.Signed(k.Workchain), blockShard: k.Shard, blockSeqno: uint64(k.Seqno)}
		},
		Read: func(ctx context.Context, items [][]plan.Row) ([]*record.Block, error) {
			ids := sql.Among{Columns: blockColumns}
			for _, item := range items {
				r := item[0]
				ids.Tuples = append(ids.Tuples, []any{r[blockMcSeqno], r.Signed(blockWorkchain), r[blockShard], r[blockSeqno]})
			}
			return l.blocksOf(ctx, b.view, "blocks", sql.Conditions{ids})
		},
	}
	return q.Run(ctx)
}

// Bundle is the blocks that a masterchain block commits for the first time, and
// itself, in the order of the contract.
func (l *Lists) Bundle(ctx context.Context, v *View, mcSeqno int32) ([]*record.Block, error) {
	f := &BlockFilter{McSeqno: &mcSeqno, Utime: Everything, Lts: Everything}
	list, _, err := l.Blocks(ctx, v, f, paging.Page{Limit: 1 << 30}, nil)
	slices.SortFunc(list, compareShards)
	return list, err
}

// compareShards is by workchain, shard (signed) and seqno.
func compareShards(a, b *record.Block) int {
	return cmp.Or(cmp.Compare(a.Id.Workchain, b.Id.Workchain), cmp.Compare(int64(a.Id.Shard), int64(b.Id.Shard)), cmp.Compare(a.Id.Seqno, b.Id.Seqno))
}

// Known reports whether a masterchain block is visible.
func (l *Lists) Known(ctx context.Context, v *View, mcSeqno int32) (bool, error) {
	if mcSeqno < 0 || uint32(mcSeqno) > v.Watermark || uint32(mcSeqno) < v.First.Id.Seqno {
		return false, nil
	}
	bundle, err := l.Bundle(ctx, v, mcSeqno)
	return len(bundle) > 0, err
}

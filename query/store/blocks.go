package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ClickHouse/ch-go/proto"

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
	Utime     Range
	Lts       Range
	// AnyOrder says that the caller asked for none; the newest come first.
	AnyOrder bool
}

// BlockKey is a place in a list of blocks.
type BlockKey struct {
	Utime     uint32
	Workchain int32
	Shard     uint64
	Seqno     uint32
	StartLt   uint64
}

// BlockKeyOf is the place of a block.
func BlockKeyOf(b *record.Block) BlockKey {
	return BlockKey{b.GenUtime, b.Id.Workchain, b.Id.Shard, b.Id.Seqno, b.StartLt}
}

// blockID names a block on one chain.
type blockID struct {
	workchain int32
	shard     uint64
	seqno     uint32
}

func blockKey(b *record.Block) blockID { return blockID{b.Id.Workchain, b.Id.Shard, b.Id.Seqno} }

// ByLt says that the list is in the order of start_lt: nobody asked for an order
// and the filter is a range of it.
func (f *BlockFilter) ByLt() bool {
	return f.AnyOrder && f.Lts.Given && !f.Utime.Given && f.McSeqno == nil && f.Seqno == nil && f.RootHash == nil && f.FileHash == nil
}

// ofShard reports whether the list is that of one shard, which has a range of its
// own.
func (f *BlockFilter) ofShard() bool {
	return f.Workchain != nil && f.Shard != nil && !f.Utime.Given && !f.Lts.Given
}

func (f *BlockFilter) compare(a, b BlockKey, descending bool) int {
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
		f.Utime.has(uint64(b.GenUtime)) && f.Lts.has(b.StartLt)
}

// Blocks is a page of the list, and whether there are more after it.
func (s *Store) Blocks(ctx context.Context, v *View, f *BlockFilter, page Page, after *BlockKey) ([]*record.Block, bool, error) {
	if f.Seqno != nil && *f.Seqno < 0 || f.McSeqno != nil && (*f.McSeqno < 0 || uint32(*f.McSeqno) > v.Watermark) {
		return nil, false, nil
	}
	l := &blockList{f, v, page, after}
	if list, ok := l.fromHead(); ok {
		s.metrics.fromHead.WithLabelValues("blocks").Inc()
		return l.cut(list)
	}
	if inner := l.whole(); inner != "" {
		list, err := s.blocks(ctx, inner)
		if err != nil {
			return nil, false, err
		}
		return l.cut(list)
	}
	if (f.Workchain != nil || f.Shard != nil) && !f.ofShard() {
		narrowed := *f
		l.filter = &narrowed
		if some, err := s.narrow(ctx, v, "blocks_index", f.Workchain, f.Shard, &narrowed.Utime, &narrowed.Lts); err != nil || !some {
			return nil, false, err
		}
	}
	return s.pageOfBlocks(ctx, l)
}

// blockList is a request for a page of a list.
type blockList struct {
	filter *BlockFilter
	view   *View
	page   Page
	after  *BlockKey
}

// take keeps what belongs to the list, once each, in order.
func (l *blockList) take(list []*record.Block) []*record.Block {
	compare := func(a, b BlockKey) int { return l.filter.compare(a, b, l.page.Descending) }
	list = slices.DeleteFunc(list, func(b *record.Block) bool {
		return b.McSeqno > l.view.Watermark || !l.filter.matches(b) || l.after != nil && compare(BlockKeyOf(b), *l.after) <= 0
	})
	slices.SortFunc(list, func(a, b *record.Block) int { return compare(BlockKeyOf(a), BlockKeyOf(b)) })
	return slices.CompactFunc(list, func(a, b *record.Block) bool { return blockKey(a) == blockKey(b) })
}

func (l *blockList) cut(list []*record.Block) ([]*record.Block, bool, error) {
	list = l.take(list)
	list = list[min(l.page.Offset, len(list)):]
	if len(list) > l.page.Limit {
		return list[:l.page.Limit], true, nil
	}
	return list, false, nil
}

// fromHead gives all candidates when the head holds enough.
func (l *blockList) fromHead() ([]*record.Block, bool) {
	f, h := l.filter, &l.view.head
	if f.McSeqno != nil {
		return h.blocksOf(uint32(*f.McSeqno))
	}
	if f.RootHash != nil || f.FileHash != nil || f.Shard != nil || f.Seqno != nil || f.ByLt() || !l.page.Descending || !h.reaches(l.view.Watermark) {
		return nil, false
	}
	need := l.page.Offset + l.page.Limit + 1
	var found []*record.Block
	for i := len(h.bundles) - 1; i >= 0; i-- {
		for _, b := range h.bundles[i].unpack() {
			if f.matches(b) && (l.after == nil || f.compare(BlockKeyOf(b), *l.after, true) > 0) {
				found = append(found, b)
			}
		}
		if len(found) >= need && certain(found, h.blocksBefore[i]) >= need {
			return found, true
		}
		if len(h.bundles)-i > 4*need+1000 {
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

const blockColumns = "mc_seqno, workchain, shard, seqno"

func blocksAt(inner string) string {
	return "SELECT record FROM blocks WHERE (" + blockColumns + ") IN (" + inner + ")"
}

// whole is the statement for lists that are short by nature.
func (l *blockList) whole() string {
	f := l.filter
	switch {
	case f.RootHash != nil:
		return blocksAt(fmt.Sprintf("SELECT %s FROM blocks_index WHERE path = 'hash' AND key = %d", blockColumns, schema.Prefix(f.RootHash[:])))
	case f.FileHash != nil:
		return blocksAt(fmt.Sprintf("SELECT %s FROM blocks_index WHERE path = 'hash' AND key = %d", blockColumns, schema.Prefix(f.FileHash[:])))
	case f.McSeqno != nil:
		return fmt.Sprintf("SELECT record FROM blocks WHERE mc_seqno = %d", *f.McSeqno)
	case f.Seqno != nil:
		c := conditions{"path = 'id' AND key = 0"}
		l.idConditions(&c)
		return blocksAt(fmt.Sprintf("SELECT %s FROM blocks_index WHERE %s", blockColumns, c))
	}
	return ""
}

func (l *blockList) idConditions(c *conditions) {
	if l.filter.Workchain != nil {
		c.add("workchain = %d", *l.filter.Workchain)
	}
	if l.filter.Shard != nil {
		c.add("shard = %d", *l.filter.Shard)
	}
	if l.filter.Seqno != nil {
		c.add("seqno = %d", *l.filter.Seqno)
	}
}

// blockRow is a row of a table that points to a block.
type blockRow struct {
	value   uint64 // what the table is ordered by: a time, an lt or a seqno
	id      blockID
	mcSeqno uint32
}

// blockPlan is where a list that may be long is read from.
type blockPlan struct {
	table string
	// leading are the columns that the rows have in common, by which the table is
	// ordered before column.
	leading    []string
	column     string
	value      func(BlockKey) uint64 // that of column
	conditions conditions
}

func (l *blockList) plan() blockPlan {
	f := l.filter
	p := blockPlan{table: "blocks_index", leading: []string{"path"}, column: "key", value: func(k BlockKey) uint64 { return uint64(k.Utime) }}
	l.idConditions(&p.conditions)
	switch {
	case f.ByLt():
		p.value = func(k BlockKey) uint64 { return k.StartLt }
		p.conditions.add("path = 'lt'")
		p.conditions.between("key", f.Lts, ^uint64(0))
	case f.Lts.Given:
		// Only the table itself has both; bundles of earlier lts are left out:
		// a masterchain block's lt is above those of all it commits.
		p.table, p.leading, p.column = "blocks", nil, "gen_utime"
		if f.Lts.From > 0 {
			p.conditions.add("mc_seqno >= (SELECT min(mc_seqno) FROM (SELECT mc_seqno FROM blocks_index WHERE path = 'lt' AND key >= %d AND workchain = -1 ORDER BY path, key LIMIT 1))", f.Lts.From)
		}
		p.conditions.between("gen_utime", f.Utime, 1<<32-1)
		p.conditions.between("start_lt", f.Lts, ^uint64(0))
	case f.ofShard():
		// A shard's times rise with its seqnos.
		p.leading, p.column = []string{"path", "key", "workchain", "shard"}, "seqno"
		p.value = func(k BlockKey) uint64 { return uint64(k.Seqno) }
		p.conditions.add("path = 'id' AND key = 0")
	default:
		p.conditions.add("path = 'utime'")
		p.conditions.between("key", f.Utime, 1<<32-1)
	}
	p.conditions.add("mc_seqno <= %d", l.view.Watermark)
	return p
}

// rowOf is where a key lies in the order of the plan's table.
func (p *blockPlan) rowOf(k BlockKey) *blockRow {
	return &blockRow{value: p.value(k), id: blockID{k.Workchain, k.Shard, k.Seqno}}
}

// order is that of the plan's table.
func (p *blockPlan) order(direction string) string {
	columns := append(slices.Clip(p.leading), p.column)
	if p.column != "seqno" {
		columns = append(columns, "workchain", "shard", "seqno")
	}
	return strings.Join(columns, " "+direction+", ") + " " + direction
}

func (l *blockList) compareRows(a, b *blockRow) int {
	c := cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.id.workchain, b.id.workchain), cmp.Compare(a.id.shard, b.id.shard), cmp.Compare(a.id.seqno, b.id.seqno))
	if l.page.Descending {
		return -c
	}
	return c
}

// statement reads up to limit rows from one on, that included.
func (l *blockList) statement(p *blockPlan, from *blockRow, limit int) string {
	sign := ">"
	if l.page.Descending {
		sign = "<"
	}
	c := slices.Clip(p.conditions)
	switch {
	case from == nil:
	case p.column == "seqno":
		c.add("seqno %s= %d", sign, from.value)
	default:
		c.add("%s", notBefore(l.page.Descending, []string{p.column, "workchain", "shard", "seqno"},
			[]string{fmt.Sprint(from.value), fmt.Sprint(from.id.workchain), fmt.Sprint(from.id.shard), fmt.Sprint(from.id.seqno)}))
	}
	return fmt.Sprintf("SELECT toUInt64(%s) AS value, %s FROM %s WHERE %s ORDER BY %s LIMIT %d", p.column, blockColumns, p.table, c, p.order(direction(l.page.Descending)), limit)
}

func (s *Store) blockRows(ctx context.Context, statement string) ([]blockRow, error) {
	var list []blockRow
	var value, shard proto.ColUInt64
	var mcSeqno, seqno proto.ColUInt32
	var workchain proto.ColInt32
	result := proto.Results{
		{Name: "value", Data: &value}, {Name: "mc_seqno", Data: &mcSeqno}, {Name: "workchain", Data: &workchain},
		{Name: "shard", Data: &shard}, {Name: "seqno", Data: &seqno},
	}
	err := s.run(ctx, "block keys", statement, result, func(rows int) error {
		for i := range rows {
			list = append(list, blockRow{value[i], blockID{workchain[i], shard[i], seqno[i]}, mcSeqno[i]})
		}
		return nil
	})
	return list, err
}

func (s *Store) pageOfBlocks(ctx context.Context, l *blockList) ([]*record.Block, bool, error) {
	p := l.plan()
	w := &walk[blockRow]{
		read: func(ctx context.Context, from *blockRow, limit int) ([]blockRow, error) {
			return s.blockRows(ctx, l.statement(&p, from, limit))
		},
		group:   func(a, b *blockRow) bool { return a.id == b.id },
		compare: l.compareRows,
		skip:    l.page.Offset,
	}
	if l.after != nil {
		w.after = p.rowOf(*l.after)
	}
	items, err := w.next(ctx, l.page.Limit+2, 1)
	if err != nil || len(items) == 0 {
		return nil, false, err
	}
	ids := make([]string, len(items))
	for i, item := range items {
		r := item[0]
		ids[i] = fmt.Sprintf("(%d,%d,%d,%d)", r.mcSeqno, r.id.workchain, r.id.shard, r.id.seqno)
	}
	list, err := s.blocks(ctx, blocksAt(strings.Join(ids, ",")))
	if err != nil {
		return nil, false, err
	}
	list = l.take(list)
	return list[:min(l.page.Limit, len(list))], len(list) > l.page.Limit, nil
}

// Bundle is the blocks that a masterchain block commits for the first time, and
// itself, in the order of the contract.
func (s *Store) Bundle(ctx context.Context, v *View, mcSeqno int32) ([]*record.Block, error) {
	f := &BlockFilter{McSeqno: &mcSeqno, Utime: Everything, Lts: Everything}
	list, _, err := s.Blocks(ctx, v, f, Page{Limit: 1 << 30}, nil)
	slices.SortFunc(list, compareShards)
	return list, err
}

// compareShards is by workchain, shard (signed) and seqno.
func compareShards(a, b *record.Block) int {
	return cmp.Or(cmp.Compare(a.Id.Workchain, b.Id.Workchain), cmp.Compare(int64(a.Id.Shard), int64(b.Id.Shard)), cmp.Compare(a.Id.Seqno, b.Id.Seqno))
}

// Known says whether a masterchain block is visible.
func (s *Store) Known(ctx context.Context, v *View, mcSeqno int32) (bool, error) {
	if mcSeqno < 0 || uint32(mcSeqno) > v.Watermark || uint32(mcSeqno) < v.First.Id.Seqno {
		return false, nil
	}
	bundle, err := s.Bundle(ctx, v, mcSeqno)
	return len(bundle) > 0, err
}

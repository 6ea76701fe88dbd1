package verify

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/table"
)

const (
	masterchain      = int32(-1)
	masterchainShard = uint64(1) << 63
	// chainStep is how many bundles are walked at a time.
	chainStep = 4096
)

// chainWalk follows bundles, in the order of the masterchain: seals, blocks, and
// the logical times of the blocks' transactions.
type chainWalk struct {
	*verifier
	seals sealWalk
	tips  map[shardOf]*tip
	times map[blockKey]times
	// sealed are the promises for the bundles at hand.
	sealed map[uint32]*bundleSeals
	bundle []*blockRow
	last   *blockRow
	before uint32 // the last bundle that had blocks, 0 before the first
}

// tip is the newest block of a shard.
type tip struct {
	id    *record.BlockId
	endLT uint64
	split int // children that have followed it
}

// blockKey says which block of which bundle.
type blockKey struct {
	mcSeqno   uint32
	workchain int32
	shard     uint64
	seqno     uint32
}

// where finds rows, by the names of the columns for bundle and seqno.
func (p blockKey) where(bundle, seqno string) string {
	return fmt.Sprintf("%s = %d AND workchain = %d AND shard = 0x%016x AND %s = %d", bundle, p.mcSeqno, p.workchain, p.shard, seqno, p.seqno)
}

func (p blockKey) key() string { return p.where("mc_seqno", "seqno") }

// indexed finds the transactions of the block in transactions_index.
func (p blockKey) indexed() string { return p.where("path = 'mc_seqno' AND key", "block_seqno") }

func (p blockKey) hash() uint64 {
	return table.HashOf(uint64(p.mcSeqno), uint64(int64(p.workchain)), p.shard, uint64(p.seqno))
}

// times are the first and the last lt of a block's transactions.
type times struct{ first, last uint64 }

// walkChain does what is done in the order of the masterchain.
func (v *verifier) walkChain(ctx context.Context) error {
	w := &chainWalk{verifier: v, seals: sealWalk{verifier: v, topics: tableTopics()}, tips: map[shardOf]*tip{}}
	meter := v.meter("blocks (bundles)", uint64(v.to)-uint64(v.from)+1)
	for low := uint64(v.from); low <= uint64(v.to); low += chainStep {
		high := min(low+chainStep-1, uint64(v.to))
		if err := w.step(ctx, uint32(low), uint32(high)); err != nil {
			return err
		}
		meter.add(high - low + 1)
	}
	return w.seals.finish(ctx)
}

func (w *chainWalk) step(ctx context.Context, low, high uint32) error {
	seals, err := w.readSeals(ctx, low, high)
	if err != nil {
		return err
	}
	w.sealed = map[uint32]*bundleSeals{}
	for len(seals) > 0 {
		n := 1
		for n < len(seals) && seals[n].mcSeqno == seals[0].mcSeqno {
			n++
		}
		w.sealed[seals[0].mcSeqno] = w.seals.bundle(seals[:n])
		seals = seals[n:]
	}
	if w.times, err = w.readTimes(ctx, low, high); err != nil {
		return err
	}
	if err := w.eachBlock(ctx, low, high, func(r *blockRow) error { return w.take(ctx, r) }); err != nil {
		return err
	}
	if err := w.finishBundle(ctx); err != nil {
		return err
	}
	w.unsealed()
	for place := range w.times {
		w.findings.differs(CheckBlocks, "transactions_index", place.indexed(), "its transactions have no such block in table blocks")
	}
	return nil
}

// readTimes reads the logical times of transactions out of the table that has
// them by bundle. That it equals transactions is another check.
func (w *chainWalk) readTimes(ctx context.Context, low, high uint32) (map[blockKey]times, error) {
	all := map[blockKey]times{}
	var p blockKey
	var t times
	err := w.each(ctx, `SELECT mc_seqno, workchain, shard, block_seqno, min(lt), max(lt) FROM transactions_index
		WHERE path = 'mc_seqno' AND key BETWEEN ? AND ? GROUP BY mc_seqno, workchain, shard, block_seqno`, []any{low, high},
		[]any{&p.mcSeqno, &p.workchain, &p.shard, &p.seqno, &t.first, &t.last}, func() error {
			all[p] = t
			return nil
		})
	return all, err
}

// take takes the next row of blocks.
func (w *chainWalk) take(ctx context.Context, r *blockRow) error {
	last := w.last
	w.last = r
	if last != nil && last.blockKey == r.blockKey {
		if last.columns == r.columns && bytes.Equal(last.raw, r.raw) {
			w.findings.count(func(report *Report) { report.Duplicates["blocks"]++ })
			return nil
		}
		return w.unlike(ctx, &table.Blocks.Table, r.key(), last.record, r.record)
	}
	if len(w.bundle) > 0 && w.bundle[0].mcSeqno != r.mcSeqno {
		if err := w.finishBundle(ctx); err != nil {
			return err
		}
	}
	w.bundle = append(w.bundle, r)
	return nil
}

// finishBundle tests the bundle that was gathered.
func (w *chainWalk) finishBundle(ctx context.Context) error {
	rows := w.bundle
	w.bundle = nil
	if len(rows) == 0 {
		return nil
	}
	mcSeqno := rows[0].mcSeqno
	if w.before != 0 && mcSeqno != w.before+1 {
		clear(w.tips) // a gap, or a bundle that its seals miss
	}
	w.before = mcSeqno
	w.countBundle(mcSeqno, rows)
	// Parents before children.
	slices.SortFunc(rows, func(a, b *blockRow) int {
		return cmp.Or(cmp.Compare(a.workchain, b.workchain), cmp.Compare(a.seqno, b.seqno), cmp.Compare(a.shard, b.shard))
	})
	masters := 0
	for _, r := range rows {
		if r.workchain == masterchain {
			masters++
		}
		if err := w.block(ctx, r); err != nil {
			return err
		}
	}
	w.checkTips(rows)
	if masters != 1 {
		w.findings.differs(CheckBlocks, "blocks", fmt.Sprintf("mc_seqno = %d AND workchain = -1", mcSeqno), "%d masterchain blocks instead of one", masters)
	}
	w.findings.count(func(r *Report) {
		r.Bundles++
		r.Blocks += uint64(len(rows))
	})
	w.findings.checked(CheckBlocks, uint64(len(rows)))
	w.findings.checked(CheckColumns, uint64(len(rows)))
	return nil
}

// checkTips compares the newest blocks of shards that the bundle's masterchain
// block names with those of the tables, as far as these go back without a gap.
func (w *chainWalk) checkTips(rows []*blockRow) {
	for _, r := range rows {
		if r.workchain != masterchain {
			continue
		}
		for _, newest := range r.record.GetShards() {
			if t := w.tips[shardOf{newest.Workchain, newest.Shard}]; t != nil && t.id.Seqno != newest.Seqno {
				w.findings.differs(CheckBlocks, "blocks", r.key(), "its newest block of shard (%d,%016x) is %d, that of the tables %d",
					newest.Workchain, newest.Shard, newest.Seqno, t.id.Seqno)
			}
		}
	}
}

// countBundle compares the bundle's blocks with its seals.
func (w *chainWalk) countBundle(mcSeqno uint32, rows []*blockRow) {
	promise := w.sealed[mcSeqno]
	delete(w.sealed, mcSeqno)
	if promise == nil {
		w.findings.differs(CheckSeals, "seals", fmt.Sprintf("mc_seqno = %d", mcSeqno), "no row, but table blocks has %d blocks of the bundle%s", len(rows), w.cutOff(mcSeqno))
		return
	}
	have, transactions := make([]uint64, w.partitions), uint64(0)
	for _, r := range rows {
		if r.shard == 0 {
			continue
		}
		first, _ := schema.PartitionsOf(r.shard, w.partitions)
		have[first]++
		transactions += uint64(r.record.GetTxCount())
	}
	for partition, n := range promise.blocks {
		if have[partition] != n {
			w.findings.differs(CheckSeals, "blocks", fmt.Sprintf("mc_seqno = %d", mcSeqno), "%d blocks of partition %d, but its seal says %d",
				have[partition], partition, n)
			return
		}
	}
	if transactions != promise.transactions {
		w.findings.differs(CheckSeals, "seals", fmt.Sprintf("topic = '%s' AND mc_seqno = %d", schema.Transactions.Name, mcSeqno),
			"rows are %d in all, but the blocks of the bundle count %d transactions", promise.transactions, transactions)
	}
}

// unsealed names the bundles that are sealed and have no blocks.
func (w *chainWalk) unsealed() {
	for _, mcSeqno := range slices.Sorted(maps.Keys(w.sealed)) {
		w.findings.differs(CheckSeals, "blocks", fmt.Sprintf("mc_seqno = %d", mcSeqno), "no rows, but the bundle is sealed")
	}
}

// block tests one block of a bundle.
func (w *chainWalk) block(ctx context.Context, r *blockRow) error {
	lts, some := w.times[r.blockKey]
	delete(w.times, r.blockKey)
	if r.record == nil {
		w.findings.differs(CheckColumns, "blocks", r.key(), "record is no complete block")
		return nil
	}
	b := r.record
	if some && (lts.first < b.StartLt || lts.last >= b.EndLt) {
		w.findings.differs(CheckBlocks, "transactions_index", r.indexed(), "lts from %d to %d, but the block's are from %d to %d", lts.first, lts.last, b.StartLt, b.EndLt)
	}
	w.link(r)
	w.chainSide.add(blockTransactions, r.mcSeqno, uint64(b.TxCount), r.hash())
	w.chainSide.add(blockRecords, r.mcSeqno, 1, digest(r.raw))
	table.BlocksIndex.Each(r.block, func(row *table.Block) { w.rowSide.add(blockRows, r.mcSeqno, 1, table.BlocksIndex.Hash(row)) })
	if table.Blocks.Hash(r.block) != r.columns {
		return w.column(ctx, CheckColumns, &table.Blocks.Table, r.key(), "", table.Blocks.Words(r.block), "the record")
	}
	return nil
}

// link tests that the block continues the chain, and makes it a tip.
func (w *chainWalk) link(r *blockRow) {
	b, shard, differs := r.record, shardOf{r.workchain, r.shard}, w.findings.of(CheckBlocks, "blocks", r.key)
	if r.workchain == masterchain && (r.seqno != r.mcSeqno || r.shard != masterchainShard) {
		differs("a masterchain block must have the seqno of its bundle and shard 0x%016x", masterchainShard)
	}
	if b.StartLt >= b.EndLt {
		differs("start_lt %d is not before end_lt %d", b.StartLt, b.EndLt)
	}
	if problem := expectedParents(b); problem != "" {
		differs("%s", problem)
	}
	follows := false
	for _, prev := range b.PrevBlocks {
		parent := shardOf{prev.Workchain, prev.Shard}
		t := w.tips[parent]
		switch {
		case t == nil:
			if other := w.meets(shard); other != nil {
				differs("its parent %s is not in the tables; the last block there is %s", idText(prev), idText(other.id))
			}
			continue
		case !t.id.EqualVT(prev):
			differs("its parent is %s, but the block before it in the tables is %s", idText(prev), idText(t.id))
		case b.StartLt < t.endLT:
			differs("start_lt is %d, but its parent %s ends at %d", b.StartLt, idText(prev), t.endLT)
		default:
			follows = parent == shard
		}
		if t.split++; parent.shard != parentOf(shard.shard) || t.split == 2 {
			delete(w.tips, parent)
		}
	}
	if t := w.tips[shard]; t != nil {
		differs("it does not follow %s, which is before it in the tables", idText(t.id))
	}
	w.tips[shard] = &tip{id: b.Id, endLT: b.EndLt}
	w.coverage.add(shard, b.StartLt, b.EndLt, follows)
}

// meets gives a tip that has accounts in common with a shard.
func (w *chainWalk) meets(s shardOf) *tip {
	for other, t := range w.tips {
		if other.workchain == s.workchain && schema.ShardsMeet(other.shard, s.shard) && t.split == 0 {
			return t
		}
	}
	return nil
}

// expectedParents tests the shards and seqnos of a block's parents.
func expectedParents(b *record.Block) string {
	id, highest := b.Id, uint32(0)
	want := []uint64{id.Shard}
	switch tag := id.Shard & -id.Shard; {
	case b.AfterMerge:
		want = []uint64{id.Shard - tag>>1, id.Shard + tag>>1}
	case b.AfterSplit:
		want = []uint64{parentOf(id.Shard)}
	}
	var have []uint64
	for _, prev := range b.PrevBlocks {
		have, highest = append(have, prev.Shard), max(highest, prev.Seqno)
		if prev.Workchain != id.Workchain {
			return fmt.Sprintf("its parent %s is of another workchain", idText(prev))
		}
	}
	if !slices.Equal(have, want) {
		return fmt.Sprintf("its parents are of shards %x instead of %x", have, want)
	}
	if id.Seqno != highest+1 {
		return fmt.Sprintf("it follows seqno %d", highest)
	}
	return ""
}

func idText(id *record.BlockId) string {
	return fmt.Sprintf("(%d,%016x,%d) with root hash %x", id.Workchain, id.Shard, id.Seqno, id.RootHash)
}

package head

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/report"
	"tonscribe/query/memory"
	"tonscribe/query/reader"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/stored"
	"tonscribe/schema/table"
)

const (
	// stepTransactions is the most transactions read for the head in one step;
	// what is read one by one costs about 0.1 ms each.
	stepTransactions = 1000
	// firstAge is how often the oldest block is looked up: it changes when an
	// older range is indexed afterwards.
	firstAge = 30 * time.Second
	// stepBundles is the most bundles whose blocks are read in one step.
	stepBundles = 20000
)

// Configuration bounds what is held of the newest bundles; 0 holds none.
type Configuration struct {
	TransactionBytes int `yaml:"head_transaction_bytes"`
	BlockBytes       int `yaml:"head_block_bytes"`
}

// Validate returns an error for what cannot work.
func (c Configuration) Validate() error {
	if c.TransactionBytes < 0 || c.BlockBytes < 0 {
		return fmt.Errorf("head_transaction_bytes is %d and head_block_bytes %d, neither may be negative", c.TransactionBytes, c.BlockBytes)
	}
	return nil
}

// Filler makes views, one after the other.
type Filler struct {
	configuration Configuration
	reader        *reader.Reader
	metrics       metrics
	firstRead     time.Time
	// tables is up to which bundle the tables were complete, and tablesUtime its time.
	tables, tablesUtime uint32
}

type metrics struct {
	heldBundles *prometheus.GaugeVec
	heldBytes   *prometheus.GaugeVec
	watermark   prometheus.Gauge
}

// NewFiller makes a filler that reads the tables.
func NewFiller(configuration Configuration, r *reader.Reader, reporter report.Reporter) *Filler {
	meter := reporter.Meter("query")
	return &Filler{configuration: configuration, reader: r, metrics: metrics{
		heldBundles: meter.Gauges("head_bundles", "Newest bundles held in memory.", "holds"),
		heldBytes:   meter.Gauges("head_bytes", "Memory of the newest bundles.", "holds"),
		watermark:   meter.Gauge("watermark_mc_seqno", "Newest masterchain block that requests see."),
	}}
}

// Next reads how far the tables are, unless that is not to be looked at again, and,
// when that or what the log has moved, or the head is not full yet, returns a view after
// old, which is nil for the first; nil when nothing is new. Newer are bundles that follow each other, of which some may be in
// the tables. moved is called beside the reading of the head when the view moved. With
// an error there may be a view all the same: what could not be read is left for the
// next.
func (f *Filler) Next(ctx context.Context, old *View, tables bool, newer memory.Bundles, moved func(*View)) (next *View, read bool, err error) {
	if tables || old == nil {
		seqno, utime, err := f.Watermark(ctx)
		if err != nil {
			return nil, false, err
		}
		f.tables, f.tablesUtime = seqno, utime
	}
	watermark, utime := f.tables, f.tablesUtime
	if watermark == 0 {
		return nil, false, nil // nothing complete yet
	}
	v := &View{Watermark: watermark, Tables: watermark, GenUtime: utime, Memory: newer.After(watermark)}
	if n := len(v.Memory); n > 0 {
		v.Watermark, v.GenUtime = v.Memory[n-1].MCSeqno, v.Memory[n-1].GenUtime
	}
	v.Held = newer.UpTo(v.Watermark)
	if old != nil && (old.Watermark > v.Watermark || old.Tables > v.Tables) {
		return nil, false, nil // a replica that is behind
	}
	if old != nil {
		v.First, v.Last, v.Head = old.First, old.Last, old.Head
	}
	isNew := old == nil || old.Watermark != v.Watermark || old.Tables != v.Tables
	if isNew {
		if err := f.ends(ctx, v); err != nil {
			return nil, true, err
		}
		var learning sync.WaitGroup
		learning.Go(func() { moved(v) })
		defer learning.Wait()
	}
	extended, err := f.extend(ctx, v)
	if !isNew && !extended {
		return nil, false, err
	}
	f.metrics.watermark.Set(float64(v.Watermark))
	return v, true, err
}

// Watermark returns the smallest progress over all partitions of all topics that have
// tables, 0 until each has some.
func (f *Filler) Watermark(ctx context.Context) (seqno, utime uint32, err error) {
	progress := map[string]map[uint16]progressOf{}
	topic := new(proto.ColStr).LowCardinality()
	var partition, partitions proto.ColUInt16
	var mcSeqno, genUtime proto.ColUInt32
	result := proto.Results{
		{Name: "topic", Data: topic}, {Name: "partition", Data: &partition}, {Name: "partitions", Data: &partitions},
		{Name: "mc_seqno", Data: &mcSeqno}, {Name: "gen_utime", Data: &genUtime},
	}
	const statement = "SELECT topic, partition, partitions, mc_seqno, gen_utime FROM progress"
	err = f.reader.Run(ctx, "progress", statement, result, func(rows int) error {
		for i := range rows {
			name := topic.Row(i)
			if progress[name] == nil {
				progress[name] = map[uint16]progressOf{}
			}
			// Before a merge a partition has several rows: the newest counts.
			if l := progress[name][partition[i]]; mcSeqno[i] >= l.mcSeqno {
				progress[name][partition[i]] = progressOf{mcSeqno[i], genUtime[i], partitions[i]}
			}
		}
		return nil
	})
	if err != nil {
		return 0, 0, err
	}
	lowest, complete := progressOf{mcSeqno: ^uint32(0)}, true
	for _, t := range schema.TableTopics {
		complete = lowestOf(progress[t.Name], &lowest) && complete
	}
	if !complete {
		return 0, 0, nil
	}
	return lowest.mcSeqno, lowest.genUtime, nil
}

// progressOf is how far one partition of a topic is.
type progressOf struct {
	mcSeqno, genUtime uint32
	partitions        uint16
}

// lowestOf lowers lowest to the topic's; it is false when a partition has none.
func lowestOf(progress map[uint16]progressOf, lowest *progressOf) bool {
	partitions := uint16(1)
	for _, l := range progress {
		partitions = max(partitions, l.partitions)
		if l.mcSeqno < lowest.mcSeqno {
			*lowest = l
		}
	}
	return len(progress) >= int(partitions)
}

// ends reads the first and the last visible masterchain block.
func (f *Filler) ends(ctx context.Context, v *View) error {
	list, err := f.masterchainBlock(ctx, v)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return lacks(v.Watermark)
	}
	v.Last = list[0]
	if v.First != nil && time.Since(f.firstRead) < firstAge {
		return nil
	}
	const first = "SELECT record FROM blocks WHERE workchain = -1 ORDER BY mc_seqno LIMIT 1"
	if list, err = ReadBlocks(ctx, f.reader, first); err == nil && len(list) > 0 {
		v.First, f.firstRead = list[0], time.Now()
	}
	return err
}

// lacks is the error for a bundle that the tables should have.
func lacks(mcSeqno uint32) error {
	return fmt.Errorf("masterchain block %d is complete but not in the table blocks", mcSeqno)
}

// masterchainBlock reads that of the watermark, if it is there.
func (f *Filler) masterchainBlock(ctx context.Context, v *View) ([]*record.Block, error) {
	if n := len(v.Memory); n > 0 {
		all, err := blocksIn(v.Memory[n-1])
		return slices.DeleteFunc(all, func(b *record.Block) bool { return b.Id.Workchain != -1 }), err
	}
	const last = "SELECT record FROM blocks WHERE mc_seqno = %d AND workchain = -1 LIMIT 1"
	return ReadBlocks(ctx, f.reader, fmt.Sprintf(last, v.Watermark))
}

// extend brings the head to the watermark, and then back until its budget is
// used. It reports whether it changed anything.
func (f *Filler) extend(ctx context.Context, v *View) (bool, error) {
	h := v.Head
	if f.configuration.BlockBytes == 0 {
		return false, nil
	}
	low, high := h.missing(v)
	newer, err := heldOf(v.Memory.After(low))
	if err != nil {
		return false, err
	}
	if high = min(high, v.Tables); low >= high {
		if len(newer) == 0 {
			return f.extendBack(ctx, v)
		}
		return true, f.append(ctx, v, h, newer)
	}
	if high-low > stepBundles {
		// Too far away: begin anew at the watermark.
		h, low = Head{}, high-stepBundles/10
	}
	bundles, err := f.bundles(ctx, low, high)
	if err != nil {
		return false, err
	}
	if n := len(bundles); n == 0 || bundles[n-1].McSeqno != high { // another server may have it
		return false, lacks(high)
	}
	if len(h.Bundles) == 0 {
		if h.outsideBlocks, err = f.utimeBefore(ctx, low); err != nil {
			return false, err
		}
	}
	count := 0
	for _, b := range bundles {
		count += b.Count
	}
	held := h.WithTransactions < len(h.Bundles)
	h.Bundles = append(slices.Clip(h.Bundles), bundles...)
	if !held || count > stepTransactions {
		// Transactions come afterwards, newest first.
		h.WithTransactions = len(h.Bundles)
		if err := f.append(ctx, v, h, newer); err != nil {
			return true, err
		}
		_, err := f.extendBack(ctx, v)
		return true, err
	}
	if err := f.fill(ctx, bundles); err != nil {
		return false, err
	}
	return true, f.append(ctx, v, h, newer)
}

// append adds bundles with their transactions, and publishes the head.
func (f *Filler) append(ctx context.Context, v *View, h Head, newer []*Bundle) (err error) {
	var reach Reach
	if len(newer) > 0 && h.WithTransactions == len(h.Bundles) && f.configuration.TransactionBytes > 0 {
		// What the head held before tells how far others go: now that is nothing.
		reach, err = f.reachBefore(ctx, newer[0].McSeqno)
		if h.outsideTransactions = h.outsideTransactions.and(reach); err != nil {
			newer = nil // for the next step
		}
	}
	h.Bundles = append(slices.Clip(h.Bundles), newer...)
	f.publish(v, h)
	return err
}

// heldOf makes bundles of the head out of rows in memory.
func heldOf(newer memory.Bundles) ([]*Bundle, error) {
	list := make([]*Bundle, len(newer))
	for i, rows := range newer {
		blocks, err := blocksIn(rows)
		if err != nil {
			return nil, err
		}
		if list[i], err = newBundle(rows.MCSeqno, blocks); err != nil {
			return nil, err
		}
		var all []*record.Transaction
		var records [][]byte
		for row := range rows.All(&table.Transactions.Table) {
			tx := new(record.Transaction)
			if err := stored.Unpack(tx, []byte(row.Source)); err != nil {
				return nil, fmt.Errorf("record of a transaction in memory: %w", err)
			}
			all, records = append(all, tx), append(records, []byte(row.Source))
		}
		list[i].hold(all, records, nil) // memory has the rows of their traces, too
	}
	return list, nil
}

// blocksIn are the blocks of a bundle in memory.
func blocksIn(b *memory.Bundle) (list []*record.Block, err error) {
	for row := range b.All(&table.Blocks.Table) {
		block, err := UnpackBlock([]byte(row.Source))
		if err != nil {
			return nil, fmt.Errorf("record of a block in memory: %w", err)
		}
		list = append(list, block)
	}
	return list, nil
}

// missing is the range (low, high] of bundles between the head and the watermark.
func (h *Head) missing(v *View) (low, high uint32) {
	if n := len(h.Bundles); n > 0 {
		return h.Bundles[n-1].McSeqno, v.Watermark
	}
	return v.Tables - min(v.Tables, stepBundles/10), v.Watermark
}

// extendBack adds older bundles, or the transactions of older bundles, while there
// is room for them: first some transactions, then all blocks, which are cheap to
// read, then the rest. What only memory has was dropped for lack of room, and stays away.
func (f *Filler) extendBack(ctx context.Context, v *View) (bool, error) {
	h := &v.Head
	blocks, transactions := h.size()
	if first, ok := f.nextTransactions(v, transactions); ok && h.held() < stepTransactions {
		return f.extendTransactions(ctx, v, first)
	}
	oldest := h.Bundles[0].McSeqno
	if blocks < f.configuration.BlockBytes*9/10 && v.First != nil && oldest > v.First.Id.Seqno && oldest-1 <= v.Tables {
		return f.extendBlocks(ctx, v, oldest-1)
	}
	if first, ok := f.nextTransactions(v, transactions); ok {
		return f.extendTransactions(ctx, v, first)
	}
	return false, nil
}

// held is the number of transactions.
func (h *Head) held() (n int) {
	for _, b := range h.Bundles[h.WithTransactions:] {
		n += len(b.Transactions)
	}
	return n
}

// nextTransactions is the first of the bundles whose transactions are to be read
// next; it is not ok when there is no room for them, none are left, or tables have them
// not all.
func (f *Filler) nextTransactions(v *View, held int) (first int, ok bool) {
	const recordBytes = 700 // about
	h := &v.Head
	if first = h.WithTransactions - 1; first < 0 || h.Bundles[first].McSeqno > v.Tables {
		return 0, false
	}
	count := h.Bundles[first].Count
	for first > 0 && count+h.Bundles[first-1].Count <= stepTransactions {
		first--
		count += h.Bundles[first].Count
	}
	return first, held+count*(heldOverhead+recordBytes) <= f.configuration.TransactionBytes
}

// extendBlocks reads the blocks of the bundles up to high.
func (f *Filler) extendBlocks(ctx context.Context, v *View, high uint32) (bool, error) {
	h := v.Head
	low := high - min(high, stepBundles)
	bundles, err := f.bundles(ctx, low, high)
	if err != nil || len(bundles) == 0 {
		return false, err
	}
	if h.outsideBlocks, err = f.utimeBefore(ctx, low); err != nil {
		return false, err
	}
	h.Bundles = append(bundles, h.Bundles...)
	h.WithTransactions += len(bundles)
	f.publish(v, h)
	return true, nil
}

// extendTransactions reads those of the bundles from first on that lack them.
func (f *Filler) extendTransactions(ctx context.Context, v *View, first int) (bool, error) {
	h := v.Head
	fresh := slices.Clone(h.Bundles[first:h.WithTransactions])
	for i, b := range fresh {
		clone := *b
		fresh[i] = &clone
	}
	if err := f.fill(ctx, fresh); err != nil {
		return false, err
	}
	var err error
	if h.outsideTransactions, err = f.reachBefore(ctx, fresh[0].McSeqno); err != nil {
		return false, err
	}
	h.Bundles = slices.Concat(h.Bundles[:first], fresh, h.Bundles[h.WithTransactions:])
	h.WithTransactions = first
	f.publish(v, h)
	return true, nil
}

// size is the memory of blocks and of transactions.
func (h *Head) size() (blocks, transactions int) {
	for i, b := range h.Bundles {
		blocks += bundleOverhead + len(b.blocks)
		if i >= h.WithTransactions {
			transactions += b.bytes
		}
	}
	return blocks, transactions
}

// publish drops what the budget has no room for, oldest first, and puts the head
// into the view.
func (f *Filler) publish(v *View, h Head) {
	blocks, transactions := h.size()
	drop := 0
	for blocks > f.configuration.BlockBytes && drop < len(h.Bundles)-1 {
		blocks -= bundleOverhead + len(h.Bundles[drop].blocks)
		h.outsideBlocks = max(h.outsideBlocks, h.Bundles[drop].blocksUtime)
		drop++
	}
	h.Bundles = slices.Clone(h.Bundles)
	for (transactions > f.configuration.TransactionBytes || h.WithTransactions < drop) && h.WithTransactions < len(h.Bundles) {
		b := h.Bundles[h.WithTransactions]
		transactions -= b.bytes
		h.outsideTransactions = h.outsideTransactions.and(b.reach)
		light := *b
		light.Transactions, light.bytes = nil, 0
		h.Bundles[h.WithTransactions] = &light
		h.WithTransactions++
	}
	h.Bundles = slices.Clone(h.Bundles[drop:])
	h.WithTransactions -= drop
	h.measure()
	v.Head = h
	f.metrics.heldBundles.WithLabelValues("blocks").Set(float64(len(h.Bundles)))
	f.metrics.heldBundles.WithLabelValues("transactions").Set(float64(len(h.Bundles) - h.WithTransactions))
	f.metrics.heldBytes.WithLabelValues("blocks").Set(float64(blocks))
	f.metrics.heldBytes.WithLabelValues("transactions").Set(float64(transactions))
}

// bundles reads the blocks of the bundles in (low, high].
func (f *Filler) bundles(ctx context.Context, low, high uint32) ([]*Bundle, error) {
	list, err := ReadBlocks(ctx, f.reader, fmt.Sprintf("SELECT record FROM blocks WHERE mc_seqno > %d AND mc_seqno <= %d ORDER BY mc_seqno, workchain, shard, seqno", low, high))
	if err != nil {
		return nil, err
	}
	list = slices.CompactFunc(list, func(a, b *record.Block) bool { return IDOf(a) == IDOf(b) })
	var bundles []*Bundle
	for len(list) > 0 {
		n := slices.IndexFunc(list, func(b *record.Block) bool { return b.McSeqno != list[0].McSeqno })
		if n < 0 {
			n = len(list)
		}
		b, err := newBundle(list[0].McSeqno, list[:n])
		if err != nil {
			return nil, err
		}
		bundles = append(bundles, b)
		list = list[n:]
	}
	return bundles, nil
}

// fill reads the transactions of some bundles.
func (f *Filler) fill(ctx context.Context, bundles []*Bundle) error {
	low, high := bundles[0].McSeqno, bundles[len(bundles)-1].McSeqno
	type held struct {
		list    []*record.Transaction
		records [][]byte
	}
	byBundle := map[uint32]*held{}
	for _, b := range bundles {
		byBundle[b.McSeqno] = &held{}
	}
	seen := map[[32]byte]bool{}
	var column proto.ColStr
	var c sql.Conditions
	c.Add(sql.Is("path", sql.Name("mc_seqno")), sql.AtLeast("key", low), sql.AtMost("key", high))
	statement := sql.TransactionsAt("transactions_index", c)
	err := f.reader.Run(ctx, "head", statement, proto.Results{{Name: "record", Data: &column}}, func(rows int) error {
		for i := range rows {
			tx := new(record.Transaction)
			if err := stored.Unpack(tx, column.RowBytes(i)); err != nil {
				return fmt.Errorf("record of a transaction: %w", err)
			}
			if b := byBundle[tx.McSeqno]; b != nil && !seen[[32]byte(tx.Hash)] {
				seen[[32]byte(tx.Hash)] = true
				b.list, b.records = append(b.list, tx), append(b.records, slices.Clone(column.RowBytes(i)))
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, b := range bundles {
		if n := len(byBundle[b.McSeqno].list); n != b.Count {
			return fmt.Errorf("masterchain block %d is complete with %d transactions, of which the tables have %d", b.McSeqno, b.Count, n)
		}
	}
	traces, err := f.traces(ctx, c)
	if err != nil {
		return err
	}
	for _, b := range bundles {
		b.hold(byBundle[b.McSeqno].list, byBundle[b.McSeqno].records, traces)
	}
	return nil
}

// utimeBefore returns the greatest time of the blocks up to a bundle.
func (f *Filler) utimeBefore(ctx context.Context, mcSeqno uint32) (uint32, error) {
	n, err := f.reader.Number(ctx, "head", fmt.Sprintf("SELECT key AS n FROM blocks_index WHERE path = 'utime' AND mc_seqno <= %d ORDER BY path DESC, key DESC LIMIT 1", mcSeqno))
	return uint32(n), err
}

// reachBefore returns the reach of the transactions before a bundle.
func (f *Filler) reachBefore(ctx context.Context, mcSeqno uint32) (Reach, error) {
	now, err := f.reader.Number(ctx, "head", fmt.Sprintf("SELECT key AS n FROM transactions_index WHERE path = 'utime' AND mc_seqno < %d ORDER BY path DESC, key DESC LIMIT 1", mcSeqno))
	if err != nil {
		return Reach{}, err
	}
	lt, err := f.reader.Number(ctx, "head", fmt.Sprintf("SELECT lt AS n FROM transactions_index WHERE path = 'lt' AND key = 0 AND mc_seqno < %d ORDER BY path DESC, key DESC, lt DESC LIMIT 1", mcSeqno))
	return Reach{uint32(now), lt}, err
}

// ReadBlocks runs a statement whose only column is the record of a block.
func ReadBlocks(ctx context.Context, r *reader.Reader, statement string) ([]*record.Block, error) {
	return reader.Records(ctx, r, "blocks", statement, UnpackBlock)
}

// UnpackBlock reads the record of a block.
func UnpackBlock(raw []byte) (*record.Block, error) {
	b := new(record.Block)
	err := b.UnmarshalVT(raw)
	if err == nil && b.Id == nil {
		err = errors.New("block without id")
	}
	return b, err
}

package sink

import (
	"context"
	"fmt"
	"hash/crc32"
	"time"

	"golang.org/x/sync/errgroup"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/kafka"
	"tonscribe/schema/record"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// batch is the rows of the records [start, end) of one partition.
type batch struct {
	feed       feed
	start, end int64
	rows       int
	bytes      int
	checksum   uint32
	since      time.Time        // when the first record came
	sealed     bool             // the last record is a seal
	seals      []*record.Record // of the bundles that end in the batch
}

func (b *batch) empty() bool { return b.since.IsZero() }

// add takes a record, and says how many rows of its bundle it brings.
func (b *batch) add(item kafka.Item) (rows int, err error) {
	if item.Record.GetSeal() == nil {
		if rows, err = b.feed.add(item.Record, item.Raw); err != nil {
			return 0, fmt.Errorf("%w: offset %d: %w", errUnfit, item.Offset, err)
		}
	}
	b.pass(item)
	b.rows += rows
	b.bytes += item.Size
	b.checksum = crc32.Update(b.checksum, castagnoli, item.Raw)
	return rows, nil
}

// pass takes a record without its rows.
func (b *batch) pass(item kafka.Item) {
	if b.empty() {
		b.since = time.Now()
	}
	b.end = item.Offset + 1
	b.sealed = item.Record.GetSeal() != nil
}

// reset empties the batch for the records from start on.
func (b *batch) reset(start int64) {
	for _, p := range b.feed.pages() {
		p.reset()
	}
	clear(b.seals)
	*b = batch{feed: b.feed, start: start, end: start, seals: b.seals[:0]}
}

// token names the batch's content in ClickHouse.
func (b *batch) token(l *kafka.Lane) string {
	return fmt.Sprintf("%s/%s/%d/%d-%d/%08x", l.Epoch(), l.Topic, l.Partition, b.start, b.end, b.checksum)
}

// insert brings the batch into the tables: rows, then seals and progress.
func (c *Component) insert(ctx context.Context, l *kafka.Lane, b *batch) error {
	began, token := time.Now(), b.token(l)
	if err := l.Intend(ctx, b.end); err != nil {
		return err
	}
	if repeat := c.dependencies.Repeat; repeat != nil {
		token = repeat.Token + "/" + token
	}
	for _, last := range []bool{false, true} {
		if err := c.insertPages(ctx, b, token, last); err != nil {
			return err
		}
	}
	if len(b.seals) > 0 {
		if err := c.insertSeals(ctx, l, b, token); err != nil {
			return err
		}
	}
	if err := l.Commit(ctx, b.end); err != nil {
		return err
	}
	c.metrics.inserted(l, b, time.Since(began))
	return nil
}

// insertSeals tells that the bundles are there. Readers go by the progress alone,
// so it comes first.
func (c *Component) insertSeals(ctx context.Context, l *kafka.Lane, b *batch, token string) error {
	repeat := c.dependencies.Repeat
	if repeat.wants("progress") {
		if err := c.insertTable(ctx, progressInsert(l, b, token, c.dependencies.Kafka.Partitions()), 1); err != nil {
			return err
		}
	}
	if c.dependencies.Progressed != nil {
		c.dependencies.Progressed()
	}
	if repeat.wants("seals") {
		if err := c.insertTable(ctx, sealsInsert(l, b, token), len(b.seals)); err != nil {
			return err
		}
	}
	repeat.sealed(l.Topic, l.Partition, b.seals[len(b.seals)-1].McSeqno)
	return nil
}

// smallBatch is the number of rows up to which an insert costs about the same,
// and waits for the disk most of the time.
const smallBatch = 2000

// insertPages inserts the tables that go in first, or those that go in last.
func (c *Component) insertPages(ctx context.Context, b *batch, token string, last bool) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(c.configuration.Inserts)
	if b.rows <= smallBatch {
		group.SetLimit(2 * c.configuration.Inserts)
	}
	for _, p := range b.feed.pages() {
		if p.size() > 0 && p.last() == last && c.dependencies.Repeat.wants(p.tableName()) {
			group.Go(func() error { return c.insertTable(ctx, p.insert(token), p.size()) })
		}
	}
	return group.Wait()
}

func (c *Component) insertTable(ctx context.Context, insert clickhouse.Insert, rows int) error {
	began := time.Now()
	if err := c.dependencies.ClickHouse.Insert(ctx, insert); err != nil {
		return err
	}
	c.metrics.insertSeconds.WithLabelValues(insert.Table).Observe(time.Since(began).Seconds())
	c.metrics.rows.WithLabelValues(insert.Table).Add(float64(rows))
	return nil
}

func sealsInsert(l *kafka.Lane, b *batch, token string) clickhouse.Insert {
	n := len(b.seals)
	topic, partition := make([]string, n), make([]uint16, n)
	mcSeqno, prev, rows := make([]uint32, n), make([]uint32, n), make([]uint64, n)
	for i, s := range b.seals {
		topic[i], partition[i] = l.Topic, uint16(l.Partition)
		mcSeqno[i], prev[i], rows[i] = s.McSeqno, s.PrevMcSeqno, s.GetSeal().Rows
	}
	return clickhouse.Insert{Table: "seals", Token: token, Columns: []clickhouse.Column{
		{Name: "topic", Values: topic}, {Name: "partition", Values: partition}, {Name: "mc_seqno", Values: mcSeqno},
		{Name: "prev_mc_seqno", Values: prev}, {Name: "rows", Values: rows},
	}}
}

func progressInsert(l *kafka.Lane, b *batch, token string, partitions int) clickhouse.Insert {
	last := b.seals[len(b.seals)-1]
	return clickhouse.Insert{Table: "progress", Token: token, Columns: []clickhouse.Column{
		{Name: "topic", Values: []string{l.Topic}},
		{Name: "partition", Values: []uint16{uint16(l.Partition)}},
		{Name: "partitions", Values: []uint16{uint16(partitions)}},
		{Name: "mc_seqno", Values: []uint32{last.McSeqno}},
		{Name: "gen_utime", Values: []uint32{last.GetSeal().GenUtime}},
	}}
}

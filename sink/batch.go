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
	"tonscribe/schema/table"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// batch is the rows of the records [start, end) of one partition.
type batch struct {
	feed       *table.Feed
	start, end int64
	rows       int
	bytes      int
	checksum   uint32
	since      time.Time        // when the first record came
	sealed     bool             // the last record is a seal
	newest     uint32           // bundle of the last record
	seals      []*record.Record // of the bundles that end in the batch
}

func (b *batch) empty() bool { return b.since.IsZero() }

// add takes a record, and says how many rows of its bundle it brings.
func (b *batch) add(item kafka.Item) (rows int, err error) {
	if item.Record.GetSeal() == nil {
		if rows, err = b.feed.Add(item.Record, item.Raw); err != nil {
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
	b.sealed, b.newest = item.Record.GetSeal() != nil, item.Record.McSeqno
}

// reset empties the batch for the records from start on.
func (b *batch) reset(start int64) {
	for _, rows := range b.feed.Buffers() {
		rows.Reset()
	}
	clear(b.seals)
	*b = batch{feed: b.feed, start: start, end: start, seals: b.seals[:0]}
}

// token names the batch's content in ClickHouse.
func (b *batch) token(l *kafka.PartitionReader) string {
	return fmt.Sprintf("%s/%s/%d/%d-%d/%08x", l.Epoch(), l.Topic, l.Partition, b.start, b.end, b.checksum)
}

// insert brings the batch into the tables: rows, then seals and progress.
func (c *Component) insert(ctx context.Context, l *kafka.PartitionReader, b *batch) error {
	began, token := time.Now(), b.token(l)
	if err := l.Intend(ctx, b.end); err != nil {
		return err
	}
	if repeat := c.dependencies.Repeat; repeat != nil {
		token = repeat.Token + "/" + token
	}
	if !c.hurried(b) {
		c.round.enter()
		defer c.round.leave()
	}
	if err := c.insertAll(ctx, l, b, token); err != nil {
		return err
	}
	if err := l.Commit(ctx, b.end); err != nil {
		return err
	}
	c.metrics.inserted(l, b, time.Since(began))
	return nil
}

// insertAll brings rows into the tables, and then tells that they are there.
func (c *Component) insertAll(ctx context.Context, l *kafka.PartitionReader, b *batch, token string) error {
	for _, last := range []bool{false, true} {
		if err := c.insertRows(ctx, b, token, last); err != nil {
			return err
		}
	}
	return c.seal(ctx, l, b, token)
}

// smallBatch is the number of rows up to which an insert costs about the same,
// and waits for the disk most of the time.
const smallBatch = 2000

// hurried reports whether a batch is not to wait for what other partitions have to insert.
func (c *Component) hurried(b *batch) bool {
	return c.configuration.Every == 0 || b.rows >= c.configuration.MaxRows
}

// insertRows inserts the tables that go in first, or those that go in last. Where what is
// new is read from the log, one table follows the other, whatever partition it is of, so
// that the processors are not all taken from those who are waited for.
func (c *Component) insertRows(ctx context.Context, b *batch, token string, last bool) error {
	var tables []table.Buffer
	for _, rows := range b.feed.Buffers() {
		if t := rows.Table(); rows.Rows() > 0 && t.Last == last && c.dependencies.Repeat.wants(t.Name) {
			tables = append(tables, rows)
		}
	}
	if !c.hurried(b) {
		for _, rows := range tables {
			if err := c.insertInTurn(ctx, rows, token); err != nil {
				return err
			}
		}
		return nil
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(c.configuration.Inserts)
	if b.rows <= smallBatch {
		group.SetLimit(2 * c.configuration.Inserts)
	}
	for _, rows := range tables {
		group.Go(func() error { return c.insertTable(ctx, rows, token) })
	}
	return group.Wait()
}

func (c *Component) insertInTurn(ctx context.Context, rows table.Buffer, token string) error {
	c.turn.Lock()
	defer c.turn.Unlock()
	return c.insertTable(ctx, rows, token)
}

func (c *Component) insertTable(ctx context.Context, rows table.Buffer, token string) error {
	began := time.Now()
	name := rows.Table().Name
	insert := insertOf(rows, token)
	c.dependencies.Repeat.revise(&insert, rows)
	if err := c.dependencies.ClickHouse.Insert(ctx, insert); err != nil {
		return err
	}
	c.metrics.insertSeconds.WithLabelValues(name).Observe(time.Since(began).Seconds())
	c.metrics.rows.WithLabelValues(name).Add(float64(rows.Rows()))
	return nil
}

// insertOf is rows as one block for their table.
func insertOf(rows table.Buffer, token string) clickhouse.Insert {
	insert := clickhouse.Insert{Table: rows.Table().Name, Token: token}
	for _, v := range rows.Values() {
		insert.Columns = append(insert.Columns, clickhouse.Column{Name: v.Column, Values: v.Slice})
	}
	return insert
}

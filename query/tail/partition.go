package tail

import (
	"context"
	"errors"
	"fmt"

	"tonscribe/internal/kafka"
	"tonscribe/query/memory"
	"tonscribe/schema/table"
)

// Faults of the stream that reading it again does not cure.
var (
	errDisagrees = errors.New("rows do not agree with the seal")
	errUnfit     = errors.New("a record does not fit the tables")
)

// partition is one partition of a topic.
type partition struct {
	kafka.TopicPartition
	feed   *table.Feed
	making *memory.Bundle // what came of the bundle whose records come
	rows   uint64         // of those that its seal counts
	// sealed are its parts of bundles that are not complete yet, the next one first.
	// They are the tail's, under its mutex.
	sealed []*memory.Bundle
}

// prepare makes the feed whose rows go into the bundle that is being made.
func (p *partition) prepare(options table.Options) (err error) {
	options.Take = func(t *table.Table, words []uint64, source string) { p.making.Add(t, words, source) }
	p.feed, err = table.NewFeed(p.Topic, options)
	return err
}

// take takes the next record, when there is room for it.
func (t *Tail) take(ctx context.Context, p *partition, item kafka.Item) error {
	if err := t.waitForRoom(ctx, p); err != nil {
		return err
	}
	r := item.Record
	if r.Index == 0 {
		p.making, p.rows = memory.NewBundle(r.McSeqno), 0
		p.making.PrevMCSeqno = r.PrevMcSeqno
	}
	seal := r.GetSeal()
	if seal == nil {
		before := p.making.Bytes()
		rows, err := p.feed.Add(r, item.Raw)
		if err != nil {
			return fmt.Errorf("%w: offset %d: %w", errUnfit, item.Offset, err)
		}
		p.rows += uint64(rows)
		p.making.AddBytes(item.Size) // the rows' records lie in it, or are as large
		t.fill(p.making.Bytes() - before)
		return nil
	}
	if p.rows != seal.Rows {
		return fmt.Errorf("%w: bundle %d has %d rows, its seal at offset %d says %d", errDisagrees, r.McSeqno, p.rows, item.Offset, seal.Rows)
	}
	part := p.making
	p.making = nil
	part.GenUtime = seal.GenUtime
	part.Sort()
	return t.deliver(p, part)
}

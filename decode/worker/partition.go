package worker

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"tonscribe/internal/kafka"
	"tonscribe/internal/localstore"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// partitionWork is the work on one partition: a reader hands blocks to the decoders and
// bundles to the writer, which publishes and commits them in order.
type partitionWork struct {
	*Component
	source    *kafka.PartitionReader
	partition int
	label     string
	bundles   chan *bundle // in order, complete
	budget    *byteBudget

	// Of the writer.
	states    *accountStates
	waiting   *bundle   // taken from bundles, not published yet
	published int64     // offset after the last published bundle, 0 when committed
	committed time.Time // when a commit was made last
}

// work is the handler of a partition. It ends with an error at a block that
// does not decode, after everything before that block is published; the client
// then calls it again from the last commit. A cell store that is of no use any
// more ends the component.
func (c *Component) work(ctx context.Context, source *kafka.PartitionReader) error {
	err := c.serve(ctx, source)
	if localstore.Final(err) {
		return kafka.Final(err)
	}
	return err
}

func (c *Component) serve(ctx context.Context, source *kafka.PartitionReader) error {
	l := &partitionWork{
		Component: c, source: source, partition: source.Partition, label: strconv.Itoa(source.Partition),
		bundles: make(chan *bundle, c.configuration.MaxBundles),
		budget:  newByteBudget(c.configuration.MaxBytes),
	}
	var err error
	if l.states, err = newAccountStates(ctx, c, source); err != nil {
		return err
	}
	if c.cells != nil && source.Bundle() > l.states.last {
		if err := source.Rewind(ctx, l.states.last); err != nil {
			return err
		}
		return kafka.ErrMoved
	}
	c.metrics.begin(l.label)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return l.read(ctx) })
	group.Go(func() error { return l.write(ctx) })
	group.Go(func() error { l.states.fetcher.run(ctx); return nil })
	err = group.Wait()
	c.metrics.inFlight.WithLabelValues(l.label).Set(0)
	return err
}

func (l *partitionWork) read(ctx context.Context) error {
	var b *bundle
	for {
		item, err := l.source.Next(ctx)
		if err != nil {
			return err
		}
		if b == nil {
			// Only a new bundle waits for budget: the one that is being read must
			// be completed, or nothing ever gets done.
			if err := l.budget.wait(ctx); err != nil {
				return err
			}
			b = &bundle{mcSeqno: item.Record.McSeqno, prev: item.Record.PrevMcSeqno}
		}
		if raw := item.Record.GetRawBlock(); raw != nil {
			if err := l.enqueue(ctx, b, raw); err != nil {
				return err
			}
			continue
		}
		switch seal := item.Record.GetSeal(); {
		case seal == nil:
			return fmt.Errorf("offset %d of %s: neither a block nor a seal", item.Offset, l.source.Topic)
		case seal.Rows != uint64(len(b.jobs)):
			return fmt.Errorf("bundle %d: its seal counts %d blocks, the log has %d", b.mcSeqno, seal.Rows, len(b.jobs))
		default:
			b.seal, b.next = seal, item.Offset+1
		}
		select {
		case l.bundles <- b:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		b = nil
	}
}

func (l *partitionWork) enqueue(ctx context.Context, b *bundle, raw *record.RawBlock) error {
	j := &job{ctx: ctx, id: raw.Id, boc: raw.Boc, mcSeqno: b.mcSeqno,
		partition: l.partition, partitions: l.kafka.Partitions(), done: make(chan struct{})}
	b.jobs = append(b.jobs, j)
	size := int64(len(raw.Boc))
	b.bytes += size
	l.metrics.inFlight.WithLabelValues(l.label).Set(float64(l.budget.take(size)))
	select {
	case l.jobs <- j:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// write publishes bundles as they come; with a backlog, many at once. It
// commits before it would wait for another, so at the head right after each.
func (l *partitionWork) write(ctx context.Context) error {
	for {
		batch, failure := l.gather(ctx)
		if len(batch) > 0 {
			if err := l.publish(ctx, batch); err != nil {
				return err
			}
			l.published = batch[len(batch)-1].next
		}
		if failure != nil {
			var bad *undecodable
			if errors.As(failure, &bad) {
				l.metrics.failures.WithLabelValues(l.label).Inc()
				l.metrics.stopped.WithLabelValues(l.label).Set(1)
			}
			return errors.Join(failure, l.commit(ctx))
		}
		if time.Since(l.committed) >= l.configuration.CommitEvery {
			if err := l.commit(ctx); err != nil {
				return err
			}
		}
	}
}

// commit makes durable that what is published is done.
func (l *partitionWork) commit(ctx context.Context) error {
	if l.published == 0 || ctx.Err() != nil {
		return nil //nolint:nilerr // the next life repeats it
	}
	err := l.kafka.Sync(kafka.TopicPartition{Topic: schema.Headers.Name, Partition: l.partition},
		kafka.TopicPartition{Topic: schema.Transactions.Name, Partition: l.partition}, kafka.TopicPartition{Topic: schema.Accounts.Name, Partition: l.partition})
	if err != nil {
		return err
	}
	if l.cells != nil {
		if err := l.cells.Sync(); err != nil {
			return err
		}
	}
	err = l.source.Commit(ctx, l.published)
	l.published, l.committed = 0, time.Now()
	return err
}

// gather gives the next bundles with their records: at least one, and those
// after it that need no waiting. With an error, the bundles are those before the
// one that failed.
func (l *partitionWork) gather(ctx context.Context) ([]*bundle, error) {
	var batch []*bundle
	for size := 0; size < l.configuration.PublishBytes; {
		b, err := l.first(ctx, len(batch) == 0)
		if b == nil || err != nil {
			return batch, err
		}
		l.waiting = nil
		if err := b.failed(); err != nil {
			return batch, err
		}
		if err := l.states.keep(ctx, b); err != nil {
			return batch, err
		}
		b.assemble(l.configuration.ChunkBytes)
		batch = append(batch, b)
		size += b.size
	}
	return batch, nil
}

// first gives the next bundle when all of its blocks are through the decoders;
// nil when that would take waiting and wait is false.
func (l *partitionWork) first(ctx context.Context, wait bool) (*bundle, error) {
	if l.waiting == nil {
		select {
		case l.waiting = <-l.bundles:
		default:
			if !wait {
				return nil, nil
			}
			if err := l.commit(ctx); err != nil {
				return nil, err
			}
			select {
			case l.waiting = <-l.bundles:
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
	}
	for _, j := range l.waiting.jobs {
		select {
		case <-j.done:
			continue
		default:
		}
		if !wait {
			return nil, nil
		}
		select {
		case <-j.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return l.waiting, nil
}

func (l *partitionWork) publish(ctx context.Context, batch []*bundle) error {
	var headers, transactions, accounts []*record.Record
	var bytes int64
	blocks, rows, accountRows := 0, 0, 0
	for _, b := range batch {
		headers = append(headers, b.headers...)
		transactions = append(transactions, b.transactions...)
		accounts = append(accounts, b.accountRecords...)
		accountRows += b.accountRows
		bytes += b.bytes
		blocks += int(b.seal.Rows)
		rows += b.rows
	}
	began := time.Now()
	group, publishing := errgroup.WithContext(ctx)
	group.Go(func() error { return l.kafka.Publish(publishing, schema.Headers.Name, l.partition, headers) })
	group.Go(func() error { return l.kafka.Publish(publishing, schema.Transactions.Name, l.partition, transactions) })
	group.Go(func() error { return l.kafka.Publish(publishing, schema.Accounts.Name, l.partition, accounts) })
	if err := group.Wait(); err != nil {
		return err
	}
	if err := l.states.write(); err != nil {
		return err
	}
	l.metrics.publishing.Observe(time.Since(began).Seconds())
	l.metrics.inFlight.WithLabelValues(l.label).Set(float64(l.budget.give(bytes)))
	l.metrics.blocks.WithLabelValues(l.label).Add(float64(blocks))
	l.metrics.transactions.WithLabelValues(l.label).Add(float64(rows))
	l.metrics.accounts.WithLabelValues(l.label).Add(float64(accountRows))
	l.metrics.bundles.WithLabelValues(l.label).Add(float64(len(batch)))
	l.metrics.bundle.WithLabelValues(l.label).Set(float64(batch[len(batch)-1].mcSeqno))
	l.metrics.stopped.WithLabelValues(l.label).Set(0)
	return nil
}

package ingest

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// Publisher is the log to which bundles go, internal/kafka's Client.
type Publisher interface {
	// Partitions of the topic.
	Partitions() int
	// Publish writes records in their order and returns when the log has them.
	// It fails only when the context ends.
	Publish(ctx context.Context, topic string, partition int, records []*record.Record) error
	// LastSeal is the seal of the last complete bundle of a partition, nil when
	// there is none.
	LastSeal(ctx context.Context, topic string, partition int) (*record.Record, error)
	// First is the oldest record of a partition, nil when there is none, and whether
	// there never was an older one.
	First(ctx context.Context, topic string, partition int) (oldest *record.Record, beginning bool, err error)
}

// publishedAtOnce is how many partitions are written at the same time.
const publishedAtOnce = 8

// outlet publishes bundles in masterchain order. A write takes as many finished
// bundles as there are, up to the chunk size. The first bundle after a gap goes
// out alone, so that partitions that were cut off at different bundles differ by
// a gap only when none of them is further than that bundle: a restart can tell
// from their last seals what was skipped. The same holds for the first bundle of
// every run, for the run before may have been cut off right there.
type outlet struct {
	configuration Configuration
	log           Publisher
	backlog       *backlog
	gaps          *gapLog
	status        *status
	metrics       *metrics
	budget        *budget

	prev  uint32 // last bundle published, 0 for none
	batch []*bundle
	bytes int64
}

func (o *outlet) run(ctx context.Context, jobs <-chan *job) error {
	afterGap := true
	for {
		o.metrics.queue.Set(float64(len(jobs)))
		o.metrics.held.Set(float64(o.budget.bytes()))
		j, err := o.take(ctx, jobs)
		if err != nil {
			return err
		}
		if j == nil {
			return o.flush(ctx)
		}
		if j.gap != nil {
			if err := o.flush(ctx); err != nil {
				return err
			}
			if err := o.gaps.add(j.seqno, j.gap); err != nil {
				return err
			}
			o.budget.release(j.seqno)
			o.status.skipped(j.seqno)
			afterGap = true
			continue
		}
		o.batch = append(o.batch, j.bundle)
		o.bytes += j.bundle.bytes
		if afterGap || o.bytes >= int64(o.configuration.ChunkBytes) {
			if err := o.flush(ctx); err != nil {
				return err
			}
		}
		afterGap = false
	}
}

// take gives the next finished job, nil after the last. Before it has to wait
// it publishes what it has.
func (o *outlet) take(ctx context.Context, jobs <-chan *job) (*job, error) {
	j, err := receive(ctx, jobs, o.flush)
	if err != nil || j == nil {
		return nil, cmp.Or(err, ctx.Err())
	}
	_, err = receive(ctx, j.done, o.flush)
	return j, err
}

// receive is the next value of a channel, the zero value when it is closed. Before
// it has to be waited for, idle is called.
func receive[V any](ctx context.Context, from <-chan V, idle func(context.Context) error) (value V, err error) {
	select {
	case value = <-from:
		return value, nil
	default:
	}
	if err := idle(ctx); err != nil {
		return value, err
	}
	select {
	case <-ctx.Done():
		return value, ctx.Err()
	case value = <-from:
		return value, nil
	}
}

// flush publishes the batch in every partition.
func (o *outlet) flush(ctx context.Context) error {
	if len(o.batch) == 0 {
		return nil
	}
	if err := o.backlog.wait(ctx); err != nil {
		return err
	}
	partitions := o.log.Partitions()
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(publishedAtOnce)
	for partition := range partitions {
		group.Go(func() error { return o.send(groupCtx, partition, partitions) })
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("publish bundles %d to %d: %w", o.batch[0].seqno, o.batch[len(o.batch)-1].seqno, err)
	}
	o.account()
	return nil
}

// send publishes the batch in one partition, in chunks.
func (o *outlet) send(ctx context.Context, partition, partitions int) error {
	var chunk []*record.Record
	size := 0
	prev := o.prev
	for _, b := range o.batch {
		for _, r := range recordsOf(b, prev, partition, partitions) {
			chunk = append(chunk, r)
			size += len(r.GetRawBlock().GetBoc())
			if size < o.configuration.ChunkBytes {
				continue
			}
			if err := o.log.Publish(ctx, schema.Blocks.Name, partition, chunk); err != nil {
				return err
			}
			chunk, size = nil, 0
		}
		prev = b.seqno
	}
	if len(chunk) == 0 {
		return nil
	}
	return o.log.Publish(ctx, schema.Blocks.Name, partition, chunk)
}

// account notes that the batch is published.
func (o *outlet) account() {
	for _, b := range o.batch {
		o.metrics.blocks.Add(float64(len(b.blocks)))
		o.metrics.bytes.Add(float64(b.bytes))
		o.status.published(b)
		o.prev = b.seqno
	}
	o.metrics.bundles.Add(float64(len(o.batch)))
	o.metrics.head.Set(float64(o.prev))
	o.budget.release(o.prev)
	o.batch, o.bytes = nil, 0
}

// recordsOf are the records of a bundle in one partition: the blocks with
// accounts there, and the seal.
func recordsOf(b *bundle, prev uint32, partition, partitions int) []*record.Record {
	records := make([]*record.Record, 0, len(b.blocks)+1)
	next := func() *record.Record {
		r := &record.Record{McSeqno: b.seqno, PrevMcSeqno: prev, Index: uint32(len(records))}
		records = append(records, r)
		return r
	}
	for _, x := range b.blocks {
		if first, last := schema.PartitionsOf(x.ID.Shard, partitions); partition < first || partition > last {
			continue
		}
		next().Content = &record.Record_RawBlock{RawBlock: &record.RawBlock{Id: x.ID, Boc: x.boc}}
	}
	rows := uint64(len(records))
	next().Content = &record.Record_Seal{Seal: &record.Seal{
		Rows: rows, Master: b.master.ID, GenUtime: b.master.GenUtime, Shards: b.tips.list,
	}}
	return records
}

// backlog holds publishing back while the next stage is too far behind.
type backlog struct {
	behind  func(ctx context.Context) (int64, error)
	limit   int64
	waits   *waiting
	metrics *metrics
	asked   time.Time
}

// backlogPause is the time between two looks at the next stage.
const backlogPause = 250 * time.Millisecond

func (b *backlog) wait(ctx context.Context) error {
	if b.behind == nil || b.limit <= 0 || time.Since(b.asked) < backlogPause {
		return nil
	}
	said := false
	for {
		n, err := b.behind(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && n <= b.limit {
			b.asked = time.Now()
			return nil
		}
		if !said {
			said = true
			b.waits.log.Info().Err(err).Int64("backlog", n).Int64("limit", b.limit).Msg("waiting for the next stage to catch up")
		}
		if err := sleep(ctx, backlogPause); err != nil {
			return err
		}
		b.metrics.throttled.Add(backlogPause.Seconds())
	}
}

package kafka

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// watchPause is how long Watch waits after a failure that connecting again does not
// cure.
const watchPause = time.Second

// Watch hands out the records of a partition, from the oldest that it has on, as they
// come, until ctx ends. It is for topics whose records belong to no bundle: what is
// repeated comes twice, and what was deleted before it was read does not come.
func (c *Client) Watch(ctx context.Context, topic string, partition int, take func(Item)) error {
	tp := TopicPartition{topic, partition}
	if err := c.connect(ctx); err != nil {
		return fmt.Errorf("watch %s: %w", tp, err)
	}
	for next := int64(0); ; {
		first, end, err := c.Offsets(ctx, topic, partition)
		if err != nil {
			return fmt.Errorf("watch %s: %w", tp, err)
		}
		if next < first || next > end {
			next = first
		}
		if next, err = c.watchFrom(ctx, tp, next, take); err != nil && ctx.Err() == nil {
			c.report.Log.Warn().Err(err).Stringer("partition", tp).Msg("records cannot be read, trying again")
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(watchPause):
		}
	}
}

// watchFrom is Watch from an offset on, until something fails. It returns the offset
// of the next record.
func (c *Client) watchFrom(ctx context.Context, tp TopicPartition, next int64, take func(Item)) (int64, error) {
	var running sync.WaitGroup
	defer running.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f := &fetcher{client: c, tp: tp, offset: next, queue: make(chan fetched, queueLength)}
	running.Go(func() { f.run(ctx) })
	for got := range f.queue {
		if got.err != nil {
			return next, got.err
		}
		next = got.offset + 1
		item, err := got.item()
		if err != nil {
			return next, err
		}
		take(item)
	}
	return next, context.Cause(ctx)
}

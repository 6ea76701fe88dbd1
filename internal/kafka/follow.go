package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/segmentio/kafka-go"
)

// errTooLate says that a follower began behind the beginning of the bundle that comes
// next.
var errTooLate = errors.New("the next bundle began before")

// Follow hands out the records of a partition as they come, without being of any
// group, until ctx ends or take returns an error: those of the bundles after the
// given one, each once and in order. Where the group has committed tells about where
// those begin: it may be in the midst of the next bundle, and must not be further.
// It returns an error when the log has no longer what comes next, and when the topic has
// another number of partitions than configured.
func (c *Client) Follow(ctx context.Context, group string, tp TopicPartition, after uint32, take func(Item) error) error {
	if err := c.connect(ctx); err != nil {
		return fmt.Errorf("follow %s: %w", tp, err)
	}
	var committed int64
	err := c.persist(ctx, "follow", func(ctx context.Context) (err error) {
		if err = c.lookUpTopic(ctx, tp.Topic, c.configuration.Partitions); err == nil {
			committed, _, err = c.committed(ctx, group, tp)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("follow %s: %w", tp, err)
	}
	for back := int64(0); ; back = max(maxStep, 2*back) {
		offset, first, err := c.behind(ctx, tp, committed-back, after)
		if err != nil {
			return fmt.Errorf("follow %s: %w", tp, err)
		}
		if err = c.followFrom(ctx, tp, offset, offset == first, after, take); !errors.Is(err, errTooLate) {
			return err
		}
	}
}

// behind returns the offset behind the newest record of a bundle or of an earlier one,
// of those before an offset, and the oldest one, which it is where there is none.
func (c *Client) behind(ctx context.Context, tp TopicPartition, before int64, bundle uint32) (offset, first int64, err error) {
	err = c.readFrom(ctx, tp, func(conn *kafka.Conn, oldest, end int64) error {
		offset, first = max(oldest, min(before, end)), oldest
		for step, found := int64(1), false; !found && offset > oldest; step = min(2*step, maxStep) {
			from, to := max(oldest, offset-step), offset
			offset = from
			if err := readRange(conn, from, to, func(item Item) error {
				if item.Record.McSeqno <= bundle {
					offset, found = item.Offset+1, true
				}
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	})
	return offset, first, err
}

// followFrom is Follow from an offset on. Unless that is the oldest one, it returns
// errTooLate when a record whose predecessors are missing comes first; from there,
// an error that says so.
func (c *Client) followFrom(ctx context.Context, tp TopicPartition, offset int64, oldest bool, after uint32, take func(Item) error) error {
	var running sync.WaitGroup
	defer running.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f := &fetcher{client: c, tp: tp, offset: offset, queue: make(chan fetched, queueLength)}
	running.Go(func() { f.run(ctx) })
	at := &position{Bundle: after, Sealed: true}
	if after == 0 {
		at = nil
	}
	begun := after == 0 && oldest
	for got := range f.queue {
		if got.err != nil {
			return got.err
		}
		item, err := got.item()
		if err != nil {
			return fmt.Errorf("%s: %w", tp, err)
		}
		r := item.Record
		switch at.judge(r) {
		case repeated:
			begun = begun || oldest
			continue
		case ahead:
			switch {
			case begun: // it comes again, behind its predecessors
				continue
			case oldest:
				return fmt.Errorf("%s: the log begins in bundle %d, which follows bundle %d, but what follows bundle %d is next: "+
					"it was deleted before it was read; longer retention keeps it", tp, r.McSeqno, r.PrevMcSeqno, after)
			}
			return errTooLate
		}
		begun, at = true, positionOf(r)
		if err := take(item); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

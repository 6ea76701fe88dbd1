package sink

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tonscribe/internal/kafka"
)

// Faults of the stream that reading it again does not cure. Nothing after them
// may be shown, so the partition stands still.
var (
	errDisagrees = errors.New("rows do not agree with the seal")
	errUnfit     = errors.New("a record does not fit the tables")
)

// tally counts the rows of the bundle that is being read.
type tally struct {
	rows uint64
	// whole: counted from the bundle's first record.
	whole bool
}

// take counts the record's rows and, at a seal, compares them.
func (t *tally) take(b *batch, item kafka.Item, rows int) error {
	if item.Record.Index == 0 {
		*t = tally{whole: true}
	}
	t.rows += uint64(rows)
	s := item.Record.GetSeal()
	if s == nil {
		return nil
	}
	if t.whole && t.rows != s.Rows {
		return fmt.Errorf("%w: bundle %d has %d rows, its seal at offset %d says %d", errDisagrees, item.Record.McSeqno, t.rows, item.Offset, s.Rows)
	}
	b.seals = append(b.seals, seal{item.Record, !t.whole})
	return nil
}

const (
	countTries = 20
	countPause = 250 * time.Millisecond
)

// prove counts, in the tables, the rows of a bundle whose first part an earlier
// lane inserted. A replica that lags behind is given time.
func (c *Component) prove(ctx context.Context, l *kafka.Lane, b *batch) error {
	for _, s := range b.seals {
		if !s.unproven {
			continue
		}
		var have uint64
		for try := 0; ; try++ {
			var err error
			have, err = b.feed.count(ctx, c.dependencies.ClickHouse.Conn(), s.McSeqno, l.Partition, c.dependencies.Kafka.Partitions())
			if err != nil {
				return fmt.Errorf("count of bundle %d: %w", s.McSeqno, err)
			}
			if have == s.GetSeal().Rows {
				break
			}
			if try == countTries {
				return fmt.Errorf("%w: bundle %d has %d rows in the tables, its seal says %d", errDisagrees, s.McSeqno, have, s.GetSeal().Rows)
			}
			select {
			case <-time.After(countPause):
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	return nil
}

// halt holds the partition until it is taken away: someone has to look.
func (c *Component) halt(ctx context.Context, l *kafka.Lane, reason error) error {
	alarm := c.metrics.alarm.WithLabelValues(labels(l)...)
	alarm.Set(1)
	c.dependencies.Report.Log.Error().Err(reason).Str("topic", l.Topic).Int("partition", l.Partition).
		Msg("the partition is stopped: its tables stay as they are until the log is repaired and the sink started again")
	<-ctx.Done()
	return context.Cause(ctx)
}

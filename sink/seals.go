package sink

import (
	"context"
	"errors"
	"fmt"

	"tonscribe/internal/kafka"
)

// Faults of the stream that reading it again does not cure. Nothing after them
// may be shown, so the partition stands still.
var (
	errDisagrees = errors.New("rows do not agree with the seal")
	errUnfit     = errors.New("a record does not fit the tables")
)

// tally counts the rows of the bundle that is being read, from its first record
// on: what earlier readers of the partition took of it is kept with their commits.
type tally struct{ rows uint64 }

// take counts the record's rows and, at a seal, compares them.
func (t *tally) take(b *batch, item kafka.Item, rows int) error {
	if item.Record.Index == 0 {
		t.rows = 0
	}
	t.rows += uint64(rows)
	s := item.Record.GetSeal()
	if s == nil {
		return nil
	}
	if t.rows != s.Rows {
		return fmt.Errorf("%w: bundle %d has %d rows, its seal at offset %d says %d", errDisagrees, item.Record.McSeqno, t.rows, item.Offset, s.Rows)
	}
	b.seals = append(b.seals, item.Record)
	return nil
}

// halt holds the partition until it is taken away: someone has to look.
func (c *Component) halt(ctx context.Context, l *kafka.PartitionReader, reason error) error {
	alarm := c.metrics.alarm.WithLabelValues(labels(l)...)
	alarm.Set(1)
	c.dependencies.Report.Log.Error().Err(reason).Str("topic", l.Topic).Int("partition", l.Partition).
		Msg("the partition is stopped: its tables stay as they are until the log is repaired and the sink started again")
	<-ctx.Done()
	return context.Cause(ctx)
}

package sink

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tonscribe/internal/kafka"
	"tonscribe/schema/record"
)

// reader collects the records of one partition into a batch while the batch
// before is being inserted.
type reader struct {
	*Component
	partition *kafka.PartitionReader
	tally     tally
	batch     *batch // being collected
	other     *batch // being inserted, or unused
	inserting bool
	outcome   chan outcome
	placed    bool      // the tables have what comes before the records, or it was said that they do not
	begun     time.Time // when the last insert began
	restUntil time.Time
}

type outcome struct {
	err  error
	took time.Duration
}

// drain brings a partition into the tables until ctx ends.
func (c *Component) drain(ctx context.Context, l *kafka.PartitionReader) error {
	c.metrics.alarm.WithLabelValues(labels(l)...).Set(0)
	c.metrics.gaps.WithLabelValues(labels(l)...) // from the beginning on: alarms are for what a counter rises by
	r := &reader{Component: c, partition: l, tally: tally{l.Counted()}, placed: c.dependencies.Repeat != nil, outcome: make(chan outcome, 1)}
	for _, b := range []**batch{&r.batch, &r.other} {
		f, err := c.configuration.feedOf(l.Topic)
		if err != nil {
			return err
		}
		*b = &batch{feed: f}
	}
	r.batch.reset(l.Start())

	inserting, cancel := context.WithCancel(ctx)
	err := r.run(inserting)
	cancel()
	if r.inserting {
		err = errors.Join(err, (<-r.outcome).err)
	}
	if ctx.Err() == nil && (errors.Is(err, errDisagrees) || errors.Is(err, errUnfit)) {
		return c.halt(ctx, l, err)
	}
	return err
}

func (r *reader) run(ctx context.Context) error {
	if end, ok := r.partition.Intended(); ok {
		if err := r.repeat(ctx, end); err != nil {
			return err
		}
	}
	for {
		if err := r.step(ctx); err != nil {
			return err
		}
	}
}

// repeat inserts the range that was being inserted when the partition was last
// left, cut as it was then.
func (r *reader) repeat(ctx context.Context, end int64) error {
	for r.batch.end < end {
		item, err := r.partition.Next(ctx)
		if err != nil {
			return err
		}
		if err := r.take(ctx, item); err != nil {
			return err
		}
	}
	r.metrics.repeated.WithLabelValues(labels(r.partition)...).Inc()
	r.begin(ctx)
	return r.finish(ctx)
}

// step takes one record, or hands the batch over, or waits.
func (r *reader) step(ctx context.Context) error {
	select {
	case o := <-r.outcome:
		return r.ended(o)
	default:
	}
	if r.batch.empty() && !r.inserting {
		item, err := r.partition.Next(ctx)
		if err != nil {
			return err
		}
		return r.take(ctx, item)
	}
	if r.full() {
		if r.inserting {
			return r.finish(ctx)
		}
		r.begin(ctx)
		return nil
	}
	item, came, err := r.partition.Poll(ctx, max(r.configuration.Quiet, r.untilRound()))
	if err != nil {
		return err
	}
	if came {
		err = r.take(ctx, item)
	}
	if err == nil && r.due(!came) {
		r.begin(ctx)
	}
	return err
}

// full reports whether nothing more comes into the batch.
func (r *reader) full() bool {
	c := &r.configuration
	return r.batch.rows >= c.MaxRows || r.batch.bytes >= c.MaxBytes || c.Last > 0 && r.batch.sealed && r.batch.newest == c.Last
}

// due reports whether a batch that is not full should be inserted now.
func (r *reader) due(quiet bool) bool {
	if r.inserting || r.batch.empty() || time.Now().Before(r.restUntil) {
		return false
	}
	return r.untilRound() <= 0 && (quiet && r.batch.sealed || time.Since(r.batch.since) >= r.configuration.MaxWait)
}

// untilRound is the time until the next round of inserts, the same for all partitions, so
// that they can tell together what is there. It is not above 0 when the last insert began
// in an earlier round.
func (r *reader) untilRound() time.Duration {
	every := r.configuration.Every
	if every == 0 || r.begun.IsZero() {
		return 0
	}
	rounds := r.begun.Sub(r.Component.began)/every + 1
	return time.Until(r.Component.began.Add(rounds * every))
}

func (r *reader) take(ctx context.Context, item kafka.Item) error {
	if !r.placed {
		if err := r.place(ctx, item.Record); err != nil {
			return err
		}
		r.placed = true
	}
	if repeat := r.dependencies.Repeat; repeat.passes(item) {
		r.batch.pass(item)
		if r.batch.sealed {
			repeat.sealed(r.partition.Topic, r.partition.Partition, item.Record.McSeqno)
		}
		return nil
	}
	rows, err := r.batch.add(item)
	if err != nil {
		return err
	}
	if err := r.tally.take(r.batch, item, rows); err != nil {
		return err
	}
	r.partition.Count(r.tally.rows)
	return nil
}

// place compares the first record of a reader with the tables. Where they are behind what
// the group has committed, as those of a backup are, the group is moved back to them. Where
// it has committed nothing, or has lost it, what the log has no more between never comes.
func (r *reader) place(ctx context.Context, first *record.Record) error {
	l := r.partition
	if err := r.dependencies.ClickHouse.Wait(ctx); err != nil {
		return err
	}
	var have uint32
	err := r.dependencies.ClickHouse.Conn().QueryRow(ctx, "SELECT max(mc_seqno) FROM progress WHERE topic = $1 AND partition = $2", l.Topic, l.Partition).Scan(&have)
	if err != nil {
		return fmt.Errorf("%s/%d: look for the newest bundle: %w", l.Topic, l.Partition, err)
	}
	switch {
	case first.PrevMcSeqno <= have, have == 0 && first.Index > 0: // the latter of the first bundle of all
	case l.Bundle() > 0:
		if err := l.Rewind(ctx, have); err != nil {
			return err
		}
		return kafka.ErrMoved
	case have > 0:
		r.metrics.gaps.WithLabelValues(labels(l)...).Inc()
		r.dependencies.Report.Log.Error().Str("topic", l.Topic).Int("partition", l.Partition).Uint32("after", have).Uint32("before", first.McSeqno).
			Msg("the log does not have these bundles any more, and the tables never got them: `tonscribe repair` brings them back from the source")
	}
	return nil
}

// begin starts inserting the batch and collects into the other one.
func (r *reader) begin(ctx context.Context) {
	b := r.batch
	r.batch, r.other = r.other, b
	r.batch.reset(b.end)
	r.inserting, r.begun = true, time.Now()
	go func() {
		began := time.Now()
		err := r.insert(ctx, r.partition, b)
		r.outcome <- outcome{err, time.Since(began)}
	}()
}

// finish waits for the insert.
func (r *reader) finish(ctx context.Context) error {
	select {
	case o := <-r.outcome:
		return r.ended(o)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (r *reader) ended(o outcome) error {
	r.inserting = false
	rest := min(time.Duration(float64(o.took)*r.configuration.Rest), r.configuration.MaxRest)
	r.restUntil = time.Now().Add(rest)
	r.other.reset(r.other.end) // what it held is free now, not when it is filled again
	return o.err
}

package sink

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"tonscribe/internal/kafka"
	"tonscribe/schema/table"
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

// sealed is what a batch tells of the bundles that end in it.
type sealed struct {
	seals []table.Seal // the newest one last
	token string       // of the batch
}

// joint is what the batches of several partitions tell in one insert: it costs the same
// however much it holds.
type joint struct {
	all  []sealed
	full chan struct{} // closed when all partitions of the round are in it
	done chan struct{} // closed when it is in the tables, or err says why not
	err  error
}

// round is what the partitions that have time insert at about the same moment.
type round struct {
	mutex     sync.Mutex
	inserting int    // partitions
	joint     *joint // what they tell next; nil while none waits
}

// enter and leave are of a partition that inserts a batch.
func (r *round) enter() { r.change(1) }

func (r *round) leave() { r.change(-1) }

func (r *round) change(by int) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.inserting += by
	r.close()
}

// join adds what a batch tells to what is told next; first makes the insert.
func (r *round) join(one sealed) (j *joint, first bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if first = r.joint == nil; first {
		r.joint = &joint{full: make(chan struct{}), done: make(chan struct{})}
	}
	j = r.joint
	j.all = append(j.all, one)
	r.close()
	return j, first
}

// close ends a joint that nobody is missing in. The caller holds the mutex.
func (r *round) close() {
	if r.joint != nil && len(r.joint.all) >= r.inserting {
		close(r.joint.full)
		r.joint = nil
	}
}

// end lets nobody join any more.
func (r *round) end(j *joint) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.joint == j {
		r.joint = nil
	}
}

const (
	// gathering is the part of a round that the first partition waits for the others.
	gathering = 4
	// sealing is how long the seals of a batch may take after the sink was told to stop.
	sealing = 5 * time.Second
)

// seal tells that the bundles of a batch are there, together with other partitions where
// there is time. It returns when it is told.
func (c *Component) seal(ctx context.Context, l *kafka.PartitionReader, b *batch, token string) error {
	if len(b.seals) == 0 {
		return nil
	}
	one := sealed{token: token}
	for _, s := range b.seals {
		one.seals = append(one.seals, table.Seal{Record: s, Topic: l.Topic, Partition: l.Partition, Partitions: c.dependencies.Kafka.Partitions()})
	}
	if c.hurried(b) {
		return c.insertSeals(ctx, []sealed{one})
	}
	for {
		j, first := c.round.join(one)
		if first {
			select {
			case <-j.full:
			case <-time.After(c.configuration.Every / gathering):
			case <-ctx.Done(): // insertSeals sees it
			}
			c.round.end(j)
			j.err = c.insertSeals(ctx, j.all)
			close(j.done)
			return j.err
		}
		<-j.done
		if j.err == nil || ctx.Err() != nil {
			return j.err
		}
	}
}

// insertSeals tells that bundles are there. Readers go by the progress alone, so it comes
// first. Once begun it is done as a whole, also when ctx ends: a sink that was stopped in
// order leaves no progress without its seals.
func (c *Component) insertSeals(ctx context.Context, all []sealed) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	whole, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(sealing, cancel) })()
	ctx = whole
	repeat := c.dependencies.Repeat
	seals, progress := table.NewRows(table.Seals), table.NewRows(table.Progress)
	inOrder(all)
	for _, one := range all {
		for _, row := range one.seals {
			seals.Add(row)
		}
		progress.Add(one.seals[len(one.seals)-1])
	}
	token := tokenOf(all)
	if repeat.wants(table.Progress.Name) {
		if err := c.insertTable(ctx, progress, token); err != nil {
			return err
		}
	}
	if c.dependencies.Progressed != nil {
		c.dependencies.Progressed()
	}
	if repeat.wants(table.Seals.Name) {
		if err := c.insertTable(ctx, seals, token); err != nil {
			return err
		}
	}
	for _, one := range all {
		newest := one.seals[len(one.seals)-1]
		repeat.sealed(newest.Topic, newest.Partition, newest.McSeqno)
	}
	return nil
}

// inOrder sorts batches, so that the same ones have the same token.
func inOrder(all []sealed) {
	slices.SortFunc(all, func(a, b sealed) int { return cmp.Compare(a.token, b.token) })
}

// tokenOf names what some batches tell together: that of one alone is its own.
func tokenOf(all []sealed) string {
	if len(all) == 1 {
		return all[0].token
	}
	h := sha256.New()
	for _, one := range all {
		fmt.Fprintln(h, one.token)
	}
	return "joint/" + hex.EncodeToString(h.Sum(nil))
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

package contracts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"tonscribe/internal/kafka"
	"tonscribe/internal/localstore"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// session is the work on all partitions. It begins when the group has handed
// out the last of them, and ends when one is taken away.
type session struct {
	*Component
	ctx     context.Context //nolint:containedctx // of the lanes
	cancel  context.CancelCauseFunc
	lanes   map[kafka.TopicPartition]*kafka.Lane
	running bool
	ended   chan struct{}
	err     error
}

// work is the handler of one partition: it lends it to the session.
func (c *Component) work(ctx context.Context, lane *kafka.Lane) error {
	s := c.join(lane)
	select {
	case <-s.ended:
		return s.err
	case <-ctx.Done():
	}
	if c.leave(s, lane) {
		s.cancel(context.Cause(ctx))
		<-s.ended
	}
	return context.Cause(ctx)
}

// join adds a partition, and begins when it was the last one.
func (c *Component) join(lane *kafka.Lane) *session {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	s := c.current
	if s == nil || s.running {
		// A session that still runs has lost its lanes: it is about to end.
		s = &session{Component: c, lanes: map[kafka.TopicPartition]*kafka.Lane{}, ended: make(chan struct{})}
		s.ctx, s.cancel = context.WithCancelCause(context.Background())
		c.current = s
	}
	s.lanes[kafka.TopicPartition{Topic: lane.Topic, Partition: lane.Partition}] = lane
	if len(s.lanes) == 2*c.kafka.Partitions() {
		s.running = true
		c.running.Go(s.run)
	}
	return s
}

// leave takes a partition away; true when the session had begun.
func (c *Component) leave(s *session, lane *kafka.Lane) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if !s.running {
		delete(s.lanes, kafka.TopicPartition{Topic: lane.Topic, Partition: lane.Partition})
	}
	return s.running
}

func (s *session) run() {
	if s.err = s.serve(); localstore.Final(s.err) {
		s.err = kafka.Final(s.err)
	}
	s.cancel(nil)
	s.mutex.Lock()
	if s.current == s {
		s.current = nil
	}
	s.mutex.Unlock()
	close(s.ended)
}

func (s *session) serve() (err error) {
	store, err := openStore(s.configuration, s.report.Log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.close()) }()
	if err := s.rewind(store.marker); err != nil {
		return err
	}
	w, err := newWork(s.Component, store)
	if err != nil {
		return err
	}
	if w.fetcher != nil {
		if err := s.findHorizon(w); err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(s.ctx)
		var fetching sync.WaitGroup
		fetching.Go(func() { w.fetcher.queue.Run(ctx) })
		defer fetching.Wait()
		defer cancel()
	}
	s.metrics.bundle.Set(float64(store.marker))
	in := newInput(s.lanes, store.marker)
	if err := in.align(s.ctx); err != nil {
		return err
	}
	for {
		ready, err := in.fill(s.ctx, !w.pending())
		if err != nil {
			return err
		}
		if !ready {
			if err := s.flush(w, in); err != nil {
				return err
			}
			continue
		}
		b := in.take()
		began := time.Now()
		if err := w.bundle(s.ctx, b); err != nil {
			return fmt.Errorf("bundle %d: %w", b.mcSeqno, err)
		}
		s.metrics.seconds.Observe(time.Since(began).Seconds())
		if w.size >= s.configuration.PublishBytes || time.Since(w.since) >= s.configuration.CommitEvery {
			if err := s.flush(w, in); err != nil {
				return err
			}
		}
	}
}

// rewind moves partitions back that the group has read further than the store
// knows; the session then ends, and the next one begins there.
func (s *session) rewind(marker uint32) error {
	moved := false
	for _, lane := range s.lanes {
		if lane.Bundle() <= marker {
			continue
		}
		if err := lane.Rewind(s.ctx, marker); err != nil {
			return err
		}
		moved = true
	}
	if moved {
		return kafka.ErrMoved
	}
	return nil
}

// findHorizon looks up how far an earlier session may have published.
func (s *session) findHorizon(w *work) error {
	for p := range s.kafka.Partitions() {
		seal, err := s.kafka.LastSeal(s.ctx, schema.Contracts.Name, p)
		if err != nil {
			return err
		}
		w.horizon = max(w.horizon, seal.GetMcSeqno())
	}
	return nil
}

// flush publishes what was worked out, then makes it durable, then tells the
// log that its input is done.
func (s *session) flush(w *work, in *input) error {
	if w.pending() {
		group, ctx := errgroup.WithContext(s.ctx)
		for p, records := range w.output {
			if len(records) > 0 {
				group.Go(func() error { return s.kafka.Publish(ctx, schema.Contracts.Name, p, records) })
			}
		}
		if err := group.Wait(); err != nil {
			return err
		}
		if err := w.commit(); err != nil {
			return err
		}
		s.metrics.bundle.Set(float64(w.store.marker))
	}
	return in.commit(s.ctx)
}

// input reads the partitions side by side.
type input struct {
	marker  uint32 // bundles up to it are done
	sources []*source
	current *bundle
}

// source is one partition of one topic.
type source struct {
	lane   *kafka.Lane
	sealed bool  // of the current bundle
	next   int64 // offset after that seal
	done   int64 // offset after what was taken, 0 when committed
	rows   uint64
	oldest *kafka.Item // taken by align, not collected yet
}

func newInput(lanes map[kafka.TopicPartition]*kafka.Lane, marker uint32) *input {
	in := &input{marker: marker}
	for _, lane := range lanes {
		in.sources = append(in.sources, &source{lane: lane})
	}
	return in
}

// align finds the bundle with which all partitions can begin. They are at the same
// one, unless some begin with the oldest that the log still has of them.
func (in *input) align(ctx context.Context) error {
	if !slices.ContainsFunc(in.sources, func(s *source) bool { return s.lane.Bundle() == 0 }) {
		return nil
	}
	first := uint32(0)
	for _, s := range in.sources {
		for s.oldest == nil {
			item, err := s.lane.Next(ctx)
			if err != nil {
				return err
			}
			if item.Record.McSeqno > in.marker {
				s.oldest = &item
			}
		}
		first = max(first, s.oldest.Record.McSeqno)
	}
	in.marker = first - 1
	return nil
}

// fill reads until the next bundle is whole; false when that would take waiting
// and wait is false.
func (in *input) fill(ctx context.Context, wait bool) (bool, error) {
	for _, s := range in.sources {
		for !s.sealed {
			item, came, err := s.read(ctx, wait)
			if err != nil || !came {
				return false, err
			}
			if err := in.collect(s, item); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

func (s *source) read(ctx context.Context, wait bool) (kafka.Item, bool, error) {
	if item := s.oldest; item != nil {
		s.oldest = nil
		return *item, true, nil
	}
	if !wait {
		return s.lane.Poll(ctx, 0)
	}
	item, err := s.lane.Next(ctx)
	return item, err == nil, err
}

// collect takes one record of a bundle.
func (in *input) collect(s *source, item kafka.Item) error {
	r := item.Record
	seal := r.GetSeal()
	if r.McSeqno <= in.marker {
		if seal != nil {
			s.done = item.Offset + 1
		}
		return nil
	}
	if in.current == nil {
		in.current = &bundle{mcSeqno: r.McSeqno, prev: r.PrevMcSeqno}
	}
	b := in.current
	if r.McSeqno != b.mcSeqno || r.PrevMcSeqno != b.prev {
		return fmt.Errorf("partition %d of %s has bundle %d after %d where another has %d after %d: "+
			"the topics do not belong together, or one was cut off", s.lane.Partition, s.lane.Topic, r.McSeqno, r.PrevMcSeqno, b.mcSeqno, b.prev)
	}
	if seal == nil {
		s.rows += b.add(r)
		return nil
	}
	if seal.Rows != s.rows {
		return fmt.Errorf("bundle %d: its seal in partition %d of %s tells of %d rows, the log has %d",
			b.mcSeqno, s.lane.Partition, s.lane.Topic, seal.Rows, s.rows)
	}
	b.seal = seal
	s.sealed, s.next, s.rows = true, item.Offset+1, 0
	return nil
}

// take gives the bundle that fill completed.
func (in *input) take() *bundle {
	b := in.current
	in.current, in.marker = nil, b.mcSeqno
	for _, s := range in.sources {
		s.sealed, s.done = false, s.next
	}
	return b
}

// commit tells the log that what was taken is done.
func (in *input) commit(ctx context.Context) error {
	for _, s := range in.sources {
		if s.done == 0 {
			continue
		}
		if err := s.lane.Commit(ctx, s.done); err != nil {
			return err
		}
		s.done = 0
	}
	return nil
}

// bundle is what all partitions have of a bundle.
type bundle struct {
	mcSeqno, prev uint32
	seal          *record.Seal
	accounts      []*record.Account
	late          []*record.Account
	codes         []*record.Code
	libraries     []*record.Library
	config        []byte
	transactions  []*record.Transaction
}

// bring takes what a seal does not count.
func (b *bundle) bring(batch *record.AccountBatch) {
	b.late = append(b.late, batch.Late...)
	b.codes = append(b.codes, batch.Codes...)
	b.libraries = append(b.libraries, batch.Libraries...)
	if len(batch.Config) > 0 {
		b.config = batch.Config
	}
}

// add takes a record's rows and says how many of them a seal counts.
func (b *bundle) add(r *record.Record) uint64 {
	if batch := r.GetAccounts(); batch != nil {
		b.accounts = append(b.accounts, batch.Accounts...)
		b.bring(batch)
		return uint64(len(batch.Accounts))
	}
	batch := r.GetTransactions()
	b.transactions = append(b.transactions, batch.GetTransactions()...)
	return uint64(len(batch.GetTransactions()))
}

// Package stage is the frame of a stage that sees everything of a bundle at once
// and remembers what came before. In come all partitions of some topics, handed to
// the stage's logic bundle by bundle in masterchain order; out go the records that
// the logic makes of each, to one topic. What the logic remembers lies in a store
// beside it, and, where a stand-by may need it, in a topic of the store's changes.
// Of the members of the stage's group one works and the others stand by. The
// package must never commit a bundle whose output the log has not acknowledged,
// never hand over half a bundle, and knows nothing of what is worked out.
package stage

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"tonscribe/internal/kafka"
	"tonscribe/internal/lifetime"
	"tonscribe/internal/localstore"
	"tonscribe/internal/report"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// Configuration of a stage's frame.
type Configuration struct {
	Settings
	// Name is that of the stage, for metrics, errors and topics.
	Name   string
	Inputs []schema.Topic
	Output schema.Topic
	Store  StoreOptions
	// Gap tells what becomes of bundles that the log does not have any more.
	Gap string
}

// Logic is what a stage makes of bundles. One goroutine calls it.
type Logic interface {
	// Bundle works out the next bundle. What it changes in the store is marked
	// and made durable by the frame. The same bundle on the same store must give
	// the same bytes.
	Bundle(ctx context.Context, b *Bundle) (Output, error)
}

// Session is what a logic works with, from when this member has all partitions
// until it loses one.
type Session struct {
	Store      *Store
	Partitions int
	// Published is the last bundle whose output the log may have already.
	Published uint32

	ctx   context.Context //nolint:containedctx // lives as long as the session
	tasks *sync.WaitGroup
}

// Go runs a task beside the logic; its context ends with the session, which waits
// for it.
func (s *Session) Go(task func(context.Context)) {
	s.tasks.Go(func() { task(s.ctx) })
}

// Dependencies of the component. The topics must exist.
type Dependencies struct {
	Report report.Reporter
	Kafka  *kafka.Client
	// Begin makes the logic of a session.
	Begin func(*Session) (Logic, error)
}

// Component is a member of the stage's group.
//
// Stop ends consuming and waits. What was not committed is done again after the
// next start, with the same result. Done is closed when the component has ended,
// by Stop or because the log or the store refused it for good; Err then says why.
type Component struct {
	*lifetime.Run
	Metrics

	configuration Configuration
	report        report.Reporter
	kafka         *kafka.Client
	begin         func(*Session) (Logic, error)

	mutex   sync.Mutex
	current *session
}

// New makes a component that does nothing yet.
func New(configuration Configuration, dependencies Dependencies) *Component {
	return &Component{
		Run:           lifetime.NewRun(),
		Metrics:       newMetrics(configuration.Name, dependencies.Report),
		configuration: configuration,
		report:        dependencies.Report,
		kafka:         dependencies.Kafka,
		begin:         dependencies.Begin,
	}
}

// Start begins consuming and returns at once.
func (c *Component) Start(context.Context) error {
	c.Run.Start(c.consume)
	return nil
}

func (c *Component) consume(ctx context.Context) error {
	err := c.kafka.ConsumeWhole(ctx, c.configuration.Group, c.configuration.Inputs, c.work)
	if err == nil || ctx.Err() != nil {
		return nil //nolint:nilerr // it was to end
	}
	c.report.Log.Error().Err(err).Msg("the stage ends")
	return fmt.Errorf("%s: %w", c.configuration.Name, err)
}

// session is the work on all partitions. It begins when the group has handed
// out the last of them, and ends when one is taken away.
type session struct {
	*Component
	ctx     context.Context //nolint:containedctx // of the readers
	cancel  context.CancelCauseFunc
	readers map[kafka.TopicPartition]*kafka.PartitionReader
	running bool
	ended   chan struct{}
	err     error

	// Of the bundles that are not published.
	output [][]*record.Record // by partition
	size   int
	since  time.Time // of the last commit
}

// work is the handler of one partition: it lends it to the session.
func (c *Component) work(ctx context.Context, reader *kafka.PartitionReader) error {
	s := c.join(reader)
	select {
	case <-s.ended:
		return s.err
	case <-ctx.Done():
	}
	if c.leave(s, reader) {
		s.cancel(context.Cause(ctx))
		<-s.ended
	}
	return context.Cause(ctx)
}

// join adds a partition, and begins when it was the last one.
func (c *Component) join(reader *kafka.PartitionReader) *session {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	s := c.current
	if s == nil || s.running {
		// A session that still runs has lost its readers: it is about to end.
		s = &session{Component: c, readers: map[kafka.TopicPartition]*kafka.PartitionReader{}, ended: make(chan struct{}),
			output: make([][]*record.Record, c.kafka.Partitions()), since: time.Now()}
		s.ctx, s.cancel = context.WithCancelCause(context.Background())
		c.current = s
	}
	s.readers[kafka.TopicPartition{Topic: reader.Topic, Partition: reader.Partition}] = reader
	if len(s.readers) == len(c.configuration.Inputs)*c.kafka.Partitions() {
		s.running = true
		c.Go(s.run)
	}
	return s
}

// leave takes a partition away; true when the session had begun.
func (c *Component) leave(s *session, reader *kafka.PartitionReader) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if !s.running {
		delete(s.readers, kafka.TopicPartition{Topic: reader.Topic, Partition: reader.Partition})
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
	store, err := OpenStore(s.configuration.Store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	ctx, cancel := context.WithCancel(s.ctx)
	var tasks sync.WaitGroup
	defer tasks.Wait()
	defer cancel()
	if s.configuration.Handover {
		if err := newHandover(ctx, &tasks, s.Component, store).takeOver(); err != nil {
			return err
		}
	}
	if err := s.beginAnew(store); err != nil {
		return err
	}
	published, err := s.published(store.marker)
	if err != nil {
		return err
	}
	if err := s.rewind(store.marker); err != nil {
		return err
	}
	logic, err := s.begin(&Session{Store: store, Partitions: s.kafka.Partitions(), Published: published, ctx: ctx, tasks: &tasks})
	if err != nil {
		return err
	}
	s.Bundle.Set(float64(store.marker))
	in := newInput(s.readers, store.marker)
	if err := in.align(s.ctx); err != nil {
		return err
	}
	for {
		ready, err := in.fill(s.ctx, s.size == 0)
		if err != nil {
			return err
		}
		if ready {
			b := in.take()
			if err := s.do(logic, store, b); err != nil {
				return fmt.Errorf("bundle %d: %w", b.McSeqno, err)
			}
		}
		if !ready || s.size >= s.configuration.PublishBytes || time.Since(s.since) >= s.configuration.CommitEvery {
			if err := s.flush(store, in); err != nil {
				return err
			}
		}
	}
}

// do works a bundle out.
func (s *session) do(logic Logic, store *Store, b *Bundle) error {
	if b.PrevMcSeqno != store.marker {
		s.Gaps.Inc()
		s.report.Log.Warn().Uint32("after", store.marker).Uint32("before", b.McSeqno).
			Msg("the log does not have these bundles any more, and the store has not seen them: " + s.configuration.Gap)
	}
	began := time.Now()
	out, err := logic.Bundle(s.ctx, b)
	if err != nil {
		return err
	}
	if err := store.Mark(b.McSeqno); err != nil {
		return err
	}
	for p, records := range out.Records {
		s.output[p] = append(s.output[p], records...)
	}
	s.size += out.Bytes
	s.Bundles.Inc()
	s.Seconds.Observe(time.Since(began).Seconds())
	return nil
}

// rewind moves partitions back that the group has read further than the store
// knows; the session then ends, and the next one begins there.
func (s *session) rewind(marker uint32) (moved error) {
	for _, reader := range s.readers {
		if reader.Bundle() <= marker {
			continue
		}
		if err := reader.Rewind(s.ctx, marker); err != nil {
			return err
		}
		moved = kafka.ErrMoved
	}
	return moved
}

// published looks up how far an earlier session may have published.
func (s *session) published(marker uint32) (uint32, error) {
	for p := range s.kafka.Partitions() {
		seal, err := s.kafka.LastSeal(s.ctx, s.configuration.Output.Name, p)
		if err != nil {
			return 0, err
		}
		marker = max(marker, seal.GetMcSeqno())
	}
	for _, reader := range s.readers {
		marker = reader.Published(marker)
	}
	return marker, nil
}

// flush publishes what was worked out, then makes it durable, then tells the
// log that its input is done.
func (s *session) flush(store *Store, in *input) error {
	if s.size > 0 {
		group, ctx := errgroup.WithContext(s.ctx)
		for p, records := range s.output {
			if len(records) > 0 {
				group.Go(func() error { return s.kafka.Publish(ctx, s.configuration.Output.Name, p, records) })
			}
		}
		if err := group.Wait(); err != nil {
			return err
		}
		if err := s.sync(); err != nil {
			return err
		}
		if err := store.Commit(); err != nil {
			return err
		}
		for p := range s.output {
			clear(s.output[p])
			s.output[p] = s.output[p][:0]
		}
		s.size, s.since = 0, time.Now()
		s.Bundle.Set(float64(store.marker))
	}
	return in.commit(s.ctx)
}

// sync makes the output survive whatever the store survives, which does not give it again.
func (s *session) sync() error {
	var published []kafka.TopicPartition
	for p, records := range s.output {
		if len(records) > 0 {
			published = append(published, kafka.TopicPartition{Topic: s.configuration.Output.Name, Partition: p})
		}
	}
	return s.kafka.Sync(published...)
}

// beginAnew sees to it that a log which was made anew gets what the one before it had: it
// may have gone with bundles that no sink had inserted. Where the new one begins with the
// first bundle of the store, everything is worked out again.
func (s *session) beginAnew(store *Store) error {
	if store.marker == 0 {
		return nil
	}
	for p := range s.kafka.Partitions() {
		if _, end, err := s.kafka.Offsets(s.ctx, s.configuration.Output.Name, p); err != nil || end > 0 {
			return err
		}
	}
	oldest, err := s.oldest()
	if err != nil || oldest > store.marker {
		return err // what lies between is told of as a gap
	}
	whole, err := store.hasNothingBefore(oldest)
	if err != nil {
		return err
	}
	if !whole || s.configuration.Handover {
		s.Gaps.Inc()
		s.report.Log.Error().Str("topic", s.configuration.Output.Name).Uint32("from", oldest).Uint32("to", store.marker).
			Msg("the log was made anew, and the store has seen these bundles: what the tables did not have of them yet is missing")
		return nil
	}
	s.report.Log.Warn().Uint32("store", store.marker).Uint32("oldest", oldest).Msg("the log was made anew: working everything out again")
	return errors.Join(store.clear(), store.check())
}

// oldest waits for the first record of the input and returns its bundle.
func (s *session) oldest() (uint32, error) {
	for {
		r, _, err := s.kafka.First(s.ctx, s.configuration.Inputs[0].Name, 0)
		if err != nil || r != nil {
			return r.GetMcSeqno(), err
		}
		if err := lifetime.Sleep(s.ctx, oldestPoll); err != nil {
			return 0, err
		}
	}
}

// oldestPoll is the time between looks for the first record.
const oldestPoll = 100 * time.Millisecond

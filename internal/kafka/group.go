package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"

	"tonscribe/internal/lifetime"
	"tonscribe/schema"
)

const (
	// sessionTimeout is the shortest that Apache Kafka allows by default: a
	// member that is gone holds its partitions that long.
	sessionTimeout    = 6 * time.Second
	heartbeatInterval = time.Second
	// rebalanceTimeout is how long the group waits for a member to finish what
	// it was doing.
	rebalanceTimeout = 10 * time.Second
	maxRestartPause  = 10 * time.Second
	// leaveTimeout bounds how long a member that ends waits for brokers. Those that do not
	// answer hear of its end by its session.
	leaveTimeout = 3 * time.Second
)

// fenced are the answers to a commit that tell a member that the group has gone
// on without it.
var fenced = []error{kafka.IllegalGeneration, kafka.UnknownMemberId, kafka.RebalanceInProgress}

// member is this process in one generation of a group.
type member struct {
	client     *Client
	group      string
	id         string
	generation int32
	handle     func(ctx context.Context, l *PartitionReader) error
	end        context.CancelCauseFunc // ends Consume
	handlers   *sync.WaitGroup
}

// Final makes of a handler's error one that ends Consume: starting again from the
// last commit would not help.
func Final(err error) error { return handlerError{err} }

type handlerError struct{ error }

func (e handlerError) Unwrap() error { return e.error }

// Consume joins the group and runs handle for every partition that it is
// given, each in its own goroutine with its own PartitionReader. The context of handle
// ends when the partition is taken away. When handle returns, its error is
// logged, and after a pause it runs again from the last commit; after a failed
// commit this member joins the group anew before. All handlers of a generation
// of the group end before those of the next one start. Consume returns when ctx
// ends, when the brokers refuse this client for good, or with an error of handle
// that is Final, unless a commit has failed.
func (c *Client) Consume(ctx context.Context, group string, topics []schema.Topic,
	handle func(ctx context.Context, l *PartitionReader) error) error {
	return c.consume(ctx, group, topics, nil, handle)
}

// ConsumeWhole is Consume for stages that need all partitions at once: one
// member of the group is given all of them, and the others stand by.
func (c *Client) ConsumeWhole(ctx context.Context, group string, topics []schema.Topic,
	handle func(ctx context.Context, l *PartitionReader) error) error {
	return c.consume(ctx, group, topics, []kafka.GroupBalancer{toOne{}}, handle)
}

func (c *Client) consume(ctx context.Context, group string, topics []schema.Topic, balancers []kafka.GroupBalancer,
	handle func(ctx context.Context, l *PartitionReader) error) error {
	if err := c.connect(ctx); err != nil {
		return fmt.Errorf("consume as %s: %w", group, err)
	}
	if err := c.awaitTopics(ctx, topics); err != nil {
		return fmt.Errorf("consume as %s: %w", group, err)
	}
	var names []string
	for _, topic := range topics {
		names = append(names, topic.Name)
	}
	connections := newConnections(c.dialer)
	membership, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
		ID: group, Brokers: c.configuration.Brokers, Dialer: connections.dialer, Topics: names, GroupBalancers: balancers,
		SessionTimeout: sessionTimeout, HeartbeatInterval: heartbeatInterval, RebalanceTimeout: rebalanceTimeout,
		JoinGroupBackoff: 500 * time.Millisecond, StartOffset: kafka.FirstOffset, Timeout: callTimeout,
	})
	if err != nil {
		return fmt.Errorf("consume as %s: %w", group, err)
	}
	ctx, end := context.WithCancelCause(ctx)
	var handlers, running sync.WaitGroup
	defer func() {
		end(nil)
		left := make(chan struct{})
		running.Go(func() { membership.Close(); close(left) })
		handlers.Wait()
		select {
		case <-left:
		case <-time.After(leaveTimeout):
			connections.close()
		}
		running.Wait()
	}()
	for {
		// The previous generation ends, and the group forms the next one.
		var generation *kafka.Generation
		err := c.persist(ctx, "join group "+group, func(ctx context.Context) (err error) {
			generation, err = membership.Next(ctx)
			return err
		})
		if err != nil {
			return fmt.Errorf("consume as %s: %w", group, err)
		}
		c.metrics.generations.WithLabelValues(group).Inc()
		m := &member{client: c, group: group, id: generation.MemberID, generation: generation.ID, handle: handle, end: end, handlers: &handlers}
		m.start(ctx, generation)
	}
}

// start runs a handler for every partition; the generation waits for them.
func (m *member) start(ctx context.Context, generation *kafka.Generation) {
	for topic, assignments := range generation.Assignments {
		for _, assignment := range assignments {
			tp := TopicPartition{topic, assignment.ID}
			m.handlers.Add(1)
			generation.Start(func(generationContext context.Context) {
				defer m.handlers.Done()
				ctx, cancel := context.WithCancelCause(ctx)
				defer cancel(nil)
				defer context.AfterFunc(generationContext, func() { cancel(kafka.ErrGenerationEnded) })()
				m.serve(ctx, tp)
			})
		}
	}
}

// note keeps why nothing of a partition can be read, nil for nothing, for Ready.
func (m *member) note(tp TopicPartition, err error) {
	key := m.group + " " + tp.String()
	if err == nil {
		m.client.stuck.Delete(key)
		return
	}
	m.client.stuck.Store(key, err)
}

// serve runs the handler until ctx ends or a commit fails.
func (m *member) serve(ctx context.Context, tp TopicPartition) {
	defer m.note(tp, nil)
	for attempt := 0; ctx.Err() == nil; attempt++ {
		reader, err := m.open(ctx, tp)
		if err == nil {
			err = m.handle(ctx, reader)
			reader.stop()
			if reader.advanced {
				attempt = 0
			}
		}
		// A handler may hear of the end by another partition before its own context ends.
		if ctx.Err() != nil || errors.Is(err, kafka.ErrGenerationEnded) {
			return
		}
		var final handlerError
		switch {
		case errors.Is(err, ErrMoved):
			attempt = -1
			continue
		case errors.As(err, &final) && !reader.broken:
			m.end(err)
			return
		}
		if err == nil {
			err = errors.New("the handler ended by itself")
		}
		m.client.metrics.restarts.WithLabelValues(tp.labels()).Inc()
		wait := pause(attempt, maxRestartPause)
		m.client.report.Log.Error().Err(err).Str("group", m.group).Stringer("partition", tp).Dur("pause", wait).
			Msg("partition failed; starting again from the last commit")
		if lifetime.Sleep(ctx, wait) != nil || reader != nil && reader.broken {
			return
		}
	}
}

// open starts a reader at the committed offset.
func (m *member) open(ctx context.Context, tp TopicPartition) (*PartitionReader, error) {
	reader := &PartitionReader{Topic: tp.Topic, Partition: tp.Partition, client: m.client, member: m}
	var metadata string
	err := m.client.persist(ctx, "fetch offset", func(ctx context.Context) (err error) {
		reader.start, metadata, err = m.client.committed(ctx, m.group, tp)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: committed offset: %w", tp, err)
	}
	last, err := decodeCommitment(metadata)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", tp, err)
	}
	reader.committed, reader.intent, reader.published = reader.start, last.End, last.Published
	reader.current, reader.base = last.Position, last.Position

	queue := make(chan fetched, queueLength)
	fetching := &fetcher{client: m.client, tp: tp, offset: reader.start, queue: queue, note: func(err error) { m.note(tp, err) }}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { defer close(done); fetching.run(ctx) }()
	reader.queue = queue
	reader.ended = func() error { return cmp.Or(context.Cause(ctx), io.EOF) }
	reader.stop = func() { cancel(); <-done }
	return reader, nil
}

// committed is the group's offset and its metadata, or the beginning of the log
// when the group has none yet.
func (c *Client) committed(ctx context.Context, group string, tp TopicPartition) (int64, string, error) {
	response, err := c.calls.OffsetFetch(ctx, &kafka.OffsetFetchRequest{
		GroupID: group, Topics: map[string][]int{tp.Topic: {tp.Partition}}})
	if err != nil {
		return 0, "", err
	}
	if response.Error != nil && !errors.Is(response.Error, kafka.GroupIdNotFound) {
		return 0, "", response.Error
	}
	for _, partition := range response.Topics[tp.Topic] {
		switch {
		case partition.Partition != tp.Partition:
		case partition.Error != nil:
			return 0, "", partition.Error
		case partition.CommittedOffset >= 0:
			return partition.CommittedOffset, partition.Metadata, nil
		}
	}
	conn, err := c.dialLeader(ctx, tp)
	if err != nil {
		return 0, "", err
	}
	defer conn.Close()
	defer closeWith(ctx, conn)()
	first, err := conn.ReadFirstOffset()
	return first, "", err
}

// commit is refused by the brokers unless this member still is one.
func (m *member) commit(ctx context.Context, tp TopicPartition, offset int64, metadata string) error {
	if m.generation < 0 || m.id == "" {
		return fmt.Errorf("%s: commit of offset %d outside of a generation", tp, offset)
	}
	err := m.client.persist(ctx, "commit", func(ctx context.Context) error {
		err := m.tryCommit(ctx, tp, offset, metadata)
		// A commit that was not answered may still be carried out, later than
		// the next one: only a new generation keeps it away.
		if errors.Is(err, context.DeadlineExceeded) || slices.ContainsFunc(fenced, func(refusal error) bool { return errors.Is(err, refusal) }) {
			return finalError{err}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: commit of offset %d: %w", tp, offset, err)
	}
	return nil
}

func (m *member) tryCommit(ctx context.Context, tp TopicPartition, offset int64, metadata string) error {
	response, err := m.client.calls.OffsetCommit(ctx, &kafka.OffsetCommitRequest{
		GroupID: m.group, GenerationID: int(m.generation), MemberID: m.id,
		Topics: map[string][]kafka.OffsetCommit{
			tp.Topic: {{Partition: tp.Partition, Offset: offset, Metadata: metadata}}},
	})
	if err != nil {
		return err
	}
	for _, partition := range response.Topics[tp.Topic] {
		if partition.Partition == tp.Partition {
			return partition.Error
		}
	}
	return fmt.Errorf("no answer for %s", tp)
}

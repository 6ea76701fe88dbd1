// Package tail follows the topics and holds the bundles that are complete in all of
// them, as rows in memory.
//
// In: the records of all partitions of the topics that have tables. Out: lists
// of consecutive bundles with their rows, every one of which has its seal in
// every partition of every topic. A list does not change. The package must never
// commit for a group, never read ClickHouse, and never show a part of a bundle.
package tail

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"tonscribe/internal/kafka"
	"tonscribe/internal/report"
	"tonscribe/query/memory"
	"tonscribe/schema"
)

// Tail follows the topics of one log. It is safe for use by many goroutines, but for
// Start and Stop, which take turns.
type Tail struct {
	configuration Configuration
	client        *kafka.Client
	report        report.Reporter
	metrics       metrics
	bundles       atomic.Pointer[memory.Bundles] // stored with mutex
	changed       chan struct{}

	stop    context.CancelFunc
	running sync.WaitGroup

	mutex      sync.Mutex
	partitions []*partition
	newest     uint32        // bundle that is complete, or after which following began
	trimmed    uint32        // bundles up to it may be dropped
	held       held          // bytes
	room       chan struct{} // closed when there may be more room
	waiting    int           // partitions that the next bundle waits for, and that wait for room
	err        error         // with which a partition stopped
	asked      time.Time     // when the log was asked what it has not answered yet
	inLog      uint32        // newest bundle that was seen in the log
	atStart    uint32        // that at Start
}

// New makes a tail that does nothing yet.
func New(configuration Configuration, client *kafka.Client, r report.Reporter) *Tail {
	t := &Tail{
		configuration: configuration, client: client, report: r, metrics: newMetrics(r.Meter("query_tail")),
		changed: make(chan struct{}, 1), room: make(chan struct{}),
	}
	t.bundles.Store(&memory.Bundles{})
	return t
}

// Start begins to follow all partitions, from the bundle after the one given on; 0 is
// from the oldest bundle that all partitions have. Nothing that was held before is
// held any more.
func (t *Tail) Start(after uint32) {
	ctx, cancel := context.WithCancel(context.Background())
	t.stop = cancel
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.partitions, t.held, t.newest, t.trimmed, t.err = nil, held{}, after, after, nil
	t.atStart, t.inLog = max(t.inLog, after), max(t.inLog, after)
	t.publish(nil)
	for _, topic := range schema.TableTopics {
		for p := range t.client.Partitions() {
			t.partitions = append(t.partitions, &partition{TopicPartition: kafka.TopicPartition{Topic: topic.Name, Partition: p}})
		}
	}
	for _, p := range t.partitions {
		t.running.Go(func() { t.follow(ctx, p, after) })
	}
	t.running.Go(func() { t.watch(ctx, t.partitions) })
}

// Stop ends following and waits. What is held stays until Start.
func (t *Tail) Stop() {
	if t.stop != nil {
		t.stop()
	}
	t.running.Wait()
}

// Bundles are those that are held now, each being the PrevMCSeqno of the next one. The
// list does not change.
func (t *Tail) Bundles() memory.Bundles { return *t.bundles.Load() }

// Changed has a value when a bundle was added since one was last taken from it.
func (t *Tail) Changed() <-chan struct{} { return t.changed }

// follow brings one partition's records into bundles until ctx ends, or they cannot be.
func (t *Tail) follow(ctx context.Context, p *partition, after uint32) {
	err := p.prepare(t.configuration.Options)
	if err == nil {
		err = t.client.Follow(ctx, t.configuration.Group, p.TopicPartition, after, func(item kafka.Item) error { return t.take(ctx, p, item) })
	}
	if ctx.Err() == nil {
		t.fail(fmt.Errorf("%s is not followed any more: %w", p, err))
	}
}

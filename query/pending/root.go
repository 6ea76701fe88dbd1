// Package pending shows what messages that were sent will do before a block has them.
//
// In: messages that lite servers took, and what other replicas made of theirs, by the
// topic pending. Out: a Store of traces, for the endpoints. A message is worked out
// (decode/pending) after its sender has the answer, by a few workers and processes of
// their own. The package must never make anybody wait, never hold more than its
// limits, and never outlive Stop: what cannot be foreseen is simply not shown.
package pending

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/xssnick/tonutils-go/tvm/cell"

	cascade "tonscribe/decode/pending"
	"tonscribe/internal/kafka"
	"tonscribe/internal/report"
	"tonscribe/query/node"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
	"tonscribe/ton/tvm"
)

// Node tells states. *node.Node is one.
type Node interface {
	Moment(ctx context.Context) (*node.Moment, error)
	AccountAt(ctx context.Context, m *node.Moment, a address.Address) (*node.Account, error)
	CodeLibraries(ctx context.Context, hashes [][32]byte) ([]*cell.Cell, error)
}

// Log shares traces between replicas. *kafka.Client is one.
type Log interface {
	EnsureTopics(ctx context.Context, topics []schema.Topic) error
	Publish(ctx context.Context, topic string, partition int, records []*record.Record) error
	Watch(ctx context.Context, topic string, partition int, take func(kafka.Item)) error
}

// Dependencies of the component.
type Dependencies struct {
	Report report.Reporter
	// Log is shared with other replicas; nil leaves the store to this process.
	Log Log
	// Emulator executes transactions. Without one this process does, which only suits
	// tests.
	Emulator node.Emulator
}

// Component works messages out and holds the traces.
type Component struct {
	*Store
	configuration Configuration
	report        report.Reporter
	metrics       *metrics
	log           Log
	emulator      node.Emulator
	clients       *clients
	waiting       *queue
	outgoing      chan *record.Record

	cancel  context.CancelFunc
	running sync.WaitGroup
}

// message is one that waits for being worked out.
type message struct {
	node.Accepted
	client string
	at     time.Time
}

const (
	// outgoingRecords is how many traces wait for the log.
	outgoingRecords = 256
	// publishLimit is how long one of them may take.
	publishLimit = 10 * time.Second
	// topicPause is the time between attempts to have the topic.
	topicPause = 30 * time.Second
)

// New makes the component.
func New(c Configuration, d Dependencies) (*Component, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	r := d.Report.For("pending")
	m := newMetrics(r)
	p := &Component{
		Store: newStore(c, m), configuration: c, report: r, metrics: m, log: d.Log, emulator: d.Emulator,
		clients: newClients(c), waiting: newQueue(c.Queue), outgoing: make(chan *record.Record, outgoingRecords),
	}
	if p.emulator == nil {
		p.emulator = here{}
	}
	return p, nil
}

// here executes in this process.
type here struct{}

func (here) Deliver(_ context.Context, in tvm.Delivery) (tvm.Outcome, error) { return tvm.Deliver(in) }

// Start begins to work, with the node access that messages are sent through; nil is
// for a replica that shows what others know.
func (p *Component) Start(n Node) {
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	if n != nil {
		for range p.configuration.Workers {
			p.running.Go(func() { p.work(ctx, n) })
		}
	}
	if p.log != nil {
		p.running.Go(func() { p.follow(ctx) })
		p.running.Go(func() { p.publish(ctx) })
	}
}

// Stop ends everything, also what is being executed.
func (p *Component) Stop() {
	if p.cancel != nil {
		p.cancel()
	}
	p.running.Wait()
}

// Accepted takes a message that a lite server took, from a client by the name that its
// requests have. It returns at once.
func (p *Component) Accepted(client string, sent node.Accepted) {
	now := time.Now()
	if !p.wants(sent.Normal, sent.Hash, now) {
		return // it was sent a moment ago, too
	}
	if !p.clients.enter(client, now) {
		p.metrics.messages.WithLabelValues(resultFlood).Inc()
		return
	}
	if without := p.waiting.push(message{sent, client, now}); without != nil {
		p.clients.leave(without.client, 0, now)
		p.metrics.messages.WithLabelValues(resultFull).Inc()
	}
}

func (p *Component) work(ctx context.Context, n Node) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.waiting.ready:
			m := p.waiting.pop()
			bytes := p.foresee(ctx, n, m)
			p.clients.leave(m.client, bytes, time.Now())
		}
	}
}

// foresee works a message out, shows what it does and tells others. It returns the
// bytes of what is shown.
func (p *Component) foresee(ctx context.Context, n Node, m message) int {
	if !p.wants(m.Normal, m.Hash, m.at) {
		return 0
	}
	made, err := p.run(ctx, n, m)
	switch {
	case ctx.Err() != nil:
		return 0
	case errors.Is(err, cascade.ErrNotAccepted):
		p.metrics.messages.WithLabelValues(resultRefused).Inc()
	case err != nil:
		p.metrics.messages.WithLabelValues(resultFailed).Inc()
	case made.Cut != nil:
		p.metrics.messages.WithLabelValues(resultCut).Inc()
	default:
		p.metrics.messages.WithLabelValues(resultShown).Inc()
	}
	if err != nil {
		p.report.Log.Debug().Err(err).Hex("message", m.Hash[:]).Msg("nobody knows what a message will do")
		return 0
	}
	if made.Cut != nil {
		p.report.Log.Debug().Err(made.Cut).Hex("message", m.Hash[:]).Int("transactions", len(made.Transactions)).Msg("a message does more than was foreseen")
	}
	p.metrics.transactions.Add(float64(len(made.Transactions)))
	r := &record.PendingTrace{Time: uint32(m.at.Unix()), Transactions: made.Transactions}
	t := newTrace(r)
	if t == nil {
		return 0
	}
	p.put(t, time.Now())
	p.metrics.took.Observe(time.Since(m.at).Seconds())
	if p.log != nil {
		select {
		case p.outgoing <- &record.Record{Content: &record.Record_Pending{Pending: r}}:
		default:
			p.metrics.shared.WithLabelValues(sharedDropped).Inc()
		}
	}
	return t.size()
}

func (p *Component) run(ctx context.Context, n Node, m message) (made *cascade.Cascade, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.configuration.Limits.Time)
	defer cancel()
	_, err = node.Guard(func() ([]byte, error) {
		sent, err := cell.FromBOC(m.BoC)
		if err != nil {
			return nil, err
		}
		moment, err := n.Moment(ctx)
		if err != nil {
			return nil, err
		}
		made, err = cascade.Run(ctx, &world{n, p.emulator, moment}, momentOf(moment), sent, p.configuration.Limits)
		return nil, err
	})
	return made, err
}

// follow takes what other replicas know.
func (p *Component) follow(ctx context.Context) {
	for ctx.Err() == nil {
		err := p.log.EnsureTopics(ctx, []schema.Topic{schema.Pending})
		if err == nil {
			err = p.log.Watch(ctx, schema.Pending.Name, 0, func(item kafka.Item) {
				r := item.Record.GetPending()
				p.metrics.shared.WithLabelValues(sharedTaken).Inc()
				if t := newTrace(r); t != nil && p.wants(t.ID, t.Raw, t.Sent) {
					p.put(t, time.Now())
				}
			})
		}
		if ctx.Err() != nil {
			return
		}
		p.report.Log.Warn().Err(err).Msg("pending traces of other replicas are not known")
		select {
		case <-ctx.Done():
		case <-time.After(topicPause):
		}
	}
}

// publish tells other replicas.
func (p *Component) publish(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-p.outgoing:
			limited, cancel := context.WithTimeout(ctx, publishLimit)
			err := p.log.Publish(limited, schema.Pending.Name, 0, []*record.Record{r})
			cancel()
			if err != nil && ctx.Err() == nil {
				p.metrics.shared.WithLabelValues(sharedFailed).Inc()
				p.report.Log.Debug().Err(err).Msg("a pending trace is not shared")
				continue
			}
			p.metrics.shared.WithLabelValues(sharedSent).Inc()
		}
	}
}

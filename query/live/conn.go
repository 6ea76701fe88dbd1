package live

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// conn is a stream to one client.
type conn struct {
	c      *Component
	client string
	limits limits

	current   atomic.Pointer[subscription] // nil while there is none, or while it is brought up to the present
	after     Position                     // what comes up to here it has; the hub's
	unsettled map[Hash]struct{}            // traces of which it got what no block has; the hub's
	found     uint64                       // the hub's search that found it last

	mu        sync.Mutex
	answers   [][]byte // to operations, before all events
	queue     []item
	bytes     int
	since     time.Time // when something was taken of what waits, or the first of it came
	slow      bool      // it takes no more events
	fault     error     // why it ends
	delivered Position  // of the newest event that was taken to be sent
	reserved  int       // addresses

	wake  chan struct{} // has a value when there is something to send
	space chan struct{} // has a value when something was taken

	wanted     *subscription // by the client, also while it is brought up to the present
	stopReplay context.CancelFunc
	replaying  sync.WaitGroup
}

// item is an event that waits.
type item struct {
	raw      []byte
	position Position
}

func newConn(c *Component, client string, l limits) *conn {
	return &conn{c: c, client: client, limits: l, wake: make(chan struct{}, 1), space: make(chan struct{}, 1), stopReplay: func() {}}
}

func (c *conn) subscription() *subscription { return c.current.Load() }

// takes reports whether an event that was found for a subscription still is to be sent:
// while it is current, and when another one began with what comes then.
func (c *conn) takes(s *subscription) bool {
	now := c.current.Load()
	return now == s || now != nil && now.from == nil && !now.recent && !now.resumes
}

func signal(to chan struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

// push gives the stream an event, or ends it when too many wait.
func (c *conn) push(i item) {
	if !c.offer(i) {
		c.mu.Lock()
		c.overflow()
		c.mu.Unlock()
		signal(c.wake)
	}
}

// offer gives the stream an event unless too many wait.
func (c *conn) offer(i item) bool {
	limit := &c.c.configuration
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.slow {
		return true // it is told already
	}
	if len(c.queue) == 0 {
		c.since = time.Now()
	} else if len(c.queue) >= limit.Queue || c.bytes+len(i.raw) > limit.QueueBytes || c.crowds(c.c.queued.Load()+int64(len(i.raw))) {
		return false
	}
	c.queue = append(c.queue, i)
	c.bytes += len(i.raw)
	c.c.queued.Add(int64(len(i.raw)))
	signal(c.wake)
	return true
}

// lateAfter is how long events wait for a client that reads.
const lateAfter = time.Second

// crowds reports whether there is no room for the stream beside all others: when three
// quarters are taken, there is only for those whose clients read.
func (c *conn) crowds(all int64) bool {
	limit := int64(c.c.configuration.AllQueuedBytes)
	return all > limit || all > limit/4*3 && time.Since(c.since) > lateAfter
}

// overflow lets go of what waits: all of it comes after the position that is told.
func (c *conn) overflow() {
	if !c.slow {
		c.slow = true
		c.c.metrics.slow.Inc()
	}
	c.drop()
}

func (c *conn) drop() {
	c.c.queued.Add(-int64(c.bytes))
	c.queue, c.bytes = nil, 0
}

// pushWait gives the stream an event when there is room for it.
func (c *conn) pushWait(ctx context.Context, i item) error {
	for !c.offer(i) {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-c.space:
		}
	}
	return ctx.Err()
}

// awaitRoom waits until there is much room for events.
func (c *conn) awaitRoom(ctx context.Context) error {
	for {
		c.mu.Lock()
		room := len(c.queue) <= c.c.configuration.Queue/2 && c.bytes <= c.c.configuration.QueueBytes/2
		c.mu.Unlock()
		if room {
			return ctx.Err()
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-c.space:
		}
	}
}

// answer gives the stream an answer to an operation; it is false when too many wait.
func (c *conn) answer(raw []byte) bool {
	const most = 64
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.answers) >= most {
		return false
	}
	c.answers = append(c.answers, raw)
	signal(c.wake)
	return true
}

// failWith ends the stream with an error that is told.
func (c *conn) failWith(err error) {
	c.mu.Lock()
	c.fault = err
	c.mu.Unlock()
	signal(c.wake)
}

// batch is what is sent at once.
type batch struct {
	answers [][]byte
	events  []item
	slow    bool
	fault   error
	at      Position // that of the newest event that was taken before
}

// reason tells why the stream ends.
func (b *batch) reason() string {
	if b.slow {
		return slowConsumer
	}
	return b.fault.Error()
}

// maxBatch is how many events are taken at once.
const maxBatch = 16

// take takes what waits.
func (c *conn) take() batch {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := batch{answers: c.answers, slow: c.slow, at: c.delivered}
	c.answers = nil
	n := min(len(c.queue), maxBatch)
	b.events = c.queue[:n:n]
	c.queue = c.queue[n:]
	for _, i := range b.events {
		c.bytes -= len(i.raw)
		c.c.queued.Add(-int64(len(i.raw)))
		c.delivered = i.position
	}
	if len(c.queue) > 0 {
		signal(c.wake)
	} else if c.queue = nil; c.fault != nil {
		b.fault = c.fault
	}
	if n > 0 {
		c.since = time.Now()
		signal(c.space)
	}
	return b
}

// position is behind the newest event that was sent, or that of the subscription.
func (c *conn) position() Position {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.delivered
}

// subscribe puts a subscription in place of the stream's. The answer, which is made of
// the position that it begins behind, comes before its events. It is for one goroutine.
func (c *conn) subscribe(ctx context.Context, s *subscription, answer func(Position) []byte) error {
	start, err := c.c.start(s)
	if err != nil {
		return err
	}
	if err := c.reserve(s.size()); err != nil {
		return err
	}
	c.stopReplay()
	c.replaying.Wait()
	c.wanted = s
	h := c.c.hub
	h.turn.Lock() // so that no event of the new one comes before the answer
	defer h.turn.Unlock()
	if start == nil && !s.resumes {
		at := h.begin(c, s)
		c.acknowledge(answer, at, false)
		return nil
	}
	h.end(c)
	if s.resumes {
		c.resume(answer)
	} else {
		c.acknowledge(answer, *start, true)
	}
	from := c.position()
	replay, cancel := context.WithCancel(ctx)
	c.stopReplay = cancel
	c.replaying.Go(func() {
		if err := h.replay(replay, c, s, from); err != nil && replay.Err() == nil {
			c.failWith(err)
		}
	})
	return nil
}

// acknowledge answers a subscription that begins behind a position. What waits of another
// one goes when it would come again.
func (c *conn) acknowledge(answer func(Position) []byte, at Position, anew bool) {
	c.mu.Lock()
	if anew {
		c.drop()
		c.delivered = at
	} else if at.Compare(c.delivered) > 0 && len(c.queue) == 0 {
		c.delivered = at
	}
	c.mu.Unlock()
	c.answer(answer(at))
}

// resume answers a subscription that goes on behind what was sent.
func (c *conn) resume(answer func(Position) []byte) {
	c.mu.Lock()
	c.drop()
	at := c.delivered
	c.mu.Unlock()
	c.answer(answer(at))
}

// reserve counts the addresses of a subscription in place of those of the last one.
func (c *conn) reserve(n int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.c.clients.reserve(n - c.reserved); err != nil {
		return err
	}
	c.reserved = n
	return nil
}

// close ends everything that the stream has.
func (c *conn) close() {
	c.stopReplay()
	c.replaying.Wait()
	c.c.hub.end(c)
	_ = c.reserve(0)
	c.mu.Lock()
	c.slow = true
	c.drop()
	c.mu.Unlock()
}

// pace lets operations through at a rate.
type pace struct {
	every time.Duration
	burst time.Duration
	due   time.Time
}

func newPace(rate float64) *pace {
	every := time.Duration(float64(time.Second) / rate)
	return &pace{every: every, burst: time.Duration(operationBurst) * every}
}

// operationBurst is how many operations may come at once.
const operationBurst = 20

// wait waits until the next operation may be worked on; it reports whether it had to.
func (p *pace) wait(ctx context.Context, now time.Time) bool {
	if p.due.Before(now) {
		p.due = now
	}
	ahead := p.due.Sub(now)
	p.due = p.due.Add(p.every)
	if ahead <= p.burst {
		return false
	}
	timer := time.NewTimer(ahead - p.burst)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	return true
}

package live

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"tonscribe/internal/lifetime"
	"tonscribe/internal/ratelimit"
	"tonscribe/query/live/events"
)

// conn is a stream to one client.
type conn struct {
	c       *Component
	recheck func() error // tells whether its key still is good; nil without one
	limits  events.Limits

	current   atomic.Pointer[events.Subscription] // nil while there is none, or while it is brought up to the present
	after     events.Position                     // what comes up to here it has; the hub's
	unsettled map[events.Hash]bool                // traces of which it got what no block has, and whether all of that; the hub's
	ended     map[events.Hash]bool                // those of which it got all, that became final while it is behind; the hub's
	found     uint64                              // the hub's search that found it last

	mu        sync.Mutex
	answers   [][]byte // to operations, before all events
	answering int      // bytes of them
	queue     []item
	bytes     int
	refused   bool            // whether there was no room for what was offered last
	since     time.Time       // when something was taken of what waits, or the first of it came
	fault     error           // why it ends; it takes no more events
	delivered events.Position // of the newest event that was taken to be sent
	reserved  int             // addresses
	catching  *catching       // what brings it up to the present, or did last

	wake  chan struct{} // has a value when there is something to send
	space chan struct{} // has a value when something was taken

	ctx    context.Context      // ends with it
	wanted *events.Subscription // by the client, also while it is brought up to the present
}

// catching is work that brings a stream up to the present.
type catching struct {
	stop context.CancelFunc
	done chan struct{}
}

// item is an event that waits.
type item struct {
	raw      []byte
	position events.Position
}

func newConn(ctx context.Context, c *Component, recheck func() error, l events.Limits) *conn {
	none := &catching{func() {}, make(chan struct{})}
	close(none.done)
	return &conn{c: c, recheck: recheck, limits: l, ctx: ctx, wake: make(chan struct{}, 1), space: make(chan struct{}, 1), catching: none}
}

func (c *conn) subscription() *events.Subscription { return c.current.Load() }

// takes reports whether an event that was found for a subscription still is to be sent:
// while it is current, and when another one began with what comes then.
func (c *conn) takes(s *events.Subscription) bool {
	now := c.current.Load()
	return now == s || now != nil && now.From == nil && !now.Recent && !now.Resumes
}

func signal(to chan struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

// offer gives the stream events, all or none, unless too many wait.
func (c *conn) offer(together ...item) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.add(together...)
}

func (c *conn) add(together ...item) bool {
	limit, bytes := &c.c.configuration, 0
	for _, i := range together {
		bytes += len(i.raw)
	}
	if c.refused = len(c.queue) > 0 && (len(c.queue)+len(together) > limit.Queue || c.bytes+bytes > limit.QueueBytes || c.crowds(c.c.queued.Load()+int64(bytes))); c.refused {
		return false
	}
	for _, i := range together {
		c.enqueue(i)
	}
	return true
}

// note gives the stream a short event that comes once, with the position that it has by
// then: one that fell behind, or came from a faster replica, has its own.
func (c *conn) note(at events.Position, write func(events.Position) []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) >= 2*c.c.configuration.Queue {
		c.endWith(errSlow)
		return
	}
	if newest := c.newest(); c.subscription() == nil || at.Compare(newest) < 0 {
		at = newest
	}
	c.enqueue(item{write(at), at})
}

func (c *conn) enqueue(i item) {
	if c.fault != nil {
		return // its end is told already
	}
	if len(c.queue) == 0 {
		c.since = time.Now()
	}
	c.queue = append(c.queue, i)
	c.bytes += len(i.raw)
	c.c.queued.Add(int64(len(i.raw)))
	signal(c.wake)
}

// lateAfter is how long events wait for a client that reads.
const lateAfter = time.Second

// crowds reports whether there is no room for the stream beside all others: when three
// quarters are taken, there is only for those whose clients read.
func (c *conn) crowds(all int64) bool {
	limit := int64(c.c.configuration.AllQueuedBytes)
	return all > limit || all > limit/4*3 && time.Since(c.since) > lateAfter
}

// stands reports whether the client has taken nothing for so long that it is not waited
// for any longer.
func (c *conn) stands() bool {
	limit := &c.c.configuration
	patience := limit.WriteTimeout / 2
	if c.c.queued.Load() > int64(limit.AllQueuedBytes)/4*3 {
		patience = min(patience, lateAfter)
	}
	return time.Since(c.since) > patience
}

// errSlow is why a stream ends whose client does not keep up.
var errSlow = errors.New("slow consumer")

// end ends the stream with an error that is told. One of a client that is slow lets go of
// what waits: all of it comes after the position that is told.
func (c *conn) end(err error) {
	c.mu.Lock()
	c.endWith(err)
	c.mu.Unlock()
}

func (c *conn) endWith(err error) {
	if c.fault != nil {
		return
	}
	if c.fault = err; errors.Is(err, errSlow) {
		c.c.metrics.slow.Inc()
		c.drop()
	}
	signal(c.wake)
}

func (c *conn) drop() {
	c.c.queued.Add(-int64(c.bytes))
	c.queue, c.bytes = nil, 0
}

// offerInTime gives the stream an event when there is room for it, or ends it when its
// client has taken nothing for long.
func (c *conn) offerInTime(ctx context.Context, i item) error {
	for {
		c.mu.Lock()
		if ctx.Err() != nil { // under the lock: behind its end nothing comes
			c.mu.Unlock()
			return context.Cause(ctx)
		}
		given := c.add(i)
		stands := c.stands()
		c.mu.Unlock()
		switch {
		case given:
			return nil
		case stands:
			return errSlow
		}
		select {
		case <-ctx.Done():
		case <-c.space:
		case <-time.After(lateAfter / 2):
		}
	}
}

// pass says that the stream was given what it wants up to a position, which is its own
// once nothing waits.
func (c *conn) pass(ctx context.Context, at events.Position) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() == nil && len(c.queue) == 0 && c.fault == nil {
		c.delivered = maxPosition(c.delivered, at)
	}
}

// newest is the position behind the newest event that it was given. It is for those who
// hold the lock.
func (c *conn) newest() events.Position {
	if n := len(c.queue); n > 0 {
		return c.queue[n-1].position
	}
	return c.delivered
}

// catchUp brings the stream up to the present beside whoever calls. What did so before
// gives it nothing more.
func (c *conn) catchUp(run func(context.Context) error) {
	ctx, stop := context.WithCancel(c.ctx)
	now := &catching{stop, make(chan struct{})}
	c.mu.Lock()
	before := c.catching
	before.stop()
	c.catching = now
	c.mu.Unlock()
	go func() {
		defer close(now.done)
		<-before.done
		if err := run(ctx); err != nil && ctx.Err() == nil {
			c.end(err)
		}
	}()
}

// stopCatching ends what brings it up to the present.
func (c *conn) stopCatching() (done <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.catching.stop()
	return c.catching.done
}

// awaitRoom waits until there is much room for events; when there was none for what was
// offered last, until nothing waits.
func (c *conn) awaitRoom(ctx context.Context) error {
	for {
		c.mu.Lock()
		room := len(c.queue) == 0 || !c.refused && len(c.queue) <= c.c.configuration.Queue/2 && c.bytes <= c.c.configuration.QueueBytes/2
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
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.addAnswer(raw)
}

func (c *conn) addAnswer(raw []byte) bool {
	const maxAnswers, maxBytes = 64, 64 << 10 // an answer repeats the id of its operation
	if len(c.answers) >= maxAnswers || len(c.answers) > 0 && c.answering+len(raw) > maxBytes {
		return false
	}
	c.answers = append(c.answers, raw)
	c.answering += len(raw)
	signal(c.wake)
	return true
}

// batch is what is sent at once.
type batch struct {
	answers [][]byte
	events  []item
	bytes   int   // of events
	fault   error // why nothing comes behind them
}

// maxBatch is how many events are taken at once.
const maxBatch = 16

// take takes what waits. It counts among what waits of all streams until sent is called.
func (c *conn) take() batch {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := batch{answers: c.answers}
	c.answers, c.answering = nil, 0
	n := min(len(c.queue), maxBatch)
	b.events = c.queue[:n:n]
	c.queue = c.queue[n:]
	for _, i := range b.events {
		b.bytes += len(i.raw)
		c.delivered = i.position
	}
	c.bytes -= b.bytes
	if len(c.queue) > 0 {
		signal(c.wake)
	} else {
		c.queue, b.fault = nil, c.fault
	}
	if n > 0 {
		c.since = time.Now()
		signal(c.space)
	}
	return b
}

// sent ends what take began.
func (c *conn) sent(b batch) {
	c.c.queued.Add(-int64(b.bytes))
	signal(c.space)
}

// checkKey ends the stream when its key is not good any more.
func (c *conn) checkKey() {
	if c.recheck == nil {
		return
	}
	if err := c.recheck(); err != nil {
		c.end(err)
	}
}

// position is behind what was sent, and behind all that came since of which the stream
// wants nothing; before its first subscription it is that of the chain.
func (c *conn) position() events.Position {
	passed := c.c.hub.passed.Load() // before it is looked at what waits
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.behind(passed)
}

// behind is the position of a stream that was given what it wants of the bundles up to one,
// unless it is brought up to the present. It is for those who hold the lock.
func (c *conn) behind(passed uint32) events.Position {
	if len(c.queue) > 0 || c.fault != nil {
		return c.delivered
	}
	at := maxPosition(c.delivered, events.EndOf(passed))
	switch {
	case c.subscription() != nil:
		c.delivered = at
	case c.delivered == events.Position{}:
		return at
	}
	return c.delivered
}

// pong answers a ping. Its position is behind all that is sent before it.
func (c *conn) pong(id *string) bool {
	passed := c.c.hub.passed.Load()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.addAnswer(acknowledgement(id, "pong", c.behind(passed)))
}

// subscribe puts a subscription in place of the stream's. The answer, which is made of
// the position that it begins behind, comes before its events. It is for one goroutine.
func (c *conn) subscribe(s *events.Subscription, answer func(events.Position) []byte) error {
	start, err := c.c.start(s)
	if err != nil {
		return err
	}
	if err := c.reserve(s.Size()); err != nil {
		return err
	}
	c.wanted = s
	h := c.c.hub
	h.turn.Lock() // so that no event of the new one comes before the answer
	defer h.turn.Unlock()
	c.stopCatching()
	if start == nil && !(s.Resumes && c.subscription() == nil) {
		return c.acknowledge(answer, h.begin(c, s), false)
	}
	unsettled := h.pause(c)
	if start != nil {
		unsettled = nil // what comes behind a position depends on the chain alone
		err = c.acknowledge(answer, *start, true)
	} else {
		err = c.resume(answer)
	}
	if err != nil {
		return err
	}
	from := c.position()
	c.catchUp(func(ctx context.Context) error { return h.replay(ctx, c, s, unsettled, from) })
	return nil
}

// acknowledge answers a subscription that begins behind a position. What waits of another
// one goes when it would come again.
func (c *conn) acknowledge(answer func(events.Position) []byte, at events.Position, anew bool) error {
	c.mu.Lock()
	switch {
	case anew:
		c.drop()
		c.delivered = at
	case len(c.queue) > 0:
		at = c.delivered // those come behind the answer
	case at.Compare(c.delivered) > 0:
		c.delivered = at
	}
	c.mu.Unlock()
	return c.confirm(answer(at))
}

// resume answers a subscription that goes on behind what was sent.
func (c *conn) resume(answer func(events.Position) []byte) error {
	c.mu.Lock()
	c.drop()
	at := c.delivered
	c.mu.Unlock()
	return c.confirm(answer(at))
}

// confirm answers an operation that was done.
func (c *conn) confirm(raw []byte) error {
	if !c.answer(raw) {
		return errDeaf
	}
	return nil
}

// errDeaf is why a stream ends whose client reads no answers.
var errDeaf = errors.New("too many answers wait")

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
	c.stopCatching()
	c.c.hub.end(c)
	<-c.stopCatching() // it may have fallen behind meanwhile
	_ = c.reserve(0)
	c.mu.Lock()
	c.fault = errStopping
	c.drop()
	c.mu.Unlock()
}

// operationBurst is how many operations may come at once, beside the one that is due.
const operationBurst = 20

// rateLimiter lets operations through at a rate.
type rateLimiter struct {
	ratelimit.Bucket
	rule  ratelimit.Rule
	began time.Time
}

func newRateLimiter(rate float64) *rateLimiter {
	return &rateLimiter{rule: ratelimit.New(rate, 1+operationBurst), began: time.Now()}
}

// wait waits until the next operation may be worked on.
func (p *rateLimiter) wait(ctx context.Context) {
	for {
		wait := p.Take(p.rule, time.Since(p.began))
		if wait == 0 || lifetime.Sleep(ctx, wait) != nil {
			return
		}
	}
}

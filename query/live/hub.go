package live

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tonscribe/query/head"
	"tonscribe/query/live/events"
	"tonscribe/query/store"
)

// hub gives events to those who want them. A bundle costs what it touches: subscriptions
// are found by the accounts, tokens and traces that they name.
type hub struct {
	c *Component

	// turn is of those who give events out, so that they come in one order.
	turn sync.Mutex

	mu     sync.Mutex
	last   uint32 // the bundle up to which all have all
	active int    // streams; without one, nothing is read
	// ofForeseen are those of them that get what is foreseen.
	ofForeseen int
	woken      chan struct{}
	by         map[events.Key][]*conn
	search     uint64 // counts searches for streams
	// awaited are the traces of which some got what no block has.
	awaited map[events.Hash]*awaited
	// settled are the traces that the newest bundles have touched, by the bundle.
	settled map[events.Hash]uint32
	// taken are the newest messages from outside that accounts took which take each in its
	// turn, in these bundles.
	taken map[string]taken

	// unforeseen is when what is foreseen of a bundle could not be read. It is of who gives out
	// bundles.
	unforeseen time.Time
	// preceded is the newest bundle that those have who want nothing that is foreseen.
	preceded uint32

	// passed is the newest bundle of which all have what they want waiting. It is changed
	// under mu.
	passed atomic.Uint32

	// history has the bundles that were given out, past those that were read for who comes
	// back, which take no room of the newest.
	history, past history
}

func newHub(c *Component) *hub {
	return &hub{c: c, woken: make(chan struct{}, 1), by: map[events.Key][]*conn{}, awaited: map[events.Hash]*awaited{}, settled: map[events.Hash]uint32{},
		taken: map[string]taken{}, history: newHistory(c), past: newHistory(c)}
}

// errNotYet says that there is nothing to follow yet.
var errNotYet = errors.New("the index has no masterchain block yet, try again")

// enter counts a stream. The first one begins with what is visible now.
func (h *hub) enter() error {
	v, err := h.c.index.Store.View()
	if err != nil {
		return errNotYet
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.active++; h.active == 1 {
		h.last = max(h.last, v.Watermark)
		h.passed.Store(h.last)
		select {
		case h.woken <- struct{}{}:
		default:
		}
	}
	return nil
}

func (h *hub) leave() {
	h.mu.Lock()
	h.active--
	h.mu.Unlock()
}

// idle reports whether nobody has a stream, and the bundle that follows comes after.
func (h *hub) idle() (last uint32, idle bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last, h.active == 0
}

// run gives out bundles until ctx ends.
func (h *hub) run(ctx context.Context) {
	for ctx.Err() == nil {
		last, idle := h.idle()
		if idle {
			select {
			case <-ctx.Done():
			case <-h.woken:
			}
			continue
		}
		if err := h.step(ctx, last); err != nil && ctx.Err() == nil {
			h.c.failed(err)
			h.c.sleep(ctx, retryPause)
		}
	}
}

const (
	// retryPause is the time between attempts to read what cannot be read.
	retryPause = 200 * time.Millisecond
	// stepBundles is how many bundles are taken at once that are not in memory.
	stepBundles = 64
	// idlePoll is how often it is looked whether anybody is left who waits.
	idlePoll = 10 * time.Second
	// readLimit is the time for what one bundle needs.
	readLimit = 30 * time.Second
)

// step waits for the next bundle, and gives it out.
func (h *hub) step(ctx context.Context, last uint32) error {
	waiting, cancel := context.WithTimeout(ctx, idlePoll)
	next, err := h.c.index.Store.Subscribe(last).Next(waiting)
	cancel()
	switch {
	case err == nil:
		v, err := h.c.index.Store.View()
		if err != nil {
			return err
		}
		return h.give(ctx, v, next.MCSeqno)
	case errors.Is(err, context.DeadlineExceeded):
		return nil
	case !errors.Is(err, store.ErrMissed):
		return err
	}
	v, err := h.c.index.Store.View()
	if err != nil {
		return err
	}
	seqnos, err := h.c.index.Store.SeqnosAfter(ctx, v, last, stepBundles)
	if err != nil {
		return err
	}
	if len(seqnos) == 0 {
		return fmt.Errorf("no masterchain block is known to follow %d", last)
	}
	for _, seqno := range seqnos {
		if err := h.give(ctx, v, seqno); err != nil {
			return err
		}
	}
	return nil
}

// give gives a bundle to those who want something of it.
func (h *hub) give(ctx context.Context, v *head.View, mcSeqno uint32) error {
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	began := time.Now()
	b, err := h.bundle(ctx, v, mcSeqno, &h.history)
	if err != nil {
		return err
	}
	if h.publish(ctx, b, h.ahead(ctx, v, b)) {
		h.c.metrics.took.Observe(time.Since(began).Seconds())
		h.c.metrics.bundles.Inc()
	}
	return nil
}

// precede gives a bundle that was read to those who want nothing that is foreseen, before that
// is read for the others, and it is published. Those who are still told what becomes of what
// they were told get it with the others.
func (h *hub) precede(ctx context.Context, b *events.Bundle) {
	h.turn.Lock()
	defer h.turn.Unlock()
	h.mu.Lock()
	if b.MCSeqno <= h.last {
		h.mu.Unlock()
		return
	}
	matches := h.matches(b, nil, func(to *conn, s *events.Subscription) bool {
		return s.Min != events.PendingLevel && len(to.unsettled) == 0
	})
	for _, m := range matches {
		m.to.after = events.EndOf(b.MCSeqno)
	}
	h.preceded = b.MCSeqno
	h.mu.Unlock()
	h.hand(ctx, matches)
}

// publish gives a bundle that was read to those who want something of it. It is false for
// one that came while nobody was there: who came then begins behind it.
func (h *hub) publish(ctx context.Context, b *events.Bundle, ahead map[*events.Trace]*events.Trace) bool {
	h.turn.Lock()
	defer h.turn.Unlock()
	h.mu.Lock()
	before := h.last
	if b.MCSeqno <= before {
		h.mu.Unlock()
		return false
	}
	gone := h.resolve(b)
	matches := h.matches(b, ahead, func(*conn, *events.Subscription) bool { return true })
	h.finish(b, ahead, gone)
	h.last = b.MCSeqno
	h.mu.Unlock()
	h.invalidate(gone, events.EndOf(before))
	h.hand(ctx, matches)
	h.mu.Lock()
	h.passed.Store(max(h.passed.Load(), b.MCSeqno))
	h.mu.Unlock()
	return true
}

// hand renders matches and gives them to their streams. It is done in turn. Of events that
// have one position, behind which the rest would not come again, a stream gets all or none.
func (h *hub) hand(ctx context.Context, matches []match) {
	known := h.c.books()
	var items []item
	for len(matches) > 0 {
		m, n := matches[0], 1
		for n < len(matches) && matches[n].to == m.to && matches[n].event.Position == m.event.Position {
			n++
		}
		together := matches[:n]
		matches = matches[n:]
		if m.to.takes(m.s) {
			items = items[:0]
			for _, m := range together {
				items = append(items, item{m.event.Render(ctx, known, m.s, m.choice), m.event.Position})
			}
			if m.to.offer(items...) {
				for _, m := range together {
					h.c.metrics.ofKind[m.event.Kind].Inc()
				}
				continue
			}
			h.fallBehind(m)
		}
		h.missed(m)
	}
}

// fallBehind takes a stream that has no room for an event out of those that get what
// happens, to bring it up to the present again at the pace of its client.
func (h *hub) fallBehind(m match) {
	c := m.to
	h.mu.Lock()
	if c.subscription() != m.s { // another one has begun since
		h.mu.Unlock()
		c.end(errSlow)
		return
	}
	h.replace(c, nil)
	unsettled := maps.Clone(c.unsettled)
	h.mu.Unlock()
	c.mu.Lock()
	from := maxPosition(c.newest(), m.event.Position.Before())
	c.mu.Unlock()
	h.c.metrics.behind.Inc()
	c.catchUp(func(ctx context.Context) error { return h.follow(ctx, c, m.s, unsettled, from) })
}

// finish forgets the traces that a bundle ends. Those whose part of one does not come are
// gone.
func (h *hub) finish(b *events.Bundle, ahead map[*events.Trace]*events.Trace, gone invalid) {
	for _, e := range b.Events {
		if e.Kind == events.TransactionsKind && ahead[e.Of] == nil && e.Of.Row.PendingEdges == 0 {
			h.missing(e.Of, b.MCSeqno, gone)
			h.forget(e.Of.Hash)
		}
	}
}

// join makes a stream get what comes after the last bundle, if it has all up to that, and
// what brings it there was not stopped.
func (h *hub) join(ctx context.Context, c *conn, s *events.Subscription, upTo events.Position) (last uint32, joined bool) {
	h.turn.Lock() // what is given out now was found for those before
	defer h.turn.Unlock()
	gone := invalid{}
	h.mu.Lock()
	last = h.last
	if joined = ctx.Err() == nil && upTo.Compare(events.EndOf(last)) >= 0; joined {
		gone = c.missed()
		c.after = upTo // another replica may have been faster
		h.replace(c, s)
	}
	h.mu.Unlock()
	h.invalidate(gone, events.EndOf(last))
	return last, joined
}

// begin makes a stream get what comes from now on, and returns its position.
func (h *hub) begin(c *conn, s *events.Subscription) events.Position {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !s.Resumes && c.after != events.EndOf(h.preceded) { // else another replica may have been faster
		c.after = events.Position{}
	}
	h.replaceSubscription(c)
	h.replace(c, s)
	return maxPosition(c.after, events.EndOf(h.last))
}

// pause takes a stream out of those that get what comes. It returns of what it was told
// before it was final.
func (h *hub) pause(c *conn) (unsettled map[events.Hash]bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.replaceSubscription(c)
	h.replace(c, nil)
	return maps.Clone(c.unsettled)
}

// replaceSubscription notes that another subscription takes the place of a stream's: what it was told
// may still be taken back, but need not be all that this one wants.
func (h *hub) replaceSubscription(c *conn) {
	for hash := range c.unsettled {
		c.unsettled[hash] = false
	}
	c.ended = nil
}

// replace gives a stream another subscription; nil takes its own away.
func (h *hub) replace(c *conn, s *events.Subscription) {
	if old := c.current.Load(); old != nil {
		old.Keys(func(k events.Key) {
			list := h.by[k]
			at, last := slices.Index(list, c), len(list)-1
			list[at], list[last] = list[last], nil
			if h.by[k] = list[:last]; last == 0 {
				delete(h.by, k)
			}
		})
		if old.Min == events.PendingLevel {
			h.ofForeseen--
		}
	}
	c.current.Store(s)
	if s == nil {
		return
	}
	if s.Min == events.PendingLevel {
		h.ofForeseen++
	}
	s.Keys(func(k events.Key) { h.by[k] = append(h.by[k], c) })
}

// end takes a stream's subscription away.
func (h *hub) end(c *conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.replace(c, nil)
	for hash := range c.unsettled {
		if a := h.awaited[hash]; a != nil {
			delete(a.by, c)
		}
	}
	c.unsettled = nil
}

// historyOf is where a bundle is looked for, and held, that is read again.
func (h *hub) historyOf(mcSeqno uint32) *history {
	if h.history.has(mcSeqno) {
		return &h.history
	}
	return &h.past
}

// bundle reads a bundle, or finds it in memory.
func (h *hub) bundle(ctx context.Context, v *head.View, mcSeqno uint32, in *history) (*events.Bundle, error) {
	return in.get(mcSeqno, func() (*events.Bundle, error) {
		read, err := h.c.index.Bundle(ctx, v, mcSeqno)
		if err != nil {
			return nil, fmt.Errorf("bundle %d: %w", mcSeqno, err)
		}
		return events.NewBundle(read), nil
	})
}

// history holds the bundles that were read last, and lets those wait for one that read
// the same.
type history struct {
	limit   int64
	mu      sync.Mutex
	bundles map[uint32]*entry
	order   []*entry // those that were read first come first
}

func newHistory(c *Component) history {
	return history{limit: int64(c.configuration.HistoryBytes), bundles: map[uint32]*entry{}}
}

type entry struct {
	mcSeqno uint32
	once    sync.Mutex
	bundle  *events.Bundle
}

func (h *history) get(mcSeqno uint32, read func() (*events.Bundle, error)) (*events.Bundle, error) {
	h.mu.Lock()
	e := h.bundles[mcSeqno]
	if e == nil {
		e = &entry{mcSeqno: mcSeqno}
		h.bundles[mcSeqno] = e
		h.order = append(h.order, e)
		h.trim()
	}
	h.mu.Unlock()
	e.once.Lock()
	defer e.once.Unlock()
	if e.bundle != nil {
		return e.bundle, nil
	}
	b, err := read()
	if err == nil {
		h.mu.Lock()
		e.bundle = b
		h.mu.Unlock()
	}
	return b, err
}

// has reports whether a bundle is held.
func (h *history) has(mcSeqno uint32) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.bundles[mcSeqno]
	return e != nil && e.bundle != nil
}

// trim lets go of what is too much, but for the newest.
func (h *history) trim() {
	const most = 1 << 12
	var bytes int64
	for i := len(h.order) - 1; i >= 0; i-- {
		if b := h.order[i].bundle; b != nil {
			bytes += b.Bytes.Load()
		}
		if i < len(h.order)-1 && (bytes > h.limit || len(h.order)-i > most) {
			for _, gone := range h.order[:i+1] {
				delete(h.bundles, gone.mcSeqno)
			}
			h.order = append([]*entry(nil), h.order[i+1:]...)
			return
		}
	}
}

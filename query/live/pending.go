package live

import (
	"bytes"
	"context"
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"time"

	"tonscribe/query/head"
	"tonscribe/query/live/events"
	"tonscribe/query/pending"
	"tonscribe/query/render"
	"tonscribe/query/rows"
	"tonscribe/schema/record"
	"tonscribe/ton/code"
)

// awaited is a trace of which some got what no block has.
type awaited struct {
	by       map[*conn]uint32 // and the bundle of which it got the last part
	deadline time.Time        // until when a block has its first transaction
	begun    bool             // one has
	guess    *record.Transaction
}

// anew takes what is foreseen of a message in place of what was, when it was sent again. Who
// is behind is told of it then.
func (h *hub) anew(t *events.Trace) {
	a, root := h.awaited[t.Hash], t.Root()
	if a == nil || a.begun || root == nil || !t.Row.Foreseen[root] || a.guess == root {
		return
	}
	a.guess, a.deadline = root, time.Now().Add(h.c.configuration.PendingDeadline)
	for c := range a.by {
		if c.subscription() == nil {
			c.unsettled[t.Hash] = false
		}
	}
}

// has reports whether a stream got a part of the trace before it was final; nobody did of
// one that is not awaited.
func (a *awaited) has(c *conn) bool {
	if a == nil {
		return false
	}
	_, is := a.by[c]
	return is
}

// maxAwaited is how many traces that are not final are told of again.
const maxAwaited = 1 << 17

// await remembers that a stream gets what no block has.
func (h *hub) await(t *events.Trace, c *conn) {
	a := h.awaited[t.Hash]
	if a == nil {
		if len(h.awaited) >= maxAwaited {
			return
		}
		a = &awaited{by: map[*conn]uint32{}, deadline: time.Now().Add(h.c.configuration.PendingDeadline)}
		if root := t.Root(); root != nil {
			a.guess, a.begun = root, !t.Row.Foreseen[root]
		}
		h.awaited[t.Hash] = a
	}
	if _, is := a.by[c]; !is {
		a.by[c] = 0
	}
	if c.unsettled == nil {
		c.unsettled = map[events.Hash]bool{}
	}
	c.unsettled[t.Hash] = true
}

// missed remembers that a stream did not get an event. What no block has it is told again.
func (h *hub) missed(m match) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := m.event.Of; t != nil && m.to.unsettled[t.Hash] {
		m.to.unsettled[t.Hash] = false
	}
}

// reported reports whether a stream got all that is known of a trace that is not final.
func (h *hub) reported(c *conn, hash events.Hash) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return c.unsettled[hash]
}

// forget ends what await began.
func (h *hub) forget(hash events.Hash) (by map[*conn]uint32) {
	a := h.awaited[hash]
	if a == nil {
		return nil
	}
	for c := range a.by {
		delete(c.unsettled, hash)
	}
	delete(h.awaited, hash)
	return a.by
}

// missing adds those to the gone who were told all of a trace, want nothing of what a bundle
// leaves of it, and so would never hear of it again. Who is behind may get it yet.
func (h *hub) missing(t *events.Trace, mcSeqno uint32, gone invalid) {
	hash := t.Hash
	a := h.awaited[hash]
	if a == nil || t.Row.Tree == nil { // of one that is too large, the rest may have come before
		return
	}
	for c, at := range a.by {
		if at == mcSeqno || !c.unsettled[hash] {
			continue
		}
		if c.subscription() == nil {
			if c.ended == nil {
				c.ended = map[events.Hash]bool{}
			}
			c.ended[hash] = true
			continue
		}
		if gone[hash] == nil {
			gone[hash] = map[*conn]uint32{}
		}
		gone[hash][c] = at
	}
}

// missed are the traces that became final while a stream was behind, and of which it got
// nothing again.
func (c *conn) missed() invalid {
	gone := invalid{}
	for hash := range c.ended {
		gone[hash] = map[*conn]uint32{c: 0}
	}
	c.ended = nil
	return gone
}

// gotAgain remembers that a stream that is behind got something of a trace.
func (h *hub) gotAgain(c *conn, hash events.Hash) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(c.ended, hash)
}

// invalid are those who are told that a trace does not come as they were told.
type invalid map[events.Hash]map[*conn]uint32

// settledBundles is for how many bundles it is remembered which traces they touched.
const resolvedBundles = 256

// resolve takes what a bundle says of traces that were told of before. It returns those
// that come differently, or that another message took the place of.
func (h *hub) resolve(b *events.Bundle) invalid {
	gone := invalid{}
	for hash, at := range h.settled {
		if at+resolvedBundles < b.MCSeqno {
			delete(h.settled, hash)
		}
	}
	for account, at := range h.taken {
		if at.mcSeqno+resolvedBundles < b.MCSeqno {
			delete(h.taken, account)
		}
	}
	h.take(b)
	for _, e := range b.Events {
		if e.Kind != events.TransactionsKind {
			continue
		}
		t := e.Of
		h.settled[t.Hash] = b.MCSeqno
		root := begun(t)
		if root == nil {
			continue
		}
		if a := h.awaited[t.Hash]; a != nil && !a.begun {
			if a.begun = true; a.guess != nil && !alike(a.guess, root) {
				gone[t.Hash] = maps.Clone(a.by)
				for c := range a.by {
					c.unsettled[t.Hash] = false
				}
			}
		}
	}
	for hash, a := range h.awaited {
		if !a.begun && a.guess != nil && h.overtaken(a.guess) {
			gone[hash] = h.forget(hash)
		}
	}
	return gone
}

// begun is the first transaction of a trace if the bundle that it is told with has it, and
// a message from outside led to it.
func begun(t *events.Trace) *record.Transaction {
	root := t.Root()
	if root == nil || root.InMsg.GetKind() != record.Message_EXTERNAL_IN || !t.Fresh[root] {
		return nil
	}
	return root
}

// taken is the transaction in which an account took a message from outside.
type taken struct {
	lt      uint64
	mcSeqno uint32
}

// take remembers which messages from outside a bundle took: what was foreseen of others
// before does not come any more. It is for those who hold the lock.
func (h *hub) take(b *events.Bundle) {
	if b.MCSeqno+resolvedBundles < h.last {
		return
	}
	for _, e := range b.Events {
		if e.Kind != events.TransactionsKind {
			continue
		}
		if root := begun(e.Of); root != nil && !takesAny(root) && root.Lt > h.taken[string(root.Account)].lt {
			h.taken[string(root.Account)] = taken{root.Lt, b.MCSeqno}
		}
	}
}

// overtaken reports whether a message whose first transaction is foreseen was foreseen
// before its account took another one.
func (h *hub) overtaken(guess *record.Transaction) bool {
	return guess.PrevTransLt < h.taken[string(guess.Account)].lt
}

// takesAny reports whether a wallet takes messages in any order.
func takesAny(root *record.Transaction) bool {
	hash := root.StateAfter.GetCodeHash()
	return len(hash) == len(events.Hash{}) && slices.ContainsFunc(code.Interfaces(events.Hash(hash), nil), func(name string) bool {
		return strings.HasPrefix(name, "wallet_highload")
	})
}

// alike reports whether a transaction came as it was foreseen: with the same outcome, and
// the same messages to the same accounts.
func alike(guess, came *record.Transaction) bool {
	return guess.Aborted == came.Aborted && guess.Compute.GetExitCode() == came.Compute.GetExitCode() &&
		slices.EqualFunc(guess.OutMsgs, came.OutMsgs, func(a, b *record.Message) bool {
			return a.Kind == b.Kind && bytes.Equal(a.Destination, b.Destination) && bytes.Equal(a.BodyHash, b.BodyHash)
		})
}

// invalidate tells of traces that do not come as they were told.
func (h *hub) invalidate(gone invalid, at events.Position) {
	for hash, by := range gone {
		write := func(at events.Position) []byte {
			raw := append([]byte(nil), `{"type":"`+events.InvalidatedName+`","position":"`...)
			raw = append(at.Append(raw), `","trace_external_hash_norm":"`...)
			return append(base64.StdEncoding.AppendEncode(raw, hash[:]), `"}`...)
		}
		for c := range by {
			c.note(at, write)
			h.c.metrics.events.WithLabelValues(events.InvalidatedName).Inc()
		}
	}
}

// aheadLimit is the time for what is foreseen of a bundle, and aheadPause how long it is not
// read any more when it could not be: the bundles that follow wait for it.
const (
	aheadLimit = 5 * time.Second
	aheadPause = 10 * time.Second
)

// ahead are the traces of a bundle that go on as it is foreseen, with that, where a stream
// wants to know. The others are given the bundle before it is read. Without it, those who want
// to know get what blocks have.
func (h *hub) ahead(ctx context.Context, v *head.View, b *events.Bundle) map[*events.Trace]*events.Trace {
	if h.c.index.Pending == nil || !h.foreseeing() || time.Since(h.unforeseen) < aheadPause {
		return nil
	}
	open := map[events.Hash][]*events.Trace{}
	var hashes []pending.Hash
	for _, e := range b.Events {
		if e.Kind == events.TransactionsKind && e.Of.Row.PendingEdges > 0 {
			hashes = append(hashes, e.Of.Hash)
			open[e.Of.Hash] = append(open[e.Of.Hash], e.Of)
		}
	}
	traces := h.c.index.Pending.Sent(hashes)
	if len(traces) == 0 {
		return nil
	}
	h.precede(ctx, b)
	limited, cancel := context.WithTimeout(ctx, aheadLimit)
	defer cancel()
	foreseen, err := h.c.index.Foreseen(limited, v.AsOf(b.MCSeqno), traces)
	if err != nil {
		if h.unforeseen = time.Now(); ctx.Err() == nil {
			h.c.failed(err)
		}
		return nil
	}
	found := map[*events.Trace]*events.Trace{}
	for _, row := range foreseen {
		t := events.NewTrace(row, nil)
		for tx := range t.Fresh {
			t.Fresh[tx] = true
		}
		for _, of := range open[t.Hash] {
			found[of] = t
		}
	}
	return found
}

// foreseeing reports whether a stream gets what is foreseen, or was told of something that is
// not final, and may be behind.
func (h *hub) foreseeing() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ofForeseen > 0 || len(h.awaited) > 0
}

// foresee tells what messages will do until ctx ends, and what did not come.
func (h *hub) foresee(ctx context.Context, coming <-chan *pending.Trace) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case t := <-coming:
			if err := h.report(ctx, h.together(t, coming), nil); err != nil && ctx.Err() == nil {
				h.c.failed(err)
			}
		case now := <-tick.C:
			h.expire(now)
		}
	}
}

// mayCome reports whether a message still has time to be in a block. One that has none is
// heard of when another replica, or the log, comes back.
func (h *hub) mayCome(t *pending.Trace) bool {
	return time.Since(t.Sent) < h.c.configuration.PendingDeadline+time.Second // times are whole seconds
}

// together are the messages that wait, the first one included, as far as streams are told of
// them: read one by one, they would wait for each other.
func (h *hub) together(first *pending.Trace, coming <-chan *pending.Trace) (some []*pending.Trace) {
	wanted := h.foreseeing()
	for t, n := first, 1; ; n++ {
		if wanted && h.mayCome(t) {
			some = append(some, t)
		}
		if n == rows.MaxPendingTraces {
			return some
		}
		select {
		case t = <-coming:
		default:
			return some
		}
	}
}

// report tells what messages will do, unless a block has them by now: all streams, or one. It
// reads before its turn, so that nobody waits for that.
func (h *hub) report(ctx context.Context, some []*pending.Trace, only *conn) error {
	if len(some) == 0 {
		return nil
	}
	v, err := h.c.index.Store.View()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	found, err := h.c.index.Foreseen(ctx, v, some)
	if err != nil {
		return err
	}
	h.turn.Lock()
	defer h.turn.Unlock()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	h.mu.Lock()
	at := events.EndOf(h.last)
	h.mu.Unlock()
	for _, row := range found {
		h.hand(ctx, h.matchesOfForeseen(row, at, only))
	}
	return nil
}

// reportAll tells a stream what the messages will do that may still come, and that it was
// not told of.
func (h *hub) reportAll(ctx context.Context, c *conn, s *events.Subscription) error {
	if h.c.index.Pending == nil || s.Min != events.PendingLevel {
		return nil
	}
	wanted := slices.DeleteFunc(h.c.index.Pending.Held(), func(t *pending.Trace) bool { return !s.MayWant(t) })
	for some := range slices.Chunk(wanted, max(1, h.c.configuration.Queue/2/events.OfForeseen)) {
		if err := c.awaitRoom(ctx); err != nil {
			return err
		}
		some = slices.DeleteFunc(some, func(t *pending.Trace) bool { return !h.mayCome(t) || h.reported(c, t.ID) })
		if err := h.c.reading(ctx, func(ctx context.Context) error { return h.report(ctx, some, c) }); err != nil {
			return h.c.unread(ctx, err)
		}
	}
	return nil
}

func (h *hub) matchesOfForeseen(row render.TraceRow, at events.Position, only *conn) (list []match) {
	foreseen := events.Foreseen(row, at)
	h.mu.Lock()
	defer h.mu.Unlock()
	_, settled := h.settled[foreseen[1].Of.Hash]
	switch root := foreseen[1].Of.Root(); {
	case settled: // it is told with the bundles: some may have a part of it as final
		return nil
	case root == nil:
	case !row.Foreseen[root]: // likewise, before a stream was there
		return nil
	case h.overtaken(root): // nobody would be told that it does not come
		return nil
	}
	interested := []*conn{only}
	if only == nil {
		interested = h.interested(foreseen[1], nil)
	}
	if a := h.awaited[foreseen[1].Of.Hash]; a != nil && a.guess == foreseen[1].Of.Root() {
		interested = slices.DeleteFunc(interested, func(c *conn) bool { return c.unsettled[foreseen[1].Of.Hash] }) // it was told
	}
	if only == nil {
		h.anew(foreseen[1].Of)
	}
	for _, to := range interested {
		s := to.subscription()
		if s == nil || s.Min != events.PendingLevel {
			continue
		}
		for _, e := range foreseen {
			if e.Kind == events.ActionsKind && len(row.Actions) == 0 {
				continue
			}
			c, ok := e.Chosen(s, false)
			if !ok {
				continue
			}
			shown := e
			if e.Position.Compare(to.after) < 0 { // another replica was faster
				shown = &events.Event{Kind: e.Kind, Position: to.after, Of: e.Of}
			}
			h.await(e.Of, to)
			list = append(list, match{to, s, shown, c})
		}
	}
	return list
}

// expire tells of what did not come in time, and forgets what is final.
func (h *hub) expire(now time.Time) {
	h.turn.Lock()
	defer h.turn.Unlock()
	gone := invalid{}
	h.mu.Lock()
	at := events.EndOf(h.last)
	for hash, a := range h.awaited {
		switch {
		case !a.begun && now.After(a.deadline):
			gone[hash] = h.forget(hash)
		case a.begun && now.After(a.deadline.Add(resolvedFor)):
			h.forget(hash)
		}
	}
	h.mu.Unlock()
	h.invalidate(gone, at)
}

// settledFor is how long a trace that has begun may take to be final.
const resolvedFor = 10 * time.Minute

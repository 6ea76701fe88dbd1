package live

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tonscribe/query/live/events"
)

// recentTime is how far back what is new since a while goes, in seconds.
const recentTime = 60

// recentBundles is the same in bundles where their times are not known.
const recentBundles = 150

// maxAhead is how many bundles a position may be ahead of the index here: another replica
// may have been faster.
const maxAhead = 1000

// start is where a subscription begins that does not begin now; nil for one that does.
func (c *Component) start(s *events.Subscription) (*events.Position, error) {
	if s.From == nil && !s.Recent {
		return nil, nil
	}
	v, err := c.index.Store.View()
	if err != nil {
		return nil, errNotYet
	}
	first := v.First.Id.Seqno
	if s.From != nil {
		switch p := *s.From; {
		case uint64(p.MCSeqno)+1 < uint64(first) || p.MCSeqno < first && p.Event != events.EndOfBundle:
			return nil, fmt.Errorf("position %s is older than the index, which begins with masterchain block %d", p, first)
		case p.MCSeqno > v.Watermark && p.MCSeqno-v.Watermark > maxAhead:
			return nil, fmt.Errorf("position %s is ahead of the index, whose newest masterchain block is %d", p, v.Watermark)
		}
		return s.From, nil
	}
	at := v.Watermark - min(v.Watermark, recentBundles)
	for i := len(v.Held) - 1; i >= 0; i-- {
		if at = min(at, v.Held[i].PrevMCSeqno); v.Held[i].GenUtime+recentTime < v.GenUtime {
			at = v.Held[i].MCSeqno
			break
		}
	}
	p := events.EndOf(max(at, first-min(first, 1)))
	return &p, nil
}

// replay is what a stream is given of what it missed.
type replay struct {
	hub *hub
	to  *conn
	s   *events.Subscription
	// newest are the last events of each trace and account; nil for all.
	newest map[events.Subject]events.Position
	// held reports whether nothing is read that is not in memory any more, and unsettled are the
	// traces of which the stream got what no block had before.
	held      bool
	unsettled map[events.Hash]bool
}

// replay gives a stream what came after a position, and then makes it get what comes.
func (h *hub) replay(ctx context.Context, c *conn, s *events.Subscription, unsettled map[events.Hash]bool, from events.Position) error {
	h.c.metrics.replays.Inc()
	r := &replay{hub: h, to: c, s: s, unsettled: unsettled}
	if s.Recent && s.From == nil {
		var err error
		if r.newest, err = r.findNewest(ctx, from); err != nil {
			return h.c.unread(ctx, err)
		}
	}
	if err := r.run(ctx, from); err != nil {
		return err
	}
	if s.Recent || s.Resumes {
		return h.reportAll(ctx, c, s)
	}
	return nil
}

// follow gives a stream that fell behind what came after a position while its client took
// what it had, and then makes it get what comes. What is not held any more its client is
// too slow for.
func (h *hub) follow(ctx context.Context, c *conn, s *events.Subscription, unsettled map[events.Hash]bool, from events.Position) error {
	r := &replay{hub: h, to: c, s: s, held: true, unsettled: unsettled}
	if err := r.run(ctx, from); err != nil {
		return err
	}
	return h.reportAll(ctx, c, s)
}

// run gives the stream what comes after a position until it has all, and gets what comes.
func (r *replay) run(ctx context.Context, from events.Position) error {
	for at, failures := from, 0; ; {
		last, joined := r.hub.join(ctx, r.to, r.s, at)
		if joined {
			return nil
		}
		next, err := r.step(ctx, at, last)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil:
			at, failures = next, 0
		case errors.Is(err, errSlow):
			return err
		case failures >= maxFailures:
			return r.hub.c.unread(ctx, err)
		default:
			at, failures = next, failures+1
			r.hub.c.sleep(ctx, retryPause<<failures)
		}
	}
}

// findNewest finds the last events that the subscription wants after a position.
func (r *replay) findNewest(ctx context.Context, after events.Position) (map[events.Subject]events.Position, error) {
	newest := map[events.Subject]events.Position{}
	for last, _ := r.hub.idle(); after.MCSeqno < last; {
		seqnos, err := r.seqnos(ctx, after.MCSeqno)
		if err != nil || len(seqnos) == 0 {
			return newest, err
		}
		for _, seqno := range seqnos {
			b, err := r.read(ctx, seqno)
			if err != nil {
				return nil, err
			}
			r.hub.mu.Lock()
			r.hub.take(b) // it may have come while nobody was there
			r.hub.mu.Unlock()
			for _, e := range b.Events {
				if _, wanted := e.Chosen(r.s, false); wanted {
					newest[e.Subject()] = e.Position
				}
			}
			after = events.EndOf(seqno)
		}
	}
	return newest, nil
}

// maxFailures is how often in a row reading may fail.
const maxFailures = 5

// step gives the stream the events of some bundles after a position, up to the last one
// that all others have. It returns the position behind them.
func (r *replay) step(ctx context.Context, at events.Position, last uint32) (events.Position, error) {
	after := at.MCSeqno
	if at.Event != events.EndOfBundle && after > 0 {
		after-- // the rest of this one
	}
	seqnos, err := r.seqnos(ctx, after)
	if err != nil {
		return at, err
	}
	for _, seqno := range seqnos {
		if seqno > last {
			break
		}
		if err := r.give(ctx, at, seqno); err != nil {
			return at, err
		}
		at = events.EndOf(seqno)
		r.to.pass(ctx, at)
	}
	if len(seqnos) == 0 || seqnos[len(seqnos)-1] > last || seqnos[0] > last {
		at = maxPosition(at, events.EndOf(last))
	}
	return at, nil
}

func maxPosition(a, b events.Position) events.Position {
	if a.Compare(b) < 0 {
		return b
	}
	return a
}

// seqnos are some bundles after one.
func (r *replay) seqnos(ctx context.Context, after uint32) (seqnos []uint32, err error) {
	v, err := r.hub.c.index.Store.View()
	if err != nil {
		return nil, errNotYet
	}
	err = r.hub.c.reading(ctx, func(ctx context.Context) (err error) {
		seqnos, err = r.hub.c.index.Store.SeqnosAfter(ctx, v, after, stepBundles)
		return err
	})
	return seqnos, err
}

// read reads a bundle, or finds it in memory.
func (r *replay) read(ctx context.Context, seqno uint32) (b *events.Bundle, err error) {
	if r.held && !r.hub.history.has(seqno) {
		return nil, errSlow
	}
	v, err := r.hub.c.index.Store.View()
	if err != nil {
		return nil, errNotYet
	}
	err = r.hub.c.reading(ctx, func(ctx context.Context) (err error) {
		b, err = r.hub.bundle(ctx, v, seqno, r.hub.historyOf(seqno))
		return err
	})
	return b, err
}

// give gives the stream the events of a bundle behind a position.
func (r *replay) give(ctx context.Context, at events.Position, seqno uint32) error {
	b, err := r.read(ctx, seqno)
	if err != nil {
		return err
	}
	known := r.hub.c.books()
	for _, e := range b.Events {
		if e.Position.Compare(at) <= 0 {
			continue
		}
		unsettled := false
		if e.Of != nil {
			_, unsettled = r.unsettled[e.Of.Hash]
		}
		chosen, ok := e.Chosen(r.s, unsettled)
		if !ok || e.Position.Compare(r.newest[e.Subject()]) < 0 {
			continue
		}
		raw := e.Render(ctx, known, r.s, chosen)
		if err := r.to.offerInTime(ctx, item{raw, e.Position}); err != nil {
			return err
		}
		if unsettled {
			r.hub.gotAgain(r.to, e.Of.Hash)
		}
		r.hub.c.metrics.replayed.Inc()
	}
	return nil
}

// unread is why a stream ends of which something could not be read.
func (c *Component) unread(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	c.failed(err)
	return errReplay
}

var errReplay = fmt.Errorf("what was missed cannot be read now: try again in %s from the position", 10*time.Second)

// reading runs what reads for one of the streams that are brought up to the present, of
// which few do so at a time.
func (c *Component) reading(ctx context.Context, read func(context.Context) error) error {
	select {
	case c.replays <- struct{}{}:
		defer func() { <-c.replays }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	return read(ctx)
}

package live

import (
	"context"
	"fmt"
	"time"
)

// recentTime is how far back what is new since a while goes.
const recentTime = 30

// recentBundles is the same in bundles where their times are not known.
const recentBundles = 64

// maxAhead is how many bundles a position may be ahead of the index here: another replica
// may have been faster.
const maxAhead = 1000

// start is where a subscription begins that does not begin now; nil for one that does.
func (c *Component) start(s *subscription) (*Position, error) {
	if s.from == nil && !s.recent {
		return nil, nil
	}
	v, err := c.store.View()
	if err != nil {
		return nil, errNotYet
	}
	first := v.First.Id.Seqno
	if s.from != nil {
		switch p := *s.from; {
		case p.MCSeqno+1 < first || p.MCSeqno < first && p.Event != endOfBundle:
			return nil, fmt.Errorf("position %s is older than the index, which begins with masterchain block %d", p, first)
		case p.MCSeqno > v.Watermark && p.MCSeqno-v.Watermark > maxAhead:
			return nil, fmt.Errorf("position %s is ahead of the index, whose newest masterchain block is %d", p, v.Watermark)
		}
		return s.from, nil
	}
	at := v.Watermark - min(v.Watermark, recentBundles)
	for i := len(v.Held) - 1; i >= 0 && v.Held[i].GenUtime+recentTime >= v.GenUtime; i-- {
		at = v.Held[i].PrevMCSeqno
	}
	p := endOf(max(at, first-min(first, 1)))
	return &p, nil
}

// replay gives a stream what came after a position, and then makes it get what comes.
func (h *hub) replay(ctx context.Context, c *conn, s *subscription, from Position) error {
	h.c.metrics.replays.Inc()
	for at, failures := from, 0; ; {
		last, joined := h.join(c, s, at)
		if joined {
			return nil
		}
		next, err := h.replayStep(ctx, c, s, at, last)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil:
			at, failures = next, 0
		case failures >= maxFailures:
			h.c.failed(err)
			return errReplay
		default:
			at, failures = next, failures+1
			h.c.sleep(ctx, retryPause<<failures)
		}
	}
}

// maxFailures is how often in a row reading may fail.
const maxFailures = 5

// replayStep gives a stream the events of some bundles after a position, up to the last
// one that all others have. It returns the position behind them.
func (h *hub) replayStep(ctx context.Context, c *conn, s *subscription, at Position, last uint32) (Position, error) {
	v, err := h.c.store.View()
	if err != nil {
		return at, errNotYet
	}
	after := at.MCSeqno
	if at.Event != endOfBundle && after > 0 {
		after-- // the rest of this one
	}
	var seqnos []uint32
	err = h.c.reading(ctx, func(ctx context.Context) (err error) {
		seqnos, err = h.c.store.SeqnosAfter(ctx, v, after, stepBundles)
		return err
	})
	if err != nil {
		return at, err
	}
	for _, seqno := range seqnos {
		if seqno > last {
			break
		}
		if err := h.replayBundle(ctx, c, s, at, seqno); err != nil {
			return at, err
		}
		at = endOf(seqno)
	}
	if len(seqnos) == 0 || seqnos[len(seqnos)-1] > last || seqnos[0] > last {
		at = maxPosition(at, endOf(last))
	}
	return at, nil
}

func maxPosition(a, b Position) Position {
	if a.Compare(b) < 0 {
		return b
	}
	return a
}

func (h *hub) replayBundle(ctx context.Context, c *conn, s *subscription, at Position, seqno uint32) error {
	v, err := h.c.store.View()
	if err != nil {
		return errNotYet
	}
	var b *bundle
	err = h.c.reading(ctx, func(ctx context.Context) (err error) {
		b, err = h.bundle(ctx, v, seqno)
		return err
	})
	if err != nil {
		return err
	}
	known := h.c.books()
	for _, e := range b.events {
		if e.position.Compare(at) <= 0 {
			continue
		}
		chosen, ok := e.chosen(s, false)
		if !ok {
			continue
		}
		raw := e.render(ctx, known, s, chosen)
		if err := c.pushWait(ctx, item{raw, e.position}); err != nil {
			return err
		}
		h.c.metrics.replayed.Inc()
	}
	return nil
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

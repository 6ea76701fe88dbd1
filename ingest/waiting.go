package ingest

import (
	"context"
	"time"

	"github.com/rs/zerolog"
)

// nearEnd is how close to its highest masterchain block a source may still be
// putting blocks in.
const nearEnd = 64

// problem says why a bundle cannot be had.
type problem struct {
	bad  bool // a block was refused; otherwise one is missing
	away bool // the source cannot be asked, so nothing is known
	left bool // it may be had, and is not wanted
	text string

	// strangers are masterchain blocks that do not continue the chain. Where the
	// source goes on with them, it has another chain: there is nothing to be skipped.
	strangers []*block
	other     bool
}

// problemOf is what a refusal means for its bundle.
func problemOf(refusal *Refusal) *problem {
	return &problem{bad: true, away: refusal.Reason == ReasonUnavailable, text: refusal.Error()}
}

// backoff doubles the pause between attempts. The zero value is ready.
type backoff struct {
	next   time.Duration
	began  time.Time
	logged time.Time
}

// waiting is how the stage waits: it says what for, pauses and lets the source
// look again.
type waiting struct {
	configuration Configuration
	source        Source
	metrics       *metrics
	log           zerolog.Logger
	status        *status

	saidUnreachable time.Time // this one too is used by the chain only
	saidAtHead      time.Time // used by the goroutine of the chain only
}

// skips reports whether a bundle is given up now.
func (w *waiting) skips(bundle uint32, why *problem, pause *backoff) bool {
	policy := w.configuration.OnGap
	if why.bad {
		policy = w.configuration.OnBad
	}
	if why.away || why.other || policy != Skip {
		return false
	}
	if pause.began.IsZero() {
		pause.began = time.Now()
	}
	_, last := w.source.Range()
	return bundle+nearEnd < last || time.Since(pause.began) >= w.configuration.SkipAfter
}

// stillWaiting is the time between two log lines about the same wait.
const stillWaiting = 30 * time.Second

// retry pauses before a bundle is tried again.
func (w *waiting) retry(ctx context.Context, bundle uint32, why *problem, pause *backoff) error {
	w.metrics.retries.Inc()
	if pause.next = 2 * pause.next; pause.next == 0 {
		pause.next = w.configuration.RetryMin
	}
	pause.next = min(pause.next, w.configuration.RetryMax)
	first := w.status.waitFor(bundle, why.text)
	if first && time.Since(pause.logged) > stillWaiting { // the others come to word when it is their turn
		pause.logged = time.Now()
		w.log.Warn().Uint32("bundle", bundle).Msg("waiting: " + why.text)
	}
	if err := sleep(ctx, pause.next); err != nil {
		return err
	}
	if err := w.source.Refresh(ctx, bundle); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		w.log.Warn().Err(err).Msg("source cannot be refreshed")
	}
	return nil
}

// unreachable says why the source does not tell whether it has gone on, and
// pauses.
func (w *waiting) unreachable(ctx context.Context, seqno uint32, why error) error {
	w.status.waitFor(seqno, why.Error())
	if time.Since(w.saidUnreachable) > stillWaiting {
		w.saidUnreachable = time.Now()
		w.log.Warn().Err(why).Msg("source cannot be refreshed")
	}
	return sleep(ctx, w.configuration.RetryMin)
}

// headsApart is how many masterchain blocks the servers of a source may be apart: one that
// is asked now may end before what another one gave.
const headsApart = 10

// atHead says that the source ends before a wanted block. Who follows a growing
// source is told so now and then only.
func (w *waiting) atHead(seqno, last uint32) {
	if time.Since(w.saidAtHead) < stillWaiting {
		return
	}
	w.saidAtHead = time.Now()
	line := w.log.Info()
	if seqno > last+headsApart {
		line = w.log.Warn().Str("why", "the source is behind, or has another chain")
	}
	line.Uint32("bundle", seqno).Uint32("source_ends_at", last).Msg("waiting for the source to go on")
}

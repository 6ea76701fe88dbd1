package ingest

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/rs/zerolog"
)

// progress tells a person how far the stage is: on a terminal in one line that
// is drawn again and again, otherwise in a log line every few seconds.
type progress struct {
	status   *status
	terminal io.Writer // nil: log lines
	every    time.Duration
	log      zerolog.Logger
}

// redrawEvery is the time between two drawings on a terminal.
const redrawEvery = 250 * time.Millisecond

func (p *progress) run(ctx context.Context, done <-chan struct{}) {
	every := p.every
	if p.terminal != nil {
		every = redrawEvery
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	last, at := p.status.get(), time.Now()
	for {
		select {
		case <-ctx.Done():
			p.end()
			return
		case <-done:
			all := p.status.get()
			p.report(all, float64(all.Bundles)/max(p.status.took().Seconds(), 1e-3))
			p.end()
			return
		case now := <-tick.C:
			next := p.status.get()
			rate := float64(next.Bundles-last.Bundles) / now.Sub(at).Seconds()
			if p.terminal != nil || next.Passed != last.Passed {
				p.report(next, rate)
			}
			if p.terminal == nil || now.Sub(at) > p.every {
				last, at = next, now
			}
		}
	}
}

func (p *progress) report(s Status, rate float64) {
	if p.terminal != nil {
		fmt.Fprintf(p.terminal, "\r\x1b[K%s", progressLine(s, rate, p.status.took()))
		return
	}
	event := p.log.Info().Uint32("bundle", s.Passed).Uint64("bundles", s.Bundles).Uint64("blocks", s.Blocks)
	if text := rateText(rate); text != "" {
		event = event.Str("rate", text+"/s")
	}
	if percent, left, ok := share(s, p.status.took()); ok {
		event = event.Str("percent", fmt.Sprintf("%.1f", percent)).Str("left", left)
	}
	event.Msg("ingest")
}

// end leaves the drawn line to be read.
func (p *progress) end() {
	if p.terminal != nil {
		fmt.Fprintln(p.terminal)
	}
}

// rateText is a rate with about two digits, empty for none.
func rateText(rate float64) string {
	switch {
	case rate < 0.005:
		return ""
	case rate < 1:
		return fmt.Sprintf("%.2f", rate)
	case rate < 10:
		return fmt.Sprintf("%.1f", rate)
	}
	return fmt.Sprintf("%.0f", rate)
}

// progressLine is the line of a terminal.
func progressLine(s Status, rate float64, took time.Duration) string {
	line := fmt.Sprintf("ingest  masterchain block %d  %d bundles  %d blocks", s.Passed, s.Bundles, s.Blocks)
	if text := rateText(rate); text != "" {
		line += "  " + text + " bundles/s"
	}
	if s.Gaps > 0 {
		line += fmt.Sprintf("  %d skipped", s.Gaps)
	}
	if s.Done {
		return line + fmt.Sprintf("  done in %s", took.Round(time.Second))
	}
	if percent, left, ok := share(s, took); ok {
		line += fmt.Sprintf("  %.1f %%  %s left", percent, left)
	}
	if s.Waiting != "" {
		line += "  waiting for a block"
	}
	return line
}

// share says how much of the range is done and how long the rest takes at the
// pace of the whole run.
func share(s Status, took time.Duration) (percent float64, left string, ok bool) {
	end := s.To
	if end == 0 {
		end = s.SourceLast
	}
	if end < s.From {
		return 0, "", false
	}
	all, passed := float64(end)-float64(s.From)+1, float64(s.Passed)-float64(s.From)+1
	if passed <= 0 {
		return 0, "?", true
	}
	rest := time.Duration(float64(took) * (all - passed) / passed)
	return 100 * passed / all, rest.Round(time.Second).String(), true
}

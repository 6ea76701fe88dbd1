package ingest

import (
	"context"
	"sync"
	"time"
)

// limiter keeps repeated scans of a folder apart, by at least a second and ten
// times what the last one took. Whoever asks in between waits for the next.
type limiter struct {
	mu    sync.Mutex
	next  time.Time
	since time.Time // end of the last scan
}

func (p *limiter) do(ctx context.Context, scan func() error) error {
	asked := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.since.After(asked) {
		return nil // another one scanned meanwhile
	}
	if err := sleep(ctx, time.Until(p.next)); err != nil {
		return err
	}
	start := time.Now()
	err := scan()
	p.since = time.Now()
	p.next = p.since.Add(max(time.Second, 10*p.since.Sub(start)))
	return err
}

// sleep pauses, or ends with the context's error.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// Package lifetime is how a component runs in the background. In comes its work,
// which goes on until it is stopped or fails for good; out go when it ended, and
// why. The package knows nothing of what is worked on.
package lifetime

import (
	"context"
	"sync"
	"time"
)

// Sleep pauses, or ends with what ended the context.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(max(d, 0))
	defer timer.Stop()
	if d > 0 {
		select {
		case <-ctx.Done():
		case <-timer.C:
			return nil
		}
	}
	return context.Cause(ctx)
}

// Run is the work of one component, begun at most once. A component that embeds
// it has Stop, Done and Err of it.
type Run struct {
	cancel context.CancelFunc
	tasks  sync.WaitGroup
	done   chan struct{}
	err    error // set before done is closed
}

// NewRun is one that has not begun.
func NewRun() *Run { return &Run{done: make(chan struct{})} }

// Start begins the work and returns at once. The work's context lasts until
// Stop; what it returns is nil when it was to end.
func (r *Run) Start(work func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	r.tasks.Go(func() {
		defer close(r.done)
		r.err = work(ctx)
	})
}

// Go runs a task beside the work that calls it. Stop waits for it too.
func (r *Run) Go(task func()) { r.tasks.Go(task) }

// Stop ends the work, waits for it and its tasks, and gives its error. It does
// nothing before Start, and may be called again.
func (r *Run) Stop(context.Context) error {
	if r.cancel == nil {
		return nil
	}
	r.cancel()
	r.tasks.Wait()
	return r.err
}

// Done is closed when the work has ended.
func (r *Run) Done() <-chan struct{} { return r.done }

// Err is nil before the end, then what the work returned.
func (r *Run) Err() error {
	select {
	case <-r.done:
		return r.err
	default:
		return nil
	}
}

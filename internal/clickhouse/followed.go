package clickhouse

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// Errors of looking something up in a followed table.
var (
	// ErrNoRow is that of a key which the table does not have.
	ErrNoRow = errors.New("the table has no such row")
	// ErrNotRead is that of a table which was not read yet.
	ErrNotRead = errors.New("the table was not read yet")
)

// Mark changes whenever a row of a followed table does.
type Mark struct{ Rows, Changed uint64 }

// FollowedOptions say what is followed.
type FollowedOptions[K comparable, V any] struct {
	// Mark reads the table's mark, a cheap statement.
	Mark func(ctx context.Context) (Mark, error)
	// Read makes all of the values anew; old are those of before.
	Read func(ctx context.Context, old map[K]V) (map[K]V, error)
	// Every is how often the mark is looked at.
	Every time.Duration
	// Failed is called with the error of looks that failed; the values stay.
	Failed func(error)
}

// Followed is a small table held in memory. A key that it does not have may be
// new: then the table is looked at before it is refused, with bounds on how often
// and for how many at once. Any number of goroutines may use it.
type Followed[K comparable, V any] struct {
	options FollowedOptions[K, V]
	held    atomic.Pointer[reading[K, V]]
	look    chan struct{} // that a look is asked for
	waiting chan struct{} // slots of those that wait for one
}

// reading is what one look at the table found. It does not change.
type reading[K comparable, V any] struct {
	values map[K]V
	began  time.Time     // when the look began, zero before the first
	next   chan struct{} // closed when the next look has ended
}

const (
	// lookLimit bounds each look at the table.
	lookLimit = 10 * time.Second
	// lookPause is the least time between two looks, however many unknown keys are
	// asked for.
	lookPause = 100 * time.Millisecond
	// maxWaiting bounds those that wait for a look.
	maxWaiting = 256
	// MaxLookWait bounds how long one of them waits.
	MaxLookWait = 2 * time.Second
)

// NewFollowed makes one that has read nothing yet.
func NewFollowed[K comparable, V any](o FollowedOptions[K, V]) *Followed[K, V] {
	f := &Followed[K, V]{options: o, look: make(chan struct{}, 1), waiting: make(chan struct{}, maxWaiting)}
	f.held.Store(&reading[K, V]{next: make(chan struct{})})
	return f
}

// Run keeps the values as the table has them until ctx ends.
func (f *Followed[K, V]) Run(ctx context.Context) {
	var seen Mark
	for ctx.Err() == nil {
		if err := f.read(ctx, &seen); err != nil && ctx.Err() == nil {
			f.options.Failed(err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(lookPause):
		}
		select {
		case <-ctx.Done():
		case <-f.look:
		case <-time.After(max(0, f.options.Every-lookPause)):
		}
	}
}

// read reads the table when it has changed.
func (f *Followed[K, V]) read(ctx context.Context, seen *Mark) error {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	fresh, old := &reading[K, V]{began: time.Now(), next: make(chan struct{})}, f.held.Load()
	mark, err := f.options.Mark(ctx)
	if err != nil {
		return err
	}
	fresh.values = old.values
	if old.began.IsZero() || mark != *seen {
		if fresh.values, err = f.options.Read(ctx, old.values); err != nil {
			return err
		}
	}
	*seen = mark
	close(f.held.Swap(fresh).next)
	return nil
}

// Known reports whether the table was read.
func (f *Followed[K, V]) Known() bool { return !f.held.Load().began.IsZero() }

// Len is the number of values.
func (f *Followed[K, V]) Len() int { return len(f.held.Load().values) }

// Held returns the value of a key as the table was when it was read last.
func (f *Followed[K, V]) Held(key K) (value V, ok bool) {
	value, ok = f.held.Load().values[key]
	return value, ok
}

// Get returns the value of a key: ErrNoRow when the table does not have it,
// ErrNotRead when it cannot be read.
func (f *Followed[K, V]) Get(ctx context.Context, key K) (value V, err error) {
	held := f.held.Load()
	if value, ok := held.values[key]; ok {
		return value, nil
	}
	select {
	case f.waiting <- struct{}{}:
		defer func() { <-f.waiting }()
	default:
		return value, f.missing()
	}
	asked := time.Now()
	ctx, cancel := context.WithTimeout(ctx, MaxLookWait)
	defer cancel()
	for {
		select {
		case f.look <- struct{}{}:
		default: // asked for already
		}
		select {
		case <-held.next:
		case <-ctx.Done():
			return value, f.missing()
		}
		held = f.held.Load()
		if value, ok := held.values[key]; ok {
			return value, nil
		}
		if held.began.After(asked) {
			return value, ErrNoRow
		}
	}
}

// Refresh returns when the values are as the table has them now, after a look that
// begins later than the call; an error is that of ctx.
func (f *Followed[K, V]) Refresh(ctx context.Context) error {
	asked := time.Now()
	for held := f.held.Load(); !held.began.After(asked); held = f.held.Load() {
		select {
		case f.look <- struct{}{}:
		default: // asked for already
		}
		select {
		case <-held.next:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (f *Followed[K, V]) missing() error {
	if !f.Known() {
		return ErrNotRead
	}
	return ErrNoRow
}

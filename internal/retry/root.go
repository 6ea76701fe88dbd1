// Package retry asks for things beside the work that wants them. In come keys
// with what is to be asked about each; every one is asked for until there is an
// answer, the oldest first, a few at a time. One that failed comes after a pause,
// which grows, and behind the others. The queue is bounded, and adding to it never
// waits. The package must never forget a request that it took, and knows nothing of
// what is asked.
package retry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Configuration of a Queue.
type Configuration struct {
	// Queue is how many things may wait to be asked for.
	Queue int `yaml:"queue"`
	// Parallel is how many requests are under way at a time.
	Parallel int `yaml:"parallel"`
	// Timeout is how long a request may take before it is tried again.
	Timeout time.Duration `yaml:"timeout"`
}

// DefaultConfiguration suits public lite servers.
func DefaultConfiguration() Configuration {
	return Configuration{Queue: 10_000, Parallel: 2, Timeout: 20 * time.Second}
}

// maxParallel bounds the goroutines that ask.
const maxParallel = 10_000

// Validate tells what makes no sense.
func (c Configuration) Validate() error {
	if c.Queue < 1 || c.Parallel < 1 || c.Timeout <= 0 {
		return errors.New("fetch: queue, parallel and timeout must be above 0")
	}
	if c.Parallel > maxParallel {
		return fmt.Errorf("fetch: parallel is %d, it must be at most %d", c.Parallel, maxParallel)
	}
	return nil
}

// Pauses after the first failure, and after many.
const (
	firstPause = time.Second
	maxPause   = time.Minute
)

// Queue is the requests that are open.
type Queue[K comparable, V any] struct {
	configuration Configuration
	ask           func(ctx context.Context, key K, about V) (again bool)

	mutex   sync.Mutex
	open    map[K]*item[K, V]
	order   []*item[K, V]
	refused bool
	wake    chan struct{}
}

type item[K comparable, V any] struct {
	key    K
	about  V
	asking bool
	added  int // how often
	due    time.Time
	pause  time.Duration
}

// New makes an empty queue. ask is called by Run, from several goroutines, and
// reports whether it is to be called again for the request.
func New[K comparable, V any](c Configuration, ask func(ctx context.Context, key K, about V) (again bool)) *Queue[K, V] {
	return &Queue[K, V]{configuration: c, ask: ask, open: map[K]*item[K, V]{}, wake: make(chan struct{}, 1)}
}

// Add opens a request, or changes what is to be asked about an open one, which
// is then asked (again). It is false when there is no room.
func (q *Queue[K, V]) Add(key K, about V) bool {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	e := q.open[key]
	if e == nil {
		if len(q.order) >= q.configuration.Queue {
			q.refused = true
			return false
		}
		e = &item[K, V]{key: key}
		q.open[key], q.order = e, append(q.order, e)
	}
	e.about, e.due, e.pause = about, time.Time{}, firstPause
	e.added++
	q.stir()
	return true
}

// Has reports whether a request is open.
func (q *Queue[K, V]) Has(key K) bool {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	return q.open[key] != nil
}

// Drop ends a request; an answer may still come.
func (q *Queue[K, V]) Drop(key K) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if e := q.open[key]; e != nil {
		q.remove(e)
	}
}

// Len is how many requests are open.
func (q *Queue[K, V]) Len() int {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	return len(q.order)
}

// Starved says, once, that the queue is empty after it had no room.
func (q *Queue[K, V]) Starved() bool {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	starved := q.refused && len(q.order) == 0
	if starved {
		q.refused = false
	}
	return starved
}

func (q *Queue[K, V]) remove(e *item[K, V]) {
	delete(q.open, e.key)
	q.order = slices.DeleteFunc(q.order, func(other *item[K, V]) bool { return other == e })
}

func (q *Queue[K, V]) stir() {
	select {
	case q.wake <- struct{}{}:
	default: // woken already
	}
}

// Run asks until ctx ends.
func (q *Queue[K, V]) Run(ctx context.Context) {
	var group sync.WaitGroup
	for range q.configuration.Parallel {
		group.Go(func() {
			for ctx.Err() == nil {
				if e, pause := q.next(); e != nil {
					q.do(ctx, e)
				} else {
					select {
					case <-ctx.Done():
					case <-q.wake:
					case <-time.After(pause):
					}
				}
			}
		})
	}
	group.Wait()
}

// next is the first request that is due, or how long none will be.
func (q *Queue[K, V]) next() (*item[K, V], time.Duration) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	pause := maxPause
	for _, e := range q.order {
		if e.asking {
			continue
		}
		if left := time.Until(e.due); left > 0 {
			pause = min(pause, left)
			continue
		}
		e.asking = true
		q.stir() // there may be more for another goroutine
		return e, 0
	}
	return nil, pause
}

func (q *Queue[K, V]) do(ctx context.Context, e *item[K, V]) {
	q.mutex.Lock()
	about, added := e.about, e.added
	q.mutex.Unlock()
	asking, cancel := context.WithTimeout(ctx, q.configuration.Timeout)
	defer cancel()
	again := q.ask(asking, e.key, about)
	q.mutex.Lock()
	defer q.mutex.Unlock()
	e.asking = false
	switch {
	case q.open[e.key] != e || e.added != added: // dropped, or asked about something else now
		q.stir()
	case again:
		e.due, e.pause = time.Now().Add(e.pause), min(2*e.pause, maxPause)
		q.remove(e) // behind those that were not asked for: a few that take long would stop them
		q.open[e.key], q.order = e, append(q.order, e)
		q.stir()
	default:
		q.remove(e)
	}
}

package lite

import (
	"context"
	"slices"
	"sync"
)

// line gives out the places of the servers, each of which gets so many requests
// at a time. A request takes a place where one is free, and waits where none is:
// a place that becomes free goes to the first in the line that can use it, at
// whatever server. So nobody is overtaken, and nobody waits for one server while
// another has nothing to do.
type line struct {
	places int // of each server

	mu      sync.Mutex
	waiting []*waiter
}

// waiter is a request in the line.
type waiter struct {
	// takes says whether a place at the server is of use. It is called under the
	// lock of the line.
	takes func(*server) bool
	got   chan *server // of one
}

// try takes a place at the first of the servers that has one; nil for none.
func (l *line) try(servers []*server) *server {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range servers {
		if int(s.running.Load()) < l.places {
			s.running.Add(1)
			return s
		}
	}
	return nil
}

// join waits for a place. The waiter must leave, unless it got one.
func (l *line) join(takes func(*server) bool) *waiter {
	w := &waiter{takes: takes, got: make(chan *server, 1)}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, w)
	return w
}

// leave ends the waiting. What the waiter was given meanwhile is given back.
func (l *line) leave(w *waiter) {
	l.mu.Lock()
	if i := slices.Index(l.waiting, w); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
	l.mu.Unlock()
	select {
	case s := <-w.got:
		l.release(s)
	default:
	}
}

// release gives a place back.
func (l *line) release(s *server) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, w := range l.waiting {
		if w.takes(s) {
			l.waiting = slices.Delete(l.waiting, i, i+1)
			w.got <- s
			return
		}
	}
	s.running.Add(-1)
}

// takeAt takes a place at one server, when there is one.
func (l *line) takeAt(ctx context.Context, s *server) error {
	if l.try([]*server{s}) != nil {
		return nil
	}
	w := l.join(func(free *server) bool { return free == s })
	select {
	case <-w.got:
		return nil
	case <-ctx.Done():
		l.leave(w)
		return ctx.Err()
	}
}

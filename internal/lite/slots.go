package lite

import (
	"context"
	"slices"
	"sync"
)

// slotQueue gives out the slots of the servers, each of which gets so many requests
// at a time. A request takes a slot where one is free, and waits where none is:
// a slot that becomes free goes to the first waiter that can use it, at
// whatever server. So nobody is overtaken, and nobody waits for one server while
// another has nothing to do.
type slotQueue struct {
	each int // server has so many slots

	mu      sync.Mutex
	waiting []*waiter
}

// waiter is a request that waits for a slot.
type waiter struct {
	// takes reports whether a slot at the server is of use. It is called under the
	// lock of the queue.
	takes func(*server) bool
	got   chan *server // of one
}

// try takes a slot at the first of the servers that has one; nil for none.
func (l *slotQueue) try(servers []*server) *server {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range servers {
		if int(s.running.Load()) < l.each {
			s.running.Add(1)
			return s
		}
	}
	return nil
}

// join waits for a slot. The waiter must leave, unless it got one.
func (l *slotQueue) join(takes func(*server) bool) *waiter {
	w := &waiter{takes: takes, got: make(chan *server, 1)}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, w)
	return w
}

// leave ends the waiting. What the waiter was given meanwhile is given back.
func (l *slotQueue) leave(w *waiter) {
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

// release gives a slot back.
func (l *slotQueue) release(s *server) {
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

// takeAt takes a slot at one server, when there is one.
func (l *slotQueue) takeAt(ctx context.Context, s *server) error {
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

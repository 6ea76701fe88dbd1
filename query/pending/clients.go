package pending

import (
	"sync"
	"time"
)

const (
	// queueShare is the part of the queue that one client may fill.
	queueShare = 8
	// storeShare is the part of the store that one client may fill at an even pace, and
	// burstShare the part that it may fill at once besides.
	storeShare, burstShare = 4, 8
)

// clients bounds what each sender has on the way and in the store, so that nobody
// pushes out what others have sent.
type clients struct {
	working int           // messages of one client that wait or are worked out
	pace    time.Duration // in which a client's part of the store lets one trace go
	burst   time.Duration
	unit    int // bytes of records that count as one trace

	mu      sync.Mutex
	of      map[string]*client
	cleaned time.Time
}

type client struct {
	working int
	due     time.Time // when all of its traces would have come at the pace
}

func newClients(c Configuration) *clients {
	pace := c.Keep * storeShare / time.Duration(c.MaxTraces)
	return &clients{
		working: max(1, c.Queue/queueShare), pace: pace, burst: pace * time.Duration(c.MaxTraces) / burstShare,
		unit: max(1, c.MaxBytes/c.MaxTraces), of: map[string]*client{},
	}
}

// enter reports whether a client may send one more.
func (l *clients) enter(name string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clean(now)
	c := l.of[name]
	if c == nil {
		c = &client{}
		l.of[name] = c
	}
	if c.working >= l.working || c.due.Sub(now) > l.burst {
		return false
	}
	c.working++
	l.charge(c, 1, now)
	return true
}

func (l *clients) charge(c *client, traces int, now time.Time) {
	if c.due.Before(now) {
		c.due = now
	}
	c.due = c.due.Add(l.pace * time.Duration(traces))
}

// leave ends what enter began, with the bytes that the store has got.
func (l *clients) leave(name string, bytes int, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.of[name]; c != nil {
		c.working--
		l.charge(c, bytes/l.unit, now)
	}
}

// clean forgets clients of whom nothing counts any more.
func (l *clients) clean(now time.Time) {
	if now.Sub(l.cleaned) < cleanEvery {
		return
	}
	l.cleaned = now
	for name, c := range l.of {
		if c.working == 0 && c.due.Before(now) {
			delete(l.of, name)
		}
	}
}

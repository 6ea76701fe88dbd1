package send

import (
	"slices"
	"sync"
	"time"
)

// conditions are how endpoints do, as this process sees them: they decide how many
// attempts each gets at once. Any number of goroutines may use them.
type conditions struct {
	first, most int
	mutex       sync.Mutex
	endpoints   map[ID]*condition
}

// condition is how one endpoint does.
type condition struct {
	parallel  int // attempts at once
	grown     int // successes since parallel last changed
	open      bool
	failures  int // in a row
	successes int // in a row
	recent    []outcome
	durations []time.Duration // of the last attempts
	used      time.Time
}

type outcome struct {
	at     time.Time
	failed bool
}

// The breaker opens after failures in a row, or when most of the recent attempts failed.
// It never delays an attempt: an endpoint whose breaker is open has one at a time.
const (
	openAfter     = 10              // failures in a row
	openShare     = 70              // per cent of recent attempts
	openOf        = 10              // recent attempts at least
	recentTime    = 5 * time.Minute // what is recent
	maxRecent     = 200
	closeAfter    = 3 // successes in a row
	durationsKept = 40
	slow          = time.Second // p95 above which no more attempts are made at once
	// forgotten is after how long an endpoint that nothing was sent to is new again.
	forgotten = time.Hour
)

func newConditions(c Configuration) *conditions {
	return &conditions{first: c.EndpointAttempts, most: c.EndpointMax, endpoints: map[ID]*condition{}}
}

// parallel is how many attempts an endpoint gets at once.
func (c *conditions) parallel(merchant ID) int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	e := c.endpoints[merchant]
	switch {
	case e == nil:
		return c.first
	case e.open:
		return 1
	}
	return e.parallel
}

// note takes in how an attempt ended, and reports whether the breaker is open.
func (c *conditions) note(merchant ID, a *Attempt) (open bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	e := c.endpoints[merchant]
	if e == nil {
		e = &condition{parallel: c.first}
		c.endpoints[merchant] = e
	}
	e.used = a.Ended
	e.recent = append(e.recent, outcome{a.Ended, !a.Succeeded()})
	old := max(0, len(e.recent)-maxRecent)
	for old < len(e.recent) && a.Ended.Sub(e.recent[old].at) > recentTime {
		old++
	}
	e.recent = e.recent[old:]
	e.durations = append(e.durations, a.Total) // not until the answer begins: its body has the attempt too
	e.durations = e.durations[max(0, len(e.durations)-durationsKept):]
	if a.Succeeded() {
		e.succeeded(c.most)
	} else {
		e.failed(a.Class == ClassTimeout)
	}
	return e.open
}

func (e *condition) failed(timeout bool) {
	e.failures, e.successes, e.grown = e.failures+1, 0, 0
	if timeout {
		e.parallel = max(1, e.parallel/2)
	}
	failed := 0
	for _, o := range e.recent {
		if o.failed {
			failed++
		}
	}
	if e.failures >= openAfter || len(e.recent) >= openOf && failed*100 >= openShare*len(e.recent) {
		e.open = true
	}
}

func (e *condition) succeeded(most int) {
	e.failures, e.successes, e.grown = 0, e.successes+1, e.grown+1
	if e.open && e.successes >= closeAfter {
		e.open, e.recent = false, nil
	}
	if e.grown >= e.parallel && e.parallel < most && e.p95() < slow {
		e.parallel, e.grown = e.parallel+1, 0
	}
}

func (e *condition) p95() time.Duration {
	sorted := slices.Sorted(slices.Values(e.durations))
	return sorted[len(sorted)*95/100]
}

// count forgets endpoints that were not used for long, and counts the open breakers.
func (c *conditions) count(now time.Time) (open, closed int) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for merchant, e := range c.endpoints {
		switch {
		case now.Sub(e.used) > forgotten:
			delete(c.endpoints, merchant)
		case e.open:
			open++
		default:
			closed++
		}
	}
	return open, closed
}

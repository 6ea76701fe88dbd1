package dispatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

type (
	item  = Item[string, int, *state]
	queue = Queue[string, int, *state]
)

// state is a row of a table, and what the last try came to.
type state struct {
	destination, series string
	key, attempts       int
	due                 time.Time
	ended, delivered    bool

	at time.Time // the end of the try
	ok bool
}

// table is a store that outlives its queues.
type table struct {
	testing.TB
	rows   []*state
	pauses []time.Duration // after failures; then an item has ended

	mutex  sync.Mutex
	cursor map[string]int // rows of a destination up to it were read, by this queue
	broken error          // of the next Write
	end    bool

	// of the destinations
	serve   func(ctx context.Context, s *state, try int) (Result, bool)
	tries   map[int][]time.Time // begins, by key
	running map[string]int
	most    int // at once
	ended   []int
	inHand  map[int]bool
}

func newTable(t testing.TB, rows ...*state) *table {
	s := &table{TB: t, tries: map[int][]time.Time{}, running: map[string]int{}, inHand: map[int]bool{},
		serve: func(context.Context, *state, int) (Result, bool) { return Result{}, true }}
	for _, r := range rows {
		s.insert(r)
	}
	return s
}

func (s *table) insert(r *state) *state {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	r.key = len(s.rows)
	if r.due.IsZero() {
		r.due = time.Now()
	}
	s.rows = append(s.rows, r)
	return r
}

// added is a row's item, for who gives it to the queue.
func (s *table) added(r *state) *item {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return r.item()
}

func (r *state) item() *item {
	copied := *r
	return &item{Destination: r.destination, Key: r.key, Series: r.series, Due: r.due, Size: 100, Value: &copied}
}

var options = Options[string]{
	Limits:   func(string) Limits { return Limits{Parallel: 2, Ahead: 10} },
	Parallel: 64, Items: 1000, Bytes: 1 << 20, WriteItems: 50, WriteBytes: 1 << 20, Poll: 50 * time.Millisecond,
	Busy: Backoff{time.Second, time.Minute}, MaxAfter: 10 * time.Minute,
}

// queue makes one on the table, as after a start.
func (s *table) queue(o Options[string]) *queue {
	s.cursor = map[string]int{}
	clear(s.inHand)
	q := New(o, s, s.try)
	for _, r := range s.rows {
		if !r.ended {
			q.Wake(r.destination, r.due)
		}
	}
	return q
}

// Read goes through the rows in their order, and begins anew when one that it
// passed is due.
func (s *table) Read(_ context.Context, destination string, limit int) (items []*item, again time.Time, err error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if limit < 1 {
		s.Errorf("%d items are asked for", limit)
	}
	if s.cursor[destination] >= len(s.rows) {
		s.cursor[destination] = 0
	}
	for ; s.cursor[destination] < len(s.rows); s.cursor[destination]++ {
		r := s.rows[s.cursor[destination]]
		if r.destination != destination || r.ended {
			continue
		}
		if len(items) == limit {
			return items, time.Now(), nil
		}
		if !r.due.After(time.Now()) {
			items = append(items, r.item())
		}
	}
	for _, r := range s.rows {
		if r.destination == destination && !r.ended && r.due.After(time.Now()) && (again.IsZero() || r.due.Before(again)) {
			again = r.due
		}
	}
	return items, again, nil
}

func (s *table) Write(_ context.Context, tried []*item) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if err := s.broken; err != nil {
		return err
	}
	for _, i := range tried {
		r, v := s.rows[i.Key], i.Value
		r.attempts++
		i.Due = time.Time{}
		switch {
		case v.ok:
			r.ended, r.delivered = true, true
		case r.attempts <= len(s.pauses):
			i.Due = v.at.Add(s.pauses[r.attempts-1])
			r.due = i.Due
		default:
			r.ended = true
		}
		if r.ended {
			s.ended = append(s.ended, i.Key)
		}
	}
	return nil
}

func (s *table) Poll(context.Context) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.end {
		return ErrEnd
	}
	return nil
}

func (s *table) try(ctx context.Context, i *item) Result {
	s.mutex.Lock()
	if s.inHand[i.Key] {
		s.Errorf("item %d is tried twice at once", i.Key)
	}
	s.inHand[i.Key] = true
	s.tries[i.Key] = append(s.tries[i.Key], time.Now())
	n := len(s.tries[i.Key])
	s.running[i.Destination]++
	total := 0
	for _, running := range s.running {
		total += running
	}
	s.most = max(s.most, total)
	s.mutex.Unlock()
	result, ok := s.serve(ctx, i.Value, n)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.running[i.Destination]--
	delete(s.inHand, i.Key)
	i.Value.at, i.Value.ok = time.Now(), ok
	return result
}

// kill makes the next Write fail.
func (s *table) kill(err error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.broken = err
}

// stop makes the next Poll end the queue.
func (s *table) stop() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.end = true
}

// run runs a queue for a while.
func (s *table) run(q *queue, d time.Duration) error {
	ctx, cancel := context.WithTimeout(s.Context(), d)
	defer cancel()
	return q.Run(ctx)
}

// after are the times of an item's tries since a moment, in seconds.
func (s *table) after(start time.Time, key int) string {
	var list []float64
	for _, t := range s.tries[key] {
		list = append(list, t.Sub(start).Seconds())
	}
	return fmt.Sprint(list)
}

// latencies are the times from when each was due to the first try, of
// destinations that are wanted, sorted.
func (s *table) latencies(wanted func(string) bool) (list []time.Duration) {
	for _, r := range s.rows {
		if wanted(r.destination) {
			if len(s.tries[r.key]) == 0 {
				s.Fatalf("item %d of %s was never tried", r.key, r.destination)
			}
			list = append(list, s.tries[r.key][0].Sub(r.due))
		}
	}
	slices.SortFunc(list, cmp.Compare)
	return list
}

// sleep is a destination that takes so long.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

var errKilled = errors.New("killed")

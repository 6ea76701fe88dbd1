// Package dispatch tries what is due at many destinations, each of which may be
// slow, busy or gone. In come items with a due time, from their store or as they
// arise; they are tried a few at a time, destinations taking turns, and go back
// into the store with what became of them. What is not held in memory is read
// from the store when it is due, so a queue is as long as its store, and a restart
// loses nothing. The package must never try an item twice at once, overtake within
// a series, or let one destination have what others need; it knows nothing of
// what is tried.
package dispatch

import (
	"container/heap"
	"context"
	"errors"
	"sync"
	"time"
)

// Item is one thing to be tried.
type Item[D, K comparable, V any] struct {
	Destination D
	Key         K // among all items
	// Series names items of a destination of which each waits until the one
	// before has ended; "" for none.
	Series string
	Due    time.Time
	Size   int // bytes in memory, about
	// Value is the caller's, with what became of the item once it was tried.
	Value V
}

// Result is what a try tells of the destination.
type Result struct {
	// Busy reports that the destination wants to be left alone: it did not answer,
	// or said so.
	Busy bool
	// After is for how long, where it tells.
	After time.Duration
}

// Store keeps items. The goroutine of Run calls it, one method at a time.
type Store[D, K comparable, V any] interface {
	// Read returns items of a destination that are due, at most limit, in the order
	// in which they are to be tried. The next call goes on after them. again is
	// when that is of use: at once when there are more, zero when nothing is known
	// that will be due. Items that are held are passed over.
	Read(ctx context.Context, destination D, limit int) (items []*Item[D, K, V], again time.Time, err error)
	// Write makes durable what became of items, and sets their Due: zero for those
	// that have ended, well or not.
	Write(ctx context.Context, tried []*Item[D, K, V]) error
	// Poll is called now and then, after a Write. ErrEnd ends Run in order.
	Poll(ctx context.Context) error
}

// ErrEnd is what Store.Poll returns to end Run.
var ErrEnd = errors.New("the queue ends")

// Limits of a destination.
type Limits struct {
	Parallel int           // tries at once
	Ahead    int           // items that are held; Options.BusyAhead while it is busy
	Pause    time.Duration // of each of the tries before the next one
}

// Options of a Queue.
type Options[D comparable] struct {
	// Limits returns those of a destination; they may change.
	Limits func(D) Limits
	// Parallel is how many tries there are at once. Busy destinations get a
	// quarter of them at most.
	Parallel int
	// Unproven is how many of them destinations get at most that are not busy and have not
	// answered yet, where anybody can make up destinations; 0 for no bound.
	Unproven int
	// Items and Bytes bound what is held.
	Items, Bytes int
	// WriteItems and WriteBytes are how much is written at once.
	WriteItems, WriteBytes int
	// Poll is the longest time between writes.
	Poll time.Duration
	// Hold keeps items between tries. Without it they are read again.
	Hold bool
	// Busy is how long a try of a busy destination pauses, MaxAfter the longest
	// pause that a destination gets by asking for it.
	Busy     Backoff
	MaxAfter time.Duration
	// BusyAhead is how many items of a busy destination are held at most, as long as half
	// of the memory is free; one where it is 0. With Hold, those that wait for their next try count.
	BusyAhead int
}

// Queue is what is due. Its methods may be called from several goroutines.
type Queue[D, K comparable, V any] struct {
	options Options[D]
	store   Store[D, K, V]
	try     func(context.Context, *Item[D, K, V]) Result
	changed chan struct{} // holds a token after something came from outside
	results chan result[D, K, V]
	tries   sync.WaitGroup

	mutex        sync.Mutex
	destinations map[D]*destination[D, K, V]
	held         map[K]*Item[D, K, V]
	series       map[series[D]][]*Item[D, K, V] // those held, the first is tried
	bytes        int                            // of held
	timers       timers
	turns        []*destination[D, K, V] // with an item to try and a try to spare
	parked       []*destination[D, K, V] // busy and unproven ones that wait for a try of another
	dry          []*destination[D, K, V] // to be read from the store
	running      int
	busy         int        // tries of busy destinations
	unproven     int        // tries of those that have not answered yet
	proven       map[D]bool // those that answered last, where Unproven is a bound
	tried        []*Item[D, K, V]
	triedBytes   int
}

// destination is what is known of one.
type destination[D, K comparable, V any] struct {
	name     D
	ready    []*Item[D, K, V] // due, in the order of tries
	held     int              // ready, under way, or waiting
	active   int              // tries, and pauses after them
	failures int              // in a row, while it was busy
	wake     time.Time        // when to read the store, zero for not at all
	alarm    timer            // of wake, or of one before
	queued   bool             // in turns or parked
	isDry    bool             // in dry, or being read
	behind   bool             // the store has more that is due
}

type series[D comparable] struct {
	destination D
	name        string
}

type result[D, K comparable, V any] struct {
	Result
	item     *Item[D, K, V]
	from     *destination[D, K, V]
	size     int  // of the item before
	busy     bool // the destination was
	unproven bool // it was not, and has not answered yet
}

// New makes an empty queue. try is called from several goroutines, each with an
// item that is its own until try returns; what it returns after ctx has ended
// does not count.
func New[D, K comparable, V any](options Options[D], store Store[D, K, V], try func(context.Context, *Item[D, K, V]) Result) *Queue[D, K, V] {
	return &Queue[D, K, V]{options: options, store: store, try: try, changed: make(chan struct{}, 1), results: make(chan result[D, K, V]),
		destinations: map[D]*destination[D, K, V]{}, held: map[K]*Item[D, K, V]{}, series: map[series[D]][]*Item[D, K, V]{}, proven: map[D]bool{}}
}

// Add takes an item up that the store has, and reports whether it is held. When
// there is no room, or the store has some that come before it, it is read from
// there when it is due.
func (q *Queue[D, K, V]) Add(item *Item[D, K, V]) bool {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	defer q.stir()
	d := q.destination(item.Destination)
	if q.room(d) <= 0 || d.isDry || d.behind || !d.wake.IsZero() && !d.wake.After(item.Due) {
		q.wake(d, item.Due)
		return false
	}
	q.add(d, item)
	return true
}

// Wake tells that the store has an item of a destination that will be due.
func (q *Queue[D, K, V]) Wake(destination D, due time.Time) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.wake(q.destination(destination), due)
	q.stir()
}

// Held is how many items are held.
func (q *Queue[D, K, V]) Held() int {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	return len(q.held)
}

// Waiting is how many destinations have something that is due.
func (q *Queue[D, K, V]) Waiting() (n int) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	for _, d := range q.destinations {
		if len(d.ready) > 0 || d.active > 0 || d.isDry {
			n++
		}
	}
	return n
}

func (q *Queue[D, K, V]) stir() {
	select {
	case q.changed <- struct{}{}:
	default:
	}
}

func (q *Queue[D, K, V]) destination(name D) *destination[D, K, V] {
	d := q.destinations[name]
	if d == nil {
		d = &destination[D, K, V]{name: name}
		d.alarm.do = func() { q.queue(d) }
		q.destinations[name] = d
	}
	return d
}

// room is how many more items of a destination may be held.
func (q *Queue[D, K, V]) room(d *destination[D, K, V]) int {
	ahead, items, bytes := q.options.Limits(d.name).Ahead, q.options.Items, q.options.Bytes
	if d.failures > 0 { // it must not fill the memory
		ahead = min(ahead, max(1, q.options.BusyAhead))
		if q.options.BusyAhead > 0 {
			items, bytes = items/2, bytes/2
		}
	}
	if q.bytes >= bytes {
		return 0
	}
	return min(ahead-d.held, items-len(q.held))
}

func (q *Queue[D, K, V]) add(d *destination[D, K, V], item *Item[D, K, V]) (fresh bool) {
	if q.held[item.Key] != nil {
		return false
	}
	q.held[item.Key] = item
	q.bytes += item.Size
	d.held++
	if item.Series != "" {
		s := series[D]{item.Destination, item.Series}
		q.series[s] = append(q.series[s], item)
		if len(q.series[s]) > 1 {
			return true
		}
	}
	q.schedule(d, item)
	return true
}

// schedule makes an item ready when it is due.
func (q *Queue[D, K, V]) schedule(d *destination[D, K, V], item *Item[D, K, V]) {
	if item.Due.After(time.Now()) {
		q.at(monotonic(item.Due), func() { q.ready(d, item) })
		return
	}
	q.ready(d, item)
}

func (q *Queue[D, K, V]) ready(d *destination[D, K, V], item *Item[D, K, V]) {
	d.ready = append(d.ready, item)
	q.queue(d)
}

// queue lets a destination take turns if it can use one, and have its store read
// when it has nothing ready.
func (q *Queue[D, K, V]) queue(d *destination[D, K, V]) {
	switch {
	case len(d.ready) > 0:
		if !d.queued && d.active < q.options.Limits(d.name).Parallel {
			d.queued = true
			q.turns = append(q.turns, d)
		}
	case !d.wake.IsZero() && !d.wake.After(time.Now()):
		if !d.isDry {
			d.isDry = true
			q.dry = append(q.dry, d)
		}
	case d.wake.IsZero() && d.held == 0 && d.active == 0 && d.failures == 0 && q.destinations[d.name] == d:
		delete(q.destinations, d.name)
	}
}

func (q *Queue[D, K, V]) wake(d *destination[D, K, V], due time.Time) {
	due = monotonic(due)
	if d.wake.IsZero() || due.Before(d.wake) {
		d.wake, d.alarm.at = due, due
		if d.alarm.set { // until what is due in a week there are reads without number: one timer is moved
			heap.Fix(&q.timers, d.alarm.index)
		} else {
			heap.Push(&q.timers, &d.alarm)
		}
	}
}

// release ends the hold of an item that was tried.
func (q *Queue[D, K, V]) release(d *destination[D, K, V], item *Item[D, K, V]) {
	delete(q.held, item.Key)
	q.bytes -= item.Size
	if item.Series == "" {
		return
	}
	s := series[D]{item.Destination, item.Series}
	if q.series[s] = q.series[s][1:]; len(q.series[s]) > 0 {
		q.schedule(d, q.series[s][0])
	} else {
		delete(q.series, s)
	}
}

// monotonic is the moment by the monotonic clock, too, which due times of a store are
// without: a wall clock that is set meanwhile moves nothing that is waited for.
func monotonic(moment time.Time) time.Time {
	now := time.Now()
	return now.Add(moment.Sub(now))
}

// at calls do, which has the mutex, at a time.
func (q *Queue[D, K, V]) at(t time.Time, do func()) { heap.Push(&q.timers, &timer{at: t, do: do}) }

type timer struct {
	at    time.Time
	do    func()
	set   bool // it is among the timers
	index int  // there
}

// timers are a heap.
type timers []*timer

func (t timers) Len() int           { return len(t) }
func (t timers) Less(i, j int) bool { return t[i].at.Before(t[j].at) }
func (t timers) Swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].index, t[j].index = i, j
}
func (t *timers) Push(x any) {
	one := x.(*timer) //nolint:forcetypeassert // nothing else is pushed
	one.set, one.index = true, len(*t)
	*t = append(*t, one)
}
func (t *timers) Pop() any {
	last := (*t)[len(*t)-1]
	(*t)[len(*t)-1] = nil
	*t = (*t)[:len(*t)-1]
	last.set = false
	return last
}

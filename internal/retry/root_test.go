package retry

import (
	"context"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// running is a queue that is run until the test ends, and the calls of its ask.
type running struct {
	*Queue[string, int]
	calls chan call
}

type call struct {
	key    string
	about  int
	answer chan bool // again
}

func run(t *testing.T, c Configuration) *running {
	t.Helper()
	r := &running{calls: make(chan call)}
	r.Queue = New(c, func(ctx context.Context, key string, about int) bool {
		asked := call{key, about, make(chan bool)}
		select {
		case r.calls <- asked:
		case <-ctx.Done():
			return true
		}
		select {
		case again := <-asked.answer:
			return again
		case <-ctx.Done():
			return true
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() { r.Run(ctx) })
	t.Cleanup(func() { cancel(); group.Wait() })
	return r
}

func (r *running) next(t *testing.T) call {
	t.Helper()
	select {
	case c := <-r.calls:
		return c
	case <-time.After(time.Minute):
		t.Fatal("nothing is asked")
		return call{}
	}
}

// settled waits until so many requests are open.
func (r *running) settled(t *testing.T, want int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); r.Len() != want; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d requests are open, want %d", r.Len(), want)
		}
	}
}

func one() Configuration { return Configuration{Queue: 3, Parallel: 1, Timeout: time.Hour} }

func TestTheOldestIsAskedFirstAndFailuresComeBackAfterTheOthers(t *testing.T) {
	r := run(t, one())
	for i, key := range []string{"a", "b", "c"} {
		if !r.Add(key, i) {
			t.Fatalf("%s was not taken", key)
		}
	}
	var order []string
	for _, again := range []bool{true, false, false, false} {
		c := r.next(t)
		order = append(order, c.key)
		c.answer <- again
	}
	if want := []string{"a", "b", "c", "a"}; !slices.Equal(order, want) {
		t.Errorf("asked in the order %v, want %v", order, want)
	}
	r.settled(t, 0)
}

func TestAFullQueueRefusesAndSaysOnceWhenItIsEmpty(t *testing.T) {
	r := run(t, one())
	first := ""
	for _, key := range []string{"a", "b", "c"} {
		r.Add(key, 0)
	}
	if r.Add("d", 0) {
		t.Error("a fourth request was taken, want 3")
	}
	if !r.Add("a", 1) {
		t.Error("an open request was refused")
	}
	if r.Starved() {
		t.Error("the full queue is starved")
	}
	for r.Len() > 0 {
		c := r.next(t)
		first += c.key
		c.answer <- false
		if len(first) > 10 {
			t.Fatalf("asked %s", first)
		}
		r.settledBelow(t, c)
	}
	if !r.Starved() || r.Starved() {
		t.Error("the empty queue does not say once that it is starved")
	}
}

// settledBelow waits until the call's request is closed or asked again.
func (r *running) settledBelow(t *testing.T, c call) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		r.mutex.Lock()
		e := r.open[c.key]
		done := e == nil || !e.asking || e.about != c.about
		r.mutex.Unlock()
		if done {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s stays open", c.key)
		}
	}
}

func TestWhatChangesWhileItIsAskedIsAskedAgain(t *testing.T) {
	r := run(t, one())
	r.Add("a", 1)
	c := r.next(t)
	r.Add("a", 2)
	c.answer <- false
	c = r.next(t)
	if c.about != 2 {
		t.Errorf("asked about %d, want 2", c.about)
	}
	c.answer <- false
	r.settled(t, 0)
}

func TestADroppedErrandIsNotAskedAgain(t *testing.T) {
	r := run(t, one())
	r.Add("a", 1)
	r.Add("b", 1)
	c := r.next(t)
	r.Drop(c.key)
	c.answer <- true
	c = r.next(t)
	if c.key != "b" || r.Has("a") {
		t.Errorf("%s is asked, a is open: %t; want b, false", c.key, r.Has("a"))
	}
	c.answer <- false
	r.settled(t, 0)
}

func TestARequestThatTakesTooLongIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := one()
		c.Timeout = 20 * time.Second
		r := run(t, c)
		r.Add("a", 1)
		r.next(t) // never answered
		second := r.next(t)
		second.answer <- false
		r.settled(t, 0)
	})
}

func TestARequestThatFailsGoesBehindThoseThatWait(t *testing.T) {
	q := New(DefaultConfiguration(), func(context.Context, string, int) bool { return true })
	for _, key := range []string{"slow", "new"} {
		q.Add(key, 0)
	}
	first, _ := q.next()
	q.do(t.Context(), first)
	first.due = time.Time{} // its pause has ended
	if second, _ := q.next(); first.key != "slow" || second.key != "new" {
		t.Errorf("asked for %s, then for %s, want slow, then new", first.key, second.key)
	}
}

func TestNoMoreThanSomeThousandAskAtATime(t *testing.T) {
	c := one()
	if c.Parallel = math.MaxInt; c.Validate() == nil {
		t.Errorf("%d requests at a time are accepted", c.Parallel)
	}
}

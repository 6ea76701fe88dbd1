package dispatch

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var threeRetries = []time.Duration{time.Second, 5 * time.Second, 15 * time.Second}

func TestRetriesFollowTheEndOfEachTryToTheMillisecondAndThenTheItemHasEnded(t *testing.T) {
	for name, c := range map[string]struct {
		takes time.Duration
		want  string
	}{"failing at once": {0, "[0 1 6 21]"}, "failing after 10 s": {10 * time.Second, "[0 11 26 51]"}} {
		for _, hold := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, held %t", name, hold), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newTable(t, &state{destination: "dead"}, &state{destination: "well"})
					s.pauses = threeRetries
					s.serve = func(ctx context.Context, r *state, _ int) (Result, bool) {
						if r.destination == "dead" {
							sleep(ctx, c.takes)
						}
						return Result{}, r.destination == "well"
					}
					o, start := options, time.Now()
					o.Hold = hold
					if err := s.run(s.queue(o), 2*time.Minute); err != nil {
						t.Fatal(err)
					}
					if got := s.after(start, 0); got != c.want {
						t.Errorf("tries after %s s, want %s", got, c.want)
					}
					if dead, well := s.rows[0], s.rows[1]; !dead.ended || dead.delivered || dead.attempts != 4 || !well.delivered || well.attempts != 1 {
						t.Errorf("the rows are %+v and %+v", dead, well)
					}
				})
			})
		}
	}
}

// halfDead is some minutes of traffic to many destinations of which every second
// one accepts and never answers.
func halfDead(t *testing.T, dead bool) (p99 time.Duration) {
	const destinations, each = 40, 60
	s := newTable(t)
	s.pauses = threeRetries
	for n := range each {
		for d := range destinations {
			s.insert(&state{destination: fmt.Sprint(d), due: time.Now().Add(time.Duration(n*destinations+d) * 10 * time.Millisecond)})
		}
	}
	s.serve = func(ctx context.Context, r *state, _ int) (Result, bool) {
		if dead && strings.ContainsAny(r.destination[len(r.destination)-1:], "13579") {
			sleep(ctx, 10*time.Second)
			return Result{Busy: true}, false
		}
		sleep(ctx, 50*time.Millisecond)
		return Result{}, true
	}
	o := options
	o.Hold, o.Parallel, o.Busy = true, 60, Backoff{}
	o.Limits = func(string) Limits { return Limits{Parallel: 2, Ahead: 20} }
	q := s.queue(o)
	go func() {
		for i := range s.rows {
			time.Sleep(time.Until(s.rows[i].due))
			q.Add(s.added(s.rows[i]))
		}
	}()
	if err := s.run(q, 3*time.Minute); err != nil {
		t.Fatal(err)
	}
	if s.most > o.Parallel {
		t.Errorf("%d tries at once, want %d at most", s.most, o.Parallel)
	}
	list := s.latencies(func(name string) bool { return strings.ContainsAny(name[len(name)-1:], "02468") })
	return list[len(list)*99/100]
}

func TestHalfOfTheDestinationsNotAnsweringDoesNotHoldTheOthersUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		alone := halfDead(t, false)
		beside := halfDead(t, true)
		t.Logf("p99 of the first try after it was due: %s when all answer, %s beside dead ones", alone, beside)
		if beside > 2*alone+time.Millisecond {
			t.Errorf("p99 of first tries is %s beside dead destinations, want no more than twice the %s without", beside, alone)
		}
	})
}

func TestDestinationsThatHaveNotAnsweredYetLeaveTriesToThoseThatHave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTable(t)
		s.serve = func(ctx context.Context, r *state, _ int) (Result, bool) {
			if r.destination == "known" {
				return Result{}, true
			}
			sleep(ctx, 10*time.Second)
			return Result{Busy: true}, false
		}
		o := options
		o.Parallel, o.Unproven = 16, 8
		q := s.queue(o)
		go func() {
			insert := func(name string) {
				s.insert(&state{destination: name})
				q.Wake(name, time.Now())
			}
			insert("known")
			time.Sleep(time.Second)
			for n := range 400 {
				insert(fmt.Sprint("new ", n))
			}
			for range 20 {
				time.Sleep(time.Second)
				insert("known")
			}
		}()
		if err := s.run(q, 30*time.Second); err != nil {
			t.Fatal(err)
		}
		list := s.latencies(func(name string) bool { return name == "known" })
		if last := list[len(list)-1]; len(list) != 21 || last > time.Second {
			t.Errorf("%d items of a destination that answers waited up to %s beside many new ones that do not, want a second at most", len(list), last)
		}
		if s.most != 9 {
			t.Errorf("%d tries at once, want 8 of new destinations and one of that which answers", s.most)
		}
	})
}

func TestADestinationHasOneTimerHoweverOftenItIsReadBeforeItsNextItemIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTable(t, &state{destination: "one", due: time.Now().Add(7 * 24 * time.Hour)})
		q := s.queue(options)
		const others = 500
		go func() {
			for range others {
				time.Sleep(time.Second)
				s.insert(&state{destination: "one"})
				q.Wake("one", time.Now())
			}
		}()
		if err := s.run(q, (others+2)*time.Second); err != nil {
			t.Fatal(err)
		}
		if len(s.ended) != others || len(q.timers) != 1 {
			t.Errorf("%d of %d items have ended, and there are %d timers, want one for what is due in a week", len(s.ended), others, len(q.timers))
		}
	})
}

// slowReads is a store that takes its time to be read.
type slowReads struct{ *table }

func (s slowReads) Read(ctx context.Context, destination string, limit int) (items []*item, again time.Time, err error) {
	sleep(ctx, 50*time.Millisecond)
	return s.table.Read(ctx, destination, limit)
}

func TestDestinationsWithBacklogsThatAreReadAllTheTimeDoNotHoldTheOthersUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const well, perSecond, seconds = 40, 200, 30
		s := newTable(t)
		for n := range 20_000 {
			s.insert(&state{destination: fmt.Sprint("backlog", n%4)})
		}
		o := options
		o.Hold, o.Limits = true, func(string) Limits { return Limits{Parallel: 2, Ahead: 2} }
		q := New(o, slowReads{s}, s.try)
		s.cursor = map[string]int{}
		for n := range 4 {
			q.Wake(fmt.Sprint("backlog", n), time.Now())
		}
		go func() {
			for n := range perSecond * seconds {
				time.Sleep(time.Second / perSecond)
				if r := s.insert(&state{destination: fmt.Sprint("well", n%well)}); !q.Add(s.added(r)) {
					t.Errorf("item %d of a destination with nothing else is not held", n)
				}
			}
		}()
		if err := s.run(q, (seconds+1)*time.Second); err != nil {
			t.Fatal(err)
		}
		s.rows = s.rows[20_000:]
		list := s.latencies(func(string) bool { return true })
		if p99 := list[len(list)*99/100]; p99 > 100*time.Millisecond {
			t.Errorf("p99 of first tries is %s beside backlogs, want no more than two reads", p99)
		}
	})
}

func TestMoreThanFitsIntoMemoryWaitsInTheStoreWhereOneDestinationCannotFillIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTable(t)
		for range 2_000 {
			s.insert(&state{destination: "large"})
		}
		for n := range 500 {
			s.insert(&state{destination: fmt.Sprint(n)})
		}
		o, held, largest := options, 0, 0
		o.Items = 40
		var q *queue
		s.serve = func(ctx context.Context, r *state, _ int) (Result, bool) {
			sleep(ctx, time.Millisecond)
			s.mutex.Lock()
			defer s.mutex.Unlock()
			held, largest = max(held, q.Held()), max(largest, s.running["large"])
			return Result{}, true
		}
		q = s.queue(o)
		began := time.Now()
		if err := s.run(q, time.Hour); err != nil {
			t.Fatal(err)
		}
		if len(s.ended) != len(s.rows) || held > 40 || largest > 2 {
			t.Errorf("%d of %d items have ended, up to %d were held, want 40, and %d tried at once, want 2", len(s.ended), len(s.rows), held, largest)
		}
		for n := range 500 {
			if waited := s.tries[2_000+n][0].Sub(began); waited > 5*time.Second {
				t.Fatalf("%s waited for %s behind the large one", s.rows[2_000+n].destination, waited)
			}
		}
		if q.Held() != 0 || len(q.destinations) != 0 || len(q.series) != 0 || q.bytes != 0 {
			t.Errorf("an empty queue holds %d items, %d destinations, %d series, %d bytes", q.Held(), len(q.destinations), len(q.series), q.bytes)
		}
	})
}

func TestADestinationWhoseRoomOthersTakeBeforeItIsReadIsReadLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTable(t, &state{destination: "dry"}, &state{destination: "other"})
		o := options
		o.Items = 1
		q := s.queue(o)
		dry, _ := q.advance(t.Context(), time.Now())
		if dry == nil {
			t.Fatal("no destination is to be read")
		}
		for _, r := range s.rows {
			if r.destination != dry.name {
				q.add(q.destination(r.destination), s.added(r))
			}
		}
		if err := q.read(t.Context(), dry); err != nil {
			t.Fatal(err)
		}
		if err := s.run(q, time.Second); err != nil {
			t.Fatal(err)
		}
		if len(s.ended) != len(s.rows) {
			t.Errorf("%d items have ended, want %d", len(s.ended), len(s.rows))
		}
	})
}

func TestBytesThatAreHeldAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTable(t)
		for n := range 300 {
			s.insert(&state{destination: fmt.Sprint(n % 30)})
		}
		o, most := options, 0
		o.Bytes, o.WriteBytes, o.Limits = 1000, 1<<20, func(string) Limits { return Limits{Parallel: 1, Ahead: 1} }
		var q *queue
		s.serve = func(ctx context.Context, _ *state, _ int) (Result, bool) {
			q.mutex.Lock()
			most = max(most, q.bytes)
			q.mutex.Unlock()
			return Result{}, true
		}
		q = s.queue(o)
		if err := s.run(q, time.Hour); err != nil || len(s.ended) != 300 || most > 1000 {
			t.Errorf("%d of 300 items have ended, with up to %d bytes held, want 1000 at most; %v", len(s.ended), most, err)
		}
	})
}

func TestKillsLoseNothingAndRepeatOnlyWhatWasUnderWay(t *testing.T) {
	for _, hold := range []bool{true, false} {
		t.Run(fmt.Sprint("held ", hold), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(7, 11))
				s := newTable(t)
				s.pauses = threeRetries
				for n := range 2000 {
					s.insert(&state{destination: fmt.Sprint(n % 37), due: time.Now().Add(time.Duration(random.Int64N(int64(10 * time.Second))))})
				}
				s.serve = func(ctx context.Context, r *state, _ int) (Result, bool) {
					sleep(ctx, time.Duration(r.key%50)*time.Millisecond)
					return Result{Busy: r.key%7 == 0}, r.attempts >= r.key%5 && r.key%5 < 4
				}
				o, unwritten := options, 0
				o.Hold, o.Busy, o.Items = hold, Backoff{10 * time.Millisecond, 100 * time.Millisecond}, 300
				for range 100 {
					// Nothing is written any more when the process is killed.
					q := s.queue(o)
					time.AfterFunc(time.Duration(random.Int64N(int64(500*time.Millisecond))), func() { s.kill(errKilled) })
					if err := s.run(q, time.Second); err != nil && !errors.Is(err, errKilled) {
						t.Fatal(err)
					}
					unwritten += len(q.held)
					s.kill(nil)
				}
				if err := s.run(s.queue(o), 10*time.Minute); err != nil {
					t.Fatal(err)
				}
				tries, wanted := 0, 0
				for _, r := range s.rows {
					want := min(r.key%5, 3) + 1
					if !r.ended || r.attempts != want || r.delivered != (r.key%5 < 4) {
						t.Fatalf("item %d has ended %t, delivered %t after %d attempts, want %d", r.key, r.ended, r.delivered, r.attempts, want)
					}
					wanted += want
					tries += len(s.tries[r.key])
				}
				t.Logf("%d attempts were made for %d; %d items were held at kills", tries, wanted, unwritten)
				if tries == wanted || tries-wanted > unwritten {
					t.Errorf("%d attempts were repeated, want some, and no more than the %d items that were held at kills", tries-wanted, unwritten)
				}
			})
		})
	}
}

func TestItemsOfASeriesFollowEachOtherAndHoldUpNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTable(t)
		s.pauses = threeRetries
		s.serve = func(ctx context.Context, r *state, _ int) (Result, bool) {
			sleep(ctx, time.Duration(rand.N(20))*time.Millisecond)
			return Result{}, r.series != "fails"
		}
		o := options
		o.Hold, o.Items = true, 30
		o.Limits = func(string) Limits { return Limits{Parallel: 8, Ahead: 20} }
		q := s.queue(o)
		began := time.Now()
		go func() {
			for n := range 400 {
				series := fmt.Sprint(n % 5)
				if n < 3 {
					series = "fails"
				}
				r := s.insert(&state{destination: "shop", series: series})
				q.Add(s.added(r)) // what does not fit is read from the table
				time.Sleep(time.Millisecond)
			}
		}()
		if err := s.run(q, 5*time.Minute); err != nil {
			t.Fatal(err)
		}
		last := map[string]int{}
		for _, key := range s.ended {
			series := s.rows[key].series
			if key < last[series] {
				t.Errorf("item %d of series %s ended after %d", key, series, last[series])
			}
			last[series] = key
		}
		if len(s.ended) != 400 {
			t.Errorf("%d items have ended, want 400", len(s.ended))
		}
		if s.tries[1][0].Before(s.tries[0][3]) || s.tries[2][0].Before(s.tries[1][3]) {
			t.Errorf("a series that fails: tries after %s, %s and %s s", s.after(began, 0), s.after(began, 1), s.after(began, 2))
		}
		for _, r := range s.rows[3:] {
			if waited := s.tries[r.key][0].Sub(r.due); waited > 10*time.Second {
				t.Errorf("item %d waited for %s behind a series that fails", r.key, waited)
			}
		}
	})
}

func TestBusyDestinationIsLeftAloneAndGetsAQuarterOfTheTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTable(t)
		for n := range 300 {
			s.insert(&state{destination: fmt.Sprint("busy", n%30)})
		}
		asks := s.insert(&state{destination: "asks"})
		s.insert(&state{destination: "asks"})
		for range 2 {
			s.insert(&state{destination: "asks too much"})
		}
		s.pauses = slices.Repeat([]time.Duration{time.Millisecond}, 6)
		began, busy, most := time.Now(), 0, 0
		s.serve = func(ctx context.Context, r *state, try int) (Result, bool) {
			switch r.destination {
			case "asks":
				return Result{Busy: true, After: 5 * time.Minute}, true
			case "asks too much":
				return Result{Busy: true, After: 18 * time.Hour}, true
			}
			first := time.Since(began) < 5*time.Second
			s.mutex.Lock()
			busy++
			if !first {
				most = max(most, busy)
			}
			s.mutex.Unlock()
			sleep(ctx, 5*time.Second)
			s.mutex.Lock()
			busy--
			s.mutex.Unlock()
			return Result{Busy: true}, false
		}
		o := options
		o.Parallel, o.Limits = 40, func(string) Limits { return Limits{Parallel: 1, Ahead: 5} }
		if err := s.run(s.queue(o), 24*time.Hour); err != nil {
			t.Fatal(err)
		}
		if most > 10 || most == 0 {
			t.Errorf("up to %d tries of busy destinations at once, want 10 of 40", most)
		}
		if pause := s.tries[asks.key+1][0].Sub(s.tries[asks.key][0]); pause < 5*time.Minute || pause > 6*time.Minute {
			t.Errorf("one that asks for 5 minutes is left alone for %s", pause)
		}
		if pause := s.tries[asks.key+3][0].Sub(s.tries[asks.key+2][0]); pause < 10*time.Minute || pause > 11*time.Minute {
			t.Errorf("one that asks for 18 hours is left alone for %s, want the 10 minutes that are allowed", pause)
		}
		if len(s.ended) != len(s.rows) {
			t.Errorf("%d of %d have ended", len(s.ended), len(s.rows))
		}
	})
}

func TestPausesDoubleUpToALimitAndDifferALittle(t *testing.T) {
	b := Backoff{First: time.Minute, Max: time.Hour}
	for failures, want := range map[int]time.Duration{1: time.Minute, 2: 2 * time.Minute, 6: 32 * time.Minute, 7: time.Hour, 4_000_000_000: time.Hour} {
		seen := map[time.Duration]bool{}
		for range 100 {
			got := b.After(failures)
			if seen[got] = true; got < want || got > want+want/10 {
				t.Errorf("after %d failures the pause is %s, want %s or up to a tenth more", failures, got, want)
			}
		}
		if len(seen) < 50 {
			t.Errorf("100 pauses after %d failures have %d values", failures, len(seen))
		}
	}
	if got := (Backoff{}).After(4_000_000_000); got != 0 {
		t.Errorf("no pause becomes %s", got)
	}
}

func TestPollEndsTheQueueAfterWhatWasTriedIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTable(t, &state{destination: "slow"}, &state{destination: "quick"})
		s.serve = func(ctx context.Context, r *state, _ int) (Result, bool) {
			if r.destination == "slow" {
				sleep(ctx, time.Hour)
			} else {
				s.stop()
			}
			return Result{}, true
		}
		began := time.Now()
		if err := s.queue(options).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > time.Second || !s.rows[1].delivered || s.rows[0].attempts != 0 {
			t.Errorf("it ended after %s with the rows %+v and %+v, want the quick one written and the slow one as it was", took, s.rows[0], s.rows[1])
		}
	})
}

func TestItemsOfABusyDestinationDoNotWaitForRetriesOfOthersWhereTheyAreHeld(t *testing.T) {
	for ahead, late := range map[int]bool{0: true, 10: false} {
		synctest.Test(t, func(t *testing.T) {
			s := newTable(t)
			s.pauses = threeRetries
			s.serve = func(context.Context, *state, int) (Result, bool) { return Result{Busy: true}, false }
			o := options
			o.Hold, o.Busy, o.BusyAhead = true, Backoff{}, ahead
			s.insert(&state{destination: "down"})
			q := s.queue(o)
			began := time.Now()
			go func() {
				time.Sleep(100 * time.Millisecond) // the first one waits for its retry
				for range 7 {
					q.Add(s.added(s.insert(&state{destination: "down"})))
				}
			}()
			if err := s.run(q, 5*time.Minute); err != nil {
				t.Fatal(err)
			}
			for key, tries := range s.tries {
				if waited := tries[0].Sub(began) > time.Second/2; waited != late && key > 0 {
					t.Errorf("with %d held, item %d is first tried after %s", ahead, key, tries[0].Sub(began))
				}
			}
		})
	}
}

func TestWhatIsDueDoesNotMoveWithTheWallClock(t *testing.T) {
	due := time.Now().Add(time.Hour).Round(0) // as a store has it
	for name, wait := range map[string]func(*queue){
		"an item": func(q *queue) { q.Add(&item{Destination: "d", Due: due}) },
		"a read":  func(q *queue) { q.Wake("d", due) },
	} {
		q := newTable(t).queue(options)
		wait(q)
		if len(q.timers) != 1 || !strings.Contains(q.timers[0].at.String(), " m=") {
			t.Errorf("%s: the timers are %v, want one by the monotonic clock", name, q.timers)
		}
	}
}

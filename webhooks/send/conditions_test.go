package send

import (
	"testing"
	"time"
)

func TestEndpointsGetMoreAttemptsAtOnceWhileTheyAnswerAndFewerWhenTheyDoNot(t *testing.T) {
	c := newConditions(DefaultConfiguration())
	m, now := named("m"), time.Unix(1_780_000_000, 0)
	note := func(n int, class Class, took time.Duration) (open bool) {
		for range n {
			now = now.Add(10 * time.Millisecond)
			open = c.note(m, &Attempt{Ended: now, Class: class, FirstByte: time.Millisecond, Total: took})
		}
		return open
	}
	want := func(what string, parallel int) {
		t.Helper()
		if got := c.parallel(m); got != parallel {
			t.Errorf("%s: %d attempts at once, want %d", what, got, parallel)
		}
	}
	want("at first", 8)
	note(8, "", time.Millisecond)
	want("after 8 successes", 9)
	note(1000, "", time.Millisecond)
	want("after many", 32)
	note(1, ClassTimeout, 10*time.Second)
	want("after a timeout", 16)
	note(1, ClassStatus, time.Millisecond)
	want("after a status", 16)
	note(1000, "", 1500*time.Millisecond)
	want("after many whose bodies were slow to come", 16)
	if open := note(9, ClassTimeout, 10*time.Second); open {
		t.Error("9 failures in a row open the breaker, want 10")
	}
	want("after 9 timeouts", 1)
	if open := note(1, ClassTimeout, 10*time.Second); !open {
		t.Error("10 failures in a row leave the breaker closed")
	}
	note(2, "", time.Millisecond)
	want("after two successes", 1)
	if open := note(1, "", time.Millisecond); open {
		t.Error("three successes leave the breaker open")
	}
}

func TestBreakerOpensWhenSevenOfTenRecentAttemptsFail(t *testing.T) {
	for _, test := range []struct {
		name    string
		pause   time.Duration
		pattern string // of successes and failures
		open    bool
	}{
		{"seven of ten", time.Second, "fsffsffsff", true},
		{"six of ten", time.Second, "fsffsfsfsf", false},
		{"seven of nine", time.Second, "ffsfffsff", false},
		{"seven of ten within an hour", 6 * time.Minute, "fsffsffsff", false},
	} {
		c := newConditions(DefaultConfiguration())
		now, open := time.Unix(1_780_000_000, 0), false
		for _, kind := range test.pattern {
			now = now.Add(test.pause)
			a := &Attempt{Ended: now}
			if kind == 'f' {
				a.Class = ClassStatus
			}
			open = c.note(named("m"), a)
		}
		if open != test.open {
			t.Errorf("%s: open is %t, want %t", test.name, open, test.open)
		}
		want := 8
		if test.open {
			want = 1
		}
		if got := c.parallel(named("m")); got != want {
			t.Errorf("%s: %d attempts at once, want %d", test.name, got, want)
		}
	}
}

func TestNothingIsKeptForLongerThanTheTablesCanTell(t *testing.T) {
	for _, change := range []func(*Configuration){
		func(c *Configuration) { c.KeepEvents = 100 * 365 * 24 * time.Hour }, func(c *Configuration) { c.KeepAttempts = 100 * 365 * 24 * time.Hour },
	} {
		c := DefaultConfiguration()
		if change(&c); c.validate() == nil {
			t.Errorf("events are kept for %s and attempts for %s, want an error", c.KeepEvents, c.KeepAttempts)
		}
	}
}

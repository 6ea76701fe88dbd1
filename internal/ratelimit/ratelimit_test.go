package ratelimit

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestALimitAllowsItsBurstAtOnceAndItsRateOnTheLongRun(t *testing.T) {
	for _, c := range []struct {
		rate  float64
		burst uint32
	}{{1, 1}, {1, 5}, {25, 25}, {0.01, 1}, {1000, 1}} {
		r, b := New(c.rate, c.burst), &Bucket{}
		var now time.Duration
		allowed := uint32(0)
		for range 2 * c.burst {
			if b.Take(r, now) == 0 {
				allowed++
			}
		}
		if allowed != c.burst {
			t.Errorf("%v/s, burst %d: %d at once", c.rate, c.burst, allowed)
		}
		// Greedy: ask again exactly when told to.
		const more = 1000
		for range more {
			for wait := b.Take(r, now); wait > 0; wait = b.Take(r, now) {
				now += wait
			}
			allowed++
		}
		if even := float64(now) / float64(r.Interval); even < more-1.5 || even > more {
			t.Errorf("%v/s, burst %d: %d requests more took %.2f intervals, want about %d", c.rate, c.burst, more, even, more)
		}
	}
}

func TestARaisedLimitHoldsAtOnceForWhomTheOldOneKeptWaiting(t *testing.T) {
	slow, fast := New(0.001, 10), New(100, 10)
	var b Bucket
	for range 10 {
		b.Take(slow, 0)
	}
	if wait := b.Take(slow, 0); wait <= 0 {
		t.Fatal("the old limit is not used up")
	}
	if wait := b.Take(fast, 0); wait > fast.Interval {
		t.Errorf("by the new limit the wait is %s, want %s at most", wait, fast.Interval)
	}
}

func TestAnEvenPaceOverAnUnevenNetworkIsNotRefused(t *testing.T) {
	r, b := New(1, 1), &Bucket{}
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 1000 {
		sent := time.Duration(n) * time.Second
		if wait := b.Take(r, sent+time.Duration(random.Int64N(int64(90*time.Millisecond)))); wait > 0 {
			t.Fatalf("request %d, a second after the one before, has to wait %s", n, wait)
		}
	}
	if wait := b.Take(r, 999*time.Second+200*time.Millisecond); wait == 0 {
		t.Error("two requests 0.2 s apart are allowed at 1/s")
	}
}

func TestMillionsOfClientsNeedBoundedMemoryAndBusyOnesAreRemembered(t *testing.T) {
	const most = 4096
	a, r := NewClients[uint64](most), New(0.001, 1)
	const busy = uint64(1) << 63
	if a.Take(busy, r, 0) != 0 {
		t.Fatal("the first request is refused")
	}
	for n := range uint64(1_000_000) {
		if a.Take(n, r, 0) != 0 {
			t.Fatalf("the first request of client %d is refused", n)
		}
		if n%256 == 0 && a.Take(busy, r, 0) == 0 {
			t.Fatalf("after %d others the busy client is forgotten", n)
		}
	}
	if n := a.Size(); n > most {
		t.Errorf("%d clients are remembered, want at most %d", n, most)
	}
}

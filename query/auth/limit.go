package auth

import (
	"hash/maphash"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// rule is a limit: a request every interval on the long run, and some at once.
// It is the generic cell rate algorithm, whose state is one number: the time at
// which all that was allowed so far would have come at an even pace.
type rule struct {
	interval  time.Duration // 0 is no limit
	tolerance time.Duration // how far that time may be ahead
}

// jitter is the part of an interval that a request may come too early, for
// clients that send at an even pace over an uneven network. What comes early
// now must come later afterwards: the rate itself is exact.
const jitter = 10

// newRule is a limit of rate requests a second, burst of them at once. Rate 0
// is no limit.
func newRule(rate float64, burst uint32) rule {
	if rate <= 0 {
		return rule{}
	}
	interval := time.Duration(math.Round(float64(time.Second) / rate))
	return rule{interval: interval, tolerance: time.Duration(max(burst, 1)-1)*interval + interval/jitter}
}

func (r rule) unlimited() bool { return r.interval == 0 }

// take is the state after a request at a time, or how long it has to wait.
func (r rule) take(even, now time.Duration) (next, wait time.Duration) {
	even = max(even, now)
	if wait = even - now - r.tolerance; wait > 0 {
		return even, wait
	}
	return even + r.interval, 0
}

// bucket is the state of one limit.
type bucket struct{ even atomic.Int64 }

func (b *bucket) take(r rule, now time.Duration) (wait time.Duration) {
	for {
		even := b.even.Load()
		next, wait := r.take(time.Duration(even), now)
		if wait > 0 {
			return wait
		}
		if b.even.CompareAndSwap(even, int64(next)) {
			return 0
		}
	}
}

// addresses holds the states of client addresses, in bounded memory: of each
// shard two generations. A full generation becomes the old one, and what was
// old is forgotten unless it was used since.
type addresses struct {
	seed   maphash.Seed
	limit  int // of each generation of each shard
	shards [addressShards]addressShard
}

const addressShards = 32

// An address is one of IPv6, of which the first half counts, or of IPv4.
type address struct{ high, low uint64 }

type addressShard struct {
	sync.Mutex
	now, before map[address]time.Duration
	_           [40]byte // shards have cache lines of their own
}

func newAddresses(limit int) *addresses {
	return &addresses{seed: maphash.MakeSeed(), limit: max(1, limit/addressShards/2)}
}

func (a *addresses) take(of address, r rule, now time.Duration) time.Duration {
	s := a.shard(of)
	s.Lock()
	defer s.Unlock()
	even, ok := s.now[of]
	if !ok {
		even = s.before[of]
		if len(s.now) >= a.limit {
			forgotten := s.before
			clear(forgotten)
			s.before, s.now = s.now, forgotten
		}
		if s.now == nil {
			s.now = map[address]time.Duration{}
		}
	}
	next, wait := r.take(even, now)
	s.now[of] = next
	return wait
}

func (a *addresses) shard(of address) *addressShard {
	return &a.shards[maphash.Comparable(a.seed, of)%addressShards]
}

// size is how many addresses are remembered.
func (a *addresses) size() (n int) {
	for i := range a.shards {
		s := &a.shards[i]
		s.Lock()
		n += len(s.now) + len(s.before)
		s.Unlock()
	}
	return n
}

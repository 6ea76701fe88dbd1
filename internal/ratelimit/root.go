// Package ratelimit bounds how many requests a second somebody may make.
//
// In: rules, and the times of requests, as durations since any moment that stays the
// same. Out: how long a request has to wait. The package knows no clock and no client.
package ratelimit

import (
	"hash/maphash"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Rule is a limit: a request every interval on the long run, and some at once.
// It is the generic cell rate algorithm, whose state is one number: the time at
// which all that was allowed so far would have come at an even pace.
type Rule struct {
	Interval  time.Duration // 0 is no limit
	Tolerance time.Duration // how far that time may be ahead
}

// jitter is the part of an interval that a request may come too early, for
// clients that send at an even pace over an uneven network. What comes early
// now must come later afterwards: the rate itself is exact.
const jitter = 10

// New is a limit of rate requests a second, burst of them at once. Rate 0
// is no limit.
func New(rate float64, burst uint32) Rule {
	if rate <= 0 {
		return Rule{}
	}
	interval := time.Duration(math.Round(float64(time.Second) / rate))
	return Rule{Interval: interval, Tolerance: time.Duration(max(burst, 1)-1)*interval + interval/jitter}
}

// Unlimited reports whether every request is allowed.
func (r Rule) Unlimited() bool { return r.Interval == 0 }

// take is the state after a request at a time, or how long it has to wait. A state that is
// further ahead than this rule lets it be is that of a stricter one before.
func (r Rule) take(even, now time.Duration) (next, wait time.Duration) {
	even = min(max(even, now), now+r.Tolerance+r.Interval)
	if wait = even - now - r.Tolerance; wait > 0 {
		return even, wait
	}
	return even + r.Interval, 0
}

// Bucket is the state of one limit.
type Bucket struct{ even atomic.Int64 }

// Take counts a request at a time, and returns how long it has to wait; one that has to
// wait is not counted.
func (b *Bucket) Take(r Rule, now time.Duration) (wait time.Duration) {
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

// Clients holds the states of clients, in bounded memory: of each shard two
// generations. A full generation becomes the old one, and what was old is forgotten
// unless it was used since.
type Clients[K comparable] struct {
	seed   maphash.Seed
	limit  int // of each generation of each shard
	shards [clientShards]clientShard[K]
}

const clientShards = 32

type clientShard[K comparable] struct {
	sync.Mutex
	now, before map[K]time.Duration
	_           [40]byte // shards have cache lines of their own
}

// NewClients remembers at most limit clients.
func NewClients[K comparable](limit int) *Clients[K] {
	return &Clients[K]{seed: maphash.MakeSeed(), limit: max(1, limit/clientShards/2)}
}

// Take counts a request of a client, as that of a Bucket does.
func (c *Clients[K]) Take(of K, r Rule, now time.Duration) time.Duration {
	s := c.shard(of)
	s.Lock()
	defer s.Unlock()
	even, ok := s.now[of]
	if !ok {
		even = s.before[of]
		if len(s.now) >= c.limit {
			forgotten := s.before
			clear(forgotten)
			s.before, s.now = s.now, forgotten
		}
		if s.now == nil {
			s.now = map[K]time.Duration{}
		}
	}
	next, wait := r.take(even, now)
	s.now[of] = next
	return wait
}

func (c *Clients[K]) shard(of K) *clientShard[K] {
	return &c.shards[maphash.Comparable(c.seed, of)%clientShards]
}

// Size is how many clients are remembered.
func (c *Clients[K]) Size() (n int) {
	for i := range c.shards {
		s := &c.shards[i]
		s.Lock()
		n += len(s.now) + len(s.before)
		s.Unlock()
	}
	return n
}

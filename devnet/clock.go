package devnet

import "time"

// chainClock is the time of the chain.
type chainClock struct {
	fixed    uint32 // Unix time of the zerostate when the clock is fixed, else 0
	interval time.Duration
}

// at is the time of the masterchain block seqno, whose predecessor has the time
// before. It never goes back; blocks a second or more apart never share one.
func (c chainClock) at(seqno, before uint32, wall time.Time) uint32 {
	next := before
	if c.interval >= time.Second {
		next++
	}
	if c.fixed != 0 {
		return max(next, c.fixed+uint32(time.Duration(seqno)*c.interval/time.Second))
	}
	return max(next, uint32(wall.Unix()))
}

// blocksIn is about how many blocks there are in so many seconds of the chain
// when they are made one after the other, and at least 16.
func (c chainClock) blocksIn(seconds uint32) uint32 {
	interval := time.Second
	if c.fixed != 0 {
		interval = c.interval
	}
	return max(16, uint32(time.Duration(seconds)*time.Second/interval))
}

package devnet

import (
	"testing"
	"time"
)

func TestChainTimeNeverGoesBack(t *testing.T) {
	wall := time.Unix(1_000_000, 0)
	for _, c := range []struct {
		name          string
		clock         chainClock
		seqno, before uint32
		want          uint32
	}{
		{"the wall clock's time", chainClock{interval: time.Second}, 5, 999_999, 1_000_000},
		{"a pause is not made up for", chainClock{interval: time.Second}, 5, 10, 1_000_000},
		{"a block in the same second gets the next one", chainClock{interval: time.Second}, 5, 1_000_000, 1_000_001},
		{"blocks may share a second when there are several in one", chainClock{interval: 100 * time.Millisecond}, 5, 1_000_000, 1_000_000},
		{"a wall clock that was set back", chainClock{interval: 100 * time.Millisecond}, 5, 1_000_500, 1_000_500},
		{"fixed: the seqno's time", chainClock{fixed: 100, interval: 2 * time.Second}, 5, 108, 110},
		{"fixed: parts of a second", chainClock{fixed: 100, interval: 400 * time.Millisecond}, 6, 102, 102},
		{"fixed: an interval made shorter", chainClock{fixed: 100, interval: time.Second}, 5, 300, 301},
	} {
		if got := c.clock.at(c.seqno, c.before, wall); got != c.want {
			t.Errorf("%s: block %d after %d has time %d, want %d", c.name, c.seqno, c.before, got, c.want)
		}
	}
}

func TestTrafficIsSpreadOverBlocks(t *testing.T) {
	for _, c := range []struct {
		tps      float64
		interval time.Duration
		blocks   uint32
		want     int
	}{{20, time.Second, 10, 200}, {1, 100 * time.Millisecond, 100, 10}, {0.5, time.Second, 10, 5}, {0, time.Second, 10, 0}} {
		sum := 0
		for seqno := range c.blocks {
			sum += perBlock(c.tps, c.interval, seqno+1)
		}
		if sum != c.want {
			t.Errorf("%g transactions/s in %d blocks of %s: %d, want %d", c.tps, c.blocks, c.interval, sum, c.want)
		}
	}
}

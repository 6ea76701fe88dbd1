package devnet

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// heapInUse is what is left after a collection, in bytes.
func heapInUse() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// residentBytes is the memory that the process has in RAM; 0 where the system
// does not tell.
func residentBytes() uint64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseUint(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * uint64(os.Getpagesize())
}

func mib(bytes uint64) float64 { return float64(bytes) / (1 << 20) }

// An hour of the chain's time with 100 transactions a second, made as fast as
// the machine can: the whole devnet but its clock and lite server, with the
// history on disk.
func TestAnHourOfTheChainNeedsNoMoreMemoryThanItsFirstMinutes(t *testing.T) {
	if os.Getenv("TONSCRIBE_TEST_LONG") == "" {
		t.Skip("TONSCRIBE_TEST_LONG is not set")
	}
	const hour, tenth = 3600, 360
	c := DefaultConfiguration()
	c.Seed, c.FixedTime, c.TPS, c.Reshard = 11, 1_700_000_000, 100, 100
	d := still(t, t.TempDir(), c)
	var heap []uint64 // after each tenth
	transactions, began := 0, time.Now()
	for d.Seqno() < hour {
		if err := d.step(time.Now()); err != nil {
			t.Fatal(err)
		}
		transactions += d.Last().Transactions
		if d.Seqno()%tenth == 0 {
			heap = append(heap, heapInUse())
			t.Logf("block %4d, %6d transactions, %5.0f/s: %6.1f MiB heap in use, %6.1f MiB resident", d.Seqno(), transactions,
				float64(transactions)/time.Since(began).Seconds(), mib(heap[len(heap)-1]), mib(residentBytes()))
		}
	}
	first, last := heap[1], heap[len(heap)-1]
	// The state grows by accounts that are new, as cells in memory; there is an end
	// to that.
	if last > first+first/2 {
		t.Errorf("%.1f MiB in use after an hour, %.1f MiB after 12 minutes: want at most half as much again", mib(last), mib(first))
	}
	if err := d.close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

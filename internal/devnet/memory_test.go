package devnet

import (
	"os"
	"runtime"
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

func TestLongChainKeepsNothingButItsState(t *testing.T) {
	if os.Getenv("TONSCRIBE_TEST_LONG") == "" {
		t.Skip("TONSCRIBE_TEST_LONG is not set")
	}
	const perBlock, early, late = 200, 150, 450
	c := DefaultGeneration().configuration()
	o := newOrigin(c, time.Time{})
	m, err := newMaker(o, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	heap := map[uint32]uint64{}
	for seqno := uint32(1); seqno <= late; seqno++ {
		if _, err := m.next(seqno, c.FixedTime+seqno, nil, perBlock); err != nil {
			t.Fatal(err)
		}
		if seqno == early || seqno == late {
			heap[seqno] = heapInUse()
		}
	}
	runtime.KeepAlive(m)
	// The state grows by 2 MiB: accounts that are new, as cells in memory.
	if limit := heap[early] + 8<<20; heap[late] > limit {
		t.Errorf("%d MiB in use after block %d, %d MiB after block %d", heap[late]>>20, late, heap[early]>>20, early)
	}
	t.Logf("%.1f MiB in use after block %d, %.1f MiB after block %d", float64(heap[early])/(1<<20), early, float64(heap[late])/(1<<20), late)
}

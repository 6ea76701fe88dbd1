package devnet

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/tlb"
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

// accountsOf counts the accounts of all shards at the head.
func accountsOf(t *testing.T, d *Component) (n int) {
	t.Helper()
	master, shards := d.maker.chain.Head()
	for _, b := range append(shards, master) {
		var state tlb.ShardStateUnsplit
		must(t, tlb.Parse(&state, b.State))
		accounts, err := state.Accounts.ShardAccounts.RangeExtra(false, false)
		must(t, err)
		n += len(accounts)
	}
	return n
}

func mib(bytes uint64) float64 { return float64(bytes) / (1 << 20) }

// What memory may grow by: an account as cells, with its place in the state, and
// caches that were not full yet.
const (
	bytesOfAccount = 2 << 10
	bytesOfCaches  = 8 << 20
)

// An hour of the chain's time with 100 transactions a second, made as fast as
// the machine can: the whole devnet but its clock and lite server, with the
// history on disk.
func TestInAnHourOfTheChainMemoryGrowsByNothingButNewAccounts(t *testing.T) {
	if os.Getenv("TONSCRIBE_TEST_LONG") == "" {
		t.Skip("TONSCRIBE_TEST_LONG is not set")
	}
	const hour, tenth = 3600, 360
	c := DefaultConfiguration()
	c.Seed, c.FixedTime, c.TPS, c.Reshard = 11, 1_700_000_000, 100, 100
	d := still(t, t.TempDir(), c)
	var heap []uint64 // after each tenth
	var accounts []int
	transactions, began := 0, time.Now()
	for d.Seqno() < hour {
		must(t, d.step(time.Now()))
		transactions += d.Last().Transactions
		if d.Seqno()%tenth == 0 {
			resident := mib(residentBytes())
			heap, accounts = append(heap, heapInUse()), append(accounts, accountsOf(t, d))
			t.Logf("block %4d, %6d transactions, %5.0f/s, %5d accounts: %6.1f MiB heap in use, %6.1f MiB resident", d.Seqno(), transactions,
				float64(transactions)/time.Since(began).Seconds(), accounts[len(accounts)-1], mib(heap[len(heap)-1]), resident)
		}
	}
	first, last := 1, len(heap)-1
	limit := heap[first] + bytesOfAccount*uint64(max(0, accounts[last]-accounts[first])) + bytesOfCaches
	if heap[last] > limit {
		t.Errorf("%.1f MiB in use after an hour, want at most %.1f MiB: after 12 minutes %.1f MiB, and %d new accounts since", mib(heap[last]), mib(limit), mib(heap[first]), accounts[last]-accounts[first])
	}
	must(t, d.close(t.Context()))
}

package tail

import (
	"runtime"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"golang.org/x/sys/unix"

	"tonscribe/schema"
)

// BenchmarkFollow is what a transaction costs who follows a log with 20 in a bundle,
// some of which move tokens: processor time until its rows of all tables are visible,
// that of the log included; what is counted for them, and what they take of the heap.
func BenchmarkFollow(b *testing.B) {
	l := newLog(b, 1)
	transactions, last := l.fill(300)
	tail := l.tail(1 << 30)
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	processor := func() int64 {
		var u unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return u.Utime.Nano() + u.Stime.Nano()
	}
	without, began := heap(), processor()
	b.ResetTimer()
	for range b.N {
		tail.Stop()
		tail.Start(0)
		awaitNewest(b, tail, last)
	}
	b.StopTimer()
	took := processor() - began
	tail.Stop()
	with := heap()
	per := float64(transactions)
	b.ReportMetric(float64(took)/float64(b.N)/per, "processor-ns/transaction")
	b.ReportMetric(testutil.ToFloat64(tail.metrics.bytes)/per, "counted-B/transaction")
	b.ReportMetric(float64(with-without)/per, "heap-B/transaction")
	b.ReportMetric(testutil.ToFloat64(tail.metrics.rows)/per, "rows/transaction")
}

// fill publishes n bundles, and returns how many transactions they have and the last
// one's seqno.
func (l *log) fill(n int) (transactions int, last uint32) {
	bundles := chain(n, 1)
	l.publishAll(bundles...)
	for _, b := range bundles {
		records := b.records[place{Topic: schema.Transactions.Name}]
		transactions += int(records[len(records)-1].GetSeal().Rows)
	}
	return transactions, bundles[n-1].seqno
}

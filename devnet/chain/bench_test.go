package chain

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/tvm/cell"
	"golang.org/x/sys/unix"
)

// BenchmarkPayments makes chains of transfers between wallets v4r2, two
// transactions each, with real signatures. Making the messages is not counted.
func BenchmarkPayments(b *testing.B) {
	for _, size := range []struct{ wallets, payments int }{{100, 10}, {1000, 100}, {10000, 100}, {10000, 400}} {
		b.Run(fmt.Sprintf("wallets=%d/externals=%d", size.wallets, size.payments), func(b *testing.B) {
			w := newTown(b, size.wallets)
			c, err := New(Options{Seed: 1, GenUtime: genUtime, Accounts: w.accounts()})
			must(b, err)
			step := func(messages []*cell.Cell) (n int) {
				bundle, err := c.Step(c.master.state.genUtime+1, messages)
				must(b, err)
				for _, x := range append(bundle.Shards, bundle.Master) {
					n += len(x.Transactions)
				}
				return n
			}
			for range 8 {
				step(nil)
			}
			transactions, worked := 0, time.Duration(0)
			b.ResetTimer()
			for range b.N {
				b.StopTimer()
				messages := w.payments(size.payments)
				from := processorTime(b)
				b.StartTimer()
				transactions += step(messages)
				b.StopTimer()
				worked += processorTime(b) - from
				b.StartTimer()
			}
			b.ReportMetric(float64(transactions)/b.Elapsed().Seconds(), "tx/s")
			b.ReportMetric(float64(transactions)/worked.Seconds(), "tx/cpu-s")
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "heapMB")
		})
	}
}

// processorTime is what the process has worked so far: on a busy machine it
// says more than the clock.
func processorTime(b *testing.B) time.Duration {
	var u unix.Rusage
	must(b, unix.Getrusage(unix.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

package detect

import "testing"

// BenchmarkBundle works out the bundles of a devnet with all its traffic.
func BenchmarkBundle(b *testing.B) {
	w := newTown(b, 60, 200)
	accounts, transactions := 0, 0
	for b.Loop() {
		b.StopTimer()
		d := newDesk(b, b.TempDir())
		b.StartTimer()
		for _, s := range w.steps {
			d.run(s.bundle())
			accounts += len(s.accounts)
			transactions += len(s.transactions)
			d.commit()
		}
		b.StopTimer()
		if err := d.store.Flush(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(accounts), "µs/account")
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(transactions), "µs/transaction")
}

package traffic

import "testing"

// BenchmarkNext is the making of messages for blocks of about 500 transactions,
// signatures included.
func BenchmarkNext(b *testing.B) {
	l := begin(b, 1)
	l.live(b, 60, 100)
	messages, caused := 0, 0.0
	for b.Loop() {
		s := l.town.begin(l.chain, l.seqno, l.now())
		made, err := l.town.next(s, 500)
		if err != nil {
			b.Fatal(err)
		}
		messages += len(made)
		for _, cost := range s.caused {
			caused += cost
		}
	}
	b.ReportMetric(float64(messages)/b.Elapsed().Seconds(), "messages/s")
	b.ReportMetric(caused/b.Elapsed().Seconds(), "transactions/s")
}

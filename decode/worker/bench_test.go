package worker

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"tonscribe/internal/kafka"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// repeatedBundles are n bundles of the test data's blocks in turn, with other
// masterchain numbers.
func repeatedBundles(b *testing.B, n int) (bundles []*source, bytes int64) {
	busy := realBundles(b)[60:] // those with many transactions
	for i := range n {
		s := *busy[i%len(busy)]
		s.mcSeqno, s.prev = uint32(i+1), uint32(i)
		for _, raw := range s.blocks {
			bytes += int64(len(raw.Boc))
		}
		bundles = append(bundles, &s)
	}
	return bundles, bytes
}

// follow returns a channel of the seals of the only partition of a topic.
func follow(b *testing.B, s *stage, topic schema.Topic) <-chan *record.Record {
	seals := make(chan *record.Record, 1<<20)
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Consume(ctx, "bench", []schema.Topic{topic}, func(ctx context.Context, l *kafka.PartitionReader) error {
			for {
				item, err := l.Next(ctx)
				if err != nil {
					return err
				}
				if item.Record.GetSeal() != nil {
					seals <- item.Record
				}
			}
		})
	}()
	b.Cleanup(func() { cancel(); <-done })
	return seals
}

func BenchmarkBacklog(b *testing.B) {
	bundles, bytes := repeatedBundles(b, 3000)
	for range b.N {
		b.StopTimer()
		s := onEmbedded(b, 1)
		s.feed(bundles)
		b.SetBytes(bytes)
		b.StartTimer()
		began := time.Now()
		configuration := DefaultConfiguration()
		configuration.Cells.Dir = b.TempDir()
		c := s.start(configuration)
		last := bundles[len(bundles)-1].mcSeqno
		var seal *record.Record
		for seal == nil || seal.McSeqno != last {
			time.Sleep(10 * time.Millisecond)
			var err error
			if seal, err = s.LastSeal(b.Context(), schema.Transactions.Name, 0); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(testutil.ToFloat64(c.metrics.transactions.WithLabelValues("0"))/time.Since(began).Seconds(), "tx/s")
		b.StopTimer()
		s.stop(c)
	}
}

// BenchmarkHead is the time from a bundle's publication by ingest to that of its
// transactions.
func BenchmarkHead(b *testing.B) {
	bundles, _ := repeatedBundles(b, b.N+1)
	s := onEmbedded(b, 1)
	configuration := DefaultConfiguration()
	configuration.Cells.Dir = b.TempDir()
	c := s.start(configuration)
	seals := follow(b, s, schema.Transactions)
	s.feed(bundles[:1])
	<-seals
	b.ResetTimer()
	for i := 1; i <= b.N; i++ {
		s.feed(bundles[i : i+1])
		if seal := <-seals; seal.McSeqno != bundles[i].mcSeqno {
			b.Fatalf("bundle %d came, want %d", seal.McSeqno, bundles[i].mcSeqno)
		}
	}
	b.StopTimer()
	s.stop(c)
}

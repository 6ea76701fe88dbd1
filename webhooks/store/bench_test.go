package store

import (
	"crypto/rand"
	"fmt"
	"sync"
	"testing"
	"time"
)

// BenchmarkPayments measures look-ups among a million payments, half of them of one
// merchant, and registrations of 64 clients.
func BenchmarkPayments(b *testing.B) {
	w := newWorld(b)
	busy := ID{1}
	const step = 50_000
	for from := 0; from < 1_000_000; from += step {
		w.must(w.client.Conn().Exec(b.Context(), fmt.Sprintf(`INSERT INTO payments (reference, merchant, body_hash, amount, created)
		SELECT toFixedString(unhex(replaceAll(toString(generateUUIDv7(number)), '-', '')), 16), if(number %% 2 = 0, unhex('01000000000000000000000000000000'), toFixedString(substring(SHA256(toString(number %% 1000)), 1, 16), 16)),
			SHA256(toString(number)), number, now64(6) FROM numbers(%d, %d)`, from, step)))
	}
	list, err := w.Payments.List(b.Context(), busy, nil, 100)
	if err != nil || len(list) != 100 {
		b.Fatalf("%d payments, %v", len(list), err)
	}
	b.Run("by reference", func(b *testing.B) {
		for b.Loop() {
			if found, err := w.Payments.Find(b.Context(), []Reference{list[50].Reference}); err != nil || len(found) != 1 {
				b.Fatal(found, err)
			}
		}
	})
	b.Run("by body", func(b *testing.B) {
		for b.Loop() {
			if found, err := w.Payments.ByBody(b.Context(), []Hash{list[50].BodyHash}); err != nil || len(found) != 1 {
				b.Fatal(found, err)
			}
		}
	})
	b.Run("100 unknown references", func(b *testing.B) {
		references := make([]Reference, 100)
		for b.Loop() {
			for i := range references {
				_, _ = rand.Read(references[i][:])
			}
			if found, err := w.Payments.Find(b.Context(), references); err != nil || len(found) != 0 {
				b.Fatal(found, err)
			}
		}
	})
	b.Run("a page of a merchant", func(b *testing.B) {
		for b.Loop() {
			if page, err := w.Payments.List(b.Context(), busy, &list[99].Reference, 50); err != nil || len(page) != 50 {
				b.Fatal(len(page), err)
			}
		}
	})
	b.Run("registrations", func(b *testing.B) {
		var running sync.WaitGroup
		began := time.Now()
		work := make(chan Payment)
		for range 64 {
			running.Go(func() {
				for one := range work {
					if err := w.Payments.Put(b.Context(), one); err != nil {
						b.Error(err)
					}
				}
			})
		}
		n := 0
		for b.Loop() {
			work <- payment(busy, 2)
			n++
		}
		close(work)
		running.Wait()
		b.ReportMetric(float64(n)/time.Since(began).Seconds(), "payments/s")
	})
}

package history

import (
	"testing"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/traffic"
)

// BenchmarkAppend stores bundles of a chain with traffic, each of them synced.
func BenchmarkAppend(b *testing.B) {
	town := traffic.New(7, traffic.Options{Wallets: 100})
	l := lively{traffic: town, options: chain.Options{Seed: 7, GenUtime: 1_700_000_000, Accounts: town.Accounts(), Params: town.Params()}}
	made, err := chain.New(l.options)
	if err != nil {
		b.Fatal(err)
	}
	var bundles []*chain.Bundle
	for range 60 {
		bundles = append(bundles, l.step(b, made))
	}
	bytes, transactions := 0, 0
	for _, bundle := range bundles {
		for _, block := range blocksOf(bundle) {
			bytes += len(block.Data)
			transactions += len(block.Transactions)
		}
	}
	master, base := made.Zerostates()
	for b.Loop() {
		s, err := Open(b.TempDir(), Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.SetZerostates(master, base); err != nil {
			b.Fatal(err)
		}
		for _, bundle := range bundles {
			if err := s.Append(bundle); err != nil {
				b.Fatal(err)
			}
		}
		s.Close()
	}
	perBundle := float64(b.Elapsed().Microseconds()) / float64(b.N*len(bundles))
	b.ReportMetric(perBundle, "µs/bundle")
	b.ReportMetric(float64(transactions)/float64(len(bundles)), "tx/bundle")
	b.ReportMetric(float64(bytes)/float64(len(bundles)), "B/bundle")
}

// BenchmarkDerive derives a state that lies a whole stretch of bundles after a
// stored one.
func BenchmarkDerive(b *testing.B) {
	zero, bundles := newLively().make(b)
	dir := b.TempDir()
	s := open(b, dir, Options{Recent: 1, States: 1, CacheBytes: 1})
	if err := s.SetZerostates(zero...); err != nil {
		b.Fatal(err)
	}
	for _, bundle := range bundles {
		if err := s.Append(bundle); err != nil {
			b.Fatal(err)
		}
	}
	last := bundles[len(bundles)-2].Master.ID
	for b.Loop() {
		if _, err := s.derive(last); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*(len(bundles)-1)), "µs/block")
}

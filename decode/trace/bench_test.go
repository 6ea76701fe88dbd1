package trace_test

import (
	"encoding/binary"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/rs/zerolog"

	"tonscribe/decode/trace"
	"tonscribe/internal/stage"
	"tonscribe/schema/record"
	"tonscribe/test/support/realdata"
)

// BenchmarkBundle assembles the recorded traces by the bundles in which they were,
// and makes their trees.
func BenchmarkBundle(b *testing.B) {
	files, err := filepath.Glob(filepath.Join(realdata.Path(b, "traces"), "*.json"))
	if err != nil {
		b.Fatal(err)
	}
	bundles := map[uint32][]*record.Transaction{}
	transactions := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		r, err := trace.Read(text)
		if err != nil {
			b.Fatal(err)
		}
		for _, tx := range r.Transactions {
			bundles[tx.McSeqno] = append(bundles[tx.McSeqno], tx)
			transactions++
		}
	}
	seqnos := slices.Sorted(maps.Keys(bundles))
	b.ReportAllocs()
	for b.Loop() {
		a := trace.NewAssembler(new(trace.Memory))
		trees := 0
		for _, seqno := range seqnos {
			list, err := a.Bundle(seqno, bundles[seqno])
			if err != nil {
				b.Fatal(err)
			}
			for _, t := range list {
				if t.All == nil {
					continue
				}
				if _, err := trace.NewTree(t.All); err != nil {
					b.Fatal(err)
				}
				trees++
			}
		}
		if trees != len(files) {
			b.Fatalf("%d traces, want %d", trees, len(files))
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*transactions), "µs/transaction")
}

// BenchmarkOpenMessages is what a million messages that nobody receives take in the
// store of a stage, each of a trace of its own: bytes of its folder and of the heap.
func BenchmarkOpenMessages(b *testing.B) {
	const total, bundle = 1_000_000, 10_000
	for b.Loop() {
		dir := b.TempDir()
		store, err := stage.OpenStore(stage.StoreOptions{Dir: dir, CacheBytes: 64 << 20, Version: 1, Log: zerolog.Nop()})
		if err != nil {
			b.Fatal(err)
		}
		a := trace.NewAssembler(store)
		for i := range total / bundle {
			if _, err := a.Bundle(uint32(i+1), openMessages(i*bundle, bundle)); err != nil {
				b.Fatal(err)
			}
			if err := store.Mark(uint32(i + 1)); err != nil {
				b.Fatal(err)
			}
			if err := store.Commit(); err != nil {
				b.Fatal(err)
			}
		}
		if err := store.Flush(); err != nil {
			b.Fatal(err)
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapAlloc)/total, "heap-B/message")
		b.ReportMetric(float64(sizeOf(b, dir))/total, "disk-B/message")
		if err := store.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func sizeOf(b *testing.B, dir string) (n int64) {
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// openMessages are transactions that each received a message from outside and sent
// another one.
func openMessages(from, n int) []*record.Transaction {
	list := make([]*record.Transaction, n)
	for i := range list {
		name := func(kind uint64) []byte {
			h := make([]byte, 32)
			for j := range 4 { // as little alike as hashes are
				binary.BigEndian.PutUint64(h[8*j:], (uint64(from+i)<<3|kind+1)*(0x9e3779b97f4a7c15+uint64(j)<<17))
			}
			return h
		}
		account := append(make([]byte, 4), name(0)...)
		list[i] = &record.Transaction{
			Account: account, Lt: uint64(from + i + 1), Hash: name(1), Now: 1_760_000_000, TotalFees: 2_500_000, PrevTransHash: name(2), PrevTransLt: 5,
			OrigStatus: record.AccountStatus_ACCOUNT_ACTIVE, EndStatus: record.AccountStatus_ACCOUNT_ACTIVE, StateHashBefore: name(3), StateHashAfter: name(4),
			InMsg: &record.Message{Kind: record.Message_EXTERNAL_IN, Hash: name(5), Destination: account, Body: make([]byte, 200), BodyHash: name(6)},
			OutMsgs: []*record.Message{{Hash: name(7), Source: account, Destination: append(make([]byte, 4), name(6)...), Value: 1_000_000_000,
				CreatedLt: uint64(from + i + 2), BodyHash: name(5), Body: make([]byte, 60)}},
		}
	}
	return list
}

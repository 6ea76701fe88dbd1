package action_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tonscribe/decode/action"
	"tonscribe/decode/trace"
	"tonscribe/schema/record"
	"tonscribe/test/support/realdata"
)

// BenchmarkAssembledAndRecognised is the whole way of the recorded traces: their
// transactions come by bundles, are assembled, made trees and recognised. Beside the
// time it tells the processor time, which other work on the machine changes less.
func BenchmarkAssembledAndRecognised(b *testing.B) {
	dir := realdata.Path(b)
	files, err := os.ReadDir(filepath.Join(dir, "traces"))
	if err != nil {
		b.Fatal(err)
	}
	bundles, facts, transactions := map[uint32][]*record.Transaction{}, map[string]action.Facts{}, 0
	for _, f := range files {
		r, tree := readTrace(b, dir, strings.TrimSuffix(f.Name(), ".json"))
		facts[string(tree.Root.Tx.Hash)] = r
		for _, tx := range r.Transactions {
			bundles[tx.McSeqno] = append(bundles[tx.McSeqno], tx)
			transactions++
		}
	}
	seqnos := slices.Sorted(maps.Keys(bundles))
	b.ReportAllocs()
	begun := processorTime()
	for b.Loop() {
		a, recognised := trace.NewAssembler(new(trace.Memory)), 0
		for _, seqno := range seqnos {
			list, err := a.Bundle(seqno, bundles[seqno])
			if err != nil {
				b.Fatal(err)
			}
			for _, t := range list {
				if t.All == nil {
					continue
				}
				tree, err := trace.NewTree(t.All)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := action.Classify(tree, facts[string(t.Id)]); err != nil {
					b.Fatal(err)
				}
				recognised++
			}
		}
		if recognised != len(files) {
			b.Fatalf("%d traces, want %d", recognised, len(files))
		}
	}
	n := float64(b.N * transactions)
	b.ReportMetric(float64(b.Elapsed().Microseconds())/n, "µs/transaction")
	b.ReportMetric(float64((processorTime()-begun).Microseconds())/n, "cpu-µs/transaction")
}

// processorTime is what this process has used.
func processorTime() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

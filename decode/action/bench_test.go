package action_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tonscribe/decode/action"
	"tonscribe/decode/trace"
	"tonscribe/test/support/realdata"
)

// BenchmarkRecordedTraces makes trees of the recorded traces and recognises their
// actions.
func BenchmarkRecordedTraces(b *testing.B) {
	dir := realdata.Path(b)
	files, err := os.ReadDir(filepath.Join(dir, "traces"))
	if err != nil {
		b.Fatal(err)
	}
	var all []*trace.Recorded
	transactions := 0
	for _, f := range files {
		recorded, _ := readTrace(b, dir, strings.TrimSuffix(f.Name(), ".json"))
		all = append(all, recorded)
		transactions += len(recorded.Transactions)
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, r := range all {
			tree, err := trace.NewTree(r.Transactions)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := action.Classify(tree, r); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*transactions), "µs/transaction")
}

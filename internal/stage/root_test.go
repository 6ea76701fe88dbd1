package stage

import (
	"context"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/rs/zerolog"

	"tonscribe/internal/report"
	"tonscribe/schema/record"
)

// silent is a logic that makes nothing of bundles.
type silent struct{}

func (silent) Bundle(_ context.Context, b *Bundle) (Output, error) {
	return NewPages(b, 2, 1000, func(c *record.ContractBatch) *record.Record { return nil }).Seal(), nil
}

func TestAGapInTheBundlesIsCountedAndTheNextOneIsNone(t *testing.T) {
	store, err := OpenStore(StoreOptions{Dir: t.TempDir(), CacheBytes: 8 << 20, Version: 1, Log: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	s := &session{Component: New(Configuration{Name: "test"}, Dependencies{Report: report.Reporter{Metrics: prometheus.NewRegistry()}}),
		ctx: t.Context(), output: make([][]*record.Record, 2)}
	for _, b := range []*Bundle{{McSeqno: 1}, {McSeqno: 5, PrevMcSeqno: 4}, {McSeqno: 6, PrevMcSeqno: 5}} {
		b.Seal = &record.Seal{}
		if err := s.do(silent{}, store, b); err != nil {
			t.Fatalf("bundle %d: %v", b.McSeqno, err)
		}
	}
	if got := testutil.ToFloat64(s.Gaps); got != 1 || store.Marker() != 6 {
		t.Errorf("%v gaps, the store is at bundle %d; want 1 and 6", got, store.Marker())
	}
}

func TestPagesAreCutByTheirRowsAndEndWithTheirCount(t *testing.T) {
	b := &Bundle{McSeqno: 7, PrevMcSeqno: 5, Seal: &record.Seal{GenUtime: 9}}
	pages := NewPages(b, 2, 100, func(c *record.ContractBatch) *record.Record {
		return &record.Record{Content: &record.Record_Contracts{Contracts: c}}
	})
	for n := range byte(5) {
		pages.Add(1, 40, func(c *record.ContractBatch) { c.Contracts = append(c.Contracts, &record.Contract{Account: []byte{n}}) })
	}
	out := pages.Seal()
	var sizes []int
	for i, r := range out.Records[1] {
		sizes = append(sizes, len(r.GetContracts().GetContracts()))
		if r.McSeqno != 7 || r.PrevMcSeqno != 5 || r.Index != uint32(i) {
			t.Errorf("record %d is number %d of bundle %d after %d, want %d of 7 after 5", i, r.Index, r.McSeqno, r.PrevMcSeqno, i)
		}
	}
	if len(sizes) != 4 || sizes[0] != 2 || sizes[1] != 2 || sizes[2] != 1 || out.Records[1][3].GetSeal().GetRows() != 5 {
		t.Errorf("records of %v rows, the last a seal of %d; want 2, 2, 1 and a seal of 5", sizes, out.Records[1][3].GetSeal().GetRows())
	}
	if seal := out.Records[0]; len(seal) != 1 || seal[0].GetSeal().GetRows() != 0 || seal[0].GetSeal().GetGenUtime() != 9 {
		t.Errorf("the partition without rows has %v, want a seal of none", seal)
	}
}

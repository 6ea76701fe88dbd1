package head

import (
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/query/reader"
	"tonscribe/schema/record"
)

// What had to go from the head to make room, and is not in the tables yet, is not looked for
// there: it would count as nothing.
func TestTransactionsThatOnlyMemoryHasAreNotReadFromTheTables(t *testing.T) {
	metrics := prometheus.NewRegistry()
	nowhere := reader.New(reader.Configuration{Connections: 1, ClientConnections: 1}, clickhouse.Options{Addr: []string{"127.0.0.1:1"}}, metrics)
	defer nowhere.Close()
	f := NewFiller(Configuration{TransactionBytes: 64 << 20, BlockBytes: 64 << 20}, nowhere, metrics)
	h := Head{}
	for mcSeqno := range uint32(9) {
		b, err := newBundle(mcSeqno+1, []*record.Block{{Id: &record.BlockId{Workchain: -1}, TxCount: 20}})
		if err != nil {
			t.Fatal(err)
		}
		h.Bundles = append(h.Bundles, b)
	}
	h.WithTransactions = 7
	h.Bundles[7].hold(nil, nil, nil)
	h.Bundles[8].hold(nil, nil, nil)
	h.measure()
	for _, c := range []struct {
		tables uint32
		reads  bool
	}{{5, false}, {6, false}, {7, true}, {9, true}} {
		v := &View{Watermark: 9, Tables: c.tables, Head: h}
		if changed, err := f.extendBack(t.Context(), v); changed || (err != nil) != c.reads {
			t.Errorf("tables up to bundle %d: the transactions of bundle 7 are read: %v, want %v (%v)", c.tables, err != nil, c.reads, err)
		}
	}
	h = Head{Bundles: h.Bundles[5:], WithTransactions: 0}
	h.measure()
	v := &View{Watermark: 9, Tables: 4, First: &record.Block{Id: &record.BlockId{Seqno: 1}}, Head: h}
	if changed, err := f.extendBack(t.Context(), v); changed || err != nil {
		t.Errorf("tables up to bundle 4: the blocks of bundle 5 are read, want nothing: %v", err)
	}
}

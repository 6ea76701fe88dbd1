package head

import (
	"fmt"
	"testing"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/report"
	"tonscribe/query/memory"
	"tonscribe/query/reader"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/table"
	"tonscribe/test/support/clienttest"
	"tonscribe/test/support/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// What had to go from the head to make room, and is not in the tables yet, is not looked for
// there: it would count as nothing.
func TestTransactionsThatOnlyMemoryHasAreNotReadFromTheTables(t *testing.T) {
	metrics := report.Silent()
	nowhere := reader.New(reader.Configuration{Connections: 1, ClientConnections: 1}, driver.Options{Addr: []string{"127.0.0.1:1"}}, metrics)
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

// Of several servers of a cluster, one may not have all yet that another one has told of:
// not the blocks of bundles, or not their transactions.
func TestTheHeadDoesNotGoOnBehindBundlesThatTheTablesLack(t *testing.T) {
	client := clienttest.ClickHouse(t, enginetest.Tables(t).DSN())
	metrics := report.Silent()
	tables := reader.New(reader.Configuration{Connections: 2, ClientConnections: 1}, client.Options(), metrics)
	defer tables.Close()
	f := NewFiller(Configuration{TransactionBytes: 64 << 20, BlockBytes: 64 << 20}, tables, metrics)
	known, err := newBundle(7, []*record.Block{{Id: &record.BlockId{Workchain: -1}}})
	if err != nil {
		t.Fatal(err)
	}
	known.hold(nil, nil, nil)
	begun := Head{Bundles: []*Bundle{known}}
	begun.measure()
	newer := memory.NewBundle(10)
	newer.PrevMCSeqno = 9
	for _, there := range []uint32{0, 8, 9} {
		if there > 0 {
			insertBlock(t, client, there)
		}
		for name, h := range map[string]Head{"empty": {}, "up to bundle 7": begun} {
			for _, held := range []memory.Bundles{nil, {newer}} {
				if there == 9 && len(h.Bundles) == 0 {
					continue // transactions come later
				}
				v := &View{Watermark: 9 + uint32(len(held)), Tables: 9, Memory: held, Head: h}
				func() {
					defer func() {
						if reason := recover(); reason != nil {
							t.Errorf("tables up to bundle %d, head %s, %d in memory: a panic: %v", there, name, len(held), reason)
						}
					}()
					_, err := f.extend(t.Context(), v)
					if err == nil || v.Head.Reaches(v.Watermark) {
						t.Errorf("tables up to bundle %d, head %s, %d in memory: %v, and the head reaches the watermark: %t; want an error and false",
							there, name, len(held), err, v.Head.Reaches(v.Watermark))
					}
				}()
			}
		}
	}
}

// insertBlock inserts the masterchain block of a bundle, which says that it has two
// transactions.
func insertBlock(t *testing.T, client *clickhouse.Client, mcSeqno uint32) {
	t.Helper()
	id := &record.BlockId{Workchain: -1, Seqno: mcSeqno, RootHash: make([]byte, 32), FileHash: make([]byte, 32)}
	r := &record.Record{Content: &record.Record_Blocks{Blocks: &record.BlockBatch{Blocks: []*record.Block{{Id: id, McSeqno: mcSeqno, TxCount: 2}}}}}
	raw, err := r.MarshalVT()
	if err != nil {
		t.Fatal(err)
	}
	feed, err := table.NewFeed(schema.Headers.Name, table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := feed.Add(r, raw); err != nil {
		t.Fatal(err)
	}
	for _, rows := range feed.Buffers() {
		insert := clickhouse.Insert{Table: rows.Table().Name, Token: fmt.Sprint(rows.Table().Name, mcSeqno)}
		for _, v := range rows.Values() {
			insert.Columns = append(insert.Columns, clickhouse.Column{Name: v.Column, Values: v.Slice})
		}
		if err := client.Insert(t.Context(), insert); err != nil {
			t.Fatal(err)
		}
	}
}

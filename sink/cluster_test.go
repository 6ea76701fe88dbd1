package sink

import (
	"strings"
	"testing"
	"time"

	"tonscribe/internal/clickhouse"
	"tonscribe/schema/migrations"
	"tonscribe/test/support/clienttest"
	"tonscribe/test/support/clustertest"
)

func TestTwoShardsHoldTogetherWhatOneNodeHolds(t *testing.T) {
	engines, dsn := clustertest.Shards(t)
	for range 2 {
		if err := migrations.Up(t.Context(), dsn, migrations.Options{Cluster: clustertest.Name}); err != nil {
			t.Fatal(err)
		}
	}
	tables := clienttest.ClickHouse(t, dsn)
	s := newStream(t, 2)
	_, stop := s.start(tables, nil)
	s.publish(bundles(100, 6)...)
	s.await()
	stop()
	got := contents(t, tables)
	for name := range got {
		if strings.HasSuffix(name, "_local") {
			delete(got, name)
		}
	}
	same(t, got, undisturbed(t, s))
	if w, err := clickhouse.ReadWatermark(t.Context(), tables.Conn()); err != nil || w.MCSeqno != s.last.Seqno {
		t.Errorf("watermark %v, %v", w, err)
	}
	for _, e := range engines {
		shard := clienttest.ClickHouse(t, e.DSN()).Conn()
		var transactions, strays uint64
		err := shard.QueryRow(t.Context(), `SELECT count(), (SELECT count() FROM messages_index_local
			WHERE (workchain, account_prefix, lt) NOT IN (SELECT workchain, account_prefix, lt FROM transactions_local))
			FROM transactions_local`).Scan(&transactions, &strays)
		if err != nil || transactions == 0 || strays != 0 {
			t.Errorf("%d transactions, %d ends of messages without theirs, %v", transactions, strays, err)
		}
	}
	// One request, answered by both shards, each from its own tables.
	var found uint64
	err := tables.Conn().QueryRow(t.Context(), `SELECT count() FROM transactions WHERE (workchain, account_prefix, lt) IN
		(SELECT workchain, account_prefix, lt FROM transactions_index WHERE path = 'mc_seqno' AND key = ?) SETTINGS distributed_product_mode = 'local'`,
		s.last.Seqno).Scan(&found)
	if err != nil || found != uint64(len(s.last.Transactions)) {
		t.Errorf("%d transactions of the last bundle instead of %d, %v", found, len(s.last.Transactions), err)
	}
}

func TestKilledClickHouseLosesAndChangesNothing(t *testing.T) {
	kills := rounds(3, 6)
	e := clustertest.Engine(t)
	if err := migrations.Up(t.Context(), e.DSN(), migrations.Options{}); err != nil {
		t.Fatal(err)
	}
	tables := clienttest.ClickHouse(t, e.DSN())
	s := newStream(t, 1)
	_, stop := s.start(tables, func(c *Configuration) { c.MaxRows, c.Rest = 300, 0 })
	rest := bundles(60*kills, 7)
	for i := range kills {
		s.publish(rest[:60]...)
		rest = rest[60:]
		time.Sleep(time.Duration(150*i/(kills-1)) * time.Millisecond) // some way into the inserts
		clustertest.Kill(t, e)
	}
	s.await()
	stop()
	same(t, distinctContents(t, tables), undisturbed(t, s))
}

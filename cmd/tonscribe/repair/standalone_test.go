package repair

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"tonscribe/decode/worker"
	"tonscribe/ingest"
	"tonscribe/internal/clickhouse"
	"tonscribe/internal/kafka"
	"tonscribe/internal/report"
	"tonscribe/schema"
	"tonscribe/sink"
	"tonscribe/test/support/clienttest"
	"tonscribe/test/support/enginetest"
	"tonscribe/test/support/realdata"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// Blocks of a real chain show of many accounts only what changed. Tables that are
// standalone have the same rows of a bundle although decoding began with it, and
// others have not.
func TestStandaloneTablesNeedNoEarlierBundles(t *testing.T) {
	const begin, end = 30, 60
	source := "files:" + realdata.Path(t, "blocks", "mainnet_genesis_mc1-199")
	whole, part := decodeBlocks(t, source, 1, end), decodeBlocks(t, source, begin, end)
	others := 0
	for _, table := range []string{"blocks", "blocks_index", "transactions", "transactions_index", "messages_index", "messages_by_account"} {
		query := fmt.Sprintf("SELECT count(), groupBitXor(cityHash64(tuple(*))) FROM `%s` FINAL WHERE mc_seqno >= %d", table, begin)
		var rows, hash [2]uint64
		for i, c := range []*clickhouse.Client{whole, part} {
			if err := c.Conn().QueryRow(t.Context(), query).Scan(&rows[i], &hash[i]); err != nil {
				t.Fatal(err)
			}
		}
		switch same := hash[0] == hash[1]; {
		case rows[0] == 0 || rows[0] != rows[1]:
			t.Errorf("table %s: %d rows from bundle 1 on, %d from bundle %d on", table, rows[0], rows[1], begin)
		case sink.Standalone(table) && !same:
			t.Errorf("table %s is standalone, but its %d rows are not the same", table, rows[0])
		case !sink.Standalone(table) && !same:
			others++
		}
	}
	if others != 1 {
		t.Errorf("%d tables need what was before, want transactions alone", others)
	}
	for _, table := range []string{"accounts", "accounts_by_balance", "codes", "jetton_wallets", "contract_links", "seals", "progress"} {
		if sink.Standalone(table) {
			t.Errorf("table %s is said to be standalone", table)
		}
	}
}

// openEngines gives empty tables and an empty log.
func openEngines(t *testing.T) (*clickhouse.Client, *kafka.Client) {
	t.Helper()
	return clienttest.ClickHouse(t, enginetest.Tables(t).DSN()), clienttest.Kafka(t, enginetest.Kafka(t), 1, schema.Topics...)
}

// decodeBlocks gives tables with what blocks from one on decode to.
func decodeBlocks(t *testing.T, source string, from, to uint32) *clickhouse.Client {
	t.Helper()
	ctx := t.Context()
	client, topics := openEngines(t)
	sealed := make(chan string, 1000)
	out, err := sink.New(sink.DefaultConfiguration(), sink.Dependencies{Report: report.Silent(), Kafka: topics, ClickHouse: client, Repeat: &sink.Repeat{
		Tables: []string{"blocks", "blocks_index", "transactions", "transactions_index", "messages_index", "messages_by_account"},
		Sealed: func(topic string, _ int, mcSeqno uint32) {
			if mcSeqno == to {
				sealed <- topic
			}
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	d := worker.DefaultConfiguration()
	d.Cells.Dir = t.TempDir()
	decode, err := worker.New(d, worker.Dependencies{Report: report.Silent(), Kafka: topics})
	if err != nil {
		t.Fatal(err)
	}
	i := ingest.DefaultConfiguration()
	i.Source, i.From, i.To = source, from, to
	in, err := ingest.New(i, ingest.Dependencies{Report: report.Silent(), Log: topics})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []interface {
		Start(context.Context) error
		Stop(context.Context) error
	}{out, decode, in} {
		if err := s.Start(ctx); err != nil {
			t.Fatal(err)
		}
		defer s.Stop(context.Background())
	}
	for missing := []string{schema.Headers.Name, schema.Transactions.Name}; len(missing) > 0; {
		select {
		case topic := <-sealed:
			missing = slices.DeleteFunc(missing, func(name string) bool { return name == topic })
		case <-time.After(2 * time.Minute):
			t.Fatalf("bundle %d of topics %v does not come", to, missing)
		}
	}
	return client
}

package sink

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"tonscribe/bench/synthetic"
	"tonscribe/internal/clickhouse"
	"tonscribe/internal/kafka"
	"tonscribe/internal/lifetime/lifetimetest"
	"tonscribe/internal/report"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/test/support/clienttest"
	"tonscribe/test/support/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// stream is a log with topics, and bundles to put there.
type stream struct {
	testing.TB
	partitions    int
	configuration kafka.Configuration
	dependencies  kafka.Dependencies
	producer      *kafka.Client
	last          *synthetic.Bundle
}

func newStream(t testing.TB, partitions int) *stream {
	t.Helper()
	log := enginetest.Kafka(t)
	s := &stream{TB: t, partitions: partitions, configuration: kafka.DefaultConfiguration()}
	s.configuration.Brokers, s.configuration.Partitions = []string{log.Address()}, partitions
	s.dependencies = kafka.Dependencies{Report: report.Silent(), Dial: log.Dial, Epoch: log.Epoch()}
	s.producer = s.client()
	if err := s.producer.EnsureTopics(t.Context(), schema.Topics); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *stream) client() *kafka.Client {
	s.Helper()
	s.dependencies.Report = report.Silent()
	c, err := kafka.New(s.configuration, s.dependencies)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(c.Close)
	return c
}

// publish puts the rest of the bundles into all partitions of all topics.
func (s *stream) publish(bundles ...*synthetic.Bundle) {
	s.Helper()
	for p := range s.partitions {
		var headers, transactions, accounts, contracts, traces []*record.Record
		for _, b := range bundles {
			h, t, a := b.Records(p, s.partitions)
			headers, transactions, accounts = append(headers, h...), append(transactions, t...), append(accounts, a...)
			contracts = append(contracts, b.Nothing()...)
			traces = append(traces, b.Nothing()...)
			s.last = b
		}
		for topic, records := range map[string][]*record.Record{schema.Headers.Name: headers, schema.Transactions.Name: transactions, schema.Accounts.Name: accounts, schema.Contracts.Name: contracts, schema.Traces.Name: traces} {
			if err := s.producer.Publish(s.Context(), topic, p, records); err != nil {
				s.Fatal(err)
			}
		}
	}
}

// bundles are n bundles of about 20 transactions.
func bundles(n int, seed uint64) []*synthetic.Bundle {
	rows := synthetic.NewRows(synthetic.RowOptions{Transactions: 100 * n, Seed: seed})
	list := make([]*synthetic.Bundle, n)
	for i := range list {
		list[i] = rows.Next()
	}
	return list
}

// newTables makes an empty database with all tables.
func newTables(t testing.TB) *clickhouse.Client {
	t.Helper()
	engine := enginetest.Tables(t)
	return clienttest.ClickHouse(t, engine.DSN())
}

// start runs a sink until stop is called or the test ends.
func (s *stream) start(tables *clickhouse.Client, change func(*Configuration)) (sink *Component, stop func()) {
	s.Helper()
	configuration := DefaultConfiguration()
	if change != nil {
		change(&configuration)
	}
	sink, err := New(configuration, Dependencies{Report: enginetest.Report(s), Kafka: s.client(), ClickHouse: tables})
	if err != nil {
		s.Fatal(err)
	}
	lifetimetest.Run(s, sink)
	return sink, func() {
		if err := sink.Stop(context.Background()); err != nil {
			s.Error(err)
		}
	}
}

// patience is how long a test waits for a group that does not get on.
const patience = 2 * time.Minute

// await returns when the log's group has committed everything.
func (s *stream) await() {
	s.Helper()
	s.awaitGroup(DefaultConfiguration().Group)
}

func (s *stream) awaitGroup(group string) {
	s.Helper()
	var before int64
	for moved := time.Now(); ; time.Sleep(time.Millisecond) {
		lag, err := s.producer.Lag(s.Context(), group, schema.TableTopics...)
		if err != nil {
			s.Fatal(err)
		}
		switch {
		case lag == 0:
			return
		case lag != before:
			before, moved = lag, time.Now()
		case time.Since(moved) > patience:
			stacks := make([]byte, 4<<20)
			s.Fatalf("group %s does not get on: %d records left\n%s", group, lag, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// latest are the tables of which only the newest row of a key counts: how many
// are there is a matter of merges. Of metadata_links it is one of batches too.
var latest = []string{"accounts", "accounts_by_balance", "metadata_links"}

// contents is the number and a checksum of the rows of every table, without any
// merging at reading but where it must be.
func contents(t testing.TB, tables *clickhouse.Client) map[string]string {
	t.Helper()
	return contentsOf(t, tables, "%s")
}

// distinctContents counts rows that are equal once: what a server took before it was killed
// comes twice.
func distinctContents(t testing.TB, tables *clickhouse.Client) map[string]string {
	t.Helper()
	return contentsOf(t, tables, "(SELECT DISTINCT * FROM %s)")
}

func contentsOf(t testing.TB, tables *clickhouse.Client, from string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for name := range lines(t, tables, "SELECT name FROM system.tables WHERE database = currentDatabase() AND name NOT IN ('schema_migrations', 'progress') AND name NOT LIKE 'stats_%' AND NOT match(name, '^[._]tmp')") {
		var count, sum uint64
		rows := fmt.Sprintf(from, name)
		if slices.Contains(latest, name) {
			rows = name + " FINAL"
		}
		err := tables.Conn().QueryRow(t.Context(), "SELECT count(), sum(cityHash64(tuple(*))) FROM "+rows).Scan(&count, &sum)
		if err != nil {
			t.Fatal(err)
		}
		found[name] = fmt.Sprintf("%d rows, checksum %x", count, sum)
	}
	return found
}

func same(t testing.TB, got, want map[string]string) {
	t.Helper()
	if len(got) == 0 || len(got) != len(want) {
		t.Errorf("%d tables instead of %d", len(got), len(want))
	}
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s: %s instead of %s", name, got[name], want[name])
		}
	}
}

package metadata_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/clickhouse"
	"tonscribe/metadata"
	"tonscribe/schema"
	"tonscribe/test/support/clienttest"
	"tonscribe/test/support/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// limit is for what takes some seconds on a quiet machine.
const limit = 5 * time.Minute

// index is a database that a sink fills.
type index struct {
	testing.TB
	*clickhouse.Client
	dsn     string
	seqno   uint32
	metrics *prometheus.Registry // of the process that was started last
}

// newIndex lets the test run beside others: most of its time it waits.
func newIndex(t *testing.T) *index {
	t.Helper()
	t.Parallel()
	dsn := enginetest.UnmergedTables(t, "metadata", "metadata_fetches", "metadata_links", "metadata_workers", "mintless_amounts", "mintless_dumps", "progress", "jetton_masters").DSN()
	client := clienttest.ClickHouse(t, dsn)
	return &index{TB: t, Client: client, dsn: dsn}
}

func (i *index) exec(statement string, arguments ...any) {
	i.Helper()
	if err := i.Conn().Exec(i.Context(), statement, arguments...); err != nil {
		i.Fatal(err)
	}
}

// bundle makes a bundle visible in which contracts have these links.
func (i *index) bundle(links ...string) {
	i.Helper()
	i.seqno++
	if len(links) > 0 {
		encoded := make([]string, len(links))
		for n, link := range links {
			encoded[n] = hex.EncodeToString([]byte(link))
		}
		i.exec("INSERT INTO metadata_links SELECT ?, unhex(arrayJoin(splitByChar(',', ?)))", i.seqno, strings.Join(encoded, ","))
	}
	for _, topic := range schema.TableTopics {
		i.exec("INSERT INTO progress VALUES (?, 0, 1, ?, ?)", topic.Name, i.seqno, i.seqno)
	}
}

// start starts a process that fetches; change changes its configuration.
func (i *index) start(change func(*metadata.Configuration)) *metadata.Component {
	i.Helper()
	c := metadata.DefaultConfiguration()
	c.AllowNetworks, c.HostPause, c.Poll, c.Lease, c.Retry = []string{"127.0.0.1/32"}, 0, 20*time.Millisecond, time.Minute, time.Second
	c.Timeout = 20 * time.Second
	if change != nil {
		change(&c)
	}
	reporter := enginetest.Report(i)
	i.metrics = prometheus.NewRegistry()
	reporter.Metrics = i.metrics
	worker, err := metadata.New(c, metadata.Dependencies{Report: reporter, ClickHouse: i.Client})
	if err != nil {
		i.Fatal(err)
	}
	if err := worker.Start(i.Context()); err != nil {
		i.Fatal(err)
	}
	i.Cleanup(func() { i.stop(worker) })
	return worker
}

func (i *index) stop(worker *metadata.Component) {
	i.Helper()
	if err := worker.Stop(context.Background()); err != nil {
		i.Error(err)
	}
}

// try is a row of metadata_fetches.
type try struct {
	tried    uint64
	failure  string
	attempts uint32
	due      uint32
	had      bool
}

// tries are those of a link, the first one first.
func (i *index) tries(link string) (list []try) {
	i.Helper()
	sum := sha256.Sum256([]byte(link))
	rows, err := i.Conn().Query(i.Context(), "SELECT tried, failure, attempts, due, had FROM metadata_fetches WHERE hash = unhex(?) AND tried > 0 ORDER BY tried", hex.EncodeToString(sum[:]))
	if err != nil {
		i.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var r try
		if err := rows.Scan(&r.tried, &r.failure, &r.attempts, &r.due, &r.had); err != nil {
			i.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

// shown is a link's document as the API reads it.
func (i *index) shown(link string) (document, failure string) {
	i.Helper()
	sum := sha256.Sum256([]byte(link))
	err := i.Conn().QueryRow(i.Context(), "SELECT argMax(document, fetched), argMax(failure, fetched) FROM metadata WHERE hash = unhex(?)", hex.EncodeToString(sum[:])).Scan(&document, &failure)
	if err != nil {
		i.Fatal(err)
	}
	return document, failure
}

func (i *index) workers() (n uint64) {
	i.Helper()
	if err := i.Conn().QueryRow(i.Context(), "SELECT uniqExact(worker) FROM metadata_workers").Scan(&n); err != nil {
		i.Fatal(err)
	}
	return n
}

// results is what the metric says became of documents.
func (i *index) results() map[string]float64 {
	i.Helper()
	families, err := i.metrics.Gather()
	if err != nil {
		i.Fatal(err)
	}
	counts := map[string]float64{}
	for _, family := range families {
		if family.GetName() == "tonscribe_metadata_documents_total" {
			for _, m := range family.GetMetric() {
				counts[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
			}
		}
	}
	return counts
}

func (i *index) await(what string, condition func() bool) {
	i.Helper()
	deadline := time.Now().Add(limit)
	for !condition() {
		if time.Now().After(deadline) {
			i.Fatalf("after %s: still not so: %s", limit, what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (i *index) awaitShown(link, want string) {
	i.Helper()
	var document, failure string
	deadline := time.Now().Add(limit)
	for document != want {
		if time.Now().After(deadline) {
			i.Fatalf("%s: document %q, failure %q, want document %q", link, document, failure, want)
		}
		time.Sleep(10 * time.Millisecond)
		document, failure = i.shown(link)
	}
}

func (i *index) awaitTries(link string, n int) []try {
	i.Helper()
	var list []try
	i.await(fmt.Sprintf("%s was tried %d times", link, n), func() bool {
		list = i.tries(link)
		return len(list) >= n
	})
	return list
}

// awaitAll waits until each of so many links was tried.
func (i *index) awaitAll(links int) {
	i.Helper()
	var n uint64
	i.await(fmt.Sprintf("%d links were tried", links), func() bool {
		if err := i.Conn().QueryRow(i.Context(), "SELECT uniqExact(hash) FROM metadata_fetches WHERE tried > 0").Scan(&n); err != nil {
			i.Fatal(err)
		}
		return n >= uint64(links)
	})
}

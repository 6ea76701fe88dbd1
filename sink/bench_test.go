package sink

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"tonscribe/bench/synthetic"
	"tonscribe/internal/clickhouse"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/test/support/clienttest"
	"tonscribe/test/support/enginetest"
)

// TestInsertPath is a measurement: TONSCRIBE_SINK_ROWS=1000000 go test -v -run
// TestInsertPath ./sink prints how fast decoded records become rows and what a
// transaction costs on disk.
func TestInsertPath(t *testing.T) {
	total, _ := strconv.Atoi(os.Getenv("TONSCRIBE_SINK_ROWS"))
	if total == 0 {
		t.Skip("TONSCRIBE_SINK_ROWS is not set")
	}
	per := 50_000
	if v, err := strconv.Atoi(os.Getenv("TONSCRIBE_SINK_BATCH")); err == nil {
		per = v
	}
	ctx := t.Context()
	engine := enginetest.Tables(t)
	client := clienttest.ClickHouse(t, engine.DSN())
	cpu := processorSeconds(t, engine.Pid())
	chain := synthetic.NewRows(synthetic.RowOptions{Transactions: total, Seed: 1})
	f := newFeed(t, DefaultConfiguration(), schema.Transactions)
	var building, inserting time.Duration
	var raw, ends, done int
	for done < total {
		var payloads [][]byte
		for until := chain.Made() + per; chain.Made() < min(until, total); {
			_, records, _ := chain.Next().Records(0, 1)
			for _, r := range records {
				b, err := r.MarshalVT()
				if err != nil {
					t.Fatal(err)
				}
				payloads = append(payloads, b)
				raw += len(b)
			}
		}
		began := time.Now()
		for _, p := range payloads {
			r := &record.Record{}
			if err := r.UnmarshalVT(p); err != nil {
				t.Fatal(err)
			}
			if r.GetSeal() != nil {
				continue
			}
			rows, err := f.Add(r, p)
			if err != nil {
				t.Fatal(err)
			}
			done += rows
		}
		building += time.Since(began)
		began = time.Now()
		var group errgroup.Group
		group.SetLimit(2)
		for _, p := range f.Buffers() {
			if p.Table().Name == "messages_by_account" {
				ends += p.Rows()
			}
			group.Go(func() error { return client.Insert(ctx, insertOf(p, fmt.Sprint(done))) })
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		inserting += time.Since(began)
		for _, p := range f.Buffers() {
			p.Reset()
		}
	}
	t.Logf("%d transactions, %.2f rows of messages_by_account and %d bytes each; build %v, insert %v: %.0f tx/s one after the other", done, float64(ends)/float64(done), raw/done,
		building, inserting, float64(done)/(building+inserting).Seconds())
	t.Logf("ClickHouse used %.1f µs of processor for each transaction, merges so far included", 1e6*(processorSeconds(t, engine.Pid())-cpu)/float64(done))
	printSizes(t, client, done)
	if os.Getenv("TONSCRIBE_SINK_FINAL") != "" {
		for _, p := range f.Buffers() {
			if err := client.Conn().Exec(ctx, "OPTIMIZE TABLE "+p.Table().Name+" FINAL"); err != nil {
				t.Fatal(err)
			}
		}
		printSizes(t, client, done)
	}
}

// TestThroughput is a measurement: TONSCRIBE_SINK_ROWS=500000 go test -v -run
// TestThroughput ./sink prints how fast the whole sink empties a log.
func TestThroughput(t *testing.T) {
	total, _ := strconv.Atoi(os.Getenv("TONSCRIBE_SINK_ROWS"))
	if total == 0 {
		t.Skip("TONSCRIBE_SINK_ROWS is not set")
	}
	partitions := 1
	if v, err := strconv.Atoi(os.Getenv("TONSCRIBE_SINK_PARTITIONS")); err == nil {
		partitions = v
	}
	engine := enginetest.Tables(t)
	s := newStream(t, partitions)
	chain := synthetic.NewRows(synthetic.RowOptions{Transactions: total, Seed: 1})
	for chain.Made() < total {
		var list []*synthetic.Bundle
		for until := min(total, chain.Made()+20_000); chain.Made() < until; {
			list = append(list, chain.Next())
		}
		s.publish(list...)
	}
	runtime.GC()
	var peak uint64
	theirs, ours, began := processorSeconds(t, engine.Pid()), processorSeconds(t, os.Getpid()), time.Now()
	_, stop := s.start(clienttest.ClickHouse(t, engine.DSN()), nil)
	for pause := time.NewTicker(50 * time.Millisecond); ; <-pause.C {
		lag, err := s.producer.Lag(t.Context(), "sink", schema.Headers, schema.Transactions)
		if err != nil {
			t.Fatal(err)
		}
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		peak = max(peak, memory.HeapInuse)
		if lag == 0 {
			break
		}
		pause.Reset(50 * time.Millisecond)
	}
	took := time.Since(began)
	t.Logf("heap up to %d MiB", peak>>20)
	per := 1e6 / float64(total)
	t.Logf("%d transactions in %v: %.0f tx/s; processor per transaction: ClickHouse %.1f µs, sink and log %.1f µs", total, took,
		float64(total)/took.Seconds(), per*(processorSeconds(t, engine.Pid())-theirs), per*(processorSeconds(t, os.Getpid())-ours))
	stop()
	printSizes(t, clienttest.ClickHouse(t, engine.DSN()), total)
}

// BenchmarkSmallInserts is what an insert costs ClickHouse however few its rows
// are: one of 400 rows, five of 80 each, and one into a table with eight
// projections. Merges that run meanwhile are counted.
func BenchmarkSmallInserts(b *testing.B) {
	engine := enginetest.Tables(b)
	client := clienttest.ClickHouse(b, engine.DSN())
	for _, c := range []struct {
		name, table, column string
		inserts, rows       int
	}{
		{"one", "messages_index", "key", 1, 400},
		{"five", "messages_index", "key", 5, 80},
		{"projections", "nft_items", "account_prefix", 1, 400},
	} {
		b.Run(c.name, func(b *testing.B) {
			before := processorSeconds(b, engine.Pid())
			for n := range b.N {
				var group errgroup.Group
				for i := range c.inserts {
					group.Go(func() error {
						return client.Conn().Exec(b.Context(), fmt.Sprintf("INSERT INTO %s (%s) SELECT number + %d FROM numbers(%d)", c.table, c.column, (n*c.inserts+i)*c.rows, c.rows))
					})
				}
				if err := group.Wait(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(1000*(processorSeconds(b, engine.Pid())-before)/float64(b.N), "processor-ms/op")
		})
	}
}

// processorSeconds is what a process has used of the processors.
func processorSeconds(t testing.TB, pid int) float64 {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	columns := strings.Fields(rest)
	user, _ := strconv.Atoi(columns[11])
	system, _ := strconv.Atoi(columns[12])
	return float64(user+system) / 100
}

func printSizes(t *testing.T, client *clickhouse.Client, transactions int) {
	var sum float64
	var table string
	var bytes, n, parts, marks, data, plain uint64
	err := clickhouse.Each(t.Context(), client.Conn(), `SELECT table, sum(bytes_on_disk), sum(rows), count(), sum(marks), sum(data_compressed_bytes), sum(data_uncompressed_bytes) FROM system.parts
		WHERE database = currentDatabase() AND active GROUP BY table ORDER BY table`, nil, func() {
		per := float64(bytes) / float64(transactions)
		sum += per
		t.Logf("%-28s %9d rows %3d parts %6.0f rows/granule %8.1f B/row %8.1f B/tx (data %.1f, plain %.1f)", table, n, parts, float64(n)/float64(marks),
			float64(bytes)/float64(n), per, float64(data)/float64(transactions), float64(plain)/float64(transactions))
	}, &table, &bytes, &n, &parts, &marks, &data, &plain)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("all tables: %.1f bytes for each transaction", sum)
}

// TestHeadLatency is a measurement: how long a bundle takes from the log to the
// watermark when the sink waits for it.
func TestHeadLatency(t *testing.T) {
	if os.Getenv("TONSCRIBE_SINK_ROWS") == "" {
		t.Skip("TONSCRIBE_SINK_ROWS is not set")
	}
	s, tables := newStream(t, 1), newTables(t)
	s.start(tables, nil)
	var took []time.Duration
	for _, b := range bundles(60, 1) {
		began := time.Now()
		s.publish(b)
		for {
			w, err := clickhouse.ReadWatermark(t.Context(), tables.Conn())
			if err == nil && w.MCSeqno == b.Seqno {
				break
			}
			time.Sleep(time.Millisecond)
		}
		took = append(took, time.Since(began))
		if took[len(took)-1] > time.Second {
			t.Logf("bundle %d took %v", b.Seqno, took[len(took)-1])
		}
		time.Sleep(200 * time.Millisecond)
	}
	slices.Sort(took)
	t.Logf("from log to watermark: p50 %v, p90 %v, most %v", took[len(took)/2], took[len(took)*9/10], took[len(took)-1])
}

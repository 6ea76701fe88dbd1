package clickhouse_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/clienttls"
	"tonscribe/internal/report"
	"tonscribe/schema"
	"tonscribe/test/support/clustertest"
	"tonscribe/test/support/enginetest"
	"tonscribe/test/support/harness"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

func client(t *testing.T, dsn string, change ...func(*clickhouse.Configuration)) *clickhouse.Client {
	t.Helper()
	configuration := clickhouse.DefaultConfiguration()
	configuration.DSN = dsn
	for _, c := range change {
		c(&configuration)
	}
	c, err := clickhouse.New(configuration, clickhouse.Dependencies{Report: report.Silent()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func withTable(t *testing.T) (c *clickhouse.Client, count func() uint64) {
	t.Helper()
	c = client(t, enginetest.ClickHouse(t).DSN())
	err := c.Conn().Exec(t.Context(), `CREATE TABLE t (n UInt64, hash FixedString(4), text String) ENGINE = MergeTree ORDER BY n
		SETTINGS non_replicated_deduplication_window = 1000`)
	if err != nil {
		t.Fatal(err)
	}
	return c, func() (n uint64) {
		if err := c.Conn().QueryRow(t.Context(), `SELECT count() FROM t`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
}

func rows(token string, n int) clickhouse.Insert {
	numbers, hashes, texts := make([]uint64, n), make([][]byte, n), make([]string, n)
	for i := range n {
		numbers[i], hashes[i], texts[i] = uint64(i), []byte{byte(i), 1, 2, 0}, strings.Repeat("x", i%100)
	}
	return clickhouse.Insert{Table: "t", Token: token, Columns: []clickhouse.Column{
		{Name: "text", Values: texts}, {Name: "n", Values: numbers}, {Name: "hash", Values: hashes},
	}}
}

func TestSameTokenTwiceIsInsertedOnce(t *testing.T) {
	c, count := withTable(t)
	for _, token := range []string{"a", "b", "a", "b", "a"} {
		if err := c.Insert(t.Context(), rows(token, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	if n := count(); n != 2000 {
		t.Fatalf("%d rows", n)
	}
}

func TestLargeInsertIsOneBlock(t *testing.T) {
	c, count := withTable(t)
	const n = 1_500_000 // more than ClickHouse's default block
	for range 2 {
		if err := c.Insert(t.Context(), rows("large", n)); err != nil {
			t.Fatal(err)
		}
	}
	if have := count(); have != n {
		t.Fatalf("%d rows", have)
	}
	var parts uint64
	err := c.Conn().QueryRow(t.Context(), `SELECT count() FROM system.parts WHERE database = currentDatabase() AND table = 't'`).Scan(&parts)
	if err != nil || parts != 1 {
		t.Fatalf("%d parts, %v", parts, err)
	}
}

// ofShards are clients of two shards, with the table t over both, and the DSN of both.
func ofShards(t *testing.T) (shards [2]*clickhouse.Client, dsn string) {
	t.Helper()
	engines, dsn := clustertest.Shards(t)
	for i, e := range engines {
		shards[i] = client(t, e.DSN())
		for _, statement := range []string{
			`CREATE TABLE t_local (n UInt64, hash FixedString(4), text String) ENGINE = MergeTree ORDER BY n`,
			`SYSTEM STOP MERGES t_local`,
			`CREATE TABLE t AS t_local ENGINE = Distributed('` + clustertest.Name + `', currentDatabase(), t_local, n % 2)`,
		} {
			if err := shards[i].Conn().Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
	}
	return shards, dsn
}

func TestLargeInsertIsOneBlockInEachShardUntilTheTableIsEmptied(t *testing.T) {
	shards, dsn := ofShards(t)
	const n = 100_000
	if err := shards[0].Insert(t.Context(), rows("large", n)); err != nil {
		t.Fatal(err)
	}
	holds := func(want ...uint64) {
		t.Helper()
		for i, shard := range shards {
			var parts []uint64
			err := shard.Conn().QueryRow(t.Context(), `SELECT groupArray(rows) FROM system.parts WHERE database = currentDatabase() AND table = 't_local' AND active`).Scan(&parts)
			if err != nil || !slices.Equal(parts, want) {
				t.Errorf("shard %d has parts of %d rows, %v, want %d", i, parts, err, want)
			}
		}
	}
	holds(n / 2)
	if err := client(t, dsn).Empty(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	holds()
	if err := client(t, dsn).Empty(t.Context(), "u"); err == nil {
		t.Error("a table that is not there is emptied")
	}
}

func TestInsertThatCannotSucceedIsNotRepeated(t *testing.T) {
	c, count := withTable(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	wrong := map[string]clickhouse.Insert{"no such table": rows("a", 1), "no such column": rows("a", 1), "wrong type": rows("a", 1), "uneven": rows("a", 1)}
	change := func(name string, f func(*clickhouse.Insert)) { i := wrong[name]; f(&i); wrong[name] = i }
	change("no such table", func(i *clickhouse.Insert) { i.Table = "u" })
	change("no such column", func(i *clickhouse.Insert) { i.Columns[0].Name = "u" })
	change("wrong type", func(i *clickhouse.Insert) { i.Columns[0].Values = []float64{1} })
	change("uneven", func(i *clickhouse.Insert) { i.Columns[0].Values = []string{"a", "b"} })
	for name, insert := range wrong {
		if err := c.Insert(ctx, insert); err == nil || ctx.Err() != nil {
			t.Errorf("%s: %v, %v", name, err, ctx.Err())
		}
	}
	if n := count(); n != 0 {
		t.Errorf("%d rows", n)
	}
}

func TestWaitEndsWithTheContextOrAtARefusal(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := client(t, "clickhouse://u:p@"+harness.DeafAddress(t)+"/d").Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("nobody listens: %v", err)
	}
	right := enginetest.ClickHouse(t).DSN()
	if err := client(t, right).Wait(t.Context()); err != nil {
		t.Error(err)
	}
	wrong := strings.Replace(right, "tonscribe:", "tonscribe:x", 1)
	if err := client(t, wrong).Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "password") {
		t.Errorf("wrong password: %v", err)
	}
}

func TestConfigurationsThatMakeNoSenseAreRefused(t *testing.T) {
	for name, change := range map[string]func(*clickhouse.Configuration){
		"no DSN":          func(c *clickhouse.Configuration) { c.DSN = "" },
		"odd DSN":         func(c *clickhouse.Configuration) { c.DSN = "clickhouse://a:1/d?dial_timeout=soon" },
		"compression":     func(c *clickhouse.Configuration) { c.Compression = "brotli" },
		"CA file":         func(c *clickhouse.Configuration) { c.TLS = clienttls.Configuration{Enable: true, CAFile: "/nowhere"} },
		"unused CA file":  func(c *clickhouse.Configuration) { c.TLS.CAFile = "/nowhere" },
		"no connections":  func(c *clickhouse.Configuration) { c.MaxConnections = -1 },
		"any connections": func(c *clickhouse.Configuration) { c.MaxConnections = math.MaxInt },
		"no time to dial": func(c *clickhouse.Configuration) { c.DialTimeout = -1 },
		"no time to read": func(c *clickhouse.Configuration) { c.ReadTimeout = 0 },
	} {
		c := clickhouse.DefaultConfiguration()
		c.DSN = "clickhouse://a:1/d"
		change(&c)
		if _, err := clickhouse.New(c, clickhouse.Dependencies{Report: report.Silent()}); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func TestWatermarkIsTheSlowestPartitionOfTheSlowestTopic(t *testing.T) {
	c := client(t, enginetest.ClickHouse(t).DSN())
	err := c.Conn().Exec(t.Context(), `CREATE TABLE progress (topic LowCardinality(String), partition UInt16, partitions UInt16, mc_seqno UInt32, gen_utime UInt32)
		ENGINE = MergeTree ORDER BY tuple()`)
	if err != nil {
		t.Fatal(err)
	}
	// All other topics with tables are far ahead.
	for _, topic := range schema.TableTopics {
		if topic == schema.Headers || topic == schema.Transactions {
			continue
		}
		for partition := range uint16(2) {
			if err := c.Conn().Exec(t.Context(), `INSERT INTO progress VALUES (?, ?, 2, 1000, 100000)`, topic.Name, partition); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, step := range []struct {
		topic     schema.Topic
		partition uint16
		mcSeqno   uint32
		want      uint32 // 0 is none
	}{
		{schema.Headers, 0, 10, 0}, {schema.Headers, 1, 12, 0}, {schema.Transactions, 0, 20, 0}, {schema.Transactions, 1, 8, 8},
		{schema.Transactions, 1, 15, 10}, {schema.Headers, 0, 30, 12}, {schema.Headers, 1, 40, 15}, {schema.Transactions, 1, 14, 15},
	} {
		err := c.Conn().Exec(t.Context(), `INSERT INTO progress VALUES (?, ?, 2, ?, ?)`, step.topic.Name, step.partition, step.mcSeqno, step.mcSeqno*100)
		if err != nil {
			t.Fatal(err)
		}
		w, err := clickhouse.ReadWatermark(t.Context(), c.Conn())
		if step.want == 0 && !errors.Is(err, clickhouse.ErrNoWatermark) || step.want > 0 && (err != nil || w.MCSeqno != step.want || w.GenUtime != step.want*100) {
			t.Fatalf("after %+v: %+v, %v", step, w, err)
		}
	}
}

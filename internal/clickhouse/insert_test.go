package clickhouse

import (
	"context"
	"errors"
	"math"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"tonscribe/internal/report"
	"tonscribe/test/support/enginetest"
)

// clientOver is a client of an engine over connections with limits.
func clientOver(t *testing.T, limits ...int64) (c *Client, connections *atomic.Int32) {
	t.Helper()
	dsn, err := url.Parse(enginetest.ClickHouse(t).DSN())
	if err != nil {
		t.Fatal(err)
	}
	connections = new(atomic.Int32)
	dsn.Host = forwarded(t, dsn.Host, connections, limits...)
	configuration := DefaultConfiguration()
	configuration.DSN = dsn.String()
	if c, err = New(configuration, Dependencies{Report: report.Silent()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	err = c.Conn().Exec(t.Context(), `CREATE TABLE t (text String) ENGINE = MergeTree ORDER BY text
		SETTINGS non_replicated_deduplication_window = 1000`)
	if err != nil {
		t.Fatal(err)
	}
	return c, connections
}

// texts are an insert of n rows of 50 bytes.
func texts(n int) Insert {
	values := make([]string, n)
	for i := range values {
		values[i] = strings.Repeat("x", i%100)
	}
	return Insert{"t", "token", []Column{{"text", values}}}
}

func TestInsertWhoseConnectionBreaksHalfWayLeavesNoPartOfTheRows(t *testing.T) {
	const rows = 200_000
	c, connections := clientOver(t, math.MaxInt64, 3_000_000, 50_000, 9_000_000)
	if err := c.Conn().Exec(t.Context(), `SYSTEM STOP MERGES t`); err != nil {
		t.Fatal(err)
	}
	if err := c.Insert(t.Context(), texts(rows)); err != nil {
		t.Fatal(err)
	}
	// What failed before is made twice: a part that came of a broken connection would have fewer rows.
	var parts []uint64
	err := c.Conn().QueryRow(t.Context(), `SELECT groupArray(rows) FROM system.parts WHERE database = currentDatabase() AND table = 't'`).Scan(&parts)
	if want := []uint64{rows, rows}; err != nil || !slices.Equal(parts, want) || connections.Load() < 5 {
		t.Fatalf("parts of %d rows after %d connections, %v, want %d after 5", parts, connections.Load(), err, want)
	}
}

func TestRefusalInTheMidstOfAnInsertIsSaid(t *testing.T) {
	c, _ := clientOver(t)
	if err := c.Conn().Exec(t.Context(), `ALTER TABLE t ADD CONSTRAINT short CHECK length(text) < 99`); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		err := c.insertOnce(t.Context(), texts(0).statement(), texts(1_000_000).Columns)
		if _, is := errors.AsType[*driver.Exception](err); !is || !strings.Contains(err.Error(), "short") {
			t.Fatalf("got %v, want the exception of the constraint", err)
		}
	}
}

func TestInsertEndsWithItsContextThoughTheServerTakesNoMore(t *testing.T) {
	c, connections := clientOver(t, math.MaxInt64, -3_000_000)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	ended := make(chan error, 1)
	go func() { ended <- c.Insert(ctx, texts(1_000_000)) }()
	for connections.Load() < 2 {
		time.Sleep(time.Millisecond)
	}
	select { // it stands, or is about to
	case err := <-ended:
		t.Fatalf("the insert ended by itself: %v", err)
	case <-time.After(500 * time.Millisecond):
	}
	leave()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v, want %v", err, context.Canceled)
		}
	case <-time.After(time.Minute):
		t.Fatal("the insert goes on a minute after nobody waits for it")
	}
}

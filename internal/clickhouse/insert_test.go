package clickhouse

import (
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"tonscribe/internal/report"
	"tonscribe/test/support/enginetest"
)

func TestInsertWhoseConnectionBreaksHalfWayLeavesNoPartOfTheRows(t *testing.T) {
	const rows = 200_000
	texts := make([]string, rows)
	for i := range texts {
		texts[i] = strings.Repeat("x", i%100) // 10 MB in all
	}
	dsn, err := url.Parse(enginetest.ClickHouse(t).DSN())
	if err != nil {
		t.Fatal(err)
	}
	var connections atomic.Int32
	dsn.Host = forwarded(t, dsn.Host, &connections, 3_000_000, 50_000, 9_000_000)
	configuration := DefaultConfiguration()
	configuration.DSN = dsn.String()
	c, err := New(configuration, Dependencies{Report: report.Silent()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	err = c.Conn().Exec(t.Context(), `CREATE TABLE t (text String) ENGINE = MergeTree ORDER BY text
		SETTINGS non_replicated_deduplication_window = 1000`)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Conn().Exec(t.Context(), `SYSTEM STOP MERGES t`); err != nil {
		t.Fatal(err)
	}
	if err := c.Insert(t.Context(), Insert{"t", "token", []Column{{"text", texts}}}); err != nil {
		t.Fatal(err)
	}
	// What failed before is made twice: a part that came of a broken connection would have fewer rows.
	var parts []uint64
	err = c.Conn().QueryRow(t.Context(), `SELECT groupArray(rows) FROM system.parts WHERE database = currentDatabase() AND table = 't'`).Scan(&parts)
	if want := []uint64{rows, rows}; err != nil || !slices.Equal(parts, want) || connections.Load() < 4 {
		t.Fatalf("parts of %d rows after %d connections, %v, want %d after 4", parts, connections.Load(), err, want)
	}
}

package clickhouse_test

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"tonscribe/internal/engine"
	"tonscribe/internal/report"
	"tonscribe/test/support/harness"
)

// A server that is killed between the two writes of an insert knows its token and has none of
// its rows.
func TestRowsOfATokenThatAKilledServerKnewAreThere(t *testing.T) {
	dir := t.TempDir()
	e, err := engine.StartClickHouse(t.Context(), engine.ClickHouseOptions{Dir: dir, MaxMemory: 1 << 30, Volatile: true, Report: report.Silent()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Stop(context.Background()) })
	c := client(t, e.DSN())
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(c.Conn().Exec(t.Context(), `CREATE TABLE t (n UInt64, hash FixedString(4), text String) ENGINE = ReplacingMergeTree ORDER BY n
		SETTINGS non_replicated_deduplication_window = 1000`))
	count := func() (n uint64) {
		t.Helper()
		must(c.Conn().QueryRow(t.Context(), "SELECT count() FROM t FINAL").Scan(&n))
		return n
	}
	must(c.Insert(t.Context(), rows("a", 1000)))
	parts, err := filepath.Glob(filepath.Join(dir, "data", "store", "*", "*", "all_1_1_*"))
	if err != nil || len(parts) != 1 {
		t.Fatalf("the rows are in %v, %v", parts, err)
	}
	must(os.RemoveAll(parts[0]))
	pid := e.Pid()
	must(syscall.Kill(pid, syscall.SIGKILL))
	harness.Await(t, time.Minute, func() bool { return e.Pid() != pid }, func() string { return "the server does not come back" })
	must(c.Wait(t.Context()))
	if n := count(); n != 0 {
		t.Fatalf("%d rows outlived their part", n)
	}
	for range 2 {
		must(c.Insert(t.Context(), rows("a", 1000)))
		if n := count(); n != 1000 {
			t.Fatalf("%d rows of 1000 are there after an insert that was acknowledged", n)
		}
	}
}

// A server that fails between the two writes and lives on knows the token, too.
func TestRowsOfATokenThatAFailedInsertLeftAreThere(t *testing.T) {
	c, count := withTable(t)
	if err := c.Insert(t.Context(), rows("before", 10)); err != nil {
		t.Fatal(err)
	}
	var folder string
	if err := c.Conn().QueryRow(t.Context(), "SELECT path FROM system.parts WHERE database = currentDatabase() AND table = 't' AND active").Scan(&folder); err != nil {
		t.Fatal(err)
	}
	next := filepath.Join(filepath.Dir(filepath.Clean(folder)), "all_2_2_0")
	if err := os.WriteFile(next, nil, 0o600); err != nil { // nothing can be renamed to it
		t.Fatal(err)
	}
	if err := c.Insert(t.Context(), rows("a", 1000)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(next); err != nil {
		t.Fatal(err)
	}
	if n := count(); n != 1010 {
		t.Fatalf("%d rows of 1010 are there after an insert that was acknowledged", n)
	}
}

package engine_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tonscribe/internal/engine"
	"tonscribe/test/support/enginetest"
)

func TestNobodyWithAPasswordReachesFilesTheNetworkOrProcesses(t *testing.T) {
	dir := t.TempDir()
	c, err := engine.StartClickHouse(t.Context(), engine.ClickHouseOptions{Dir: dir, MaxMemory: 768 << 20, Volatile: true, ReaderTables: []string{"seen"}, Report: enginetest.Report(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Stop(t.Context()) })
	if c.ReaderDSN() == "" {
		t.Skip("this kernel has no Landlock, and there is no reader")
	}
	execute(t, connect(t, c.DSN()), "CREATE TABLE seen (s String) ENGINE = MergeTree ORDER BY s")
	at := enginetest.Target{Dir: dir}
	for _, dsn := range []string{c.ReaderDSN(), c.ReadOnlyHTTPDSN(), c.DSN()} {
		parsed, err := url.Parse(dsn)
		if err != nil {
			t.Fatal(err)
		}
		at.Users = append(at.Users, parsed.User)
		if parsed.Scheme == "http" {
			at.HTTP = parsed.Host
		}
	}
	at.Admin = at.Users[2]
	enginetest.Attack(t, at)
}

// What the engine may not read of its own threads it says with a stack, each time one
// gets work: a third of the processor time of an engine with little to do.
func TestTheConfinedEngineDoesNotComplainOfItsThreads(t *testing.T) {
	dir := t.TempDir()
	c, err := engine.StartClickHouse(t.Context(), engine.ClickHouseOptions{Dir: dir, MaxMemory: 768 << 20, Volatile: true, Report: enginetest.Report(t)})
	if err != nil {
		t.Fatal(err)
	}
	conn := connect(t, c.DSN())
	for range 3 {
		execute(t, conn, "SELECT sum(number) FROM numbers_mt(1000000)")
	}
	if err := c.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "log", "clickhouse.log"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "ThreadStatus") {
			t.Errorf("the engine says %s", line)
		}
	}
}

package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"tonscribe/internal/engine"
	"tonscribe/internal/report"
	"tonscribe/test/support/enginetest"
)

// engineOf finds the child process of this one that serves a folder, 0 for none.
func engineOf(dir string) int {
	tasks, _ := filepath.Glob("/proc/self/task/*/children")
	for _, task := range tasks {
		children, _ := os.ReadFile(task)
		for _, child := range strings.Fields(string(children)) {
			command, _ := os.ReadFile("/proc/" + child + "/cmdline")
			if bytes.Contains(command, []byte("\x00"+filepath.Join(dir, "data")+"\x00")) {
				pid, _ := strconv.Atoi(child)
				return pid
			}
		}
	}
	return 0
}

func accepts(port int) bool {
	c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	c.Close()
	return true
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// killer kills engines of a folder, each at its moment, once that has come.
type killer struct {
	dir   string
	ended context.Context
	done  sync.WaitGroup
	kills int
}

func (k *killer) start(moments []func() bool) {
	k.done.Go(func() {
		last := 0
		for _, come := range moments {
			for {
				if k.ended.Err() != nil {
					return
				}
				if pid := engineOf(k.dir); pid != 0 && pid != last && come() {
					if syscall.Kill(pid, syscall.SIGKILL) == nil {
						k.kills++
					}
					last = pid
					break
				}
				time.Sleep(time.Millisecond)
			}
		}
	})
}

func TestAnEngineThatIsKilledWhileItStartsIsStartedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		moment func(dir string, port int) bool
	}{
		"at once":         {func(string, int) bool { return true }},
		"with its folder": {func(dir string, _ int) bool { return exists(filepath.Join(dir, "data", "status")) }},
		"with its port":   {func(_ string, port int) bool { return accepts(port) }},
		"with a database": {func(dir string, _ int) bool {
			made, _ := filepath.Glob(filepath.Join(dir, "data", "metadata", engine.DefaultDatabase+"*"))
			return len(made) > 0
		}},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			port := l.Addr().(*net.TCPAddr).Port
			l.Close()
			dir := t.TempDir()
			ctx, cancel := context.WithCancel(t.Context())
			k := killer{dir: dir, ended: ctx}
			moment := func() bool { return c.moment(dir, port) }
			k.start([]func() bool{moment, moment, moment})
			started, err := engine.StartClickHouse(t.Context(), engine.ClickHouseOptions{Dir: dir, Port: port, MaxMemory: 512 << 20, Report: enginetest.Report(t)})
			if err != nil {
				cancel()
			} else {
				t.Cleanup(func() { started.Stop(context.Background()) })
			}
			k.done.Wait() // the last kills may come after the start
			cancel()
			if err != nil {
				t.Fatalf("after %d kills: %v", k.kills, err)
			}
			if k.kills != 3 {
				t.Errorf("%d kills, want 3", k.kills)
			}
			connection := connect(t, started.DSN())
			until(t, "the engine", func() bool { return connection.Ping(t.Context()) == nil })
			if got := number(t, connection, "SELECT toUInt64(count()) FROM system.databases WHERE name = '"+engine.DefaultDatabase+"'"); got != 1 {
				t.Errorf("%d databases named %s, want 1", got, engine.DefaultDatabase)
			}
		})
	}
}

func TestAnEngineThatIsKilledAtEveryStartIsGivenUp(t *testing.T) {
	if os.Getenv("TONSCRIBE_TEST_LONG") == "" {
		t.Skip("set TONSCRIBE_TEST_LONG=1: ten starts take half a minute")
	}
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	k := killer{dir: dir, ended: ctx}
	moments := make([]func() bool, 50)
	for i := range moments {
		moments[i] = func() bool { return true }
	}
	k.start(moments)
	c, err := engine.StartClickHouse(t.Context(), engine.ClickHouseOptions{Dir: dir, MaxMemory: 512 << 20, Report: enginetest.Report(t)})
	cancel()
	k.done.Wait()
	if err == nil {
		c.Stop(context.Background())
		t.Fatalf("started after %d kills, want an end", k.kills)
	}
	if !strings.Contains(err.Error(), "killed") || k.kills > 12 {
		t.Errorf("%d kills, %v; want an error that says so after about ten", k.kills, err)
	}
}

func TestAnEngineWhosePortIsTakenSaysSo(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	c, err := engine.StartClickHouse(t.Context(), engine.ClickHouseOptions{Dir: t.TempDir(), HTTPPort: port, MaxMemory: 512 << 20, Report: enginetest.Report(t)})
	if err == nil {
		c.Stop(t.Context())
		t.Fatal("started")
	}
	if want := fmt.Sprintf("127.0.0.1:%d: bind: address already in use", port); !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// A full disk leaves the definition of a database empty.
func TestADatabaseWhoseDefinitionIsEmptyIsThereAgainWithItsRows(t *testing.T) {
	dir := t.TempDir()
	definition := filepath.Join(dir, "data", "metadata", engine.DefaultDatabase+".sql")
	c := startClickHouse(t, dir)
	app := connect(t, c.DSN())
	execute(t, app, "CREATE TABLE kept (n UInt64) ENGINE = MergeTree ORDER BY n")
	execute(t, app, "INSERT INTO kept SELECT number FROM numbers(7)")
	stop(t, c)
	if err := os.Truncate(definition, 0); err != nil {
		t.Fatal(err)
	}
	c = startClickHouse(t, dir)
	if rows := number(t, connect(t, c.DSN()), "SELECT count() FROM kept"); rows != 7 {
		t.Errorf("%d rows, want 7", rows)
	}
	stop(t, c)
	// What was made when even its folder could not be has nothing to lose.
	if err := errors.Join(os.Truncate(definition, 0), os.Remove(strings.TrimSuffix(definition, ".sql"))); err != nil {
		t.Fatal(err)
	}
	if tables := number(t, connect(t, startClickHouse(t, dir).DSN()), "SELECT count() FROM system.tables WHERE database = currentDatabase()"); tables != 0 {
		t.Errorf("%d tables in a database that is made again, want none", tables)
	}
}

// A view that makes a table anew on a full disk leaves its definition empty.
func TestATableThatAViewMakesAnewIsThereAgainThoughItsDefinitionIsEmpty(t *testing.T) {
	dir := t.TempDir()
	c := startClickHouse(t, dir)
	app := connect(t, c.DSN())
	execute(t, app, "CREATE TABLE source (n UInt64) ENGINE = MergeTree ORDER BY n")
	execute(t, app, "INSERT INTO source SELECT number FROM numbers(7)")
	for _, name := range []string{"totals", "days", "others"} {
		execute(t, app, "CREATE TABLE "+name+" (n UInt64) ENGINE = MergeTree ORDER BY n")
	}
	execute(t, app, "CREATE MATERIALIZED VIEW totals_view REFRESH EVERY 1 SECOND TO totals AS SELECT sum(n) AS n FROM source")
	execute(t, app, "CREATE MATERIALIZED VIEW days_view REFRESH EVERY 1 DAY APPEND TO days AS SELECT n FROM source")
	if err := c.KeepDefinitions(); err != nil {
		t.Fatal(err)
	}
	stop(t, c)
	definition := func(name string) string {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(dir, "data/store/*/*", name+".sql"))
		if err != nil || len(files) != 1 {
			t.Fatalf("%v defines %s, %v", files, name, err)
		}
		return files[0]
	}
	empty := func(path string) {
		t.Helper()
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	folder := filepath.Dir(definition("totals"))
	for _, name := range []string{"totals.sql", "%2Etmptotals.sql", "_tmp_replace_a_b.sql"} {
		empty(filepath.Join(folder, name))
	}
	c = startClickHouse(t, dir)
	app = connect(t, c.DSN())
	for limit := time.Now().Add(time.Minute); number(t, app, "SELECT sum(n) FROM totals") != 21; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("the rows do not come again")
		}
	}
	if n := number(t, app, "SELECT count() FROM source"); n != 7 {
		t.Errorf("the other table has %d rows, want 7", n)
	}
	stop(t, c)
	// Rows of others do not come again: nothing may be made in their places.
	for _, name := range []string{"days", "others"} {
		path := definition(name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		empty(path)
		if c, err := engine.StartClickHouse(t.Context(), engine.ClickHouseOptions{Dir: dir, Report: enginetest.Report(t)}); err == nil {
			stop(t, c)
			t.Errorf("an engine starts whose table %s has an empty definition", name)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnEngineThatLacksTheMemoryForItsTablesIsRefused(t *testing.T) {
	for _, memory := range []int64{-1, 1000, 128 << 20} {
		_, err := engine.StartClickHouse(t.Context(), engine.ClickHouseOptions{Dir: t.TempDir(), MaxMemory: memory, Report: report.Silent()})
		if err == nil || !strings.Contains(err.Error(), "memory_bytes") {
			t.Errorf("%d bytes: %v", memory, err)
		}
	}
}

package engine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tonscribe/internal/engine"
	"tonscribe/test/support/enginetest"
)

func TestAppUserMayDoWhatMigrationsAndSinksNeed(t *testing.T) {
	c := enginetest.ClickHouse(t)
	connection := connect(t, c.DSN())
	for _, statement := range []string{
		"CREATE TABLE a (n UInt64, m UInt64, v String CODEC(ZSTD(1))) ENGINE = ReplacingMergeTree ORDER BY n SETTINGS non_replicated_deduplication_window = 1000",
		"CREATE TABLE b AS a",
		"CREATE TABLE top (n UInt64) ENGINE = MergeTree ORDER BY n",
		"CREATE MATERIALIZED VIEW a_b TO b AS SELECT * FROM a",
		"CREATE MATERIALIZED VIEW a_top REFRESH EVERY 1 HOUR TO top AS SELECT n FROM a ORDER BY n LIMIT 10",
		"SYSTEM REFRESH VIEW a_top",
		"CREATE VIEW v AS SELECT n FROM a",
		"INSERT INTO a SELECT number, number, '' FROM numbers(10)",
		"ALTER TABLE a ADD COLUMN w UInt8, ADD INDEX i m TYPE minmax",
		"ALTER TABLE a DELETE WHERE n = 1 SETTINGS mutations_sync = 2",
		"OPTIMIZE TABLE a FINAL",
		"CREATE TABLE schema_migrations (version Int64, dirty UInt8, sequence UInt64) ENGINE = MergeTree ORDER BY sequence",
		"EXCHANGE TABLES a AND b",
		"TRUNCATE TABLE b",
		"SELECT count() FROM system.parts",
		"DROP TABLE b SYNC",
	} {
		if err := connection.Exec(t.Context(), statement); err != nil {
			t.Errorf("%s: %v", statement, err)
		}
	}
	if got := number(t, connection, "SELECT toUInt64(count()) FROM a"); got != 10 {
		t.Errorf("rows written by the view: %d", got)
	}
}

func TestReaderReadsOneDatabaseAndChangesNothing(t *testing.T) {
	c := enginetest.ClickHouse(t)
	app := connect(t, c.DSN())
	execute(t, app, "CREATE TABLE a (n UInt64) ENGINE = MergeTree ORDER BY n")
	execute(t, app, "INSERT INTO a VALUES (1)")
	execute(t, app, "CREATE DATABASE other")
	t.Cleanup(func() { app.Exec(context.Background(), "DROP DATABASE other") })
	execute(t, app, "CREATE TABLE other.a (n UInt64) ENGINE = MergeTree ORDER BY n")

	overHTTP := connect(t, c.ReadOnlyHTTPDSN())
	reader := connect(t, c.ReadOnlyDSN())
	for _, allowed := range []string{
		"SELECT n FROM a",
		"SELECT n FROM a SETTINGS max_execution_time = 5, max_threads = 2",
		"SELECT n FROM a WHERE n IN (SELECT n FROM a ORDER BY n LIMIT 1)",
	} {
		for protocol, reader := range map[string]clickhouse.Conn{"native": reader, "http": overHTTP} {
			if err := reader.Exec(t.Context(), allowed); err != nil {
				t.Errorf("%s: %s: %v", protocol, allowed, err)
			}
		}
	}
	parameters := clickhouse.Context(t.Context(), clickhouse.WithParameters(clickhouse.Parameters{"n": "1"}),
		clickhouse.WithSettings(clickhouse.Settings{"max_execution_time": 3}))
	var n uint64
	if err := reader.QueryRow(parameters, "SELECT n FROM a WHERE n = {n:UInt64}").Scan(&n); err != nil || n != 1 {
		t.Errorf("query with parameter and limit: %d, %v", n, err)
	}
	for _, forbidden := range []string{
		"SELECT n FROM other.a",
		"INSERT INTO a VALUES (2)",
		"DROP TABLE a",
		"CREATE TABLE b (n UInt64) ENGINE = MergeTree ORDER BY n",
		"SELECT * FROM file('/etc/passwd', 'LineAsString', 'l String')",
		"SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString', 'l String')",
		"SELECT n FROM a SETTINGS readonly = 0",
		"SELECT query FROM system.processes",
		"SYSTEM SHUTDOWN",
		"KILL QUERY WHERE 1",
	} {
		for protocol, reader := range map[string]clickhouse.Conn{"native": reader, "http": overHTTP} {
			if err := reader.Exec(t.Context(), forbidden); err == nil {
				t.Errorf("%s: %s: the reader may do it", protocol, forbidden)
			}
		}
	}
	for _, forbidden := range []string{
		"SELECT * FROM file('/etc/passwd', 'LineAsString', 'l String')",
		"SYSTEM SHUTDOWN",
		"SYSTEM STOP LISTEN TCP",
		"BACKUP TABLE a TO Null",
		"CREATE FUNCTION plus_one AS (x) -> x + 1",
		"CREATE NAMED COLLECTION c AS a = 1",
		"CREATE USER somebody",
		"CREATE TABLE b (n UInt64) ENGINE = File(TSV)",
		"SYSTEM DROP MARK CACHE",
	} {
		if err := app.Exec(t.Context(), forbidden); err == nil {
			t.Errorf("%s: the app user may do it", forbidden)
		}
	}
}

func TestWrongPasswordsAndGarbageDoNotKillTheEngine(t *testing.T) {
	c := startClickHouse(t, t.TempDir())
	pid := c.Pid()
	var attempts sync.WaitGroup
	for range 4 {
		attempts.Go(func() {
			for _, user := range []string{"tonscribe", "reader", "nobody"} {
				for range 5 {
					for protocol, address := range addresses(t, c) {
						if err := login(protocol, address, user, "wrong"); err == nil {
							t.Errorf("%s got in with a wrong password by %s", user, protocol)
						}
					}
				}
			}
		})
		attempts.Go(func() {
			for i := range 50 {
				for _, address := range addresses(t, c) {
					spoil(address, i)
				}
			}
		})
	}
	attempts.Wait()
	for _, dsn := range []string{c.DSN(), c.ReadOnlyHTTPDSN()} {
		number(t, connect(t, dsn), "SELECT toUInt64(1)")
	}
	if c.Pid() != pid {
		t.Error("the engine was restarted")
	}
}

func TestDefaultUserCannotLogIn(t *testing.T) {
	c := enginetest.ClickHouse(t)
	for protocol, address := range addresses(t, c) {
		if err := login(protocol, address, "default", ""); err == nil || !strings.Contains(err.Error(), "session count") {
			t.Errorf("login as default by %s: %v, want the limit of sessions", protocol, err)
		}
	}
}

func TestTheReaderCannotLiftItsLimits(t *testing.T) {
	c := enginetest.ClickHouse(t)
	if c.ReaderDSN() == "" {
		t.Skip("this kernel has no Landlock, and there is no reader")
	}
	overHTTP, err := url.Parse(c.ReadOnlyHTTPDSN())
	if err != nil {
		t.Fatal(err)
	}
	user, err := url.Parse(c.ReaderDSN())
	if err != nil {
		t.Fatal(err)
	}
	password, _ := user.User.Password()
	byURL := clickhouse.Options{Protocol: clickhouse.HTTP, Addr: []string{overHTTP.Host}, Auth: clickhouse.Auth{Username: user.User.Username(), Password: password}}
	http, err := clickhouse.Open(&byURL)
	if err != nil {
		t.Fatal(err)
	}
	defer http.Close()
	native := connect(t, c.ReaderDSN())
	for setting, values := range map[string][]any{
		"max_execution_time": {0, 301}, "max_memory_usage": {0, 1 << 40}, "max_threads": {3, 64}, "max_result_rows": {0, 100_000_000}, "max_result_bytes": {0, 1 << 40},
		"max_concurrent_queries_for_user": {0, 100}, "readonly": {0, 2}, "allow_ddl": {1}, "allow_introspection_functions": {1}, "max_sessions_for_user": {5}, "priority": {1},
		"allow_experimental_eval_table_function": {1}, "max_memory_usage_for_user": {1 << 40},
	} {
		for _, value := range values {
			for protocol, connection := range map[string]clickhouse.Conn{"native": native, "http": http} {
				if err := connection.Exec(t.Context(), fmt.Sprintf("SELECT 1 SETTINGS %s = %v", setting, value)); err == nil {
					t.Errorf("%s: %s = %v in the statement is accepted", protocol, setting, value)
				}
				with := clickhouse.Context(t.Context(), clickhouse.WithSettings(clickhouse.Settings{setting: value}))
				if err := connection.Exec(with, "SELECT 1"); err == nil {
					t.Errorf("%s: %s = %v beside the statement is accepted", protocol, setting, value)
				}
				if err := connection.Exec(t.Context(), fmt.Sprintf("SET %s = %v", setting, value)); err == nil {
					t.Errorf("%s: SET %s = %v is accepted", protocol, setting, value)
				}
			}
		}
	}
	if err := native.Exec(t.Context(), "SELECT 1 SETTINGS max_execution_time = 300, max_threads = 2"); err != nil {
		t.Errorf("the most that is allowed: %v", err)
	}
	if err := native.Exec(t.Context(), "SELECT groupArray(number) FROM numbers(1000000000)"); err == nil {
		t.Error("a query of 8 GB is answered")
	}
}

func TestTheReaderSeesItsTablesAndNoOthers(t *testing.T) {
	c, err := engine.StartClickHouse(t.Context(), engine.ClickHouseOptions{Dir: t.TempDir(), MaxMemory: 512 << 20, ReaderTables: []string{"seen"}, Report: enginetest.Report(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Stop(t.Context())
	if c.ReaderDSN() == "" {
		t.Skip("this kernel has no Landlock, and there is no reader")
	}
	app := connect(t, c.DSN())
	for _, table := range []string{"seen", "api_keys"} {
		execute(t, app, "CREATE TABLE "+table+" (n UInt64) ENGINE = MergeTree ORDER BY n")
	}
	reader := connect(t, c.ReaderDSN())
	execute(t, reader, "SELECT n FROM seen")
	if err := reader.Exec(t.Context(), "SELECT n FROM api_keys"); err == nil {
		t.Error("the reader reads api_keys")
	}
	if got := number(t, reader, "SELECT toUInt64(count()) FROM system.tables WHERE database = 'tonscribe'"); got != 1 {
		t.Errorf("the reader sees %d tables, want 1", got)
	}
	for _, hidden := range []string{"users", "processes", "user_processes", "query_log", "named_collections", "server_settings", "grants", "parts", "symbols", "stack_trace", "metrics", "errors", "warnings", "certificates", "disks"} {
		if err := reader.Exec(t.Context(), "SELECT * FROM system."+hidden+" LIMIT 1"); err == nil {
			t.Errorf("the reader reads system.%s", hidden)
		}
	}
}

func TestDefaultCannotLogInWhateverSettingsItGives(t *testing.T) {
	c := enginetest.ClickHouse(t)
	for protocol, address := range addresses(t, c) {
		for _, settings := range []clickhouse.Settings{
			{"max_sessions_for_user": 100}, {"max_sessions_for_user": 0}, {"session_id": "a", "session_timeout": 60}, {"session_id": "default"}, {"profile": "default"}, {"readonly": 0}, {"role": "default"},
		} {
			connection, err := clickhouse.Open(&clickhouse.Options{Protocol: protocol, Addr: []string{address}, Auth: clickhouse.Auth{Username: "default"}, Settings: settings})
			if err != nil {
				t.Fatal(err)
			}
			if err := connection.Exec(t.Context(), "SELECT 1"); err == nil {
				t.Errorf("default is let in by %s with %v", protocol, settings)
			}
			connection.Close()
		}
	}
}

func TestTheReaderRunsFourQueriesAtOnceAndNoMore(t *testing.T) {
	c := enginetest.ClickHouse(t)
	if c.ReaderDSN() == "" {
		t.Skip("this kernel has no Landlock, and there is no reader")
	}
	const atOnce, refused = 4, 202 // TOO_MANY_SIMULTANEOUS_QUERIES
	ctx, end := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer end()
	for range atOnce {
		connection := connect(t, c.ReaderDSN())
		running.Go(func() { connection.Exec(ctx, "SELECT sleepEachRow(1) FROM numbers(30) SETTINGS max_block_size = 1") })
	}
	app := connect(t, c.DSN())
	until(t, "four queries of the reader", func() bool {
		return number(t, app, "SELECT count() FROM system.processes WHERE user = 'reader'") == atOnce
	})
	reader := connect(t, c.ReaderDSN())
	var problem *clickhouse.Exception
	if err := reader.Exec(t.Context(), "SELECT 1"); !errors.As(err, &problem) || problem.Code != refused {
		t.Errorf("one more query: %v, want it refused with code %d", err, refused)
	}
	for _, setting := range []string{"max_concurrent_queries_for_user", "max_concurrent_queries_for_all_users", "queue_max_wait_ms", "priority", "replace_running_query"} {
		with := clickhouse.Context(t.Context(), clickhouse.WithSettings(clickhouse.Settings{setting: 0}))
		for name, err := range map[string]error{
			"in the statement":     reader.Exec(t.Context(), "SELECT 1 SETTINGS "+setting+" = 0"),
			"beside the statement": reader.Exec(with, "SELECT 1"),
			"with SET":             reader.Exec(t.Context(), "SET "+setting+" = 0"),
		} {
			if err == nil {
				t.Errorf("one more query runs with %s %s", setting, name)
			}
		}
	}
	number(t, connect(t, c.ReadOnlyDSN()), "SELECT toUInt64(1)") // the API has places of its own
}

func TestDefaultCannotLogInWhileTheEngineRestartsOrStops(t *testing.T) {
	c := startClickHouse(t, t.TempDir())
	at := addresses(t, c)
	ctx, end := context.WithCancel(t.Context())
	var attempts sync.WaitGroup
	var answers atomic.Int64
	for _, kept := range []bool{true, true, false} {
		attempts.Go(func() {
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: !kept}, Timeout: time.Second}
			defer client.CloseIdleConnections()
			for ctx.Err() == nil {
				answer, err := client.Get("http://" + at[clickhouse.HTTP] + "/?user=default&query=SELECT+1")
				if err != nil {
					continue
				}
				io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
				answers.Add(1)
				if answer.StatusCode == http.StatusOK {
					t.Error("default is let in by HTTP")
				}
			}
		})
	}
	attempts.Go(func() {
		for ctx.Err() == nil {
			if login(clickhouse.Native, at[clickhouse.Native], "default", "") == nil {
				t.Error("default is let in by the native protocol")
			}
		}
	})
	refusedAgain := func() {
		before := answers.Load()
		until(t, "attempts to log in", func() bool { return answers.Load() > before+10 })
	}
	refusedAgain()
	for range 3 {
		pid := c.Pid()
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		until(t, "a new engine", func() bool { return c.Pid() != pid })
		refusedAgain()
	}
	stop(t, c)
	end()
	attempts.Wait()
}

// addresses are where the engine listens.
func addresses(t *testing.T, c *engine.ClickHouse) map[clickhouse.Protocol]string {
	t.Helper()
	dsn, err := url.Parse(c.ReadOnlyHTTPDSN())
	if err != nil {
		t.Fatal(err)
	}
	return map[clickhouse.Protocol]string{clickhouse.Native: c.Address(), clickhouse.HTTP: dsn.Host}
}

func login(protocol clickhouse.Protocol, address, user, password string) error {
	connection, err := clickhouse.Open(&clickhouse.Options{Protocol: protocol, Addr: []string{address}, Auth: clickhouse.Auth{Username: user, Password: password}})
	if err != nil {
		return err
	}
	defer connection.Close()
	return connection.Ping(context.Background())
}

// spoil connects and leaves in one of the ways of clients that are not ours.
func spoil(address string, i int) {
	connection, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer connection.Close()
	switch i % 3 {
	case 1:
		connection.(*net.TCPConn).SetLinger(0)
		connection.Write([]byte{0})
	case 2:
		fmt.Fprintf(connection, "GET /%d HTTP/1.1\r\n\r\n", i)
	}
}

func TestPasswordsAreKeptFromOthers(t *testing.T) {
	dir := t.TempDir()
	stop(t, startClickHouse(t, dir))
	filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && path != dir && info.Mode().Perm()&0o077 != 0 && entry.Type()&os.ModeSymlink == 0 {
			t.Errorf("%s is open to others: %s", path, info.Mode())
		}
		return err
	})
}

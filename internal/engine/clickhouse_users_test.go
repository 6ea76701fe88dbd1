package engine_test

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tonscribe/internal/engine"
	"tonscribe/internal/engine/enginetest"
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
		"CREATE FUNCTION plus_one AS (x) -> x + 1",
		"INSERT INTO a SELECT number, number, '' FROM numbers(10)",
		"ALTER TABLE a ADD COLUMN w UInt8, ADD INDEX i m TYPE minmax",
		"ALTER TABLE a DELETE WHERE n = 1 SETTINGS mutations_sync = 2",
		"OPTIMIZE TABLE a FINAL",
		"CREATE TABLE schema_migrations (version Int64, dirty UInt8, sequence UInt64) ENGINE = MergeTree ORDER BY sequence",
		"EXCHANGE TABLES a AND b",
		"TRUNCATE TABLE b",
		"SELECT count() FROM system.parts",
		"DROP FUNCTION plus_one",
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

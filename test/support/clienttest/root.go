// Package clienttest opens clients of databases for tests.
package clienttest

import (
	"testing"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/report"
)

// ClickHouse is a client of a database, as the stages have it with no settings of
// their own. It is closed when the test ends.
func ClickHouse(t testing.TB, dsn string) *clickhouse.Client {
	t.Helper()
	c := clickhouse.DefaultConfiguration()
	c.DSN = dsn
	client, err := clickhouse.New(c, clickhouse.Dependencies{Report: report.Silent()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

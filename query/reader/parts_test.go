package reader

import (
	"strings"
	"testing"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"tonscribe/test/support/enginetest"
)

func TestTheGrantThatCountingPartsWantsIsNamedWhereItIsMissingOnly(t *testing.T) {
	for _, silent := range []string{"clickhouse://127.0.0.1:1/tonscribe", "http://127.0.0.1:1/tonscribe"} {
		s := New(Configuration{Connections: 2, ClientConnections: 2}, *options(t, silent), enginetest.Report(t))
		err := s.CountParts(t.Context())
		s.Close()
		if err == nil || strings.Contains(err.Error(), "grant") {
			t.Errorf("of %s: %v", silent, err)
		}
	}
	connection, err := driver.Open(options(t, enginetest.ClickHouse(t).ReaderDSN())) // a user without it
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if err := connection.Exec(t.Context(), countParts); err == nil || !strings.Contains(err.Error(), "the grant SELECT") || !strings.Contains(err.Error(), "system.parts") {
		t.Errorf("ClickHouse says %v", err)
	}
}

func options(t *testing.T, dsn string) *driver.Options {
	t.Helper()
	o, err := driver.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

package clickhouse

import (
	"context"
	"testing"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"tonscribe/test/support/enginetest"
)

// running counts the statements of the API's user that the server works on.
func running(t *testing.T, admin driver.Conn) (n uint64) {
	t.Helper()
	if err := admin.QueryRow(t.Context(), "SELECT count() FROM system.processes WHERE user != currentUser() AND query LIKE '%endless%'").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestAStatementEndsInTheServerWhenItsClientHasGone(t *testing.T) {
	engine := enginetest.ClickHouse(t)
	admin, err := driver.Open(new(optionsOf(t, engine.DSN())))
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	// It uses a processor for minutes unless somebody ends it.
	const soon = time.Minute // the server looks several times a second; the machine may be busy
	const endless = "SELECT count() AS n, toLowCardinality('endless') AS s FROM numbers(1000000000000) WHERE NOT ignore(cityHash64(number))"
	for name, dsn := range map[string]string{"native": engine.ReadOnlyDSN(), "http": engine.ReadOnlyHTTPDSN()} {
		t.Run(name, func(t *testing.T) {
			p := poolOf(t, optionsOf(t, dsn))
			ctx, leave := context.WithTimeout(t.Context(), 4*soon)
			defer leave()
			ended := make(chan error, 1)
			go func() {
				_, _, _, _, err := p.sum(ctx, endless)
				ended <- err
			}()
			for running(t, admin) == 0 {
				select {
				case err := <-ended:
					t.Fatalf("the statement ended by itself: %v", err)
				case <-time.After(5 * time.Millisecond):
				}
			}
			leave()
			began := time.Now()
			if err := <-ended; err == nil {
				t.Error("the statement has an answer")
			}
			for running(t, admin) > 0 {
				if took := time.Since(began); took > soon {
					t.Fatalf("the statement still runs %s after its client went", took)
				}
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
}

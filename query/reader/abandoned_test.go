package reader

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tonscribe/test/support/enginetest"
)

// running counts the statements of the API's user that the server works on.
func running(t *testing.T, admin clickhouse.Conn) (n uint64) {
	t.Helper()
	if err := admin.QueryRow(t.Context(), "SELECT count() FROM system.processes WHERE user != currentUser() AND query LIKE '%endless%'").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestAStatementEndsInTheServerWhenItsClientHasGone(t *testing.T) {
	engine := enginetest.ClickHouse(t)
	admin, err := clickhouse.Open(new(optionsOf(t, engine.DSN())))
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	// It uses a processor for minutes unless somebody ends it.
	const endless = "SELECT count() AS n, toLowCardinality('endless') AS s FROM numbers(1000000000000) WHERE NOT ignore(cityHash64(number))"
	for name, dsn := range map[string]string{"native": engine.ReadOnlyDSN(), "http": engine.ReadOnlyHTTPDSN()} {
		t.Run(name, func(t *testing.T) {
			p := poolOf(t, optionsOf(t, dsn))
			ctx, leave := context.WithTimeout(t.Context(), 25*time.Second)
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
				if took := time.Since(began); took > 5*time.Second {
					t.Fatalf("the statement still runs %s after its client went, want no longer than a second", took)
				}
				time.Sleep(5 * time.Millisecond)
			}
			if took := time.Since(began); took > time.Second {
				t.Errorf("the statement ran %s after its client went, want no longer than a second", took)
			}
		})
	}
}

func TestAClientHasItsShareOfTheConnectionsAndNoMore(t *testing.T) {
	c := newClients(2)
	var leaves []func()
	for range 2 {
		leave, err := c.enter(t.Context(), "greedy")
		if err != nil {
			t.Fatal(err)
		}
		leaves = append(leaves, leave)
	}
	short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := c.enter(short, "greedy"); !errors.Is(err, ErrBusy) {
		t.Errorf("a third connection for one client: %v, want %v", err, ErrBusy)
	}
	leave, err := c.enter(t.Context(), "another")
	if err != nil {
		t.Errorf("another client has none: %v", err)
	}
	leave()
	leaves[0]()
	if leave, err = c.enter(t.Context(), "greedy"); err != nil {
		t.Errorf("one is free again: %v", err)
	}
	leave()
	leaves[1]()
	if n := len(c.slots); n != 0 {
		t.Errorf("%d clients are remembered that ask nothing, want 0", n)
	}
}

func TestRequestsAreWorkedOnWithinTheShareOfTheirClientAndWithinABound(t *testing.T) {
	s := &Reader{working: newClients(2), busy: make(chan struct{}, 3)}
	begin := func(client string) (func(), error) {
		short, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer cancel()
		return s.Work(short, client)
	}
	var ends []func()
	for i, c := range []struct {
		client string
		err    error
	}{{"greedy", nil}, {"greedy", nil}, {"greedy", ErrBusy}, {"another", nil}, {"a third", ErrBusy}} {
		done, err := begin(c.client)
		if !errors.Is(err, c.err) {
			t.Errorf("request %d, of %s: %v, want %v", i, c.client, err, c.err)
		}
		if err == nil {
			ends = append(ends, done)
		}
	}
	for _, done := range ends {
		done()
	}
	if len(s.busy) != 0 || len(s.working.slots) != 0 {
		t.Errorf("%d requests of %d clients are worked on after their end, want none", len(s.busy), len(s.working.slots))
	}
	done, err := begin("a third")
	if err != nil {
		t.Fatalf("there is room again: %v", err)
	}
	done()
}

func TestARequestThatWentThroughTooMuchRunsNoMoreStatements(t *testing.T) {
	engine := enginetest.ClickHouse(t)
	p := poolOf(t, optionsOf(t, engine.ReadOnlyHTTPDSN()))
	s := &Reader{pool: p, clients: newClients(2), metrics: newMetrics(enginetest.Report(t).Metrics), configuration: Configuration{ScanBytes: 4 << 20}}
	r := &Request{Client: "one", Items: 10, Skipped: 5}
	ctx := s.Begin(t.Context(), r)
	for i := range 3 {
		_, err := s.Has(ctx, fmt.Sprintf("numbers(%d)", MaxScanRows), "cityHash64(number) = 1")
		if i < 2 && err != nil {
			t.Errorf("statement %d: %v, want none", i, err)
		}
		if rows := r.rows.Load(); i == 2 && (!errors.Is(err, ErrTooHeavy) || rows > r.maxRows()+MaxScanRows) {
			t.Errorf("after %d rows: %v, want %v", rows, err, ErrTooHeavy)
		}
	}
}

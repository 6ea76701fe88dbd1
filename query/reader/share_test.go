package reader

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"tonscribe/internal/clickhouse"
	"tonscribe/query/sql"
	"tonscribe/test/support/enginetest"
)

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
	if _, err := c.enter(short, "greedy"); !errors.Is(err, clickhouse.ErrBusy) {
		t.Errorf("a third connection for one client: %v, want %v", err, clickhouse.ErrBusy)
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
	begin := func(client string, patience time.Duration) (func(), error) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		return s.Work(ctx, client)
	}
	var ends []func()
	for i, c := range []struct {
		client   string
		patience time.Duration
		err      error
	}{
		{"greedy", time.Minute, nil}, {"greedy", time.Minute, nil}, {"greedy", 5 * time.Millisecond, clickhouse.ErrBusy},
		{"another", time.Minute, nil}, {"a third", 5 * time.Millisecond, clickhouse.ErrBusy},
	} {
		done, err := begin(c.client, c.patience)
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
	done, err := begin("a third", time.Minute)
	if err != nil {
		t.Fatalf("there is room again: %v", err)
	}
	done()
}

func TestARequestThatWentThroughTooMuchRunsNoMoreStatements(t *testing.T) {
	engine := enginetest.ClickHouse(t)
	servers, err := driver.ParseDSN(engine.ReadOnlyHTTPDSN())
	if err != nil {
		t.Fatal(err)
	}
	s := New(Configuration{Connections: 2, ClientConnections: 2, ScanBytes: 4 << 20}, *servers, enginetest.Report(t))
	defer s.Close()
	r := &Request{Client: "one", Items: 10, Skipped: 5}
	ctx := s.Begin(t.Context(), r)
	for i := range 3 {
		_, err := s.Has(ctx, fmt.Sprintf("numbers(%d)", MaxScanRows), sql.Text("cityHash64(number) = 1"))
		if i < 2 && err != nil {
			t.Errorf("statement %d: %v, want none", i, err)
		}
		if rows := r.rows.Load(); i == 2 && (!errors.Is(err, clickhouse.ErrTooHeavy) || rows > r.maxRows()+MaxScanRows) {
			t.Errorf("after %d rows: %v, want %v", rows, err, clickhouse.ErrTooHeavy)
		}
	}
}

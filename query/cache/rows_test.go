package cache

import (
	"context"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tonscribe/internal/report"
	"tonscribe/query/reader"
	"tonscribe/query/sql"
)

func TestWhatWasReadBeforeABundleIsNotHeldBehindIt(t *testing.T) {
	metrics := report.Silent()
	c := New(reader.New(reader.Configuration{Connections: 2, ClientConnections: 1}, clickhouse.Options{}, metrics), 1<<20, metrics)
	c.upTo.Store(7)
	changed := sql.AccountKey{Prefix: 1}
	table, reads, meanwhile := "of bundle 7", 0, true
	r := rowsOf(c, states, accountKey, sql.AccountKey.Compare, func(context.Context, []sql.AccountKey) (map[sql.AccountKey]packed, error) {
		reads++
		read := packed(table)
		if meanwhile {
			table, meanwhile = "of bundle 8", false
			c.dropping.Lock()
			c.held.Invalidate(accountKey(states, changed))
			c.upTo.Store(8)
			c.dropping.Unlock()
		}
		return map[sql.AccountKey]packed{changed: read}, nil
	})
	for n, want := range []string{"of bundle 7", "of bundle 8", "of bundle 8"} {
		found, err := r.at(t.Context(), []sql.AccountKey{changed})
		if got := string(found[changed]); err != nil || got != want {
			t.Errorf("look-up %d: got the row %q, want the one %q; %v", n, got, want, err)
		}
	}
	if reads != 2 {
		t.Errorf("the table was read %d times, want 2: before the bundle, behind it, and no more", reads)
	}
}

func TestAnAccountWithoutARowIsNotLookedUpAgainAtOnce(t *testing.T) {
	metrics := report.Silent()
	c := New(reader.New(reader.Configuration{Connections: 2, ClientConnections: 1}, clickhouse.Options{}, metrics), 1<<20, metrics)
	c.upTo.Store(7)
	reads := 0
	r := rowsOf(c, states, accountKey, sql.AccountKey.Compare, func(context.Context, []sql.AccountKey) (map[sql.AccountKey]packed, error) {
		reads++
		return nil, nil
	})
	nobody := sql.AccountKey{Prefix: 1}
	look := func() {
		t.Helper()
		if found, err := r.at(t.Context(), []sql.AccountKey{nobody}); err != nil || len(found) > 0 {
			t.Errorf("found %v, %v; want nothing", found, err)
		}
	}
	look()
	if look(); reads != 1 {
		t.Errorf("the table was read %d times, want once", reads)
	}
	c.held.Set(accountKey(states, nobody), absent(1)) // long ago
	if look(); reads != 2 {
		t.Errorf("the table was read %d times, want twice: the absence is of long ago", reads)
	}
}

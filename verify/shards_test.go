package verify

import (
	"errors"
	"testing"

	"tonscribe/internal/engine"
	"tonscribe/schema/migrations"
	"tonscribe/test/support/clustertest"
)

// A cluster's tables are checked like those of one node.
func TestTablesOfTwoShardsAreCleanUntilOneOfThemLosesARow(t *testing.T) {
	engines, dsn := clustertest.Shards(t)
	if err := migrations.Up(t.Context(), dsn, migrations.Options{Cluster: clustertest.Name}); err != nil {
		t.Fatal(err)
	}
	l := tablesAt(t, dsn)
	l.fillTown(1_000, 2)
	fromSource := func(o *Options) { o.Source = FromIngest(l.source) }
	if _, err := l.verify(fromSource); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"messages_by_account", "jetton_wallets", "traces_by_list", "actions"} {
		shard, local := tablesAt(t, shardWith(t, engines, name).DSN()), name+"_local"
		shard.exec("CREATE TABLE kept AS " + local + " ENGINE = Memory")
		shard.exec("INSERT INTO kept SELECT * FROM " + local)
		shard.exec("TRUNCATE TABLE " + local)
		shard.exec("INSERT INTO " + local + " SELECT * FROM kept ORDER BY ALL LIMIT 1000000 OFFSET 1 SETTINGS insert_deduplicate = 0")
		shard.exec("DROP TABLE kept")
	}
	r, err := l.verify(fromSource)
	if !errors.Is(err, ErrDifferent) {
		t.Fatalf("without a row of some tables in one shard: %v, want %v", err, ErrDifferent)
	}
	found := map[string]bool{}
	for _, c := range r.Checks {
		found[c.Name] = c.Found > 0
	}
	for _, name := range []string{CheckIndexes, CheckContracts, CheckTraces, CheckActions} {
		if !found[name] {
			t.Errorf("check %s finds nothing, want a row that is lost", name)
		}
	}
}

// shardWith is a shard that has rows of a table.
func shardWith(t *testing.T, engines [2]*engine.ClickHouse, name string) *engine.ClickHouse {
	t.Helper()
	for _, e := range engines {
		var rows uint64
		if err := tablesAt(t, e.DSN()).client.Conn().QueryRow(t.Context(), "SELECT count() FROM "+name+"_local").Scan(&rows); err != nil {
			t.Fatal(err)
		}
		if rows > 0 {
			return e
		}
	}
	t.Fatalf("no shard has rows of %s", name)
	return nil
}

package repair

import (
	"fmt"
	"testing"

	"tonscribe/internal/clickhouse"
	"tonscribe/schema/migrations"
	"tonscribe/test/support/clienttest"
	"tonscribe/test/support/clustertest"
)

// Figures of a shard are made of its own rows: what is left there of actions that were
// recognised again and are lost goes, and nothing comes from another shard.
func TestWhatIsLeftOfLostActionsGoesFromEachShard(t *testing.T) {
	ctx := t.Context()
	_, dsn := clustertest.Shards(t)
	if err := migrations.Up(ctx, dsn, migrations.Options{Cluster: clustertest.Name}); err != nil {
		t.Fatal(err)
	}
	tables := clienttest.ClickHouse(t, dsn)
	// Of two actions the second one was recognised again, and has another name.
	insert := func(revision, name, from int) {
		t.Helper()
		err := tables.Conn().Exec(clickhouse.Foreground(ctx), fmt.Sprintf(`INSERT INTO actions (trace_prefix, id_prefix, end_utime, type, record, revision)
			SELECT number, number + %d, 1700000000, 'ton_transfer', repeat('_', 200), %d FROM numbers(%d, %d)`, name, revision, from, 100-from))
		if err != nil {
			t.Fatal(err)
		}
	}
	insert(2, 1001, 50)
	if err := tables.Empty(ctx, "actions"); err != nil {
		t.Fatal(err)
	}
	insert(4, 1, 0)
	r := run{Options{Tables: tables, Out: t.Output()}}
	if err := r.replaceRevised(ctx, &plan{revision: 4}); err != nil {
		t.Fatal(err)
	}
	var actions, left uint64
	if err := tables.Conn().QueryRow(ctx, "SELECT count(), countIf(id_prefix > 1000) FROM action_times FINAL").Scan(&actions, &left); err != nil || actions != 100 || left != 0 {
		t.Errorf("figures are made of %d actions, %d of them lost, want 100: %v", actions, left, err)
	}
}

package repair

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tonscribe/internal/clickhouse"
	"tonscribe/schema/table"
)

// revisedTables are those whose rows are replaced by their revision, all or none of them.
var revisedTables = []string{table.Actions.Name, table.ActionsByList.Name}

// readable is a condition for rows of the plan's bundles, but for those of damaged parts.
// Nothing is recognised again of a bundle that is still coming, and what a sink inserts of
// it meanwhile stays.
func (p *plan) readable() string {
	where := fmt.Sprintf("mc_seqno BETWEEN %d AND %d", p.from, p.whole)
	if len(p.unreadable) > 0 {
		where += " AND _part NOT IN ('" + strings.Join(p.unreadable, "', '") + "')"
	}
	return where
}

// findRevision finds the revision that rows need to count before those that were
// recognised again. Where none was, rows come back as they were.
func (r *run) findRevision(ctx context.Context, p *plan) error {
	if !slices.Contains(p.tables, revisedTables[0]) {
		return nil
	}
	var newest uint32
	for _, name := range revisedTables {
		var revision uint32
		if err := r.Tables.Conn().QueryRow(ctx, "SELECT max(revision) FROM "+name+" WHERE "+p.readable()).Scan(&revision); err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
		newest = max(newest, revision)
	}
	if newest > 0 {
		p.revision = newest + 2
	}
	return nil
}

// replaceRevised marks the rows from before that are not replaced by one of their key as
// gone.
func (r *run) replaceRevised(ctx context.Context, p *plan) error {
	if p.revision == 0 {
		return nil
	}
	for _, name := range revisedTables {
		statement := fmt.Sprintf("INSERT INTO %[1]s SELECT * REPLACE (toUInt32(%[2]d) AS revision, 1 AS gone) FROM %[1]s AS r WHERE %[3]s AND r.revision < %[2]d AND NOT r.gone", name, p.revision-1, p.readable())
		if err := r.Tables.Conn().Exec(clickhouse.Foreground(ctx), statement); err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
	}
	// What figures are made of knows no bundle: what is left of actions that were recognised
	// again, and are lost, is of none any more.
	var database string // which shards do not take for granted
	if err := r.Tables.Conn().QueryRow(ctx, "SELECT currentDatabase()").Scan(&database); err != nil {
		return err
	}
	strays := fmt.Sprintf(`INSERT INTO action_times SELECT * REPLACE (toUInt32(%[1]d) AS revision, 1 AS gone) FROM action_times AS t FINAL WHERE t.revision BETWEEN 1 AND %[1]d
		AND (t.end_utime, t.start_lt, t.id_prefix) NOT IN (SELECT a.end_utime, a.start_lt, a.id_prefix FROM %[2]s.actions AS a FINAL WHERE a.revision BETWEEN 1 AND %[1]d)
		SETTINGS distributed_product_mode = 'local'`, p.revision-1, database)
	if err := r.Tables.Conn().Exec(clickhouse.Foreground(ctx), strays); err != nil {
		return fmt.Errorf("table action_times: %w", err)
	}
	fmt.Fprintln(r.Out, "actions are as the stage makes them: `tonscribe reclassify` recognises them again, where they had been")
	return nil
}

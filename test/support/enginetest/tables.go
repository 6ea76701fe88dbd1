package enginetest

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tonscribe/internal/engine"
	"tonscribe/schema/migrations"
)

// template is the database that migrations were applied to.
const template = engine.DefaultDatabase + "_template"

// versions is the table that says which migrations a database has.
const versions = "schema_migrations"

// statement makes a table of the template in another database.
type statement struct{ table, text string }

// statementsOfTables are those of all tables; the last one says which migrations the
// other database has.
var statementsOfTables = sync.OnceValues(func() ([]statement, error) {
	migrated, err := shared.Database(context.Background(), template)
	if err != nil {
		return nil, err
	}
	if err := migrations.Up(context.Background(), migrated.DSN(), migrations.Options{}); err != nil {
		return nil, err
	}
	db, err := open(migrated)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.Query("SELECT name, create_table_query FROM system.tables WHERE database = ? ORDER BY engine = 'MaterializedView', name", template)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var statements []statement
	for rows.Next() {
		var s statement
		if err := rows.Scan(&s.table, &s.text); err != nil {
			return nil, err
		}
		s.text = strings.ReplaceAll(s.text, template+".", "")
		statements = append(statements, s)
	}
	return append(statements, statement{versions, "INSERT INTO " + versions + " SELECT * FROM " + template + "." + versions}), rows.Err()
})

// Tables is ClickHouse with all tables, which are made from those that the process's
// first call migrated: a statement for each table in place of three for each migration.
// Where tables are named, no others are made: each takes some milliseconds.
func Tables(t testing.TB, only ...string) *engine.ClickHouse {
	t.Helper()
	c := ClickHouse(t)
	makeTables(t, c, "", only...)
	return c
}

// unmerged are settings of tables whose parts are merged by statements only.
const unmerged = "max_bytes_to_merge_at_max_space_in_pool = 1, "

// UnmergedTables is Tables whose parts stay as they were inserted until a test says
// OPTIMIZE TABLE.
func UnmergedTables(t testing.TB, only ...string) *engine.ClickHouse {
	t.Helper()
	c := ClickHouse(t)
	makeTables(t, c, unmerged, only...)
	return c
}

// KeptTables is UnmergedTables for more than one test: they stay until the process ends.
func KeptTables(t testing.TB) *engine.ClickHouse {
	t.Helper()
	c, _ := database(t)
	makeTables(t, c, unmerged)
	return c
}

func makeTables(t testing.TB, c *engine.ClickHouse, settings string, only ...string) {
	t.Helper()
	statements, err := statementsOfTables()
	if err != nil {
		t.Fatal(err)
	}
	db, err := open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	if i := slices.IndexFunc(only, func(name string) bool {
		return !slices.ContainsFunc(statements, func(s statement) bool { return s.table == name })
	}); i >= 0 {
		t.Fatalf("there is no table %s", only[i])
	}
	for _, s := range statements {
		if len(only) > 0 && s.table != versions && !slices.Contains(only, s.table) {
			continue
		}
		const first = "SETTINGS index_granularity"
		if strings.Contains(s.text, "MergeTree") && !strings.Contains(s.text, first) {
			t.Fatalf("%s has no settings where they are looked for: %s", s.table, s.text)
		}
		text := strings.Replace(s.text, first, "SETTINGS "+settings+"index_granularity", 1)
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(errors.Join(errors.New(text), err))
		}
	}
}

func open(c *engine.ClickHouse) (*sql.DB, error) {
	options, err := clickhouse.ParseDSN(c.DSN())
	if err != nil {
		return nil, err
	}
	return clickhouse.OpenDB(options), nil
}

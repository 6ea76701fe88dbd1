package enginetest

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tonscribe/internal/engine"
	"tonscribe/schema/migrations"
)

// template is the database that migrations were applied to.
const template = engine.DefaultDatabase + "_template"

// statementsOfTables make the tables of the template in another database, and say
// in it which migrations it has.
var statementsOfTables = sync.OnceValues(func() ([]string, error) {
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
	if err := keepParts(db); err != nil {
		return nil, err
	}
	rows, err := db.Query("SELECT create_table_query FROM system.tables WHERE database = ? ORDER BY engine = 'MaterializedView', name", template)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var statements []string
	for rows.Next() {
		var statement string
		if err := rows.Scan(&statement); err != nil {
			return nil, err
		}
		statements = append(statements, strings.ReplaceAll(statement, template+".", ""))
	}
	const versions = "schema_migrations"
	return append(statements, "INSERT INTO "+versions+" SELECT * FROM "+template+"."+versions), rows.Err()
})

// Tables is ClickHouse with all tables, which are made from those that the process's
// first call migrated: a statement for each table in place of three for each migration.
// Parts stay as they were inserted until a test says OPTIMIZE TABLE.
func Tables(t testing.TB) *engine.ClickHouse {
	t.Helper()
	c := ClickHouse(t)
	makeTables(t, c)
	return c
}

// KeptTables is Tables for more than one test: they stay until the process ends.
func KeptTables(t testing.TB) *engine.ClickHouse {
	t.Helper()
	c, _ := database(t)
	makeTables(t, c)
	return c
}

// keepParts has the engine merge parts of the template's tables only when it is told to.
func keepParts(db *sql.DB) error {
	var tables []string
	if err := db.QueryRow("SELECT groupArray(name) FROM system.tables WHERE database = ? AND engine LIKE '%MergeTree'", template).Scan(&tables); err != nil {
		return err
	}
	for _, table := range tables {
		if _, err := db.Exec("ALTER TABLE `" + table + "` MODIFY SETTING max_bytes_to_merge_at_max_space_in_pool = 1"); err != nil {
			return err
		}
	}
	return nil
}

func makeTables(t testing.TB, c *engine.ClickHouse) {
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
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(errors.Join(errors.New(statement), err))
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

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
func Tables(t testing.TB) *engine.ClickHouse {
	t.Helper()
	c := ClickHouse(t)
	makeTables(t, c)
	return c
}

var kept []string // databases

// KeptTables is Tables for more than one test: they stay until DropKept, or until the
// process ends.
func KeptTables(t testing.TB) *engine.ClickHouse {
	t.Helper()
	c, name := database(t)
	kept = append(kept, name)
	makeTables(t, c)
	return c
}

// DropKept drops what KeptTables made: each part of a table takes some of the memory
// that the engine has for all tests.
func DropKept(t testing.TB) {
	t.Helper()
	for _, name := range kept {
		if err := drop(name); err != nil {
			t.Fatalf("drop database %s: %v", name, err)
		}
	}
	kept = nil
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

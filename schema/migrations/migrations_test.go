package migrations_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"tonscribe/internal/clickhouse"
	"tonscribe/schema/migrations"
	"tonscribe/test/support/clustertest"
	"tonscribe/test/support/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

func open(t *testing.T, dsn string) driver.Conn {
	t.Helper()
	options, err := driver.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := driver.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// tables are those there are, without the ones that a refresh fills to put them in
// another's place.
func tables(t *testing.T, conn driver.Conn) []string {
	t.Helper()
	var names []string
	err := conn.QueryRow(t.Context(), `SELECT groupArray(name) FROM system.tables WHERE database = currentDatabase() AND name != 'schema_migrations' AND NOT match(name, '^[._]tmp')`).Scan(&names)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func status(t *testing.T, dsn string) migrations.State {
	t.Helper()
	states, err := migrations.Status(t.Context(), dsn, migrations.Options{})
	if err != nil || len(states) != 1 {
		t.Fatal(states, err)
	}
	return states[0]
}

func TestUpMakesAllTablesAndDownTakesThemAway(t *testing.T) {
	dsn := enginetest.ClickHouse(t).DSN()
	conn := open(t, dsn)
	if s := status(t, dsn); s.Version != 0 || s.Latest == 0 {
		t.Fatalf("before: %+v", s)
	}
	for range 2 { // the second time changes nothing
		if err := migrations.Up(t.Context(), dsn, migrations.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	s := status(t, dsn)
	got, want := slices.Sorted(slices.Values(tables(t, conn))), slices.Sorted(slices.Values(madeBy(t, "create", "everywhere", "view", "refresh", "refreshall")))
	if s.Version != s.Latest || s.Dirty || !slices.Equal(got, want) {
		t.Fatalf("after up: %+v, tables\n%v, want\n%v", s, got, want)
	}
	if err := migrations.Down(t.Context(), dsn, migrations.Options{}); err != nil {
		t.Fatal(err)
	}
	if left := tables(t, conn); len(left) != 0 {
		t.Fatalf("after down: %v", left)
	}
	if s := status(t, dsn); s.Version != 0 {
		t.Fatalf("after down: %+v", s)
	}
}

func TestUpRepeatsWhatFailedHalfWay(t *testing.T) {
	dsn := enginetest.ClickHouse(t).DSN()
	conn := open(t, dsn)
	if err := migrations.Up(t.Context(), dsn, migrations.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, failed := range []int{1, 6, 30, 51, 54, 60} {
		err := conn.Exec(t.Context(), `INSERT INTO schema_migrations VALUES (?, 1, ?)`, failed, time.Now().UnixNano())
		if err != nil {
			t.Fatal(err)
		}
		if s := status(t, dsn); !s.Dirty || s.Version >= uint(failed) {
			t.Fatalf("%+v", s)
		}
		if err := migrations.Up(t.Context(), dsn, migrations.Options{}); err != nil {
			t.Fatal(err)
		}
		if s := status(t, dsn); s.Dirty || s.Version != s.Latest {
			t.Fatalf("after up: %+v", s)
		}
	}
}

func TestUpThatIsStoppedSaysWhatIsDoneAndGoesOn(t *testing.T) {
	dsn := enginetest.ClickHouse(t).DSN()
	conn := open(t, dsn)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- migrations.Up(ctx, dsn, migrations.Options{}) }()
	for len(tables(t, conn)) < 5 {
		time.Sleep(time.Millisecond)
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	if s := status(t, dsn); s.Dirty || s.Version == 0 || s.Version == s.Latest {
		t.Fatalf("after the stop: %+v", s)
	}
	if err := migrations.Up(t.Context(), dsn, migrations.Options{}); err != nil {
		t.Fatal(err)
	}
	if s := status(t, dsn); s.Dirty || s.Version != s.Latest {
		t.Fatalf("after up: %+v", s)
	}
}

func TestTablesOfANewerVersionAreRefused(t *testing.T) {
	dsn := enginetest.ClickHouse(t).DSN()
	if err := migrations.Up(t.Context(), dsn, migrations.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := open(t, dsn).Exec(t.Context(), `INSERT INTO schema_migrations VALUES (9999, 0, ?)`, time.Now().UnixNano()); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(context.Context, string, migrations.Options) error{"up": migrations.Up, "down": migrations.Down} {
		if err := change(t.Context(), dsn, migrations.Options{}); !errors.Is(err, migrations.ErrNewerTables) || !strings.Contains(err.Error(), "9999") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if err := status(t, dsn).Fits(); !errors.Is(err, migrations.ErrNewerTables) {
		t.Errorf("the state fits: %v", err)
	}
}

// Where the files of before were others, nothing tells but what they made.
func TestTablesThatAreNotWhatTheMigrationsBeforeMakeAreRefused(t *testing.T) {
	dsn := enginetest.ClickHouse(t).DSN()
	if err := migrations.Up(t.Context(), dsn, migrations.Options{}); err != nil {
		t.Fatal(err)
	}
	conn := open(t, dsn)
	for _, statement := range []string{
		"DROP VIEW action_times_by_actions", "DROP TABLE actions", fmt.Sprintf("INSERT INTO schema_migrations VALUES (70, 0, %d)", time.Now().UnixNano()),
	} {
		if err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		err := migrations.Up(t.Context(), dsn, migrations.Options{})
		if !errors.Is(err, migrations.ErrOtherTables) || clickhouse.Retryable(err) {
			t.Errorf("got %v; want what to do, and no further try", err)
		}
	}
}

func TestDatabaseIsMadeWhenMissing(t *testing.T) {
	dsn := enginetest.ClickHouse(t).DSN()
	other := regexp.MustCompile(`/[^/]+$`).ReplaceAllString(dsn, "/tonscribe_made_by_up")
	if err := migrations.Up(t.Context(), other, migrations.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := open(t, dsn).Exec(t.Context(), "DROP DATABASE tonscribe_made_by_up"); err != nil {
		t.Fatal(err)
	}
	odd := regexp.MustCompile(`/[^/]+$`).ReplaceAllString(dsn, "/a`b")
	if err := migrations.Up(t.Context(), odd, migrations.Options{}); err == nil || !strings.Contains(err.Error(), "plain name") {
		t.Fatal(err)
	}
}

func printed(t *testing.T, options migrations.Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := migrations.Print(t.Context(), &out, "tonscribe", options); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func count(text, expression string) int {
	return len(regexp.MustCompile(expression).FindAllString(text, -1))
}

// created are the tables that the files create.
func created(t *testing.T) []string { return madeBy(t, "create") }

// madeBy are the tables and views that the files make with some words.
func madeBy(t *testing.T, words ...string) (names []string) {
	t.Helper()
	made := regexp.MustCompile(`\{\{(?:` + strings.Join(words, "|") + `) "(\w+)"`)
	files, err := filepath.Glob("sql/*.up.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range made.FindAllSubmatch(text, -1) {
			names = append(names, string(match[1]))
		}
	}
	return names
}

func TestPrintedStatementsAreThoseOfTheLayout(t *testing.T) {
	n := len(created(t))
	all := len(madeBy(t, "create", "everywhere"))
	for name, c := range map[string]struct {
		options migrations.Options
		counts  map[string]int
	}{
		"one node": {migrations.Options{}, map[string]int{
			`ENGINE = ReplacingMergeTree`: all, `Distributed`: 0, `Replicated`: 0, `_local`: 0,
			`(?m) non_replicated_deduplication_window = 1000`: all, `CREATE DATABASE IF NOT EXISTS tonscribe;`: 1,
		}},
		"shards": {migrations.Options{Cluster: "two"}, map[string]int{
			`ENGINE = ReplacingMergeTree`: all, `ENGINE = Distributed\('two', currentDatabase\(\), '\w+_local', [^;\n]+\);`: n, `Replicated`: 0,
			`CREATE TABLE IF NOT EXISTS \w+_local \(`: n, `CREATE TABLE IF NOT EXISTS (\w+) AS \w+_local`: n,
		}},
		"replicas": {migrations.Options{Cluster: "two", Replicated: true}, map[string]int{
			// A Replicated database refuses path arguments, so nothing but a version
			// column may stand in parentheses.
			`ENGINE = ReplicatedReplacingMergeTree(\(\w+(, \w+)?\))?\n`: all, `ENGINE = ReplicatedReplacingMergeTree\('`: 0,
			` replicated_deduplication_window = 1000`: all, `ENGINE = Distributed`: n,
			`ENGINE = Replicated\('/clickhouse/databases/tonscribe', '\{shard\}', '\{replica\}'\);`: 1,
		}},
	} {
		text := printed(t, c.options)
		for expression, want := range c.counts {
			if got := count(text, expression); got != want {
				t.Errorf("%s: %d of %s instead of %d", name, got, expression, want)
			}
		}
		if strings.Contains(text, "--") || strings.Contains(text, "{{") || strings.Contains(text, "ON CLUSTER") {
			t.Errorf("%s: left-overs in\n%s", name, text)
		}
	}
}

func TestPrintedStatementsMakeTheTablesThatUpMakes(t *testing.T) {
	definitions := func(dsn string) (all []string) {
		err := open(t, dsn).QueryRow(t.Context(), `SELECT arraySort(groupArray(replaceAll(create_table_query, currentDatabase() || '.', ''))) FROM system.tables
			WHERE database = currentDatabase() AND name != 'schema_migrations' AND NOT match(name, '^[._]tmp')`).Scan(&all)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	up, typed := enginetest.ClickHouse(t).DSN(), enginetest.ClickHouse(t).DSN()
	if err := migrations.Up(t.Context(), up, migrations.Options{}); err != nil {
		t.Fatal(err)
	}
	conn := open(t, typed)
	for statement := range strings.SplitSeq(printed(t, migrations.Options{}), ";") {
		if statement = strings.TrimSpace(statement); statement == "" || strings.HasPrefix(statement, "CREATE DATABASE") {
			continue
		}
		if err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	if got, want := definitions(typed), definitions(up); !slices.Equal(got, want) || len(got) == 0 {
		t.Fatalf("typed:\n%s\nup:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestReplicatedTablesNeedACluster(t *testing.T) {
	var out bytes.Buffer
	if err := migrations.Print(t.Context(), &out, "tonscribe", migrations.Options{Replicated: true}); err == nil {
		t.Fatal("accepted")
	}
}

// The embedded engine has no macros, which it looks for behind the rights of the user.
func TestWhoMakesTheTablesMayMakeAReplicatedDatabase(t *testing.T) {
	other := regexp.MustCompile(`/[^/]+$`).ReplaceAllString(enginetest.ClickHouse(t).DSN(), "/tonscribe_replicated")
	err := migrations.Up(t.Context(), other, migrations.Options{Cluster: "two", Replicated: true})
	if err == nil || !strings.Contains(err.Error(), "No macro 'shard'") {
		t.Errorf("%v, want that the macros are missing", err)
	}
}

func TestADSNThatLeavesOutANodeOfTheClusterIsRefused(t *testing.T) {
	engines, dsn := clustertest.Shards(t)
	options := migrations.Options{Cluster: clustertest.Name}
	if err := migrations.Up(t.Context(), engines[0].DSN(), options); err == nil || !strings.Contains(err.Error(), "2 nodes") {
		t.Errorf("one of two nodes: %v", err)
	}
	if err := migrations.Up(t.Context(), dsn, options); err != nil {
		t.Errorf("both nodes: %v", err)
	}
}

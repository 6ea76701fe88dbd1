package sink

import (
	"os"
	"regexp"
	"strings"
	"testing"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"tonscribe/test/support/enginetest"
)

var fencedQuery = regexp.MustCompile("(?s)\n([^\n]+)\n\n```sql\n(.*?)```")

// Every query of the manual runs as the user that may only read, and finds
// something.
func TestQueriesOfTheManualFindSomething(t *testing.T) {
	manual, err := os.ReadFile("../docs/analytics.md")
	if err != nil {
		t.Fatal(err)
	}
	queries := fencedQuery.FindAllStringSubmatch(string(manual), -1)
	if fences := strings.Count(string(manual), "```sql\n"); len(queries) != fences || fences < 12 {
		t.Fatalf("%d queries found of %d", len(queries), fences)
	}
	engine := enginetest.Tables(t)
	tables := newClient(t, engine.DSN())
	chainOfDays(20_000, 3).insert(t, tables, "all")
	insertTraces(t, tables, "markets", markets(40, 3))
	refreshStats(t, tables)
	reader := newClient(t, engine.ReaderDSN())
	parameters := driver.Parameters{"since": "1"}
	for name, statement := range map[string]string{
		"jetton":  "SELECT hex(master) FROM stats_jettons ORDER BY holders DESC LIMIT 1",
		"account": "SELECT hex(account) FROM transactions WHERE workchain = 0 GROUP BY account ORDER BY count() DESC LIMIT 1",
	} {
		var value string
		if err := reader.Conn().QueryRow(t.Context(), statement).Scan(&value); err != nil {
			t.Fatal(name, err)
		}
		parameters[name] = value
	}
	for _, q := range queries {
		rows, err := reader.Conn().Query(driver.Context(t.Context(), driver.WithParameters(parameters)), q[2])
		if err != nil {
			t.Errorf("%s %v", q[1], err)
			continue
		}
		found := rows.Next()
		if err := rows.Err(); err != nil || !found {
			t.Errorf("%s found %v, %v", q[1], found, err)
		}
		rows.Close()
	}
}

func TestReaderOfTheManualCannotWrite(t *testing.T) {
	engine := enginetest.Tables(t)
	reader := newClient(t, engine.ReaderDSN())
	for _, statement := range []string{
		"INSERT INTO stats_touched VALUES ('transactions', today(), now())", "TRUNCATE TABLE stats_days", "DROP TABLE stats_jettons_view",
		"SYSTEM REFRESH VIEW stats_days_view", "CREATE TABLE mine (n UInt8) ENGINE = Memory", "SELECT * FROM file('/etc/passwd', 'LineAsString')",
	} {
		if err := reader.Conn().Exec(t.Context(), statement); err == nil {
			t.Errorf("the reader may %s", statement)
		}
	}
}

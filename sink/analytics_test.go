package sink

import (
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/engine"
	"tonscribe/schema/migrations"
	"tonscribe/test/support/clienttest"
	"tonscribe/test/support/clustertest"
	"tonscribe/test/support/enginetest"
)

var fencedQuery = regexp.MustCompile("(?s)\n([^\n]+)\n\n```sql\n(.*?)```")

// queriesOfTheManual are the sentence before each query, and the query.
func queriesOfTheManual(t *testing.T) (queries [][]string) {
	t.Helper()
	manual, err := os.ReadFile("../docs/analytics.md")
	if err != nil {
		t.Fatal(err)
	}
	queries = fencedQuery.FindAllStringSubmatch(string(manual), -1)
	if fences := strings.Count(string(manual), "```sql\n"); len(queries) != fences || fences < 12 {
		t.Fatalf("%d queries found of %d", len(queries), fences)
	}
	return queries
}

// newAnalyst connects as the user that may only read, whose settings are as they are.
func newAnalyst(t *testing.T, e *engine.ClickHouse) *clickhouse.Client {
	t.Helper()
	dsn, err := url.Parse(e.ReaderDSN())
	if err != nil {
		t.Fatal(err)
	}
	settings := dsn.Query()
	settings.Set("distributed_product_mode", "deny")
	dsn.RawQuery = settings.Encode()
	return clienttest.ClickHouse(t, dsn.String())
}

// Every query of the manual runs as the user that may only read, and finds
// something.
func TestQueriesOfTheManualFindSomething(t *testing.T) {
	queries := queriesOfTheManual(t)
	e := enginetest.Tables(t)
	tables := clienttest.ClickHouse(t, e.DSN())
	chainOfDays(20_000, 3).insert(t, tables, "all")
	insertTraces(t, tables, "markets", markets(40, 3))
	refreshStats(t, tables)
	reader := newAnalyst(t, e)
	parameters := parametersOfTheManual(t, reader)
	for _, q := range queries {
		rows, err := reader.Conn().Query(driver.Context(t.Context(), driver.WithParameters(parameters)), q[2])
		if err != nil {
			t.Errorf("%s %v", q[1], err)
			continue
		}
		for _, c := range rows.ColumnTypes() {
			if c.DatabaseTypeName() == "Array(UInt256)" {
				t.Errorf("%s gives %s, a number for each wallet, want figures only", q[1], c.Name())
			}
		}
		found := rows.Next()
		if err := rows.Err(); err != nil || !found {
			t.Errorf("%s found %v, %v", q[1], found, err)
		}
		rows.Close()
	}
}

// Queries of the manual count what really moved: coins that an account without code
// kept, and not those that came back; transfers within exchanges; prices in toncoins
// only; liquidity that is in a pool; owners, and not nobody; messages of accounts that no
// transaction is of, too. Operations look as they do in answers of the API.
func TestQueriesOfTheManualCountWhatMoved(t *testing.T) {
	tables := newTables(t)
	for _, statement := range []string{
		"INSERT INTO transactions (lt, account, in_msg_kind, in_msg_value, in_msg_opcode, aborted, compute_skipped, out_msg_count) VALUES " +
			"(1, 'done', 'internal', 1, -1, false, false, 0), (2, 'kept', 'internal', 2, -1, true, true, 0), (3, 'refused', 'internal', 3, -1, true, true, 1), " +
			"(4, 'bounced', 'internal', 4, 4294967295, false, false, 0), (5, 'bounced anew', 'internal', 5, 4294967294, false, false, 0)",
		"INSERT INTO messages_index (path, key, created_lt) VALUES ('opcode', 1, 1)",
		"INSERT INTO messages_by_account (side, near_prefix, created_lt, hash_prefix, direction, far_prefix) VALUES " +
			"('source', 1, 5, 5, 1, 2), ('source', 1, 8, 8, 1, 2), ('source', 1, 9, 9, 1, 2), ('source', 1, 6, 6, 1, 3), ('source', 1, 6, 6, 0, 3), " +
			"('source', 1, 10, 10, 1, 3), ('destination', 1, 7, 7, 0, 2)",
		"INSERT INTO accounts (account_prefix, account) VALUES (3, unhex('0000000000000003'))",
		"INSERT INTO nft_items (account_prefix, account, active, init, owner_workchain, owner, seller_workchain, seller) VALUES " +
			"(1, 'kept', true, true, 0, 'a', -2147483648, ''), (2, 'on sale', true, true, 0, 'sale', 0, 'a'), (3, 'at auction', true, true, -2147483648, '', -2147483648, '')",
		"INSERT INTO jetton_transfers (lt, delivery, source) VALUES (1, 'delivered', 'a'), (2, 'delivered', 'b'), (3, 'returned', 'c')",
		// The source is a part of the record.
		"INSERT INTO actions (number, type, success, amount, pool, record) SELECT number, type, true, amount, pool, rightPad(repeat('_', 28) || source, 200, '_') FROM values(" +
			"'number UInt32, type String, amount UInt256, pool String, source String', (1, 'nft_purchase', 5000000000, '', 'a'), (2, 'nft_purchase', 0, '', 'a'), " +
			"(3, 'dex_deposit_liquidity', 7, '', 'a'), (4, 'dex_deposit_liquidity', 8, 'pool', 'b'), (5, 'jetton_swap', 9, '', 'b'))",
	} {
		if err := tables.Conn().Exec(t.Context(), statement); err != nil {
			t.Fatal(statement, err)
		}
	}
	want := map[string]struct{ columns, lines string }{
		"Largest TON":       {"nanotons", "2 1"},
		"What contracts":    {"operation", "0x00000001"},
		"Jettons by the pe": {"concat(toString(senders), '/', toString(transfers))", "2/2"},
		"NFT sales":         {"concat(toString(sales), '/', toString(lowest), '/', toString(highest))", "2/5/5"},
		"Message graph": {"concat(way, ' ', substring(other, 1, 21), ' ', toString(messages))",
			"sent 0:0000000000000002… 3 sent 0:0000000000000003000 2 received 0:0000000000000002… 1"},
		"NFT collections b": {"concat(toString(items), '/', toString(owners))", "3/1"},
		"Liquidity by pool": {"concat(toString(deposits), '/', toString(providers))", "1/1"},
	}
	for _, q := range queriesOfTheManual(t) {
		for name, w := range want {
			if !strings.HasPrefix(q[1], name) {
				continue
			}
			delete(want, name)
			var got string
			statement := fmt.Sprintf("SELECT arrayStringConcat(groupArray(toString(%s)), ' ') FROM (%s)", w.columns, q[2])
			ctx := driver.Context(t.Context(), driver.WithParameters(driver.Parameters{"since": "0", "account": "0000000000000001"}))
			if err := tables.Conn().QueryRow(ctx, statement).Scan(&got); err != nil || got != w.lines {
				t.Errorf("%s found %q instead of %q, %v", q[1], got, w.lines, err)
			}
		}
	}
	for name := range want {
		t.Errorf("no query of %s", name)
	}
}

func TestReaderOfTheManualCannotWrite(t *testing.T) {
	e := enginetest.Tables(t)
	reader := newAnalyst(t, e)
	if err := reader.Conn().Exec(t.Context(), "SELECT count() FROM stats_days"); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"INSERT INTO stats_touched VALUES ('transactions', today(), now())", "TRUNCATE TABLE stats_days", "DROP TABLE stats_jettons_view",
		"SYSTEM REFRESH VIEW stats_days_view", "CREATE TABLE mine (n UInt8) ENGINE = Memory", "SELECT * FROM file('/etc/passwd', 'LineAsString')",
	} {
		if err := reader.Conn().Exec(t.Context(), statement); err == nil {
			t.Errorf("the reader may %s", statement)
		}
	}
}

// Queries of the manual say the same of a cluster, asked by a user of which it knows
// nothing, as of one node. Those that end with a limit may cut others of the same rank.
func TestQueriesOfTheManualSayTheSameOfTwoShards(t *testing.T) {
	engines, dsn := clustertest.Shards(t)
	if err := migrations.Up(t.Context(), dsn, migrations.Options{Cluster: clustertest.Name}); err != nil {
		t.Fatal(err)
	}
	e := enginetest.Tables(t)
	whole := clienttest.ClickHouse(t, e.DSN())
	all, traces := chainOfDays(3_000, 3), markets(40, 3)
	for _, tables := range []*clickhouse.Client{whole, clienttest.ClickHouse(t, dsn)} {
		all.insert(t, tables, "all")
		insertTraces(t, tables, "markets", traces)
	}
	refreshStats(t, whole)
	for _, shard := range engines {
		refreshStats(t, clienttest.ClickHouse(t, shard.DSN()))
	}
	one, two := newAnalyst(t, e), newAnalyst(t, engines[0])
	parameters := parametersOfTheManual(t, one)
	for _, q := range queriesOfTheManual(t) {
		statement := regexp.MustCompile(`LIMIT \d+\n$`).ReplaceAllString(q[2], "")
		got, want := answerOf(t, two, statement, parameters), answerOf(t, one, statement, parameters)
		if !slices.Equal(got, want) {
			t.Errorf("%s of two shards: %d lines instead of %d\n%.300s\nwant\n%.300s", q[1], len(got), len(want), strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// answerOf is what a query says, each row as a text, sorted.
func answerOf(t *testing.T, tables *clickhouse.Client, statement string, parameters driver.Parameters) (list []string) {
	t.Helper()
	ctx := driver.Context(t.Context(), driver.WithParameters(parameters))
	var line string
	err := clickhouse.Each(ctx, tables.Conn(), "SELECT toString(tuple(*)) FROM ("+statement+")", nil, func() { list = append(list, line) }, &line)
	if err != nil {
		return []string{err.Error()}
	}
	slices.Sort(list)
	return list
}

// parametersOfTheManual are those of the queries: the jetton that most hold, and the
// account with most transactions.
func parametersOfTheManual(t *testing.T, tables *clickhouse.Client) driver.Parameters {
	t.Helper()
	parameters := driver.Parameters{"since": "1"}
	for name, statement := range map[string]string{
		"jetton":  "SELECT hex(master) FROM stats_jettons ORDER BY holders DESC LIMIT 1",
		"account": "SELECT hex(account) FROM transactions WHERE workchain = 0 GROUP BY account ORDER BY count() DESC LIMIT 1",
	} {
		var value string
		if err := tables.Conn().QueryRow(t.Context(), statement).Scan(&value); err != nil {
			t.Fatal(name, err)
		}
		parameters[name] = value
	}
	return parameters
}

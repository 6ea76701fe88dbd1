package verify

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"tonscribe/bench/synthetic"
	"tonscribe/schema/table"
)

// Of every table of traces and actions a damaged row is found, and named.
func TestLiesAboutTracesAreFound(t *testing.T) {
	l := emptyTables(t)
	l.fillRows(synthetic.NewRows(synthetic.RowOptions{Transactions: 2000, Seed: 4}))
	if r, err := l.verify(only(CheckTraces, CheckActions)); err != nil || r.check(CheckTraces).Checked < 3000 {
		t.Fatalf("%d rows were checked: %v", r.check(CheckTraces).Checked, err)
	}
	update := func(set string) func(*tables, *table.Table, string) {
		return func(l *tables, t *table.Table, where string) {
			l.exec(fmt.Sprintf("ALTER TABLE %s UPDATE %s WHERE %s SETTINGS mutations_sync = 1", t.Name, set, where))
		}
	}
	// flipAt changes a byte of the record, from which ClickHouse reads columns.
	flipAt := func(at int) func(*tables, *table.Table, string) {
		return update(fmt.Sprintf("record = concat(substring(record, 1, %d), char(bitXor(ascii(substring(record, %d, 1)), 1)), substring(record, %d))", at-1, at, at+1))
	}
	replace := func(set string) func(*tables, *table.Table, string) {
		return func(l *tables, t *table.Table, where string) {
			l.exec(fmt.Sprintf("INSERT INTO %s SELECT * REPLACE (%s) FROM (SELECT * FROM %s WHERE %s) SETTINGS insert_deduplicate = 0", t.Name, set, t.Name, where))
			deleteRow(l, t.Name, where)
		}
	}
	remove := func(l *tables, t *table.Table, where string) { deleteRow(l, t.Name, where) }
	for _, c := range []struct {
		name, filter string
		table        *table.Table
		tell         func(*tables, *table.Table, string)
		says         string
	}{
		{"a transaction without a trace", "", &table.TransactionTraces.Table, remove, "no row, but table transactions makes"},
		{"a transaction of another trace", "", &table.TransactionTraces.Table, update("trace_prefix = 5"), "transactions of it"},
		{"a transaction of a trace of another name", "trace_rest != ''", &table.TransactionTraces.Table, update("trace_rest = reverse(trace_rest)"), "trace_rest of a transaction is not that of the trace"},
		{"a trace left out", "state = 'complete'", &table.Traces.Table, remove, "no row, but transaction_traces has"},
		{"another number of transactions", "", &table.Traces.Table, update("nodes = nodes + 1"), "but transaction_traces has"},
		{"another end", "", &table.Traces.Table, update("end_lt = end_lt + 1"), "that of the last transaction"},
		{"another state", "state = 'complete'", &table.Traces.Table, update("state = 'broken'"), "column state is"},
		{"another message that began it", "nodes = 1 AND state = 'complete' AND external_hash != toFixedString('', 32)", &table.Traces.Table, flipAt(17), "external_hash is"},
		{"another normalized hash of it", "state = 'complete' AND external_hash_norm != toFixedString('', 32)", &table.Traces.Table, flipAt(49), "external_hash_norm is"},
		{"another number of messages", "state = 'complete'", &table.Traces.Table, flipAt(113), "edges is"},
		{"a list left out", "", &table.TracesByList.Table, remove, "but its transactions are of"},
		{"a list of another account", "list != (SELECT list FROM traces_by_list GROUP BY list ORDER BY count() DESC LIMIT 1)", &table.TracesByList.Table, replace("list + 1 AS list"), "that its transactions make"},
		{"another end in a list", "", &table.TracesByList.Table, replace("end_lt + 1 AS end_lt"), "that its transactions make"},
		{"another time in a list", "", &table.TracesByList.Table, update("end_utime = end_utime + 1"), "that its transactions make"},
		{"an action left out", "number = 0 AND type = 'ton_transfer'", &table.Actions.Table, remove, "a row that the record of the action does not make"},
		{"an action left out between others", "number = 1 AND (trace_prefix, 2) IN (SELECT trace_prefix, number FROM actions)", &table.Actions.Table, remove, "no row, but the trace has an action 2"},
		{"another type", "type = 'ton_transfer'", &table.Actions.Table, update("type = 'nft_mint'"), "column type is"},
		{"an action left out of a list", "", &table.ActionsByList.Table, remove, "no row, but the record of the action makes"},
		{"an action of another version", "", &table.ActionsByList.Table, update("since = 9"), "column since is 9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := l.in(t)
			defer l.save(c.table.Name)()
			c.tell(l, c.table, l.rowOf(c.table, c.filter))
			r, err := l.verify(only(CheckTraces, CheckActions))
			if !errors.Is(err, ErrDifferent) {
				t.Fatalf("it was not found: %v", err)
			}
			said := fmt.Sprint(r.check(CheckTraces).Differences)
			if !strings.Contains(said, c.says) {
				t.Errorf("the check does not say %q, but %s", c.says, said)
			}
		})
	}
}

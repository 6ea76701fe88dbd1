package verify

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// tampering damages one row of a table.
type tampering struct {
	table string
	name  string
	// run gets a condition that finds one row.
	run func(l *tables, table, where string)
}

// insertChanged inserts the row once more with another value in a column.
func insertChanged(l *tables, table, where, column, expression string) {
	l.exec(fmt.Sprintf("INSERT INTO %s SELECT * REPLACE (%s AS %s) FROM (SELECT * FROM %s WHERE %s) SETTINGS insert_deduplicate = 0",
		table, expression, column, table, where))
}

func deleteRow(l *tables, table, where string) {
	l.exec(fmt.Sprintf("ALTER TABLE %s DELETE WHERE %s SETTINGS mutations_sync = 1", table, where))
}

// changeColumn makes a column another one in the row: in place, or when it is
// part of the key with a new row in the place of the old one.
func changeColumn(column, expression string, key bool) func(*tables, string, string) {
	return func(l *tables, table, where string) {
		if !key {
			l.exec(fmt.Sprintf("ALTER TABLE %s UPDATE %s = %s WHERE %s SETTINGS mutations_sync = 1", table, column, expression, where))
			return
		}
		insertChanged(l, table, where, column, expression)
		deleteRow(l, table, where)
	}
}

// changeBundle makes mc_seqno another one where it is part of the partition's
// expression and cannot be updated: the row with the old one goes.
func changeBundle(expression string) func(*tables, string, string) {
	return func(l *tables, table, where string) {
		var old uint32
		if err := l.client.Conn().QueryRow(l.Context(), fmt.Sprintf("SELECT mc_seqno FROM %s WHERE %s", table, where)).Scan(&old); err != nil {
			l.Fatal(err)
		}
		insertChanged(l, table, where, "mc_seqno", expression)
		deleteRow(l, table, fmt.Sprintf("%s AND mc_seqno = %d", where, old))
	}
}

// changes are the expressions for another value of each column.
func changes(t *table) map[string]string {
	other := map[string]string{}
	for _, c := range t.columns {
		switch {
		case c.form == formHash:
			other[c.name] = fmt.Sprintf("CAST(concat(char(bitXor(ascii(substring(%s, 1, 1)), 1)), substring(%s, 2)) AS FixedString(32))", c.name, c.name)
		case c.form == formEnum:
			other[c.name] = fmt.Sprintf("if(toInt8(%s) = 0, 1, 0)", c.name)
		case slices.Contains([]string{"key_block", "aborted", "compute_skipped", "norm"}, c.name):
			other[c.name] = "NOT " + c.name
		case c.name == "mc_seqno":
			other[c.name] = "mc_seqno - 1" // still in the range
		default:
			other[c.name] = c.name + " + 1"
		}
	}
	return other
}

func tamperings() []tampering {
	var list []tampering
	add := func(table, name string, run func(*tables, string, string)) {
		list = append(list, tampering{table, name, run})
	}
	all := []*table{blocks, transactions}
	for n := range indexTables {
		all = append(all, &indexTables[n])
	}
	for _, t := range all {
		other := changes(t)
		add(t.name, "delete", deleteRow)
		add(t.name, "add", func(l *tables, table, where string) {
			last := t.columns[t.key-1].name
			insertChanged(l, table, where, last, other[last])
		})
		for n, c := range t.columns {
			if !long() && n%4 != 0 && n != len(t.columns)-1 {
				continue
			}
			change := changeColumn(c.name, other[c.name], n < t.key)
			if t == transactions && c.name == "mc_seqno" {
				change = changeBundle(other[c.name])
			}
			add(t.name, "change "+c.name, change)
		}
	}
	for _, name := range []string{"blocks", "transactions"} {
		add(name, "change record", changeColumn("record", "concat(record, unhex('a80601'))", false))
	}
	for column, expression := range map[string]string{
		"topic": "'blocks'", "partition": "partition + 1", "mc_seqno": "mc_seqno - 1", "prev_mc_seqno": "prev_mc_seqno - 1", "rows": "rows + 1",
	} {
		key := column != "prev_mc_seqno" && column != "rows"
		add("seals", "change "+column, changeColumn(column, expression, key))
		if column == "topic" || column == "partition" {
			add("seals", "add another "+column, func(l *tables, table, where string) { insertChanged(l, table, where, column, expression) })
		}
	}
	add("seals", "delete", deleteRow)
	for column, expression := range map[string]string{
		"topic": "'blocks'", "partition": "partition + 7", "partitions": "partitions + 1", "mc_seqno": "mc_seqno - 1", "gen_utime": "gen_utime + 1",
	} {
		add("progress", "change "+column, changeColumn(column, expression, column != "partitions" && column != "gen_utime"))
	}
	add("progress", "delete", deleteRow)
	add("progress", "add", func(l *tables, table, where string) { insertChanged(l, table, where, "partition", "partition + 7") })
	return list
}

// victim gives a condition for a row in the middle of a table.
func victim(l *tables, name string) string {
	var key, order string
	switch name {
	case "seals":
		key, order = "topic = ''' || topic || ''' AND partition = ' || toString(partition) || ' AND mc_seqno = ' || toString(mc_seqno) || '", "topic = 'headers', topic, partition, mc_seqno" // not one of blocks: then these are blamed
	case "progress":
		key, order = "topic = ''' || topic || ''' AND partition = ' || toString(partition) || ' AND mc_seqno = ' || toString(mc_seqno) || '", "topic, partition"
	default:
		all := []*table{blocks, transactions}
		for n := range indexTables {
			all = append(all, &indexTables[n])
		}
		t := all[slices.IndexFunc(all, func(t *table) bool { return t.name == name })]
		var parts []string
		for _, c := range t.columns[:t.key] {
			text := "toString(" + c.name + ")"
			if c.form == formHash {
				text = "'unhex(''' || hex(" + c.name + ") || ''')'"
			}
			parts = append(parts, c.name+" = ' || "+text+" || '")
		}
		key, order = strings.Join(parts, " AND "), t.keyNames()
	}
	var where string
	query := fmt.Sprintf("SELECT '%s' FROM %s ORDER BY %s LIMIT 1 OFFSET (SELECT intDiv(count(), 2) FROM %s)", key, name, order, name)
	if err := l.client.Conn().QueryRow(l.Context(), query).Scan(&where); err != nil {
		l.Fatalf("%s: %v", query, err)
	}
	return where
}

// derivedColumns are those, as table.column, that are not stored but computed
// from others.
func (l *tables) derivedColumns() map[string]bool {
	l.Helper()
	rows, err := l.client.Conn().Query(l.Context(),
		"SELECT concat(table, '.', name) FROM system.columns WHERE database = currentDatabase() AND default_kind = 'ALIAS'")
	if err != nil {
		l.Fatal(err)
	}
	defer rows.Close()
	found := map[string]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			l.Fatal(err)
		}
		found[name] = true
	}
	return found
}

func TestEveryDamageIsNamed(t *testing.T) {
	l := load(t, genesis(t), 60, 2)
	derived := l.derivedColumns()
	for _, c := range tamperings() {
		if column, changed := strings.CutPrefix(c.name, "change "); changed && derived[c.table+"."+column] {
			continue // there is nothing to damage
		}
		t.Run(c.table+" "+c.name, func(t *testing.T) {
			sub := *l
			sub.TB = t
			l := &sub
			l.exec(fmt.Sprintf("CREATE TABLE IF NOT EXISTS saved_%s AS %s", c.table, c.table))
			l.exec(fmt.Sprintf("INSERT INTO saved_%s SELECT * FROM %s", c.table, c.table))
			defer func() {
				l.exec("TRUNCATE TABLE " + c.table)
				l.exec(fmt.Sprintf("INSERT INTO %s SELECT * FROM saved_%s SETTINGS insert_deduplicate = 0", c.table, c.table))
				l.exec("DROP TABLE saved_" + c.table)
			}()
			c.run(l, c.table, victim(l, c.table))
			r, err := l.verify(func(o *Options) { o.To, o.Source, o.few = 60, FromIngest(l.source), 20 })
			if !errors.Is(err, ErrDifferent) {
				t.Fatalf("the damage was not found: %v", err)
			}
			for _, check := range r.Checks {
				for _, d := range check.Differences {
					if d.Table == c.table {
						return
					}
				}
			}
			t.Error("the table is not named")
		})
	}
}

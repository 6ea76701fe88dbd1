package verify

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tonscribe/schema/table"
)

// tampering damages one row of a table.
type tampering struct {
	table string
	of    string // a condition that the table's rows of one path meet, empty for any
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

// declared is a table by its name.
func declared(name string) *table.Table {
	return table.All[slices.IndexFunc(table.All, func(t *table.Table) bool { return t.Name == name })]
}

func isKey(t *table.Table, column string) bool { return slices.Contains(t.Key, column) }

// lastOfKey is the last column of a table's key.
func lastOfKey(t *table.Table) table.Column {
	return t.Columns[slices.IndexFunc(t.Columns, func(c table.Column) bool { return c.Name == t.Key[len(t.Key)-1] })]
}

var enumNames = regexp.MustCompile(`'(\w+)' =`)

// otherValue is the expression for another value of a column.
func otherValue(c table.Column) string {
	switch kind, _, _ := strings.Cut(c.Type, "("); {
	case kind == "FixedString":
		return fmt.Sprintf("CAST(concat(char(bitXor(ascii(substring(%s, 1, 1)), 1)), substring(%s, 2)) AS FixedString(32))", c.Name, c.Name)
	case kind == "Enum8":
		names := enumNames.FindAllStringSubmatch(c.Type, 2)
		return fmt.Sprintf("CAST(if(%s = '%s', '%s', '%s'), '%s')", c.Name, names[0][1], names[1][1], names[0][1], strings.ReplaceAll(c.Type, "'", "''"))
	case kind == "Bool":
		return "NOT " + c.Name
	case kind == "Array":
		return "arrayConcat(" + c.Name + ", ['another'])"
	case kind == "String":
		return "concat(" + c.Name + ", '!')"
	case c.Name == "mc_seqno":
		return "mc_seqno - 1" // still in the range
	}
	return c.Name + " + 1"
}

// indexNames are the names of the tables that point at others.
func indexNames() (names []string) {
	for n := range indexTables {
		names = append(names, indexTables[n].Name)
	}
	return names
}

// pathsOf are conditions for the rows of each path of a table.
func pathsOf(t *table.Table) (conditions []string) {
	if c := t.Columns[0]; c.Name == "path" || c.Name == "side" {
		for _, name := range enumNames.FindAllStringSubmatch(c.Type, -1) {
			conditions = append(conditions, fmt.Sprintf("%s = '%s'", c.Name, name[1]))
		}
		return conditions
	}
	return []string{""}
}

func tamperings() []tampering {
	var list []tampering
	add := func(table, name string, run func(*tables, string, string)) {
		list = append(list, tampering{table: table, name: name, run: run})
	}
	for _, name := range append([]string{"blocks", "transactions"}, indexNames()...) {
		t := declared(name)
		for path, of := range pathsOf(t) {
			begin := len(list)
			add(t.Name, "delete", deleteRow)
			add(t.Name, "add", func(l *tables, table, where string) {
				insertChanged(l, table, where, lastOfKey(t).Name, otherValue(lastOfKey(t)))
			})
			for n, c := range t.Columns {
				if c.Record || c.Alias || !long() && n%4 != 0 && n != len(t.Columns)-1 {
					continue
				}
				change := changeColumn(c.Name, otherValue(c), isKey(t, c.Name))
				if t.Name == "transactions" && c.Name == "mc_seqno" {
					change = changeBundle(otherValue(c))
				}
				add(t.Name, "change "+c.Name, change)
			}
			for n := range list[begin:] {
				list[begin+n].of = of
			}
			if path > 0 && !long() { // one damage of each further path, another one each time
				list[begin] = list[begin+path%(len(list)-begin)]
				list = list[:begin+1]
			}
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

// victim gives a condition for a row in the middle of those of a table that meet
// another one.
func victim(l *tables, name, of string) string {
	var key, order string
	from := name
	switch name {
	case "seals":
		key, order = "topic = ''' || topic || ''' AND partition = ' || toString(partition) || ' AND mc_seqno = ' || toString(mc_seqno) || '", "topic = 'headers', topic, partition, mc_seqno" // not one of blocks: then these are blamed
	case "progress":
		key, order = "topic = ''' || topic || ''' AND partition = ' || toString(partition) || ' AND mc_seqno = ' || toString(mc_seqno) || '", "topic, partition"
		from += " FINAL" // older rows of a partition, which are there until they are merged, are nobody's concern
	default:
		t := declared(name)
		key, order = keyText(t), t.KeySQL()
	}
	var where string
	if of == "" {
		of = "1"
	}
	query := fmt.Sprintf("SELECT '%s' FROM %s WHERE %s ORDER BY %s LIMIT 1 OFFSET (SELECT intDiv(count(), 2) FROM %s WHERE %s)", key, from, of, order, from, of)
	if err := l.client.Conn().QueryRow(l.Context(), query).Scan(&where); err != nil {
		l.Fatalf("%s: %v", query, err)
	}
	return of + " AND " + where
}

// keyText is, inside of quotes, an expression for a condition that finds a row.
func keyText(t *table.Table) string {
	var parts []string
	for _, c := range t.Columns {
		text := "toString(" + c.Name + ")"
		switch kind, _, _ := strings.Cut(c.Type, "("); {
		case !isKey(t, c.Name):
			continue
		case kind == "FixedString":
			text = "'unhex(''' || hex(" + c.Name + ") || ''')'"
		case kind == "Enum8":
			text = "'''' || toString(" + c.Name + ") || ''''"
		}
		parts = append(parts, c.Name+" = ' || "+text+" || '")
	}
	return strings.Join(parts, " AND ")
}

// TestEveryDamageIsNamed damages the index tables all at once, in turn along each
// of their paths; those that have no more damage to show must not be blamed.
func TestEveryDamageIsNamed(t *testing.T) {
	l := load(t, genesis(t), 60, 2)
	ofIndexes := map[string][]tampering{}
	rounds := 0
	for _, c := range tamperings() {
		if slices.Contains(indexNames(), c.table) {
			ofIndexes[c.table] = append(ofIndexes[c.table], c)
			rounds = max(rounds, len(ofIndexes[c.table]))
			continue
		}
		t.Run(c.table+" "+c.name, func(t *testing.T) { l.in(t).named(c) })
	}
	for n := range rounds {
		t.Run(fmt.Sprintf("index tables, damage %d", n), func(t *testing.T) {
			var list []tampering
			for _, name := range indexNames() {
				if n < len(ofIndexes[name]) {
					list = append(list, ofIndexes[name][n])
				}
			}
			l := l.in(t)
			named := l.named(list...)
			for _, name := range indexNames() {
				if named[name] && !slices.ContainsFunc(list, func(c tampering) bool { return c.table == name }) {
					t.Errorf("%s is named, but has no damage", name)
				}
			}
		})
	}
}

// withoutFacts leaves out, but in the long form, the checks of what transactions did:
// they name other tables than those of blocks, transactions and their indexes.
func (o *Options) withoutFacts() {
	if !long() {
		o.Without = []string{CheckContracts, CheckTransfers, CheckActions, CheckDocuments, CheckStats}
	}
}

// named does some damage, checks that the tables which have it are named, and
// gives all that are.
func (l *tables) named(list ...tampering) map[string]bool {
	l.Helper()
	for _, c := range list {
		defer l.save(c.table)()
		c.run(l, c.table, victim(l, c.table, c.of))
	}
	r, err := l.verify(func(o *Options) {
		o.To, o.Source, o.few = 60, FromIngest(l.source), 20
		o.withoutFacts()
	})
	if !errors.Is(err, ErrDifferent) {
		l.Fatalf("nothing was found: %v", err)
	}
	named := map[string]bool{}
	for _, check := range r.Checks {
		for _, d := range check.Differences {
			named[d.Table] = true
		}
	}
	for _, c := range list {
		if !named[c.table] {
			l.Errorf("%s, where %s: %s: the table is not named", c.table, c.of, c.name)
		}
	}
	return named
}

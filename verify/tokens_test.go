package verify

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"tonscribe/schema/table"
)

// copiedTables are tables whose rows others make: damage in one of them shows in
// no other one.
func copiedTables() []*table.Table {
	var list []*table.Table
	for _, role := range table.Roles {
		list = append(list, &role.Table)
	}
	return append(list, &table.TransfersByParty.Table, &table.ContractLinks.Table)
}

// baseTables have copies, which damage in them shows in too.
func baseTables() []*table.Table {
	list := []*table.Table{&table.Contracts.Table}
	for _, t := range table.Transfers {
		list = append(list, &t.Table)
	}
	return list
}

// rowOf gives a condition for a row in the middle of a table that has only its
// newest rows.
func (l *tables) rowOf(t *table.Table, filter string) (where string) {
	l.Helper()
	if filter == "" {
		filter = "1"
	}
	query := fmt.Sprintf("SELECT '%s' FROM %s WHERE %s ORDER BY %s LIMIT 1 OFFSET (SELECT intDiv(count(), 2) FROM %s WHERE %s)",
		keyText(t), t.Name, filter, t.KeySQL(), t.Name, filter)
	if err := l.client.Conn().QueryRow(l.Context(), query).Scan(&where); err != nil {
		l.Fatalf("%s: %v", query, err)
	}
	return where
}

// damage is done to one row of a table.
type damage struct {
	name string
	run  func(l *tables, table, where string)
}

// damagesOf are a row that is gone, one that is too many, and another value in
// every column.
func damagesOf(t *table.Table) []damage {
	last := lastOfKey(t)
	list := []damage{
		{"a row is gone", deleteRow},
		{"a row is too many", func(l *tables, table, where string) { insertChanged(l, table, where, last.Name, otherValue(last)) }},
	}
	for _, c := range t.Columns {
		if c.Record {
			continue
		}
		change := changeColumn(c.Name, otherValue(c), isKey(t, c.Name))
		if c.Name == "mc_seqno" {
			change = changeBundle(otherValue(c))
		}
		list = append(list, damage{"another " + c.Name, change})
	}
	return list
}

// save keeps a table as it is, and gives what brings it back.
func (l *tables) save(name string) (restore func()) {
	l.Helper()
	l.exec(fmt.Sprintf("CREATE TABLE saved_%s AS %s", name, name))
	l.exec(fmt.Sprintf("INSERT INTO saved_%s SELECT * FROM %s", name, name))
	return func() {
		l.exec("TRUNCATE TABLE " + name)
		l.exec(fmt.Sprintf("INSERT INTO %s SELECT * FROM saved_%s SETTINGS insert_deduplicate = 0", name, name))
		l.exec("DROP TABLE saved_" + name)
	}
}

// names says that a difference of the table finds the row, as it is or as it was.
func (l *tables) names(r *Report, table, where string) (bool, string) {
	l.Helper()
	said := "nothing"
	for _, check := range r.Checks {
		for _, d := range check.Differences {
			if d.Table != table {
				continue
			}
			said = d.String()
			for _, rows := range []string{table, "saved_" + table} {
				var n uint64
				query := fmt.Sprintf("SELECT count() FROM %s WHERE (%s) AND account_prefix IN (SELECT account_prefix FROM saved_%s WHERE %s)", rows, d.Key, table, where)
				if strings.Contains(where, "account_prefix") && rows == table {
					query = fmt.Sprintf("SELECT count() FROM %s WHERE (%s)", rows, d.Key)
				}
				if err := l.client.Conn().QueryRow(l.Context(), query).Scan(&n); err != nil {
					l.Fatalf("%s: %v", d.Key, err)
				}
				if n > 0 {
					return true, said
				}
			}
		}
	}
	return false, said
}

// only leaves some checks.
func only(checks ...string) func(*Options) {
	return func(o *Options) {
		for _, name := range Checks {
			if !slices.Contains(checks, name) {
				o.Without = append(o.Without, name)
			}
		}
	}
}

func long() bool { return os.Getenv("TONSCRIBE_TEST_LONG") != "" }

// tokenTown is a town whose tables have only their newest rows.
func tokenTown(t testing.TB) *tables {
	transactions := uint64(2500)
	if long() {
		transactions = 6000 // some of which burn jettons
	}
	l := town(t, transactions, 2)
	for _, list := range [][]*table.Table{copiedTables(), baseTables()} {
		for _, table := range list {
			l.exec("OPTIMIZE TABLE " + table.Name + " FINAL")
		}
	}
	return l
}

func TestTokensOfADevnet(t *testing.T) {
	l := tokenTown(t)
	t.Run("are clean", l.cleanTokens)
	t.Run("figures that their rows do not give are found", l.wrongFigures)
	t.Run("damage to a row is named", l.damagedTokens)
	t.Run("codes that are gone are missed", l.lostCodes)
	t.Run("records that cannot be read are named, and checks go on", l.cutRecords)
	t.Run("lies that all tables tell are found", l.lyingTokens)
	t.Run("what depends on the config is no difference", l.answersByConfig)
	t.Run("documents are held against links and tries", l.documents)
}

// in gives the tables for a part of a test.
func (l *tables) in(t *testing.T) *tables {
	part := *l
	part.TB = t
	return &part
}

func (l *tables) cleanTokens(t *testing.T) {
	r, err := l.in(t).verify(func(o *Options) { o.Source = FromIngest(l.source) })
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{CheckContracts, CheckTransfers} {
		if r.check(name).Checked == 0 {
			t.Errorf("check %s looked at nothing", name)
		}
	}
}

func (l *tables) cutRecords(t *testing.T) {
	for _, name := range []string{"transactions", "contracts", "past_contracts", "traces"} {
		t.Run(name, func(t *testing.T) {
			l := l.in(t)
			defer l.save(name)()
			l.exec(fmt.Sprintf("ALTER TABLE %s UPDATE record = substring(record, 1, length(record) - 5) WHERE %s SETTINGS mutations_sync = 1", name, l.rowOf(declared(name), "length(record) > 20")))
			r, err := l.verify(func(o *Options) { o.Without = []string{CheckDocuments, CheckStats} })
			if !errors.Is(err, ErrDifferent) {
				t.Fatalf("the run ended with %v", err)
			}
			if !slices.ContainsFunc(r.Checks, func(c Check) bool { return c.names(name) }) {
				t.Error("the table is not named")
			}
		})
	}
}

// Without its codes no contract can be looked at again: nothing else tells that they are
// gone.
func (l *tables) lostCodes(t *testing.T) {
	l = l.in(t)
	defer l.save("codes")()
	l.exec("TRUNCATE TABLE codes")
	r, err := l.verify(only(CheckLatest))
	if latest := r.check(CheckLatest); !errors.Is(err, ErrDifferent) || !latest.names("codes") {
		t.Errorf("nothing was found: %v", err)
	}
}

func (l *tables) damagedTokens(t *testing.T) {
	l = l.in(t)
	for _, list := range [][]*table.Table{copiedTables(), baseTables()} {
		rounds := 2
		if long() {
			for _, table := range list {
				rounds = max(rounds, len(damagesOf(table)))
			}
		}
		for n := range rounds {
			damageAll(t, l, list, n)
		}
	}
}

// damageAll does the nth damage to a row of each table at once.
func damageAll(t *testing.T, l *tables, list []*table.Table, n int) {
	done, where := map[string]string{}, map[string]string{}
	for _, table := range list {
		damages := damagesOf(table)
		if n >= len(damages) {
			continue
		}
		if rows, err := (&database{l.client}).number(t.Context(), "SELECT count() FROM "+table.Name); err != nil || rows == 0 {
			if err != nil || long() {
				t.Fatalf("table %s has %d rows: %v", table.Name, rows, err)
			}
			continue
		}
		defer l.save(table.Name)()
		where[table.Name], done[table.Name] = l.rowOf(table, ""), damages[n].name
		damages[n].run(l, table.Name, where[table.Name])
	}
	r, err := l.verify(only(CheckContracts, CheckTransfers))
	if !errors.Is(err, ErrDifferent) {
		t.Errorf("nothing was found of %v: %v", done, err)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(done)) {
		if named, said := l.names(r, name, where[name]); !named {
			t.Errorf("%s, where %s: %s: the row is not named, but %s", name, where[name], done[name], said)
		}
	}
}

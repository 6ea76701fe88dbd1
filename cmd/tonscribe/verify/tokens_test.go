package verify

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"tonscribe/schema/record"
)

// copiedTables are tables whose rows others make: damage in one of them shows in
// no other one.
func copiedTables() []*table {
	var list []*table
	for n := range roleTables {
		list = append(list, &roleTables[n].table)
	}
	return append(list, transferTables[jettonBurn], transferTables[nftTransfer], ownersTable, linksTable)
}

// baseTables have copies, which damage in them shows in too.
func baseTables() []*table { return []*table{contractTable, transferTables[jettonTransfer]} }

// Tables that the checks read without a declaration.
var (
	ownersTable = &table{name: "jetton_transfers_by_owner", key: 6, columns: named("owner_workchain owner_prefix lt workchain account_prefix direction " +
		"mc_seqno transaction_mc_seqno now aborted master_workchain master_prefix")}
	linksTable = &table{name: "contract_links", key: 6, columns: named("role key_workchain key_prefix first_mc_seqno workchain account_prefix mc_seqno")}
)

func named(names string) (list []column) {
	for _, name := range strings.Fields(names) {
		list = append(list, column{name: name})
	}
	return list
}

// rowOf gives a condition for a row in the middle of a table that has only its
// newest rows.
func (l *tables) rowOf(t *table, filter string) (where string) {
	l.Helper()
	if filter == "" {
		filter = "1"
	}
	var parts []string
	for _, c := range t.columns[:t.key] {
		text := "toString(" + c.name + ")"
		switch {
		case c.form == formHash:
			text = "'unhex(''' || hex(" + c.name + ") || ''')'"
		case c.name == "role":
			text = "'''' || toString(role) || ''''"
		}
		parts = append(parts, c.name+" = ' || "+text+" || '")
	}
	query := fmt.Sprintf("SELECT '%s' FROM %s WHERE %s ORDER BY %s LIMIT 1 OFFSET (SELECT intDiv(count(), 2) FROM %s WHERE %s)",
		strings.Join(parts, " AND "), t.name, filter, t.keyNames(), t.name, filter)
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
func damagesOf(t *table) []damage {
	other := changes(t)
	for _, c := range t.columns {
		switch {
		case c.form == formText && c.text != "":
			other[c.name] = "arrayConcat(interfaces, ['another'])"
		case c.form == formText:
			other[c.name] = "concat(" + c.name + ", '!')"
		case c.form == formEnum:
			other[c.name] = fmt.Sprintf("CAST(if(toInt8(%s) = 0, 1, 0), 'Enum8(''in_progress'' = 0, ''delivered'' = 1)')", c.name)
		case slices.Contains([]string{"active", "mintable", "unordered", "init"}, c.name):
			other[c.name] = "NOT " + c.name
		case c.name == "direction":
			other[c.name] = "1 - direction"
		case c.name == "role":
			other[c.name] = "if(role = 'signer', 'order', 'signer')"
		}
	}
	last := t.columns[t.key-1].name
	list := []damage{
		{"a row is gone", deleteRow},
		{"a row is too many", func(l *tables, table, where string) { insertChanged(l, table, where, last, other[last]) }},
	}
	for n, c := range t.columns {
		change := changeColumn(c.name, other[c.name], n < t.key)
		if c.name == "mc_seqno" {
			change = changeBundle("mc_seqno - 1")
		}
		list = append(list, damage{"another " + c.name, change})
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
	for _, list := range [][]*table{copiedTables(), baseTables()} {
		for _, table := range list {
			l.exec("OPTIMIZE TABLE " + table.name + " FINAL")
		}
	}
	return l
}

func TestTokensOfADevnet(t *testing.T) {
	l := tokenTown(t)
	t.Run("are clean", l.cleanTokens)
	t.Run("figures that their rows do not give are found", l.wrongFigures)
	t.Run("damage to a row is named", l.damagedTokens)
	t.Run("lies that all tables tell are found", l.lyingTokens)
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

func (l *tables) damagedTokens(t *testing.T) {
	l = l.in(t)
	for _, list := range [][]*table{copiedTables(), baseTables()} {
		rounds := 2
		if long() {
			for _, table := range list {
				rounds = max(rounds, 2+len(table.columns))
			}
		}
		for n := range rounds {
			damageAll(t, l, list, n)
		}
	}
}

// damageAll does the nth damage to a row of each table at once.
func damageAll(t *testing.T, l *tables, list []*table, n int) {
	done, where := map[string]string{}, map[string]string{}
	for _, table := range list {
		damages := damagesOf(table)
		if n >= len(damages) {
			continue
		}
		if rows, err := (&database{l.client}).number(t.Context(), "SELECT count() FROM "+table.name); err != nil || rows == 0 {
			if err != nil || long() {
				t.Fatalf("table %s has %d rows: %v", table.name, rows, err)
			}
			continue
		}
		defer l.save(table.name)()
		where[table.name], done[table.name] = l.rowOf(table, ""), damages[n].name
		damages[n].run(l, table.name, where[table.name])
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

// rewrite changes the record of a row.
func (l *tables) rewrite(table, where string, change func(raw []byte) []byte) {
	l.Helper()
	var raw string
	if err := l.client.Conn().QueryRow(l.Context(), fmt.Sprintf("SELECT record FROM %s WHERE %s", table, where)).Scan(&raw); err != nil {
		l.Fatalf("%s: %v", where, err)
	}
	l.exec(fmt.Sprintf("ALTER TABLE %s UPDATE record = unhex('%x') WHERE %s SETTINGS mutations_sync = 1", table, change([]byte(raw)), where))
}

func (l *tables) rewriteContract(where string, change func(*record.Contract)) {
	l.Helper()
	l.rewrite("contracts", where, func(raw []byte) []byte {
		c := new(record.Contract)
		if err := c.UnmarshalVT(raw); err != nil {
			l.Fatal(err)
		}
		change(c)
		raw, err := c.MarshalVT()
		if err != nil {
			l.Fatal(err)
		}
		return raw
	})
}

func (l *tables) rewriteTransfer(where string, change func(*record.JettonTransfer)) {
	l.Helper()
	for _, table := range []string{"jetton_transfers", "jetton_transfers_by_owner"} {
		l.rewrite(table, where, func(raw []byte) []byte {
			o := new(record.JettonTransfer)
			if err := o.UnmarshalVT(raw); err != nil {
				l.Fatal(err)
			}
			change(o)
			raw, err := o.MarshalVT()
			if err != nil {
				l.Fatal(err)
			}
			return raw
		})
	}
}

// lie is told of a row of a table, in all tables alike.
type lie struct {
	name, check   string
	table, filter string
	says          string // by the check
	tell          func(l *tables, where string)
}

func (l *tables) lyingTokens(t *testing.T) {
	update := func(l *tables, table, set, where string) {
		l.exec(fmt.Sprintf("ALTER TABLE %s UPDATE %s WHERE %s SETTINGS mutations_sync = 1", table, set, where))
	}
	lies := []lie{
		{"another balance", CheckContracts, "jetton_wallets", "active", "jetton_wallet.balance", func(l *tables, where string) {
			l.rewriteContract(where, func(c *record.Contract) { c.JettonWallet.Balance = []byte{1, 2, 3, 4, 5, 6, 7} })
			update(l, "jetton_wallets", "balance = 0x01020304050607", where)
		}},
		{"another owner of an item", CheckContracts, "nft_items", "active AND owner_workchain = 0", "nft_item.owner", func(l *tables, where string) {
			l.rewriteContract(where, func(c *record.Contract) {
				c.NftItem.Owner = bytes.Clone(c.NftItem.Owner)
				c.NftItem.Owner[4] ^= 1
			})
			other := changes(&roleTables[3].table)["owner"]
			update(l, "nft_items", "owner_prefix = bitXor(owner_prefix, 0x0100000000000000), owner = "+other, where)
		}},
		{"another supply", CheckContracts, "jetton_masters", "active", "jetton_master.total_supply", func(l *tables, where string) {
			l.rewriteContract(where, func(c *record.Contract) { c.JettonMaster.TotalSupply = []byte{9} })
			update(l, "jetton_masters", "total_supply = 9", where)
		}},
		{"a master left out everywhere", CheckContracts, "jetton_masters", "active", "get-methods give facts", func(l *tables, where string) {
			deleteRow(l, "contracts", where)
			deleteRow(l, "jetton_masters", where)
		}},
		{"an account with an older state", CheckContracts, "jetton_wallets", "active AND lt > 0", "newest state is of lt", func(l *tables, where string) {
			l.rewriteContract(where, func(c *record.Contract) { c.LastTransLt++ })
			update(l, "contracts", "lt = lt + 1", where)
			update(l, "jetton_wallets", "lt = lt + 1", where)
		}},
		{"other data", CheckContracts, "jetton_wallets", "active", "it was read from code", func(l *tables, where string) {
			l.rewriteContract(where, func(c *record.Contract) { c.DataHash = flip(c.DataHash) })
		}},
		{"another amount of a transfer", CheckTransfers, "jetton_transfers", "delivery = 'delivered'", "amount is 0x07", func(l *tables, where string) {
			l.rewriteTransfer(where, func(o *record.JettonTransfer) { o.Amount = []byte{7} })
			update(l, "jetton_transfers", "amount = 7", where)
		}},
		{"a transfer of another transaction", CheckTransfers, "jetton_transfers", "delivery = 'delivered'", "transaction_hash is", func(l *tables, where string) {
			l.rewriteTransfer(where, func(o *record.JettonTransfer) { o.TransactionHash = flip(o.TransactionHash) })
		}},
		{"a transfer that did not arrive", CheckTransfers, "jetton_transfers", "delivery = 'delivered'", "by the transaction that the message led to it is DELIVERED", func(l *tables, where string) {
			l.rewriteTransfer(where, func(o *record.JettonTransfer) { o.Delivery, o.Receipt = record.Delivery_IN_PROGRESS, nil })
			update(l, "jetton_transfers", "delivery = 'in_progress'", where)
		}},
		{"a transfer received by another transaction", CheckTransfers, "jetton_transfers", "delivery = 'delivered'", "its receipt is not", func(l *tables, where string) {
			l.rewriteTransfer(where, func(o *record.JettonTransfer) { o.Receipt.TransactionHash = flip(o.Receipt.TransactionHash) })
		}},
		{"a transfer that succeeded and is called aborted", CheckTransfers, "jetton_transfers", "delivery = 'delivered'", "aborted is true", func(l *tables, where string) {
			l.rewriteTransfer(where, func(o *record.JettonTransfer) { o.Aborted, o.Delivery, o.Receipt = true, record.Delivery_REFUSED, nil })
			update(l, "jetton_transfers", "aborted = 1, delivery = 'refused'", where)
			update(l, "jetton_transfers_by_owner", "aborted = 1", where)
		}},
		{"a transfer left out everywhere", CheckTransfers, "jetton_transfers", "delivery = 'delivered'", "no row, but the transaction orders it", func(l *tables, where string) {
			deleteRow(l, "jetton_transfers", where)
			deleteRow(l, "jetton_transfers_by_owner", where)
		}},
	}
	for n := range len(lies) / 2 {
		l.tellLies(t, lies[n], lies[n+len(lies)/2])
	}
}

// tellLies tells two that different checks find.
func (l *tables) tellLies(t *testing.T, lies ...lie) {
	t.Helper()
	l = l.in(t)
	for _, name := range []string{"contracts", "jetton_transfers", "jetton_transfers_by_owner", "jetton_wallets", "jetton_masters", "nft_items"} {
		defer l.save(name)()
	}
	for _, c := range lies {
		c.tell(l, l.rowOf(&table{name: c.table, key: keyOf(c.table), columns: named(keyNames(c.table))}, c.filter))
	}
	r, err := l.verify(only(CheckContracts, CheckTransfers))
	if !errors.Is(err, ErrDifferent) {
		t.Errorf("neither %s nor %s was found: %v", lies[0].name, lies[1].name, err)
		return
	}
	for _, c := range lies {
		if !slices.ContainsFunc(r.check(c.check).Differences, func(d Difference) bool { return strings.Contains(d.What, c.says) }) {
			t.Errorf("%s: check %s does not say %q, but %v", c.name, c.check, c.says, r.check(c.check).Differences)
		}
	}
}

func keyNames(table string) string {
	if table == "jetton_transfers" {
		return "lt workchain account_prefix"
	}
	return "workchain account_prefix"
}

func keyOf(table string) int { return len(strings.Fields(keyNames(table))) }

// mergedTables are those whose merges count as changes.
var mergedTables = []string{"accounts", "jetton_wallets"}

// settleFigures makes the ready figures anew until they are of after the last
// change of their tables, and dates the changes back.
func (l *tables) settleFigures() {
	l.Helper()
	for _, name := range mergedTables {
		l.exec("SYSTEM STOP MERGES " + name)
	}
	for n := range statsTables {
		l.refresh(statsTables[n].view)
	}
	l.exec("CREATE TABLE touched_before AS stats_touched")
	l.exec("INSERT INTO touched_before SELECT source, day, touched - INTERVAL 1 DAY FROM stats_touched")
	l.exec("TRUNCATE TABLE stats_touched")
	l.exec("INSERT INTO stats_touched SELECT * FROM touched_before")
	for n := range statsTables {
		f := &statsTables[n]
		v := &verifier{database: &database{l.client}}
		for {
			l.refresh(f.view)
			changed, err := v.changes(l.Context(), f)
			if err != nil {
				l.Fatal(err)
			}
			ran, err := v.lastRun(l.Context(), f)
			if err != nil {
				l.Fatal(err)
			}
			if latest := slices.MaxFunc(slices.Collect(maps.Values(changed)), time.Time.Compare); ran.After(latest) {
				break
			}
		}
	}
}

// refresh makes a view's figures anew, after the run that may be under way.
func (l *tables) refresh(view string) {
	l.Helper()
	for _, statement := range []string{"SYSTEM WAIT VIEW ", "SYSTEM REFRESH VIEW ", "SYSTEM WAIT VIEW "} {
		l.exec(statement + view)
	}
}

func (l *tables) wrongFigures(t *testing.T) {
	l = l.in(t)
	defer func() {
		for _, name := range mergedTables {
			l.exec("SYSTEM START MERGES " + name) // damage is done by them
		}
	}()
	l.settleFigures()
	r, err := l.verify(only(CheckStats))
	if err != nil {
		t.Fatal(err)
	}
	if r.Unsettled > 0 || r.check(CheckStats).Checked == 0 {
		t.Fatalf("%d figures are not settled, %d were checked", r.Unsettled, r.check(CheckStats).Checked)
	}
	for n := range statsTables {
		defer l.save(statsTables[n].table)()
	}
	most := 1
	if long() {
		for n := range statsTables {
			most = max(most, len(statsTables[n].values))
		}
	}
	for round := -1; round < most; round++ {
		damageFigures(t, l, round)
	}
}

// damageFigures changes the figure of a place in the rows of each table, or takes
// all rows away.
func damageFigures(t *testing.T, l *tables, place int) {
	t.Helper()
	says := map[string]string{}
	for n := range statsTables {
		f := &statsTables[n]
		if place >= len(f.values) {
			continue
		}
		l.exec("TRUNCATE TABLE " + f.table)
		says[f.table] = "it has no row"
		if place >= 0 {
			says[f.table] = "it has " + f.values[0]
			l.exec(fmt.Sprintf("INSERT INTO %s SELECT * REPLACE (%s + 1 AS %s) FROM saved_%s SETTINGS insert_deduplicate = 0", f.table, f.values[place], f.values[place], f.table))
		}
	}
	r, err := l.verify(only(CheckStats))
	if !errors.Is(err, ErrDifferent) {
		t.Errorf("place %d: nothing was found: %v", place, err)
		return
	}
	for table, what := range says {
		if !slices.ContainsFunc(r.check(CheckStats).Differences, func(d Difference) bool { return d.Table == table && strings.Contains(d.What, what) }) {
			t.Errorf("table %s, %q: it is not named", table, what)
		}
	}
}

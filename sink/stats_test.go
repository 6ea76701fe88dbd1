package sink

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"strconv"
	"testing"

	"tonscribe/bench/synthetic"
	"tonscribe/internal/clickhouse"
	"tonscribe/schema"
	"tonscribe/schema/migrations"
	"tonscribe/schema/record"
	"tonscribe/test/support/clienttest"
	"tonscribe/test/support/clustertest"
)

const day = 86400

// chainOfDays is what a synthetic chain publishes whose bundles are spread over
// some days.
func chainOfDays(transactions, days int) (all published) {
	rows := synthetic.NewRows(synthetic.RowOptions{Transactions: transactions, Seed: 12})
	source, traces := synthetic.NewTokens(rows), synthetic.NewTraces()
	for n := 0; rows.Made() < transactions; n++ {
		b := rows.Next()
		later := uint32(n % days * day)
		for _, tx := range b.Transactions {
			tx.Now += later
		}
		headers, txs, accounts := b.Records(0, 1)
		contracts := source.Records(b, 1)[0]
		for topic, records := range map[string][]*record.Record{
			schema.Headers.Name: headers, schema.Transactions.Name: txs, schema.Accounts.Name: accounts, schema.Contracts.Name: contracts, schema.Traces.Name: traces.Records(b, 1)[0],
		} {
			all[n%2] = append(all[n%2], part{topic, records})
		}
	}
	return all
}

type part struct {
	topic   string
	records []*record.Record
}

// published is what a chain published, in two batches for each topic.
type published [2][]part

// insert puts all of it into the tables; another name is another batch to
// ClickHouse, so that nothing is recognised.
func (p published) insert(t testing.TB, tables *clickhouse.Client, name string) {
	t.Helper()
	for batch, parts := range p {
		for _, topic := range schema.TableTopics {
			f := newFeed(t, DefaultConfiguration(), topic)
			for _, part := range parts {
				if part.topic == topic.Name {
					addAll(t, f, part.records)
				}
			}
			insertFeed(t, tables, f, name+strconv.Itoa(batch))
		}
	}
}

// each calls a function with every record.
func (p published) each(f func(*record.Record)) {
	for _, parts := range p {
		for _, part := range parts {
			for _, r := range part.records {
				f(r)
			}
		}
	}
}

// refreshStats makes the figures anew.
func refreshStats(t testing.TB, tables *clickhouse.Client) {
	t.Helper()
	for _, view := range []string{"stats_days_view", "stats_jetton_days_view", "stats_jetton_totals_view", "stats_balances_view", "stats_jettons_view", "stats_action_days_view", "stats_pool_days_view"} {
		// The run that the view began by itself may be of a moment when tables of
		// other shards were not there yet.
		_ = tables.Conn().Exec(t.Context(), "SYSTEM WAIT VIEW "+view)
		for _, statement := range []string{"SYSTEM REFRESH VIEW ", "SYSTEM WAIT VIEW "} {
			if err := tables.Conn().Exec(t.Context(), statement+view); err != nil {
				t.Fatal(statement, view, err)
			}
		}
	}
}

// lines reads a statement whose only column is a text.
func lines(t testing.TB, tables *clickhouse.Client, statement string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	var line string
	err := clickhouse.Each(t.Context(), tables.Conn(), statement, nil, func() {
		if found[line] {
			t.Fatalf("twice: %s", line)
		}
		found[line] = true
	}, &line)
	if err != nil {
		t.Fatal(statement, err)
	}
	return found
}

// statements give the figures as lines, and expected makes the same lines from
// what was published.
var statements = map[string]string{
	"days": `SELECT concat(toString(toUInt16(day)), ' ', arrayStringConcat([toString(sum(transactions)), toString(sum(aborted)), toString(sum(accounts)),
		toString(sum(total_fees)), toString(sum(storage_fees)), toString(sum(gas_fees)), toString(sum(action_fees)), toString(sum(forward_fees))], ' '))
		FROM stats_days FINAL GROUP BY day`,
	"jetton days": `SELECT concat(toString(toUInt16(day)), ' ', hex(master), ' ', toString(sum(transfers)), ' ', toString(sum(amount)))
		FROM stats_jetton_days FINAL WHERE transfers > 0 GROUP BY day, master`,
	"balances": `SELECT concat(toString(digits), ' ', toString(sum(accounts)), ' ', toString(sum(balance))) FROM stats_balances GROUP BY digits`,
	"jettons":  `SELECT concat(hex(master), ' ', toString(holders), ' ', toString(wallets), ' ', toString(held)) FROM stats_jettons`,
}

// compareStats holds the figures against what is expected.
func compareStats(t testing.TB, tables *clickhouse.Client, when string, want map[string]map[string]bool) {
	t.Helper()
	for what, statement := range statements {
		got := lines(t, tables, statement)
		if len(want[what]) == 0 {
			t.Errorf("%s: nothing is expected", what)
		}
		for line := range want[what] {
			if !got[line] {
				t.Errorf("%s, %s: %q is missing", when, what, line)
			}
			delete(got, line)
		}
		for line := range got {
			t.Errorf("%s, %s: %q is too much", when, what, line)
		}
	}
}

func (p published) expected() map[string]map[string]bool {
	return map[string]map[string]bool{
		"days": p.expectedDays(), "jetton days": p.expectedJettonDays(), "balances": p.expectedBalances(), "jettons": p.expectedJettons(),
	}
}

func (p published) expectedDays() map[string]bool {
	type figures [8]uint64
	days, active := map[uint32]*figures{}, map[string]bool{}
	p.each(func(r *record.Record) {
		for _, tx := range r.GetTransactions().GetTransactions() {
			d := days[tx.Now/day]
			if d == nil {
				d = new(figures)
				days[tx.Now/day] = d
			}
			d[0]++
			if tx.Aborted {
				d[1]++
			}
			if key := fmt.Sprintf("%d %x", tx.Now/day, tx.Account); !active[key] {
				active[key] = true
				d[2]++
			}
			d[3] += tx.TotalFees
			d[4] += tx.Storage.GetFeesCollected()
			d[5] += tx.Compute.GetGasFees()
			d[6] += tx.Action.GetTotalActionFees()
			d[7] += tx.Action.GetTotalFwdFees()
		}
	})
	want := map[string]bool{}
	for number, d := range days {
		line := fmt.Sprint(number)
		for _, n := range d {
			line += fmt.Sprintf(" %d", n)
		}
		want[line] = true
	}
	return want
}

func (p published) expectedJettonDays() map[string]bool {
	newest := map[string]*record.JettonTransfer{}
	p.each(func(r *record.Record) {
		for _, j := range r.GetContracts().GetJettonTransfers() {
			key := fmt.Sprintf("%x %d", j.SourceWallet, j.Lt)
			if old := newest[key]; old == nil || old.McSeqno <= j.McSeqno {
				newest[key] = j
			}
		}
	})
	transfers, amounts := map[string]int{}, map[string]*big.Int{}
	for _, j := range newest {
		if j.Delivery != record.Delivery_DELIVERED {
			continue
		}
		key := fmt.Sprintf("%d %X", j.Now/day, schema.AccountID(j.Master))
		if amounts[key] == nil {
			amounts[key] = new(big.Int)
		}
		transfers[key]++
		amounts[key].Add(amounts[key], new(big.Int).SetBytes(j.Amount))
	}
	want := map[string]bool{}
	for key, n := range transfers {
		want[fmt.Sprintf("%s %d %s", key, n, amounts[key])] = true
	}
	return want
}

func (p published) expectedBalances() map[string]bool {
	newest := map[string]*record.Account{}
	p.each(func(r *record.Record) {
		for _, a := range r.GetAccounts().GetAccounts() {
			if old := newest[string(a.Account)]; old == nil || old.LastTransLt < a.LastTransLt {
				newest[string(a.Account)] = a
			}
		}
	})
	accounts, sums := map[int]int{}, map[int]*big.Int{}
	for _, a := range newest {
		if a.State.Status == record.AccountStatus_ACCOUNT_NONEXIST {
			continue
		}
		digits := 0
		if a.State.Balance > 0 {
			digits = len(strconv.FormatUint(a.State.Balance, 10))
		}
		if sums[digits] == nil {
			sums[digits] = new(big.Int)
		}
		accounts[digits]++
		sums[digits].Add(sums[digits], new(big.Int).SetUint64(a.State.Balance))
	}
	want := map[string]bool{}
	for digits, n := range accounts {
		want[fmt.Sprintf("%d %d %s", digits, n, sums[digits])] = true
	}
	return want
}

func (p published) expectedJettons() map[string]bool {
	newest := map[string]*record.Contract{}
	p.each(func(r *record.Record) {
		for _, c := range r.GetContracts().GetContracts() {
			if old := newest[string(c.Account)]; c.JettonWallet != nil && (old == nil || old.McSeqno <= c.McSeqno) {
				newest[string(c.Account)] = c
			}
		}
	})
	type figures struct {
		holders, wallets int
		held             *big.Int
	}
	jettons := map[string]*figures{}
	for _, c := range newest {
		master := fmt.Sprintf("%X", schema.AccountID(c.JettonWallet.Master))
		f := jettons[master]
		if f == nil {
			f = &figures{held: new(big.Int)}
			jettons[master] = f
		}
		balance := new(big.Int).SetBytes(c.JettonWallet.Balance)
		f.wallets++
		if balance.Sign() > 0 {
			f.holders++
		}
		f.held.Add(f.held, balance)
	}
	want := map[string]bool{}
	for master, f := range jettons {
		want[fmt.Sprintf("%s %d %d %s", master, f.holders, f.wallets, f.held)] = true
	}
	return want
}

// Figures grow with late batches of any day, and do not change when a batch came
// twice, recognised by nobody, before merges.
func TestFiguresAreExactWhenBatchesComeLateAndTwice(t *testing.T) {
	tables := newTables(t)
	if err := tables.Conn().Exec(t.Context(), "SYSTEM STOP MERGES"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tables.Conn().Exec(context.Background(), "SYSTEM START MERGES"); err != nil {
			t.Error(err)
		}
	})
	all := chainOfDays(6_000, 3)
	half, rest := published{all[0]}, published{1: all[1]}
	for _, step := range []struct {
		name   string
		insert published
		want   map[string]map[string]bool
	}{{"half", half, half.expected()}, {"whole", rest, all.expected()}, {"twice", all, all.expected()}} {
		step.insert.insert(t, tables, step.name)
		refreshStats(t, tables)
		compareStats(t, tables, step.name, step.want)
	}
}

// Where the clock was put back, ready figures of days are of a moment that is yet to come.
func TestFiguresOfDaysFollowTheirRowsWhereTheClockWasPutBack(t *testing.T) {
	tables := newTables(t)
	all, traces := chainOfDays(3_000, 3), markets(40, 3)
	days := []string{"stats_days", "stats_jetton_days", "stats_action_days", "stats_pool_days"}
	published{all[0]}.insert(t, tables, "before")
	insertTraces(t, tables, "before", traces[:20])
	refreshStats(t, tables)
	for _, table := range days {
		if err := tables.Conn().Exec(t.Context(), "INSERT INTO "+table+" SELECT * REPLACE (computed + INTERVAL 2 HOUR AS computed) FROM "+table+" FINAL"); err != nil {
			t.Fatal(err)
		}
	}
	published{1: all[1]}.insert(t, tables, "after")
	insertTraces(t, tables, "after", traces[20:])
	refreshStats(t, tables)
	figuresOf := func(table string) map[string]bool {
		return lines(t, tables, "SELECT toString(tuple(* EXCEPT computed)) FROM "+table+" FINAL")
	}
	for _, table := range days {
		got := figuresOf(table)
		if err := tables.Conn().Exec(t.Context(), "TRUNCATE TABLE "+table); err != nil {
			t.Fatal(err)
		}
		refreshStats(t, tables)
		if want := figuresOf(table); len(want) == 0 || !maps.Equal(got, want) {
			t.Errorf("%s: %v\nwant %v", table, got, want)
		}
	}
}

// A contract may say of itself that it has any number of jettons.
func TestWhatWalletsOfAJettonHoldTogetherDoesNotBeginAnewAtNothing(t *testing.T) {
	tables := newTables(t)
	half := new(big.Int).Lsh(big.NewInt(1), 255)
	most := new(big.Int).Sub(new(big.Int).Lsh(half, 1), big.NewInt(1))
	batch, want := &record.ContractBatch{}, map[string]bool{}
	for master, c := range []struct {
		balances []*big.Int
		held     *big.Int
	}{
		{[]*big.Int{half, half}, most},
		{[]*big.Int{most, most, most}, most},
		{[]*big.Int{half, new(big.Int).Sub(half, big.NewInt(1))}, most},
		{[]*big.Int{half, big.NewInt(5)}, new(big.Int).Add(half, big.NewInt(5))},
		{[]*big.Int{most, big.NewInt(1)}, most},
	} {
		for n, balance := range c.balances {
			batch.Contracts = append(batch.Contracts, &record.Contract{
				Account: accountNumber(100*master + n), McSeqno: 5, FirstMcSeqno: 5, CodeHash: make([]byte, 32),
				JettonWallet: &record.JettonWallet{Master: accountNumber(1000 + master), Owner: accountNumber(2000), Balance: balance.Bytes()},
			})
		}
		want[fmt.Sprintf("%X %d %d %s", schema.AccountID(accountNumber(1000+master)), len(c.balances), len(c.balances), c.held)] = true
	}
	f := newFeed(t, DefaultConfiguration(), schema.Contracts)
	addAll(t, f, []*record.Record{{McSeqno: 5, Content: &record.Record_Contracts{Contracts: batch}}})
	insertFeed(t, tables, f, "wallets")
	refreshStats(t, tables)
	if got := lines(t, tables, statements["jettons"]); !maps.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
}

// On a cluster days and balances add up over the shards, and every shard has all
// jettons.
func TestFiguresOfTwoShardsAreThoseOfOneNode(t *testing.T) {
	engines, dsn := clustertest.Shards(t)
	if err := migrations.Up(t.Context(), dsn, migrations.Options{Cluster: clustertest.Name}); err != nil {
		t.Fatal(err)
	}
	all := chainOfDays(3_000, 3)
	all.insert(t, clienttest.ClickHouse(t, dsn), "all")
	shards := []*clickhouse.Client{clienttest.ClickHouse(t, engines[0].DSN()), clienttest.ClickHouse(t, engines[1].DSN())}
	for _, shard := range shards {
		refreshStats(t, shard)
		var n uint64
		if err := shard.Conn().QueryRow(t.Context(), "SELECT sum(transactions) FROM stats_days_local FINAL").Scan(&n); err != nil || n == 0 || n == 3_000 {
			t.Errorf("%d of 3000 transactions are this shard's, %v", n, err)
		}
	}
	for i, shard := range shards {
		compareStats(t, shard, fmt.Sprintf("asked of shard %d", i), all.expected())
	}
}

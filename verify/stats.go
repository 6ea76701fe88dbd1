package verify

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tonscribe/internal/lifetime"
)

// figures declares a table of ready figures.
type figures struct {
	table, view string
	// where is the expression for the condition that finds a row.
	where  string
	values []string
	// made is the query that makes the figures anew from the rows: the columns of
	// the key and the values.
	key, made string
	// days names the days of its rows in stats_touched; without, the figures are
	// made of the whole table of. With together a row is of many days.
	days, of string
	together bool
	// some is a condition that holds for rows that count: others are as none.
	some string
}

// touchDelay is how long after its last row a day is made anew, in case an insert
// took long.
const touchDelay = 10 * time.Minute

// insertViews is how long the views of an insert may come after its rows.
const insertViews = time.Second

// heldTogether is the sum of balances, or the greatest number where it has more than 256 bits.
const heldTogether = `if(sum(bitShiftRight(r.balance, 128)) + bitShiftRight(sum(bitAnd(r.balance, toUInt256('340282366920938463463374607431768211455'))), 128)
	> toUInt256('340282366920938463463374607431768211455'), bitNot(toUInt256(0)), sum(r.balance))`

const masterWhere = `'master_workchain = ' || toString(master_workchain) || ' AND master = unhex(\'' || hex(master) || '\')'`

var statsTables = []figures{
	{
		table: "stats_days", view: "stats_days_view", where: `'day = \'' || toString(day) || '\''`, key: "day", days: "transactions",
		values: []string{"transactions", "aborted", "accounts", "total_fees", "storage_fees", "gas_fees", "action_fees", "forward_fees"},
		made: `SELECT toDate(toUInt16(intDiv(r.key, 86400))) AS day, count() AS transactions, countIf(aborted) AS aborted,
			uniqExact((workchain, account_prefix)) AS accounts, sum(r.total_fees) AS total_fees, sum(r.storage_fees) AS storage_fees,
			sum(r.gas_fees) AS gas_fees, sum(r.action_fees) AS action_fees, sum(r.forward_fees) AS forward_fees
			FROM transactions_index AS r FINAL WHERE path = 'utime' GROUP BY day`,
	},
	{
		table: "stats_jetton_days", view: "stats_jetton_days_view", where: `'day = \'' || toString(day) || '\' AND ' || ` + masterWhere,
		key: "day, master_workchain, master", days: "jetton_transfers", values: []string{"transfers", "amount"},
		made: `SELECT toDate(toUInt16(intDiv(now, 86400))) AS day, master_workchain, master, countIf(delivery = 'delivered') AS transfers,
			sumIf(r.amount, delivery = 'delivered') AS amount
			FROM jetton_transfers AS r FINAL WHERE master_workchain != -2147483648 GROUP BY day, master_workchain, master`,
	},
	{
		table: "stats_jetton_totals", view: "stats_jetton_totals_view", where: `'since = \'' || toString(since) || '\' AND ' || ` + masterWhere,
		key: "since, master_workchain, master", days: "jetton_transfers", together: true, values: []string{"transfers", "amount"},
		made: `SELECT since, master_workchain, master, countIf(delivery = 'delivered') AS transfers, sumIf(r.amount, delivery = 'delivered') AS amount
			FROM jetton_transfers AS r FINAL
			ARRAY JOIN arrayMap(days -> (SELECT max(toDate(toUInt16(intDiv(now, 86400)))) FROM jetton_transfers WHERE master_workchain != -2147483648) - days + 1, [1, 7, 14, 30, 60, 90, 120, 180, 240, 300, 365]) AS since
			WHERE master_workchain != -2147483648 AND toDate(toUInt16(intDiv(now, 86400))) >= since GROUP BY since, master_workchain, master`,
	},
	{
		table: "stats_action_days", view: "stats_action_days_view", key: "day, type, protocol", days: "actions", values: []string{"actions", "failed"}, some: "actions > 0",
		where: `'day = \'' || toString(day) || '\' AND type = \'' || type || '\' AND protocol = \'' || protocol || '\''`,
		made: `SELECT toDate(toUInt16(intDiv(end_utime, 86400))) AS day, type, protocol, countIf(empty(ancestors)) AS actions, countIf(empty(ancestors) AND NOT success) AS failed
			FROM actions AS r FINAL GROUP BY day, type, protocol`,
	},
	{
		table: "stats_pool_days", view: "stats_pool_days_view", key: "day, protocol, asset, asset_out", days: "actions", values: []string{"swaps", "failed", "amount", "amount_out"}, some: "swaps + failed > 0",
		where: `'day = \'' || toString(day) || '\' AND protocol = \'' || protocol || '\' AND asset = unhex(\'' || hex(asset) || '\') AND asset_out = unhex(\'' || hex(asset_out) || '\')'`,
		made: `SELECT toDate(toUInt16(intDiv(end_utime, 86400))) AS day, protocol, asset, asset_out, countIf(empty(ancestors) AND success) AS swaps, countIf(empty(ancestors) AND NOT success) AS failed,
			sumIf(r.amount, empty(ancestors) AND success) AS amount, sumIf(r.amount_out, empty(ancestors) AND success) AS amount_out
			FROM actions AS r FINAL WHERE type = 'jetton_swap' GROUP BY day, protocol, asset, asset_out`,
	},
	{
		table: "stats_balances", view: "stats_balances_view", where: "'digits = ' || toString(digits)", key: "digits", of: "accounts",
		values: []string{"accounts", "balance"},
		made: `SELECT if(r.balance = 0, 0, length(toString(r.balance)))::UInt8 AS digits, count() AS accounts, sum(toUInt128(r.balance)) AS balance
			FROM accounts AS r FINAL WHERE status != 'nonexist' GROUP BY digits`,
	},
	{
		table: "stats_jettons", view: "stats_jettons_view", where: masterWhere, key: "master_workchain, master", of: "jetton_wallets",
		values: []string{"holders", "wallets", "held"},
		made: `SELECT master_workchain, master, countIf(r.balance > 0) AS holders, count() AS wallets, ` + heldTogether + ` AS held
			FROM jetton_wallets AS r FINAL WHERE active AND master_workchain != -2147483648 GROUP BY master_workchain, master`,
	},
}

// checkStats makes the ready figures anew and compares. Figures whose rows have
// changed since are left to the next run of their view.
func (v *verifier) checkStats(ctx context.Context) error {
	for n := range statsTables {
		if err := v.checkFigures(ctx, &statsTables[n]); err != nil {
			return err
		}
	}
	return nil
}

func (v *verifier) checkFigures(ctx context.Context, f *figures) error {
	ran, err := v.lastRun(ctx, f)
	if err != nil {
		return err
	}
	rows, err := v.number(ctx, "SELECT count() FROM "+f.table+" FINAL")
	if err != nil {
		return err
	}
	v.findings.checked(CheckStats, rows)
	var found []figureDifference
	var d figureDifference
	err = v.each(ctx, f.differences(), nil, []any{&d.where, &d.day, &d.have, &d.want, &d.computed}, func() error {
		if found = append(found, d); len(found) < judgedAtOnce {
			return nil
		}
		defer func() { found = found[:0] }()
		return v.judge(ctx, f, ran, found)
	})
	if err != nil || len(found) == 0 {
		return err
	}
	return v.judge(ctx, f, ran, found)
}

// judgedAtOnce is how many differences of figures are held in memory.
const judgedAtOnce = 10_000

// figureDifference is a ready figure that is not what its rows give.
type figureDifference struct {
	where, day, have, want string
	computed               time.Time
}

// judge tells differences of figures that are to be as their rows are: those of days
// that have not changed since the figures were made. A view last ran at a time.
func (v *verifier) judge(ctx context.Context, f *figures, ran time.Time, found []figureDifference) error {
	// The changes are asked for after the rows: what came while they were read is
	// among them. The views of an insert end a moment after it.
	changed, err := v.changes(ctx, f)
	if err != nil {
		return err
	}
	settled := func(d figureDifference) bool { return later(ran, d.computed).After(changed[d.day]) }
	if slices.ContainsFunc(found, settled) {
		if err := lifetime.Sleep(ctx, insertViews); err != nil {
			return err
		}
		if changed, err = v.changes(ctx, f); err != nil {
			return err
		}
	}
	for _, d := range found {
		if settled(d) {
			v.findings.differs(CheckStats, f.table, d.where, "it has %s, its rows give %s", d.have, d.want)
		} else {
			v.findings.count(func(r *Report) { r.Unsettled++ })
		}
	}
	return nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// differences is a query for the rows that differ from what is made anew: where
// they are, their day, what they have, what is made, and when they were made.
func (f *figures) differences() string {
	var text, sums []string
	for _, name := range f.values {
		text = append(text, fmt.Sprintf("'%s ' || toString(%s)", name, name))
		sums = append(sums, fmt.Sprintf("sum(s.%s) AS %s", name, name))
	}
	day := "''"
	if f.days != "" && !f.together {
		day = "toString(day)"
	}
	side := func(side int, computed, from string) string {
		return fmt.Sprintf("SELECT %s AS row, %s AS of_day, %d AS side, arrayStringConcat([%s], ', ') AS text, %s AS at FROM (%s) WHERE %s",
			f.where, day, side, strings.Join(text, ", "), computed, from, cmp.Or(f.some, "1"))
	}
	// On a cluster every shard has its own figures, which add up.
	ready := fmt.Sprintf("SELECT %s, %s, max(s.computed) AS computed FROM %s AS s FINAL GROUP BY %s", f.key, strings.Join(sums, ", "), f.table, f.key)
	return fmt.Sprintf(`SELECT row, any(of_day), if(countIf(side = 0) = 0, 'no row', maxIf(text, side = 0)) AS have,
		if(countIf(side = 1) = 0, 'none', maxIf(text, side = 1)) AS want, max(at) FROM (%s UNION ALL %s) GROUP BY row HAVING have != want ORDER BY row`,
		side(0, "computed", ready), side(1, "toDateTime64(0, 3, 'UTC')", f.made))
}

// changes are the moments up to which a run of the view may have missed rows, by
// day, or of the empty text for a table that is made of all rows at once.
func (v *verifier) changes(ctx context.Context, f *figures) (map[string]time.Time, error) {
	all := map[string]time.Time{}
	var day string
	var at time.Time
	if f.days != "" {
		err := v.each(ctx, "SELECT toString(day), max(touched) FROM stats_touched WHERE source = ? GROUP BY day", []any{f.days}, []any{&day, &at}, func() error {
			if f.together {
				day = ""
			}
			if until := at.Add(touchDelay); until.After(all[day]) {
				all[day] = until
			}
			return nil
		})
		return all, err
	}
	// Merges count too: they change nothing, and then there is the next run.
	err := v.each(ctx, `SELECT '', max(modification_time) FROM system.parts WHERE database = currentDatabase() AND active AND table IN (?, ?)`,
		[]any{f.of, f.of + "_local"}, []any{&day, &at}, func() error {
			all[day] = at.Add(time.Second)
			return nil
		})
	return all, err
}

// lastRun is when a view last began a run that it ended, as far as the engine
// knows: it forgets when it starts anew.
func (v *verifier) lastRun(ctx context.Context, f *figures) (at time.Time, err error) {
	err = v.one(ctx, `SELECT coalesce(max(last_success_time), toDateTime(0)) FROM system.view_refreshes WHERE database = currentDatabase() AND view = ?`,
		[]any{f.view}, &at)
	return at, err
}

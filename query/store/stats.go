package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/ClickHouse/ch-go/proto"

	"tonscribe/query/list"
	"tonscribe/query/list/paging"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/ton/address"
)

// secondsOfDay parts times into days (UTC).
const secondsOfDay = 86400

// DayStats are the figures of a day. Fees are nanotons.
type DayStats struct {
	Day                                uint16 // since 1970
	Transactions, Aborted, Accounts    uint64
	Total, Storage, Gas, Action, Other uint64
	Forward                            uint64
	Computed                           uint32 // when they were computed
}

// DayStats are the days that a range of times touches, and whether there are
// more. With after, the list begins behind that day.
func (s *Store) DayStats(ctx context.Context, span list.Span, page paging.Page, after *uint16) ([]DayStats, bool, error) {
	var c sql.Conditions
	c.Between("toUInt16(day)", span.From/secondsOfDay, span.To/secondsOfDay, 1<<16-1)
	if after != nil {
		c.Add(sql.Compare{Column: "toUInt16(day)", Sign: beyond(page.Descending), Value: *after})
	}
	// On a cluster each shard has a row for the day.
	const sums = "sum(transactions) AS n, sum(aborted) AS n_aborted, sum(accounts) AS n_accounts, sum(total_fees) AS total, " +
		"sum(storage_fees) AS storage, sum(gas_fees) AS gas, sum(action_fees) AS action, sum(forward_fees) AS forward, toUnixTimestamp(min(computed)) AS at"
	statement := fmt.Sprintf("SELECT toUInt16(day) AS d, %s FROM stats_days FINAL WHERE %s GROUP BY d ORDER BY d %s LIMIT %d OFFSET %d",
		sums, c, sql.Direction(page.Descending), page.Limit+1, page.Offset)
	var day proto.ColUInt16
	var at proto.ColUInt32
	var n, aborted, accounts, total, storage, gas, action, forward proto.ColUInt64
	result := proto.Results{
		{Name: "d", Data: &day}, {Name: "n", Data: &n}, {Name: "n_aborted", Data: &aborted}, {Name: "n_accounts", Data: &accounts},
		{Name: "total", Data: &total}, {Name: "storage", Data: &storage}, {Name: "gas", Data: &gas}, {Name: "action", Data: &action},
		{Name: "forward", Data: &forward}, {Name: "at", Data: &at},
	}
	var list []DayStats
	err := s.reader.Run(ctx, "stats_days", statement, result, func(rows int) error {
		for i := range rows {
			list = append(list, DayStats{
				Day: day[i], Transactions: n[i], Aborted: aborted[i], Accounts: accounts[i], Total: total[i], Storage: storage[i], Gas: gas[i],
				Action: action[i], Other: total[i] - min(total[i], storage[i]+gas[i]+action[i]), Forward: forward[i], Computed: at[i],
			})
		}
		return nil
	})
	return cut(list, page.Limit), len(list) > page.Limit, err
}

// beyond is the comparison with the last row of the page before.
func beyond(descending bool) string {
	if descending {
		return "<"
	}
	return ">"
}

func cut[T any](list []T, limit int) []T { return list[:min(len(list), limit)] }

// BalanceStats are the figures of the accounts whose balance in nanotons has a
// number of digits; 0 digits stands for a balance of 0.
type BalanceStats struct {
	Digits   uint8
	Accounts uint64
	Balance  string // decimal
	Computed uint32
}

// BalanceStats are all of them that there are accounts for, poorest first.
func (s *Store) BalanceStats(ctx context.Context) (list []BalanceStats, err error) {
	const statement = "SELECT digits, sum(accounts) AS n, toString(sum(balance)) AS amount, toUnixTimestamp(min(computed)) AS at " +
		"FROM stats_balances GROUP BY digits ORDER BY digits"
	var digits proto.ColUInt8
	var n proto.ColUInt64
	var amount proto.ColStr
	var at proto.ColUInt32
	result := proto.Results{{Name: "digits", Data: &digits}, {Name: "n", Data: &n}, {Name: "amount", Data: &amount}, {Name: "at", Data: &at}}
	err = s.reader.Run(ctx, "stats_balances", statement, result, func(rows int) error {
		for i := range rows {
			list = append(list, BalanceStats{digits[i], n[i], amount.Row(i), at[i]})
		}
		return nil
	})
	return list, err
}

// JettonStats are the figures of a jetton. Held and Amount are decimals in the
// jetton's units.
type JettonStats struct {
	Master           address.Address
	Holders, Wallets uint64
	Held             string
	Transfers        uint64 // of the last days
	Amount           string
	Computed         uint32
}

// JettonStatsKey is the place of a jetton in a ranking.
type JettonStatsKey struct {
	Number uint64
	Master address.Address
}

// JettonStats is a page of the jettons, those with the most holders first, or
// those with the most transfers from a day on; and whether there are more. Both
// figures are filled.
func (s *Store) JettonStats(ctx context.Context, byTransfers bool, from uint16, page paging.Page, after *JettonStatsKey) ([]JettonStats, bool, error) {
	read, complete := s.jettonsByHolders, s.addTransfers
	if byTransfers {
		read, complete = s.jettonsByTransfers, s.addHolders
	}
	list, err := read(ctx, from, page, after)
	if err != nil {
		return nil, false, err
	}
	more := len(list) > page.Limit
	if list = cut(list, page.Limit); len(list) == 0 {
		return nil, false, nil
	}
	return list, more, complete(ctx, from, list)
}

// behind is the condition on the rows behind a place, on a number that falls and
// a master that falls.
func (k *JettonStatsKey) behind(number string) sql.Text {
	return sql.Text(fmt.Sprintf("(%s, master_workchain, master) < (%d, %d, unhex('%X'))", number, k.Number, schema.Workchain(k.Master[:]), k.Master[4:]))
}

func (s *Store) jettonsByHolders(ctx context.Context, _ uint16, page paging.Page, after *JettonStatsKey) ([]JettonStats, error) {
	var c sql.Conditions
	if after != nil {
		c.Add(sql.AtMost("holders", after.Number), after.behind("holders"))
	}
	return s.holders(ctx, fmt.Sprintf("WHERE %s ORDER BY holders DESC, master_workchain DESC, master DESC LIMIT %d OFFSET %d", c, page.Limit+1, page.Offset))
}

func (s *Store) holders(ctx context.Context, rest string) (list []JettonStats, err error) {
	var workchain proto.ColInt32
	master := proto.ColFixedStr{Size: 32}
	var holders, wallets proto.ColUInt64
	var held proto.ColStr
	var at proto.ColUInt32
	result := proto.Results{
		{Name: "master_workchain", Data: &workchain}, {Name: "master", Data: &master}, {Name: "holders", Data: &holders},
		{Name: "wallets", Data: &wallets}, {Name: "amount", Data: &held}, {Name: "at", Data: &at},
	}
	statement := "SELECT master_workchain, master, holders, wallets, toString(held) AS amount, toUnixTimestamp(computed) AS at FROM stats_jettons " + rest
	err = s.reader.Run(ctx, "stats_jettons", statement, result, func(rows int) error {
		for i := range rows {
			list = append(list, JettonStats{
				Master: address.New(workchain[i], master.Row(i)), Holders: holders[i], Wallets: wallets[i], Held: held.Row(i), Amount: "0", Computed: at[i],
			})
		}
		return nil
	})
	return list, err
}

// totalDays are how many days the totals of stats_jetton_totals are of.
var totalDays = [...]uint16{1, 7, 14, 30, 60, 90, 120, 180, 240, 300, 365}

// totals is the day whose totals are the nearest to those since another one; 0
// when there are none.
func (s *Store) totals(ctx context.Context, from uint16) (since uint16, err error) {
	var last proto.ColUInt16
	err = s.reader.Run(ctx, "stats_jetton_totals", "SELECT toUInt16(since) AS last FROM stats_jetton_totals ORDER BY since DESC LIMIT 1 SETTINGS "+sql.SmallBlocks(1),
		proto.Results{{Name: "last", Data: &last}}, func(rows int) error {
			for i := range rows {
				for _, days := range totalDays {
					day := last[i] - min(last[i], days-1)
					if since == 0 || apart(day, from) < apart(since, from) {
						since = day
					}
				}
			}
			return nil
		})
	return since, err
}

func apart(a, b uint16) uint16 { return max(a, b) - min(a, b) }

func (s *Store) jettonsByTransfers(ctx context.Context, from uint16, page paging.Page, after *JettonStatsKey) ([]JettonStats, error) {
	since, err := s.totals(ctx, from)
	if err != nil || since == 0 {
		return nil, err
	}
	limit := page.Limit + 1
	rest := fmt.Sprintf("ORDER BY n DESC, master_workchain DESC, master DESC LIMIT %d OFFSET %d", limit, page.Offset)
	if since != from {
		having := "n > 0"
		if after != nil {
			having += " AND " + after.behind("n").String()
		}
		return s.transfers(ctx, totalsBeside(since, from, "1")+" HAVING "+having+" "+rest)
	}
	c := sql.Conditions{sql.Text(fmt.Sprintf("since = toDate(%d)", since)), sql.Above("transfers", 0)}
	if after != nil {
		c.Add(sql.AtMost("transfers", after.Number), after.behind("transfers"))
	}
	return s.transfers(ctx, fmt.Sprintf("%s WHERE %s ORDER BY since DESC, transfers DESC, master_workchain DESC, master DESC LIMIT %d OFFSET %d SETTINGS %s",
		readyTotals, c, limit, page.Offset, sql.SmallBlocks(limit+page.Offset)))
}

const readyTotals = "SELECT master_workchain, master, transfers AS n, toString(amount) AS moved, toUnixTimestamp(computed) AS at FROM stats_jetton_totals"

// totalsBeside makes totals since a day from those since another one and the days
// between; they are of the masters that a condition holds for. Figures of days may be newer
// than totals: what is left when more is taken away than is there is nothing.
func totalsBeside(since, from uint16, masters string) string {
	sign, first, last := "1", from, since
	if since < from {
		sign, first, last = "-1", since, from
	}
	return fmt.Sprintf("SELECT master_workchain, master, toUInt64(greatest(sum(sign * toInt64(transfers)), 0)) AS n, "+
		"toString(toUInt256(sumIf(amount, sign > 0) - least(sumIf(amount, sign > 0), sumIf(amount, sign < 0)))) AS moved, "+
		"toUnixTimestamp(max(computed)) AS at FROM (SELECT 1 AS sign, master_workchain, master, transfers, amount, computed FROM stats_jetton_totals WHERE since = toDate(%[2]d) AND %[5]s "+
		"UNION ALL SELECT %[1]s AS sign, master_workchain, master, transfers, amount, computed FROM stats_jetton_days FINAL WHERE day >= toDate(%[3]d) AND day < toDate(%[4]d) AND %[5]s) "+
		"GROUP BY master_workchain, master", sign, since, first, last, masters)
}

// transfers runs a statement that selects masters, n, moved and at.
func (s *Store) transfers(ctx context.Context, statement string) (list []JettonStats, err error) {
	var workchain proto.ColInt32
	master := proto.ColFixedStr{Size: 32}
	var n proto.ColUInt64
	var amount proto.ColStr
	var at proto.ColUInt32
	result := proto.Results{
		{Name: "master_workchain", Data: &workchain}, {Name: "master", Data: &master}, {Name: "n", Data: &n},
		{Name: "moved", Data: &amount}, {Name: "at", Data: &at},
	}
	err = s.reader.Run(ctx, "stats_jetton_totals", statement, result, func(rows int) error {
		for i := range rows {
			list = append(list, JettonStats{
				Master: address.New(workchain[i], master.Row(i)), Transfers: n[i], Amount: amount.Row(i), Held: "0", Computed: at[i],
			})
		}
		return nil
	})
	return list, err
}

// addTransfers fills the transfers of a page.
func (s *Store) addTransfers(ctx context.Context, from uint16, list []JettonStats) error {
	since, err := s.totals(ctx, from)
	if err != nil || since == 0 {
		return err
	}
	statement := totalsBeside(since, from, mastersOf(list))
	if since == from {
		statement = fmt.Sprintf("%s WHERE since = toDate(%d) AND %s", readyTotals, since, mastersOf(list))
	}
	found, err := s.transfers(ctx, statement)
	return complete(list, found, err, func(j *JettonStats, f JettonStats) { j.Transfers, j.Amount = f.Transfers, f.Amount })
}

// addHolders fills the holders of a page.
func (s *Store) addHolders(ctx context.Context, _ uint16, list []JettonStats) error {
	found, err := s.holders(ctx, "WHERE "+mastersOf(list))
	return complete(list, found, err, func(j *JettonStats, f JettonStats) { j.Holders, j.Wallets, j.Held = f.Holders, f.Wallets, f.Held })
}

func complete(list, found []JettonStats, err error, fill func(*JettonStats, JettonStats)) error {
	byMaster := make(map[address.Address]JettonStats, len(found))
	for _, f := range found {
		byMaster[f.Master] = f
	}
	for i := range list {
		if f, ok := byMaster[list[i].Master]; ok {
			fill(&list[i], f)
		}
	}
	return err
}

func mastersOf(list []JettonStats) string {
	var b strings.Builder
	b.WriteString("(master_workchain, master) IN (")
	for i, j := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "(%d, unhex('%X'))", schema.Workchain(j.Master[:]), j.Master[4:])
	}
	b.WriteByte(')')
	return b.String()
}

package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/ClickHouse/ch-go/proto"

	"tonscribe/internal/clickhouse"
	"tonscribe/query/head"
	"tonscribe/query/list/paging"
	"tonscribe/query/list/plan"
	"tonscribe/query/memory"
	"tonscribe/query/reader"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/table"
	"tonscribe/ton/address"
)

// Balance is what an account has, in nanotons.
type Balance struct {
	Account address.Address
	Amount  uint64
}

// compare is the order of a ranking: richest first.
func (b Balance) compare(c Balance) int {
	return cmp.Or(cmp.Compare(c.Amount, b.Amount), paging.CompareAddresses(c.Account, b.Account))
}

// ranking remembers the richest accounts as of a watermark.
type ranking struct {
	turn      chan struct{} // held by the one who reads them: others wait for the same answer
	watermark uint32
	tables    uint32 // what these had when it was read
	list      []Balance
	whole     bool // there are no more
}

// follow brings the ranking to a newer view. When the tables have moved on it has to be
// read anew: an older range, or a repair, brings them accounts that no newer bundle has.
func (r *ranking) follow(ctx context.Context, v *head.View) error {
	if r.watermark >= v.Watermark || r.tables != v.Tables || len(r.list) == 0 {
		return nil
	}
	rows, err := heldBalances(ctx, v.Memory.After(r.watermark), nil)
	if err != nil {
		return err
	}
	changed, last := newestOf(rows), r.list[len(r.list)-1]
	r.list = slices.DeleteFunc(r.list, func(b Balance) bool { _, is := changed[b.Account]; return is })
	for _, b := range changed {
		if !b.gone && (r.whole || b.compare(last) <= 0) { // behind the last one there may be others
			r.list = append(r.list, b.Balance)
		}
	}
	slices.SortFunc(r.list, Balance.compare)
	if r.watermark = v.Watermark; len(r.list) > 2*maxRanked {
		r.list, r.whole = slices.Clone(r.list[:maxRanked]), false
	}
	return nil
}

// maxRankRows is how many rows one statement reads at most.
const maxRankRows = 100_000

// minRanked and maxRanked are how many accounts are read at once and held. Each of them is a
// granule of the table, and the ranking is read anew whenever the tables have moved.
const minRanked, maxRanked = 250, 50_000

// TopAccounts are the accounts with the greatest balances from the offset on, or
// after a place in the ranking.
func (s *Store) TopAccounts(ctx context.Context, v *head.View, offset, limit int, after *Balance) ([]Balance, error) {
	need := offset + limit
	if after == nil && need <= maxRanked {
		r := &s.ranking
		select {
		case r.turn <- struct{}{}:
			defer func() { <-r.turn }()
		case <-ctx.Done():
			return nil, clickhouse.ErrBusy
		}
		if err := s.rank(ctx, v, r, need); err != nil {
			return nil, err
		}
		return slices.Clone(r.list[min(offset, len(r.list)):min(need, len(r.list))]), nil
	}
	list, _, err := s.richest(ctx, v, after, need)
	if err != nil {
		return nil, err
	}
	return list[min(offset, len(list)):min(need, len(list))], nil
}

// rank makes the ranking hold enough.
func (s *Store) rank(ctx context.Context, v *head.View, r *ranking, need int) (err error) {
	if err := r.follow(ctx, v); err != nil {
		return err
	}
	if r.watermark == v.Watermark && (r.whole || len(r.list) >= need) {
		return nil
	}
	need = max(need+need/4, minRanked) // deeper pages come next
	list, whole, err := s.richest(s.reader.Filling(ctx, need), v, nil, need)
	if err == nil {
		r.watermark, r.tables, r.list, r.whole = v.Watermark, v.Tables, list, whole
	}
	return err
}

// The words of a row of the ranking. It may be an old one: what the account's newest
// row says counts.
const rankBalance, rankAccount = 0, 1

// rankPlan reads the table in the order of balances.
var rankPlan = func() *plan.Plan {
	columns := []plan.Column{{Name: "balance", At: rankBalance}, {Name: "workchain", At: rankAccount, Type: plan.Int32}, {Name: "account_prefix", At: rankAccount + 1}}
	return &plan.Plan{
		Reads: "ranking", Table: "accounts_by_balance", Columns: columns, Keys: []string{"balance", "workchain", "account_prefix"}, Descending: true, SmallBlocks: true,
		Seek: columns, Order: []plan.Term{{At: rankBalance, Words: 3, Descending: true}},
		Ranges: []plan.Range{{Where: sql.Conditions{sql.Flag{Column: "gone"}}, Projection: "by_balance"}},
	}
}()

// rankRow returns where a balance lies in that order.
func rankRow(b *Balance) plan.Row {
	r := plan.Row{rankBalance: b.Amount, rankAccount + 1: 0}
	r.SetAccount(rankAccount, sql.KeyOf(b.Account[:]))
	return r
}

// richest reads at least need accounts after a place, if there are so many, in
// order. It is whole when they are all.
func (s *Store) richest(ctx context.Context, v *head.View, after *Balance, need int) (list []Balance, whole bool, err error) {
	var from plan.Row
	if after != nil {
		from = rankRow(after)
	}
	for missing, room := need, 16; missing > 0 && !whole; missing = need - len(list) {
		limit := min(missing+missing/8, maxRankRows) + room
		rows, err := rankPlan.Run(ctx, s.reader, rankPlan.Statement(&rankPlan.Ranges[0], from, limit))
		if err != nil {
			return nil, false, err
		}
		held, err := rankPlan.Held(ctx, plan.Source{Memory: v.Memory}, &rankPlan.Ranges[0])
		if err != nil {
			return nil, false, err
		}
		// A row may be there several times: those of the last place are read once
		// more, behind it not all is there.
		whole = len(rows) < limit
		here := func(at plan.Row) bool {
			return (from == nil || rankPlan.Compare(from, at) <= 0) && (whole || rankPlan.Compare(rows[limit-1], at) > 0)
		}
		held = slices.DeleteFunc(held, func(at plan.Row) bool { return !here(at) }) // all that a busy chain has in memory is much more
		some, err := s.balances(ctx, v, append(slices.Clip(rows), held...))
		if err != nil {
			return nil, false, err
		}
		for _, b := range some {
			if here(rankRow(&b)) && (after == nil || after.compare(b) < 0) {
				list = append(list, b)
			}
		}
		if !whole {
			if from != nil && rankPlan.Compare(from, rows[limit-1]) == 0 {
				room *= 2
			}
			from = rows[limit-1]
		}
	}
	slices.SortFunc(list, Balance.compare)
	return slices.Compact(list), whole, nil
}

// balances are those of the accounts that rows lead to, as they are now, without
// accounts that are gone.
func (s *Store) balances(ctx context.Context, v *head.View, rows []plan.Row) ([]Balance, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	list := make([]sql.AccountKey, len(rows))
	for i := range rows {
		list[i] = rows[i].Account(rankAccount)
	}
	slices.SortFunc(list, sql.AccountKey.Compare)
	list = slices.Compact(list)
	read, err := reader.Gather(ctx, reader.Chunks(list, s.reader.Splits(len(list)), sql.AccountKey.Compare), s.balanceRows)
	if err != nil {
		return nil, err
	}
	held, err := heldBalances(ctx, v.Memory, sql.Conditions{sql.AmongKeys(sql.Account, list)})
	if err != nil {
		return nil, err
	}
	newest := newestOf(append(read, held...))
	now := make([]Balance, 0, len(newest))
	for _, r := range newest {
		if !r.gone {
			now = append(now, r.Balance)
		}
	}
	return now, nil
}

// newestOf are the newest rows of accounts.
func newestOf(rows []balanceRow) map[address.Address]balanceRow {
	newest := make(map[address.Address]balanceRow, len(rows))
	for _, r := range rows {
		if old, there := newest[r.Account]; !there || r.version > old.version {
			newest[r.Account] = r
		}
	}
	return newest
}

// balanceRow is a row of an account.
type balanceRow struct {
	Balance
	version uint64
	gone    bool
}

// balanceRows reads all rows of the accounts at some places.
func (s *Store) balanceRows(ctx context.Context, list []sql.AccountKey) (rows []balanceRow, err error) {
	var workchain proto.ColInt32
	account := proto.ColFixedStr{Size: 32}
	var version, balance proto.ColUInt64
	var gone proto.ColBool
	result := proto.Results{{Name: "workchain", Data: &workchain}, {Name: "account", Data: &account}, {Name: "version", Data: &version}, {Name: "balance", Data: &balance}, {Name: "gone", Data: &gone}}
	statement := "SELECT workchain, account, version, balance, gone FROM accounts_by_balance WHERE " + sql.AmongAccounts(sql.Account, list).String() + " SETTINGS optimize_use_projections = 0"
	err = s.reader.Run(ctx, "balances", statement, result, func(n int) error {
		for i := range n {
			rows = append(rows, balanceRow{Balance{address.New(workchain[i], account.Row(i)), balance[i]}, version[i], gone[i]})
		}
		return nil
	})
	return rows, err
}

// heldBalances are the rows in memory that conditions hold for.
func heldBalances(ctx context.Context, bundles memory.Bundles, c sql.Conditions) ([]balanceRow, error) {
	found, err := bundles.Find(ctx, "accounts_by_balance", c)
	if err != nil {
		return nil, err
	}
	rows := make([]balanceRow, len(found))
	for i, f := range found {
		a := new(record.Account)
		if err := a.UnmarshalVT([]byte(f.Source)); err != nil || len(a.Account) != schema.AddressSize {
			return nil, fmt.Errorf("record of an account in memory: %w", err)
		}
		version, _ := table.AccountsByBalance.Place("version")
		rows[i] = balanceRow{Balance{address.Address(a.Account), a.State.GetBalance()}, f.Words[version.At], a.State.GetStatus() == record.AccountStatus_ACCOUNT_NONEXIST}
	}
	return rows, nil
}

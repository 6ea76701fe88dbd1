package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/ClickHouse/ch-go/proto"
	"golang.org/x/sync/errgroup"
)

// Balance is what an account has, in nanotons.
type Balance struct {
	Account Address
	Amount  uint64
}

// compare is the order of a ranking: richest first.
func (b Balance) compare(c Balance) int {
	return cmp.Or(cmp.Compare(c.Amount, b.Amount), compareAddresses(c.Account, b.Account))
}

// ranking remembers the richest accounts as of a watermark.
type ranking struct {
	mutex     sync.Mutex // held while they are read: others wait for the same answer
	watermark uint32
	list      []Balance
	whole     bool // there are no more
}

// leastRanked and mostRanked are how many accounts are read at once and held.
const leastRanked, mostRanked = 2_000, 50_000

// TopAccounts are the accounts with the greatest balances from the offset on, or
// after a place in the ranking.
func (s *Store) TopAccounts(ctx context.Context, v *View, offset, limit int, after *Balance) ([]Balance, error) {
	need := offset + limit
	if after == nil && need <= mostRanked {
		r := &s.ranking
		r.mutex.Lock()
		defer r.mutex.Unlock()
		if err := s.rank(ctx, v, r, need); err != nil {
			return nil, err
		}
		return slices.Clone(r.list[min(offset, len(r.list)):min(need, len(r.list))]), nil
	}
	list, _, err := s.richest(ctx, after, need)
	if err != nil {
		return nil, err
	}
	return list[min(offset, len(list)):min(need, len(list))], nil
}

// rank makes the ranking hold enough.
func (s *Store) rank(ctx context.Context, v *View, r *ranking, need int) (err error) {
	if r.watermark == v.Watermark && (r.whole || len(r.list) >= need) {
		return nil
	}
	list, whole, err := s.richest(ctx, nil, max(need, leastRanked))
	if err == nil {
		r.watermark, r.list, r.whole = v.Watermark, list, whole
	}
	return err
}

// rankRow is a row of the table in the order of balances. It may be an old one:
// what the account's newest row in the class says counts.
type rankRow struct {
	class   uint16
	balance uint64
	account spot
}

func (r *rankRow) compare(b Balance) int {
	return cmp.Or(cmp.Compare(b.Amount, r.balance), spotOf(b.Account[:]).compare(r.account))
}

// richest reads at least need accounts after a place, if there are so many, in
// order. It is whole when they are all.
func (s *Store) richest(ctx context.Context, after *Balance, need int) (list []Balance, whole bool, err error) {
	var from *rankRow
	if after != nil {
		from = &rankRow{balance: after.Amount, account: spotOf(after.Account[:])}
	}
	for missing, room := need, 16; missing > 0 && !whole; missing = need - len(list) {
		limit := min(missing+missing/8, mostRows) + room
		rows, err := s.rankRows(ctx, from, limit)
		if err != nil {
			return nil, false, err
		}
		some, err := s.ranked(ctx, rows)
		if err != nil {
			return nil, false, err
		}
		// A row may be there several times: those of the last place are read once
		// more, behind it not all is there.
		whole = len(rows) < limit
		for _, b := range some {
			if (from == nil || from.compare(b) <= 0) && (whole || rows[limit-1].compare(b) > 0) && (after == nil || after.compare(b) < 0) {
				list = append(list, b)
			}
		}
		if !whole {
			if from != nil && *from == rows[limit-1] {
				room *= 2
			}
			from = &rows[limit-1]
		}
	}
	slices.SortFunc(list, Balance.compare)
	return slices.Compact(list), whole, nil
}

// rankRows reads rows from a place on, the greatest balance first.
func (s *Store) rankRows(ctx context.Context, from *rankRow, limit int) (list []rankRow, err error) {
	c := conditions{isNot("gone")}
	if from != nil {
		a := from.account
		c.add("%s", notBefore(true, []string{"balance", "workchain", "account_prefix"}, []string{fmt.Sprint(from.balance), fmt.Sprint(a.workchain), fmt.Sprint(a.prefix)}))
	}
	statement := fmt.Sprintf("SELECT class, balance, workchain, account_prefix FROM accounts_by_balance WHERE %s ORDER BY balance DESC, workchain DESC, account_prefix DESC LIMIT %d%s", c, limit, inSmallBlocks(limit))
	var class proto.ColUInt16
	var workchain proto.ColInt32
	var balance, prefix proto.ColUInt64
	result := proto.Results{{Name: "class", Data: &class}, {Name: "balance", Data: &balance}, {Name: "workchain", Data: &workchain}, {Name: "account_prefix", Data: &prefix}}
	err = s.run(ctx, "ranking", statement, result, func(rows int) error {
		for i := range rows {
			list = append(list, rankRow{class[i], balance[i], spot{workchain[i], prefix[i]}})
		}
		return nil
	})
	return list, err
}

// mostSpots is how many accounts of a class are asked for by themselves; if there
// are more, the class is read as a whole.
const mostSpots = 2_000

// ranked are the accounts that rows lead to, and others of the same classes, as
// they are now.
func (s *Store) ranked(ctx context.Context, rows []rankRow) ([]Balance, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	first, last := rows[0].class, rows[len(rows)-1].class
	// All of the classes in between are there, of the first and the last some.
	var some [][]rankRow
	low, high := first+1, int(last)-1
	for _, class := range slices.Compact([]uint16{first, last}) {
		at, _ := slices.BinarySearchFunc(rows, class, func(r rankRow, class uint16) int { return cmp.Compare(r.class, class) })
		end := at + sort.Search(len(rows)-at, func(i int) bool { return rows[at+i].class > class })
		switch {
		case end-at <= mostSpots:
			some = append(some, rows[at:end])
		case class == first:
			low = first
			high = max(high, int(first))
		default:
			high = int(last)
		}
	}
	var where []string
	if int(low) <= high {
		where = append(where, fmt.Sprintf("class BETWEEN %d AND %d", low, high))
	}
	for _, part := range some {
		list := make([]spot, len(part))
		for i := range part {
			list[i] = part[i].account
		}
		for _, near := range chunks(list, s.splits(len(list)), spot.compare) {
			where = append(where, fmt.Sprintf("class = %d AND %s", part[0].class, spots(near)))
		}
	}
	return s.balances(ctx, where)
}

// balances reads the accounts of some classes, each once.
func (s *Store) balances(ctx context.Context, where []string) ([]Balance, error) {
	// The newest row of an account counts, whatever its class: one that is gone
	// from its class may be here before the row of its new class is.
	type row struct {
		version uint64
		balance uint64
		gone    bool
	}
	var mutex sync.Mutex
	newest := map[Address]row{}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(mostSplits)
	for _, condition := range where {
		group.Go(func() error {
			var workchain proto.ColInt32
			account := proto.ColFixedStr{Size: 32}
			var version, balance proto.ColUInt64
			var gone proto.ColBool
			result := proto.Results{{Name: "workchain", Data: &workchain}, {Name: "account", Data: &account}, {Name: "version", Data: &version}, {Name: "balance", Data: &balance}, {Name: "gone", Data: &gone}}
			statement := "SELECT workchain, account, version, balance, gone FROM accounts_by_balance WHERE " + condition + " SETTINGS optimize_use_projections = 0"
			return s.run(ctx, "balances", statement, result, func(rows int) error {
				mutex.Lock()
				defer mutex.Unlock()
				for i := range rows {
					a := joinAddress(workchain[i], account.Row(i))
					old, there := newest[a]
					if !there || version[i] > old.version || version[i] == old.version && old.gone {
						newest[a] = row{version[i], balance[i], gone[i]}
					}
				}
				return nil
			})
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	list := make([]Balance, 0, len(newest))
	for a, r := range newest {
		if !r.gone {
			list = append(list, Balance{a, r.balance})
		}
	}
	return list, nil
}

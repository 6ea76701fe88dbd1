package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"tonscribe/schema"
)

// Balance is what an account has, in nanotons.
type Balance struct {
	Account Address
	Amount  uint64
}

// compare is the order of a ranking: richest first.
func (b Balance) compare(c Balance) int {
	return cmp.Or(cmp.Compare(c.Amount, b.Amount), compareAddresses(b.Account, c.Account))
}

// ranking remembers the richest accounts as of a watermark, and how many
// accounts each class of balances had when they were counted last.
type ranking struct {
	mutex     sync.Mutex // held while they are read: others wait for the same answer
	watermark uint32
	list      []Balance
	whole     bool // there are no more
	classes   [schema.BalanceClasses]uint64
	counted   time.Time
}

const (
	// leastRanked and mostRanked are how many accounts are read at once and held.
	leastRanked, mostRanked = 2_000, 50_000
	classesAge              = time.Minute
)

// TopAccounts are the accounts with the greatest balances from the offset on, or
// after a place in the ranking.
func (s *Store) TopAccounts(ctx context.Context, v *View, offset, limit int, after *Balance) ([]Balance, error) {
	r := &s.ranking
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if err := s.countClasses(ctx, r); err != nil {
		return nil, err
	}
	need := offset + limit
	if after == nil && need <= mostRanked {
		if err := s.rank(ctx, v, r, need); err != nil {
			return nil, err
		}
		return slices.Clone(r.list[min(offset, len(r.list)):min(need, len(r.list))]), nil
	}
	list, _, err := s.richest(ctx, r, after, need)
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
	list, whole, err := s.richest(ctx, r, nil, max(need, leastRanked))
	if err == nil {
		r.watermark, r.list, r.whole = v.Watermark, list, whole
	}
	return err
}

// countClasses counts the accounts of every class now and then. Accounts that
// left a class are counted until rows are merged, so a count may be too high,
// and after a minute too low.
func (s *Store) countClasses(ctx context.Context, r *ranking) error {
	if time.Since(r.counted) < classesAge {
		return nil
	}
	var class proto.ColUInt16
	var count proto.ColUInt64
	r.classes = [schema.BalanceClasses]uint64{}
	err := s.run(ctx, "classes", "SELECT class, count() AS n FROM accounts_by_balance GROUP BY class", proto.Results{{Name: "class", Data: &class}, {Name: "n", Data: &count}}, func(rows int) error {
		for i := range rows {
			if int(class[i]) < len(r.classes) {
				r.classes[class[i]] += count[i]
			}
		}
		return nil
	})
	if err == nil {
		r.counted = time.Now()
	}
	return err
}

// richest reads at least need accounts after a place, if there are so many, in
// order. It is whole when they are all.
func (s *Store) richest(ctx context.Context, r *ranking, after *Balance, need int) (list []Balance, whole bool, err error) {
	first := uint16(0)
	if after != nil {
		first = schema.BalanceClass(after.Amount)
	}
	for want := uint64(need) + uint64(need)/4 + 64; ; want *= 4 {
		last, rows := first, uint64(0)
		for ; last < schema.BalanceClasses-1; last++ {
			// Of the first class some are before the place.
			if rows += r.classes[last]; rows >= want && (after == nil || last > first) {
				break
			}
		}
		if list, err = s.classes(ctx, first, last); err != nil {
			return nil, false, err
		}
		slices.SortFunc(list, Balance.compare)
		if after != nil {
			at, found := slices.BinarySearchFunc(list, *after, Balance.compare)
			if found {
				at++
			}
			list = list[at:]
		}
		if whole = last == schema.BalanceClasses-1; whole || len(list) >= need {
			return list, whole, nil
		}
	}
}

// classes reads the accounts of some classes, each once.
func (s *Store) classes(ctx context.Context, first, last uint16) ([]Balance, error) {
	var class proto.ColUInt16
	var workchain proto.ColInt32
	account := proto.ColFixedStr{Size: 32}
	var version, balance proto.ColUInt64
	var gone proto.ColBool
	result := proto.Results{{Name: "class", Data: &class}, {Name: "workchain", Data: &workchain}, {Name: "account", Data: &account}, {Name: "version", Data: &version}, {Name: "balance", Data: &balance}, {Name: "gone", Data: &gone}}
	// The newest row of an account counts, whatever its class: one that is gone
	// from its class may be here before the row of its new class is.
	type row struct {
		version uint64
		balance uint64
		gone    bool
	}
	newest := map[Address]row{}
	statement := fmt.Sprintf("SELECT class, workchain, account, version, balance, gone FROM accounts_by_balance WHERE class BETWEEN %d AND %d", first, last)
	err := s.run(ctx, "balances", statement, result, func(rows int) error {
		for i := range rows {
			a := joinAddress(workchain[i], account.Row(i))
			old, there := newest[a]
			if !there || version[i] > old.version || version[i] == old.version && old.gone {
				newest[a] = row{version[i], balance[i], gone[i]}
			}
		}
		return nil
	})
	if err != nil {
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

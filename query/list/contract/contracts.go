package contract

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tonscribe/query/list/paging"
	"tonscribe/query/list/plan"
	"tonscribe/query/reader"
	"tonscribe/query/sql"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// Number is an unsigned integer of 256 bits, big endian.
type Number = [32]byte

// NumberOf returns a number of a record.
func NumberOf(magnitude []byte) (n Number) {
	if len(magnitude) <= len(n) {
		copy(n[len(n)-len(magnitude):], magnitude)
	}
	return n
}

// Key is a place in a list of contracts; what a list is not ordered by
// is zero.
type Key struct {
	Owner   address.Address
	Parent  address.Address // collection
	Number  Number          // balance or index
	Seqno   uint64          // first bundle, or lt
	Account address.Address
}

// keyField is what a list of contracts can be ordered by.
type keyField uint8

const (
	byOwner keyField = iota
	byParent
	byNumber
	bySeqno
	byAccount
)

// The words of a row that leads to a contract, for each field.
var (
	contractAt    = [...]int{byOwner: 0, byParent: 2, byNumber: 4, bySeqno: 8, byAccount: 9}
	contractWords = [...]int{byOwner: 2, byParent: 2, byNumber: 4, bySeqno: 1, byAccount: 2}
)

func rowOfContract(k *Key) plan.Row {
	r := make(plan.Row, contractAt[byAccount]+contractWords[byAccount])
	r.SetAccount(contractAt[byOwner], sql.KeyOf(k.Owner[:]))
	r.SetAccount(contractAt[byParent], sql.KeyOf(k.Parent[:]))
	r.SetHash(contractAt[byNumber], k.Number[:])
	r[contractAt[bySeqno]] = k.Seqno
	r.SetAccount(contractAt[byAccount], sql.KeyOf(k.Account[:]))
	return r
}

// contractOrder is the order of a list, most significant first; byAccount is
// last.
type contractOrder struct {
	fields     []keyField
	descending bool // all of them but byOwner
}

func (o contractOrder) compare(a, b *Key) (c int) {
	for _, f := range o.fields {
		switch f {
		case byOwner:
			c = paging.CompareAddresses(a.Owner, b.Owner)
		case byParent:
			c = paging.CompareAddresses(a.Parent, b.Parent)
		case byNumber:
			c = bytes.Compare(a.Number[:], b.Number[:])
		case bySeqno:
			c = cmp.Compare(a.Seqno, b.Seqno)
		case byAccount:
			c = paging.CompareAddresses(a.Account, b.Account)
		}
		if o.descending && f != byOwner {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// contractList declares a list of contracts.
type contractList struct {
	table string
	// history is the table that has a row for each time that something became known of a
	// contract, table itself where it is empty.
	history string
	order   contractOrder
	// parent, number and seqno are the columns of the fields that the list can be
	// ordered by; the parent's workchain and prefix have suffixes.
	parent, number, seqno string
	ranges                []plan.Range
	match                 func(*record.Contract) bool
	// keyOf returns a contract's key by its newest facts.
	keyOf func(*record.Contract) Key
	// addresses, when not nil, are all that the list can hold.
	addresses []address.Address
	// whole reports whether the ranges lie in another order.
	whole bool
	// stays reports whether a contract never moves from one range to another, so that
	// its newest row is in its range.
	stays bool
	// fixed reports whether besides all rows of a contract say the same of its place, and
	// of whether it belongs to the list, until it is nothing any more. One that comes
	// back has a place of its own.
	fixed bool
	// further are some that belong to the list and that its ranges do not lead to.
	further []*record.Contract
	// watermark is the newest bundle when a page began to be read, and moved says that one
	// of its contracts was changed by a newer one.
	watermark uint32
	moved     bool
}

// columns returns those of a field.
func (l *contractList) columns(f keyField) []plan.Column {
	at := contractAt[f]
	pair := func(c, d plan.Column) []plan.Column {
		c.At, c.Type, d.At = at, plan.Int32, at+1
		return []plan.Column{c, d}
	}
	switch f {
	case byOwner:
		return pair(plan.Column{Name: "key_of_workchain", OfRange: 1}, plan.Column{Name: "key_of_prefix", OfRange: 2})
	case byParent:
		return pair(plan.Column{Name: "parent_workchain", SQL: l.parent + "_workchain"}, plan.Column{Name: "parent_prefix", SQL: l.parent + "_prefix"})
	case byNumber:
		return []plan.Column{{Name: "number", SQL: l.number, At: at, Type: plan.Uint256}}
	case bySeqno:
		return []plan.Column{{Name: "seqno", SQL: "toUInt64(" + l.seqno + ")", Key: l.seqno, At: at}}
	}
	return pair(plan.Column{Name: "workchain"}, plan.Column{Name: "account_prefix"})
}

// plan reads the ranges by the projections that have them in the list's order.
func (l *contractList) plan() *plan.Plan {
	p := &plan.Plan{
		Reads: "contract keys", Table: l.table, Ranges: l.ranges, Descending: l.order.descending, SmallBlocks: true,
		ByOwner: l.order.fields[0] == byOwner, Outdated: true, Whole: l.whole, Columns: l.columns(byAccount),
	}
	for _, f := range l.order.fields {
		columns := l.columns(f)
		p.Order = append(p.Order, plan.Term{At: contractAt[f], Words: contractWords[f], Descending: l.order.descending && f != byOwner})
		if f != byAccount {
			p.Columns = append(p.Columns, columns...)
		}
		if f == byOwner {
			continue // the range tells
		}
		p.Seek = append(p.Seek, columns...)
		for _, c := range columns {
			p.Keys = append(p.Keys, c.KeyColumn())
		}
	}
	for i := range p.Ranges {
		r := &p.Ranges[i]
		r.Projection = projections[l.table][[2]string{strings.Join(r.Prefix[:min(1, len(r.Prefix))], ""), p.Keys[0]}]
	}
	return p
}

// projections are those that have the ranges of lists in their order, by the first
// column that the rows of a range have in common and the first that they are
// ordered by.
var projections = map[string]map[[2]string]string{
	"jetton_masters": {
		{"", "first_mc_seqno"}:                "by_first",
		{"admin_workchain", "first_mc_seqno"}: "by_admin",
	},
	"jetton_wallets": {
		{"", "first_mc_seqno"}:                 "by_first",
		{"", "balance"}:                        "by_balance",
		{"master_workchain", "first_mc_seqno"}: "by_master",
		{"master_workchain", "balance"}:        "by_master_balance",
		{"owner_workchain", "first_mc_seqno"}:  "by_owner",
		{"owner_workchain", "balance"}:         "by_owner_balance",
	},
	"nft_collections": {
		{"", "first_mc_seqno"}:                "by_first",
		{"owner_workchain", "first_mc_seqno"}: "by_owner",
	},
	"nft_items": {
		{"", "first_mc_seqno"}: "by_first",
		{"", "lt"}:             "by_lt",
		{"collection_workchain", "collection_workchain"}: "by_collection",
		{"collection_workchain", "lt"}:                   "by_collection_lt",
		{"owner_workchain", "collection_workchain"}:      "by_owner",
		{"owner_workchain", "lt"}:                        "by_owner_lt",
		{"seller_workchain", "collection_workchain"}:     "by_seller",
		{"seller_workchain", "lt"}:                       "by_seller_lt",
	},
}

// minDeep is the offset from which on ClickHouse looks for the page instead of
// us reading what is before it.
const minDeep = 200

// Contracts are the newest facts of those of the accounts that are something.
func (l *Lists) Contracts(ctx context.Context, list []address.Address) (map[address.Address]*record.Contract, error) {
	read, err := l.newest.ContractsAt(ctx, l.newest.Memory(), sql.KeysOf(list))
	if err != nil {
		return nil, err
	}
	found := make(map[address.Address]*record.Contract, len(list))
	for _, a := range list { // others may share their keys
		if c := read[a]; c != nil {
			found[a] = c
		}
	}
	return found, nil
}

// maxReadings is how often a page is read while contracts of it change.
const maxReadings = 3

// contractPage is a page of a list, and whether there are more after it. A contract that
// a newer bundle moved behind its rows' back is nowhere: the page is read again.
func (l *Lists) contractPage(ctx context.Context, list *contractList, page paging.Page, after *Key) (found []*record.Contract, more bool, err error) {
	for range maxReadings {
		list.watermark, list.moved = l.newest.Watermark(), false
		if found, more, err = l.readPage(ctx, list, page, after); err != nil || !list.moved {
			break
		}
	}
	return found, more, err
}

func (l *Lists) readPage(ctx context.Context, list *contractList, page paging.Page, after *Key) ([]*record.Contract, bool, error) {
	q := &paging.Query[*record.Contract, Key]{
		Source: plan.Source{Tables: l.reader, Memory: l.newest.Memory()}, RowsOfItem: 1, RowOf: rowOfContract,
		Records: &paging.Records[*record.Contract, Key]{
			Page: page, After: after, Key: list.keyOf, Compare: list.order.compare, Match: list.match,
			Same: func(a, b *record.Contract) bool { return bytes.Equal(a.Account, b.Account) },
		},
	}
	if list.addresses != nil {
		found, err := l.Contracts(ctx, list.addresses)
		if err != nil {
			return nil, false, err
		}
		var candidates []*record.Contract
		for i := range list.addresses {
			if c := found[list.addresses[i]]; c != nil {
				candidates = append(candidates, c)
			}
		}
		page, more := q.All(candidates)
		return page, more, nil
	}
	q.Plan = list.plan()
	q.Read = func(ctx context.Context, items [][]plan.Row) ([]*record.Contract, error) {
		return l.current(ctx, q, list, items)
	}
	switch {
	case after == nil && page.Offset >= minDeep && len(list.ranges) == 1:
		return l.deepContracts(ctx, q, list)
	case len(list.further) == 0:
		return q.Run(ctx)
	}
	// Some of the further ones may come before the page, or in it.
	q.Page = paging.Page{Limit: page.Offset + page.Limit, Descending: page.Descending}
	found, more, err := q.Run(ctx)
	if err != nil {
		return nil, false, err
	}
	q.Page = page
	found, further := q.All(append(found, list.further...))
	return found, more || further, nil
}

// current returns the contracts that rows lead to, as far as they are where the
// rows say.
func (l *Lists) current(ctx context.Context, q *paging.Query[*record.Contract, Key], list *contractList, items [][]plan.Row) ([]*record.Contract, error) {
	keys := make([]sql.AccountKey, len(items))
	for i, item := range items {
		keys[i] = item[0].Account(contractAt[byAccount])
	}
	found, err := l.newest.ContractsAt(ctx, q.Source.Memory, keys)
	if err != nil {
		return nil, err
	}
	byKey := make(map[sql.AccountKey][]*record.Contract, len(found))
	for _, c := range found {
		k := sql.KeyOf(c.Account)
		byKey[k] = append(byKey[k], c)
	}
	var current []*record.Contract
	for i, item := range items {
		for _, c := range byKey[keys[i]] {
			if !list.match(c) {
				continue
			}
			if k := list.keyOf(c); q.Plan.Compare(rowOfContract(&k), item[0]) == 0 {
				current = append(current, c)
			} else if c.McSeqno > list.watermark {
				list.moved = true
			}
		}
	}
	return current, nil
}

// deepContracts is a page that lies deep in a single range.
func (l *Lists) deepContracts(ctx context.Context, q *paging.Query[*record.Contract, Key], list *contractList) ([]*record.Contract, bool, error) {
	page, changed, err := l.changed(ctx, q, list)
	if err != nil {
		return nil, false, err
	}
	page = q.Take(append(page, list.further...))
	// All that is in memory, or further, may come before the page, or behind it.
	skip := min(q.Page.Offset, len(page))
	for offset, want := q.Page.Offset-skip, skip+q.Page.Limit+2; ; {
		rows, err := q.Plan.RunAs(ctx, l.reader, reader.Counting, list.deep(q.Plan, changed, offset, want))
		if err != nil {
			return nil, false, err
		}
		some, err := q.Read(ctx, slices.Collect(slices.Chunk(rows, 1)))
		if err != nil {
			return nil, false, err
		}
		page = q.Take(append(page, some...))
		if len(rows) < want || len(page) > skip+q.Page.Limit {
			page, more := q.Cut(page, skip)
			return page, more, nil
		}
		offset += len(rows)
	}
}

// changed returns what there is of a list in memory, and a condition that leaves out of
// the tables all contracts that are there.
func (l *Lists) changed(ctx context.Context, q *paging.Query[*record.Contract, Key], list *contractList) ([]*record.Contract, sql.Conditions, error) {
	held, err := q.Source.Memory.Find(ctx, list.table, nil)
	if err != nil || len(held) == 0 {
		return nil, nil, err
	}
	of := &plan.Plan{Table: list.table, Columns: list.columns(byAccount)}
	rows, err := of.Held(ctx, q.Source, &plan.Range{})
	if err != nil {
		return nil, nil, err
	}
	accounts := make([]sql.AccountKey, len(rows))
	for i, row := range rows {
		accounts[i] = row.Account(contractAt[byAccount])
	}
	slices.SortFunc(accounts, sql.AccountKey.Compare)
	accounts = slices.Compact(accounts)
	found, err := l.newest.ContractsAt(ctx, q.Source.Memory, accounts)
	return q.Take(slices.Collect(maps.Values(found))), sql.Conditions{sql.Except(sql.AmongKeys(sql.Account, accounts))}, err
}

// deep reads, of the rows that are the newest of their contract and that a further
// condition holds for, limit after offset.
func (l *contractList) deep(p *plan.Plan, further sql.Conditions, offset, limit int) string {
	const account = "workchain, account_prefix"
	r := &p.Ranges[0]
	selected, where := p.Selected(r), append(r.Is(), further...).String()
	none := sql.AccountKey{Workchain: sql.NoWorkchain}
	var names []string // of the result, in the order of the list
	for _, c := range p.Seek {
		names = append(names, c.Name)
	}
	page := fmt.Sprintf(" LIMIT %d OFFSET %d", limit, offset)
	tail := " ORDER BY " + sql.Order(p.Descending, names...) + page
	switch {
	case l.fixed:
		// In the order of the key, so that nothing behind the page is read. A contract that
		// becomes nothing is told of at its place, and has another one when it comes back.
		place, blocks := strings.Join(p.Keys, ", "), plan.Settings(sql.SmallBlocks(limit+offset/8))
		if len(r.Columns) > 0 {
			return fmt.Sprintf("SELECT %s FROM %s WHERE (%s) AND (%[4]s) NOT IN (SELECT %[4]s FROM %[5]s WHERE %[6]s) ORDER BY %[7]s LIMIT 1 BY %[4]s%[8]s%[9]s",
				selected, l.table, where, place, sql.Beside(l.table), none.Is(r.Columns), p.KeyOrder(r), page, blocks)
		}
		return fmt.Sprintf("SELECT * EXCEPT belongs FROM (SELECT %s, %s AS belongs FROM %s WHERE %s ORDER BY %s, mc_seqno DESC LIMIT 1 BY %s) WHERE belongs%s%s",
			selected, r.Where, l.table, further, p.KeyOrder(r), place, page, blocks)
	case l.stays && l.parent == "" && !l.whole:
		values := account
		for _, c := range p.Columns[len(sql.Account):] {
			newest := fmt.Sprintf("argMax(%s, mc_seqno)", c.KeyColumn())
			if c.Key != "" {
				newest = "toUInt64(" + newest + ")"
			}
			values += ", " + newest + " AS " + c.Name
		}
		if len(r.Columns) > 0 { // whoever has no parent any more, too
			further = further.With(sql.Among{Columns: r.Columns, Tuples: [][]any{r.Values, {none.Workchain, none.Prefix}}})
		}
		return fmt.Sprintf("SELECT %s FROM %s WHERE %s GROUP BY %s HAVING argMax(%s, mc_seqno)%s", values, l.table, further, account, r.Is(), tail)
	}
	return fmt.Sprintf("SELECT DISTINCT %[1]s FROM %[2]s WHERE (%[3]s) AND (%[5]s, mc_seqno) IN (SELECT %[5]s, max(mc_seqno) "+
		"FROM %[7]s WHERE (%[5]s) IN (SELECT %[5]s FROM %[6]s WHERE %[3]s) GROUP BY %[5]s)%[4]s",
		selected, l.table, where, tail, account, sql.Beside(l.table), sql.Beside(cmp.Or(l.history, l.table)))
}

// rangesOf are the ranges of some accounts in the columns of a name; without
// accounts it is all that a condition holds for.
func rangesOf(name string, list []address.Address, all ...sql.Condition) []plan.Range {
	if len(list) == 0 {
		return []plan.Range{{Where: all}}
	}
	list = slices.SortedFunc(slices.Values(paging.Somebody(list)), paging.CompareAddresses)
	ranges := make([]plan.Range, len(list))
	columns := sql.AccountColumns(name)
	for i, a := range list {
		ranges[i] = plan.AccountRange(columns, columns, sql.KeyOf(a[:]))
	}
	return ranges
}

// active holds for rows of contracts that are something.
var active = sql.Flag{Column: "active", Value: true}

// restrict adds conditions to ranges.
func restrict(ranges []plan.Range, more ...sql.Condition) {
	for i := range ranges {
		ranges[i].Where.Add(more...)
	}
}

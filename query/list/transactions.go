package list

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"tonscribe/query/head"
	"tonscribe/query/list/paging"
	"tonscribe/query/list/plan"
	"tonscribe/query/reader"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/stored"
)

// TransactionFilter says which transactions are wanted; the zero value and
// Everything mean all.
type TransactionFilter struct {
	Workchain *int32
	Shard     *uint64
	Seqno     *int32
	McSeqno   *int32
	Accounts  []Address
	Hashes    []Hash
	Lt        *uint64
	Utime     Span
	Lts       Span
}

// TransactionKey is the key of a transaction in a list.
type TransactionKey struct {
	Now     uint32
	Lt      uint64
	Account Address
	Hash    Hash
}

// KeyOf returns the key of a transaction.
func KeyOf(tx *record.Transaction) TransactionKey {
	return TransactionKey{tx.Now, tx.Lt, Address(tx.Account), Hash(tx.Hash)}
}

// transactionOrder is the order of a list (contract 2.3, /transactions).
type transactionOrder struct {
	by         sortKey
	descending bool
	// accounts that share their lt: ascending but for the list of one lt.
	accountsDescending bool
}

type sortKey uint8

const (
	byLt sortKey = iota
	byTime
	byHash
)

func (f *TransactionFilter) order(descending bool) transactionOrder {
	switch {
	case f.Lt != nil:
		return transactionOrder{byLt, false, descending}
	case len(f.Hashes) > 0:
		return transactionOrder{byHash, descending, false}
	case f.Utime.Given && f.McSeqno == nil:
		return transactionOrder{byTime, descending, false}
	}
	return transactionOrder{byLt, descending, false}
}

func (o transactionOrder) compare(a, b *TransactionKey) int {
	var c int
	switch o.by {
	case byHash:
		c = bytes.Compare(a.Hash[:], b.Hash[:])
	case byTime:
		c = cmp.Or(cmp.Compare(a.Now, b.Now), cmp.Compare(a.Lt, b.Lt))
	default:
		c = cmp.Compare(a.Lt, b.Lt)
	}
	if o.descending {
		c = -c
	}
	if c != 0 {
		return c
	}
	c = paging.CompareAddresses(a.Account, b.Account)
	if o.accountsDescending {
		c = -c
	}
	return c
}

// matches checks everything against the record itself.
func (f *TransactionFilter) matches(tx *record.Transaction) bool {
	block := tx.GetBlock()
	return (f.Workchain == nil || block.GetWorkchain() == *f.Workchain) &&
		(f.Shard == nil || block.GetShard() == *f.Shard) &&
		(f.Seqno == nil || int64(block.GetSeqno()) == int64(*f.Seqno)) &&
		(f.McSeqno == nil || int64(tx.McSeqno) == int64(*f.McSeqno)) &&
		(f.Lt == nil || tx.Lt == *f.Lt) &&
		f.Utime.Has(uint64(tx.Now)) && f.Lts.Has(tx.Lt) &&
		(len(f.Accounts) == 0 || slices.Contains(f.Accounts, Address(tx.Account))) &&
		(len(f.Hashes) == 0 || slices.Contains(f.Hashes, Hash(tx.Hash)))
}

// impossible reports whether a filter has a value that no row has.
func (f *TransactionFilter) impossible() bool {
	return f.Seqno != nil && *f.Seqno < 0 || f.McSeqno != nil && *f.McSeqno < 0
}

// transactionList declares a list of transactions.
type transactionList struct {
	*paging.Records[*record.Transaction, TransactionKey]
	filter *TransactionFilter
	order  transactionOrder
	view   *View
}

func newTransactionList(v *View, f *TransactionFilter, order transactionOrder, page paging.Page, after *TransactionKey, match func(*record.Transaction) bool) *transactionList {
	return &transactionList{filter: f, order: order, view: v, Records: &paging.Records[*record.Transaction, TransactionKey]{
		Page: page, After: after, Key: KeyOf, Compare: order.compare,
		Match: func(tx *record.Transaction) bool { return tx.McSeqno <= v.Watermark && match(tx) },
		Same:  func(a, b *record.Transaction) bool { return bytes.Equal(a.Hash, b.Hash) },
	}}
}

// Transactions is a page of the list, and whether there are more after it. With
// after, the list begins behind that key.
func (l *Lists) Transactions(ctx context.Context, v *View, f *TransactionFilter, page paging.Page, after *TransactionKey) ([]*record.Transaction, bool, error) {
	if f.impossible() || f.McSeqno != nil && uint32(*f.McSeqno) > v.Watermark {
		return nil, false, nil
	}
	t := newTransactionList(v, f, f.order(page.Descending), page, after, f.matches)
	if found, ok := t.fromHead(); ok {
		l.fromHead.WithLabelValues("transactions").Inc()
		list, more := t.All(found)
		return list, more, nil
	}
	if table, c := t.short(); table != "" {
		return l.shortTransactions(ctx, t, table, c)
	}
	if f.scansShards() {
		narrowed := *f
		t.filter = &narrowed
		if some, err := l.narrow(ctx, v, "transactions", f.Workchain, f.Shard, &narrowed.Utime, &narrowed.Lts); err != nil || !some {
			return nil, false, err
		}
	}
	return l.longTransactions(ctx, t, t.plan())
}

// scansShards reports whether only a workchain or a shard keeps the list from
// being the whole chain's, or that of a range.
func (f *TransactionFilter) scansShards() bool {
	return (f.Workchain != nil || f.Shard != nil) && f.McSeqno == nil && f.Seqno == nil && len(f.Accounts) == 0
}

// short returns the rows of a table that lead to lists that are small and read as a
// whole: those of given hashes or of one lt, and of a bundle that is not longer than
// the page. The table is empty for others.
func (l *transactionList) short() (table string, c sql.Conditions) {
	f := l.filter
	table = "transactions_index"
	switch {
	case f.McSeqno != nil && f.Lt == nil && len(f.Hashes) == 0:
		b := l.view.Head.Bundle(uint32(*f.McSeqno))
		if b == nil || b.Count > l.Page.Offset+l.Page.Limit+2 {
			return "", nil
		}
		c.Add(sql.Is("path", sql.Name("mc_seqno")), sql.Is("key", *f.McSeqno))
	case len(f.Hashes) > 0:
		c = transactionsByHash(f.Hashes)
	case f.Lt != nil && len(f.Accounts) > 0:
		table = "transactions"
		c = sql.AmongAccounts(sql.Account, sql.KeysOf(f.Accounts)).With(sql.Is("lt", *f.Lt))
	case f.Lt != nil:
		c = transactionsByLt().With(sql.Is("lt", *f.Lt))
	default:
		return "", nil
	}
	return table, c
}

// transactionsByHash are the rows of transactions_index that lead to hashes.
func transactionsByHash(hashes []Hash) sql.Conditions {
	return sql.Conditions{sql.Is("path", sql.Name("hash")), sql.Any("key", sql.Prefixes(hashes))}
}

// shortTransactions reads a list as a whole.
func (l *Lists) shortTransactions(ctx context.Context, t *transactionList, table string, c sql.Conditions) ([]*record.Transaction, bool, error) {
	found, err := l.transactionsOf(ctx, t.view, table, c)
	if err != nil {
		return nil, false, err
	}
	list, more := t.All(found)
	return list, more, nil
}

// The words of a row that leads to a transaction: its key in the table, and the
// time in lists by time.
const transactionAt, transactionNow, transactionWords = 0, 4, 5

// RowKey is the key of a row of the table transactions.
type RowKey struct {
	sql.AccountKey
	Lt      uint64
	McSeqno uint32
}

// RowKeyOf returns the key of a transaction's row.
func RowKeyOf(tx *record.Transaction) RowKey {
	return RowKey{sql.KeyOf(tx.Account), tx.Lt, tx.McSeqno}
}

// RowKeyIn returns the key that stands at a word of a row.
func RowKeyIn(r plan.Row, at int) RowKey {
	return RowKey{r.Account(at), r[at+2], uint32(r[at+3])}
}

func (k RowKey) compare(o RowKey) int {
	return cmp.Or(k.AccountKey.Compare(o.AccountKey), cmp.Compare(k.Lt, o.Lt))
}

// RowKeyColumns are the columns of a key that stands at a word of a row.
func RowKeyColumns(at int) []plan.Column {
	return []plan.Column{
		{Name: "workchain", At: at, Type: plan.Int32}, {Name: "account_prefix", At: at + 1}, {Name: "lt", At: at + 2}, {Name: "mc_seqno", At: at + 3, Type: plan.Uint32},
	}
}

func rowOfTransaction(k *TransactionKey) plan.Row {
	r := make(plan.Row, transactionWords)
	r.SetAccount(transactionAt, sql.KeyOf(k.Account[:]))
	r[transactionAt+2], r[transactionNow] = k.Lt, uint64(k.Now)
	return r
}

// transactionsByLt are the rows of transactions_index that have all transactions in
// the order of their lts.
func transactionsByLt() sql.Conditions {
	return sql.Conditions{sql.Is("path", sql.Name("lt")), sql.Is("key", 0)}
}

// planBy is a plan of keys in an order. now is what the table has of the time.
func (l *transactionList) planBy(o transactionOrder, table, now string) *plan.Plan {
	p := &plan.Plan{Reads: "keys", Table: table, Columns: RowKeyColumns(transactionAt), Descending: o.descending, Bundle: "mc_seqno", Watermark: l.view.Tables, Unordered: o != l.order}
	lt := p.Columns[2]
	p.Keys, p.Seek = []string{"lt", "workchain", "account_prefix"}, []plan.Column{lt}
	p.Order = []plan.Term{{At: lt.At, Words: 1, Descending: o.descending}, {At: transactionAt, Words: 2, Descending: false}}
	if o.by == byTime {
		time := plan.Column{Name: "now", Key: now, At: transactionNow, Type: plan.Uint32}
		if now != "now" {
			time.SQL = "toUInt32(" + now + ")"
		}
		p.Columns, p.Keys, p.Seek = append(p.Columns, time), append([]string{now}, p.Keys...), []plan.Column{time, lt}
		p.Order = append([]plan.Term{{At: time.At, Words: 1, Descending: o.descending}}, p.Order...)
	}
	return p
}

// plan reads a list that may be long.
func (l *transactionList) plan() *plan.Plan {
	f := l.filter
	var p *plan.Plan
	r := plan.Range{}
	switch {
	case f.McSeqno != nil || f.Seqno != nil:
		order := l.order
		if order.by == byTime {
			order = transactionOrder{by: byLt, descending: order.descending}
		}
		p = l.planBy(order, "transactions_index", "")
		p.Residual = f.Utime.Given
		l.blockConditions(&r)
	case len(f.Accounts) > 0:
		return l.accountsPlan()
	case f.Utime.Given:
		p = l.planBy(l.order, "transactions_index", "key")
		r.Prefix = []string{"path"}
		r.Where.Add(sql.Is("path", sql.Name("utime")))
		r.Where.Between("key", f.Utime.From, f.Utime.To, 1<<32-1)
		if f.Workchain != nil {
			r.Where.Add(sql.Is("workchain", *f.Workchain))
		}
		if f.Shard != nil {
			// Accounts of a shard; whether it was this one then, the record tells.
			low, high := accountsOf(*f.Shard)
			p.Residual = true
			r.Where.Add(sql.AtLeast("account_prefix", low), sql.AtMost("account_prefix", high))
		}
	default:
		p = l.planBy(l.order, "transactions_index", "")
		r.Prefix = []string{"path", "key"}
		r.Where.Add(transactionsByLt()...)
		l.shardConditions(&r)
	}
	r.Where.Between("lt", f.Lts.From, f.Lts.To, ^uint64(0))
	p.Ranges = []plan.Range{r}
	return p
}

// accountsPlan reads accounts one by one, each in the order of its lt: an account's
// times and lts rise together.
func (l *transactionList) accountsPlan() *plan.Plan {
	f := l.filter
	p := l.planBy(l.order, "transactions", "now")
	p.Keys, p.Unique = []string{"lt"}, true
	if len(f.Accounts) == 1 {
		p.Seek = p.Seek[len(p.Seek)-1:]
		p.Direct = f.Workchain == nil && f.Shard == nil && !f.Utime.Given
	}
	for _, a := range f.Accounts {
		r := plan.AccountRange(sql.Account, sql.Account, sql.KeyOf(a[:]))
		r.Where.Between("now", f.Utime.From, f.Utime.To, 1<<32-1)
		l.shardConditions(&r)
		r.Where.Between("lt", f.Lts.From, f.Lts.To, ^uint64(0))
		p.Ranges = append(p.Ranges, r)
	}
	return p
}

// blockConditions are those of lists that are at most some bundles long.
func (l *transactionList) blockConditions(r *plan.Range) {
	f := l.filter
	r.Where.Add(sql.Is("path", sql.Name("mc_seqno")))
	if f.McSeqno != nil {
		r.Prefix = []string{"path", "key"}
		r.Where.Add(sql.Is("key", *f.McSeqno))
	} else {
		c := blocksByID()
		blockIDConditions(&c, f.Workchain, f.Shard, f.Seqno)
		r.Where.Add(sql.Narrows("key GLOBAL IN (SELECT toUInt64(mc_seqno) FROM blocks_index WHERE " + c.String() + ")"))
	}
	if f.Seqno != nil {
		r.Where.Add(sql.Is("block_seqno", *f.Seqno))
	}
	if len(f.Accounts) > 0 {
		r.Where.Add(sql.AmongAccounts(sql.Account, sql.KeysOf(f.Accounts))...)
	}
	l.shardConditions(r)
}

func (l *transactionList) shardConditions(r *plan.Range) {
	blockIDConditions(&r.Where, l.filter.Workchain, l.filter.Shard, nil)
}

// longTransactions reads a page of a list by a plan.
func (l *Lists) longTransactions(ctx context.Context, t *transactionList, p *plan.Plan) ([]*record.Transaction, bool, error) {
	q := &paging.Query[*record.Transaction, TransactionKey]{
		Records: t.Records, Source: l.source(t.view), Plan: p, RowOf: rowOfTransaction, RowsOfItem: 1, Reads: "transactions", Unpack: unpackTransaction,
		Read: func(ctx context.Context, items [][]plan.Row) ([]*record.Transaction, error) {
			keys := make([]RowKey, len(items))
			for i, item := range items {
				keys[i] = RowKeyIn(item[0], transactionAt)
			}
			return l.TransactionsAt(ctx, t.view, keys)
		},
	}
	if len(p.Ranges) == 1 {
		q.Seek = func(ctx context.Context, items int) (plan.Row, int, error) { return l.seek(ctx, q.Source, p, items) }
	}
	return q.Run(ctx)
}

// seek counts items in ClickHouse: of the first so many rows, the last group and
// the items before it. Rows that are there twice are one item, so the group may
// come earlier than asked for. What is in memory may all come before it.
func (l *Lists) seek(ctx context.Context, s plan.Source, p *plan.Plan, items int) (plan.Row, int, error) {
	held, err := p.Held(ctx, s, &p.Ranges[0])
	if err != nil || items <= len(held) {
		return nil, 0, err
	}
	items -= len(held)
	counted := &plan.Plan{Reads: "offset", Columns: []plan.Column{
		{Name: "now", At: transactionNow, Type: plan.Uint32}, {Name: "lt", At: transactionAt + 2}, {Name: "ties", At: transactionWords}, {Name: "n", At: transactionWords + 1},
	}}
	rows, err := counted.Run(ctx, l.reader, counting(p, items))
	if err != nil || len(rows) == 0 || rows[0][transactionAt+2] == 0 {
		return nil, 0, err
	}
	group, before := rows[0][:transactionWords], int(rows[0][transactionWords+1]-rows[0][transactionWords])
	for _, row := range held {
		if p.Compare(row, group) < 0 && !p.SameGroup(row, group) {
			before++
		}
	}
	return group, before, nil
}

// counting is the statement of seek.
func counting(p *plan.Plan, items int) string {
	last := "max"
	if p.Descending {
		last = "min"
	}
	if p.Unique { // an account's lts are all different
		rows := p.Reading("lt", &p.Ranges[0], nil, items)
		return fmt.Sprintf("SELECT toUInt32(0) AS now, %s(lt) AS lt, toUInt64(1) AS ties, count() AS n FROM (SELECT DISTINCT lt FROM (%s))", last, rows)
	}
	now, lt, group, columns := "toUInt32(0)", "at", "lt", "lt"
	if len(p.Seek) > 1 {
		now, lt, group, columns = "tupleElement(at, 1)", "tupleElement(at, 2)", "(now, lt)", "now, lt"
	}
	return fmt.Sprintf("SELECT %s AS now, %s AS lt, ties, n FROM (SELECT %[3]s(%[4]s) AS at, arg%[5]s(c, %[4]s) AS ties, sum(c) AS n FROM "+
		"(SELECT %[6]s, count() AS c FROM (SELECT DISTINCT %[6]s, workchain, account_prefix FROM (%[7]s)) GROUP BY %[6]s))",
		now, lt, last, group, map[string]string{"min": "Min", "max": "Max"}[last], columns, p.Statement(&p.Ranges[0], nil, items))
}

// transactionsIn are the rows of transactions with some keys.
func transactionsIn(list []RowKey) sql.Conditions {
	among := sql.Among{Columns: strings.Split(sql.TransactionKey, ", ")}
	for _, k := range list {
		among.Tuples = append(among.Tuples, []any{k.Workchain, k.Prefix, k.Lt, k.McSeqno})
	}
	return sql.Conditions{among}
}

// bySource splits keys of transactions into those of the tables and those in memory.
func bySource(v *View, list []RowKey) (tables, memory []RowKey) {
	for _, k := range list {
		if k.McSeqno > v.Tables {
			memory = append(memory, k)
		} else {
			tables = append(tables, k)
		}
	}
	return tables, memory
}

// TransactionsAt reads the records of transactions by their keys.
func (l *Lists) TransactionsAt(ctx context.Context, v *View, list []RowKey) ([]*record.Transaction, error) {
	list, inMemory := bySource(v, list)
	records, err := plan.Records(ctx, v.Memory, "transactions", transactionsIn(inMemory))
	if err != nil {
		return nil, err
	}
	held, err := paging.UnpackAll(records, unpackTransaction)
	if err != nil || len(list) == 0 {
		return held, err
	}
	read, err := reader.Gather(ctx, reader.Chunks(list, l.reader.Splits(2*len(list)), RowKey.compare), func(ctx context.Context, part []RowKey) ([]*record.Transaction, error) {
		return reader.Records(ctx, l.reader, "transactions", sql.TransactionsAt("transactions", transactionsIn(part)), unpackTransaction)
	})
	return append(read, held...), err
}

// transactionsOf reads the transactions that rows of a table lead to.
func (l *Lists) transactionsOf(ctx context.Context, v *View, table string, c sql.Conditions) ([]*record.Transaction, error) {
	held, err := plan.Records(ctx, v.Memory, table, c)
	if err != nil {
		return nil, err
	}
	return paging.ReadRecords(ctx, l.source(v), "transactions", sql.TransactionsAt(table, c), held, unpackTransaction)
}

func unpackTransaction(raw []byte) (*record.Transaction, error) {
	tx := new(record.Transaction)
	err := stored.Unpack(tx, raw)
	if err == nil && (len(tx.Account) != schema.AddressSize || len(tx.Hash) != len(Hash{})) {
		err = fmt.Errorf("account of %d bytes, hash of %d", len(tx.Account), len(tx.Hash))
	}
	return tx, err
}

// fromHead gives all candidates of a list when the head holds enough of it.
func (l *transactionList) fromHead() ([]*record.Transaction, bool) {
	f, h := l.filter, &l.view.Head
	if len(f.Hashes) > 0 || f.Lt != nil {
		return nil, false
	}
	if f.McSeqno != nil {
		b := h.Bundle(uint32(*f.McSeqno))
		if b == nil || b.Transactions == nil {
			return nil, false
		}
		return l.unpack(b.Transactions, 0)
	}
	if len(f.Accounts) > maxSought || f.Seqno != nil || f.Shard != nil || !l.order.descending || !h.Reaches(l.view.Watermark) {
		return nil, false
	}
	return l.newest(h)
}

// maxSought is how many accounts are looked for in the head.
const maxSought = 8

// newest collects from the newest bundle on until nothing older can come before
// the end of the page.
func (l *transactionList) newest(h *head.Head) ([]*record.Transaction, bool) {
	need := l.Page.Offset + l.Page.Limit + 1
	var found []head.Transaction
	for i := len(h.Bundles) - 1; i >= h.WithTransactions; i-- {
		if len(l.filter.Accounts) > 0 && !h.Bundles[i].HasAny(l.filter.Accounts) {
			continue
		}
		for _, t := range h.Bundles[i].Transactions {
			if l.wanted(&t) {
				found = append(found, t)
			}
		}
		if len(found) < need {
			continue
		}
		if l.certain(found, h.TransactionsBefore[i]) >= need {
			slices.SortFunc(found, l.compareHeld)
			return l.unpack(found, need)
		}
	}
	return nil, false
}

// certain counts the rows that nothing older can come before. Rows that share
// the cursor's keys do not count: they may be those before it.
func (l *transactionList) certain(found []head.Transaction, before head.Reach) (n int) {
	for _, t := range found {
		newer := l.order.by == byTime && t.Now > before.Now || l.order.by == byLt && t.Lt > before.Lt
		if newer && (l.After == nil || l.compareHeld(t, head.Transaction{Lt: l.After.Lt, Now: l.After.Now}) > 0) {
			n++
		}
	}
	return n
}

// compareHeld is the order of the list as far as held keys tell it.
func (l *transactionList) compareHeld(a, b head.Transaction) int {
	return -transactionOrder{by: l.order.by}.compare(&TransactionKey{Now: a.Now, Lt: a.Lt}, &TransactionKey{Now: b.Now, Lt: b.Lt})
}

// wanted checks what can be told without the record.
func (l *transactionList) wanted(t *head.Transaction) bool {
	f := l.filter
	if f.Workchain != nil && schema.Workchain(t.Account[:]) != *f.Workchain || !f.Utime.Has(uint64(t.Now)) || !f.Lts.Has(t.Lt) {
		return false
	}
	if len(f.Accounts) > 0 && !slices.Contains(f.Accounts, t.Account) {
		return false
	}
	// Not after the cursor for sure; the rest is checked with the account.
	return l.After == nil || l.compareHeld(*t, head.Transaction{Lt: l.After.Lt, Now: l.After.Now}) >= 0
}

// unpack reads records behind the cursor, need of them and all that share the
// last one's keys; 0 means all.
func (l *transactionList) unpack(held []head.Transaction, need int) ([]*record.Transaction, bool) {
	var list []*record.Transaction
	for i, t := range held {
		if need > 0 && len(list) >= need && l.compareHeld(held[i-1], t) != 0 {
			break
		}
		reader.Yield(i)
		tx, ok := t.Unpack()
		if !ok {
			return nil, false
		}
		if k := KeyOf(tx); l.After == nil || l.order.compare(&k, l.After) > 0 {
			list = append(list, tx)
		}
	}
	return list, true
}

package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ClickHouse/ch-go/proto"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// maxPieces is the most inner selects of one statement; each costs about half a
// millisecond of planning.
const maxPieces = 8

// whole is the statement for lists that are small and read as a whole: those of
// given hashes or of one lt, and of a bundle that is not longer than the page.
// It is empty for others.
func (l *transactionList) whole() string {
	var c conditions
	f, table := l.filter, "transactions_index"
	switch {
	case f.McSeqno != nil && f.Lt == nil && len(f.Hashes) == 0:
		b := l.view.head.bundle(uint32(*f.McSeqno))
		if b == nil || b.count > l.page.Offset+l.page.Limit+2 {
			return ""
		}
		c.add("path = 'mc_seqno' AND key = %d", *f.McSeqno)
	case len(f.Hashes) > 0:
		c.add("path = 'hash' AND key IN (%s)", prefixes(f.Hashes))
	case f.Lt != nil && len(f.Accounts) > 0:
		table = "transactions"
		c.add("%s", accounts("workchain", "account_prefix", f.Accounts))
		c.add("lt = %d", *f.Lt)
	case f.Lt != nil:
		c.add("path = 'lt' AND key = 0 AND lt = %d", *f.Lt)
	default:
		return ""
	}
	return recordsAt(table, c)
}

// transactionPlan is how a list that may be long is read page by page.
type transactionPlan struct {
	table string
	// leading are columns by which the table is ordered before those of the order.
	leading    []string
	now        string // the column of the time
	conditions conditions
	order      transactionOrder // of the rows of table
	accounts   []Address        // read account by account, each in the order of its lt
	// residual says that the table does not have all filters' columns, so rows
	// have to be skipped after reading.
	residual bool
	// direct says that the table is transactions and the record can be read
	// without finding its place first.
	direct bool
}

func (l *transactionList) plan() transactionPlan {
	f := l.filter
	p := transactionPlan{table: "transactions_index", now: "key", order: l.order}
	switch {
	case f.McSeqno != nil || f.Seqno != nil:
		l.blockConditions(&p)
		p.residual = f.Utime.Given
		if p.order.by == byTime {
			p.order = transactionOrder{by: byLt, descending: l.order.descending}
		}
	case len(f.Accounts) > 0:
		p.table, p.now, p.accounts = "transactions", "now", f.Accounts
		p.direct = len(f.Accounts) == 1 && l.page.Offset <= mostDirect && f.Workchain == nil && f.Shard == nil && !f.Utime.Given
		p.conditions.between("now", f.Utime, 1<<32-1)
		l.shardConditions(&p)
	case f.Utime.Given:
		p.leading = []string{"path"}
		p.conditions.add("path = 'utime'")
		p.conditions.between("key", f.Utime, 1<<32-1)
		if f.Workchain != nil {
			p.conditions.add("workchain = %d", *f.Workchain)
		}
		if f.Shard != nil {
			// Accounts of a shard; whether it was this one then, the record tells.
			low, high := accountsOf(*f.Shard)
			p.residual = true
			p.conditions.add("account_prefix >= %d AND account_prefix <= %d", low, high)
		}
	default:
		p.leading = []string{"path", "key"}
		p.conditions.add("path = 'lt' AND key = 0")
		l.shardConditions(&p)
	}
	p.conditions.between("lt", f.Lts, ^uint64(0))
	p.conditions.add("mc_seqno <= %d", l.view.Watermark)
	return p
}

// blockConditions are those of lists that are at most some bundles long.
func (l *transactionList) blockConditions(p *transactionPlan) {
	f := l.filter
	p.conditions.add("path = 'mc_seqno'")
	if f.McSeqno != nil {
		p.leading = []string{"path", "key"}
		p.conditions.add("key = %d", *f.McSeqno)
	} else {
		var c conditions
		c.add("seqno = %d", *f.Seqno)
		if f.Workchain != nil {
			c.add("workchain = %d", *f.Workchain)
		}
		if f.Shard != nil {
			c.add("shard = %d", *f.Shard)
		}
		p.conditions.add("key IN (SELECT toUInt64(mc_seqno) FROM blocks_index WHERE path = 'id' AND key = 0 AND %s)", c)
	}
	if f.Seqno != nil {
		p.conditions.add("block_seqno = %d", *f.Seqno)
	}
	if len(f.Accounts) > 0 {
		p.conditions.add("%s", accounts("workchain", "account_prefix", f.Accounts))
	}
	l.shardConditions(p)
}

func (l *transactionList) shardConditions(p *transactionPlan) {
	if l.filter.Workchain != nil {
		p.conditions.add("workchain = %d", *l.filter.Workchain)
	}
	if l.filter.Shard != nil {
		p.conditions.add("shard = %d", *l.filter.Shard)
	}
}

// key is a row of a table that points to a transaction.
type key struct {
	place
	now uint32 // of lists by time only
}

func (o transactionOrder) keyOf(k TransactionKey) *key {
	return &key{place{schema.Workchain(k.Account[:]), schema.Prefix(k.Account[4:]), k.Lt, 0}, k.Now}
}

// compareKeys is the order as far as keys tell it.
func (o transactionOrder) compareKeys(a, b *key) int {
	c := cmp.Compare(a.lt, b.lt)
	if o.by == byTime {
		c = cmp.Or(cmp.Compare(a.now, b.now), c)
	}
	if o.descending {
		c = -c
	}
	return cmp.Or(c, cmp.Compare(a.workchain, b.workchain), cmp.Compare(a.prefix, b.prefix))
}

func (o transactionOrder) sameGroup(a, b *key) bool {
	return a.lt == b.lt && (o.by != byTime || a.now == b.now)
}

// from is the condition that a row is not before the group of a key.
func (p *transactionPlan) from(k *key) string {
	sign := ">"
	if p.order.descending {
		sign = "<"
	}
	if p.order.by != byTime {
		return fmt.Sprintf("lt %s= %d", sign, k.lt)
	}
	return notBefore(p.order.descending, []string{p.now, "lt"}, []string{fmt.Sprint(k.now), fmt.Sprint(k.lt)})
}

// clause is the order of the table's own key: all columns in one direction.
func (p *transactionPlan) clause() string {
	columns := slices.Clip(p.leading)
	if p.order.by == byTime {
		columns = append(columns, p.now)
	}
	columns = append(columns, "lt", "workchain", "account_prefix")
	d := direction(p.order.descending)
	return strings.Join(columns, " "+d+", ") + " " + d
}

func (p *transactionPlan) columns() string {
	if p.order.by != byTime {
		return placeColumns + ", toUInt32(0) AS now"
	}
	if p.now == "now" {
		return placeColumns + ", now"
	}
	return placeColumns + ", toUInt32(" + p.now + ") AS now"
}

// statement reads limit keys of the list from a group on.
func (p *transactionPlan) statement(from *key, limit int) string {
	c := slices.Clip(p.conditions)
	if from != nil {
		c.add("%s", p.from(from))
	}
	return fmt.Sprintf("SELECT %s FROM %s WHERE %s ORDER BY %s LIMIT %d", p.columns(), p.table, c, p.clause(), limit)
}

// pieces reads keys of several accounts, limit of each, each account's rows by
// themselves. An account's times and lts rise together, so its rows are in the
// order of the list when they are in that of lt.
func (p *transactionPlan) pieces(list []Address, from *key, limit int) string {
	d := direction(p.order.descending)
	pieces := make([]string, len(list))
	for i, a := range list {
		pieces[i] = fmt.Sprintf("SELECT %s FROM transactions WHERE %s ORDER BY workchain %s, account_prefix %s, lt %s LIMIT %d",
			p.columns(), p.accountConditions(a, from), d, d, d, limit)
		if len(list) > 1 {
			pieces[i] = "SELECT * FROM (" + pieces[i] + ")"
		}
	}
	return strings.Join(pieces, " UNION ALL ")
}

// together reads the same of many accounts that have few rows each.
func (p *transactionPlan) together(list []Address, from *key, limit int) string {
	c := append(conditions{accounts("workchain", "account_prefix", list)}, p.conditions...)
	if from != nil {
		c.add("%s", p.from(from))
	}
	d := direction(p.order.descending)
	return fmt.Sprintf("SELECT %s FROM transactions WHERE %s ORDER BY workchain %s, account_prefix %s, lt %s LIMIT %d BY workchain, account_prefix%s",
		p.columns(), c, d, d, d, limit, shortRanges(len(list)))
}

func (p *transactionPlan) accountConditions(a Address, from *key) conditions {
	c := conditions{account("workchain", "account_prefix", a)}
	c = append(c, p.conditions...)
	switch {
	case from == nil:
	case len(p.accounts) > 1:
		c.add("%s", p.from(from))
	case p.order.descending:
		c.add("lt <= %d", from.lt)
	default:
		c.add("lt >= %d", from.lt)
	}
	return c
}

// read reads up to limit keys of the list, in its order but for ties.
func (s *Store) read(ctx context.Context, p *transactionPlan, from *key, limit int) ([]key, error) {
	if len(p.accounts) == 0 {
		return s.keys(ctx, p.statement(from, limit))
	}
	keys, err := readRanges(ctx, p.accounts, func(ctx context.Context, some []Address) ([]key, error) {
		return s.keys(ctx, p.together(some, from, limit))
	}, func(ctx context.Context, some []Address) ([]key, error) {
		return s.keys(ctx, p.pieces(some, from, limit))
	})
	if err != nil {
		return nil, err
	}
	if len(p.accounts) > 1 {
		slices.SortFunc(keys, func(a, b key) int { return p.order.compareKeys(&a, &b) })
	}
	// What some account has behind the limit may come before the rest.
	return keys[:min(limit, len(keys))], nil
}

// keys runs a statement whose columns are those of a key.
func (s *Store) keys(ctx context.Context, statement string) ([]key, error) {
	var list []key
	var workchain proto.ColInt32
	var prefix, lt proto.ColUInt64
	var mcSeqno, now proto.ColUInt32
	result := proto.Results{
		{Name: "workchain", Data: &workchain}, {Name: "account_prefix", Data: &prefix}, {Name: "lt", Data: &lt},
		{Name: "mc_seqno", Data: &mcSeqno}, {Name: "now", Data: &now},
	}
	err := s.run(ctx, "keys", statement, result, func(rows int) error {
		for i := range rows {
			list = append(list, key{place{workchain[i], prefix[i], lt[i], mcSeqno[i]}, now[i]})
		}
		return nil
	})
	return list, err
}

// jump counts items in ClickHouse: of the first so many rows, the last group and
// the items before it. Rows that are there twice are one item, so the group may
// come earlier than asked for.
func (s *Store) jump(ctx context.Context, p *transactionPlan, items int) (*key, int, error) {
	statement := p.jumpStatement(items)
	if len(p.accounts) == 1 {
		statement = p.jumpOfAccount(items)
	}
	var found key
	var before uint64
	var nows proto.ColUInt32
	var lts, ties, n proto.ColUInt64
	result := proto.Results{{Name: "now", Data: &nows}, {Name: "lt", Data: &lts}, {Name: "ties", Data: &ties}, {Name: "n", Data: &n}}
	err := s.run(ctx, "offset", statement, result, func(rows int) error {
		if rows > 0 {
			found.now, found.lt, before = nows[0], lts[0], n[0]-ties[0]
		}
		return nil
	})
	if err != nil || found.lt == 0 {
		return nil, 0, err
	}
	return &found, int(before), nil
}

func (p *transactionPlan) last() string {
	if p.order.descending {
		return "min"
	}
	return "max"
}

// jumpOfAccount uses that an account's lts are all different.
func (p *transactionPlan) jumpOfAccount(items int) string {
	d := direction(p.order.descending)
	rows := fmt.Sprintf("SELECT lt FROM transactions WHERE %s ORDER BY workchain %s, account_prefix %s, lt %s LIMIT %d",
		p.accountConditions(p.accounts[0], nil), d, d, d, items)
	return fmt.Sprintf("SELECT toUInt32(0) AS now, %s(lt) AS lt, toUInt64(1) AS ties, count() AS n FROM (SELECT DISTINCT lt FROM (%s))", p.last(), rows)
}

func (p *transactionPlan) jumpStatement(items int) string {
	now, lt, group := "toUInt32(0)", "at", "lt"
	if p.order.by == byTime {
		now, lt, group = "tupleElement(at, 1)", "tupleElement(at, 2)", "(now, lt)"
	}
	argument := map[string]string{"min": "argMin", "max": "argMax"}[p.last()]
	return fmt.Sprintf("SELECT %s AS now, %s AS lt, ties, n FROM (SELECT %s(%s) AS at, %s(c, %s) AS ties, sum(c) AS n FROM "+
		"(SELECT now, lt, count() AS c FROM (SELECT DISTINCT now, lt, workchain, account_prefix FROM (%s)) GROUP BY now, lt))",
		now, lt, p.last(), group, argument, group, p.statement(nil, items))
}

// pageOfTransactions reads candidates until the page is full. One round does
// unless rows have to be dropped: those of accounts that share 64 bits, or what
// a residual filter refuses.
func (s *Store) pageOfTransactions(ctx context.Context, l *transactionList, p transactionPlan) ([]*record.Transaction, bool, error) {
	if p.direct {
		if list, more, ok, err := s.directPage(ctx, l, &p); ok || err != nil {
			return list, more, err
		}
	}
	w := &walk[key]{
		read:    func(ctx context.Context, from *key, limit int) ([]key, error) { return s.read(ctx, &p, from, limit) },
		group:   p.order.sameGroup,
		compare: p.order.compareKeys,
	}
	if len(p.accounts) < 2 {
		w.jump = func(ctx context.Context, items int) (*key, int, error) { return s.jump(ctx, &p, items) }
	}
	// A list in another order than its table's is needed as a whole.
	whole := p.order != l.order
	if l.after != nil && !whole {
		w.after = p.order.keyOf(*l.after)
	}
	skip, want := 0, l.page.Limit+2
	if p.residual {
		skip, want = l.page.Offset, max(want, leastResidual)
	} else {
		w.skip = l.page.Offset
	}
	var page []*record.Transaction
	for read := 0; ; {
		items, err := w.next(ctx, want, 1)
		if err != nil {
			return nil, false, err
		}
		if read += len(items); p.residual {
			if err := l.page.dropped(read); err != nil {
				return nil, false, err
			}
		}
		if len(items) > 0 {
			list, err := s.transactionsAt(ctx, placesOf(items))
			if err != nil {
				return nil, false, err
			}
			page = l.take(append(page, list...))
		}
		if w.ended() || !whole && len(page) > skip+l.page.Limit {
			page = page[min(skip, len(page)):]
			return page[:min(l.page.Limit, len(page))], len(page) > l.page.Limit, nil
		}
		want = min(2*want, mostCandidates)
	}
}

const (
	// leastResidual and mostCandidates are how many records are read at a time
	// when many of them may have to be dropped.
	leastResidual  = 200
	mostCandidates = 2000
)

func placesOf(items [][]key) []place {
	list := make([]place, len(items))
	for i, item := range items {
		list[i] = item[0].place
	}
	return list
}

// directPage reads the records of one account without finding their places
// first. It is not ok when some of them were there twice, so that the page is
// not full.
func (s *Store) directPage(ctx context.Context, l *transactionList, p *transactionPlan) (list []*record.Transaction, more, ok bool, err error) {
	var from *key
	if l.after != nil {
		from = p.order.keyOf(*l.after)
	}
	d, limit := direction(p.order.descending), l.page.Offset+l.page.Limit+2
	statement := fmt.Sprintf("SELECT record FROM transactions WHERE %s ORDER BY workchain %s, account_prefix %s, lt %s LIMIT %d",
		p.accountConditions(p.accounts[0], from), d, d, d, limit)
	if list, err = s.transactions(ctx, statement); err != nil {
		return nil, false, false, err
	}
	full := len(list) == limit
	if list = l.take(list); full && len(list) <= l.page.Offset+l.page.Limit {
		return nil, false, false, nil
	}
	list = list[min(l.page.Offset, len(list)):]
	return list[:min(l.page.Limit, len(list))], len(list) > l.page.Limit, true, nil
}

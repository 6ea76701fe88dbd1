package list

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"tonscribe/decode/trace"
	"tonscribe/internal/clickhouse"
	"tonscribe/query/list/plan"
	"tonscribe/query/memory"
	"tonscribe/query/reader"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// TraceFilter says which traces are wanted; Everything and the zero value mean all that
// have no open messages. Those that are named, by their id, a transaction or a message,
// are found with open ones, too.
type TraceFilter struct {
	// Account has a transaction in the trace.
	Account *Address
	// IDs, Transactions and Messages name traces; a trace is wanted that one of each
	// list names. Messages are named by their hashes, raw or normalised.
	IDs, Transactions, Messages []Hash
	// McSeqno is the bundle with which the trace ended.
	McSeqno *int32
	// Utime and Lts are of the end of the trace.
	Utime, Lts Span
}

// TraceKey is the key of a trace in a list.
type TraceKey struct {
	EndUtime uint32
	EndLt    uint64
	ID       Hash
}

// TraceKeyOf returns the key of a trace.
func TraceKeyOf(t *record.Trace) TraceKey { return TraceKey{t.EndUtime, t.EndLt, Hash(t.Id)} }

// named reports whether the filter names traces, so that there are few.
func (f *TraceFilter) named() bool { return len(f.IDs)+len(f.Transactions)+len(f.Messages) > 0 }

func (f *TraceFilter) compare(a, b *TraceKey, descending bool) int {
	c := cmp.Compare(a.EndLt, b.EndLt)
	if f.Utime.Given {
		c = cmp.Compare(a.EndUtime, b.EndUtime)
	}
	if c = cmp.Or(c, bytes.Compare(a.ID[:], b.ID[:])); descending {
		return -c
	}
	return c
}

// matches checks everything that the record tells.
func (f *TraceFilter) matches(t *record.Trace) bool {
	return (len(f.IDs) == 0 || slices.Contains(f.IDs, Hash(t.Id)) || slices.ContainsFunc(t.Replaces, func(id []byte) bool { return slices.Contains(f.IDs, Hash(id)) })) &&
		(f.McSeqno == nil || int64(t.McSeqnoEnd) == int64(*f.McSeqno) && t.PendingEdges == 0) &&
		f.Utime.has(uint64(t.EndUtime)) && f.Lts.has(t.EndLt)
}

// Traces is a page of the list, and whether there are more after it. With after, the
// list begins behind that key.
func (l *Lists) Traces(ctx context.Context, v *View, f *TraceFilter, page Page, after *TraceKey) ([]*record.Trace, bool, error) {
	narrowed := *f
	f = &narrowed
	if some, err := l.narrowToBundle(ctx, v, f.McSeqno, &f.Lts); err != nil || !some {
		return nil, false, err
	}
	named := f.named()
	records := &records[*record.Trace, TraceKey]{
		page: page, after: after, key: TraceKeyOf,
		compare: func(a, b *TraceKey) int { return f.compare(a, b, page.Descending) },
		match:   func(t *record.Trace) bool { return (named || t.McSeqnoEnd <= v.Watermark) && f.matches(t) },
		same:    func(a, b *record.Trace) bool { return bytes.Equal(a.Id, b.Id) },
	}
	if named {
		found, err := l.namedTraces(ctx, v, f)
		if err != nil {
			return nil, false, err
		}
		f.IDs = nil // those found may be what these became parts of
		list, more := records.all(found)
		return list, more, nil
	}
	q := &query[*record.Trace, TraceKey]{
		records: records, source: l.source(v), plan: tracePlan(v, f, page.Descending), rowsOfItem: 1,
		rowOf: func(k *TraceKey) plan.Row {
			return plan.Row{traceUtime: uint64(k.EndUtime), traceLt: k.EndLt, traceID: schema.Prefix(k.ID[:])}
		},
		read: func(ctx context.Context, items [][]plan.Row) ([]*record.Trace, error) {
			prefixes := make([]uint64, len(items))
			for i, item := range items {
				prefixes[i] = item[0][traceID]
			}
			found, err := l.tracesAt(ctx, v, prefixes)
			return found.whole(), err
		},
	}
	return q.run(ctx)
}

// narrowToBundle narrows a list that is of one bundle only to the lts of its blocks; it
// is false where there is no such bundle.
func (l *Lists) narrowToBundle(ctx context.Context, v *View, mcSeqno *int32, lts *Span) (bool, error) {
	if mcSeqno == nil {
		return true, nil
	}
	if *mcSeqno < 0 || uint32(*mcSeqno) > v.Watermark {
		return false, nil
	}
	blocks, err := l.Bundle(ctx, v, *mcSeqno)
	if err != nil || len(blocks) == 0 {
		return false, err
	}
	reach := Span{From: ^uint64(0)}
	for _, b := range blocks {
		reach.From, reach.To = min(reach.From, b.StartLt), max(reach.To, b.EndLt)
	}
	*lts = lts.and(reach)
	return lts.From <= lts.To, nil
}

// The words of a row that leads to a trace.
const traceUtime, traceLt, traceID = 0, 1, 2

// tracePlan reads a list of traces_by_list.
func tracePlan(v *View, f *TraceFilter, descending bool) *plan.Plan {
	id := plan.Column{Name: "trace_prefix", At: traceID}
	end := plan.Column{Name: "end_lt", At: traceLt}
	r := plan.Range{Prefix: []string{"list"}, Columns: []string{"list"}, Values: []any{schema.AllTraces.Number(nil)}, Projection: plan.NoProjection}
	if f.Account != nil {
		r.Values = []any{schema.TracesOf.Number(f.Account[:])}
	}
	if f.Utime.Given {
		end = plan.Column{Name: "end_utime", At: traceUtime, Type: plan.Uint32}
		r.Projection = "by_time"
	}
	r.Where.Between("end_utime", f.Utime.From, f.Utime.To, 1<<32-1)
	r.Where.Between("end_lt", f.Lts.From, f.Lts.To, ^uint64(0))
	if f.McSeqno != nil {
		r.Where.Add(sql.Is("mc_seqno", *f.McSeqno))
	}
	return &plan.Plan{
		Reads: "trace keys", Table: "traces_by_list", Descending: descending, SmallBlocks: true, Bundle: "mc_seqno", Watermark: v.Tables,
		Columns: []plan.Column{{Name: "end_utime", At: traceUtime, Type: plan.Uint32}, {Name: "end_lt", At: traceLt}, id},
		Keys:    []string{end.Name, id.Name}, Seek: []plan.Column{end, id},
		Order:  []plan.Term{{At: end.At, Words: 1, Descending: descending}, {At: id.At, Words: 1, Descending: descending}},
		Ranges: []plan.Range{r},
	}
}

// foundTraces are traces by their ids, and which of these became parts of others.
type foundTraces struct {
	newest   map[Hash]*record.Trace
	replaced map[Hash]Hash
}

// whole are those that are no parts of others.
func (f foundTraces) whole() (list []*record.Trace) {
	for id, t := range f.newest {
		if _, is := f.replaced[id]; !is {
			list = append(list, t)
		}
	}
	return list
}

// tracesAt reads the traces whose ids have some prefixes, each as of the newest bundle
// that the view shows, or, where the tables have only a newer state, as of that. Rows
// under the ids of traces that became parts of others bring these, too.
func (l *Lists) tracesAt(ctx context.Context, v *View, prefixes []uint64) (foundTraces, error) {
	rows, err := l.traceRows(ctx, v, prefixes)
	return foundIn(v, rows), err
}

// traceRows reads all rows of traces whose ids have some prefixes.
func (l *Lists) traceRows(ctx context.Context, v *View, prefixes []uint64) ([]traceRecord, error) {
	return inChunks(ctx, prefixes, func(ctx context.Context, some []uint64) ([]traceRecord, error) {
		c := sql.Conditions{sql.Any("trace_prefix", some)}
		held, err := heldWithPrefix(ctx, v.Memory, "traces", c)
		if err != nil {
			return nil, err
		}
		return readRecords(ctx, l.source(v), "traces", withPrefix("traces", c.String()), held, unpackTrace)
	})
}

// withPrefix is a statement of records behind the prefixes of the ids of their traces.
func withPrefix(table, where string) string {
	return "SELECT concat(reinterpretAsFixedString(trace_prefix), record) AS record FROM " + table + " WHERE " + where
}

// heldWithPrefix finds the same in memory.
func heldWithPrefix(ctx context.Context, bundles memory.Bundles, table string, c sql.Conditions) ([]string, error) {
	rows, err := bundles.Find(ctx, table, c)
	held := make([]string, len(rows))
	for i, r := range rows {
		held[i] = string(binary.LittleEndian.AppendUint64(nil, r.Words[0])) + r.Source // trace_prefix is the first column
	}
	return held, err
}

// foundIn takes of each trace the row that counts.
func foundIn(v *View, rows []traceRecord) foundTraces {
	found := foundTraces{map[Hash]*record.Trace{}, map[Hash]Hash{}}
	for _, t := range rows {
		if t.McSeqnoStart > v.Watermark {
			continue
		}
		id := Hash(t.Id)
		if have := found.newest[id]; have == nil || t.newerThan(have, v.Watermark) {
			found.newest[id] = t.Trace
		}
		for _, part := range t.Replaces {
			if t.McSeqnoEnd <= v.Watermark && len(part) == len(Hash{}) {
				found.replaced[Hash(part)] = id
			}
		}
	}
	return found
}

// maxNamed is how many keys a statement names at most: its text has a bound.
const maxNamed = 2000

// inChunks reads what keys lead to, some of them at a time.
func inChunks[K, R any](ctx context.Context, keys []K, read func(context.Context, []K) ([]R, error)) ([]R, error) {
	return reader.Gather(ctx, slices.Collect(slices.Chunk(keys, maxNamed)), read)
}

// traceRecord is a row of traces, behind the prefix of the id that it is under.
type traceRecord struct {
	*record.Trace
	prefix uint64
}

// newerThan reports whether a state of a trace counts in place of another one: the
// newest that the view shows does, else the oldest.
func (t traceRecord) newerThan(o *record.Trace, watermark uint32) bool {
	switch visible, other := t.McSeqnoEnd <= watermark, o.McSeqnoEnd <= watermark; {
	case visible != other:
		return visible
	case visible:
		return t.McSeqnoEnd > o.McSeqnoEnd
	}
	return t.McSeqnoEnd < o.McSeqnoEnd
}

func unpackTrace(raw []byte) (traceRecord, error) {
	if len(raw) < 8 {
		return traceRecord{}, fmt.Errorf("%d bytes", len(raw))
	}
	t := new(record.Trace)
	err := t.UnmarshalVT(raw[8:])
	if err == nil && len(t.Id) != len(Hash{}) {
		err = fmt.Errorf("id of %d bytes", len(t.Id))
	}
	return traceRecord{t, binary.LittleEndian.Uint64(raw)}, err
}

// maxReplaced is how often one trace may have become a part of the next one.
const maxReplaced = 16

// resolved reads the traces whose ids have some prefixes, and those that they became
// parts of.
func (l *Lists) resolved(ctx context.Context, v *View, prefixes []uint64) (foundTraces, error) {
	found, err := l.tracesAt(ctx, v, prefixes)
	if err != nil {
		return found, err
	}
	known := make(map[uint64]bool, len(prefixes))
	for _, p := range prefixes {
		known[p] = true
	}
	return found, l.follow(ctx, v, found, known)
}

// follow adds the traces that those found became parts of. known are the prefixes of
// which all is found.
func (l *Lists) follow(ctx context.Context, v *View, found foundTraces, known map[uint64]bool) error {
	for range maxReplaced {
		var more []uint64
		for _, id := range found.replaced {
			if p := schema.Prefix(id[:]); !known[p] {
				known[p] = true
				more = append(more, p)
			}
		}
		if len(more) == 0 {
			break
		}
		next, err := l.tracesAt(ctx, v, more)
		if err != nil {
			return err
		}
		for id, t := range next.newest { // read under its own id, so that it is the newest
			found.newest[id] = t
		}
		for id, t := range next.replaced {
			found.replaced[id] = t
		}
	}
	return nil
}

// of returns the trace of an id: what it became a part of, nil for none.
func (f foundTraces) of(id Hash) *record.Trace {
	for range maxReplaced {
		next, is := f.replaced[id]
		if !is {
			break
		}
		id = next
	}
	return f.newest[id]
}

// namedTraces reads the traces that each list of the filter names.
func (l *Lists) namedTraces(ctx context.Context, v *View, f *TraceFilter) ([]*record.Trace, error) {
	var sets [][]*record.Trace
	if len(f.IDs) > 0 {
		found, err := l.resolved(ctx, v, sql.Prefixes(f.IDs))
		if err != nil {
			return nil, err
		}
		var list []*record.Trace
		for _, id := range f.IDs {
			if t := found.of(id); t != nil {
				list = append(list, t)
			}
		}
		sets = append(sets, list)
	}
	for _, named := range []struct {
		hashes []Hash
		read   func(context.Context, *View, []Hash) ([]*record.Transaction, error)
	}{{f.Transactions, l.TransactionsWith}, {f.Messages, l.transactionsOfMessages}} {
		if len(named.hashes) == 0 {
			continue
		}
		transactions, err := named.read(ctx, v, named.hashes)
		if err != nil {
			return nil, err
		}
		traces, err := l.TracesOf(ctx, v, IDsOf(transactions))
		if err != nil {
			return nil, err
		}
		sets = append(sets, slices.DeleteFunc(traces, func(t *record.Trace) bool { return t == nil }))
	}
	return common(sets), nil
}

// common are the traces that are in all of some lists.
func common(sets [][]*record.Trace) []*record.Trace {
	list := sets[0]
	for _, set := range sets[1:] {
		list = slices.DeleteFunc(list, func(t *record.Trace) bool {
			return !slices.ContainsFunc(set, func(o *record.Trace) bool { return bytes.Equal(o.Id, t.Id) })
		})
	}
	return list
}

// TransactionsWith are the visible transactions with some hashes, in no order.
func (l *Lists) TransactionsWith(ctx context.Context, v *View, hashes []Hash) ([]*record.Transaction, error) {
	if len(hashes) == 0 {
		return nil, nil
	}
	return inChunks(ctx, hashes, func(ctx context.Context, some []Hash) ([]*record.Transaction, error) {
		f := &TransactionFilter{Hashes: some, Utime: Everything, Lts: Everything}
		list, _, err := l.Transactions(ctx, v, f, Page{Limit: len(some)}, nil)
		return list, err
	})
}

// transactionsOfMessages are the visible transactions that hold messages with some
// hashes.
func (l *Lists) transactionsOfMessages(ctx context.Context, v *View, hashes []Hash) ([]*record.Transaction, error) {
	f := &MessageFilter{Hashes: hashes, Direction: Either, Utime: Everything, Lts: Everything}
	list, _, err := l.TransactionsByMessage(ctx, v, f, Page{Limit: maxOfMessages}, nil)
	return list, err
}

// maxOfMessages is how many transactions that hold named messages are looked at: of a
// message from outside that was accepted again and again, the first ones.
const maxOfMessages = 10_000

// The columns of a row of transaction_traces.
var (
	traceOfTransaction  = plan.Column{Name: "trace_prefix", At: transactionWords}
	transactionOfTraces = []plan.Column{
		{Name: "workchain", At: transactionAt, Type: plan.Int32}, {Name: "account_prefix", At: transactionAt + 1}, {Name: "lt", At: transactionAt + 2},
		{Name: "transaction_mc_seqno", At: transactionAt + 3, Type: plan.Uint32}, traceOfTransaction,
		{Name: "mc_seqno", At: transactionWords + 1, Type: plan.Uint32}, {Name: "hash_prefix", At: transactionWords + 2, Type: plan.Uint32},
	}
)

// transactionTraces reads rows of transaction_traces.
func (l *Lists) transactionTraces(ctx context.Context, v *View, c sql.Conditions, projection string, columns []plan.Column) ([]plan.Row, error) {
	r := plan.Range{Where: c}
	p := &plan.Plan{Reads: "transaction traces", Table: "transaction_traces", Columns: columns, Ranges: []plan.Range{r}}
	return p.Read(ctx, l.source(v), fmt.Sprintf("SELECT %s FROM %s WHERE %s SETTINGS %s", p.Selected(&r), p.Table, c, projection), nil, r)
}

// TransactionID names a transaction, and the masterchain block that commits it.
type TransactionID struct {
	Account []byte // workchain and account id, as in records
	Lt      uint64
	Hash    []byte
	McSeqno uint32
}

// IDsOf names transactions.
func IDsOf(transactions []*record.Transaction) []TransactionID {
	ids := make([]TransactionID, len(transactions))
	for i, tx := range transactions {
		ids[i] = TransactionID{tx.Account, tx.Lt, tx.Hash, tx.McSeqno}
	}
	return ids
}

// key is what tells a transaction from others in transaction_traces.
func (t *TransactionID) key() transactionKey {
	return transactionKey{sql.KeyOf(t.Account), t.Lt, schema.ShortPrefix(t.Hash)}
}

// TracesOf returns the trace of each of some transactions, nil where it is not known.
func (l *Lists) TracesOf(ctx context.Context, v *View, transactions []TransactionID) ([]*record.Trace, error) {
	traces := make([]*record.Trace, len(transactions))
	if len(transactions) == 0 {
		return traces, nil
	}
	prefixOf, rows, err := l.tracePrefixes(ctx, v, transactions)
	if err != nil {
		return nil, err
	}
	known := map[uint64]bool{} // prefixes of which all rows that can count are there
	for _, t := range rows {
		known[t.prefix] = true
	}
	wanted := map[uint64]bool{}
	for _, p := range prefixOf {
		wanted[p] = true
	}
	prefixes := slices.Sorted(maps.Keys(wanted))
	held, err := inChunks(ctx, prefixes, func(ctx context.Context, some []uint64) ([]traceRecord, error) {
		list, err := heldWithPrefix(ctx, v.Held, "traces", sql.Conditions{sql.Any("trace_prefix", some)})
		if err != nil {
			return nil, err
		}
		return unpackAll(list, unpackTrace)
	})
	if err != nil {
		return nil, err
	}
	rows = append(rows, held...)
	// A trace that is held needs no older state of it.
	index := foundIn(v, held).index()
	missing := map[uint64]bool{}
	for i := range transactions {
		p, has := prefixOf[transactions[i].key()]
		if has && !known[p] && !index.shows(v, p, transactions[i].Lt) {
			missing[p] = true
		}
	}
	more, err := l.traceRows(ctx, v, slices.Sorted(maps.Keys(missing)))
	if err != nil {
		return nil, err
	}
	found := foundIn(v, append(rows, more...))
	if err := l.follow(ctx, v, found, wanted); err != nil {
		return nil, err
	}
	byPrefix := found.index()
	for i := range transactions {
		if p, has := prefixOf[transactions[i].key()]; has {
			traces[i] = byPrefix.at(p, transactions[i].Lt, transactions[i].Lt)
		}
	}
	return traces, nil
}

// tracePrefixes finds the prefixes of the ids of the traces of transactions. Of those that
// the tables have to tell it reads the rows of traces side by side.
func (l *Lists) tracePrefixes(ctx context.Context, v *View, transactions []TransactionID) (map[transactionKey]uint64, []traceRecord, error) {
	prefixOf := make(map[transactionKey]uint64, len(transactions))
	take := func(rows []plan.Row) {
		// The newest that the view shows counts.
		slices.SortStableFunc(rows, func(a, b plan.Row) int {
			return cmp.Compare(a[transactionWords+1], b[transactionWords+1])
		})
		for _, r := range rows {
			k := keyOfTransaction(r, transactionAt)
			k.mcSeqno = uint32(r[transactionWords+2]) // in its place what tells like accounts apart
			if _, has := prefixOf[k]; !has || r[transactionWords+1] <= uint64(v.Watermark) {
				prefixOf[k] = r[traceOfTransaction.At]
			}
		}
	}
	p := &plan.Plan{Reads: "transaction traces", Table: "transaction_traces", Columns: transactionOfTraces}
	source := plan.Source{Tables: l.reader, Memory: v.Held}
	held, err := inChunks(ctx, transactions, func(ctx context.Context, some []TransactionID) ([]plan.Row, error) {
		return p.Held(ctx, source, &plan.Range{Where: amongTransactions(some)})
	})
	if err != nil {
		return nil, nil, err
	}
	take(held)
	missing := slices.DeleteFunc(slices.Clone(transactions), func(t TransactionID) bool {
		_, has := prefixOf[t.key()]
		return has || t.McSeqno > v.Tables
	})
	var rows []plan.Row
	var traces []traceRecord
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		rows, err = inChunks(ctx, missing, func(ctx context.Context, some []TransactionID) ([]plan.Row, error) {
			r := plan.Range{Where: amongTransactions(some)}
			return p.Run(ctx, l.reader, fmt.Sprintf("SELECT %s FROM %s WHERE %s SETTINGS %s", p.Selected(&r), p.Table, r.Where, sql.NoProjections))
		})
		return err
	})
	group.Go(func() (err error) {
		traces, err = inChunks(ctx, missing, func(ctx context.Context, some []TransactionID) ([]traceRecord, error) {
			of := "SELECT trace_prefix FROM " + p.Table + " WHERE " + amongTransactions(some).String()
			return readRecords(ctx, source, "traces", withPrefix("traces", "trace_prefix GLOBAL IN ("+of+") SETTINGS "+sql.NoProjections), nil, unpackTrace)
		})
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	take(rows)
	return prefixOf, traces, nil
}

// amongTransactions is the condition on transaction_traces for some transactions. None got
// its trace before it was there: older parts need not be read.
func amongTransactions(some []TransactionID) sql.Conditions {
	among, first := sql.Among{Columns: []string{"workchain", "account_prefix", "lt"}}, some[0].McSeqno
	for _, tx := range some {
		k := sql.KeyOf(tx.Account)
		among.Tuples = append(among.Tuples, []any{k.Workchain, k.Prefix, tx.Lt})
		first = min(first, tx.McSeqno)
	}
	return sql.Conditions{among, sql.AtLeast("mc_seqno", first)}
}

// shows reports whether a trace of an lt is there as the view shows it.
func (x traceIndex) shows(v *View, prefix, lt uint64) bool {
	return slices.ContainsFunc(x[prefix], func(t tracePair) bool {
		return t.own.StartLt <= lt && lt <= t.own.EndLt && t.own.McSeqnoEnd <= v.Watermark
	})
}

// traceIndex finds traces by the prefixes of their ids.
type traceIndex map[uint64][]tracePair

// tracePair is a trace as it is, and what it became a part of.
type tracePair struct{ own, whole *record.Trace }

func (f foundTraces) index() traceIndex {
	x := traceIndex{}
	for id, t := range f.newest {
		p := schema.Prefix(id[:])
		x[p] = append(x[p], tracePair{t, f.of(id)})
	}
	return x
}

// at returns the whole trace that has something of a range of lts, nil for none. Logs are
// sent after, first messages before the lts of the trace.
func (x traceIndex) at(prefix, from, to uint64) *record.Trace {
	for _, t := range x[prefix] {
		if t.own.StartLt <= to && from <= t.own.EndLt || len(x[prefix]) == 1 {
			return t.whole
		}
	}
	return nil
}

// MaxTransactions is how many transactions a page of traces or actions may bring.
const MaxTransactions = 40_000

// TransactionsOf reads the visible transactions of traces, by the ids of these, those of
// a trace in no order.
func (l *Lists) TransactionsOf(ctx context.Context, v *View, traces []*record.Trace) (map[Hash][]*record.Transaction, error) {
	all, prefixes, byPrefix := map[Hash][]*record.Transaction{}, []uint64{}, map[uint64][]*record.Trace{}
	nodes := 0
	for _, t := range traces {
		nodes += int(t.Nodes)
		p := schema.Prefix(t.Id)
		prefixes, byPrefix[p] = append(prefixes, p), append(byPrefix[p], t)
	}
	if nodes > MaxTransactions {
		return nil, fmt.Errorf("%w: the page has %d transactions", clickhouse.ErrTooHeavy, nodes)
	}
	if len(prefixes) == 0 {
		return all, nil
	}
	rows, err := l.transactionTraces(ctx, v, sql.Conditions{sql.Any("trace_prefix", prefixes)}, sql.Projection("by_trace"), transactionOfTraces[:5])
	if err != nil {
		return nil, err
	}
	keys := make([]transactionKey, 0, len(rows))
	prefixOf := map[transactionKey][]uint64{} // those of accounts that begin alike share a key
	for _, r := range rows {
		k, p := keyOfTransaction(r, transactionAt), r[traceOfTransaction.At]
		if k.mcSeqno > v.Watermark || slices.Contains(prefixOf[k], p) {
			continue
		}
		if prefixOf[k] = append(prefixOf[k], p); len(prefixOf[k]) == 1 {
			keys = append(keys, k)
		}
	}
	transactions, err := inChunks(ctx, keys, func(ctx context.Context, some []transactionKey) ([]*record.Transaction, error) {
		return l.transactionsAt(ctx, v, some)
	})
	if err != nil {
		return nil, err
	}
	for _, tx := range transactions {
		for _, p := range prefixOf[transactionKey{sql.KeyOf(tx.Account), tx.Lt, tx.McSeqno}] {
			for _, t := range byPrefix[p] {
				all[Hash(t.Id)] = append(all[Hash(t.Id)], tx)
			}
		}
	}
	for id, list := range all {
		list = distinct(list)
		if t := byPrefix[schema.Prefix(id[:])]; len(t) > 1 || len(list) > int(t[0].Nodes) {
			list = trace.LedTo(id, list)
		}
		all[id] = list
	}
	return all, nil
}

// distinct are the transactions, each once: a row may be there twice before a merge.
func distinct(list []*record.Transaction) []*record.Transaction {
	seen := make(map[Hash]bool, len(list))
	return slices.DeleteFunc(list, func(tx *record.Transaction) bool {
		h := Hash(tx.Hash)
		was := seen[h]
		seen[h] = true
		return was
	})
}

// AsOf returns a trace as its visible transactions show it, where the tables have only a
// state of it that the view does not show yet.
func AsOf(v *View, t *record.Trace, transactions []*record.Transaction) *record.Trace {
	if t.McSeqnoEnd <= v.Watermark || len(transactions) == 0 {
		return t
	}
	t = t.CloneVT()
	t.McSeqnoEnd, t.EndLt, t.EndUtime, t.Nodes, t.Edges, t.PendingEdges = t.McSeqnoStart, t.StartLt, t.StartUtime, uint32(len(transactions)), 0, 0
	open := map[string]bool{}
	for _, tx := range transactions {
		t.McSeqnoEnd, t.EndLt, t.EndUtime = max(t.McSeqnoEnd, tx.McSeqno), max(t.EndLt, tx.Lt), max(t.EndUtime, tx.Now)
		for _, m := range tx.OutMsgs {
			if m.Kind == record.Message_INTERNAL {
				open[string(m.Hash)] = true
			} else {
				t.Edges++
			}
		}
	}
	for _, tx := range transactions {
		if tx.InMsg != nil && (open[string(tx.InMsg.Hash)] || t.State != record.TraceState_TRACE_BROKEN) {
			t.Edges++
			delete(open, string(tx.InMsg.Hash))
		}
	}
	if t.PendingEdges = uint32(len(open)); t.PendingEdges > 0 && t.State == record.TraceState_TRACE_COMPLETE {
		t.State = record.TraceState_TRACE_PENDING
	}
	return t
}

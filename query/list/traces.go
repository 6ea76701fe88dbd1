package list

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"tonscribe/decode/trace"
	"tonscribe/internal/clickhouse"
	"tonscribe/query/list/plan"
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

package list

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"tonscribe/decode/trace"
	"tonscribe/internal/clickhouse"
	"tonscribe/query/list/plan"
	"tonscribe/query/reader"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// MaxTransactions is how many transactions a page of traces or actions may bring.
const MaxTransactions = 40_000

// traceMembers are rows of transaction_traces by the prefixes of the ids of traces; what
// was not read is not there.
type traceMembers map[uint64][]plan.Row

// of gives traces what is there of them.
func (m traceMembers) of(traces []*record.Trace) []Trace {
	list := make([]Trace, len(traces))
	for i, t := range traces {
		list[i] = Trace{t, m[schema.Prefix(t.Id)]}
	}
	return list
}

// Bare are traces of which it was not read where their transactions are.
func Bare(traces []*record.Trace) []Trace { return traceMembers(nil).of(traces) }

// readingTraces reads traces by the prefixes of their ids in some way, and maybe where
// their transactions are.
type readingTraces func(ctx context.Context, v *View, prefixes []uint64, read func(context.Context, *View, []uint64) (foundTraces, error)) (foundTraces, traceMembers, error)

func withoutMembers(ctx context.Context, v *View, prefixes []uint64, read func(context.Context, *View, []uint64) (foundTraces, error)) (foundTraces, traceMembers, error) {
	found, err := read(ctx, v, prefixes)
	return found, nil, err
}

// besideMembers reads traces by the prefixes of their ids, and side by side where their
// transactions are, unless these may be more than a request may go through.
func (l *Lists) besideMembers(ctx context.Context, v *View, prefixes []uint64, read func(context.Context, *View, []uint64) (foundTraces, error)) (found foundTraces, members traceMembers, err error) {
	if len(prefixes)*trace.MaxNodes > reader.MaxScanRows {
		return withoutMembers(ctx, v, prefixes, read)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		found, err = read(ctx, v, prefixes)
		return err
	})
	group.Go(func() (err error) {
		members, err = l.membersOf(ctx, v, prefixes)
		return err
	})
	return found, members, group.Wait()
}

// membersOf reads where the transactions of traces are, by the prefixes of their ids.
func (l *Lists) membersOf(ctx context.Context, v *View, prefixes []uint64) (traceMembers, error) {
	if len(prefixes) == 0 {
		return nil, nil
	}
	rows, err := l.transactionTraces(ctx, v, sql.Conditions{sql.Any("trace_prefix", prefixes)}, sql.Projection("by_trace"), transactionOfTraces[:5])
	members := traceMembers{}
	for _, r := range rows {
		p := r[traceOfTransaction.At]
		members[p] = append(members[p], r)
	}
	return members, err
}

// TransactionsOf reads the visible transactions of traces, by the ids of these, those of
// a trace in no order.
func (l *Lists) TransactionsOf(ctx context.Context, v *View, traces []Trace) (map[Hash][]*record.Transaction, error) {
	all, members, byPrefix := map[Hash][]*record.Transaction{}, traceMembers{}, map[uint64][]*record.Trace{}
	nodes := 0
	var missing []uint64
	for _, t := range traces {
		nodes += int(t.Nodes)
		p := schema.Prefix(t.Id)
		if byPrefix[p] = append(byPrefix[p], t.Trace); t.members != nil {
			members[p] = t.members
		} else {
			missing = append(missing, p)
		}
	}
	if nodes > MaxTransactions {
		return nil, fmt.Errorf("%w: the page has %d transactions", clickhouse.ErrTooHeavy, nodes)
	}
	more, err := l.membersOf(ctx, v, missing)
	if err != nil {
		return nil, err
	}
	maps.Copy(members, more)
	var keys []transactionKey
	prefixOf := map[transactionKey][]uint64{} // those of accounts that begin alike share a key
	for p, rows := range members {
		for _, r := range rows {
			k := keyOfTransaction(r, transactionAt)
			if k.mcSeqno > v.Watermark || slices.Contains(prefixOf[k], p) {
				continue
			}
			if prefixOf[k] = append(prefixOf[k], p); len(prefixOf[k]) == 1 {
				keys = append(keys, k)
			}
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

package traced

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"tonscribe/decode/trace"
	"tonscribe/internal/clickhouse"
	"tonscribe/query/head"
	"tonscribe/query/list"
	"tonscribe/query/list/paging"
	"tonscribe/query/list/plan"
	"tonscribe/query/reader"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/table"
)

// MaxTransactions is how many transactions a page of traces or actions may bring.
const MaxTransactions = 40_000

// membersOfTraces reads where the transactions of traces are: their keys, and the first
// 8 bytes of the ids of the traces.
var membersOfTraces = &plan.Plan{Reads: readsTraced, Table: table.TransactionTraces.Name, Columns: []plan.Column{
	{Name: "workchain", At: memberTransaction, Type: plan.Int32}, {Name: "account_prefix", At: memberTransaction + 1}, {Name: "lt", At: memberTransaction + 2},
	{Name: "transaction_mc_seqno", At: memberTransaction + 3, Type: plan.Uint32}, {Name: "trace_prefix", At: memberPrefix}, {Name: "mc_seqno", At: memberSince, Type: plan.Uint32},
}}

// The words of a member: the key of the transaction, the prefix of the id of the trace,
// and the bundle with which it became known that it belongs there.
const memberTransaction, memberPrefix, memberSince = 0, 4, 5

func memberKey(r plan.Row) list.RowKey { return list.RowKeyIn(r, memberTransaction) }

// readMembers reads the rows of transaction_traces that a condition on the trace holds
// for.
func (l *Lists) readMembers(ctx context.Context, where string) ([]plan.Row, error) {
	p := membersOfTraces
	return p.Run(ctx, l.reader, fmt.Sprintf("SELECT %s FROM %s WHERE %s SETTINGS %s", p.Selected(&plan.Range{}), p.Table, where, sql.Projection("by_trace")))
}

// traceMembers are rows of transaction_traces by the prefixes of the ids of traces; what
// was not read is not there.
type traceMembers map[uint64][]plan.Row

// of gives traces what is there of them.
func (m traceMembers) of(traces []*record.Trace) []Trace {
	list := make([]Trace, len(traces))
	for i, t := range traces {
		list[i] = Trace{Trace: t, members: m[schema.Prefix(t.Id)]}
	}
	return list
}

// Bare are traces of which it was not read where their transactions are.
func Bare(traces []*record.Trace) []Trace { return traceMembers(nil).of(traces) }

// readingTraces reads traces by the prefixes of their ids in some way, and maybe where
// their transactions are.
type readingTraces func(ctx context.Context, v *head.View, prefixes []uint64, read func(context.Context, *head.View, []uint64) (foundTraces, error)) (foundTraces, traceMembers, error)

func withoutMembers(ctx context.Context, v *head.View, prefixes []uint64, read func(context.Context, *head.View, []uint64) (foundTraces, error)) (foundTraces, traceMembers, error) {
	found, err := read(ctx, v, prefixes)
	return found, nil, err
}

// besideMembers reads traces by the prefixes of their ids, and side by side where their
// transactions are, unless these may be more than a request may go through.
func (l *Lists) besideMembers(ctx context.Context, v *head.View, prefixes []uint64, read func(context.Context, *head.View, []uint64) (foundTraces, error)) (found foundTraces, members traceMembers, err error) {
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
func (l *Lists) membersOf(ctx context.Context, v *head.View, prefixes []uint64) (traceMembers, error) {
	members := traceMembers{}
	if len(prefixes) == 0 {
		return members, nil
	}
	c := sql.Conditions{sql.Any("trace_prefix", prefixes)}
	if v.Tables > 0 {
		rows, err := l.readMembers(ctx, c.String())
		if err != nil {
			return nil, err
		}
		members.add(rows)
	}
	rows, err := membersOfTraces.Held(ctx, plan.Source{Tables: l.reader, Memory: v.Memory}, &plan.Range{Where: c})
	members.add(rows)
	return members, err
}

// accounts are those of the transactions.
func (m traceMembers) accounts() []sql.AccountKey {
	seen := map[sql.AccountKey]bool{}
	for _, rows := range m {
		for _, r := range rows {
			seen[memberKey(r).AccountKey] = true
		}
	}
	return slices.Collect(maps.Keys(seen))
}

func (m traceMembers) add(rows []plan.Row) {
	for _, r := range rows {
		m[r[memberPrefix]] = append(m[r[memberPrefix]], r)
	}
}

// TransactionsOf reads the visible transactions of traces, by the ids of these, those of
// a trace in no order.
func (l *Lists) TransactionsOf(ctx context.Context, v *head.View, traces []Trace) (map[Hash][]*record.Transaction, error) {
	all, members := map[Hash][]*record.Transaction{}, traceMembers{}
	nodes := 0
	var missing []uint64
	var wanted []*record.Trace
	for _, t := range traces {
		nodes += int(t.Nodes)
		if t.transactions != nil {
			all[Hash(t.Id)] = t.transactions
			continue
		}
		wanted = append(wanted, t.Trace)
		if p := schema.Prefix(t.Id); t.members != nil {
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
	transactions, err := l.transactionsOfMembers(ctx, v, members)
	if err != nil {
		return nil, err
	}
	maps.Copy(all, members.share(wanted, transactions))
	return all, nil
}

// transactionsOfMembers reads the visible transactions that rows name.
func (l *Lists) transactionsOfMembers(ctx context.Context, v *head.View, members traceMembers) ([]*record.Transaction, error) {
	var keys []list.RowKey
	seen := map[list.RowKey]bool{} // those of accounts that begin alike share a key
	for _, rows := range members {
		for _, r := range rows {
			if k := memberKey(r); k.McSeqno <= v.Watermark && !seen[k] {
				seen[k] = true
				keys = append(keys, k)
			}
		}
	}
	return paging.InChunks(ctx, keys, func(ctx context.Context, some []list.RowKey) ([]*record.Transaction, error) {
		return l.chain.TransactionsAt(ctx, v, some)
	})
}

// share gives traces those of some transactions that are theirs, by the ids of the
// traces.
func (m traceMembers) share(traces []*record.Trace, transactions []*record.Transaction) map[Hash][]*record.Transaction {
	of := make(map[list.RowKey][]*record.Transaction, len(transactions))
	for _, tx := range transactions {
		k := list.RowKeyOf(tx)
		of[k] = append(of[k], tx)
	}
	alike := map[uint64]int{}
	for _, t := range traces {
		alike[schema.Prefix(t.Id)]++
	}
	all := make(map[Hash][]*record.Transaction, len(traces))
	for _, t := range traces {
		var list []*record.Transaction
		p := schema.Prefix(t.Id)
		for _, r := range m[p] {
			list = append(list, of[memberKey(r)]...)
		}
		if list = distinct(list); alike[p] > 1 || len(list) > int(t.Nodes) {
			list = trace.LedTo(Hash(t.Id), list)
		}
		if len(list) > 0 {
			all[Hash(t.Id)] = list
		}
	}
	return all
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
func AsOf(v *head.View, t *record.Trace, transactions []*record.Transaction) *record.Trace {
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

package traced

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"tonscribe/decode/trace"
	"tonscribe/query/head"
	"tonscribe/query/list"
	"tonscribe/query/list/paging"
	"tonscribe/query/list/plan"
	"tonscribe/query/memory"
	"tonscribe/query/reader"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/table"
)

// TransactionID names a transaction, and the masterchain block that commits it.
type TransactionID struct {
	Account []byte // workchain and account id, as in records
	Lt      uint64
	McSeqno uint32
}

// idOf names a transaction.
func idOf(tx *record.Transaction) TransactionID {
	return TransactionID{tx.Account, tx.Lt, tx.McSeqno}
}

// IDsOf names transactions.
func IDsOf(transactions []*record.Transaction) []TransactionID {
	ids := make([]TransactionID, len(transactions))
	for i, tx := range transactions {
		ids[i] = idOf(tx)
	}
	return ids
}

// compare is the order of the table.
func (t TransactionID) compare(o TransactionID) int {
	return cmp.Or(sql.KeyOf(t.Account).Compare(sql.KeyOf(o.Account)), cmp.Compare(t.Lt, o.Lt))
}

func (t *TransactionID) key() head.TracedKey { return head.TracedKeyOf(t.Account, t.Lt) }

// Rows are rows of transaction_traces: of each transaction the one that counts.
type Rows map[head.TracedKey]head.Traced

// Of returns the id of the trace of a transaction and the hash of the message that began
// it, nil where there is no row or it does not tell them.
func (o Rows) Of(tx *record.Transaction) *record.Trace {
	return o[head.TracedKeyOf(tx.Account, tx.Lt)].Trace
}

// take adds rows: the newest that the view shows counts.
func (o Rows) take(v *head.View, rows []head.Traced) {
	slices.SortStableFunc(rows, func(a, b head.Traced) int { return cmp.Compare(a.McSeqno, b.McSeqno) })
	for _, r := range rows {
		if _, has := o[r.TracedKey]; !has || r.McSeqno <= v.Watermark {
			o[r.TracedKey] = r
		}
	}
}

// traced finds the rows of transaction_traces of some transactions.
func (l *Lists) traced(ctx context.Context, v *head.View, transactions []TransactionID) (Rows, error) {
	of := make(Rows, len(transactions))
	held, err := paging.InChunks(ctx, transactions, func(ctx context.Context, some []TransactionID) ([]head.Traced, error) {
		return heldTraced(ctx, v.Held, amongTransactions(some))
	})
	if err != nil {
		return nil, err
	}
	of.take(v, held)
	missing := slices.DeleteFunc(slices.Clone(transactions), func(t TransactionID) bool {
		_, has := of[t.key()]
		return has || t.McSeqno > v.Tables
	})
	rows, err := paging.InChunks(ctx, missing, func(ctx context.Context, some []TransactionID) ([]head.Traced, error) {
		return reader.Gather(ctx, reader.Chunks(some, l.reader.Splits(len(some)), TransactionID.compare), func(ctx context.Context, part []TransactionID) ([]head.Traced, error) {
			return head.ReadTraced(ctx, l.reader, readsTraced, amongTransactions(part).String())
		})
	})
	of.take(v, rows)
	return of, err
}

// TracedBeside begins to read the traces of transactions that are named; nil is none.
// When others ask, too, only what is needed is read.
func (l *Lists) TracedBeside(ctx context.Context, v *head.View, n *list.Named) (wait func() Rows) {
	if n == nil || len(n.Hashes) > fewTraces || v.Tables == 0 || !l.reader.Quiet() {
		return func() Rows { return nil }
	}
	return l.tracedBeside(ctx, v, ledTo(n.Table, n.Where))
}

// TracedBesidePage begins to read the traces of a page of transactions as soon as these
// are read off their account: the table has them in the same order.
func (l *Lists) TracedBesidePage(ctx context.Context, v *head.View, page *paging.Page) (wait func() Rows) {
	begun := func() Rows { return nil }
	page.Beside = func(p *plan.Plan, from plan.Row, limit int) {
		if v.Tables > 0 {
			begun = l.tracedBeside(ctx, v, p.Elsewhere(&p.Ranges[0], from, limit))
		}
	}
	return func() Rows { return begun() }
}

// tracedBeside begins to read the rows of transaction_traces that a condition holds for.
func (l *Lists) tracedBeside(ctx context.Context, v *head.View, where string) (wait func() Rows) {
	of, done := Rows{}, make(chan struct{})
	go func() {
		defer close(done)
		// What fails here is read again.
		rows, _ := head.ReadTraced(ctx, l.reader, readsTraced, where)
		of.take(v, rows)
	}()
	return func() Rows {
		<-done
		return of
	}
}

// ledTo is the condition on transaction_traces for the transactions that rows of a table
// lead to.
func ledTo(table string, where sql.Conditions) string {
	const key = "workchain, account_prefix, lt"
	return fmt.Sprintf("(%s) IN (SELECT %s FROM %s WHERE %s)", key, key, sql.Beside(table), where)
}

// readsTraced is what statements on transaction_traces are counted as.
const readsTraced = "transaction traces"

// heldTraced finds rows of transaction_traces in memory.
func heldTraced(ctx context.Context, bundles memory.Bundles, c sql.Conditions) ([]head.Traced, error) {
	t := &table.TransactionTraces.Table
	rows, err := bundles.Find(ctx, t.Name, c)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	at := func(column string) int {
		place, _ := t.Place(column)
		return place.At
	}
	workchain, account, rest, lt, mcSeqno, prefix := at("workchain"), at("account_prefix"), at("account_rest"), at("lt"), at("mc_seqno"), at("trace_prefix")
	list := make([]head.Traced, len(rows))
	for i, r := range rows {
		trace := new(record.Trace)
		if err := trace.UnmarshalVT([]byte(r.Source)); err != nil {
			return nil, fmt.Errorf("trace in memory: %w", err)
		}
		key := head.TracedKey{Account: sql.AccountKey{Workchain: int32(r.Words[workchain]), Prefix: r.Words[account]}, Rest: r.Words[rest], Lt: r.Words[lt]}
		list[i] = head.Traced{TracedKey: key, McSeqno: uint32(r.Words[mcSeqno]), Prefix: r.Words[prefix]}
		if trace.State != record.TraceState_TRACE_BROKEN {
			list[i].Trace = trace
		}
	}
	return list, nil
}

// TraceIDsOf returns the id of the trace of each of some transactions, with the hash of
// the message that began it, nil where it is not known. Rows tell them, but of the first
// transactions of traces, of broken ones, and those that are from before they did.
func (l *Lists) TraceIDsOf(ctx context.Context, v *head.View, transactions []TransactionID) ([]*record.Trace, error) {
	traces := make([]*record.Trace, len(transactions))
	of, err := l.traced(ctx, v, transactions)
	if err != nil {
		return nil, err
	}
	var others []int
	var ids []TransactionID
	for i := range transactions {
		row, has := of[transactions[i].key()]
		if traces[i] = row.Trace; has && row.Trace == nil {
			others, ids = append(others, i), append(ids, transactions[i])
		}
	}
	found, err := l.tracesBy(ctx, v, ids, of)
	for i, t := range found {
		traces[others[i]] = t
	}
	return traces, err
}

// TracesOf returns the trace of each of some transactions, nil where it is not known.
func (l *Lists) TracesOf(ctx context.Context, v *head.View, transactions []*record.Transaction) ([]*record.Trace, error) {
	of := make(Rows, len(transactions))
	var others []TransactionID
	for _, tx := range transactions {
		if id := idOf(tx); trace.Begun(tx) == nil {
			others = append(others, id)
		} else {
			of[id.key()] = head.Traced{Prefix: schema.Prefix(tx.Hash)}
		}
	}
	rows, err := l.traced(ctx, v, others)
	if err != nil {
		return nil, err
	}
	maps.Copy(of, rows)
	return l.tracesBy(ctx, v, IDsOf(transactions), of)
}

// tracesBy reads the traces that rows name of transactions, nil where there is no row.
func (l *Lists) tracesBy(ctx context.Context, v *head.View, transactions []TransactionID, of Rows) ([]*record.Trace, error) {
	traces := make([]*record.Trace, len(transactions))
	wanted := map[uint64]bool{}
	for i := range transactions {
		if row, has := of[transactions[i].key()]; has {
			wanted[row.Prefix] = true
		}
	}
	held, err := paging.InChunks(ctx, slices.Sorted(maps.Keys(wanted)), func(ctx context.Context, some []uint64) ([]traceRecord, error) {
		return heldTraces(ctx, v.Held, sql.Conditions{sql.Any("trace_prefix", some)})
	})
	if err != nil {
		return nil, err
	}
	// A trace that is held needs no older state of it.
	index, missing := foundIn(v, held).index(), map[uint64]bool{}
	for i := range transactions {
		if row, has := of[transactions[i].key()]; has && !index.shows(v, row.Prefix, transactions[i].Lt) {
			missing[row.Prefix] = true
		}
	}
	read, err := l.traceRows(ctx, v, slices.Sorted(maps.Keys(missing)))
	if err != nil {
		return nil, err
	}
	found := foundIn(v, append(held, read...))
	if err := l.follow(ctx, v, found, wanted); err != nil {
		return nil, err
	}
	index = found.index()
	for i := range transactions {
		if row, has := of[transactions[i].key()]; has {
			traces[i] = index.at(row.Prefix, transactions[i].Lt, transactions[i].Lt)
		}
	}
	return traces, nil
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

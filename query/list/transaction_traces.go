package list

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"tonscribe/query/list/plan"
	"tonscribe/query/reader"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// The columns of a row of transaction_traces.
var (
	traceOfTransaction  = plan.Column{Name: "trace_prefix", At: transactionWords}
	transactionOfTraces = []plan.Column{
		{Name: "workchain", At: transactionAt, Type: plan.Int32}, {Name: "account_prefix", At: transactionAt + 1}, {Name: "lt", At: transactionAt + 2},
		{Name: "transaction_mc_seqno", At: transactionAt + 3, Type: plan.Uint32}, traceOfTransaction,
		{Name: "mc_seqno", At: transactionWords + 1, Type: plan.Uint32}, {Name: "account_rest", At: transactionWords + 2},
	}
)

// transactionTraces reads rows of transaction_traces.
func (l *Lists) transactionTraces(ctx context.Context, v *View, c sql.Conditions, projection string, columns []plan.Column) ([]plan.Row, error) {
	r := plan.Range{Where: c}
	p := &plan.Plan{Reads: "transaction traces", Table: "transaction_traces", Columns: columns, Ranges: []plan.Range{r}}
	if v.Tables == 0 {
		return p.Held(ctx, l.source(v), &r)
	}
	return p.Read(ctx, l.source(v), fmt.Sprintf("SELECT %s FROM %s WHERE %s SETTINGS %s", p.Selected(&r), p.Table, c, projection), nil, r)
}

// TransactionID names a transaction, and the masterchain block that commits it.
type TransactionID struct {
	Account []byte // workchain and account id, as in records
	Lt      uint64
	McSeqno uint32
}

// IDsOf names transactions.
func IDsOf(transactions []*record.Transaction) []TransactionID {
	ids := make([]TransactionID, len(transactions))
	for i, tx := range transactions {
		ids[i] = TransactionID{tx.Account, tx.Lt, tx.McSeqno}
	}
	return ids
}

// tracedKey is the key of a row of transaction_traces.
type tracedKey struct {
	account  sql.AccountKey
	rest, lt uint64
}

func (t *TransactionID) key() tracedKey {
	return tracedKey{sql.KeyOf(t.Account), schema.Rest(schema.AccountID(t.Account)), t.Lt}
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
		return heldTraces(ctx, v.Held, sql.Conditions{sql.Any("trace_prefix", some)})
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

// prefixesOf are the prefixes of the ids of the traces of transactions.
type prefixesOf map[tracedKey]uint64

// take adds rows of transaction_traces: the newest that the view shows counts.
func (o prefixesOf) take(v *View, rows []plan.Row) {
	slices.SortStableFunc(rows, func(a, b plan.Row) int {
		return cmp.Compare(a[transactionWords+1], b[transactionWords+1])
	})
	for _, r := range rows {
		k := tracedKey{r.Account(transactionAt), r[transactionWords+2], r[transactionAt+2]}
		if _, has := o[k]; !has || r[transactionWords+1] <= uint64(v.Watermark) {
			o[k] = r[traceOfTransaction.At]
		}
	}
}

// takeHeld adds what memory has of the traces of transactions.
func (o prefixesOf) takeHeld(ctx context.Context, v *View, transactions []TransactionID) error {
	held, err := inChunks(ctx, transactions, func(ctx context.Context, some []TransactionID) ([]plan.Row, error) {
		return ofTransactions.Held(ctx, plan.Source{Memory: v.Held}, &plan.Range{Where: amongTransactions(some)})
	})
	o.take(v, held)
	return err
}

// ofTransactions reads which transactions belong to which traces.
var ofTransactions = &plan.Plan{Reads: "transaction traces", Table: "transaction_traces", Columns: transactionOfTraces}

// tracesOfRows reads the rows of transaction_traces that a condition holds for.
func tracesOfRows(where string) string {
	return fmt.Sprintf("SELECT %s FROM %s WHERE %s SETTINGS %s", ofTransactions.Selected(&plan.Range{}), ofTransactions.Table, where, sql.NoProjections)
}

// tracePrefixes finds the prefixes of the ids of the traces of transactions. Of those that
// the tables have to tell it reads the rows of traces side by side.
func (l *Lists) tracePrefixes(ctx context.Context, v *View, transactions []TransactionID) (prefixesOf, []traceRecord, error) {
	prefixOf := make(prefixesOf, len(transactions))
	if err := prefixOf.takeHeld(ctx, v, transactions); err != nil {
		return nil, nil, err
	}
	missing := slices.DeleteFunc(slices.Clone(transactions), func(t TransactionID) bool {
		_, has := prefixOf[t.key()]
		return has || t.McSeqno > v.Tables
	})
	var rows []plan.Row
	var traces []traceRecord
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		rows, err = inChunks(ctx, missing, func(ctx context.Context, some []TransactionID) ([]plan.Row, error) {
			return ofTransactions.Run(ctx, l.reader, tracesOfRows(amongTransactions(some).String()))
		})
		return err
	})
	group.Go(func() (err error) {
		traces, err = inChunks(ctx, missing, func(ctx context.Context, some []TransactionID) ([]traceRecord, error) {
			of := "SELECT trace_prefix FROM " + ofTransactions.Table + " WHERE " + amongTransactions(some).String()
			return reader.Records(ctx, l.reader, "traces", traceStatement("trace_prefix GLOBAL IN ("+of+") SETTINGS "+sql.NoProjections), unpackTrace)
		})
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	prefixOf.take(v, rows)
	return prefixOf, traces, nil
}

// tracesWith are the traces of the visible transactions with some hashes. Rows of
// transaction_traces are found by 64 bits of the hashes; the transactions, which are read
// side by side, tell whether these are meant.
func (l *Lists) tracesWith(ctx context.Context, v *View, hashes []Hash, beside readingTraces) ([]Trace, error) {
	var transactions []TransactionID
	var rows []plan.Row
	group, inGroup := errgroup.WithContext(ctx)
	group.Go(func() error {
		list, err := l.TransactionsWith(inGroup, v, hashes)
		transactions = IDsOf(list)
		return err
	})
	group.Go(func() (err error) {
		rows, err = inChunks(inGroup, hashes, func(ctx context.Context, some []Hash) ([]plan.Row, error) {
			keys := "SELECT workchain, account_prefix, lt FROM transactions_index WHERE " + transactionsByHash(some).String()
			return ofTransactions.Run(ctx, l.reader, tracesOfRows("(workchain, account_prefix, lt) IN ("+keys+")"))
		})
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	prefixOf := prefixesOf{}
	if err := prefixOf.takeHeld(ctx, v, transactions); err != nil {
		return nil, err
	}
	prefixOf.take(v, rows)
	var prefixes []uint64
	for i := range transactions {
		if p, has := prefixOf[transactions[i].key()]; has {
			prefixes = append(prefixes, p)
		}
	}
	slices.Sort(prefixes)
	found, members, err := beside(ctx, v, slices.Compact(prefixes), l.resolved)
	if err != nil {
		return nil, err
	}
	index, of := found.index(), map[Hash]*record.Trace{}
	for i := range transactions {
		if p, has := prefixOf[transactions[i].key()]; has {
			if t := index.at(p, transactions[i].Lt, transactions[i].Lt); t != nil {
				of[Hash(t.Id)] = t
			}
		}
	}
	return members.of(slices.Collect(maps.Values(of))), nil
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

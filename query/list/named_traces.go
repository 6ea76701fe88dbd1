package list

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"tonscribe/query/list/paging"
	"tonscribe/query/list/plan"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// namedTraces reads the traces that each list of the filter names.
func (l *Lists) namedTraces(ctx context.Context, v *View, f *TraceFilter, beside readingTraces) ([]Trace, error) {
	var sets [][]Trace
	if len(f.IDs) > 0 {
		found, members, err := beside(ctx, v, sql.Prefixes(f.IDs), l.resolved)
		if err != nil {
			return nil, err
		}
		var list []*record.Trace
		for _, id := range f.IDs {
			if t := found.of(id); t != nil {
				list = append(list, t)
			}
		}
		sets = append(sets, members.of(list))
	}
	if len(f.Transactions) > 0 {
		list, err := l.tracesHolding(ctx, v, namedTransactions(f.Transactions))
		if err != nil {
			return nil, err
		}
		sets = append(sets, list)
	}
	if len(f.Messages) > 0 {
		list, err := l.tracesHolding(ctx, v, namedMessages(f.Messages))
		if err != nil {
			return nil, err
		}
		sets = append(sets, list)
	}
	return common(sets), nil
}

// Named are transactions that are named, by their hashes or those of messages that they
// hold.
type Named struct {
	hashes []Hash
	table  string // whose rows lead to them, and to some that are not
	where  sql.Conditions
	is     func(*record.Transaction) bool
	read   func(*Lists, context.Context, *View, []Hash) ([]*record.Transaction, error)
}

// Named are the transactions whose hashes the filter names, nil for none.
func (f *TransactionFilter) Named() *Named {
	if len(f.Hashes) == 0 {
		return nil
	}
	return &Named{f.Hashes, "transactions_index", transactionsByHash(f.Hashes), f.matches, (*Lists).TransactionsWith}
}

// Named are the transactions that hold the messages whose hashes the filter names, nil
// for none.
func (f *MessageFilter) Named() *Named {
	if len(f.Hashes) == 0 {
		return nil
	}
	return &Named{f.Hashes, "messages_index", f.byHash(), f.heldBy, (*Lists).transactionsOfMessages}
}

func namedTransactions(hashes []Hash) *Named {
	return (&TransactionFilter{Hashes: hashes, Utime: Everything, Lts: Everything}).Named()
}

func namedMessages(hashes []Hash) *Named { return holders(hashes).Named() }

// holders finds what holds messages, on either side.
func holders(hashes []Hash) *MessageFilter {
	return &MessageFilter{Hashes: hashes, Direction: Either, Utime: Everything, Lts: Everything}
}

// byMessage reports whether it is messages that name them.
func (n *Named) byMessage() bool { return n.table == "messages_index" }

const (
	// fewTraces are read with all of their transactions to see which of them hold what is
	// named, up to maxOfFew of these.
	fewTraces = 8
	maxOfFew  = 2000
)

// tracesHolding are the traces that have some of the transactions that are named.
func (l *Lists) tracesHolding(ctx context.Context, v *View, n *Named) ([]Trace, error) {
	if len(n.hashes) <= fewTraces {
		list, few, err := l.fewTracesHolding(ctx, v, n)
		if few || err != nil {
			return list, err
		}
	}
	transactions, err := n.read(l, ctx, v, n.hashes)
	if err != nil {
		return nil, err
	}
	traces, err := l.TracesOf(ctx, v, transactions)
	return Bare(slices.DeleteFunc(traces, func(t *record.Trace) bool { return t == nil })), err
}

// fewTracesHolding are the same with all of their transactions, where they are few: these
// are read beside the traces.
func (l *Lists) fewTracesHolding(ctx context.Context, v *View, n *Named) (list []Trace, few bool, err error) {
	prefixes, err := l.prefixesBeside(ctx, v, n)
	if err != nil || len(prefixes) > fewTraces {
		return nil, false, err
	}
	var found foundTraces
	var members traceMembers
	var transactions []*record.Transaction
	group, inGroup := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		found, err = l.resolved(inGroup, v, prefixes)
		return err
	})
	group.Go(func() (err error) {
		if members, err = l.membersOf(inGroup, v, prefixes); err != nil {
			return err
		}
		members.settle(v)
		rows := 0
		for _, some := range members {
			rows += len(some)
		}
		if few = rows <= maxOfFew; few {
			transactions, err = l.transactionsOfMembers(inGroup, v, members)
		}
		return err
	})
	if err := group.Wait(); err != nil || !few {
		return nil, false, err
	}
	whole := found.whole()
	of := members.share(whole, transactions)
	for _, t := range whole {
		if members[schema.Prefix(t.Id)] == nil { // what one of them became a part of
			return nil, false, nil
		}
		if some := of[Hash(t.Id)]; slices.ContainsFunc(some, n.is) {
			list = append(list, Trace{Trace: t, transactions: some})
		}
	}
	return list, true, nil
}

// settle leaves out rows that the view does not show, of transactions that have another
// one: that of a broken trace which became a part of another one meanwhile.
func (m traceMembers) settle(v *View) {
	later := func(r plan.Row) bool { return r[memberSince] > uint64(v.Watermark) }
	shown := map[transactionKey]bool{}
	for _, rows := range m {
		for _, r := range rows {
			if !later(r) {
				shown[keyOfTransaction(r, transactionAt)] = true
			}
		}
	}
	for p, rows := range m {
		m[p] = slices.DeleteFunc(rows, func(r plan.Row) bool { return later(r) && shown[keyOfTransaction(r, transactionAt)] })
	}
}

// prefixesLedTo is the statement for the prefixes of the ids of the traces that may have
// those that are named.
func prefixesLedTo(n *Named) string {
	return fmt.Sprintf("SELECT trace_prefix FROM transaction_traces WHERE %s SETTINGS %s", ledTo(n.table, n.where), sql.NoProjections)
}

// heldPrefixes are the prefixes of the ids of the traces whose named transactions memory
// has.
func (n *Named) heldPrefixes(ctx context.Context, v *View) ([]uint64, error) {
	keys := &plan.Plan{Table: n.table, Columns: transactionColumns(transactionAt)}
	rows, err := keys.Held(ctx, plan.Source{Memory: v.Held}, &plan.Range{Where: n.where})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	among := sql.Among{Columns: []string{"workchain", "account_prefix", "lt"}}
	for _, r := range rows {
		k := keyOfTransaction(r, transactionAt)
		among.Tuples = append(among.Tuples, []any{k.Workchain, k.Prefix, k.lt})
	}
	traced, err := heldTraced(ctx, v.Held, sql.Conditions{among})
	prefixes := make([]uint64, len(traced))
	for i, t := range traced {
		prefixes[i] = t.Prefix
	}
	slices.Sort(prefixes)
	return slices.Compact(prefixes), err
}

// prefixesBeside reads the prefixes of the ids of the traces that may have those that are
// named.
func (l *Lists) prefixesBeside(ctx context.Context, v *View, n *Named) ([]uint64, error) {
	prefixes, err := n.heldPrefixes(ctx, v)
	if err != nil {
		return nil, err
	}
	if v.Tables > 0 {
		p := &plan.Plan{Reads: readsTraced, Columns: []plan.Column{{Name: "trace_prefix"}}}
		rows, err := p.Run(ctx, l.reader, prefixesLedTo(n))
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			prefixes = append(prefixes, r[0])
		}
	}
	slices.Sort(prefixes)
	return slices.Compact(prefixes), nil
}

// common are the traces that are in all of some lists.
func common(sets [][]Trace) []Trace {
	list := sets[0]
	for _, set := range sets[1:] {
		list = slices.DeleteFunc(list, func(t Trace) bool {
			return !slices.ContainsFunc(set, func(o Trace) bool { return bytes.Equal(o.Id, t.Id) })
		})
	}
	return list
}

// TransactionsWith are the visible transactions with some hashes, in no order.
func (l *Lists) TransactionsWith(ctx context.Context, v *View, hashes []Hash) ([]*record.Transaction, error) {
	if len(hashes) == 0 {
		return nil, nil
	}
	return paging.InChunks(ctx, hashes, func(ctx context.Context, some []Hash) ([]*record.Transaction, error) {
		f := &TransactionFilter{Hashes: some, Utime: Everything, Lts: Everything}
		list, _, err := l.Transactions(ctx, v, f, paging.Page{Limit: len(some)}, nil)
		return list, err
	})
}

// transactionsOfMessages are the visible transactions that hold messages with some
// hashes.
func (l *Lists) transactionsOfMessages(ctx context.Context, v *View, hashes []Hash) ([]*record.Transaction, error) {
	list, _, err := l.TransactionsByMessage(ctx, v, holders(hashes), paging.Page{Limit: maxOfMessages}, nil)
	return list, err
}

// maxOfMessages is how many transactions that hold named messages are looked at: of a
// message from outside that was accepted again and again, the first ones.
const maxOfMessages = 10_000

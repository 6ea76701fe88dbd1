package traced

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"tonscribe/query/head"
	"tonscribe/query/list"
	"tonscribe/query/list/plan"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// namedTraces reads the traces that each list of the filter names.
func (l *Lists) namedTraces(ctx context.Context, v *head.View, f *Filter, beside readingTraces) ([]Trace, error) {
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
		set, err := l.tracesHolding(ctx, v, list.NamedTransactions(f.Transactions), f.Ahead)
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	if len(f.Messages) > 0 {
		set, err := l.tracesHolding(ctx, v, list.NamedMessages(f.Messages), f.Ahead)
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	return common(sets), nil
}

const (
	// fewTraces are read with all of their transactions to see which of them hold what is
	// named, up to maxOfFew of these.
	fewTraces = 8
	maxOfFew  = 2000
)

// tracesHolding are the traces that have some of the transactions that are named.
func (l *Lists) tracesHolding(ctx context.Context, v *head.View, n *list.Named, ahead func(context.Context, []sql.AccountKey)) ([]Trace, error) {
	if len(n.Hashes) <= fewTraces {
		list, few, err := l.fewTracesHolding(ctx, v, n, ahead)
		if few || err != nil {
			return list, err
		}
	}
	transactions, err := n.Read(l.chain, ctx, v, n.Hashes)
	if err != nil {
		return nil, err
	}
	traces, err := l.TracesOf(ctx, v, transactions)
	return Bare(slices.DeleteFunc(traces, func(t *record.Trace) bool { return t == nil })), err
}

// fewTracesHolding are the same with all of their transactions, where they are few: these
// are read beside the traces.
func (l *Lists) fewTracesHolding(ctx context.Context, v *head.View, n *list.Named, ahead func(context.Context, []sql.AccountKey)) (list []Trace, few bool, err error) {
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
		members.dropMoved(v)
		rows := 0
		for _, some := range members {
			rows += len(some)
		}
		if few = rows <= maxOfFew; few {
			if ahead != nil {
				ahead(ctx, members.accounts())
			}
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
		if some := of[Hash(t.Id)]; slices.ContainsFunc(some, n.Is) {
			list = append(list, Trace{Trace: t, transactions: some})
		}
	}
	return list, true, nil
}

// dropMoved leaves out rows that the view does not show, of transactions that have another
// one: that of a broken trace which became a part of another one meanwhile.
func (m traceMembers) dropMoved(v *head.View) {
	later := func(r plan.Row) bool { return r[memberSince] > uint64(v.Watermark) }
	shown := map[list.RowKey]bool{}
	for _, rows := range m {
		for _, r := range rows {
			if !later(r) {
				shown[memberKey(r)] = true
			}
		}
	}
	for p, rows := range m {
		m[p] = slices.DeleteFunc(rows, func(r plan.Row) bool { return later(r) && shown[memberKey(r)] })
	}
}

// prefixesLedTo is the statement for the prefixes of the ids of the traces that may have
// those that are named.
func prefixesLedTo(n *list.Named) string {
	return fmt.Sprintf("SELECT trace_prefix FROM transaction_traces WHERE %s SETTINGS %s", ledTo(n.Table, n.Where), sql.NoProjections)
}

// heldPrefixes are the prefixes of the ids of the traces whose named transactions memory
// has.
func heldPrefixes(ctx context.Context, v *head.View, n *list.Named) ([]uint64, error) {
	keys := &plan.Plan{Table: n.Table, Columns: list.RowKeyColumns(0)}
	rows, err := keys.Held(ctx, plan.Source{Memory: v.Held}, &plan.Range{Where: n.Where})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	among := sql.Among{Columns: []string{"workchain", "account_prefix", "lt"}}
	for _, r := range rows {
		k := list.RowKeyIn(r, 0)
		among.Tuples = append(among.Tuples, []any{k.Workchain, k.Prefix, k.Lt})
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
func (l *Lists) prefixesBeside(ctx context.Context, v *head.View, n *list.Named) ([]uint64, error) {
	prefixes, err := heldPrefixes(ctx, v, n)
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

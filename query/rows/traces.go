package rows

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"tonscribe/decode/action"
	"tonscribe/decode/trace"
	"tonscribe/query/list"
	"tonscribe/query/list/traced"
	"tonscribe/query/render"
	"tonscribe/schema/record"
)

// maxTraceNodes is how many transactions a trace has at most that is shown with them.
const maxTraceNodes = 4000

// TraceRows reads what traces have besides themselves, side by side: of their actions
// those that are seen.
func (r *Reader) TraceRows(ctx context.Context, traces []traced.Trace, withActions bool, sees func(*record.Action) bool) (map[list.Hash]render.TraceRow, error) {
	return r.traceRows(ctx, traces, func(t *record.Trace) bool { return t.Nodes <= maxTraceNodes }, withActions, sees)
}

// traceRows is TraceRows for traces of which some are shown with their transactions.
func (r *Reader) traceRows(ctx context.Context, traces []traced.Trace, whole func(*record.Trace) bool, withActions bool, sees func(*record.Action) bool) (map[list.Hash]render.TraceRow, error) {
	var transactions map[list.Hash][]*record.Transaction
	var actions map[list.Hash][]*record.Action
	small := slices.DeleteFunc(slices.Clone(traces), func(t traced.Trace) bool { return !whole(t.Trace) })
	r.Ahead(ctx, traced.AccountsOf(small))
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		transactions, err = r.Store.TransactionsOf(ctx, r.View, small)
		return err
	})
	if withActions {
		group.Go(func() (err error) {
			actions, err = r.Store.ActionsOf(ctx, r.View, traces)
			return err
		})
	}
	err := group.Wait()
	if err != nil {
		return nil, err
	}
	rows := make(map[list.Hash]render.TraceRow, len(traces))
	for _, found := range traces {
		id := list.Hash(found.Id)
		t := traced.AsOf(r.View, found.Trace, transactions[id])
		row := render.TraceRow{Trace: t}
		if of := transactions[id]; len(of) > 0 {
			if row.Tree, err = trace.NewTree(of); err != nil {
				return nil, fmt.Errorf("trace %x: %w", t.Id, err)
			}
		}
		var seen []*action.Action
		for _, a := range actions[id] {
			if t.PendingEdges > 0 || !sees(a) {
				continue
			}
			read, err := action.FromRecord(a)
			if err != nil {
				return nil, fmt.Errorf("trace %x: %w", t.Id, err)
			}
			seen = append(seen, read)
		}
		row.Actions = render.ActionsOf(seen, t)
		rows[id] = row
	}
	return rows, nil
}

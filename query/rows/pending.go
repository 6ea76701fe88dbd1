package rows

import (
	"cmp"
	"context"
	"slices"

	"tonscribe/decode/action"
	cascade "tonscribe/decode/pending"
	"tonscribe/query/api"
	"tonscribe/query/head"
	"tonscribe/query/list"
	"tonscribe/query/list/paging"
	"tonscribe/query/list/traced"
	"tonscribe/query/pending"
	"tonscribe/query/render"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// What one answer has of pending traces at most.
const (
	MaxPendingTraces       = 200
	maxPendingTransactions = 10_000
)

// Merge joins traces with what the index has of them, and leaves out those of which it
// has all. Of too many it takes the first, and reports that it cut them.
func (r *Reader) Merge(ctx context.Context, traces []*pending.Trace) (merged []*cascade.Merged, cut bool, err error) {
	total := 0
	for i, t := range traces {
		if total += len(t.Transactions); i == MaxPendingTraces || total > maxPendingTransactions {
			traces, cut = traces[:i], true
			break
		}
	}
	if len(traces) == 0 {
		return nil, cut, nil
	}
	found, done, unread, err := r.arrived(ctx, traces)
	if err != nil {
		return nil, cut, err
	}
	for _, t := range traces {
		switch {
		case done[t.ID]:
			r.Pending.Done(t.ID)
		case unread[t.ID]:
			cut = true
		default:
			merged = append(merged, cascade.Merge(t.Transactions, found[t.ID]))
		}
	}
	return merged, cut, nil
}

// arrived reads what the index has of traces, by their ids, of which it has all, or too
// much to tell what is still to come, and of which it was not read, because that of the
// others was much.
func (r *Reader) arrived(ctx context.Context, traces []*pending.Trace) (found map[list.Hash][]*record.Transaction, done, unread map[list.Hash]bool, err error) {
	ids, expected := make([]list.Hash, len(traces)), make(map[list.Hash]uint32, len(traces))
	for i, t := range traces {
		ids[i], expected[t.ID] = t.ID, t.Transactions[0].Now
	}
	f := &list.MessageFilter{Hashes: ids, Direction: list.In, Utime: list.Everything, Lts: list.Everything}
	roots, more, err := r.Store.TransactionsByMessage(ctx, r.View, f, paging.Page{Limit: maxPendingRoots, Descending: true}, nil)
	if err != nil {
		return nil, nil, nil, err
	}
	of, err := r.Store.TracesOf(ctx, r.View, roots)
	if err != nil {
		return nil, nil, nil, err
	}
	found, done, unread = map[list.Hash][]*record.Transaction{}, map[list.Hash]bool{}, map[list.Hash]bool{}
	for _, id := range ids {
		unread[id] = more
	}
	owner := map[list.Hash]list.Hash{} // of open traces, by their ids
	var open []*record.Trace
	nodes := 0 // of these
	for i, root := range roots {
		id, ok := idOf(root.InMsg)
		if !ok {
			continue
		}
		unread[id] = false
		switch t := of[i]; {
		case uint64(root.Now)+bygone < uint64(expected[id]):
		case t != nil && (t.PendingEdges == 0 && t.McSeqnoEnd <= r.View.Watermark || t.Nodes > maxTraceNodes):
			done[id] = true
		case t == nil:
			found[id] = append(found[id], root)
		case nodes+int(t.Nodes) > traced.MaxTransactions:
			unread[id] = true
		default:
			nodes += int(t.Nodes)
			open, owner[list.Hash(t.Id)] = append(open, t), id
		}
	}
	transactions, err := r.Store.TransactionsOf(ctx, r.View, traced.Bare(open))
	if err != nil {
		return nil, nil, nil, err
	}
	for id, some := range transactions {
		found[owner[id]] = append(found[owner[id]], some...)
	}
	return found, done, unread, nil
}

const (
	// maxPendingRoots is how many transactions are looked at that may have received the
	// messages, the newest: most messages are received once.
	maxPendingRoots = 4 * MaxPendingTraces
	// bygone is how many seconds before the time for which it is foreseen a message was
	// received when it is one that was sent before: some accounts take the same message
	// again and again. Clocks differ by less.
	bygone = 600
)

// idOf is the normalised hash of a message from outside.
func idOf(m *record.Message) (list.Hash, bool) {
	switch {
	case m.GetKind() != record.Message_EXTERNAL_IN:
		return list.Hash{}, false
	case len(m.HashNorm) == len(list.Hash{}):
		return list.Hash(m.HashNorm), true
	}
	return list.Hash(m.Hash), len(m.Hash) == len(list.Hash{})
}

// RowOf is the row of a trace without its actions.
func RowOf(m *cascade.Merged) render.TraceRow {
	return render.TraceRow{Trace: m.Trace, Tree: m.Tree, Foreseen: m.Foreseen}
}

// PendingRows recognises the actions of traces, by what is known of contracts now, and
// leaves out those that are not shown.
func (r *Reader) PendingRows(ctx context.Context, merged []*cascade.Merged, shown func(*action.Action) bool) ([]render.TraceRow, error) {
	facts := &facts{Context: ctx, read: r.Store.Contracts, known: map[address.Address]*record.Contract{}}
	wanted := api.Book{}
	for _, m := range merged {
		for _, tx := range m.Tree.Transactions {
			wanted.Add(tx.Account)
			for _, out := range tx.OutMsgs {
				wanted.Add(out.Destination)
			}
		}
	}
	facts.load(wanted)
	return facts.rows(merged, shown)
}

// maxRounds is how often contracts are read together that actions lead to: sales name
// items, wallets masters.
const maxRounds = 4

// rows recognises the actions of traces. What it does not know of contracts it reads
// together, and begins again.
func (f *facts) rows(merged []*cascade.Merged, shown func(*action.Action) bool) ([]render.TraceRow, error) {
	for round := 1; ; round++ {
		f.missing = nil
		if round < maxRounds {
			f.missing = api.Book{}
		}
		rows, err := f.recognised(merged, shown)
		if err != nil || len(f.missing) == 0 {
			return rows, err
		}
		f.load(f.missing)
	}
}

func (f *facts) recognised(merged []*cascade.Merged, shown func(*action.Action) bool) ([]render.TraceRow, error) {
	rows := make([]render.TraceRow, 0, len(merged))
	for _, m := range merged {
		row := RowOf(m)
		found, _ := action.Classify(m.Tree, f) // of recognisers that fail the stage traces tells
		if f.failed != nil {
			return nil, f.failed
		}
		found = slices.DeleteFunc(found, func(a *action.Action) bool { return !shown(a) })
		row.Actions = render.PendingActionsOf(found, m.Trace, m.Foreseen)
		rows = append(rows, row)
	}
	return rows, nil
}

// facts are what the index knows of contracts.
type facts struct {
	context.Context
	read  func(context.Context, []address.Address) (map[address.Address]*record.Contract, error)
	known map[address.Address]*record.Contract // nil for what is none
	// missing are the contracts that were asked for and are not known; where it is nil,
	// they are read at once.
	missing api.Book
	failed  error
}

// load reads some accounts at once.
func (f *facts) load(wanted api.Book) {
	var some []address.Address
	for a := range wanted {
		if _, is := f.known[a]; !is && a != api.Nobody {
			some = append(some, a)
			f.known[a] = nil
		}
	}
	if len(some) == 0 || f.failed != nil {
		return
	}
	slices.SortFunc(some, func(a, b address.Address) int { return slices.Compare(a[:], b[:]) })
	read, err := f.read(f, some)
	f.failed = err
	for a, c := range read {
		f.known[a] = c
	}
}

// Contract implements action.Facts.
func (f *facts) Contract(account []byte) *record.Contract {
	if len(account) != address.Size {
		return nil
	}
	a := address.Address(account)
	switch c, is := f.known[a]; {
	case is:
		return c
	case f.missing != nil:
		f.missing.Add(account)
		return nil
	}
	f.load(api.Book{a: {}})
	return f.known[a]
}

// AccountData implements action.Facts: the index does not ask for data either.
func (f *facts) AccountData([]byte) []byte { return nil }

// Foreseen are the rows of traces of messages that were sent, with what the view shows of
// them; those that it has as a whole are left out.
func (r *Reader) Foreseen(ctx context.Context, v *head.View, traces []*pending.Trace) ([]render.TraceRow, error) {
	in := *r
	in.View = v
	var merged []*cascade.Merged
	for some := range slices.Chunk(traces, MaxPendingTraces) {
		more, err := in.mergeAll(ctx, some)
		if err != nil {
			return nil, err
		}
		merged = append(merged, more...)
	}
	rows, err := in.PendingRows(ctx, merged, func(*action.Action) bool { return true })
	for i := range rows {
		slices.SortStableFunc(rows[i].Actions, func(a, b render.ActionRow) int {
			return cmp.Or(cmp.Compare(a.StartLt, b.StartLt), cmp.Compare(a.EndLt, b.EndLt))
		})
	}
	return rows, err
}

// mergeAll is Merge in parts, where it cuts the whole.
func (r *Reader) mergeAll(ctx context.Context, traces []*pending.Trace) ([]*cascade.Merged, error) {
	merged, cut, err := r.Merge(ctx, traces)
	half := len(traces) / 2
	if err != nil || !cut || half == 0 {
		return merged, err
	}
	first, err := r.mergeAll(ctx, traces[:half])
	if err != nil {
		return nil, err
	}
	second, err := r.mergeAll(ctx, traces[half:])
	return append(first, second...), err
}

package v3

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"tonscribe/decode/action"
	cascade "tonscribe/decode/pending"
	"tonscribe/query/api"
	"tonscribe/query/list"
	"tonscribe/query/list/paging"
	"tonscribe/query/list/traced"
	"tonscribe/query/params"
	"tonscribe/query/pending"
	"tonscribe/query/render"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

var (
	pendingTracesAnswer       = listOf("PendingTracesAnswer", "traces", render.Trace, hasBook|hasMetadata)
	pendingActionsAnswer      = listOf("PendingActionsAnswer", "actions", render.Action, hasBook|hasMetadata)
	pendingTransactionsAnswer = listOf("PendingTransactionsAnswer", "transactions", render.Transaction, hasBook)
)

var (
	errNoPending     = &params.Error{Status: http.StatusInternalServerError, Text: "emulatedTracesRepository is not initialized"}
	errWhosePending  = params.Unprocessable("account or ext_msg_hash should be specified")
	errPendingOf     = params.Unprocessable("at least 1 account address required")
	errNothingToCome = params.NotFound("emulated traces not found")
)

// What one answer has of pending traces at most.
const (
	maxPendingTraces       = 200
	maxPendingTransactions = 10_000
)

const aboutPending = " A message that was sent here is executed with all that follows, on the newest states; each transaction is replaced by the real one as that is indexed, and a trace of which all is indexed is gone from here. What never comes is shown for ten minutes."

// pendingParams are those of traces and actions that are to come.
func pendingParams(more ...params.Param) []params.Param {
	return slices.Concat([]params.Param{
		{Name: "account", Kind: params.AddressKind, Description: "account that takes part; ext_msg_hash does not count then"},
		{Name: "ext_msg_hash", Kind: params.HashKind, Multi: true, Range: "up to 1024", Description: "messages that were sent, raw or normalized hash"},
		supportedTypesParam,
	}, more)
}

var pendingTraces = &Endpoint{
	Path: "/pendingTraces", Tag: actionsAndTraces, Summary: "Traces to come",
	Description: "Traces of messages that were sent, with their actions, as far as they are foreseen." + aboutPending,
	Params:      pendingParams(), Headers: actionHeaders,
	Result: pendingTracesAnswer, Errors: []params.Error{*errWhosePending, *errNoPending},
	serve: func(q *request) error {
		found, err := q.toCome()
		if err != nil {
			return err
		}
		rows, err := q.pendingRows(q, found, q.shown())
		if err != nil {
			return err
		}
		return serveRows(q, pendingTracesAnswer, render.TraceActions|render.ActionAccounts, rows, nil, func(r render.TraceRow) render.TraceRow { return r })
	},
}

var pendingActions = &Endpoint{
	Path: "/pendingActions", Tag: actionsAndTraces, Summary: "Actions to come",
	Description: "What messages that were sent will have done, as far as that is foreseen." + aboutPending,
	Params: pendingParams(
		params.Param{Name: "include_transactions", Kind: params.BoolKind, Default: "false", Description: "add transactions_full to each action"}),
	Headers: actionHeaders,
	Result:  pendingActionsAnswer, Errors: []params.Error{*errWhosePending, *errNoPending},
	serve: servePendingActions,
}

func servePendingActions(q *request) error {
	found, err := q.toCome()
	if err != nil {
		return err
	}
	rows, err := q.pendingRows(q, found, q.shown())
	if err != nil {
		return err
	}
	slices.SortStableFunc(rows, func(a, b render.TraceRow) int { return cmp.Compare(b.EndLt, a.EndLt) })
	account := q.address("account")
	var list []render.ActionRow
	parts := render.ActionAccounts
	if q.values.Bool("include_transactions") {
		parts |= render.ActionTransactions
	}
	for _, t := range rows {
		for _, a := range t.Actions {
			if account != nil && !slices.ContainsFunc(a.Accounts, func(b action.Address) bool { return string(b) == string(account[:]) }) {
				continue
			}
			if parts&render.ActionTransactions != 0 {
				a.Full = fullOf(a, t)
			}
			list = append(list, a)
		}
	}
	return serveRows(q, pendingActionsAnswer, parts, list, nil, func(r render.ActionRow) render.ActionRow { return r })
}

// fullOf are the transactions of an action of a trace.
func fullOf(a render.ActionRow, t render.TraceRow) (full []render.TransactionRow) {
	for _, tx := range t.Tree.Transactions {
		if slices.ContainsFunc(a.Transactions, func(h []byte) bool { return string(h) == string(tx.Hash) }) {
			full = append(full, t.Row(tx))
		}
	}
	return full
}

var pendingTransactions = &Endpoint{
	Path: "/pendingTransactions", Tag: "Blockchain data", Summary: "Transactions to come",
	Description: "Transactions of accounts that no block has yet, as far as they are foreseen." + aboutPending,
	Params: []params.Param{
		{Name: "account", Kind: params.AddressKind, Multi: true, Required: true, Range: "1..1024", Description: "accounts"},
		{Name: "trace_id", Kind: params.HashKind, Multi: true, Range: "up to 1024", Description: "has no effect: what is to come has no trace_id"},
	},
	Result: pendingTransactionsAnswer, Errors: []params.Error{*errPendingOf, *errNothingToCome, *errNoPending},
	serve: servePendingTransactions,
}

func servePendingTransactions(q *request) error {
	accounts := q.values.Addresses("account")
	if len(accounts) == 0 {
		return errPendingOf
	}
	if q.pending == nil {
		return errNoPending
	}
	merged, err := q.merge(q.pending.Of(accounts, maxPendingTraces))
	if err != nil {
		return err
	}
	if len(merged) == 0 {
		return errNothingToCome
	}
	wanted := make(map[address.Address]bool, len(accounts))
	for _, a := range accounts {
		wanted[a] = true
	}
	var rows []render.TransactionRow
	for _, m := range merged {
		t := rowOf(m)
		for _, tx := range m.Tree.Transactions {
			if m.Foreseen[tx] && len(tx.Account) == address.Size && wanted[address.Address(tx.Account)] {
				rows = append(rows, t.Row(tx))
			}
		}
	}
	return serveRows(q, pendingTransactionsAnswer, 0, rows, nil, func(r render.TransactionRow) render.TransactionRow { return r })
}

// toCome are the traces that the request names.
func (q *request) toCome() ([]*cascade.Merged, error) {
	account, hashes := q.address("account"), q.values.Hashes("ext_msg_hash")
	switch {
	case account == nil && len(hashes) == 0:
		return nil, errWhosePending
	case q.pending == nil:
		return nil, errNoPending
	case account != nil:
		return q.merge(q.pending.Of([]address.Address{*account}, maxPendingTraces))
	}
	return q.merge(q.pending.Sent(hashes))
}

// merge joins traces with what the index has of them, and leaves out those of which it
// has all. Of too many it takes the first.
func (q *request) merge(traces []*pending.Trace) ([]*cascade.Merged, error) {
	total := 0
	for i, t := range traces {
		if total += len(t.Transactions); i == maxPendingTraces || total > maxPendingTransactions {
			traces = traces[:i]
			q.hints = append(q.hints, "some traces are left out: all of them are too many, name fewer")
			break
		}
	}
	if len(traces) == 0 {
		return nil, nil
	}
	found, done, err := q.arrived(q, traces)
	if err != nil {
		return nil, err
	}
	var merged []*cascade.Merged
	for _, t := range traces {
		if done[t.ID] {
			q.pending.Done(t.ID)
			continue
		}
		merged = append(merged, cascade.Merge(t.Transactions, found[t.ID]))
	}
	return merged, nil
}

// arrived reads what the index has of traces, by their ids, and of which it has all.
func (q *answers) arrived(ctx context.Context, traces []*pending.Trace) (found map[list.Hash][]*record.Transaction, done map[list.Hash]bool, err error) {
	ids := make([]list.Hash, len(traces))
	for i, t := range traces {
		ids[i] = t.ID
	}
	f := &list.MessageFilter{Hashes: ids, Direction: list.In, Utime: list.Everything, Lts: list.Everything}
	roots, _, err := q.store.TransactionsByMessage(ctx, q.view, f, paging.Page{Limit: maxPendingRoots}, nil)
	if err != nil {
		return nil, nil, err
	}
	of, err := q.store.TracesOf(ctx, q.view, roots)
	if err != nil {
		return nil, nil, err
	}
	found, done = map[list.Hash][]*record.Transaction{}, map[list.Hash]bool{}
	owner := map[list.Hash]list.Hash{} // of open traces, by their ids
	var open []*record.Trace
	for i, root := range roots {
		id, ok := idOf(root.InMsg)
		switch t := of[i]; {
		case !ok:
		case t == nil || t.Nodes > maxTraceNodes:
			found[id] = append(found[id], root)
		case t.PendingEdges == 0 && t.McSeqnoEnd <= q.view.Watermark:
			done[id] = true
		default:
			open, owner[list.Hash(t.Id)] = append(open, t), id
		}
	}
	transactions, err := q.store.TransactionsOf(ctx, q.view, traced.Bare(open))
	if err != nil {
		return nil, nil, err
	}
	for id, some := range transactions {
		found[owner[id]] = append(found[owner[id]], some...)
	}
	return found, done, nil
}

// maxPendingRoots is how many transactions are looked at that may have received the
// messages: most messages are received once.
const maxPendingRoots = 4 * maxPendingTraces

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

func rowOf(m *cascade.Merged) render.TraceRow {
	return render.TraceRow{Trace: m.Trace, Tree: m.Tree, Foreseen: m.Foreseen}
}

// shown reports which actions the client is shown.
func (q *request) shown() func(*action.Action) bool {
	types := q.supportedTypes()
	return func(a *action.Action) bool { return a.Shown(types.Supported) }
}

// pendingRows recognises the actions of traces, by what is known of contracts now, and
// leaves out those that are not shown.
func (q *answers) pendingRows(ctx context.Context, merged []*cascade.Merged, shown func(*action.Action) bool) ([]render.TraceRow, error) {
	facts := &facts{Context: ctx, read: q.store.Contracts, known: map[address.Address]*record.Contract{}}
	wanted := api.Book{}
	for _, m := range merged {
		for _, tx := range m.Tree.Transactions {
			wanted.Add(tx.Account)
			for _, out := range tx.OutMsgs {
				wanted.Add(out.Destination)
			}
		}
	}
	facts.learn(wanted)
	rows := make([]render.TraceRow, 0, len(merged))
	for _, m := range merged {
		row := rowOf(m)
		found, _ := action.Classify(m.Tree, facts) // of recognisers that fail the stage traces tells
		if facts.failed != nil {
			return nil, facts.failed
		}
		foreseen := map[string]bool{}
		for tx := range m.Foreseen {
			foreseen[string(tx.Hash)] = true
		}
		for _, a := range found {
			if shown(a) {
				row.Actions = append(row.Actions, render.ActionRow{Action: a, Trace: m.Trace,
					Foreseen: slices.ContainsFunc(a.Transactions, func(h []byte) bool { return foreseen[string(h)] })})
			}
		}
		slices.SortStableFunc(row.Actions, func(a, b render.ActionRow) int {
			return cmp.Or(cmp.Compare(b.EndLt, a.EndLt), cmp.Compare(b.StartLt, a.StartLt))
		})
		rows = append(rows, row)
	}
	return rows, nil
}

// facts are what the index knows of contracts.
type facts struct {
	context.Context
	read   func(context.Context, []address.Address) (map[address.Address]*record.Contract, error)
	known  map[address.Address]*record.Contract // nil for what is none
	failed error
}

// learn reads some accounts at once.
func (f *facts) learn(wanted api.Book) {
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
	if _, is := f.known[a]; !is {
		f.learn(api.Book{a: {}})
	}
	return f.known[a]
}

// AccountData implements action.Facts: the index does not ask for data either.
func (f *facts) AccountData([]byte) []byte { return nil }

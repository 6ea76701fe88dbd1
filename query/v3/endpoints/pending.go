package endpoints

import (
	"cmp"
	"net/http"
	"slices"

	"tonscribe/decode/action"
	cascade "tonscribe/decode/pending"
	"tonscribe/query/params"
	"tonscribe/query/pending"
	"tonscribe/query/render"
	"tonscribe/query/rows"
	v3 "tonscribe/query/v3"
	"tonscribe/ton/address"
)

var (
	pendingTracesAnswer       = v3.ListOf("PendingTracesAnswer", "traces", render.Trace, v3.HasBook|v3.HasMetadata)
	pendingActionsAnswer      = v3.ListOf("PendingActionsAnswer", "actions", render.Action, v3.HasBook|v3.HasMetadata)
	pendingTransactionsAnswer = v3.ListOf("PendingTransactionsAnswer", "transactions", render.Transaction, v3.HasBook)
)

var (
	errNoPending     = &params.Error{Status: http.StatusInternalServerError, Text: "emulatedTracesRepository is not initialized"}
	errWhosePending  = params.Unprocessable("account or ext_msg_hash should be specified")
	errPendingOf     = params.Unprocessable("at least 1 account address required")
	errNothingToCome = params.NotFound("emulated traces not found")
)

const aboutPending = " A message that was sent here is executed with all that follows, on the newest states; each transaction is replaced by the real one as that is indexed, and a trace of which all is indexed is gone from here. What never comes is shown for ten minutes."

// pendingParams are those of traces and actions that are to come; account says what these
// have to do with one.
func pendingParams(account string, more ...params.Param) []params.Param {
	return slices.Concat([]params.Param{
		{Name: "account", Kind: params.AddressKind, Description: account + "; ext_msg_hash does not count then"},
		{Name: "ext_msg_hash", Kind: params.HashKind, Multi: true, Range: "up to 1024", Description: "messages that were sent, raw or normalized hash"},
		supportedTypesParam,
	}, more)
}

var pendingTraces = &v3.Endpoint{
	Path: "/pendingTraces", Tag: actionsAndTraces, Summary: "Traces to come",
	Description: "Traces of messages that were sent, with their actions, as far as they are foreseen." + aboutPending,
	Params:      pendingParams("account that takes part in the trace"), Headers: actionHeaders,
	Result: pendingTracesAnswer, Errors: []params.Error{*errWhosePending, *errNoPending},
	Serve: func(q *v3.Request) error {
		found, err := toCome(q, (*pending.Store).Of)
		if err != nil {
			return err
		}
		rows, err := q.PendingRows(q, found, shown(q))
		if err != nil {
			return err
		}
		return v3.ServeRows(q, pendingTracesAnswer, render.TraceActions|render.ActionAccounts, rows, nil, func(r render.TraceRow) render.TraceRow { return r })
	},
}

var pendingActions = &v3.Endpoint{
	Path: "/pendingActions", Tag: actionsAndTraces, Summary: "Actions to come",
	Description: "What messages that were sent will have done, as far as that is foreseen." + aboutPending,
	Params: pendingParams("account that the action concerns, and that has a transaction in its trace, or gets jettons or an NFT item by it",
		params.Param{Name: "include_transactions", Kind: params.BoolKind, Default: "false", Description: "add transactions_full to each action"}),
	Headers: actionHeaders,
	Result:  pendingActionsAnswer, Errors: []params.Error{*errWhosePending, *errNoPending},
	Serve: servePendingActions,
}

func servePendingActions(q *v3.Request) error {
	found, err := toCome(q, (*pending.Store).Concerning)
	if err != nil {
		return err
	}
	rows, err := q.PendingRows(q, found, shown(q))
	if err != nil {
		return err
	}
	slices.SortStableFunc(rows, func(a, b render.TraceRow) int { return cmp.Compare(b.EndLt, a.EndLt) })
	account := q.Address("account")
	var list []render.ActionRow
	parts := render.ActionAccounts
	if q.Values.Bool("include_transactions") {
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
	return v3.ServeRows(q, pendingActionsAnswer, parts, list, nil, func(r render.ActionRow) render.ActionRow { return r })
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

var pendingTransactions = &v3.Endpoint{
	Path: "/pendingTransactions", Tag: "Blockchain data", Summary: "Transactions to come",
	Description: "Transactions of accounts that no block has yet, as far as they are foreseen." + aboutPending,
	Params: []params.Param{
		{Name: "account", Kind: params.AddressKind, Multi: true, Required: true, Range: "1..1024", Description: "accounts"},
		{Name: "trace_id", Kind: params.HashKind, Multi: true, Range: "up to 1024", Description: "has no effect: what is to come has no trace_id"},
	},
	Result: pendingTransactionsAnswer, Errors: []params.Error{*errPendingOf, *errNothingToCome, *errNoPending},
	Serve: servePendingTransactions,
}

func servePendingTransactions(q *v3.Request) error {
	accounts := q.Values.Addresses("account")
	if len(accounts) == 0 {
		return errPendingOf
	}
	if q.Pending == nil {
		return errNoPending
	}
	merged, err := mergeOf(q, accounts, (*pending.Store).Of)
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
	var found []render.TransactionRow
	for _, m := range merged {
		t := rows.RowOf(m)
		for _, tx := range m.Tree.Transactions {
			if m.Foreseen[tx] && len(tx.Account) == address.Size && wanted[address.Address(tx.Account)] {
				found = append(found, t.Row(tx))
			}
		}
	}
	return v3.ServeRows(q, pendingTransactionsAnswer, 0, found, nil, func(r render.TransactionRow) render.TransactionRow { return r })
}

// ofAccounts are the newest traces that have to do with some accounts, up to a number.
type ofAccounts func(s *pending.Store, accounts []address.Address, limit int) []*pending.Trace

// toCome are the traces that the request names.
func toCome(q *v3.Request, of ofAccounts) ([]*cascade.Merged, error) {
	account, hashes := q.Address("account"), q.Values.Hashes("ext_msg_hash")
	switch {
	case account == nil && len(hashes) == 0:
		return nil, errWhosePending
	case q.Pending == nil:
		return nil, errNoPending
	case account != nil:
		return mergeOf(q, []address.Address{*account}, of)
	}
	return merge(q, q.Pending.Sent(hashes))
}

// mergeOf joins the newest traces of accounts with what the index has of them. One more than
// an answer has says that there are more.
func mergeOf(q *v3.Request, accounts []address.Address, of ofAccounts) ([]*cascade.Merged, error) {
	return merge(q, of(q.Pending, accounts, rows.MaxPendingTraces+1))
}

// merge joins traces with what the index has of them.
func merge(q *v3.Request, traces []*pending.Trace) ([]*cascade.Merged, error) {
	merged, cut, err := q.Merge(q, traces)
	if cut {
		q.Hints = append(q.Hints, "some traces are left out: all of them are too many, name fewer")
	}
	return merged, err
}

// shown reports which actions the client is shown.
func shown(q *v3.Request) func(*action.Action) bool {
	types := supportedTypes(q)
	return func(a *action.Action) bool { return a.Shown(types.Supported) }
}

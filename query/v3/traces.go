package v3

import (
	"cmp"
	"slices"

	"tonscribe/decode/trace"
	"tonscribe/query/list"
	"tonscribe/query/list/traced"
	"tonscribe/query/params"
	"tonscribe/query/render"
	"tonscribe/schema/record"
)

const actionsAndTraces = "Actions and traces"

var (
	tracesAnswer = listOf("TracesAnswer", "traces", render.Trace, hasBook|hasMetadata|hasNext)
	eventsAnswer = listOf("EventsAnswer", "events", render.Trace, hasBook|hasMetadata|hasNext)
)

var oneOfTraceFilters = params.Unprocessable("only one of account, trace_id, tx_hash, msg_hash should be specified")

// traceParams are those of traces and events but for include_actions.
func traceParams(more ...params.Param) []params.Param {
	return slices.Concat([]params.Param{
		{Name: "account", Kind: params.AddressKind, Description: "account that has a transaction in the trace"},
		{Name: "trace_id", Kind: params.HashKind, Multi: true, Range: "up to 1024", Description: "ids of traces"},
		{Name: "tx_hash", Kind: params.HashKind, Multi: true, Range: "up to 1024", Description: "transactions of the traces"},
		{Name: "msg_hash", Kind: params.HashKind, Multi: true, Range: "up to 1024", Description: "messages of the traces, raw or normalized hash"},
		{Name: "mc_seqno", Kind: params.Int32Kind, Description: "masterchain block with which the trace ended"},
	}, more, []params.Param{supportedTypesParam}, params.UtimeRange("end of the trace"), params.LTRange("end of the trace"),
		params.PageParams("desc", "by the end of the trace"))
}

var includeActionsParam = params.Param{Name: "include_actions", Kind: params.BoolKind, Default: "false", Description: "add actions to each trace"}

var traces = &Endpoint{
	Path: "/traces", Tag: actionsAndTraces, Summary: "Traces",
	Description: "Traces that have no open messages, with their transactions; those that are named by trace_id, tx_hash or msg_hash also while messages of them are open. Of a trace of more than 4000 transactions these are left out.",
	Params:      traceParams(includeActionsParam), Headers: actionHeaders,
	Result: tracesAnswer, Errors: traceErrors,
	serve: func(q *request) error { return q.serveTraces(tracesAnswer, q.values.Bool(includeActionsParam.Name)) },
}

var events = &Endpoint{
	Path: "/events", Tag: actionsAndTraces, Summary: "Traces with their actions",
	Description: "What /traces answers with include_actions, as events.",
	Params:      traceParams(), Headers: actionHeaders,
	Result: eventsAnswer, Errors: traceErrors,
	serve: func(q *request) error { return q.serveTraces(eventsAnswer, true) },
}

var traceErrors = []params.Error{*params.NotFound("masterchain block N not found"), *oneOfTraceFilters}

func (q *request) serveTraces(answer *answerList[render.TraceRow], withActions bool) error {
	f := &traced.Filter{
		Account: q.address("account"), IDs: q.values.Hashes("trace_id"), Transactions: q.values.Hashes("tx_hash"), Messages: q.values.Hashes("msg_hash"),
		McSeqno: q.int32("mc_seqno"), Utime: q.span("start_utime", "end_utime"), Lts: q.span("start_lt", "end_lt"),
	}
	given := 0
	for _, is := range []bool{f.Account != nil, len(f.IDs) > 0, len(f.Transactions) > 0, len(f.Messages) > 0} {
		if is {
			given++
		}
	}
	if given > 1 {
		return oneOfTraceFilters
	}
	types := q.supportedTypes()
	var rows map[list.Hash]render.TraceRow
	p := &page[traced.Trace, render.TraceRow, traced.Key]{
		sort: params.Descending, keyOf: traced.KeyOf, read: inView(q, f, q.Store.Traces), none: q.knows(f.McSeqno),
		before: func(found []traced.Trace) (err error) {
			rows, err = q.TraceRows(q, found, withActions, types.Sees)
			return err
		},
		row: func(t traced.Trace) render.TraceRow { return rows[list.Hash(t.Id)] },
	}
	if withActions {
		p.parts = render.TraceActions
	}
	return servePage(q, answer, p)
}

// knows returns what is called for an empty page of a list that may be that of a
// masterchain block, which must be known then.
func (q *request) knows(master *int32) func() error {
	return func() error {
		if master == nil {
			return nil
		}
		known, err := q.Store.Known(q, q.View, *master)
		if err == nil && !known {
			return params.NotFound("masterchain block %d not found", *master)
		}
		return err
	}
}

// traced reads the traces of transactions that are not known yet, and returns how their
// rows are made. Those that begin a trace tell it themselves, and of the newest they are
// held.
func (q *request) traced(transactions []*record.Transaction, known traced.Rows) (func(*record.Transaction) render.TransactionRow, error) {
	of := make(map[*record.Transaction]*record.Trace, len(transactions))
	var others []*record.Transaction
	for _, tx := range transactions {
		if of[tx] = cmp.Or(trace.Begun(tx), known.Of(tx), q.View.Head.TraceOf(tx)); of[tx] == nil {
			others = append(others, tx)
		}
	}
	traces, err := q.Store.TraceIDsOf(q, q.View, traced.IDsOf(others))
	if err != nil {
		return nil, err
	}
	for i, tx := range others {
		of[tx] = traces[i]
	}
	return func(tx *record.Transaction) render.TransactionRow {
		return render.TransactionRow{Transaction: tx, Trace: of[tx]}
	}, nil
}

package endpoints

import (
	"cmp"
	"slices"

	"tonscribe/decode/trace"
	"tonscribe/query/list"
	"tonscribe/query/list/traced"
	"tonscribe/query/params"
	"tonscribe/query/render"
	v3 "tonscribe/query/v3"
	"tonscribe/schema/record"
)

const actionsAndTraces = "Actions and traces"

var (
	tracesAnswer = v3.ListOf("TracesAnswer", "traces", render.Trace, v3.HasBook|v3.HasMetadata|v3.HasNext)
	eventsAnswer = v3.ListOf("EventsAnswer", "events", render.Trace, v3.HasBook|v3.HasMetadata|v3.HasNext)
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

var traces = &v3.Endpoint{
	Path: "/traces", Tag: actionsAndTraces, Summary: "Traces",
	Description: "Traces that have no open messages, with their transactions; those that are named by trace_id, tx_hash or msg_hash also while messages of them are open. Of a trace of more than 4000 transactions these are left out.",
	Params:      traceParams(includeActionsParam), Headers: actionHeaders,
	Result: tracesAnswer, Errors: traceErrors,
	Serve: func(q *v3.Request) error {
		return serveTraces(q, tracesAnswer, q.Values.Bool(includeActionsParam.Name))
	},
}

var events = &v3.Endpoint{
	Path: "/events", Tag: actionsAndTraces, Summary: "Traces with their actions",
	Description: "What /traces answers with include_actions, as events.",
	Params:      traceParams(), Headers: actionHeaders,
	Result: eventsAnswer, Errors: traceErrors,
	Serve: func(q *v3.Request) error { return serveTraces(q, eventsAnswer, true) },
}

var traceErrors = []params.Error{*params.NotFound("masterchain block N not found"), *oneOfTraceFilters}

func serveTraces(q *v3.Request, answer *v3.AnswerList[render.TraceRow], withActions bool) error {
	messages, err := messageHashes(q)
	if err != nil {
		return err
	}
	f := &traced.Filter{
		Account: q.Address("account"), IDs: q.Values.Hashes("trace_id"), Transactions: q.Values.Hashes("tx_hash"), Messages: messages,
		McSeqno: q.Int32("mc_seqno"), Utime: q.Span("start_utime", "end_utime"), Lts: q.Span("start_lt", "end_lt"),
		Ahead: q.Ahead,
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
	types := supportedTypes(q)
	var rows map[list.Hash]render.TraceRow
	p := &v3.Page[traced.Trace, render.TraceRow, traced.Key]{
		Sort: params.Descending, KeyOf: traced.KeyOf, Read: v3.InView(q, f, q.Store.Traces), None: knows(q, f.McSeqno),
		Before: func(found []traced.Trace) (err error) {
			rows, err = q.TraceRows(q, found, withActions, types.Sees)
			return err
		},
		Row: func(t traced.Trace) render.TraceRow { return rows[list.Hash(t.Id)] },
	}
	if withActions {
		p.Parts = render.TraceActions
	}
	return v3.ServePage(q, answer, p)
}

// knows returns what is called for an empty page of a list that may be that of a
// masterchain block, which must be known then.
func knows(q *v3.Request, master *int32) func() error {
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

// withTraces reads the traces of transactions that are not known yet, and returns how their
// rows are made. Those whose message came from outside tell it themselves, and of the newest
// they are held.
func withTraces(q *v3.Request, transactions []*record.Transaction, known traced.Rows) (func(*record.Transaction) render.TransactionRow, error) {
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

package endpoints

import (
	"fmt"
	"slices"
	"strings"

	"tonscribe/decode/action"
	"tonscribe/query/list"
	"tonscribe/query/list/traced"
	"tonscribe/query/openapi"
	"tonscribe/query/params"
	"tonscribe/query/render"
	v3 "tonscribe/query/v3"
	"tonscribe/schema/record"
)

var actionsAnswer = v3.ListOf("ActionsAnswer", "actions", render.Action, v3.HasBook|v3.HasMetadata|v3.HasNext)

// actionHeaders are those of endpoints that answer with actions.
var actionHeaders = []openapi.Parameter{
	{Name: v3.ActionsVersionHeader, Schema: v3.AnyText, Description: "in place of supported_action_types"},
}

var supportedTypesParam = params.Param{
	Name: "supported_action_types", Kind: params.TextKind, Multi: true, Default: "latest",
	Description: "types of actions that the client knows: v1 to v4, latest, labels of groups and names of types; those of v1 always are. Parts of an action are seen where its type is not known",
}

var (
	wrongTypes   = params.Unprocessable("action_type contains invalid characters")
	wrongExclude = params.Unprocessable("exclude_action_type contains invalid characters")
)

var actions = &v3.Endpoint{
	Path: "/actions", Tag: actionsAndTraces, Summary: "Actions",
	Description: "What traces without open messages were: transfers, swaps, stakes. With action_id only that counts, with trace_id and no account only that; types count always.",
	Params: slices.Concat([]params.Param{
		{Name: "account", Kind: params.AddressKind, Description: "account that the action concerns"},
		{Name: "tx_hash", Kind: params.HashKind, Multi: true, Range: "up to 1024", Description: "transactions of the actions"},
		{Name: "msg_hash", Kind: params.HashKind, Multi: true, Range: "up to 1024", Description: "messages of these, raw or normalized hash"},
		{Name: "action_id", Kind: params.HashKind, Multi: true, Range: "up to 1024", Description: "ids of actions"},
		{Name: "trace_id", Kind: params.HashKind, Multi: true, Range: "up to 1024", Description: "ids of traces"},
		{Name: "mc_seqno", Kind: params.Int32Kind, Description: "masterchain block with which the trace ended"},
		{Name: "action_type", Kind: params.TextKind, Multi: true, Description: "types, whether supported or not"},
		{Name: "exclude_action_type", Kind: params.TextKind, Multi: true, Description: "types that are left out"},
		supportedTypesParam,
		{Name: "include_accounts", Kind: params.BoolKind, Default: "false", Description: "add accounts to each action"},
		{Name: "include_transactions", Kind: params.BoolKind, Default: "false", Description: "add transactions_full to each action"},
	}, params.UtimeRange("end of the trace"), params.LTRange("end of the trace"), params.PageParams("desc", "by the end of the trace")),
	Headers: actionHeaders,
	Result:  actionsAnswer,
	Errors:  []params.Error{*params.NotFound("masterchain block N not found"), *wrongTypes, *wrongExclude},
	Serve:   serveActions,
}

func serveActions(q *v3.Request) error {
	f, err := actionFilter(q)
	if err != nil {
		return err
	}
	rows := map[*record.Action]render.ActionRow{}
	p := &v3.Page[traced.Action, render.ActionRow, traced.ActionKey]{
		Sort: params.Descending, KeyOf: traced.ActionKeyOf, Read: v3.InView(q, f, q.Store.Actions),
		Before: func(found []traced.Action) error {
			if len(found) == 0 || f.McSeqno == nil { // which is put aside, but has to be known
				if err := knows(q, q.Int32("mc_seqno"))(); err != nil {
					return err
				}
			}
			for _, a := range found {
				read, err := action.FromRecord(a.Action)
				if err != nil {
					return fmt.Errorf("action %x: %w", a.Id, err)
				}
				rows[a.Action] = render.ActionRow{Action: read, Trace: a.Trace}
			}
			return nil
		},
		Row: func(a traced.Action) render.ActionRow { return rows[a.Action] },
	}
	if q.Values.Bool("include_accounts") {
		p.Parts |= render.ActionAccounts
	}
	if q.Values.Bool("include_transactions") {
		p.Parts |= render.ActionTransactions
		p.Beside = func(found []traced.Action) error { return addTransactions(q, found, rows) }
	}
	return v3.ServePage(q, actionsAnswer, p)
}

// actionFilter reads the filters. Those that name actions or traces put others aside.
func actionFilter(q *v3.Request) (*traced.ActionFilter, error) {
	messages, err := messageHashes(q)
	if err != nil {
		return nil, err
	}
	f := &traced.ActionFilter{
		Account: q.Address("account"), IDs: q.Values.Hashes("action_id"), Traces: q.Values.Hashes("trace_id"),
		Transactions: q.Values.Hashes("tx_hash"), Messages: messages,
		McSeqno: q.Int32("mc_seqno"), Utime: q.Span("start_utime", "end_utime"), Lts: q.Span("start_lt", "end_lt"),
		Types: *supportedTypes(q),
	}
	only, ok := typesNamed(q.Values.Texts("action_type"))
	if !ok {
		return nil, wrongTypes
	}
	without, ok := typesNamed(q.Values.Texts("exclude_action_type"))
	if !ok {
		return nil, wrongExclude
	}
	f.Types.Only, f.Types.Without = only, without
	alone := &traced.ActionFilter{Types: f.Types, Utime: list.Everything, Lts: list.Everything}
	alone.Utime.Given = f.Utime.Given // for the order
	switch {
	case len(f.Traces) > 0 && f.Account == nil:
		alone.Traces = f.Traces
		return alone, nil
	case len(f.IDs) > 0 && len(f.Traces) == 0:
		alone.IDs = f.IDs
		return alone, nil
	}
	return f, nil
}

// typesNamed are the types with some names, nil where there are no names; it is false
// where one has characters that no type has.
func typesNamed(names []string) (map[*action.Type]bool, bool) {
	if len(names) == 0 {
		return nil, true
	}
	types := map[*action.Type]bool{}
	for _, name := range names {
		if strings.ContainsFunc(name, func(r rune) bool {
			return r != '_' && r != '.' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
		}) {
			return nil, false
		}
		if t := action.TypeNamed(name); t != nil {
			types[t] = true
		}
	}
	return types, true
}

// supportedTypes are those that the client knows, by the header or the parameter.
func supportedTypes(q *v3.Request) *traced.ActionTypes {
	labels := q.Values.Texts(supportedTypesParam.Name)
	if q.ActionsVersion != "" {
		labels = nil
		for label := range strings.SplitSeq(q.ActionsVersion, ",") {
			labels = append(labels, strings.TrimSpace(label))
		}
	}
	if len(labels) == 0 {
		labels = []string{"latest"}
	}
	return &traced.ActionTypes{Supported: action.Expand(labels), Version: action.VersionOf(labels)}
}

// addTransactions reads the transactions of actions.
func addTransactions(q *v3.Request, found []traced.Action, rows map[*record.Action]render.ActionRow) error {
	var hashes []list.Hash
	for _, a := range found {
		for _, h := range a.Transactions {
			hashes = append(hashes, list.Hash(h))
		}
	}
	slices.SortFunc(hashes, func(a, b list.Hash) int { return slices.Compare(a[:], b[:]) })
	transactions, err := q.Store.TransactionsWith(q, q.View, slices.Compact(hashes))
	if err != nil {
		return err
	}
	by := make(map[list.Hash]*record.Transaction, len(transactions))
	for _, tx := range transactions {
		by[list.Hash(tx.Hash)] = tx
	}
	for _, a := range found {
		row := rows[a.Action]
		for _, h := range a.Transactions {
			if tx := by[list.Hash(h)]; tx != nil {
				row.Full = append(row.Full, render.TransactionRow{Transaction: tx, Trace: a.Trace})
			}
		}
		rows[a.Action] = row
	}
	return nil
}

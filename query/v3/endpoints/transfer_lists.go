package endpoints

import (
	"tonscribe/query/list"
	"tonscribe/query/list/traced"
	"tonscribe/query/params"
	"tonscribe/query/render"
	v3 "tonscribe/query/v3"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// transferFilter reads the filters that transfers and burns share. contracts and
// parent are the names of those of the token's contract and of what it belongs to.
func transferFilter(q *v3.Request, contracts, parent string) *list.TransferFilter {
	f := &list.TransferFilter{
		Owners: q.Values.Addresses("owner_address"), Contracts: q.Values.Addresses(contracts), Parent: q.Address(parent),
		Direction: list.Either, Utime: q.Span("start_utime", "end_utime"), Lts: q.Span("start_lt", "end_lt"),
	}
	if len(f.Owners) == 0 {
		if a, _, err := address.Parse(q.Values.Text("address")); err == nil {
			f.Owners = []address.Address{a}
		}
	}
	if !q.Values.Declares("direction") || len(f.Owners) == 0 {
		return f
	}
	switch q.Values.Text("direction") {
	case "", "both":
	case "in":
		f.Direction = list.In
	default:
		f.Direction = list.Out
	}
	return f
}

// ofTransaction is implemented by the records of transfers.
type ofTransaction interface {
	comparable
	GetTransactionHash() []byte
	GetTransactionMcSeqno() uint32
}

// serveTransfers answers a page of transfers, each with its trace.
func serveTransfers[R ofTransaction, S any](q *v3.Request, l *v3.AnswerList[S], keyOf func(R) list.TransferKey, row func(R, render.Traced) S, read v3.Reading[R, list.TransferKey]) error {
	var traces map[R]*record.Trace
	p := &v3.Page[R, S, list.TransferKey]{
		Sort: params.Descending, KeyOf: keyOf, Read: read,
		Beside: func(found []R) (err error) {
			traces, err = tracesOf(q, found, keyOf)
			return err
		},
		Row: func(r R) S { return row(r, render.Traced{Trace: traces[r]}) },
	}
	if q.Values.Bool(deliveryParam.Name) {
		p.Parts = render.Delivery
	}
	return v3.ServePage(q, l, p)
}

// tracesOf reads the traces of the transactions of transfers.
func tracesOf[R ofTransaction](q *v3.Request, transfers []R, keyOf func(R) list.TransferKey) (map[R]*record.Trace, error) {
	ids := make([]traced.TransactionID, len(transfers))
	for i, t := range transfers {
		key := keyOf(t)
		ids[i] = traced.TransactionID{Account: key.Account[:], Lt: key.Lt, McSeqno: t.GetTransactionMcSeqno()}
	}
	found, err := q.Store.TraceIDsOf(q, q.View, ids)
	if err != nil {
		return nil, err
	}
	traces := make(map[R]*record.Trace, len(found))
	for i, t := range transfers {
		traces[t] = found[i]
	}
	return traces, nil
}

// deliveryParam is an addition to the contract.
var deliveryParam = params.Param{
	Name: "include_delivery", Kind: params.BoolKind, Default: "false",
	Description: "add how the receiving side ended: delivery, delivery_transaction_hash",
}

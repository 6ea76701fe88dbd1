package v3

import (
	"tonscribe/query/list"
	"tonscribe/query/list/traced"
	"tonscribe/query/params"
	"tonscribe/query/render"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// transferFilter reads the filters that transfers and burns share. contracts and
// parent are the names of those of the token's contract and of what it belongs to.
func (q *request) transferFilter(contracts, parent string) *list.TransferFilter {
	f := &list.TransferFilter{
		Owners: q.values.Addresses("owner_address"), Contracts: q.values.Addresses(contracts), Parent: q.address(parent),
		Direction: list.Either, Utime: q.span("start_utime", "end_utime"), Lts: q.span("start_lt", "end_lt"),
	}
	if len(f.Owners) == 0 {
		if a, _, err := address.Parse(q.values.Text("address")); err == nil {
			f.Owners = []address.Address{a}
		}
	}
	if !q.values.Declares("direction") || len(f.Owners) == 0 {
		return f
	}
	switch q.values.Text("direction") {
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
func serveTransfers[R ofTransaction, S any](q *request, l *answerList[S], keyOf func(R) list.TransferKey, row func(R, render.Traced) S, read reading[R, list.TransferKey]) error {
	var traces map[R]*record.Trace
	p := &page[R, S, list.TransferKey]{
		sort: params.Descending, keyOf: keyOf, read: read,
		before: func(found []R) (err error) {
			traces, err = tracesOf(q, found, keyOf)
			return err
		},
		row: func(r R) S { return row(r, render.Traced{Trace: traces[r]}) },
	}
	if q.values.Bool(deliveryParam.Name) {
		p.parts = render.Delivery
	}
	return servePage(q, l, p)
}

// tracesOf reads the traces of the transactions of transfers.
func tracesOf[R ofTransaction](q *request, transfers []R, keyOf func(R) list.TransferKey) (map[R]*record.Trace, error) {
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

package v3

import (
	"tonscribe/query/api"
	"tonscribe/query/list"
	"tonscribe/query/params"
	"tonscribe/query/render"
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

// serveTransfers answers a page of transfers that are rows as they are.
func serveTransfers[R any](q *request, l *answerList[R], keyOf func(R) list.TransferKey, read reading[R, list.TransferKey]) error {
	p := &page[R, R, list.TransferKey]{sort: params.Descending, keyOf: keyOf, row: api.Same[R], read: read}
	if q.values.Bool(deliveryParam.Name) {
		p.parts = render.Delivery
	}
	return servePage(q, l, p)
}

// deliveryParam is an addition to the contract.
var deliveryParam = params.Param{
	Name: "include_delivery", Kind: params.BoolKind, Default: "false",
	Description: "add how the receiving side ended: delivery, delivery_transaction_hash",
}

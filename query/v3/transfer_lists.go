package v3

import (
	"slices"

	"tonscribe/query/params"
	"tonscribe/query/store"
	"tonscribe/ton/address"
)

// transferFilter reads the filters that transfers and burns share. contracts and
// parent are the names of those of the token's contract and of what it belongs to.
func (q *request) transferFilter(contracts, parent string) (*store.TransferFilter, error) {
	f := &store.TransferFilter{
		Owners: q.values.Addresses("owner_address"), Contracts: q.values.Addresses(contracts), Parent: q.address(parent),
		Direction: store.Either, Utime: q.span("start_utime", "end_utime"), Lts: q.span("start_lt", "end_lt"),
	}
	if len(f.Owners) == 0 {
		if a, _, err := address.Parse(q.values.Text("address")); err == nil {
			f.Owners = []store.Address{a}
		}
	}
	if !q.values.Declares("direction") || len(f.Owners) == 0 {
		return f, nil
	}
	switch q.values.Text("direction") {
	case "", "both":
	case "in":
		f.Direction = store.In
	default:
		f.Direction = store.Out
	}
	return f, nil
}

// transferList is an answer that is a page of a list of transfers.
type transferList[R any] struct {
	name   string // of the list
	read   func(page store.Page, after *store.TransferKey) ([]R, bool, error)
	keyOf  func(R) store.TransferKey
	render func(dst []byte, r R, book addresses) []byte
	// parties are the members that are addr_none where there is no address.
	parties func(R) [][]byte
}

// serveTransfers answers a page.
func serveTransfers[R any](q *request, l *transferList[R]) error {
	page, part, err := q.page(params.Descending)
	if err != nil {
		return err
	}
	var key store.TransferKey
	var after *store.TransferKey
	if there, err := q.after(page, &key); err != nil {
		return err
	} else if there {
		after = &key
	}
	list, more, err := l.read(part, after)
	if err != nil {
		return err
	}
	book, nobody := addresses{}, false
	q.body = append(append(append(q.body, `{"`...), l.name...), `":[`...)
	for i, r := range list {
		if i > 0 {
			q.body = append(q.body, ',')
		}
		q.body = l.render(q.body, r, book)
		nobody = nobody || slices.ContainsFunc(l.parties(r), func(a []byte) bool { return len(a) == 0 })
	}
	q.body = append(q.body, ']')
	if nobody {
		book[nobodysAddress] = struct{}{}
	}
	if err := q.bookAndMetadata(book, nil, true); err != nil {
		return err
	}
	if more {
		q.nextCursor(page.Sort, l.keyOf(list[len(list)-1]))
	}
	q.body = append(q.body, '}')
	return nil
}

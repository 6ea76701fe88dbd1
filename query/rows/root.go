// Package rows reads what the rows of answers are made of.
//
// In: a view of the index, and addresses, traces or a masterchain block. Out: rows of
// query/render with all that belongs to them: the transactions and actions of a trace,
// what messages that were sent will do, what the bundle of a masterchain block brought,
// and what is known of the addresses of an answer, as address book and metadata. The
// package reads through query/store only, and knows nothing of requests and their
// protocols.
package rows

import (
	"context"
	"maps"
	"slices"

	"tonscribe/query/api"
	"tonscribe/query/head"
	"tonscribe/query/pending"
	"tonscribe/query/store"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// Reader reads rows.
type Reader struct {
	Store *store.Store
	// Pending has what messages that were sent will do. May be nil.
	Pending *pending.Store
	// View is what is seen of the index. What is known of addresses is the newest without
	// it.
	View *head.View
	// TestNetwork gives user-friendly addresses the flag of the test network.
	TestNetwork bool
	// NoAddressBook and NoMetadata leave these empty.
	NoAddressBook, NoMetadata bool

	ahead chan struct{} // closed when what was begun ahead is read, nil for nothing
}

// ContractsOf reads contracts that a page names besides its own, all at once.
func (r *Reader) ContractsOf(ctx context.Context, list []*record.Contract, of func(*record.Contract) []byte) (map[address.Address]*record.Contract, error) {
	wanted := api.Book{}
	for _, c := range list {
		wanted.Add(of(c))
	}
	return r.Contracts(ctx, wanted)
}

// Contracts are the contracts at some addresses.
func (r *Reader) Contracts(ctx context.Context, wanted api.Book) (map[address.Address]*record.Contract, error) {
	if len(wanted) == 0 {
		return nil, nil
	}
	return r.Store.Contracts(ctx, slices.Collect(maps.Keys(wanted)))
}

// ContractAt is the contract at an address of a record, nil for none.
func ContractAt(found map[address.Address]*record.Contract, a []byte) *record.Contract {
	if len(a) != len(address.Address{}) {
		return nil
	}
	return found[address.Address(a)]
}

// ByAccount are contracts by their address.
func ByAccount(list []*record.Contract) map[address.Address]*record.Contract {
	known := make(map[address.Address]*record.Contract, len(list))
	for _, c := range list {
		known[address.Address(c.Account)] = c
	}
	return known
}

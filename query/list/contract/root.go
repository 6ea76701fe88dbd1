// Package contract reads lists of contracts by what they are: jetton masters and
// wallets, NFT collections and items, names, multisigs and their orders, vestings, and
// what wallets of mintless jettons can claim.
//
// In: a filter and a page. Out: the newest facts of contracts, in the order of the API,
// each once. These lists have no view: what contracts were before is in none of them.
//
// Rows lead to a contract by what it was once, too; every answer is therefore checked
// against its newest facts, which another package reads (Newest). The package must never
// write, and knows nothing of HTTP.
package contract

import (
	"context"

	"tonscribe/query/memory"
	"tonscribe/query/reader"
	"tonscribe/query/sql"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// Hash is a 256-bit value.
type Hash = [32]byte

// Lists reads the lists of contracts of one database.
type Lists struct {
	reader *reader.Reader
	newest Newest
}

// Newest is what is known of contracts as of the newest view.
type Newest interface {
	// ContractsAt returns the newest facts of the accounts with some keys, in the tables
	// and in what was in memory before; contracts that are nothing any more are left
	// out.
	ContractsAt(context.Context, memory.Bundles, []sql.AccountKey) (map[address.Address]*record.Contract, error)
	// Memory has the bundles that are newer than the tables, and Watermark is the newest
	// bundle of all.
	Memory() memory.Bundles
	Watermark() uint32
}

// New makes lists that read ClickHouse.
func New(r *reader.Reader, newest Newest) *Lists { return &Lists{reader: r, newest: newest} }

// Package traced reads traces and their actions out of ClickHouse, and which traces
// transactions are of.
//
// In: a filter and a page, or transactions that are known or named. Out: traces, what
// they have, and actions with their traces, as a view shows them: with no message open
// unless they are named, each as of the newest bundle that the view shows, and what
// became a part of another trace as that.
//
// The transactions themselves, and those that messages lead to, are the chain's: they are
// read by query/list, which knows nothing of traces. The package must never write, and
// knows nothing of HTTP.
package traced

import (
	"tonscribe/query/list"
	"tonscribe/query/reader"
)

// Hash is a 256-bit value.
type Hash = [32]byte

// Lists reads the lists of traces of one database.
type Lists struct {
	reader *reader.Reader
	chain  *list.Lists
}

// New makes lists that read ClickHouse; chain is of the same database.
func New(r *reader.Reader, chain *list.Lists) *Lists { return &Lists{reader: r, chain: chain} }

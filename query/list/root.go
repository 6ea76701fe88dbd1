// Package list reads the chain out of ClickHouse, page by page: blocks and shards,
// transactions, messages, and transfers and burns of tokens. What contracts are
// (query/list/contract) and what traces are (query/list/traced) are lists of their own.
//
// In: a filter and a page. Out: records of schema/record, in the order of the
// contract, each once, of bundles at or below the watermark only.
//
// A list is declared: what it can be filtered by, which key ranges of which table
// or projection serve a combination of filters (a plan.Plan), and how the records that
// rows lead to are read, ordered and matched (paging.Records). Everything else is written
// once: in query/list/plan the text of statements, reading ranges side by side, together
// or one after the other, groups, ties, offsets and cursors, and in query/list/paging the
// pages.
//
// Tables find candidates by 64-bit prefixes and may hold a row twice before a merge;
// every answer is therefore checked against the records themselves. The package must
// never write, and knows nothing of traces and of HTTP.
package list

import (
	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/report"
	"tonscribe/query/head"
	"tonscribe/query/list/plan"
	"tonscribe/query/reader"
	"tonscribe/ton/address"
)

// Address is that of an account.
type Address = address.Address

// Hash is a 256-bit value.
type Hash = [32]byte

// View is what one request sees.
type View = head.View

// Span is a range of times or lts, both ends included.
type Span struct {
	From, To uint64
	Given    bool // one of the ends was given, be it 0
}

// Everything is the span without ends.
var Everything = Span{To: ^uint64(0)}

// Has reports whether a number is in the span.
func (r Span) Has(n uint64) bool { return n >= r.From && n <= r.To }

// And returns what two spans have in common.
func (r Span) And(o Span) Span {
	return Span{From: max(r.From, o.From), To: min(r.To, o.To), Given: r.Given}
}

// Direction is the side on which a transaction holds a message, or an account takes
// part in a transfer.
type Direction uint8

// The directions, as in the tables.
const (
	In     Direction = 0 // the transaction consumed it
	Out    Direction = 1 // the transaction produced it
	Either Direction = 2
)

// Lists reads the lists of the chain of one database.
type Lists struct {
	reader   *reader.Reader
	fromHead *prometheus.CounterVec
}

// New makes lists that read ClickHouse.
func New(r *reader.Reader, reporter report.Reporter) *Lists {
	return &Lists{reader: r, fromHead: reporter.Meter("query_head").Counters("answers_total", "Lists answered from memory, without ClickHouse.", "list")}
}

// source returns where the rows of a view are.
func (l *Lists) source(v *View) plan.Source { return plan.Source{Tables: l.reader, Memory: v.Memory} }

// Package paging makes pages of lists, and knows none of them.
//
// In: a plan of where the keys of a list lie (query/list/plan), how what they lead to is
// read, ordered and matched, and which page is wanted. Out: the records of the page, in
// order, each once, and whether there are more after it.
//
// Tables find candidates by prefixes and may hold a row twice before a merge: what does
// not match is dropped and what is the same is one, however many rows have to be read for
// that. The package must never write, and does not know what its records are.
package paging

import "tonscribe/query/list/plan"

// Page is a part of a list.
type Page struct {
	Limit, Offset int
	Descending    bool
	// Beside is called before records are read directly, with the row from which on so
	// many are read of the only range of the plan. May be nil.
	Beside func(p *plan.Plan, from plan.Row, limit int)
}

package v3

import (
	"context"

	"tonscribe/query/api"
	"tonscribe/query/head"
	"tonscribe/query/list/paging"
	"tonscribe/query/openapi"
	"tonscribe/query/params"
	"tonscribe/query/reader"
	"tonscribe/query/render"
	"tonscribe/query/rows"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// answerList is an answer that is a list of rows, what is known of their addresses, and
// the cursor of the next page.
type answerList[S any] struct {
	name  string
	shape *api.Shape[S]
	has   has
	openapi.Described
}

// has says what an answer has behind its list.
type has uint8

const (
	hasBook has = 1 << iota
	hasMetadata
	hasNext
)

// described is the row of shapes that are not written as a whole.
type described struct{}

// listOf declares an answer by the name of its component and of its list; between
// are members behind the list.
func listOf[S any](component, name string, shape *api.Shape[S], h has, between ...api.Member[described]) *answerList[S] {
	members := append([]api.Member[described]{api.Written[described](name, api.ListOf(shape), nil)}, between...)
	if h&hasBook != 0 {
		members = append(members, bookMember)
	}
	if h&hasMetadata != 0 {
		members = append(members, api.Written[described]("metadata", mapOf(render.Metadata), nil).Doc("what is known of the tokens among the addresses of the answer"))
	}
	if h&hasNext != 0 {
		members = append(members, api.Text[described]("next_cursor", nil).Optional().Doc("cursor of the next page; missing on the last one"))
	}
	return &answerList[S]{name, shape, h, api.New(component, members...)}
}

var bookMember = api.Written[described]("address_book", mapOf(rows.AddressBook), nil).Doc("a row for every address of the answer")

// mapOf is the schema of an object whose values are rows.
func mapOf(rows openapi.Described) func(*openapi.Components) openapi.Object {
	return func(c *openapi.Components) openapi.Object {
		return openapi.Schema("type", "object", "additionalProperties", rows.Schema(c))
	}
}

// unnamed is an answer by its schema: an object or a list that has no name.
type unnamed func(*openapi.Components) openapi.Object

// Schema implements openapi.Described.
func (u unnamed) Schema(c *openapi.Components) openapi.Object { return u(c) }

// page is how a page of a list is read: elements E, their keys K, the rows S made
// of them.
type page[E, S, K any] struct {
	sort  params.Sort // where none is asked for
	parts api.Part
	read  reading[E, K]
	// none is called for an empty page, before it becomes an answer. May be nil.
	none func() error
	// before is called with the page before it is written. May be nil.
	before func([]E) error
	row    func(E) S
	keyOf  func(E) K
	// between appends members behind the list. May be nil.
	between func(dst []byte) []byte
}

// reading reads a page, and reports whether there are more after it.
type reading[E, K any] = func(page paging.Page, after *K) ([]E, bool, error)

// by reads a list by a filter.
func by[F, E, K any](q *request, f F, read func(context.Context, F, paging.Page, *K) ([]E, bool, error)) reading[E, K] {
	return func(page paging.Page, after *K) ([]E, bool, error) { return read(q, f, page, after) }
}

// inView reads a list by a filter, as of the view of the request.
func inView[F, E, K any](q *request, f F, read func(context.Context, *head.View, F, paging.Page, *K) ([]E, bool, error)) reading[E, K] {
	return func(page paging.Page, after *K) ([]E, bool, error) { return read(q, q.View, f, page, after) }
}

// servePage answers a page of a list.
func servePage[E, S, K any](q *request, l *answerList[S], p *page[E, S, K]) error {
	asked, part, err := q.page(p.sort)
	if err != nil {
		return err
	}
	after, err := afterOf[K](q, asked)
	if err != nil {
		return err
	}
	found, more, err := p.read(part, after)
	if err != nil {
		return err
	}
	if len(found) == 0 && p.none != nil {
		if err := p.none(); err != nil {
			return err
		}
	}
	if p.before != nil {
		if err := p.before(found); err != nil {
			return err
		}
	}
	w := q.writer(l.has, p.parts)
	writeRows(w, l.name, l.shape, found, p.row)
	if p.between != nil {
		w.JSON = p.between(w.JSON)
	}
	contracts, _ := any(found).([]*record.Contract)
	if err := q.finish(w, l.has, byAccount(contracts)); err != nil || !more {
		return err
	}
	cursor := q.cursorOf(asked.Sort, p.keyOf(found[len(found)-1]))
	q.body = append(append(append(q.body[:len(q.body)-1], `,"next_cursor":"`...), cursor...), `"}`...)
	return nil
}

// serveRows answers with all rows of a list. What is known of some of its addresses
// need not be read again.
func serveRows[E, S any](q *request, l *answerList[S], parts api.Part, rows []E, known map[address.Address]*record.Contract, row func(E) S) error {
	w := q.writer(l.has, parts)
	writeRows(w, l.name, l.shape, rows, row)
	return q.finish(w, l.has, known)
}

// byAccount are contracts by their address.
func byAccount(list []*record.Contract) map[address.Address]*record.Contract {
	known := make(map[address.Address]*record.Contract, len(list))
	for _, c := range list {
		known[address.Address(c.Account)] = c
	}
	return known
}

// writeRows appends a list as a member of the answer.
func writeRows[E, S any](w *api.Writer, name string, shape *api.Shape[S], list []E, row func(E) S) {
	separator := byte(',')
	if len(w.JSON) == 0 {
		separator = '{'
	}
	w.JSON = append(append(append(w.JSON, separator, '"'), name...), `":`...)
	i := 0
	api.WriteList(w, shape, list, func(e E) S {
		reader.Yield(i)
		i++
		return row(e)
	})
}

// writer begins the body of an answer.
func (q *request) writer(h has, parts api.Part) *api.Writer {
	w := &api.Writer{JSON: q.body, Parts: parts}
	if h&hasBook != 0 && !q.NoAddressBook || h&hasMetadata != 0 && !q.NoMetadata {
		w.Book = api.Book{}
	}
	return w
}

// finish ends an answer with what is known of its addresses.
func (q *request) finish(w *api.Writer, h has, known map[address.Address]*record.Contract) (err error) {
	if w.Done(); w.Cut {
		q.hints = append(q.hints, "some bodies are not decoded: all of the answer are too much, ask for fewer rows")
	}
	switch {
	case h&hasMetadata != 0:
		w.JSON, err = q.AppendBoth(q, w.JSON, w.Book, known)
	case h&hasBook != 0:
		w.JSON, err = q.AppendAddressBook(q, w.JSON, w.Book)
	}
	q.body = append(w.JSON, '}')
	return err
}

package v3

import (
	"context"
	"maps"
	"slices"

	"tonscribe/query/api"
	"tonscribe/query/head"
	"tonscribe/query/list/paging"
	"tonscribe/query/openapi"
	"tonscribe/query/params"
	"tonscribe/query/reader"
	"tonscribe/query/render"
	"tonscribe/query/rows"
	"tonscribe/query/sql"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// AnswerList is an answer that is a list of rows, what is known of their addresses, and
// the cursor of the next page.
type AnswerList[S any] struct {
	name  string
	shape *api.Shape[S]
	has   Has
	openapi.Described
}

// Has says what an answer has behind its list.
type Has uint8

const (
	HasBook Has = 1 << iota
	HasMetadata
	HasNext
)

// Described is the row of shapes that are not written as a whole.
type Described struct{}

// ListOf declares an answer by the name of its component and of its list; between
// are members behind the list.
func ListOf[S any](component, name string, shape *api.Shape[S], h Has, between ...api.Member[Described]) *AnswerList[S] {
	members := append([]api.Member[Described]{api.Written[Described](name, api.ListOf(shape), nil)}, between...)
	if h&HasBook != 0 {
		members = append(members, bookMember)
	}
	if h&HasMetadata != 0 {
		members = append(members, api.Written[Described]("metadata", MapOf(render.Metadata), nil).Doc("what is known of the tokens among the addresses of the answer"))
	}
	if h&HasNext != 0 {
		members = append(members, api.Text[Described]("next_cursor", nil).Optional().Doc("cursor of the next page; missing on the last one"))
	}
	return &AnswerList[S]{name, shape, h, api.New(component, members...)}
}

var bookMember = api.Written[Described]("address_book", MapOf(rows.AddressBook), nil).Doc("a row for every address of the answer")

// MapOf is the schema of an object whose values are rows.
func MapOf(rows openapi.Described) func(*openapi.Components) openapi.Object {
	return func(c *openapi.Components) openapi.Object {
		return openapi.Schema("type", "object", "additionalProperties", rows.Schema(c))
	}
}

// Unnamed is an answer by its schema: an object or a list that has no name.
type Unnamed func(*openapi.Components) openapi.Object

// Schema implements openapi.Described.
func (u Unnamed) Schema(c *openapi.Components) openapi.Object { return u(c) }

// Page is how a page of a list is read: elements E, their keys K, the rows S made
// of them.
type Page[E, S, K any] struct {
	Sort  params.Sort // where none is asked for
	Parts api.Part
	Read  Reading[E, K]
	// None is called for an empty page, before it becomes an answer. May be nil.
	None func() error
	// Before is called with the page before it is written. May be nil.
	Before func([]E) error
	// Beside reads what rows need besides. Row does without that until it is read, so that
	// what is known of its addresses can be read beside it. May be nil.
	Beside func([]E) error
	Row    func(E) S
	KeyOf  func(E) K
	// Between appends members behind the list. May be nil.
	Between func(dst []byte) []byte
}

// Reading reads a page, and reports whether there are more after it.
type Reading[E, K any] = func(page paging.Page, after *K) ([]E, bool, error)

// By reads a list by a filter.
func By[F, E, K any](q *Request, f F, read func(context.Context, F, paging.Page, *K) ([]E, bool, error)) Reading[E, K] {
	return func(page paging.Page, after *K) ([]E, bool, error) { return read(q, f, page, after) }
}

// InView reads a list by a filter, as of the view of the request.
func InView[F, E, K any](q *Request, f F, read func(context.Context, *head.View, F, paging.Page, *K) ([]E, bool, error)) Reading[E, K] {
	return func(page paging.Page, after *K) ([]E, bool, error) { return read(q, q.View, f, page, after) }
}

// ServePage answers a page of a list.
func ServePage[E, S, K any](q *Request, l *AnswerList[S], p *Page[E, S, K]) error {
	asked, part, err := q.Page(p.Sort)
	if err != nil {
		return err
	}
	after, err := AfterOf[K](q, asked)
	if err != nil {
		return err
	}
	found, more, err := p.Read(part, after)
	if err != nil {
		return err
	}
	if len(found) == 0 && p.None != nil {
		if err := p.None(); err != nil {
			return err
		}
	}
	if p.Before != nil {
		if err := p.Before(found); err != nil {
			return err
		}
	}
	if p.Beside != nil {
		namesAhead(q, l, found, p.Row)
		if err := p.Beside(found); err != nil {
			return err
		}
	}
	w := q.Writer(l.has, p.Parts)
	WriteRows(w, l.name, l.shape, found, p.Row)
	if p.Between != nil {
		w.JSON = p.Between(w.JSON)
	}
	contracts, _ := any(found).([]*record.Contract)
	if err := q.Finish(w, l.has, rows.ByAccount(contracts)); err != nil || !more {
		return err
	}
	cursor := q.CursorOf(asked.Sort, p.KeyOf(found[len(found)-1]))
	q.Body = append(append(append(q.Body[:len(q.Body)-1], `,"next_cursor":"`...), cursor...), `"}`...)
	return nil
}

// namesAhead begins to read what is known of the addresses of a page's rows.
func namesAhead[E, S any](q *Request, l *AnswerList[S], page []E, row func(E) S) {
	if len(page) > rows.MaxAhead {
		return
	}
	book := api.Book{}
	for _, e := range page {
		l.shape.Names(book, row(e))
	}
	names := sql.KeysOf(slices.Collect(maps.Keys(book)))
	if _, known := any(page).([]*record.Contract); known || l.has&HasMetadata == 0 || q.NoMetadata {
		q.BookAhead(q, names)
	} else {
		q.Ahead(q, names)
	}
}

// ServeRows answers with all rows of a list. What is known of some of its addresses
// need not be read again.
func ServeRows[E, S any](q *Request, l *AnswerList[S], parts api.Part, rows []E, known map[address.Address]*record.Contract, row func(E) S) error {
	w := q.Writer(l.has, parts)
	WriteRows(w, l.name, l.shape, rows, row)
	return q.Finish(w, l.has, known)
}

// WriteRows appends a list as a member of the answer.
func WriteRows[E, S any](w *api.Writer, name string, shape *api.Shape[S], list []E, row func(E) S) {
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

// maxAnswerBytes bounds an answer but for what is known of its addresses. A listener holds
// no more for all of its clients together (http.held_bytes).
const maxAnswerBytes = 64 << 20

// errTooLong is the answer in place of one that is longer.
var errTooLong = params.Unprocessable("%s", tooHeavy)

// Writer begins the body of an answer.
func (q *Request) Writer(h Has, parts api.Part) *api.Writer {
	w := &api.Writer{JSON: q.Body, Parts: parts, Max: maxAnswerBytes}
	if h&HasBook != 0 && !q.NoAddressBook || h&HasMetadata != 0 && !q.NoMetadata {
		w.Book = api.Book{}
	}
	return w
}

// Finish ends an answer with what is known of its addresses.
func (q *Request) Finish(w *api.Writer, h Has, known map[address.Address]*record.Contract) (err error) {
	if w.Done(); w.Cut {
		q.Hints = append(q.Hints, "some bodies are not decoded: all of the answer are too much, ask for fewer rows")
	}
	switch {
	case w.Full():
		err = errTooLong
	case h&HasMetadata != 0:
		w.JSON, err = q.AppendBoth(q, w.JSON, w.Book, known)
	case h&HasBook != 0:
		w.JSON, err = q.AppendAddressBook(q, w.JSON, w.Book)
	}
	q.Body = append(w.JSON, '}')
	return err
}

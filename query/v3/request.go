package v3

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"tonscribe/query/list"
	"tonscribe/query/list/paging"
	"tonscribe/query/params"
	"tonscribe/ton/address"
)

// Pointers to what was sent, nil for what was not.

func pointer[T any](value T, sent bool) *T {
	if !sent {
		return nil
	}
	return &value
}

func (q *request) int32(name string) *int32 { return pointer(q.values.Int32(name)) }

func (q *request) number(name string) *uint64 { return pointer(q.values.Number(name)) }

func (q *request) opcode(name string) *uint32 {
	n, sent := q.values.Number(name)
	return pointer(uint32(n), sent)
}

func first[T any](values []T) *T {
	if len(values) == 0 {
		return nil
	}
	return &values[0]
}

func (q *request) hash(name string) *list.Hash { return first(q.values.Hashes(name)) }

// address is nil for the literal null, too.
func (q *request) address(name string) *address.Address { return first(q.values.Addresses(name)) }

// span is a range given by two parameters.
func (q *request) span(from, to string) list.Span {
	r := list.Everything
	if n, sent := q.values.Number(from); sent {
		r.From, r.Given = n, true
	}
	if n, sent := q.values.Number(to); sent {
		r.To, r.Given = n, true
	}
	return r
}

// direction reads a direction that must be in or out when sent.
func (q *request) direction() (list.Direction, error) {
	if !q.values.Sent("direction") {
		return list.Either, nil
	}
	switch q.values.Text("direction") {
	case "in":
		return list.In, nil
	case "out":
		return list.Out, nil
	}
	return list.Either, params.Unprocessable("direction should be one of: in, out")
}

// page reads paging and says which part of the store's list it is. An offset that
// would make the database count too many rows is refused.
func (q *request) page(byDefault params.Sort) (params.Page, paging.Page, error) {
	page, err := q.values.Page(byDefault)
	if limit := q.Store.MaxOffset(); err == nil && page.Offset > limit {
		err = params.Unprocessable("offset %d is too deep, %d is the most: page with cursor, the next_cursor of the page before", page.Offset, limit)
	}
	return page, paging.Page{Limit: page.Limit, Offset: page.Offset, Descending: page.Sort != params.Ascending}, err
}

// readOptions reads the request options that every endpoint has. A header wins over
// its query twin; what cannot be read is ignored.
func (q *request) readOptions(r *http.Request) {
	q.NoAddressBook = boolOption(r, "X-No-Address-Book", "x_no_address_book")
	q.NoMetadata = boolOption(r, "X-No-Metadata", "x_no_metadata")
	q.actionsVersion = r.Header.Get(actionsVersionHeader)
	q.timeout = math.MaxInt64
	if ms, err := strconv.ParseInt(option(r, "X-Timeout", "x_timeout"), 10, 32); err == nil && ms > 0 {
		q.timeout = time.Duration(ms) * time.Millisecond
	}
}

func option(r *http.Request, header, twin string) string {
	if value := r.Header.Get(header); value != "" {
		return value
	}
	return params.OptionOf(r.URL.RawQuery, twin)
}

func boolOption(r *http.Request, header, twin string) bool {
	value, err := strconv.ParseBool(option(r, header, twin))
	return err == nil && value
}

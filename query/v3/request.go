package v3

import (
	"encoding/json"
	"math"
	"mime"
	"net/http"
	"strconv"
	"strings"
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

func (q *Request) Int32(name string) *int32 { return pointer(q.Values.Int32(name)) }

func (q *Request) Number(name string) *uint64 { return pointer(q.Values.Number(name)) }

func (q *Request) Opcode(name string) *uint32 {
	n, sent := q.Values.Number(name)
	return pointer(uint32(n), sent)
}

func first[T any](values []T) *T {
	if len(values) == 0 {
		return nil
	}
	return &values[0]
}

func (q *Request) Hash(name string) *list.Hash { return first(q.Values.Hashes(name)) }

// Address is nil for the literal null, too.
func (q *Request) Address(name string) *address.Address { return first(q.Values.Addresses(name)) }

// Span is a range given by two parameters.
func (q *Request) Span(from, to string) list.Span {
	r := list.Everything
	if n, sent := q.Values.Number(from); sent {
		r.From, r.Given = n, true
	}
	if n, sent := q.Values.Number(to); sent {
		r.To, r.Given = n, true
	}
	return r
}

// Direction reads a direction that must be in or out when sent.
func (q *Request) Direction() (list.Direction, error) {
	if !q.Values.Sent("direction") {
		return list.Either, nil
	}
	switch q.Values.Text("direction") {
	case "in":
		return list.In, nil
	case "out":
		return list.Out, nil
	}
	return list.Either, params.Unprocessable("direction should be one of: in, out")
}

// Page reads paging and says which part of the store's list it is. An offset that
// would make the database count too many rows is refused.
func (q *Request) Page(byDefault params.Sort) (params.Page, paging.Page, error) {
	page, err := q.Values.Page(byDefault)
	if limit := q.Store.MaxOffset(); err == nil && page.Offset > limit {
		err = params.Unprocessable("offset %d is too deep, %d is the most: page with cursor, the next_cursor of the page before", page.Offset, limit)
	}
	return page, paging.Page{Limit: page.Limit, Offset: page.Offset, Descending: page.Sort != params.Ascending}, err
}

// ActionsVersionHeader says which types of actions the client knows.
const ActionsVersionHeader = "X-Actions-Version"

// readOptions reads the request options that every endpoint has. A header wins over
// its query twin; what cannot be read is ignored.
func (q *Request) readOptions(r *http.Request) {
	q.NoAddressBook = boolOption(r, "X-No-Address-Book", "x_no_address_book")
	q.NoMetadata = boolOption(r, "X-No-Metadata", "x_no_metadata")
	q.ActionsVersion = r.Header.Get(ActionsVersionHeader)
	q.timeout = math.MaxInt64
	if ms, is := readOption(r, "X-Timeout", "x_timeout", milliseconds); is && ms > 0 {
		q.timeout = time.Duration(ms) * time.Millisecond
	}
}

func milliseconds(text string) (int64, error) { return strconv.ParseInt(text, 10, 32) }

// readOption reads an option, and reports whether one of the two texts is one.
func readOption[T any](r *http.Request, header, twin string, parse func(string) (T, error)) (value T, is bool) {
	value, err := parse(r.Header.Get(header))
	if err != nil {
		value, err = parse(params.OptionOf(r.URL.RawQuery, twin))
	}
	return value, err == nil
}

func boolOption(r *http.Request, header, twin string) bool {
	value, is := readOption(r, header, twin, strconv.ParseBool)
	return is && value
}

// readBody takes the JSON object of a POST apart.
func readBody(r *http.Request) (map[string]json.RawMessage, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return nil, params.Unprocessable("Unprocessable Entity")
	}
	body, err := params.ReadBody(r, params.Unprocessable("the request body ends early"))
	if err != nil {
		return nil, err
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(body, &object) != nil {
		return nil, params.Unprocessable("the request body is no JSON object")
	}
	return object, nil
}

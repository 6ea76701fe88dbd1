// Package params reads query strings of the v3 API.
//
// In: the declaration of an endpoint's parameters and a raw query string. Out:
// typed values, or the contract's error text. An endpoint declares each
// parameter once; validation, the warning about unknown names and the machine
// description all read that declaration. The package knows no endpoint, and
// never lets a text of a library into an error.
package params

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"tonscribe/query/openapi"
)

// Kind is the form that values of a parameter have.
type Kind uint8

// The kinds (contract 1.5).
const (
	AddressKind       Kind = iota // raw or user-friendly address
	AddressOrNullKind             // … or the literal null
	HashKind                      // 256 bits as hex, base64 or base64url
	ShardKind                     // hex, else signed decimal
	OpcodeKind                    // hex, else signed decimal, 32 bits
	UtimeKind                     // seconds; fractions are cut off
	Uint64Kind
	Int32Kind
	SeqnoKind // like Int32Kind, but what is missing or not a number counts as 0
	BoolKind
	TextKind
	SortKind // asc, a, desc, d
)

// Group is the order in which parameters are checked: the first group with a
// bad value answers.
type Group uint8

// The groups.
const (
	Own Group = iota
	Time
	LT
	Paging
	groups
)

// Param declares one parameter.
type Param struct {
	Name        string
	Kind        Kind
	Group       Group
	Multi       bool
	Required    bool
	Default     string   // as the description shows it
	Enum        []string // of TextKind: what is described; checking is the endpoint's
	Range       string   // as the description shows it
	TooMany     *Error   // the answer to more than MaxListValues, nil for the one that all lists have
	Description string
}

// AllowsEmpty reports whether an empty text is read as the zero value, or dropped.
func (p *Param) AllowsEmpty() bool {
	switch p.Kind {
	case Int32Kind:
		return p.Group == Paging || p.Range == "" // 0 is out of the others' ranges
	case Uint64Kind, SeqnoKind, BoolKind:
		return true
	case TextKind:
		return p.Multi || p.Default != ""
	}
	return p.Multi
}

// MaxListValues is the most values that one list may have.
const MaxListValues = 1024

// MaxLimit is the largest page.
const MaxLimit = 1000

// Error is an answer other than 200.
type Error = openapi.Error

// Unprocessable is the answer to a bad request.
func Unprocessable(format string, args ...any) *Error {
	return &Error{Status: http.StatusUnprocessableEntity, Text: fmt.Sprintf(format, args...)}
}

// NotFound is the answer of the endpoints that have one.
func NotFound(format string, args ...any) *Error {
	return &Error{Status: http.StatusNotFound, Text: fmt.Sprintf(format, args...)}
}

// Options are the request options that every endpoint has as query parameters
// (contract 1.2).
var Options = []Param{
	{Name: "api_key", Kind: TextKind, Description: "API key, like the header X-API-Key"},
	{Name: "x_no_address_book", Kind: TextKind, Description: "address_book is {}, like the header X-No-Address-Book"},
	{Name: "x_no_metadata", Kind: TextKind, Description: "metadata is {}, like the header X-No-Metadata"},
	{Name: "x_timeout", Kind: TextKind, Description: "query timeout in milliseconds, like the header X-Timeout"},
	{Name: "x_debug_request", Kind: TextKind, Description: "the server logs the request, like the header X-Debug-Request"},
}

// UtimeRange declares start_utime and end_utime on a column.
func UtimeRange(column string) []Param {
	return []Param{
		{Name: "start_utime", Kind: UtimeKind, Group: Time, Range: "≥ 0", Description: column + " ≥ value"},
		{Name: "end_utime", Kind: UtimeKind, Group: Time, Range: "≥ 0", Description: column + " ≤ value"},
	}
}

// LTRange declares start_lt and end_lt on a column.
func LTRange(column string) []Param {
	return []Param{
		{Name: "start_lt", Kind: Uint64Kind, Group: LT, Range: "≥ 0", Description: column + " ≥ value"},
		{Name: "end_lt", Kind: Uint64Kind, Group: LT, Range: "≥ 0", Description: column + " ≤ value"},
	}
}

// LimitParam declares limit; byDefault is how many rows a page has that does not say.
func LimitParam(byDefault string) Param {
	return Param{Name: "limit", Kind: Int32Kind, Group: Paging, Default: byDefault, Range: "1..1000", Description: "page size; below 1 counts as 1"}
}

// Where a page begins.
var (
	OffsetParam = Param{Name: "offset", Kind: Int32Kind, Group: Paging, Default: "0", Range: "≥ 0", Description: "rows skipped; below 0 counts as 0"}
	CursorParam = Param{Name: "cursor", Kind: TextKind, Group: Paging, Description: "next_cursor of the page before, with the same other parameters"}
)

// UnsortedPageParams declares limit, offset and cursor of a list with one order.
func UnsortedPageParams() []Param { return []Param{LimitParam("10"), OffsetParam, CursorParam} }

// PageParams declares limit, offset, cursor and sort; byDefault is the default
// of sort, sorted what it sorts by.
func PageParams(byDefault, sorted string) []Param {
	return append(UnsortedPageParams(), Param{Name: "sort", Kind: SortKind, Group: Paging, Default: byDefault, Enum: []string{"asc", "desc"}, Description: sorted})
}

// field is a name and a value as sent.
type field struct{ name, value string }

// split takes a query string apart. What is no escape stays as it is.
func split(raw string) []field {
	var fields []field
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		fields = append(fields, field{Unescape(name), Unescape(value)})
	}
	return fields
}

// Unescape undoes the escapes of a query string. What is no escape stays.
func Unescape(s string) string {
	if !strings.ContainsAny(s, "%+") {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '+':
			out = append(out, ' ')
		case s[i] == '%' && i+2 < len(s):
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				out = append(out, byte(n))
				i += 2
				continue
			}
			fallthrough
		default:
			out = append(out, s[i])
		}
	}
	return string(out)
}

// OptionOf is the value of a request option's query twin, the last one sent.
func OptionOf(raw, name string) string {
	if !strings.Contains(raw, name) {
		return ""
	}
	var value string
	for _, f := range split(raw) {
		if f.name == name {
			value = f.value
		}
	}
	return value
}

// Package api declares what answers look like.
//
// A Shape is a list of members, each with its name, its kind, its documentation and
// the function that gets its value out of a row. From that one list follow the JSON
// of a row, its schema in the OpenAPI document, and the addresses that belong into
// the address book of an answer. The package knows no endpoint, reads nothing, and
// never fails: what a row does not say is null or absent as its shape has it.
//
// Hashes are standard base64 with padding, addresses raw with upper-case hex,
// amounts and logical times decimal text.
package api

import (
	"tonscribe/query/openapi"
	"tonscribe/ton/address"
	"tonscribe/ton/body"
)

// Writer is what rows are written to.
type Writer struct {
	// JSON is what was written.
	JSON []byte
	// Book gathers the addresses of the rows; nil when nobody asks for them.
	Book Book
	// Parts are those that the request asks for, of members that wait for it.
	Parts Part
	// Namespace is what {ns} in the @type of a row stands for.
	Namespace string
	// Max bounds JSON, 0 for no bound. Lists end beyond it, so that what is too long
	// costs one row at most.
	Max int
	// Cut reports whether bodies were left out since all together would be too much.
	Cut bool

	decoder *body.Decoder // of bodies, nil before the first one
}

// Full reports whether more was written than may be.
func (w *Writer) Full() bool { return w.Max > 0 && len(w.JSON) > w.Max }

// Form is how values of a type are written and described: a Shape, a Union, or a
// list or a text of those.
type Form[R any] interface {
	openapi.Described
	Write(w *Writer, row R)
}

// Part names members that are written on request only.
type Part uint8

// Book is the addresses that an answer has rows for in its address book.
type Book map[address.Address]struct{}

// Nobody stands for addr_none in a Book: there is no such workchain.
var Nobody = address.Address{0x80}

// Add adds an address of a record; addr_none is none.
func (b Book) Add(account []byte) {
	if b != nil && len(account) == address.Size {
		b[address.Address(account)] = struct{}{}
	}
}

// addParty adds a side of a transfer, which may be nobody.
func (b Book) addParty(account []byte) {
	if b != nil && len(account) == 0 {
		b[Nobody] = struct{}{}
	}
	b.Add(account)
}

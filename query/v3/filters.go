package v3

import (
	"tonscribe/query/list"
	"tonscribe/query/params"
	"tonscribe/ton/address"
)

// Pointers to what was sent, nil for what was not.

func (q *request) int32(name string) *int32 {
	if n, sent := q.values.Int32(name); sent {
		return &n
	}
	return nil
}

func (q *request) number(name string) *uint64 {
	if n, sent := q.values.Number(name); sent {
		return &n
	}
	return nil
}

func (q *request) opcode(name string) *uint32 {
	if n, sent := q.values.Number(name); sent {
		opcode := uint32(n)
		return &opcode
	}
	return nil
}

func (q *request) hash(name string) *list.Hash {
	if list := q.values.Hashes(name); len(list) > 0 {
		return &list[0]
	}
	return nil
}

// address is nil for the literal null, too.
func (q *request) address(name string) *address.Address {
	if list := q.values.Addresses(name); len(list) > 0 {
		return &list[0]
	}
	return nil
}

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

// notTooDeep refuses an offset that would make the database count too many rows.
func (q *request) notTooDeep(offset int) error {
	if most := q.store.MaxOffset(); offset > most {
		return tooDeep(offset, most)
	}
	return nil
}

// tooDeep is the answer to an offset that leads too far.
func tooDeep(offset, most int) *params.Error {
	return params.Unprocessable("offset %d is too deep, %d is the most: page with cursor, the next_cursor of the page before", offset, most)
}

// page reads paging and says which part of the store's list it is.
func (q *request) page(byDefault params.Sort) (params.Page, list.Page, error) {
	page, err := q.values.Page(byDefault)
	if err == nil {
		err = q.notTooDeep(page.Offset)
	}
	return page, list.Page{Limit: page.Limit, Offset: page.Offset, Descending: page.Sort != params.Ascending}, err
}

package v3

import (
	"tonscribe/query/params"
	"tonscribe/query/store"
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

func (q *request) hash(name string) *store.Hash {
	if list := q.values.Hashes(name); len(list) > 0 {
		return &list[0]
	}
	return nil
}

// address is nil for the literal null, too.
func (q *request) address(name string) *store.Address {
	if list := q.values.Addresses(name); len(list) > 0 {
		return &list[0]
	}
	return nil
}

// span is a range given by two parameters.
func (q *request) span(from, to string) store.Range {
	r := store.Everything
	if n, sent := q.values.Number(from); sent {
		r.From, r.Given = n, true
	}
	if n, sent := q.values.Number(to); sent {
		r.To, r.Given = n, true
	}
	return r
}

// direction reads a direction that must be in or out when sent.
func (q *request) direction() (store.Direction, error) {
	if !q.values.Sent("direction") {
		return store.Either, nil
	}
	switch q.values.Text("direction") {
	case "in":
		return store.In, nil
	case "out":
		return store.Out, nil
	}
	return store.Either, params.Unprocessable("direction should be one of: in, out")
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
func (q *request) page(byDefault params.Sort) (params.Page, store.Page, error) {
	page, err := q.values.Page(byDefault)
	if err == nil {
		err = q.notTooDeep(page.Offset)
	}
	return page, store.Page{Limit: page.Limit, Offset: page.Offset, Descending: page.Sort != params.Ascending}, err
}

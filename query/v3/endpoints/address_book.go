package endpoints

import (
	"slices"

	"tonscribe/query/api"
	"tonscribe/query/params"
	"tonscribe/query/rows"
	v3 "tonscribe/query/v3"
	"tonscribe/ton/address"
)

var addressBook = &v3.Endpoint{
	Path: "/addressBook", Tag: "Accounts", Summary: "Address book",
	Description: "The user-friendly form, the domain and the interfaces of addresses. The keys are the addresses as they were sent.",
	Params: []params.Param{
		{Name: "address", Kind: params.TextKind, Multi: true, Required: true, Range: "1..1024", Description: "addresses in any form"},
	},
	Result: v3.Unnamed(v3.MapOf(rows.AddressBook)),
	Errors: []params.Error{{Status: 422, Text: "at least 1 address required"}},
	Serve:  serveAddressBook,
}

func serveAddressBook(q *v3.Request) error {
	sent := q.Values.Texts("address")
	if len(sent) == 0 {
		return params.Unprocessable("at least 1 address required")
	}
	slices.Sort(sent)
	sent = slices.Compact(sent)
	var known []address.Address
	for _, text := range sent {
		if a, _, err := address.Parse(text); err == nil {
			known = append(known, a)
		}
	}
	rowOf, err := q.BookRowsOf(q, known, nil)
	if err != nil {
		return err
	}
	w, parsed := &api.Writer{JSON: append(q.Body, '{')}, 0
	for i, text := range sent {
		if i > 0 {
			w.JSON = append(w.JSON, ',')
		}
		w.JSON = append(api.AppendText(w.JSON, text), ':')
		a, _, err := address.Parse(text)
		row := rowOf(a)
		switch {
		case err == nil:
			parsed++
		case text == "addr_none":
			parsed++
			row = &rows.BookRow{Nobody: true}
		default:
			row = &rows.BookRow{Unreadable: true}
		}
		rows.AddressBook.Write(w, row)
	}
	if parsed == 0 {
		return params.Unprocessable(`failed to decode: schema: error converting value for index 0 of "address"`)
	}
	q.Body = append(w.JSON, '}')
	return nil
}

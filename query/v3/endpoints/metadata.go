package endpoints

import (
	"tonscribe/query/api"
	"tonscribe/query/params"
	"tonscribe/query/render"
	v3 "tonscribe/query/v3"
	"tonscribe/ton/address"
)

var metadata = &v3.Endpoint{
	Path: "/metadata", Tag: "Accounts", Summary: "Metadata",
	Description: "What is known of the tokens among some addresses, by raw address. The master of a jetton wallet is there too.",
	Params: []params.Param{
		{Name: "address", Kind: params.TextKind, Multi: true, Required: true, Range: "1..1024", Description: "addresses in any form; what is none is passed over"},
	},
	Result: v3.Unnamed(v3.MapOf(render.Metadata)),
	Errors: []params.Error{{Status: 422, Text: "at least 1 address required"}},
	Serve: func(q *v3.Request) error {
		sent := q.Values.Texts("address")
		if len(sent) == 0 {
			return params.Unprocessable("at least 1 address required")
		}
		list := api.Book{}
		for _, text := range sent {
			if a, _, err := address.Parse(text); err == nil {
				list.Add(a[:])
			}
		}
		rows, err := q.MetadataOf(q, list, nil, nil)
		q.Body = append(q.Body, rows...)
		return err
	},
}

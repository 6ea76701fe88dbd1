package v3

import (
	"encoding/json"

	"tonscribe/query/openapi"
	"tonscribe/query/params"
)

var errNoBoc = missing("boc is required")

type sentMessageAnswer struct {
	Hash openapi.Hash `json:"message_hash"`
	Norm openapi.Hash `json:"message_hash_norm,omitempty" doc:"normalized hash (TEP-467)"`
}

var message = &Endpoint{
	Path: "/message", Tag: nodeAccess, Summary: "Send a message",
	Description: "Gives an external message to lite servers, after it was tried on the contract's state.",
	Body:        []Field{{Name: "boc", Type: "string", Required: true, Description: "bag of cells of the message, base64"}},
	Result:      openapi.TypeOf[sentMessageAnswer](), Node: true,
	Errors: []params.Error{*errNoBoc, ofNode},
	serve: func(q *request) error {
		boc, err := q.text("boc")
		if err != nil {
			return err
		}
		if boc == "" {
			return errNoBoc
		}
		var sent struct {
			Hash openapi.Hash `json:"hash"`
			Norm openapi.Hash `json:"hash_norm"`
		}
		if err := q.ask("sendBocReturnHash", map[string]json.RawMessage{"boc": quoted(boc)}, &sent); err != nil {
			return err
		}
		return q.put(sentMessageAnswer{sent.Hash, sent.Norm})
	},
}

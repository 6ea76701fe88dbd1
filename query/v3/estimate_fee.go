package v3

import (
	"encoding/json"

	"tonscribe/query/openapi"
	"tonscribe/query/params"
)

// estimateFields are also names of the method's parameters.
var estimateFields = []Field{
	{Name: "address", Type: "string", Required: true, Description: "receiver of the message"},
	{Name: "body", Type: "string", Required: true, Description: "body of the message, a bag of cells, base64"},
	{Name: "init_code", Type: "string", Description: "code of a contract that is not deployed yet"},
	{Name: "init_data", Type: "string", Description: "its data"},
	{Name: "ignore_chksig", Type: "flag", Description: "let every signature be right; false by default"},
}

type (
	fees struct {
		InForward int64 `json:"in_fwd_fee"`
		Storage   int64 `json:"storage_fee"`
		Gas       int64 `json:"gas_fee"`
		Forward   int64 `json:"fwd_fee"`
	}
	estimatedFees struct {
		Source      fees   `json:"source_fees"`
		Destination []fees `json:"destination_fees"`
	}
)

var estimateFee = &Endpoint{
	Path: "/estimateFee", Tag: nodeAccess, Summary: "Estimate fee",
	Description: "What an external message would cost.",
	Body:        estimateFields, Result: openapi.TypeOf[estimatedFees](), Node: true,
	Errors: []params.Error{ofNode},
	serve: func(q *request) error {
		parameters := map[string]json.RawMessage{"ignore_chksig": json.RawMessage("false")}
		for _, f := range estimateFields {
			if raw, ok := q.sent[f.Name]; ok {
				parameters[f.Name] = raw
			}
		}
		var result estimatedFees
		if err := q.ask("estimateFee", parameters, &result); err != nil {
			return err
		}
		return q.put(result)
	},
}

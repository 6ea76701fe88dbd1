package v3

import (
	"context"
	"encoding/json"

	"tonscribe/query/api"
	"tonscribe/query/node"
	"tonscribe/query/openapi"
	"tonscribe/query/params"
	v2 "tonscribe/query/v2"
)

// estimateFields are also names of the method's parameters.
var estimateFields = []openapi.Parameter{
	{Name: "address", Schema: anyText, Required: true, Description: "receiver of the message"},
	{Name: "body", Schema: anyText, Required: true, Description: "body of the message, a bag of cells, base64"},
	{Name: "init_code", Schema: anyText, Description: "code of a contract that is not deployed yet"},
	{Name: "init_data", Schema: anyText, Description: "its data"},
	{Name: "ignore_chksig", Schema: v2.Flag, Description: "let every signature be right; false by default"},
}

var estimatedFees = api.New("EstimatedFees", v2.QueryFees(api.New("Fees", v2.FeeMembers...))...)

var estimateFee = &Endpoint{
	Path: "/estimateFee", Tag: nodeAccess, Summary: "Estimate fee",
	Description: "What an external message would cost.",
	Body:        estimateFields, Result: estimatedFees, Node: true,
	Errors: []params.Error{ofNode},
	serve: func(q *request) error {
		parameters := map[string]json.RawMessage{"ignore_chksig": json.RawMessage("false")}
		for _, f := range estimateFields {
			if raw, ok := q.sent[f.Name]; ok {
				parameters[f.Name] = raw
			}
		}
		return share(q, "estimateFee", 32, "", estimatedFees, func(ctx context.Context) (*node.Fees, error) {
			body, ignoreSignature, err := v2.ReadEstimate(parameters)
			if err != nil {
				return nil, err
			}
			return q.node.EstimateFee(ctx, body, ignoreSignature)
		})
	},
}

package endpoints

import (
	"context"
	"encoding/json"

	"tonscribe/query/api"
	"tonscribe/query/node"
	"tonscribe/query/openapi"
	"tonscribe/query/params"
	v2 "tonscribe/query/v2"
	v3 "tonscribe/query/v3"
)

var errNoBoc = missing("boc is required")

var sentMessage = api.New("SentMessageAnswer",
	api.Hash("message_hash", func(s *node.Sent) []byte { return s.Hash[:] }),
	api.Hash("message_hash_norm", func(s *node.Sent) []byte { return s.Normal[:] }).Optional().Doc("normalized hash (TEP-467)"),
)

var message = &v3.Endpoint{
	Path: "/message", Tag: nodeAccess, Summary: "Send a message",
	Description: "Gives an external message to lite servers, after it was tried on the contract's state.",
	Body:        []openapi.Parameter{{Name: "boc", Schema: v3.AnyText, Required: true, Description: "bag of cells of the message, base64"}},
	Result:      sentMessage, Node: true,
	Errors: []params.Error{*errNoBoc, ofNode},
	Serve: func(q *v3.Request) error {
		boc, err := textOf(q, "boc")
		if err != nil {
			return err
		}
		if boc == "" {
			return errNoBoc
		}
		return share(q, "sendBocReturnHash", 0, "", sentMessage, func(ctx context.Context) (*node.Sent, error) {
			message, err := v2.ReadBoC(q.Sent["boc"])
			if err != nil {
				return nil, err
			}
			return q.Node.SendBoC(ctx, message)
		})
	},
}

// estimateFields are also names of the method's parameters.
var estimateFields = []openapi.Parameter{
	{Name: "address", Schema: v3.AnyText, Required: true, Description: "receiver of the message"},
	{Name: "body", Schema: v3.AnyText, Required: true, Description: "body of the message, a bag of cells, base64"},
	{Name: "init_code", Schema: v3.AnyText, Description: "code of a contract that is not deployed yet"},
	{Name: "init_data", Schema: v3.AnyText, Description: "its data"},
	{Name: "ignore_chksig", Schema: v2.Flag, Description: "let every signature be right; false by default"},
}

var estimatedFees = api.New("EstimatedFees", v2.QueryFees(api.New("Fees", v2.FeeMembers...))...)

var estimateFee = &v3.Endpoint{
	Path: "/estimateFee", Tag: nodeAccess, Summary: "Estimate fee",
	Description: "What an external message would cost.",
	Body:        estimateFields, Result: estimatedFees, Node: true,
	Errors: []params.Error{ofNode},
	Serve: func(q *v3.Request) error {
		return share(q, "estimateFee", 32, "", estimatedFees, func(ctx context.Context) (*node.Fees, error) {
			body, ignoreSignature, err := readEstimate(q.Sent)
			if err != nil {
				return nil, err
			}
			return q.Node.EstimateFee(ctx, body, ignoreSignature)
		})
	},
}

// readEstimate reads a message as the v2 layer does, but signatures count unless the
// client says otherwise.
func readEstimate(sent map[string]json.RawMessage) (node.Body, bool, error) {
	parameters := map[string]json.RawMessage{}
	for _, f := range estimateFields {
		if raw, ok := sent[f.Name]; ok {
			parameters[f.Name] = raw
		}
	}
	if raw := parameters["ignore_chksig"]; len(raw) == 0 || string(raw) == "null" {
		parameters["ignore_chksig"] = json.RawMessage("false")
	}
	return v2.ReadEstimate(parameters)
}

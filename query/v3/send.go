package v3

import (
	"context"

	"tonscribe/query/api"
	"tonscribe/query/node"
	"tonscribe/query/openapi"
	"tonscribe/query/params"
	v2 "tonscribe/query/v2"
)

var errNoBoc = missing("boc is required")

var sentMessage = api.New("SentMessageAnswer",
	api.Hash("message_hash", func(s *node.Sent) []byte { return s.Hash[:] }),
	api.Hash("message_hash_norm", func(s *node.Sent) []byte { return s.Normal[:] }).Optional().Doc("normalized hash (TEP-467)"),
)

var message = &Endpoint{
	Path: "/message", Tag: nodeAccess, Summary: "Send a message",
	Description: "Gives an external message to lite servers, after it was tried on the contract's state.",
	Body:        []openapi.Parameter{{Name: "boc", Schema: anyText, Required: true, Description: "bag of cells of the message, base64"}},
	Result:      sentMessage, Node: true,
	Errors: []params.Error{*errNoBoc, ofNode},
	serve: func(q *request) error {
		boc, err := q.text("boc")
		if err != nil {
			return err
		}
		if boc == "" {
			return errNoBoc
		}
		return share(q, "sendBocReturnHash", 0, "", sentMessage, func(ctx context.Context) (*node.Sent, error) {
			message, err := v2.ReadBoC(q.sent["boc"])
			if err != nil {
				return nil, err
			}
			return q.node.SendBoC(ctx, message)
		})
	},
}

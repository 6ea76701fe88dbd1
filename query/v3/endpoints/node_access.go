package endpoints

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"tonscribe/query/api"
	"tonscribe/query/node"
	"tonscribe/query/params"
	v2 "tonscribe/query/v2"
	v3 "tonscribe/query/v3"
)

// The endpoints that package node answers.
const nodeAccess = "Legacy (v2)"

// share answers with what a node says, which others may ask at the same time. The
// queue is that of the method of the v2 layer that asks the same.
func share[R any](q *v3.Request, queue string, parallel int, key string, shape *api.Shape[R], ask func(context.Context) (R, error)) error {
	if !hasNode(q) {
		return v3.ErrNoNode
	}
	question := node.Question{Queue: node.Queue{Name: queue, Parallel: parallel}}
	if key != "" {
		question.Key, question.Keep = "v3/"+queue+" "+key, time.Second
	}
	answer, err := q.Node.Share(q, question, func(ctx context.Context) ([]byte, error) {
		row, err := ask(ctx)
		if err != nil {
			return nil, err
		}
		w := &api.Writer{Max: maxNodeBytes}
		if shape.Write(w, row); w.Full() {
			return nil, node.TooLarge(maxNodeBytes)
		}
		return w.JSON, nil
	})
	if known := v2.Known(err); known != nil {
		return known
	}
	q.Body = append(q.Body, answer.Body...)
	return err
}

// maxNodeBytes bounds answers that a contract may make long.
const maxNodeBytes = 4 << 20

// ofNode stands for what the node layer refuses with a status of its own.
var ofNode = params.Error{Status: http.StatusUnprocessableEntity, Text: "what the node layer refuses"}

// refusedInside is what the node layer refuses, at endpoints at which every refusal is
// an internal error with its text.
func refusedInside(text string) params.Error {
	return params.Error{Status: http.StatusInternalServerError, Text: text}
}

// inside makes the error of such an endpoint; that lite servers do not answer in time
// stays what it is.
func inside(err error) error {
	known := v2.Known(err)
	if known == nil || known.Status == http.StatusGatewayTimeout {
		return err
	}
	refused := refusedInside(known.Text)
	return &refused
}

// text is a member of the body that is a string; empty when it is not there.
func textOf(q *v3.Request, name string) (text string, err error) {
	raw, ok := q.Sent[name]
	if !ok || string(raw) == "null" {
		return "", nil
	}
	if json.Unmarshal(raw, &text) != nil {
		return "", params.Unprocessable("%s must be a string", name)
	}
	return text, nil
}

func missing(text string) *params.Error {
	return &params.Error{Status: http.StatusUnauthorized, Text: text}
}

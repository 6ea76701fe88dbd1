package v2

import (
	"errors"
	"net/http"

	"tonscribe/query/node"
	"tonscribe/query/params"
)

// Error is an answer other than 200.
type Error = params.Error

// The statuses that HTTP does not name (contract 1.6).
const (
	statusDepth      = 533
	statusNoServer   = 542
	statusClientGone = 499
)

// statuses are those of what the node access says.
var statuses = map[node.Kind]int{
	node.Failed: http.StatusInternalServerError, node.NotFound: http.StatusNotFound, node.Unfitting: http.StatusConflict,
	node.TooDeep: statusDepth, node.NoServer: statusNoServer, node.Timeout: http.StatusGatewayTimeout,
}

func unprocessable(format string, args ...any) *Error { return params.Unprocessable(format, args...) }

// failed is an error whose text begins as the node library's do.
func failed(text string) *Error {
	return &Error{Status: http.StatusInternalServerError, Text: text}
}

var (
	errInternal = failed("internal server error")
	errGone     = &Error{Status: statusClientGone, Text: "the client has gone"}
)

// Known is the answer to an error; nil for one that only the log may see.
func Known(err error) *Error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	if e := node.Known(err); e != nil {
		return &Error{Status: statuses[e.Kind], Text: e.Text}
	}
	return nil
}

// ofNode are errors of the node access as answers.
func ofNode(list ...error) (answers []Error) {
	for _, err := range list {
		answers = append(answers, *Known(err))
	}
	return answers
}

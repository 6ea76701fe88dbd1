package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"tonscribe/internal/clickhouse"
	"tonscribe/query/api"
	"tonscribe/query/openapi"
	"tonscribe/webhooks/store"
)

// Error is an answer other than a success. The message says what to do.
type Error struct {
	Status  int
	Code    string // a word for programs
	Message string

	retry time.Duration // to wait, 0 for none
}

// Error implements error.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// failure is the body of an Error.
var failure = api.New("Failure",
	api.Object("error", api.New("Error",
		api.Text("code", func(e *Error) string { return e.Code }).Doc("a word for programs"),
		api.Text("message", func(e *Error) string { return e.Message }).Doc("what is wrong, and what to do"),
	), api.Same[*Error], nil),
)

// The errors of every endpoint, and some of several.
var (
	errNoKey         = &Error{Status: http.StatusUnauthorized, Code: "key_wanted", Message: "send the API key of a merchant in the header X-API-Key, or sign in"}
	errBadKey        = &Error{Status: http.StatusUnauthorized, Code: "key_unknown", Message: "there is no such API key, or it is revoked: make one in the dashboard"}
	errNoSession     = &Error{Status: http.StatusUnauthorized, Code: "session_over", Message: "the session is over: sign in again"}
	errBadToken      = &Error{Status: http.StatusUnauthorized, Code: "token_unknown", Message: "there is no merchant with this token: ask the operator for another one"}
	errDisabled      = &Error{Status: http.StatusForbidden, Code: "merchant_disabled", Message: "the merchant is disabled: ask the operator"}
	errScope         = &Error{Status: http.StatusForbidden, Code: "scope_missing", Message: "the API key lacks the scope <scope>: use another key"}
	errCSRF          = &Error{Status: http.StatusForbidden, Code: "csrf", Message: "send the csrf value of the session in the header X-CSRF-Token"}
	errWantsSession  = &Error{Status: http.StatusForbidden, Code: "session_wanted", Message: "only a session of the dashboard has this: sign in"}
	errTooMany       = &Error{Status: http.StatusTooManyRequests, Code: "too_many_requests", Message: "too many requests: wait as Retry-After says"}
	errNotFound      = &Error{Status: http.StatusNotFound, Code: "not_found", Message: "there is no such thing of this merchant"}
	errNoPath        = &Error{Status: http.StatusNotFound, Code: "no_such_path", Message: "this path is not served: see " + Prefix + documentPath}
	errMethod        = &Error{Status: http.StatusMethodNotAllowed, Code: "method_not_allowed", Message: "the path does not take this method: see the header Allow"}
	errTooLargeBody  = &Error{Status: http.StatusRequestEntityTooLarge, Code: "body_too_large", Message: fmt.Sprintf("the body is longer than %d bytes", maxBody)}
	errQueryTooLong  = badRequest("query_too_long", "the query is longer than %d bytes", maxQuery)
	errCoding        = badRequest("content_encoding", "send the body without Content-Encoding")
	errContentType   = badRequest("content_type", "send the body as application/json")
	errInternal      = &Error{Status: http.StatusInternalServerError, Code: "internal", Message: "something is wrong on our side: try again"}
	errUnavailable   = &Error{Status: http.StatusServiceUnavailable, Code: "unavailable", Message: "the tables, or the chain, cannot be reached: try again"}
	errNotConfigured = &Error{Status: http.StatusServiceUnavailable, Code: "not_configured", Message: "this installation does not have it: ask the operator"}
)

// everywhere are the errors that every endpoint has.
var everywhere = []*Error{errTooMany, errInternal, errUnavailable, errNotConfigured}

func badRequest(code, format string, args ...any) *Error {
	return &Error{Status: http.StatusBadRequest, Code: code, Message: fmt.Sprintf(format, args...)}
}

func conflict(code string, err error) *Error {
	return &Error{Status: http.StatusConflict, Code: code, Message: err.Error()}
}

// conflicts are errors of the store that say what to do.
var conflicts = []struct {
	err  error
	code string
}{
	{store.ErrRotating, "rotation_open"}, {store.ErrNotRotating, "no_next_secret"}, {store.ErrNoUndo, "nothing_to_undo"},
}

// failed is the answer to an error, and whether it is one of ours.
func failed(ctx context.Context, err error) (e *Error, ours bool) {
	if errors.As(err, &e) {
		return e, false
	}
	for _, c := range conflicts {
		if errors.Is(err, c.err) {
			return conflict(c.code, c.err), false
		}
	}
	switch {
	case errors.Is(context.Cause(ctx), context.Canceled): // the client has gone
		return errUnavailable, false
	case errors.Is(err, store.ErrNotFound):
		return errNotFound, false
	case errors.Is(err, store.ErrNoSealKey), errors.Is(err, ErrNoServers):
		return errNotConfigured, false
	case errors.Is(err, store.ErrSealKey):
		return errNotConfigured, true
	case errors.Is(err, store.ErrNotRead), errors.Is(err, store.ErrStopped), errors.Is(err, ErrNoAnswer), errors.Is(err, ErrNoIndex):
		return errUnavailable, false
	case ctx.Err() != nil, clickhouse.IsBroken(err):
		return errUnavailable, true
	}
	return errInternal, true
}

// describe is an error as the OpenAPI document has it.
func (e *Error) describe() openapi.Error {
	return openapi.Error{Status: e.Status, Text: e.Code + ": " + e.Message}
}

package v2

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/internal/lite"
	"tonscribe/ton/tvm"
)

// Error is an answer other than 200.
type Error struct {
	Status int
	Text   string
}

func (e *Error) Error() string { return e.Text }

// The statuses that HTTP does not name (contract 1.6).
const (
	statusDepth      = 533
	statusNoServer   = 542
	statusClientGone = 499
)

const timeoutText = "LITE_SERVER_NETWORK timeout"

func unprocessable(format string, args ...any) *Error {
	return &Error{Status: http.StatusUnprocessableEntity, Text: fmt.Sprintf(format, args...)}
}

func failed(format string, args ...any) *Error {
	return &Error{Status: http.StatusInternalServerError, Text: fmt.Sprintf(format, args...)}
}

// tooDeep is the answer to a result whose values are nested too deep.
func tooDeep(limit int) *Error {
	return &Error{Status: statusDepth, Text: fmt.Sprintf("Result stack depth >= %d", limit)}
}

// tooLarge is the answer in place of a result that is longer.
func tooLarge(limit int) *Error {
	return failed("The result is longer than %d bytes", limit)
}

func noServer(options string) *Error {
	return &Error{Status: statusNoServer, Text: "no workers available (" + options + ")"}
}

var (
	errTimeout  = &Error{Status: http.StatusGatewayTimeout, Text: timeoutText}
	errInternal = &Error{Status: http.StatusInternalServerError, Text: "internal server error"}
	errGone     = &Error{Status: statusClientGone, Text: "the client has gone"}
)

// classNames are the lite server's error codes (contract 1.13).
var classNames = map[int32]string{
	601: "FAILURE", 602: "ERROR", 603: "WARNING", 621: "PROTOVIOLATION", 651: "NOTREADY", 652: "TIMEOUT", 653: "CANCELLED",
}

// liteServerError is the text of a lite server's refusal.
func liteServerError(e ton.LSError) *Error {
	name, ok := classNames[e.Code]
	if !ok {
		name = "UNKNOWN"
	}
	const most = 4 << 10
	return failed("LITE_SERVER_%s: %.*s", name, most, e.Text)
}

// known is the answer to an error; nil for one that only the log may see.
func known(err error) *Error {
	var own *Error
	var refusal ton.LSError
	var refusalPointer *ton.LSError
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &refusal):
		return liteServerError(refusal)
	case errors.As(err, &refusalPointer):
		return liteServerError(*refusalPointer)
	case errors.Is(err, tvm.ErrStackTooLarge):
		return failed("Result stack has more than %d entries", mostEntries)
	case errors.Is(err, lite.ErrNoArchive):
		return noServer("archival")
	case errors.Is(err, lite.ErrUnavailable), errors.Is(err, lite.ErrRefused), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return errTimeout
	}
	return nil
}

var errNoTransaction = errors.New("the cell is no transaction")

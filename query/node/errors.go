package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/internal/lite"
	"tonscribe/ton/tvm"
)

// Error is an answer other than a value: its text is for the caller.
type Error struct {
	Kind Kind
	Text string
}

func (e *Error) Error() string { return e.Text }

// Unanswered reports whether no lite server was there to answer.
func (e *Error) Unanswered() bool { return e.Kind == NoServer || e.Kind == Timeout }

// Kind says what kind of an Error it is.
type Kind uint8

// The kinds.
const (
	Failed    Kind = iota // a lite server's refusal, or its words for one of ours
	NotFound              // there is no such thing
	Unfitting             // an account that is of another kind
	TooDeep               // a result that is nested too deep
	NoServer              // no lite server fits
	Timeout               // no lite server answered
)

// TimeoutText is that of every Timeout.
const TimeoutText = "LITE_SERVER_NETWORK timeout"

func failed(format string, args ...any) *Error {
	return &Error{Failed, fmt.Sprintf(format, args...)}
}

// TooLarge is the answer in place of a result that is longer.
func TooLarge(limit int) *Error { return failed("The result is longer than %d bytes", limit) }

// ErrTooDeep is the answer to a result whose values are nested too deep.
func ErrTooDeep(limit int) *Error {
	return &Error{TooDeep, fmt.Sprintf("Result stack depth >= %d", limit)}
}

func noServer(options string) *Error {
	return &Error{NoServer, "no workers available (" + options + ")"}
}

var errTimeout = &Error{Timeout, TimeoutText}

// classNames are the lite server's error codes (contract 1.13).
var classNames = map[int32]string{
	601: "FAILURE", 602: "ERROR", 603: "WARNING", 621: "PROTOVIOLATION", 651: "NOTREADY", 652: "TIMEOUT", 653: "CANCELLED",
}

// refusal is the text of a lite server's refusal.
func refusal(e ton.LSError) *Error {
	name, ok := classNames[e.Code]
	if !ok {
		name = "UNKNOWN"
	}
	const maxText = 4 << 10
	return failed("LITE_SERVER_%s: %.*s", name, maxText, e.Text)
}

// Known is what a caller may know of an error; nil for one that only the log may
// see.
func Known(err error) *Error {
	var own *Error
	var refused ton.LSError
	var refusedPointer *ton.LSError
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &refused):
		return refusal(refused)
	case errors.As(err, &refusedPointer):
		return refusal(*refusedPointer)
	case errors.Is(err, tvm.ErrStackTooLarge):
		return errTooManyEntries
	case errors.Is(err, lite.ErrNoArchive):
		return noServer("archival")
	case errors.Is(err, lite.ErrUnavailable), errors.Is(err, lite.ErrRefused), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return errTimeout
	}
	return nil
}

package params

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"tonscribe/internal/listen"
)

// MaxBodyBytes is the longest body that is read (contract 1.4).
const MaxBodyBytes = 1 << 20

var (
	errBodySize = &Error{Status: http.StatusRequestEntityTooLarge, Text: fmt.Sprintf("request body is longer than %d bytes", MaxBodyBytes)}
	// errCoding is the answer to a body in a coding: how long it is without would not
	// be known before it is read.
	errCoding = &Error{Status: http.StatusUnsupportedMediaType, Text: "bodies in a content coding are not taken: send it without Content-Encoding"}
	// errBusy is the answer to a large body that could not have its turn.
	errBusy = &Error{Status: http.StatusServiceUnavailable, Text: listen.ErrBusy.Error()}
)

// BodyErrors are the answers to bodies that are not read.
var BodyErrors = []Error{*errBodySize, *errCoding, *errBusy}

// ReadBody reads the body of a request; early is the answer to one that ends early.
func ReadBody(r *http.Request, early *Error) ([]byte, error) {
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, errCoding
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, MaxBodyBytes))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, errBodySize
	case errors.Is(err, listen.ErrBusy):
		return nil, errBusy
	case err != nil:
		return nil, early
	}
	return body, nil
}

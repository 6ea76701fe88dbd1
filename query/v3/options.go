package v3

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"tonscribe/query/params"
)

// readOptions reads the request options that every endpoint has. A header wins over
// its query twin; what cannot be read is ignored.
func (q *request) readOptions(r *http.Request) {
	q.noAddressBook = boolOption(r, "X-No-Address-Book", "x_no_address_book")
	q.noMetadata = boolOption(r, "X-No-Metadata", "x_no_metadata")
	q.timeout = math.MaxInt64
	if ms, err := strconv.ParseInt(option(r, "X-Timeout", "x_timeout"), 10, 32); err == nil && ms > 0 {
		q.timeout = time.Duration(ms) * time.Millisecond
	}
}

func option(r *http.Request, header, twin string) string {
	if value := r.Header.Get(header); value != "" {
		return value
	}
	return params.OptionOf(r.URL.RawQuery, twin)
}

func boolOption(r *http.Request, header, twin string) bool {
	value, err := strconv.ParseBool(option(r, header, twin))
	return err == nil && value
}

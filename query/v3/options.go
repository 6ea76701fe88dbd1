package v3

import (
	"math"
	"net/http"
	"strconv"
	"time"

	"tonscribe/query/params"
)

// options are the request options that every endpoint has (contract 1.2). A
// header wins over its query twin; what cannot be read is ignored.
type options struct {
	noAddressBook bool
	noMetadata    bool
	timeout       time.Duration // the longest there is when not asked for
}

func optionsOf(r *http.Request) options {
	o := options{timeout: math.MaxInt64}
	o.noAddressBook = boolOption(r, "X-No-Address-Book", "x_no_address_book")
	o.noMetadata = boolOption(r, "X-No-Metadata", "x_no_metadata")
	if ms, err := strconv.ParseInt(option(r, "X-Timeout", "x_timeout"), 10, 32); err == nil && ms > 0 {
		o.timeout = time.Duration(ms) * time.Millisecond
	}
	return o
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

package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"tonscribe/query/api"
	"tonscribe/webhooks/store"
)

// call is one request on its way through an endpoint.
type call struct {
	context.Context
	*API
	values
	caller
	request *http.Request
	header  http.Header // of the answer
}

// answer is what a request gets.
type answer struct {
	status int
	kind   string
	body   []byte
}

const (
	// requestLimit bounds what one request does.
	requestLimit = 30 * time.Second
	// auditLimit bounds the writing of what it did.
	auditLimit = 5 * time.Second
)

// ServeHTTP answers a request below Prefix.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	header := w.Header()
	header.Set("X-API-Version", Version)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	path := strings.TrimPrefix(r.URL.Path, Prefix)
	if path == documentPath && r.Method == http.MethodGet {
		write(w, answer{http.StatusOK, asJSON, a.document})
		return
	}
	e, v, allowed := find(r.Method, path)
	if path == documentPath {
		allowed = []string{http.MethodGet}
	}
	var got answer
	name := "other"
	switch {
	case e != nil:
		name = e.Name
		ctx := r.Context()
		if e.changes() && !e.Transfers {
			ctx = context.WithoutCancel(ctx) // whoever asked may go: what was changed is noted in the audit
		}
		ctx, cancel := context.WithTimeout(ctx, requestLimit)
		defer cancel()
		got = a.serve(&call{Context: ctx, API: a, values: v, request: r, header: header}, e)
	case len(allowed) > 0:
		header.Set("Allow", strings.Join(slices.Compact(slices.Sorted(slices.Values(allowed))), ", "))
		got = refused(header, errMethod)
	default:
		got = refused(header, errNoPath)
	}
	write(w, got)
	a.metrics.Observe(name, got.status, time.Since(began), len(got.body))
}

func write(w http.ResponseWriter, got answer) {
	w.Header().Set("Content-Type", got.kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(got.body)))
	w.WriteHeader(got.status)
	_, _ = w.Write(got.body) // the client has gone when this fails
}

// refused is the answer to an error.
func refused(header http.Header, e *Error) answer {
	if e.retry > 0 {
		header.Set("Retry-After", strconv.Itoa(int(math.Ceil(e.retry.Seconds()))))
	}
	return answer{e.Status, asJSON, failure.Append(nil, e)}
}

func (a *API) serve(c *call, e *Endpoint) answer {
	w := &api.Writer{}
	err := c.run(e, w)
	if err == nil {
		return answer{http.StatusOK, e.Result.kind, w.JSON}
	}
	known, ours := failed(c, err)
	if ours {
		a.failures.Inc()
		a.report.Log.Error().Err(err).Str("endpoint", e.Name).Msg("request of a merchant failed")
	}
	return refused(c.header, known)
}

// run lets a request through to its endpoint, or says why not. What the request holds is
// looked at only when its caller is known.
func (c *call) run(e *Endpoint, w *api.Writer) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	if len(c.request.URL.RawQuery) > maxQuery {
		return errQueryTooLong
	}
	query := splitQuery(c.request.URL.RawQuery)
	switch {
	case e.Access == anybody, e.Open != nil && e.Open(query):
		err = c.admitAnybody()
	default:
		err = c.admit(e)
	}
	if err != nil {
		return err
	}
	if err := c.values.fromQuery(e.InQuery, query); err != nil {
		return err
	}
	if e.Method != http.MethodGet {
		body, err := c.readBody()
		if err != nil {
			return err
		}
		if err := c.values.fromBody(e.InBody, body, e.OpenBody); err != nil {
			return err
		}
	}
	return e.Result.write(c, w)
}

// readBody reads the body. A page of another site can send none as application/json
// without being asked whether it may; who has a key is no such page.
func (c *call) readBody() ([]byte, error) {
	r := c.request
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, errCoding
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, errTooLargeBody
	case err != nil:
		return nil, badRequest("bad_json", "the body ends early")
	}
	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if len(bytes.TrimSpace(body)) > 0 && c.caller.key == nil && !strings.EqualFold(strings.TrimSpace(kind), asJSON) {
		return nil, errContentType
	}
	return body, nil
}

// audit notes what was done in the name of the merchant, in a time of its own: an attempt
// may have taken that of the request.
func (c *call) audit(what, detail string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c), auditLimit)
	defer cancel()
	return c.store.Audit.Put(ctx, store.Entry{Merchant: c.merchant.ID, What: what, Who: c.who(), Detail: detail})
}

// Package v3 answers the indexed layer of the HTTP API, /api/v3.
//
// In: HTTP requests, and the endpoints that there are (query/v3/endpoints). Out: JSON
// as the contract has it, and the OpenAPI document. An endpoint is one Endpoint value:
// its path, its parameters, its answer and how it is served. What all of them stand on
// is here: options, filters and pages of a request, lists with cursors, address book
// and metadata, errors. The package knows no endpoint, reads through query/store and
// query/rows only, and never lets an internal text into an answer.
package v3

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/report"
	"tonscribe/query/api"
	"tonscribe/query/auth"
	"tonscribe/query/node"
	"tonscribe/query/openapi"
	"tonscribe/query/params"
	"tonscribe/query/reader"
	"tonscribe/query/rows"
	"tonscribe/query/store"
)

// Prefix is where the endpoints are.
const Prefix = "/api/v3"

// Version is the version of the contract that X-API-Version names.
const Version = "1.2.10"

// MaxQueryBytes is the longest query string that is read.
const MaxQueryBytes = 1 << 20

// Endpoint declares a path. Everything that is known of it is here, for
// serving as for describing it.
type Endpoint struct {
	Path        string   // below Prefix
	Aliases     []string // further paths that clients know it by
	Tag         string
	Summary     string
	Description string
	Params      []params.Param
	Result      openapi.Described // the answer
	Errors      []params.Error    // besides bad values and those that every endpoint has
	// Rows is how many records an answer is made of at most, besides those that its
	// parameters name.
	Rows int
	// Headers are those that it reads, besides those of every endpoint.
	Headers []openapi.Parameter
	// Body are the members of a POST's JSON object; with them there is no GET.
	Body []openapi.Parameter
	// Twin reports whether a GET with the same path takes what Body has.
	Twin bool
	// Node endpoints are answered by package node, not from the index.
	Node bool
	// Serve fills the body of the answer.
	Serve func(*Request) error
}

// API serves the endpoints.
type API struct {
	endpoints []*Endpoint
	rows      rows.Reader
	options   Options
	report    report.Reporter
	metrics   api.Metrics
	// failures counts those for reasons of ours.
	failures *prometheus.CounterVec
}

// Options of an API.
type Options struct {
	// Timeout bounds each request.
	Timeout time.Duration
	// Node answers what lite servers are asked. May be nil.
	Node *node.Node
}

// New makes an API of endpoints that answer with rows that a reader reads.
func New(endpoints []*Endpoint, from rows.Reader, options Options, r report.Reporter) *API {
	meter := r.Meter("query")
	failures := meter.Counters("failures_total", "Requests that failed for reasons of ours.", "reason")
	metrics := api.NewMetrics(meter, "", "endpoint", 0.00025, 2, 15)
	return &API{endpoints, from, options, r, metrics, failures}
}

// Mount adds the endpoints to a router.
func (a *API) Mount(router gin.IRouter) {
	group := router.Group(Prefix)
	for _, e := range a.endpoints {
		serve := func(c *gin.Context) { a.serve(c.Writer, c.Request, e) }
		for _, path := range append([]string{e.Path}, e.Aliases...) {
			if e.Body != nil {
				group.POST(path, serve)
				continue
			}
			group.GET(path, serve)
			group.HEAD(path, serve)
		}
	}
}

// Request is one request on its way through an endpoint.
type Request struct {
	context.Context
	rows.Reader
	Values *params.Values
	// ActionsVersion is the header of that name.
	ActionsVersion string
	Node           *node.Node
	Sent           map[string]json.RawMessage // the body of a POST
	Body           []byte                     // of the answer
	Hints          []string                   // for the Warning header
	Next           string                     // for the header of the next page's cursor
	timeout        time.Duration              // that the client asks for
}

// buffers holds bodies for reuse. An answer of a thousand transactions has four
// megabytes.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxKeptBytes is the largest body that is kept for reuse.
const maxKeptBytes = 8 << 20

func (a *API) serve(w http.ResponseWriter, r *http.Request, e *Endpoint) {
	began := time.Now()
	buffer := buffers.Get().(*[]byte)
	q := &Request{Reader: a.rows, Body: (*buffer)[:0], Node: a.options.Node}
	q.readOptions(r)
	err := a.answer(q, r, e)
	status := http.StatusOK
	if err != nil {
		status, q.Body = a.failure(q, r, e, err, q.Body[:0])
	}
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("X-API-Version", Version)
	header.Set("Server-timing", "app;dur="+time.Since(began).String())
	if len(q.Hints) > 0 {
		header.Set("Warning", `299 - "`+strings.Join(q.Hints, "; ")+`"`)
	}
	if q.Next != "" {
		header.Set(nextCursorHeader, q.Next)
	}
	header.Set("Content-Length", strconv.Itoa(len(q.Body)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(q.Body) // the client has gone when this fails
	}
	a.metrics.Observe(e.Path, status, time.Since(began), len(q.Body))
	if cap(q.Body) <= maxKeptBytes {
		*buffer = q.Body
		buffers.Put(buffer)
	}
}

// answer fills the body.
func (a *API) answer(q *Request, r *http.Request, e *Endpoint) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic: %v\n%s", reason, debug.Stack())
		}
	}()
	if len(r.URL.RawQuery) > MaxQueryBytes {
		return &params.Error{Status: http.StatusRequestURITooLong, Text: fmt.Sprintf("query string is longer than %d bytes", MaxQueryBytes)}
	}
	if q.Values, err = params.Parse(e.Params, r.URL.RawQuery); err != nil {
		return err
	}
	q.hintUnknown()
	if e.Body != nil {
		if q.Sent, err = readBody(r); err != nil {
			return err
		}
	}
	if e.Node {
		q.Context = r.Context() // the node access has a deadline of its own
		return e.Serve(q)
	}
	ctx, cancel := context.WithTimeout(r.Context(), min(a.options.Timeout, q.timeout))
	defer cancel()
	q.Context = ctx
	// What the request may make the database do, by its rows and values.
	bounds := &reader.Request{Client: auth.Client(ctx), Items: q.Values.Items() + e.Rows, Skipped: q.Values.Offset()}
	done, err := q.Store.Work(ctx, bounds.Client)
	if err != nil {
		return err
	}
	defer done()
	q.Context = q.Store.Begin(ctx, bounds)
	if err := q.TakeView(); err != nil {
		return err
	}
	return e.Serve(q)
}

// TakeView takes the newest view of the index.
func (q *Request) TakeView() (err error) {
	q.View, err = q.Store.View()
	return err
}

// hintUnknown names parameters that nobody knows, so that a misspelt filter does
// not go unnoticed.
func (q *Request) hintUnknown() {
	var names []string
	for _, name := range q.Values.Unknown {
		names = append(names, printable(name))
	}
	if len(names) > 0 {
		q.Hints = append(q.Hints, "unknown parameters were ignored: "+strings.Join(names, ", "))
	}
}

// printable keeps of a name what a header may hold.
func printable(name string) string {
	const maxLength = 40
	clean := strings.Map(func(r rune) rune {
		if r <= ' ' || r >= 0x7f || r == '"' || r == '\\' {
			return '?'
		}
		return r
	}, name)
	return clean[:min(len(clean), maxLength)]
}

// tooHeavy is the answer to a query that would take too long.
const tooHeavy = "the query is too heavy: narrow the filters or the range of time or lt, name fewer values, lower limit, or page with cursor"

// errBusy is the answer when others kept the request from being worked on.
var errBusy = &params.Error{Status: http.StatusServiceUnavailable, Text: clickhouse.ErrBusy.Error()}

// ErrNoNode is the answer of Node endpoints when there are no lite servers to ask.
var ErrNoNode = &params.Error{Status: http.StatusInternalServerError, Text: "ton-http-api endpoint is not specified"}

// statusClientGone counts requests whose client did not wait.
const statusClientGone = 499

// internal is an internal error, with what may be said of it.
func internal(about string) *params.Error {
	return &params.Error{Status: http.StatusInternalServerError, Text: "internal server error" + about}
}

// failure is the status and the body of an error.
func (a *API) failure(q *Request, r *http.Request, e *Endpoint, err error, body []byte) (int, []byte) {
	var known *params.Error
	switch {
	case errors.As(err, &known):
	case r.Context().Err() != nil:
		known = &params.Error{Status: statusClientGone, Text: "the client has gone"}
	case errors.Is(err, clickhouse.ErrBusy):
		known = errBusy
	case errors.Is(err, clickhouse.ErrTooHeavy) && q.Values.Offset() > 0:
		known = params.Unprocessable("offset %d is too deep in this list: page with cursor, the next_cursor of the page before, or narrow the filters", q.Values.Offset())
	case errors.Is(err, clickhouse.ErrTooHeavy):
		known = params.Unprocessable("%s", tooHeavy)
	case errors.Is(err, clickhouse.ErrUnavailable):
		known = internal(": the database does not answer, try again")
		a.failures.WithLabelValues("unavailable").Inc()
	case errors.Is(err, context.DeadlineExceeded): // while no statement ran
		known = errBusy
	case errors.Is(err, store.ErrEmpty):
		known = internal(": no masterchain block is indexed yet")
	case errors.Is(err, clickhouse.ErrDamaged):
		known = internal(": a part of the index is damaged and has to be repaired")
		a.failures.WithLabelValues("damaged").Inc()
	default:
		known = internal("")
		a.failures.WithLabelValues("other").Inc()
		a.report.Log.Error().Err(err).Str("path", e.Path).Str("query", r.URL.RawQuery[:min(len(r.URL.RawQuery), 500)]).Msg("request failed")
	}
	return known.Status, Failure(body, known.Status, known.Text)
}

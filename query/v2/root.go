// Package v2 answers the node-access layer of the HTTP API, /api/v2.
//
// In: HTTP requests, GET, POST and JSON-RPC. Out: JSON as the contract has it, of
// what package node says. A method is one Method value: its name, its parameters,
// how long an answer keeps, the operation that it stands for and the shape of its
// answer; adding one is a file and a line in methods. The package asks nobody
// itself, and never lets an internal text into an answer.
package v2

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"tonscribe/internal/lite"
	"tonscribe/internal/report"
	"tonscribe/query/api"
	"tonscribe/query/auth"
	"tonscribe/query/node"
)

// Prefix is where the methods are.
const Prefix = "/api/v2"

// Version is what X-API-Version names: 2, the variant, the release.
const Version = "2.1.1"

// API serves the methods.
type API struct {
	namespace string
	node      *node.Node
	report    report.Reporter
	metrics   api.Metrics
	cached    *prometheus.CounterVec
	failures  prometheus.Counter
}

// New makes an API that asks a node; namespace is the namespace part of @type.
func New(namespace string, n *node.Node, r report.Reporter) (*API, error) {
	if err := checkNamespace(namespace); err != nil {
		return nil, err
	}
	meter := r.Meter("v2")
	a := &API{
		namespace: namespace, node: n, report: r,
		metrics:  api.NewMetrics(meter, " of the node-access layer", "method", 0.0001, 2.5, 14),
		cached:   meter.Counters("cached_total", "Answers of the node-access layer that were kept from an earlier request.", "method"),
		failures: meter.Counter("failures_total", "Requests of the node-access layer that failed for reasons of ours."),
	}
	return a, nil
}

// Mount adds the methods to a router.
func (a *API) Mount(router gin.IRouter) {
	group := router.Group(Prefix)
	for name, m := range byName {
		group.POST("/"+name, func(c *gin.Context) { a.servePost(c.Writer, c.Request, m) })
		if !m.PostOnly {
			group.GET("/"+name, func(c *gin.Context) { a.serveGet(c.Writer, c.Request, m) })
		}
	}
	for _, name := range rpcNames {
		group.POST("/"+name, func(c *gin.Context) {
			if m := a.serveRPC(c.Writer, c.Request); m != nil {
				auth.NameMethod(c, "v2/"+m.Name)
			}
		})
	}
	group.GET("/healthcheck", func(c *gin.Context) {
		c.Header("X-API-Version", Version)
		c.Status(http.StatusOK)
	})
}

// call is one request on its way through a method.
type call struct {
	context.Context
	*Values
	*node.Node
}

// answer answers a request that is well-formed.
func (a *API) answer(ctx context.Context, m *Method, v *Values) (node.Answer, error) {
	write := func(ctx context.Context) ([]byte, error) {
		w := &api.Writer{Namespace: a.namespace, Max: cmp.Or(m.MaxBytes, maxResultBytes)}
		if err := m.Result.write(&call{ctx, v, a.node}, w); err != nil {
			return nil, err
		}
		if w.Full() {
			return nil, node.TooLarge(w.Max)
		}
		return w.JSON, nil
	}
	if m.Local {
		body, err := node.Guard(func() ([]byte, error) { return write(ctx) })
		return node.Answer{Body: body}, err
	}
	q := node.Question{Queue: node.Queue{Name: m.Name, Parallel: m.Parallel}}
	if m.Cache > 0 {
		q.Key, q.Keep = v.key(m), m.keep(v)
	}
	answer, err := a.node.Share(ctx, q, write)
	if e := node.Known(err); e != nil && e.Unanswered() && m.unanswered != nil && ctx.Err() == nil {
		err = m.unanswered
	}
	return answer, err
}

// failure is the answer to an error.
func (a *API) failure(r *http.Request, name string, err error) *Error {
	var own *Error
	var ofNode *node.Error
	if r.Context().Err() != nil && !errors.As(err, &own) && !errors.As(err, &ofNode) {
		return errGone
	}
	if e := Known(err); e != nil {
		if e.Status == http.StatusGatewayTimeout {
			level := zerolog.DebugLevel
			if errors.Is(err, lite.ErrRefused) {
				level = zerolog.WarnLevel
			}
			a.report.Log.WithLevel(level).Err(err).Str("method", name).Msg("lite servers gave no answer")
		}
		return e
	}
	a.failures.Inc()
	a.report.Log.Error().Err(err).Str("method", name).Msg("request failed")
	return errInternal
}

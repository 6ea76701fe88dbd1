// Package v2 answers the node-access layer of the HTTP API, /api/v2.
//
// In: HTTP requests, GET, POST and JSON-RPC. Out: JSON as the contract has it,
// of what lite servers say and prove. A method is one Method value: its name,
// its parameters, how long an answer keeps and how it is served; adding one is
// a file and a line in methods. The package asks lite servers through a Node
// only, which believes nothing without proof; it never reads ClickHouse, and
// never lets an internal text into an answer.
package v2

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/rs/zerolog"

	"tonscribe/internal/lite"
	"tonscribe/internal/report"
	"tonscribe/query/auth"
	"tonscribe/ton/tvm"
)

// Prefix is where the methods are.
const Prefix = "/api/v2"

// Version is what X-API-Version names: 2, the variant, the release.
const Version = "2.1.1"

// Dependencies of an API.
type Dependencies struct {
	Report report.Reporter
	// Node asks lite servers. Without one only the methods that need none answer.
	Node Node
	// Emulator executes messages. Without one this process does, which only suits
	// tests: what a stranger sends is then bounded by gas alone.
	Emulator Emulator
}

// Emulator tries a message on an account, away from this process. It ends with
// its context.
type Emulator interface {
	Deliver(ctx context.Context, in tvm.Delivery) (tvm.Outcome, error)
}

// API serves the methods.
type API struct {
	configuration Configuration
	node          Node
	emulator      Emulator
	report        report.Reporter
	metrics       metrics
	encoder       *encoder
	cache         *cache
	configs       *configs
	shelf         *libraryShelf
	places        map[*Method]chan struct{} // one for each request that asks lite servers
	ctx           context.Context           // of answers that several requests share
	cancel        context.CancelFunc
}

// New makes an API.
func New(configuration Configuration, d Dependencies) (*API, error) {
	if err := configuration.check(); err != nil {
		return nil, fmt.Errorf("api v2: %w", err)
	}
	a := &API{
		configuration: configuration, node: d.Node, emulator: d.Emulator, report: d.Report, metrics: newMetrics(d.Report.Metrics),
		encoder: &encoder{namespace: configuration.TypeNamespace}, cache: newCache(configuration.CacheBytes),
		configs: newConfigs(), shelf: newLibraryShelf(),
		places: map[*Method]chan struct{}{},
	}
	for _, m := range methods {
		a.places[m] = make(chan struct{}, m.parallel())
	}
	if a.emulator == nil {
		a.emulator = inProcess{}
	}
	a.ctx, a.cancel = context.WithCancel(context.Background())
	return a, nil
}

type inProcess struct{}

func (inProcess) Deliver(_ context.Context, in tvm.Delivery) (tvm.Outcome, error) {
	return tvm.Deliver(in)
}

// Stop ends what is on its way and waits for it.
func (a *API) Stop() {
	a.cancel()
	a.cache.wait()
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

// Configured says that there are lite servers to ask.
func (a *API) Configured() bool { return a.node != nil }

// call is one request on its way through a method.
type call struct {
	context.Context
	*Values
	*API
}

// execute answers a request that is well-formed.
func (a *API) execute(ctx context.Context, m *Method, v *Values) (answer, error) {
	switch {
	case m.Local:
		return a.invoke(ctx, m, v)
	case a.node == nil:
		return answer{}, noServer("no lite server is configured")
	case m.Cache == 0:
		return a.ask(ctx, m, v)
	}
	return a.cache.do(ctx, v.key(m), m.keep(v), func() (context.Context, context.CancelFunc) {
		return context.WithTimeout(a.ctx, a.configuration.Deadline)
	}, func(shared context.Context) (answer, error) {
		return a.ask(shared, m, v)
	})
}

// ask runs a method that asks lite servers, when it is its turn.
func (a *API) ask(ctx context.Context, m *Method, v *Values) (answer, error) {
	select {
	case a.places[m] <- struct{}{}:
	case <-ctx.Done():
		return answer{}, ctx.Err()
	}
	defer func() { <-a.places[m] }()
	return a.invoke(ctx, m, v)
}

func (a *API) invoke(ctx context.Context, m *Method, v *Values) (_ answer, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic: %v\n%s", reason, debug.Stack())
		}
	}()
	var asked lite.Answered
	result, err := m.serve(&call{Context: lite.WithAnswered(ctx, &asked), Values: v, API: a})
	if err != nil {
		return answer{}, err
	}
	body, err := a.encoder.encode(nil, result, m.mostBytes())
	return answer{body: body, servers: asked.String()}, err
}

// failure is the answer to an error.
func (a *API) failure(r *http.Request, name string, err error) *Error {
	var own *Error
	if r.Context().Err() != nil && !errors.As(err, &own) {
		return errGone
	}
	if e := known(err); e != nil {
		if e == errTimeout {
			level := zerolog.DebugLevel
			if errors.Is(err, lite.ErrRefused) {
				level = zerolog.WarnLevel
			}
			a.report.Log.WithLevel(level).Err(err).Str("method", name).Msg("lite servers gave no answer")
		}
		return e
	}
	a.metrics.failures.Inc()
	a.report.Log.Error().Err(err).Str("method", name).Msg("request failed")
	return errInternal
}

// observe counts an answer.
func (a *API) observe(name string, status int, e *envelope, bytes int) {
	a.metrics.observe(name, status, time.Since(e.began), bytes, e.cached)
}

// Ask answers a method for another layer, with parameters as in the body of a
// POST. Its error is an *Error unless something broke.
func (a *API) Ask(ctx context.Context, name string, parameters map[string]json.RawMessage) (json.RawMessage, error) {
	m, ok := byName[name]
	if !ok {
		return nil, fmt.Errorf("api v2: no method %s", name)
	}
	values, err := fromObject(m, parameters)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, a.configuration.Deadline)
	defer cancel()
	found, err := a.execute(ctx, m, values)
	if err == nil {
		return found.body, nil
	}
	if e := known(err); e != nil {
		return nil, e
	}
	return nil, err
}

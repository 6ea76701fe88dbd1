// Package query serves the HTTP API from what the sink wrote.
//
// In: HTTP requests. Out: the v3 layer (query/v3), answered from ClickHouse
// through query/store, the v2 layer (query/v2), answered through lite servers by
// query/node, and whatever others mount on the same router. It is
// stateless: any number of it can run behind a balancer. API keys and limits are
// query/auth. It must never write to ClickHouse, but for the usage of keys, and
// never let an internal text into an answer.
package query

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/lite"
	"tonscribe/internal/report"
	"tonscribe/query/auth"
	"tonscribe/query/examples"
	"tonscribe/query/live"
	"tonscribe/query/node"
	"tonscribe/query/openapi"
	"tonscribe/query/pending"
	"tonscribe/query/rows"
	"tonscribe/query/store"
	v2 "tonscribe/query/v2"
	v3 "tonscribe/query/v3"
	"tonscribe/query/v3/endpoints"
)

// Dependencies of the component. The tables must exist.
type Dependencies struct {
	Report report.Reporter
	// ClickHouse says how the tables are reached; a user that may only read is
	// enough. The component opens connections of its own.
	ClickHouse *clickhouse.Client
	// Log has the newest bundles before the tables have them. May be nil.
	Log store.Log
	// Usage writes how often API keys are used; nil leaves that out.
	Usage *clickhouse.Client
	// Emulator executes messages for node access, and, Pending.Workers at a time, what
	// is foreseen of them.
	Emulator node.Emulator
	// Shared is the log by which replicas tell each other what messages will do. May
	// be nil.
	Shared pending.Log
	// Mount adds paths of other components to the router. May be nil.
	Mount func(*gin.Engine)
}

// Component is the HTTP API, without a listener of its own.
type Component struct {
	store   *store.Store
	pool    *lite.Pool // nil without lite servers
	node    *node.Node
	pending *pending.Component // nil when nothing is shown before a block has it
	live    *live.Component    // nil without streams
	auth    *auth.Component
	index   *rows.Reader
	handler http.Handler
	done    chan struct{}
}

// New makes the component without connecting to anything.
func New(configuration Configuration, dependencies Dependencies) (*Component, error) {
	if configuration.Timeout <= 0 {
		return nil, fmt.Errorf("query: timeout is %s, it must be positive", configuration.Timeout)
	}
	if err := configuration.Tail.Validate(); err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	s, err := store.New(configuration.Store, dependencies.ClickHouse.Options(), dependencies.Log, dependencies.Report)
	if err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	foresight, accepted, err := newPending(configuration.Pending, dependencies)
	if err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	pool, asked, err := newNode(configuration.V2.Configuration, dependencies, accepted)
	if err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	access, err := v2.New(configuration.V2.TypeNamespace, asked, dependencies.Report)
	if err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	index := rows.Reader{Store: s, Pending: storeOf(foresight), TestNetwork: configuration.TestNetwork}
	api := v3.New(endpoints.All, index, v3.Options{Timeout: configuration.Timeout, Node: asked}, dependencies.Report)
	streams, err := newLive(configuration.Live, live.Dependencies{Report: dependencies.Report, Index: index})
	if err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	gate, err := auth.New(configuration.Auth, auth.Dependencies{
		Report: dependencies.Report, Reader: dependencies.ClickHouse, Writer: dependencies.Usage,
	})
	if err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	documents := []*openapi.Document{v2.Describe(configuration.V2.TypeNamespace, examples.V2(configuration.V2.TypeNamespace)), v3.Describe(endpoints.All, examples.V3())}
	if streams != nil {
		documents = append(documents, live.Describe(configuration.Live))
	}
	site, err := openapi.NewSite(documents...)
	if err != nil {
		return nil, fmt.Errorf("query: %w", err)
	}
	return &Component{
		store: s, pool: pool, node: asked, pending: foresight, live: streams, auth: gate, index: &index, handler: router(api, access, site, streams, gate, dependencies.Mount), done: make(chan struct{}),
	}, nil
}

// newNode makes the node access and the pool of lite servers that it asks, if there
// is to be one.
func newNode(c node.Configuration, dependencies Dependencies, accepted func(context.Context, node.Accepted)) (*lite.Pool, *node.Node, error) {
	d := node.Dependencies{Report: dependencies.Report, Emulator: dependencies.Emulator, Accepted: accepted}
	var pool *lite.Pool
	if c.Lite.Config != "" || len(c.Lite.Inline) > 0 {
		var err error
		if pool, err = lite.New(c.Lite, lite.Dependencies{Report: dependencies.Report}); err != nil {
			return nil, nil, err
		}
		d.Servers = pool
	}
	n, err := node.New(c, d)
	return pool, n, err
}

// newPending makes what foresees messages, nil where it is not wanted, and what tells it
// of them.
func newPending(c pending.Configuration, dependencies Dependencies) (*pending.Component, func(context.Context, node.Accepted), error) {
	if !c.Enabled {
		return nil, nil, nil
	}
	p, err := pending.New(c, pending.Dependencies{Report: dependencies.Report, Log: dependencies.Shared, Emulator: dependencies.Emulator})
	if err != nil {
		return nil, nil, err
	}
	return p, func(ctx context.Context, sent node.Accepted) { p.Accepted(auth.Client(ctx), sent) }, nil
}

// newLive makes the streams, nil where they are not wanted.
func newLive(c live.Configuration, d live.Dependencies) (*live.Component, error) {
	if !c.Enabled {
		return nil, nil
	}
	return live.New(c, d)
}

func storeOf(p *pending.Component) *pending.Store {
	if p == nil {
		return nil
	}
	return p.Store
}

// Handler serves every path. It answers requests that are on their way until
// Stop, so the listener is closed before that.
func (c *Component) Handler() http.Handler { return c.handler }

// Index reads rows of the index, and Node is node access, for others in the process.
func (c *Component) Index() *rows.Reader { return c.index }

// Node is node access; it need not be configured.
func (c *Component) Node() *node.Node { return c.node }

// Drain ends the streams, so that a listener whose answers are on their way can be
// stopped.
func (c *Component) Drain() {
	if c.live != nil {
		c.live.Drain()
	}
}

// Start begins to follow the watermark, the API keys and the lite servers.
func (c *Component) Start(ctx context.Context) error {
	c.store.Start()
	if c.pool != nil {
		if err := c.pool.Start(ctx); err != nil {
			return err
		}
	}
	if c.pending != nil {
		if c.node.Configured() {
			c.pending.Start(c.node)
		} else {
			c.pending.Start(nil)
		}
	}
	if c.live != nil {
		c.live.Start()
	}
	return c.auth.Start(ctx)
}

// Stop ends everything. A stopped component does not start again.
func (c *Component) Stop(ctx context.Context) error {
	if c.live != nil {
		c.live.Stop()
	}
	err := c.auth.Stop(ctx)
	if c.pending != nil {
		c.pending.Stop()
	}
	c.node.Stop()
	if c.pool != nil {
		err = errors.Join(err, c.pool.Stop(ctx))
	}
	c.store.Stop()
	close(c.done)
	return err
}

// Done is closed after Stop; the component does not end by itself.
func (c *Component) Done() <-chan struct{} { return c.done }

// Err is always nil.
func (c *Component) Err() error { return nil }

// Watermark is the newest masterchain block that requests see, 0 for none.
func (c *Component) Watermark() uint32 {
	seqno, _ := c.Lag()
	return seqno
}

// Lag is how far the newest visible block is behind the present, and its seqno;
// the seqno is 0 when nothing is visible yet.
func (c *Component) Lag() (seqno uint32, lag time.Duration) {
	v, err := c.store.View()
	if err != nil {
		return 0, 0
	}
	return v.Watermark, time.Since(time.Unix(int64(v.GenUtime), 0))
}

// Ready is nil when requests find something: a bundle is complete, the database
// answers, and the API keys are known.
func (c *Component) Ready(ctx context.Context) error {
	return errors.Join(c.store.Ready(ctx), c.auth.Ready(ctx))
}

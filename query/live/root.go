// Package live tells clients what happens on the chain as it happens: streams of events
// (POST /api/streaming/v2/sse) and WebSockets (GET /api/streaming/v2/ws).
//
// In: bundles of the index, in order and without a gap (query/store), and what messages
// that were sent will do (query/pending). Out: the events of these (query/live/events) to
// the connections that want them. Every event has a position in the sequence of the
// chain's events, which is the same on every replica: whoever comes back with one gets
// what came after it. The package must never skip an event of a stream without ending it,
// never hold more than its limits, and never let what it does for a client outlive the
// client's connection.
package live

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/rs/zerolog"

	"tonscribe/internal/report"
	"tonscribe/query/auth"
	"tonscribe/query/live/events"
	"tonscribe/query/openapi"
	"tonscribe/query/pending"
	"tonscribe/query/rows"
)

// Prefix and Short are where the streams are; clients know both.
const (
	Prefix = "/api/streaming"
	Short  = "/streaming"
)

// Dependencies of the component.
type Dependencies struct {
	Report report.Reporter
	// Index has what events are made of.
	Index rows.Reader
}

// Component serves the streams.
type Component struct {
	configuration Configuration
	report        report.Reporter
	metrics       *metrics
	index         rows.Reader
	hub           *hub
	clients       clients
	queued        atomic.Int64  // bytes of events that wait, of all streams
	messages      atomic.Int64  // bytes of large messages that are not answered yet, likewise
	replays       chan struct{} // has as many values as streams read what they missed
	seldom        zerolog.Logger

	stopping context.Context // ends when streams are to end
	drain    context.CancelCauseFunc
	cancel   context.CancelFunc
	running  sync.WaitGroup
	serving  sync.WaitGroup // streams
	mu       sync.Mutex     // of serving and stopped
	stopped  bool
}

// New makes the component.
func New(c Configuration, d Dependencies) (*Component, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	l := &Component{
		configuration: c, report: d.Report.For("live"), index: d.Index,
		replays: make(chan struct{}, c.Replays),
	}
	l.stopping, l.drain = context.WithCancelCause(context.Background())
	l.clients = clients{configuration: &l.configuration, of: map[string]int{}}
	l.hub = newHub(l)
	l.seldom = l.report.Seldom()
	l.metrics = newMetrics(l.report.Meter("live"), l)
	return l, nil
}

// Start begins to give out events.
func (c *Component) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	c.running.Go(func() { c.hub.run(ctx) })
	if c.index.Pending != nil {
		const most = 1024
		coming := make(chan *pending.Trace, most)
		c.index.Pending.Listen(func(t *pending.Trace) {
			select {
			case coming <- t:
			default:
				c.metrics.dropped.Inc()
			}
		})
		c.running.Go(func() { c.hub.foresee(ctx, coming) })
	}
}

// Drain ends all streams, and lets no new ones begin.
func (c *Component) Drain() { c.drain(errStopping) }

// Stop ends everything.
func (c *Component) Stop() {
	c.Drain()
	c.mu.Lock()
	c.stopped = true
	c.mu.Unlock()
	c.serving.Wait()
	if c.index.Pending != nil {
		c.index.Pending.Listen(nil)
	}
	if c.cancel != nil {
		c.cancel()
	}
	c.running.Wait()
}

// begin counts a stream that is served; it is false once the component stops.
func (c *Component) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return false
	}
	c.serving.Add(1)
	return true
}

// Mount adds the paths to a router.
func (c *Component) Mount(router gin.IRouter) {
	for _, prefix := range []string{Prefix, Short} {
		router.POST(prefix+"/v2/sse", func(g *gin.Context) { c.serveEvents(g.Writer, g.Request) })
		router.GET(prefix+"/v2/ws", func(g *gin.Context) { c.serveSocket(g.Writer, g.Request) })
		router.Match(openapi.Reading, prefix+"/healthz", func(g *gin.Context) { c.serveHealth(g.Writer, g.Request) })
	}
}

// limitsOf are those of who sends a request, and how many streams it may have.
func (c *Component) limitsOf(ctx context.Context) (l events.Limits, streams int) {
	key, own := auth.KeyID(ctx), auth.StreamsOf(ctx)
	may := c.configuration.Everything
	if key == "" {
		return events.Limits{Addresses: c.configuration.AnonymousAddresses, Everything: slices.Contains(may, "anonymous")}, c.configuration.AnonymousConnections
	}
	l = events.Limits{Addresses: cmp.Or(int(own.Addresses), c.configuration.Addresses), Everything: slices.Contains(may, "*") || slices.Contains(may, "anonymous") || slices.Contains(may, key)}
	return l, cmp.Or(int(own.Connections), c.configuration.ClientConnections)
}

func (c *Component) books() events.Books { return events.Books{Index: &c.index, Fail: c.failed} }

// failed counts a failure, and logs some.
func (c *Component) failed(err error) {
	c.metrics.failures.Inc()
	c.seldom.Warn().Err(err).Msg("what streams are made of could not be read; trying again")
}

func (c *Component) sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// streamContext ends when a stream is to end. It is not that of its request, which ends
// when the connection is taken over.
func (c *Component) streamContext() (context.Context, context.CancelFunc) {
	return context.WithCancel(c.stopping)
}

var errStopping = fmt.Errorf("the server stops, connect again")

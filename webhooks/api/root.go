// Package api is the HTTP API of merchants, /api/merchant/v1: payments are registered and
// looked up, webhooks are set up and watched, keys are made.
//
// In: requests of merchants, by key or by the session of a dashboard. Out: JSON, and what
// the requests change in webhooks/store. An endpoint is one Endpoint value; adding one is
// a line in endpoints. What is read of the chain, built for it, and sent is behind
// interfaces: an installation without them answers 503 where they are needed.
//
// A request sees and changes nothing but what belongs to its merchant: what belongs to
// another one is answered as what is not there. The package must never let a secret into
// an answer but where it is asked for (reveal) or made, nor into the log.
package api

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/ratelimit"
	"tonscribe/internal/report"
	"tonscribe/query/api"
	"tonscribe/ton/address"
	"tonscribe/webhooks/payment"
	"tonscribe/webhooks/store"
)

// Prefix is where the endpoints are.
const Prefix = "/api/merchant/v1"

// documentPath is that of the OpenAPI document, below Prefix.
const documentPath = "/openapi.json"

// Version is what X-API-Version names.
const Version = "1.0.0"

// Build makes the message of a payment, which has all but the hash of its body. Its error
// says what cannot be paid.
type Build func(store.Payment) (payment.Message, error)

// Token is what is known of a jetton.
type Token struct {
	Decimals uint8
	Symbol   string // empty where unknown
	// Waits reports whether the jetton's document, which may tell other decimals, was not read yet.
	Waits bool
	// Assumed reports whether it cannot be had.
	Assumed bool
}

// Tokens knows jettons, as of the newest block.
type Tokens interface {
	// Token returns store.ErrNotFound for an address that is no jetton master, or ErrNoIndex.
	Token(ctx context.Context, master address.Address) (Token, error)
	// WalletsOf returns what the master says of the jetton wallets of some owners, or
	// ErrNoServers or ErrNoAnswer.
	WalletsOf(ctx context.Context, master address.Address, owners ...address.Address) ([]address.Address, error)
}

// Errors of Tokens, besides store.ErrNotFound.
var (
	// ErrNoServers says that there are no lite servers to be asked.
	ErrNoServers = errors.New("there are no lite servers")
	// ErrNoAnswer wraps why none of them has answered.
	ErrNoAnswer = errors.New("no lite server answers")
	// ErrNoIndex wraps why nothing is known of jettons yet: the server has just begun.
	ErrNoIndex = errors.New("the index cannot be read yet")
)

// Outcome is how a payment ended.
type Outcome struct {
	// Body is that of its event, to the byte: the success if there was one, else the
	// newest failure.
	Body []byte
	// Duplicate reports whether it was paid more than once.
	Duplicate bool
}

// Outcomes knows how payments ended.
type Outcomes interface {
	// Of returns the ends of those of a merchant's payments that have one.
	Of(ctx context.Context, merchant store.ID, references []store.Reference) (map[store.Reference]Outcome, error)
}

// Dependencies of the API.
type Dependencies struct {
	Report report.Reporter
	Store  *store.Store
	// Client tells the clients of requests apart, by their addresses; nil takes all for one.
	Client func(context.Context) string
	// Reaches reports whether webhooks are sent to an address; nil takes all.
	Reaches func(netip.Addr) bool

	// What is nil of these is answered with 503.
	Build      Build
	Tokens     Tokens // of payments in jettons
	Outcomes   Outcomes
	Deliveries Deliveries
}

// API serves the endpoints.
type API struct {
	configuration Configuration
	masters       map[address.Address]bool // none is any
	report        report.Reporter
	store         *store.Store
	client        func(context.Context) string
	reaches       func(netip.Addr) bool
	build         Build
	tokens        Tokens
	outcomes      Outcomes
	deliveries    Deliveries
	document      []byte
	metrics       api.Metrics
	failures      prometheus.Counter

	began                                             time.Time // limits count in time since then
	requestRule, transferRule, changeRule, lookupRule ratelimit.Rule
	requests, transfers, changes                      *ratelimit.Clients[store.ID]
	lookups                                           *ratelimit.Clients[string]
	refusals                                          chan struct{} // has as many values as wait
	exporting                                         sync.Map      // store.ID: true, of merchants whose tables are being written
}

// maxClients is how many client addresses, and merchants, are remembered for their limits.
const maxClients = 1 << 16

// New makes an API that reads and writes a store.
func New(configuration Configuration, dependencies Dependencies) (*API, error) {
	if err := configuration.validate(); err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	masters, err := configuration.masters()
	if err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	document, err := Describe().Render()
	if err != nil {
		return nil, err
	}
	r := dependencies.Report
	a := &API{
		configuration: configuration, masters: masters, report: r, store: dependencies.Store, client: dependencies.Client, reaches: dependencies.Reaches,
		build: dependencies.Build, tokens: dependencies.Tokens, outcomes: dependencies.Outcomes, deliveries: dependencies.Deliveries,
		document:     document,
		metrics:      api.NewMetrics(r.Meter("merchant"), " of the merchants' API", "endpoint", 0.0005, 2.5, 12),
		failures:     r.Meter("merchant").Counter("failures_total", "Requests of the merchants' API that failed for reasons of ours."),
		began:        time.Now(),
		requestRule:  ratelimit.New(configuration.Rate, configuration.Burst),
		transferRule: ratelimit.New(configuration.TransferRate, configuration.TransferBurst),
		changeRule:   ratelimit.New(configuration.ChangeRate, configuration.ChangeBurst),
		lookupRule:   ratelimit.New(configuration.LookupRate, configuration.LookupBurst),
		requests:     ratelimit.NewClients[store.ID](maxClients),
		transfers:    ratelimit.NewClients[store.ID](maxClients),
		changes:      ratelimit.NewClients[store.ID](maxClients),
		lookups:      ratelimit.NewClients[string](maxClients),
		refusals:     make(chan struct{}, maxRefusals),
	}
	if a.client == nil {
		a.client = nobody
	}
	return a, nil
}

// Mount adds the endpoints to a router. Requests come by their path alone, since a route
// takes none by methods that HTTP does not name.
func (a *API) Mount(router *gin.Engine) {
	router.Use(func(c *gin.Context) {
		if strings.HasPrefix(c.Request.URL.Path, Prefix+"/") {
			a.ServeHTTP(c.Writer, c.Request)
			c.Abort()
		}
	})
}

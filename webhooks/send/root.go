// Package send tells merchants how their payments ended.
//
// In: events of the topic transfers, each with the body to be posted, and where
// merchants want them. Out: requests, and in the tables events, deliveries and
// delivery_attempts what became of each. An event that is in the log is delivered, or
// four attempts are logged that failed, whatever crashes in between; what is posted
// twice is no more than what was under way then. The package must never post an event
// because the log was read twice, follow a redirect, connect to an address that is not
// globally reachable, or let one receiver hold up the events of others. It knows
// nothing of how transfers are recognised.
package send

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/kafka"
	"tonscribe/internal/lifetime"
	"tonscribe/internal/report"
	"tonscribe/schema"
)

// ID is that of a merchant or of an event: 16 bytes.
type ID = [16]byte

// Endpoint is where a merchant wants events, and what signs them.
type Endpoint struct {
	URL string
	// Enabled is whether events are sent; DisabledReason says why they are not.
	Enabled        bool
	DisabledReason string
	// Secret signs: the text of the webhook's secret, or of the API key where the
	// merchant chose that. Next is the one that will replace it, Old the one that it has
	// replaced; empty for none.
	Secret, Next, Old string
	// Changed is when it last was, by its merchant or for him.
	Changed time.Time
}

// Endpoints are those of all merchants.
type Endpoints interface {
	// Get returns the endpoint of a merchant, as it was some seconds ago at most: one
	// without an URL, or clickhouse.ErrNoRow, where there is none.
	Get(ctx context.Context, merchant ID) (Endpoint, error)
	// Newest is Get, but asks the table.
	Newest(ctx context.Context, merchant ID) (Endpoint, error)
	// Disable ends the sending to an endpoint that takes nothing any more.
	Disable(ctx context.Context, merchant ID, reason string) error
}

// Dependencies of a Component and of a Manual. The tables must exist, and the client
// must be allowed to write them.
type Dependencies struct {
	Report     report.Reporter
	ClickHouse *clickhouse.Client
	Endpoints  Endpoints
	// Log is that of a Component.
	Log *kafka.Client
	// Version is named in the header User-Agent.
	Version string
}

// Component is a member of the senders' group: it has the events of the merchants of
// some partitions of the topic.
//
// Stop begins no further attempt, and waits for those under way as long as the
// configuration says. Done is closed when the component has ended, by Stop or because
// the log or ClickHouse refused it for good; Err then says why.
type Component struct {
	*lifetime.Run
	configuration Configuration
	report        report.Reporter
	log           *kafka.Client
	tables        *clickhouse.Client
	endpoints     Endpoints
	courier       *courier
	journal       *journal
	conditions    *conditions
	metrics       *metrics
}

// New makes a component that does nothing yet.
func New(configuration Configuration, dependencies Dependencies) (*Component, error) {
	client, err := newClient(configuration, dependencies.Version)
	if err != nil {
		return nil, err
	}
	reporter := dependencies.Report.For("send")
	m := newMetrics(reporter)
	j := newJournal(dependencies.ClickHouse)
	if configuration.AllowHTTP || len(configuration.AllowNetworks) > 0 {
		reporter.Log.Warn().Bool("allow_http", configuration.AllowHTTP).Strs("allow_networks", configuration.AllowNetworks).
			Msg("webhooks go to receivers that production refuses")
	}
	return &Component{
		Run:           lifetime.NewRun(),
		configuration: configuration,
		report:        reporter,
		log:           dependencies.Log,
		tables:        dependencies.ClickHouse,
		endpoints:     dependencies.Endpoints,
		courier:       &courier{configuration: configuration, client: client, write: j.write, metrics: m, report: reporter},
		journal:       j,
		conditions:    newConditions(configuration),
		metrics:       m,
	}, nil
}

// Start begins sending, or standing by, and returns at once.
func (c *Component) Start(context.Context) error {
	c.Run.Start(c.run)
	return nil
}

func (c *Component) run(ctx context.Context) error {
	defer c.courier.client.close()
	writing, stop := context.WithCancel(context.WithoutCancel(ctx)) // attempts that end after ctx are written too
	c.Run.Go(func() { c.journal.run(writing) })
	defer stop()
	err := c.log.Consume(ctx, c.configuration.Group, []schema.Topic{schema.Transfers}, c.serve)
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("send: %w", err)
}

// serve takes up the events of one partition, and sends those of its merchants.
func (c *Component) serve(ctx context.Context, reader *kafka.PartitionReader) error {
	q := c.newQueue(reader.Partition)
	defer q.measure(time.Time{})
	err := q.persist(ctx, func() error { return q.restore(ctx) })
	if err == nil {
		group, inner := errgroup.WithContext(ctx)
		group.Go(func() error { return q.run(inner) })
		group.Go(func() error { return q.take(inner, reader) })
		err = group.Wait()
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, context.Canceled) && !clickhouse.Retryable(err) {
		return kafka.Final(err)
	}
	return err
}

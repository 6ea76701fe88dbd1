// Package metadata fetches the documents that token contents point to (TEP-64).
// In come links as contracts hold them: http, https, ipfs or data, from the
// table metadata_links; out go the documents, JSON objects, into the table
// metadata, and how each link stands into metadata_fetches. Where a document names the
// dump of a mintless jetton's airdrop (TEP-177), its amounts go out too, into
// mintless_amounts, and how it stands into mintless_dumps. It must never reach
// an address that is not globally reachable, hold more than a document's limit, follow
// links without end, or give up a link without saying so: whoever writes a
// contract chooses what we are asked to fetch.
package metadata

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"time"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/lifetime"
	"tonscribe/internal/report"
)

// Dependencies of the component. The tables must exist, and the client must be
// allowed to write them.
type Dependencies struct {
	Report     report.Reporter
	ClickHouse *clickhouse.Client
}

// Component is one process that fetches documents: of several, one works and the
// others stand by.
//
// Stop breaks off what is being fetched and waits. What was fetched is written;
// the rest is fetched after the next start. Done is closed when the component has
// ended, by Stop or because ClickHouse refused it for good; Err then says why.
type Component struct {
	*lifetime.Run
	configuration Configuration
	report        report.Reporter
	tables        *clickhouse.Client
	fetcher       *Fetcher
	metrics       *metrics
	name          string // among all that ever ran
}

// New makes a component that does nothing yet.
func New(configuration Configuration, dependencies Dependencies) (*Component, error) {
	fetcher, err := NewFetcher(configuration)
	if err != nil {
		return nil, err
	}
	reporter := dependencies.Report.For("metadata")
	return &Component{
		Run:           lifetime.NewRun(),
		configuration: configuration,
		report:        reporter,
		tables:        dependencies.ClickHouse,
		fetcher:       fetcher,
		metrics:       newMetrics(reporter),
		name:          newName(),
	}, nil
}

// newName tells where the process runs, for whoever reads the table.
func newName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	var unique [8]byte
	_, _ = rand.Read(unique[:]) // never fails
	return fmt.Sprintf("%s/%d/%s", host, os.Getpid(), hex.EncodeToString(unique[:]))
}

// Start begins fetching, or standing by, and returns at once.
func (c *Component) Start(context.Context) error {
	c.Run.Start(c.run)
	return nil
}

// pause is how long a process waits after ClickHouse failed.
const pause = time.Second

func (c *Component) run(ctx context.Context) error {
	l := &lease{tables: c.tables, name: c.name, after: c.configuration.Lease}
	outage := c.report.Rarely()
	for ctx.Err() == nil {
		err := c.lead(ctx, l)
		switch {
		case ctx.Err() != nil || err == nil:
		case !clickhouse.Retryable(err):
			c.report.Log.Error().Err(err).Msg("clickhouse refuses to be read or written")
			return fmt.Errorf("metadata: %w", err)
		default:
			c.metrics.broken.Inc()
			outage.Warn().Err(err).Msg("clickhouse failed; trying again")
			_ = lifetime.Sleep(ctx, pause) // the loop sees that ctx has ended
		}
	}
	l.leave(context.WithoutCancel(ctx))
	return nil
}

// lead works whenever this process has the lease, until something fails.
func (c *Component) lead(ctx context.Context, l *lease) error {
	for {
		mine, err := l.take(ctx)
		switch {
		case err == nil && mine:
			err = c.work(ctx, l)
		case err == nil:
			err = lifetime.Sleep(ctx, c.configuration.Poll)
		}
		if err != nil || ctx.Err() != nil {
			return err
		}
	}
}

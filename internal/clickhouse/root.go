// Package clickhouse is how stages reach ClickHouse: one pool of connections,
// inserts of whole blocks of columns that are safe to repeat, the watermark, and
// how rows are counted against seals. It knows tables only by name; it must never
// know what a row means, except those of progress and seals.
package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/lifetime"
	"tonscribe/internal/report"
)

// Dependencies of a Client.
type Dependencies struct {
	Report report.Reporter
	// Room is waited for before every try of an insert; nil is room always.
	Room func(ctx context.Context) error
}

// Client is a pool of connections. It is safe for use by many goroutines.
type Client struct {
	conn      driver.Conn
	inserters inserters
	options   driver.Options
	report    report.Reporter
	room      func(ctx context.Context) error
	retries   *prometheus.CounterVec // of all clients of the process
	lives     lives
}

// New makes a client without connecting to anything. Writers and readers have a
// client each: they are different users of ClickHouse, with different profiles.
func New(configuration Configuration, dependencies Dependencies) (*Client, error) {
	options, err := configuration.options()
	if err != nil {
		return nil, err
	}
	c := &Client{
		options: *options, report: dependencies.Report, room: dependencies.Room,
		retries: dependencies.Report.Meter("clickhouse").Counters("retries_total", "Statements that failed and were tried again.", "statement"),
	}
	if options.Protocol == driver.Native {
		options.DialContext = c.dial
	}
	if c.conn, err = driver.Open(options); err != nil {
		return nil, fmt.Errorf("clickhouse: %w", err)
	}
	c.inserters = newInserters(*options)
	return c, nil
}

// Options are how the servers are reached, for who speaks to them without the
// pool.
func (c *Client) Options() driver.Options { return c.options }

// Conn is the pool itself, for queries.
func (c *Client) Conn() driver.Conn { return c.conn }

// Close ends the connections. An embedded engine must be stopped after this.
func (c *Client) Close() error { return errors.Join(c.conn.Close(), c.inserters.close()) }

// Wait returns when ClickHouse answers. It gives up with ctx, or on an answer
// that waiting does not change, like a wrong password.
func (c *Client) Wait(ctx context.Context) error {
	return c.persist(ctx, "connect", func() error { return c.conn.Ping(ctx) })
}

// Pauses between tries.
const (
	minPause = 50 * time.Millisecond
	maxPause = 5 * time.Second
	// quiet is the least time between two log lines about the same trouble.
	quiet = 10 * time.Second
)

// persist tries until it works, ctx ends, or the error is one that trying again
// does not cure.
func (c *Client) persist(ctx context.Context, what string, try func() error) error {
	var reported time.Time
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		err := try()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !Retryable(err):
			return fmt.Errorf("%s: %w", what, err)
		}
		c.retries.WithLabelValues(what).Inc()
		if time.Since(reported) > quiet {
			reported = time.Now()
			c.report.Log.Warn().Err(err).Str("statement", what).Msg("clickhouse failed; trying again")
		}
		if err := lifetime.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

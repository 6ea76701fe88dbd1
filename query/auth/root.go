// Package auth decides which requests the HTTP API answers: API keys, and how
// many requests a second a key, or a client address without one, may make.
//
// In: requests on their way to a layer of the API, and the table of keys. Out:
// the same requests, without the key in their URL, or a refusal; and the table
// of usage. Keys live in ClickHouse, the one store that every installation and
// every replica of query has: each replica reads them as the API's user every few
// seconds, and `tonscribe keys` writes them as the user that owns the
// tables. Usage is written by that second user too, so that the API's own user
// may stay without any right to write.
//
// The package must never keep, log or hand on a key itself, only its SHA-256.
package auth

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/ratelimit"
	"tonscribe/internal/report"
)

// Dependencies of the component. The tables must exist.
type Dependencies struct {
	Report report.Reporter
	// Reader reads the keys.
	Reader *clickhouse.Client
	// Writer writes how often keys are used; nil leaves that out.
	Writer *clickhouse.Client
}

// Component knows the keys and counts requests.
type Component struct {
	configuration Configuration
	report        report.Reporter
	metrics       metrics
	table         *Table
	usage         *Table // nil when usage is not written
	proxies       []netip.Prefix
	anonymous     ratelimit.Rule
	began         time.Time // limits count in time since then
	addresses     *ratelimit.Clients[address]
	shared        *shared // nil without Redis

	keys    *clickhouse.Followed[Hash, *state] // those in use
	counted sync.Map                           // Hash: *usage, of every key since the process began
	warned  time.Time                          // of keys that cannot be read

	stop    context.CancelFunc
	running sync.WaitGroup
}

// New makes the component without connecting to anything.
func New(configuration Configuration, dependencies Dependencies) (*Component, error) {
	proxies, err := configuration.validate()
	if err != nil {
		return nil, fmt.Errorf("auth: %w", err)
	}
	c := &Component{
		configuration: configuration,
		report:        dependencies.Report,
		table:         NewTable(dependencies.Reader),
		proxies:       proxies,
		anonymous:     ratelimit.New(configuration.AnonymousRate, configuration.AnonymousBurst),
		began:         time.Now(),
		addresses:     ratelimit.NewClients[address](configuration.Addresses),
	}
	c.keys = clickhouse.NewFollowed(clickhouse.FollowedOptions[Hash, *state]{
		Mark: c.table.mark, Read: c.readKeys, Every: configuration.Refresh, Failed: c.notRead})
	if dependencies.Writer != nil {
		c.usage = NewTable(dependencies.Writer)
	}
	if c.shared, err = newShared(configuration, dependencies.Report); err != nil {
		return nil, fmt.Errorf("auth: redis: %w", err)
	}
	c.metrics = newMetrics(dependencies.Report.Meter("auth"), c)
	return c, nil
}

// Start begins to follow the table of keys.
func (c *Component) Start(context.Context) error {
	ctx, cancel := context.WithCancel(context.Background())
	c.stop = cancel
	c.running.Go(func() { c.keys.Run(ctx) })
	if c.usage != nil {
		c.running.Go(func() { c.writeUsage(ctx) })
	}
	return nil
}

// Stop writes the last of the usage and ends everything. A stopped component
// does not start again.
func (c *Component) Stop(context.Context) error {
	if c.stop != nil {
		c.stop()
	}
	c.running.Wait()
	return c.shared.close()
}

// Ready is nil when the keys are known.
func (c *Component) Ready(context.Context) error {
	if !c.keys.Known() {
		return errors.New("the API keys were not read yet")
	}
	return nil
}

// state is a key in use: its limit and its counts.
type state struct {
	Key
	rule   ratelimit.Rule
	bucket *ratelimit.Bucket
	usage  *usage
}

// readKeys returns the keys that are not revoked. What one of them has used up
// already stays used up.
func (c *Component) readKeys(ctx context.Context, old map[Hash]*state) (map[Hash]*state, error) {
	list, err := c.table.List(ctx)
	if err != nil {
		return nil, err
	}
	keys := make(map[Hash]*state, len(list))
	for _, k := range list {
		if k.Revoked {
			continue
		}
		s := &state{Key: k, rule: ratelimit.New(k.Rate, k.Burst), bucket: &ratelimit.Bucket{}}
		if old[k.Hash] != nil {
			s.bucket = old[k.Hash].bucket
		}
		counts, _ := c.counted.LoadOrStore(k.Hash, &usage{})
		s.usage = counts.(*usage)
		keys[k.Hash] = s
	}
	return keys, nil
}

// notRead reports keys that could not be read, now and then.
func (c *Component) notRead(err error) {
	c.metrics.refreshFailures.Inc()
	if time.Since(c.warned) > 10*time.Second {
		c.warned = time.Now()
		c.report.Log.Warn().Err(err).Msg("the API keys could not be read; trying again")
	}
}

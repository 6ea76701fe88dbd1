// Package sink brings topics into tables. In come records of the topics
// headers, transactions, accounts, contracts and traces, out go rows of ClickHouse:
// each offset range of a partition exactly once, whatever is killed when, then
// the progress that readers take the watermark from and the bundles' seals.
// It must never change what a record says, but for data that is too deep to be
// kept, never move on past a bundle whose
// rows are not all there, and never cut a range that it once began to insert in
// another way.
package sink

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/kafka"
	"tonscribe/internal/lifetime"
	"tonscribe/internal/report"
	"tonscribe/schema"
)

// Dependencies of the component. The tables and topics must exist.
type Dependencies struct {
	Report     report.Reporter
	Kafka      *kafka.Client
	ClickHouse *clickhouse.Client
	// Progressed is called after the progress of a partition was written. It must
	// not block. May be nil.
	Progressed func()
	// Repeat makes it a sink that brings back rows which tables have lost; nil is
	// an ordinary one.
	Repeat *Repeat
}

// Component is a member of the sinks' group.
//
// Stop ends consuming and waits. A batch whose rows are being inserted is given up, and
// the next start inserts it as it was; progress and seals are ended. Done is closed when
// the component has ended, by Stop or because the log refused it for good; Err then says
// why.
type Component struct {
	*lifetime.Run
	configuration Configuration
	dependencies  Dependencies
	metrics       *metrics
	turn          sync.Mutex // of inserts that have time
	began         time.Time  // of the first round of inserts
	round         round
}

// New makes a component that does nothing yet.
func New(configuration Configuration, dependencies Dependencies) (*Component, error) {
	if err := configuration.validate(); err != nil {
		return nil, err
	}
	return &Component{
		Run:           lifetime.NewRun(),
		configuration: configuration,
		dependencies:  dependencies,
		metrics:       newMetrics(dependencies.Report.Meter("sink")),
		began:         time.Now(),
	}, nil
}

// Start waits for ClickHouse, until ctx ends, and starts consuming.
func (c *Component) Start(ctx context.Context) error {
	if err := c.dependencies.ClickHouse.Wait(ctx); err != nil {
		return err
	}
	c.Run.Start(func(ctx context.Context) error {
		c.Go(func() { c.watch(ctx) })
		return c.consume(ctx)
	})
	return nil
}

func (c *Component) consume(ctx context.Context) error {
	err := c.dependencies.Kafka.Consume(ctx, c.configuration.Group, schema.TableTopics, c.drain)
	if err == nil || ctx.Err() != nil {
		return nil //nolint:nilerr // it was to end
	}
	c.dependencies.Report.Log.Error().Err(err).Msg("the log refuses to be read")
	return fmt.Errorf("sink: %w", err)
}

// watch keeps the gauge of the watermark.
func (c *Component) watch(ctx context.Context) {
	ticker := time.NewTicker(10 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		w, err := clickhouse.ReadWatermark(ctx, c.dependencies.ClickHouse.Conn())
		switch {
		case err == nil:
			c.metrics.watermark.Set(float64(w.MCSeqno))
			c.metrics.watermarkTime.Set(float64(w.GenUtime))
		case errors.Is(err, clickhouse.ErrNoWatermark), ctx.Err() != nil:
		default:
			c.dependencies.Report.Log.Debug().Err(err).Msg("the watermark could not be read")
		}
	}
}

// Package worker is the stage around the decode library. In come the bundles of
// raw blocks of the topic blocks, out go, partition by partition and in the same
// order, the records of the topics headers, transactions and accounts. What a
// block leaves out of an account's state comes from the cell store. The package
// must never commit a bundle whose output the log has not acknowledged, never
// skip a block, and never cut the same bundle into other records.
package worker

import (
	"context"
	"fmt"

	"tonscribe/decode/cellstore"
	"tonscribe/internal/kafka"
	"tonscribe/internal/lifetime"
	"tonscribe/internal/lite"
	"tonscribe/internal/report"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// Dependencies of the component. The topics must exist.
type Dependencies struct {
	Report report.Reporter
	Kafka  *kafka.Client
	// Zerostate gives the BoC of a zerostate, nil when nobody has it, of which it
	// tells the user. It may be nil itself.
	Zerostate func(ctx context.Context, id *record.BlockId) ([]byte, error)
	// Lite is asked for states of accounts of which neither blocks nor the store
	// have everything. Without it, nil, their code or data stays unknown.
	Lite *lite.Pool
}

// Component is a member of the decoders' group.
type Component struct {
	configuration Configuration
	report        report.Reporter
	kafka         *kafka.Client
	metrics       *metrics
	jobs          chan *job
	cells         *cellstore.Store // nil without a folder
	zerostate     func(ctx context.Context, id *record.BlockId) ([]byte, error)
	lite          *lite.Pool

	running *lifetime.Run
}

// New makes a component that does nothing yet.
func New(configuration Configuration, dependencies Dependencies) (*Component, error) {
	if err := configuration.validate(); err != nil {
		return nil, err
	}
	reporter := dependencies.Report.For("decode")
	return &Component{
		configuration: configuration,
		report:        reporter,
		kafka:         dependencies.Kafka,
		zerostate:     dependencies.Zerostate,
		lite:          dependencies.Lite,
		metrics:       newMetrics(reporter.Meter("decode")),
		jobs:          make(chan *job, configuration.Decoders),
		running:       lifetime.NewRun(),
	}, nil
}

// Start opens the cell store, begins consuming and returns at once.
func (c *Component) Start(context.Context) (err error) {
	if c.configuration.Cells.Dir != "" {
		if c.cells, err = cellstore.Open(c.configuration.Cells, cellstore.Dependencies{Report: c.report}); err != nil {
			return err
		}
	}
	c.running.Start(c.consume)
	return nil
}

// Stop ends consuming and waits. What was not committed is done again after the
// next start, with the same result.
func (c *Component) Stop(ctx context.Context) error {
	err := c.running.Stop(ctx)
	if c.cells != nil {
		if closed := c.cells.Close(); err == nil {
			err = closed
		}
	}
	return err
}

// Done is closed when the component has ended, by Stop or because the log
// or the cell store refused it for good; Err then says why.
func (c *Component) Done() <-chan struct{} { return c.running.Done() }

// Err is nil before the end and after Stop.
func (c *Component) Err() error { return c.running.Err() }

func (c *Component) consume(ctx context.Context) error {
	for range c.configuration.Decoders {
		c.running.Go(func() { c.decode(ctx) })
	}
	err := c.kafka.Consume(ctx, c.configuration.Group, []schema.Topic{schema.Blocks}, c.work)
	if err == nil || ctx.Err() != nil {
		return nil //nolint:nilerr // it was to end
	}
	c.report.Log.Error().Err(err).Msg("the stage ends")
	return fmt.Errorf("decode: %w", err)
}

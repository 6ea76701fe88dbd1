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
	"sync"

	"tonscribe/decode/cellstore"
	"tonscribe/internal/kafka"
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

	cancel  context.CancelFunc
	running sync.WaitGroup
	done    chan struct{}
	err     error
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
		metrics:       newMetrics(reporter.Metrics),
		jobs:          make(chan *job, configuration.Decoders),
		done:          make(chan struct{}),
	}, nil
}

// Start opens the cell store, begins consuming and returns at once.
func (c *Component) Start(context.Context) (err error) {
	if c.configuration.Cells.Dir != "" {
		if c.cells, err = cellstore.Open(c.configuration.Cells, cellstore.Dependencies{Report: c.report}); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	for range c.configuration.Decoders {
		c.running.Go(func() { c.decode(ctx) })
	}
	c.running.Go(func() { c.consume(ctx) })
	return nil
}

// Stop ends consuming and waits. What was not committed is done again after the
// next start, with the same result.
func (c *Component) Stop(context.Context) error {
	if c.cancel == nil {
		return nil
	}
	c.cancel()
	c.running.Wait()
	if c.cells != nil {
		if err := c.cells.Close(); c.err == nil {
			return err
		}
	}
	return c.err
}

// Done is closed when the component has ended, by Stop or because the log
// refused it for good; Err then says why.
func (c *Component) Done() <-chan struct{} { return c.done }

// Err is nil before the end and after Stop.
func (c *Component) Err() error {
	select {
	case <-c.done:
		return c.err
	default:
		return nil
	}
}

func (c *Component) consume(ctx context.Context) {
	defer close(c.done)
	err := c.kafka.Consume(ctx, c.configuration.Group, []schema.Topic{schema.Blocks}, c.work)
	if err != nil && ctx.Err() == nil {
		c.err = fmt.Errorf("decode: %w", err)
		c.report.Log.Error().Err(err).Msg("the log refuses to be read or written")
	}
}

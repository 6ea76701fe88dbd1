// Package contracts is the stage that knows what contracts are. In come the
// topics accounts and transactions, bundle by bundle and all partitions at once;
// out goes the topic contracts: facts that were found on changed accounts,
// confirmed by their parents, and the transfers and burns of tokens with how
// they ended. Its store holds what later bundles need: facts by account, the
// states of contracts that others are checked against, claims that wait for
// their parent and transfers that wait for their wallet. It must never commit a
// bundle whose output the log has not acknowledged, never give up a claim because
// the parent was not known in time, and never give other bytes for the same
// bundle.
package contracts

import (
	"context"
	"fmt"
	"sync"

	"tonscribe/decode/contract"
	"tonscribe/internal/kafka"
	"tonscribe/internal/lifetime"
	"tonscribe/internal/lite"
	"tonscribe/internal/report"
	"tonscribe/schema"
)

// Dependencies of the component. The topics must exist.
type Dependencies struct {
	Report report.Reporter
	Kafka  *kafka.Client
	// Lite is asked for what the log does not show: libraries of the masterchain,
	// contracts that claims are to be checked against, and the parameters of the
	// chain. Without it, nil, they become known when they come by in blocks.
	Lite *lite.Pool
}

// Component is a member of the stage's group: one works, the others stand by.
type Component struct {
	configuration Configuration
	report        report.Reporter
	kafka         *kafka.Client
	lite          *lite.Pool
	metrics       *metrics
	detector      *contract.Detector

	mutex   sync.Mutex
	current *session

	running *lifetime.Run
}

// New makes a component that does nothing yet.
func New(configuration Configuration, dependencies Dependencies) (*Component, error) {
	if err := configuration.validate(); err != nil {
		return nil, err
	}
	reporter := dependencies.Report.For("contracts")
	c := &Component{
		configuration: configuration,
		report:        reporter,
		kafka:         dependencies.Kafka,
		lite:          dependencies.Lite,
		metrics:       newMetrics(reporter.Metrics),
		running:       lifetime.NewRun(),
	}
	c.detector = contract.New(configuration.limits())
	c.detector.Observe = c.metrics.observe
	return c, nil
}

// Start begins consuming and returns at once.
func (c *Component) Start(context.Context) error {
	c.running.Start(c.consume)
	return nil
}

// Stop ends consuming and waits. What was not committed is done again after the
// next start, with the same result.
func (c *Component) Stop(context.Context) error {
	return c.running.Stop()
}

// Done is closed when the component has ended, by Stop or because the log
// or the store refused it for good; Err then says why.
func (c *Component) Done() <-chan struct{} { return c.running.Done() }

// Err is nil before the end and after Stop.
func (c *Component) Err() error { return c.running.Err() }

func (c *Component) consume(ctx context.Context) error {
	err := c.kafka.ConsumeWhole(ctx, c.configuration.Group, []schema.Topic{schema.Accounts, schema.Transactions}, c.work)
	if err == nil || ctx.Err() != nil {
		return nil
	}
	c.report.Log.Error().Err(err).Msg("the stage ends")
	return fmt.Errorf("contracts: %w", err)
}

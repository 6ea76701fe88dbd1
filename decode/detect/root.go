// Package detect is the stage that knows what contracts are. In come the
// topics accounts and transactions, bundle by bundle and all partitions at once;
// out goes the topic contracts: facts that were found on changed accounts,
// confirmed by their parents, and the transfers and burns of tokens with how
// they ended. Its store holds what later bundles need: facts by account, the
// states of contracts that others are checked against, claims that wait for
// their parent and transfers that wait for their wallet. It must never commit a
// bundle whose output the log has not acknowledged, never give up a claim because
// the parent was not known in time, and never give other bytes for the same
// bundle.
package detect

import (
	"tonscribe/decode/contract"
	"tonscribe/internal/kafka"
	"tonscribe/internal/lite"
	"tonscribe/internal/report"
	"tonscribe/internal/stage"
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
	*stage.Component

	configuration Configuration
	report        report.Reporter
	lite          *lite.Pool
	metrics       *metrics
	detector      *contract.Detector
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
		lite:          dependencies.Lite,
		metrics:       newMetrics(reporter.Meter("contracts")),
	}
	c.detector = contract.New(configuration.limits())
	c.detector.Observe = c.metrics.observe
	c.Component = stage.New(stage.Configuration{
		Settings: configuration.Settings, Name: "contracts", Inputs: []schema.Topic{schema.Accounts, schema.Transactions}, Output: schema.Contracts,
		Store: configuration.store(reporter.Log),
		Gap:   "what is missing of them comes from lite servers, or stays unknown until it changes again",
	}, stage.Dependencies{Report: reporter, Kafka: dependencies.Kafka,
		Begin: func(s *stage.Session) (stage.Logic, error) {
			w, err := c.begin(s)
			if err == nil && w.fetcher != nil {
				s.Go(w.fetcher.queue.Run)
			}
			return w, err
		}})
	return c, nil
}

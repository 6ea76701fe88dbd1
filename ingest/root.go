// Package ingest is the first stage: it brings a network's blocks into the log.
//
// In: blocks from a source, unverified and in any order. Out: topic blocks, per
// partition: bundle by bundle in masterchain order the blocks (RawBlock), then
// a Seal. A bundle is one masterchain block and every shard block that it
// commits for the first time, that is every block which is one of its shard
// tips or an ancestor of one, and was not so for the masterchain block before.
//
// Everything published has been verified: a block's hashes are those that the
// masterchain, or the block after it, names, and it continues the chain. The
// stage must never publish a bundle that is not complete, publish out of order,
// or hand on a block because a source said so.
//
// Publishing repeats after a crash what may not have arrived, with the same
// bytes; readers take each record once.
//
// What came before the first bundle must be known, otherwise nobody could tell
// which shard blocks are new in it: from the last seal in the log, from the
// masterchain block before it, or because it is block 1. For the same reason
// the bundle after a masterchain block that was skipped is skipped too.
package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"tonscribe/internal/report"
)

// Dependencies of the component.
type Dependencies struct {
	Report report.Reporter
	// Log is where bundles go.
	Log Publisher
	// Source replaces the one that the configuration names.
	Source Source
	// Backlog says how many bytes of published bundles the next stage has not
	// read yet. Optional.
	Backlog func(ctx context.Context) (int64, error)
	// First is the first bundle that the store holds, false when it is empty.
	// Optional.
	First func(ctx context.Context) (uint32, bool, error)
	// Newest is the bundle up to which the store is complete, 0 when it is empty.
	// Optional.
	Newest func(ctx context.Context) (uint32, error)
	// LeaveOut reports whether a bundle is left out although the source may have
	// it, as gaps of an index are when it is read once more. Nobody is told of
	// these. Optional.
	LeaveOut func(mcSeqno uint32) bool
	// Terminal gets a progress line that is redrawn; nil: log lines.
	Terminal io.Writer
}

// Component is the stage.
type Component struct {
	configuration Configuration
	dependencies  Dependencies
	report        report.Reporter
	metrics       *metrics
	source        Source

	cancel context.CancelFunc
	tasks  sync.WaitGroup
	status *status
	done   chan struct{}
	err    error // set before done is closed
}

// New makes the component. It is inert until Start.
func New(c Configuration, d Dependencies) (*Component, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if d.Log == nil {
		return nil, errors.New("ingest: no log to publish to")
	}
	r := d.Report.For("ingest")
	source := d.Source
	if source == nil {
		var err error
		if source, err = NewSource(c, d.Report); err != nil {
			return nil, err
		}
	}
	return &Component{
		configuration: c, dependencies: d, report: r, source: source,
		metrics: newMetrics(r.Meter("ingest")), status: newStatus(source), done: make(chan struct{}),
	}, nil
}

// Start opens the source, finds where to go on and starts publishing. The
// context bounds the start only.
func (c *Component) Start(ctx context.Context) error {
	if err := c.source.Open(ctx); err != nil {
		return err
	}
	from, err := c.whereToStart(ctx)
	if err != nil {
		return errors.Join(err, c.source.Close())
	}
	c.status.begin(from.next, c.configuration.To, from.prev)
	if to := c.configuration.To; to != 0 && from.next > to {
		c.report.Log.Info().Uint32("to", to).Msg("nothing to do: the log holds the range")
		c.finish(nil)
		return nil
	}
	run, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	started := context.AfterFunc(ctx, cancel) // reading ahead outlives the start
	defer started()
	p, o := c.assemble(from)
	err = c.checkNetwork(run, p.chain.reader, from.next)
	if err == nil {
		err = c.readBefore(run, p.chain, &from)
	}
	if err != nil {
		cancel()
		c.tasks.Wait()
		return errors.Join(err, c.source.Close())
	}
	c.run(run, from, p, o)
	return nil
}

// assemble wires the parts of the stage.
func (c *Component) assemble(from start) (*pipeline, *outlet) {
	log := c.report.Log
	waits := &waiting{configuration: c.configuration, source: c.source, metrics: c.metrics, log: log, status: c.status}
	reader := newReader(c.source, c.configuration, c.metrics, log, from.next)
	p := &pipeline{
		configuration: c.configuration,
		chain:         newChain(reader, c.configuration, &c.tasks, waits),
		leaveOut:      c.dependencies.LeaveOut,
		waits:         waits, tasks: &c.tasks, metrics: c.metrics,
		jobs: make(chan *job, c.configuration.Window),
	}
	o := &outlet{
		configuration: c.configuration, log: c.dependencies.Log,
		backlog: &backlog{behind: c.dependencies.Backlog, limit: c.configuration.MaxBacklog, waits: waits, metrics: c.metrics},
		gaps:    &gapLog{path: c.configuration.GapFile, metrics: c.metrics, log: log},
		status:  c.status, metrics: c.metrics, budget: reader.budget, prev: from.prev,
	}
	return p, o
}

// run starts the goroutines of the stage.
func (c *Component) run(ctx context.Context, from start, p *pipeline, o *outlet) {
	settled := make(chan error, 1)
	c.tasks.Go(func() { settled <- p.run(ctx, from) })
	c.tasks.Go(func() {
		err := o.run(ctx, p.jobs)
		if err != nil {
			c.cancel()
		}
		c.finish(errors.Join(err, <-settled))
	})
	bar := &progress{status: c.status, terminal: c.dependencies.Terminal, every: c.configuration.ReportEvery, log: c.report.Log}
	c.tasks.Go(func() { bar.run(ctx, c.done) })
}

// finish says that nothing more will be published.
func (c *Component) finish(err error) {
	switch {
	case errors.Is(err, context.Canceled):
		c.err = context.Canceled
	case err != nil:
		c.err = fmt.Errorf("ingest: %w", err)
	default:
		c.status.done()
	}
	close(c.done)
}

// Done is closed when the range is published, or nothing more will be; Err tells.
func (c *Component) Done() <-chan struct{} { return c.done }

// Err is nil while the stage runs and after the whole range was published.
// After Stop it is context.Canceled.
func (c *Component) Err() error {
	select {
	case <-c.done:
		return c.err
	default:
		return nil
	}
}

// Status says how far the stage is.
func (c *Component) Status() Status { return c.status.get() }

// Stop ends the stage and waits for its goroutines, as long as ctx allows.
func (c *Component) Stop(ctx context.Context) error {
	if c.cancel != nil {
		c.cancel()
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.tasks.Wait()
	}()
	select {
	case <-ended:
		return c.source.Close()
	case <-ctx.Done():
		return fmt.Errorf("ingest: stop: %w", ctx.Err())
	}
}

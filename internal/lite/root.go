// Package lite asks TON lite servers over ADNL. In: requests of this process,
// and a TON global config that names the servers. Out: answers that were
// checked. No server is trusted: the masterchain is followed by validators'
// signatures from a trusted block on, everything else is checked against it by
// Merkle proofs or hashes, and a server that gave something else is left out
// for a while.
//
// Servers may vanish, stall, fall behind, answer garbage or lie. The package
// must never hand on an answer that its check refused, never end the process
// because of what a server sent, and never stop trying to reach a server.
package lite

import (
	"context"
	"fmt"
	"sync"

	"tonscribe/internal/report"
)

// Dependencies of the pool.
type Dependencies struct {
	Report report.Reporter
}

// Pool is the lite servers of one network.
type Pool struct {
	configuration Configuration
	report        report.Reporter
	metrics       *metrics
	network       *GlobalConfig
	servers       []*server
	chain         *masterchain
	known         *knownIDs
	hedges        *budget
	slots         *slotQueue

	cancel context.CancelFunc
	ctx    context.Context // ends when Stop is called
	tasks  sync.WaitGroup
}

// New reads the global config. The pool is inert until Start.
func New(c Configuration, d Dependencies) (*Pool, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	network, err := readNetwork(c)
	if err != nil {
		return nil, err
	}
	r := d.Report.For("lite")
	trusted, err := readTrusted(c, network, r)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &Pool{
		configuration: c, report: r, metrics: newMetrics(r), network: network,
		chain: newMasterchain(trusted), known: newKnownIDs(), hedges: newBudget(), slots: &slotQueue{each: c.Concurrency},
		ctx: ctx, cancel: cancel,
	}
	for i, a := range network.servers {
		p.servers = append(p.servers, &server{endpoint: a, number: i, rate: newBucket(c.Rate), why: notYet})
	}
	return p, nil
}

// Start connects to the servers. It does not wait for any of them: Head does.
func (p *Pool) Start(context.Context) error {
	for _, s := range p.servers {
		p.tasks.Go(func() { p.keep(p.ctx, s) })
	}
	p.tasks.Go(func() { p.follow(p.ctx) })
	p.tasks.Go(func() { p.findArchives(p.ctx) })
	return nil
}

// Stop ends all connections, and with them the requests under way, and waits
// for the pool's goroutines as long as ctx allows.
func (p *Pool) Stop(ctx context.Context) error {
	p.cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.tasks.Wait()
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("lite: stop: %w", ctx.Err())
	}
}

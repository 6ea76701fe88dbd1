// Package emulator executes transactions of strangers in processes of their own.
// In comes a tvm.Delivery, out comes its tvm.Outcome, as tvm.Deliver would give
// it in this process. A worker is our own binary under a hidden command, with a
// limit on memory; one that takes longer than the deadline, or more of a processor
// than is allowed, or whose caller has gone, ends, and the next delivery gets a new one. The package must never
// execute anything in the process that asks.
package emulator

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"tonscribe/internal/report"
	"tonscribe/ton/tvm"
)

// Configuration of a pool.
type Configuration struct {
	// Workers is how many processes execute at once. Each is started when it is
	// first needed.
	Workers int `yaml:"workers"`
	// Deadline bounds one execution, with the way to its process and back.
	Deadline time.Duration `yaml:"deadline"`
	// Processor bounds the processor time of one execution.
	Processor time.Duration `yaml:"processor"`
	// MemoryBytes bounds the memory of one process.
	MemoryBytes int64 `yaml:"memory_bytes"`
}

// DefaultConfiguration leaves a small machine enough for everything else.
func DefaultConfiguration() Configuration {
	return Configuration{Workers: 2, Deadline: 2 * time.Second, Processor: 50 * time.Millisecond, MemoryBytes: 320 << 20}
}

// minMemory is what a worker needs to start and to hold a network's config.
const minMemory = 256 << 20

// Validate names the first value that makes no sense.
func (c Configuration) Validate() error {
	switch {
	case c.Workers < 1 || c.Workers > 64:
		return fmt.Errorf("emulation: workers %d: want 1 to 64", c.Workers)
	case c.Deadline < 10*time.Millisecond || c.Deadline > time.Minute:
		return fmt.Errorf("emulation: deadline %s: want 10ms to 1m", c.Deadline)
	case c.Processor < 10*time.Millisecond || c.Processor > time.Minute:
		return fmt.Errorf("emulation: processor %s: want 10ms to 1m", c.Processor)
	case c.MemoryBytes < minMemory:
		return fmt.Errorf("emulation: memory_bytes %d: want at least %d", c.MemoryBytes, minMemory)
	}
	return nil
}

// ErrLimits is returned for an execution that was ended because it took too long
// or needed too much memory.
var ErrLimits = errors.New("the execution takes too long or needs too much memory")

// ErrStopped is returned after Stop.
var ErrStopped = errors.New("the emulator has stopped")

// Dependencies of a pool.
type Dependencies struct {
	Report report.Reporter
}

// Pool executes deliveries. It may be used by many goroutines at once.
type Pool struct {
	configuration Configuration
	log           zerolog.Logger // of what strangers bring about
	metrics       *metrics
	slots         chan struct{} // one for each process that may be busy

	ctx    context.Context
	cancel context.CancelFunc
	busy   sync.WaitGroup
	mu     sync.Mutex
	idle   []*worker
	ended  bool
}

// New makes a pool. It starts no process yet.
func New(c Configuration, d Dependencies) (*Pool, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	r := d.Report.For("emulator")
	p := &Pool{configuration: c, log: r.Seldom(), metrics: newMetrics(r), slots: make(chan struct{}, c.Workers)}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p, nil
}

// Deliver tries a message on an account, as tvm.Deliver does. It ends with ctx,
// and then no process works on it any more.
func (p *Pool) Deliver(ctx context.Context, in tvm.Delivery) (tvm.Outcome, error) {
	if err := tvm.CheckMessage(in.Message); err != nil {
		p.metrics.done(resultRefused)
		return tvm.Outcome{}, err
	}
	if in.Config == nil {
		return tvm.Outcome{}, tvm.ErrConfigMissing
	}
	p.mu.Lock()
	if p.ended {
		p.mu.Unlock()
		return tvm.Outcome{}, ErrStopped
	}
	p.busy.Add(1)
	p.mu.Unlock()
	defer p.busy.Done()
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return tvm.Outcome{}, ctx.Err()
	case <-p.ctx.Done():
		return tvm.Outcome{}, ErrStopped
	}
	for w := p.take(); w != nil; w = p.take() {
		outcome, err := p.execute(ctx, w, in)
		if !errors.Is(err, errUnasked) {
			return outcome, err
		}
	}
	w, err := startWorker(p.configuration)
	if err != nil {
		return tvm.Outcome{}, fmt.Errorf("emulator process: %w", err)
	}
	p.metrics.started.Inc()
	outcome, err := p.execute(ctx, w, in)
	if errors.Is(err, errUnasked) { // it ended while it read the delivery
		return tvm.Outcome{}, p.beyond(in, err)
	}
	return outcome, err
}

// take is a worker that has nothing to do, nil for none.
func (p *Pool) take() *worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.idle) - 1
	if last < 0 {
		return nil
	}
	w := p.idle[last]
	p.idle = p.idle[:last]
	return w
}

func (p *Pool) putBack(w *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, w)
}

// execute uses a worker and puts it back if it still lives.
func (p *Pool) execute(ctx context.Context, w *worker, in tvm.Delivery) (tvm.Outcome, error) {
	limited, cancel := context.WithTimeout(ctx, p.configuration.Deadline)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	began := time.Now()
	outcome, err := w.deliver(limited, in)
	p.metrics.took.Observe(time.Since(began).Seconds())
	switch {
	case err == nil || errors.Is(err, errExecution):
		p.metrics.done(resultDone)
		p.putBack(w)
		return outcome, err
	case ctx.Err() != nil:
		p.metrics.done(resultGone)
		return tvm.Outcome{}, ctx.Err()
	case p.ctx.Err() != nil:
		return tvm.Outcome{}, ErrStopped
	case errors.Is(err, errUnasked):
		return tvm.Outcome{}, err
	}
	return tvm.Outcome{}, p.beyond(in, err)
}

// beyond counts and reports an execution that its limits ended.
func (p *Pool) beyond(in tvm.Delivery, err error) error {
	p.metrics.done(resultLimits)
	p.log.Warn().Hex("message", in.Message.Hash()).Err(err).Msg("an execution was ended by its limits, its process is replaced")
	return fmt.Errorf("message %x: %w", in.Message.Hash(), ErrLimits)
}

// Stop ends every process, also one that executes.
func (p *Pool) Stop(context.Context) error {
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	p.cancel()
	p.busy.Wait()
	for w := p.take(); w != nil; w = p.take() {
		w.kill()
	}
	return nil
}

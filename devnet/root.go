// Package devnet runs a TON chain in one process: a masterchain block with its
// shard blocks at every tick of a clock, seeded traffic, and a lite server that
// TON clients talk to. In come external messages, out come blocks. Its folder
// holds the chain's whole past; after any end the chain goes on with the block
// after the last one stored. It must never make a second block for a seqno that
// somebody may have seen.
package devnet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/history"
	"tonscribe/devnet/liteserver"
	"tonscribe/devnet/packages"
	"tonscribe/internal/lifetime"
	"tonscribe/internal/report"
)

// Dependencies of the component.
type Dependencies struct {
	Report report.Reporter
	// Room is waited for before a block is made; nil is room always.
	Room func(ctx context.Context) error
}

// Component is the running devnet. Done is closed when no more blocks are made; Err tells
// why: after Stop it is context.Canceled.
type Component struct {
	*lifetime.Run
	configuration Configuration
	report        report.Reporter
	room          func(ctx context.Context) error
	metrics       *metrics
	mempool       *mempool
	listeners     listeners
	clock         chainClock
	origin        origin

	history *history.Store
	server  *liteserver.Component
	control *control

	making sync.Mutex // guards maker: it makes one block or checks one message at a time
	maker  *maker
	last   Produced
	beat   atomic.Int64 // Unix nanoseconds of the newest block, not behind making

	closing sync.Once
}

// New makes the component. It is inert until Start.
func New(c Configuration, d Dependencies) (*Component, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Dir == "" {
		return nil, errors.New("devnet: no folder to live in")
	}
	r := d.Report.For("devnet")
	if d.Room == nil {
		d.Room = func(context.Context) error { return nil }
	}
	return &Component{
		Run: lifetime.NewRun(), configuration: c, report: r, room: d.Room, metrics: newMetrics(r.Meter("devnet")),
		mempool: newMempool(c.MempoolSize, max(c.MempoolTTL, 2*c.Interval)),
	}, nil
}

// Start opens the chain in the folder, or begins one, and makes blocks from then
// on. When it returns there is at least one block, the lite server answers and
// the files of ConfigPath and control are there.
func (c *Component) Start(ctx context.Context) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("devnet: %w", err), c.close(context.WithoutCancel(ctx)))
		}
	}()
	if err := os.MkdirAll(c.configuration.Dir, 0o700); err != nil {
		return err
	}
	if err := c.openChain(); err != nil {
		return err
	}
	if err := c.warmUp(ctx); err != nil {
		return err
	}
	if err := c.serve(ctx); err != nil {
		return err
	}
	c.beat.Store(time.Now().UnixNano())
	c.Run.Start(func(ctx context.Context) error {
		if err := c.run(ctx); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("devnet: %w", err)
		}
		return context.Canceled
	})
	c.report.Log.Info().Uint64("seed", c.origin.Seed).Uint32("seqno", c.history.Last()).Float64("tps", c.configuration.TPS).
		Str("liteserver", c.server.Addr().String()).Str("config", c.ConfigPath()).Msg("devnet runs")
	return nil
}

// openChain begins the chain or goes on where it was.
func (c *Component) openChain() error {
	var err error
	c.history, err = history.Open(filepath.Join(c.configuration.Dir, "history"), history.Options{})
	if errors.Is(err, history.ErrInUse) {
		return fmt.Errorf("%w: stop the devnet that runs there, or name another folder with --data", err)
	}
	if err != nil {
		return err
	}
	if c.origin, err = originOf(c.configuration, time.Now()); err != nil {
		return err
	}
	c.clock = c.origin.clock(c.configuration.Interval)
	head, _, err := c.history.Head()
	if err != nil {
		return err
	}
	if c.maker, err = newMaker(c.origin, c.configuration, head); err != nil {
		return err
	}
	waiting, err := c.history.Waiting()
	if err == nil {
		err = c.restore(waiting)
	}
	if err != nil {
		return err
	}
	master, base := c.maker.chain.Zerostates()
	if err := c.history.SetZerostates(master, base); err != nil {
		return err
	}
	return packages.WriteZerostates(c.configuration.Dir, master, base)
}

// restore queues what waited. Messages that are too large to be tried, from before
// there was a bound, are dropped for good.
func (c *Component) restore(waiting []history.Waiting) error {
	tooLarge, err := c.mempool.restore(waiting)
	for _, w := range tooLarge {
		c.metrics.received.WithLabelValues(resultDropped).Inc()
		c.report.Log.Warn().Hex("message", w.Message.Hash()).Msg("a message that waited is too large to be tried and was dropped")
		err = errors.Join(err, c.history.Forget(w.Number))
	}
	return err
}

// standingBlocks is how many blocks may be late before the chain counts as one
// that stands, minStanding the least time for them.
const (
	standingBlocks = 20
	minStanding    = 15 * time.Second
)

// Ready is nil while blocks are made in time.
func (c *Component) Ready(context.Context) error {
	limit := max(minStanding, standingBlocks*c.configuration.Interval)
	if late := time.Since(time.Unix(0, c.beat.Load())); late > limit {
		return fmt.Errorf("the devnet stands: no masterchain block after %d for %s", c.history.Last(), late.Round(time.Second))
	}
	return nil
}

// warmUp makes the first blocks of a new chain at once, until the basechain has
// its shards: the global config names the first block, and clients want to see
// accounts. Their times are before the present, or those of the fixed clock.
func (c *Component) warmUp(ctx context.Context) error {
	for limit := c.clock.blocksIn(warmUpTime); c.history.Last() == 0 || len(c.Shards()) < minShards; {
		if c.history.Last() >= limit {
			return fmt.Errorf("%d shards after %d blocks", len(c.Shards()), limit)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.step(time.Unix(int64(c.before())+1, 0)); err != nil {
			return err
		}
	}
	return nil
}

// run makes a block at every tick. Those that were missed are not made up for.
func (c *Component) run(ctx context.Context) error {
	ticker := time.NewTicker(c.configuration.Interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		if err := c.room(ctx); err != nil {
			return err
		}
		if err := c.step(time.Now()); err != nil {
			return err
		}
	}
}

// step makes the next masterchain block, for a moment of the wall clock, and
// stores it.
func (c *Component) step(wall time.Time) error {
	began := time.Now()
	bundle, taken, err := c.make(wall)
	if err != nil {
		return err
	}
	if err := c.history.Append(bundle, taken...); err != nil {
		return fmt.Errorf("history: %w", err)
	}
	at := time.Now()
	p := producedOf(bundle, at, at.Sub(began))
	c.beat.Store(at.UnixNano())
	c.making.Lock()
	c.last = p
	c.making.Unlock()
	c.count(bundle, p)
	c.listeners.publish(p)
	return nil
}

// make also tells the numbers of the messages that it has taken.
func (c *Component) make(wall time.Time) (*chain.Bundle, []uint64, error) {
	c.making.Lock()
	defer c.making.Unlock()
	seqno := c.history.Last() + 1
	messages, taken, expired := c.mempool.take(c.configuration.BlockMessages, time.Now())
	c.metrics.received.WithLabelValues(resultExpired).Add(float64(expired))
	bundle, err := c.maker.next(seqno, c.clock.at(seqno, c.before(), wall), messages,
		perBlock(c.configuration.TPS, c.configuration.Interval, seqno))
	return bundle, taken, err
}

// before is the time of the newest masterchain block.
func (c *Component) before() uint32 {
	master, _ := c.maker.chain.Head()
	return master.GenUtime
}

func (c *Component) count(b *chain.Bundle, p Produced) {
	m := c.metrics
	m.blocks.Add(float64(p.Blocks))
	m.transactions.Add(float64(p.Transactions))
	m.refused.Add(float64(len(b.Refused)))
	m.seqno.Set(float64(p.Seqno))
	m.shards.Set(float64(len(c.Shards())))
	m.mempool.Set(float64(c.mempool.len()))
	m.took.Observe(p.Took.Seconds())
	for _, r := range b.Refused {
		c.report.Log.Debug().Hex("message", r.Message.Hash()).Str("reason", r.Reason).Msg("external message refused")
	}
	c.report.Log.Debug().Uint32("seqno", p.Seqno).Int("blocks", p.Blocks).Int("transactions", p.Transactions).
		Int("mempool", c.mempool.len()).Int("refused", len(b.Refused)).Dur("took", p.Took).Msg("block")
}

// Send queues an external message for the next blocks when its account would
// accept it now. One that waits already is taken for the same. Once Send has
// returned nil, the message waits on after a crash too.
func (c *Component) Send(message *cell.Cell) error {
	result, err := c.send(message)
	c.metrics.received.WithLabelValues(result).Inc()
	return err
}

func (c *Component) send(message *cell.Cell) (result string, err error) {
	account, err := destination(message)
	if err != nil {
		return resultRefused, err
	}
	if c.mempool.holds(message) {
		return resultDuplicate, nil
	}
	if err := c.check(message); err != nil {
		return resultRefused, err
	}
	w, err := c.mempool.admit(message, account, time.Now())
	if err != nil {
		return resultNoRoom, err
	}
	if err := c.history.Keep(w.Waiting); err != nil {
		return resultNoRoom, err
	}
	switch added, err := c.mempool.add(w); {
	case err != nil:
		return resultNoRoom, errors.Join(err, c.history.Forget(w.Number))
	case !added:
		return resultDuplicate, c.history.Forget(w.Number)
	}
	return resultQueued, nil
}

// check runs the account that a message is for.
func (c *Component) check(message *cell.Cell) error {
	c.making.Lock()
	defer c.making.Unlock()
	return c.maker.chain.Check(message)
}

// Split asks for a shard of the basechain to be split, Merge for a shard and its
// sibling to be merged; it happens within the next blocks. 0 chooses one.
func (c *Component) Split(shard uint64) error { return c.ask(shard, (*maker).split) }

// Merge is the opposite of Split. The shard is one of the two.
func (c *Component) Merge(shard uint64) error { return c.ask(shard, (*maker).merge) }

func (c *Component) ask(shard uint64, what func(*maker, uint64) error) error {
	c.making.Lock()
	defer c.making.Unlock()
	return what(c.maker, shard)
}

// Shards of the basechain, at the head.
func (c *Component) Shards() []uint64 {
	c.making.Lock()
	defer c.making.Unlock()
	return c.maker.shards()
}

// Subscribe tells of every new masterchain block until the devnet stops or
// cancel is called. Who does not keep up misses some.
func (c *Component) Subscribe() (produced <-chan Produced, cancel func()) { return c.listeners.add() }

// Last is the newest block of this run.
func (c *Component) Last() Produced {
	c.making.Lock()
	defer c.making.Unlock()
	return c.last
}

// Seqno is the newest masterchain block.
func (c *Component) Seqno() uint32 { return c.history.Last() }

// ConfigPath is the TON global config of the devnet, there once it runs.
func (c *Component) ConfigPath() string { return ConfigPath(c.configuration.Dir) }

// ConfigPath is where a devnet in a folder leaves its TON global config.
func ConfigPath(dir string) string { return filepath.Join(dir, "global.config.json") }

// StatesPath is the folder with the zerostates.
func (c *Component) StatesPath() string { return packages.StatesPath(c.configuration.Dir) }

// LiteServer is the address of the lite server.
func (c *Component) LiteServer() string { return c.server.Addr().String() }

// Seed that the chain was made with.
func (c *Component) Seed() uint64 { return c.origin.Seed }

// Stop ends the devnet and waits for what it has started. It may be called again.
func (c *Component) Stop(ctx context.Context) error {
	_ = c.Run.Stop(ctx) // Err has it
	var err error
	c.closing.Do(func() { err = c.close(ctx) })
	return err
}

// close ends what Start had begun, also where it failed half-way.
func (c *Component) close(ctx context.Context) error {
	var problems []error
	c.listeners.close()
	if c.control != nil {
		problems = append(problems, c.control.stop(ctx))
	}
	if c.server != nil {
		problems = append(problems, c.server.Stop(ctx))
	}
	if c.history != nil {
		problems = append(problems, c.history.Close())
	}
	return errors.Join(problems...)
}

package devnet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/liteserver"
	"tonscribe/devnet/packages"
)

// Generation says what Generate makes.
type Generation struct {
	// Out is the folder to write to, which must be empty or not there.
	Out string
	// Format is packages.FormatFiles or packages.FormatArchive.
	Format string
	// Transactions is after how many to stop, at the end of a bundle.
	Transactions uint64
	// PerBlock is about how many belong to one masterchain block.
	PerBlock int
	// Seed and FixedTime as in Configuration; a zero FixedTime is a constant, so
	// that a seed alone gives one chain.
	Seed      uint64
	FixedTime uint32
	Interval  time.Duration
	Reshard   uint32
	MaxShards int
	Consensus chain.Consensus
	// Progress is called after every bundle. May be nil.
	Progress func(Generated)
}

// DefaultGeneration is a busy chain.
func DefaultGeneration() Generation {
	return Generation{Format: packages.FormatFiles, PerBlock: 200, Interval: time.Second, MaxShards: 4}
}

// Generated is how far a generation is.
type Generated struct {
	Seqno        uint32
	Blocks       uint64
	Bytes        uint64
	Transactions uint64
}

const (
	// generatedTime is when generated chains begin, unless told otherwise.
	generatedTime = 1_750_000_000
	// generateAhead is how many bundles may wait to be written.
	generateAhead = 4
)

func (g Generation) configuration() Configuration {
	c := DefaultConfiguration()
	c.Seed, c.FixedTime, c.Interval, c.Reshard, c.MaxShards = g.Seed, g.FixedTime, g.Interval, g.Reshard, g.MaxShards
	c.Consensus = g.Consensus
	if c.FixedTime == 0 {
		c.FixedTime = generatedTime
	}
	return c
}

// Generate writes a chain to disk as fast as the machine can: blocks,
// zerostates and the global config.
func Generate(ctx context.Context, g Generation) (done Generated, err error) {
	if g.Transactions == 0 || g.PerBlock < 1 {
		return done, errors.New("generate: the number of transactions and of those in a block must be above 0")
	}
	c := g.configuration()
	if err := c.Validate(); err != nil {
		return done, err
	}
	if err := mustBeEmpty(g.Out); err != nil {
		return done, err
	}
	o := newOrigin(c, time.Time{})
	m, err := newMaker(o, c, chain.Head{})
	if err != nil {
		return done, err
	}
	master, base := m.chain.Zerostates()
	w, err := newChainWriter(g.Format, g.Out, master, base)
	if err != nil {
		return done, err
	}
	done, err = g.run(ctx, m, o.clock(c.Interval), w)
	return done, errors.Join(err, w.Close())
}

// run makes bundles while the writer writes those before.
func (g Generation) run(ctx context.Context, m *maker, clock chainClock, w *chainWriter) (done Generated, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	bundles := make(chan *chain.Bundle, generateAhead)
	written := make(chan error, 1)
	go func() {
		var err error
		for b := range bundles {
			if err = w.Write(b); err != nil {
				cancel(err)
				break
			}
		}
		written <- err
	}()
	defer func() {
		close(bundles)
		err = errors.Join(err, <-written)
	}()
	now := clock.fixed
	for done.Transactions < g.Transactions {
		seqno := done.Seqno + 1
		now = clock.at(seqno, now, time.Unix(0, 0))
		b, err := m.next(seqno, now, nil, g.PerBlock)
		if err != nil {
			return done, err
		}
		select {
		case bundles <- b:
		case <-ctx.Done():
			return done, context.Cause(ctx)
		}
		done.add(b, g.Progress)
	}
	return done, nil
}

// chainWriter writes a chain with what is before its first bundle.
type chainWriter struct {
	packages.Writer
	out  string
	zero *chain.Zerostate
}

// newChainWriter begins with the zerostates.
func newChainWriter(format, out string, master, base *chain.Zerostate) (*chainWriter, error) {
	writer, err := packages.New(format, out)
	if err != nil {
		return nil, err
	}
	return &chainWriter{writer, out, master}, packages.WriteZerostates(out, master, base)
}

// Write adds the global config to the first bundle, whose block it names.
func (w *chainWriter) Write(b *chain.Bundle) error {
	if b.Master.ID.SeqNo == 1 {
		if err := writeJSON(ConfigPath(w.out), liteserver.NetworkConfig(w.zero.ID, b.Master.ID), 0o644); err != nil {
			return err
		}
	}
	return w.Writer.Write(b)
}

func (d *Generated) add(b *chain.Bundle, progress func(Generated)) {
	d.Seqno = b.Master.ID.SeqNo
	for _, block := range append([]*chain.Block{b.Master}, b.Shards...) {
		d.Blocks++
		d.Bytes += uint64(len(block.Data))
		d.Transactions += uint64(len(block.Transactions))
	}
	if progress != nil {
		progress(*d)
	}
}

func mustBeEmpty(dir string) error {
	if dir == "" {
		return errors.New("generate: no folder to write to")
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return os.MkdirAll(dir, 0o755)
	}
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("generate: %s is not empty: choose another folder", dir)
	}
	return nil
}

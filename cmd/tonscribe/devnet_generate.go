package main

import (
	"fmt"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"tonscribe/devnet"
)

// generateGC lets the heap grow to three times what is in use: that is little, and
// collecting it less often is a sixth of the time.
const generateGC = 200

func devnetGenerateCommand(s *settings) *cobra.Command {
	g := devnet.DefaultGeneration()
	c := &cobra.Command{
		Use:   "generate",
		Short: "Write a devnet's chain to disk, as fast as the machine can",
		Long: `Write a chain of a devnet to a folder, as fast as the machine can: block files
for --source files:DIR, or archive packages as a node keeps them for --source
archive:DIR, and the zerostates and the TON global config beside them. The same
seed gives the same chain, byte for byte.`,
		Example: `  tonscribe devnet generate --out blocks --transactions 100000 --seed 7
  tonscribe up --source files:blocks --serve`,
		Args: cobra.NoArgs,
		RunE: s.loaded(func(cmd *cobra.Command, _ []string) error {
			debug.SetGCPercent(generateGC)
			bar := &generation{newProgress(cmd.ErrOrStderr()), g.Transactions, time.Now()}
			bar.shown = bar.began
			g.Progress = bar.report
			done, err := devnet.Generate(cmd.Context(), g)
			if bar.terminal && bar.shown != bar.began {
				fmt.Fprintln(bar.out) // the line stays
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d transactions in %d blocks, masterchain blocks 1 to %d, %d bytes, in %s (%.0f transactions/s)\n",
				done.Transactions, done.Blocks, done.Seqno, done.Bytes, time.Since(bar.began).Round(time.Millisecond), bar.rate(done))
			return nil
		}),
	}
	f := c.Flags()
	f.StringVar(&g.Out, "out", "", "`DIR` to write to; empty or not there")
	f.Uint64Var(&g.Transactions, "transactions", 0, "stop after `N`, at the end of a masterchain block")
	f.Uint64Var(&g.Seed, "seed", 1, "`NUMBER` that all keys, contracts and traffic follow from")
	f.StringVar((*string)(&g.Consensus), "consensus", "", "how blocks are signed: simplex or catchain (default simplex)")
	f.StringVar(&g.Format, "format", g.Format, "files or archive")
	f.IntVar(&g.PerBlock, "per-block", g.PerBlock, "about `N` transactions belong to one masterchain block")
	f.Uint32Var(&g.FixedTime, "fixed-time", 0, "`UNIX` time at which the chain begins (default: one that never changes)")
	f.DurationVar(&g.Interval, "interval", g.Interval, "`TIME` from one masterchain block to the next, of the chain")
	f.Uint32Var(&g.Reshard, "reshard", 0, "split a shard, or merge two, every `N` masterchain blocks; 0 never")
	f.IntVar(&g.MaxShards, "max-shards", g.MaxShards, "at most `N` shards of the basechain, 2 to 16")
	return required(c, "out", "transactions")
}

// required makes a command refuse to run without some of its flags.
func required(c *cobra.Command, flags ...string) *cobra.Command {
	for _, name := range flags {
		if err := c.MarkFlagRequired(name); err != nil {
			panic(err) // no such flag
		}
	}
	return c
}

// drawPause is the least time between two lines about a generation.
const drawPause = 200 * time.Millisecond

// generation reports how far one is.
type generation struct {
	*progress
	want  uint64
	began time.Time
}

func (g *generation) rate(done devnet.Generated) float64 {
	return float64(done.Transactions) / max(time.Since(g.began).Seconds(), 1e-9)
}

func (g *generation) report(done devnet.Generated) {
	if time.Since(g.shown) < drawPause {
		return
	}
	rate := g.rate(done)
	left := time.Duration(float64(g.want-min(done.Transactions, g.want)) / max(rate, 1e-9) * float64(time.Second))
	g.show(fmt.Sprintf("%d of %d transactions (%.1f %%), block %d, %.0f/s, %s left",
		done.Transactions, g.want, 100*float64(done.Transactions)/float64(g.want), done.Seqno, rate, left.Round(time.Second)))
}

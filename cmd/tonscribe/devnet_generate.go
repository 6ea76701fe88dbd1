package main

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

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
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := s.load(cmd); err != nil {
				return err
			}
			debug.SetGCPercent(generateGC)
			bar := newGenerateProgress(cmd.ErrOrStderr(), g.Transactions)
			g.Progress = bar.told
			done, err := devnet.Generate(cmd.Context(), g)
			bar.end()
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d transactions in %d blocks, masterchain blocks 1 to %d, %d bytes, in %s (%.0f transactions/s)\n",
				done.Transactions, done.Blocks, done.Seqno, done.Bytes, time.Since(bar.began).Round(time.Millisecond), bar.rate(done))
			return nil
		},
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
	for _, name := range []string{"out", "transactions"} {
		if err := c.MarkFlagRequired(name); err != nil {
			panic(err) // no such flag
		}
	}
	return c
}

// generateProgress tells how far a generation is: one line that is redrawn on a
// terminal, and one now and then elsewhere.
type generateProgress struct {
	out      io.Writer
	terminal bool
	want     uint64
	began    time.Time
	drawn    time.Time
	shown    bool
}

func newGenerateProgress(out io.Writer, want uint64) *generateProgress {
	file, ok := out.(*os.File)
	now := time.Now()
	return &generateProgress{out: out, terminal: ok && term.IsTerminal(int(file.Fd())), want: want, began: now, drawn: now}
}

func (g *generateProgress) rate(done devnet.Generated) float64 {
	return float64(done.Transactions) / max(time.Since(g.began).Seconds(), 1e-9)
}

func (g *generateProgress) told(done devnet.Generated) {
	every := 10 * time.Second
	if g.terminal {
		every = 200 * time.Millisecond
	}
	if time.Since(g.drawn) < every {
		return
	}
	g.drawn, g.shown = time.Now(), true
	rate := g.rate(done)
	left := time.Duration(float64(g.want-min(done.Transactions, g.want)) / max(rate, 1e-9) * float64(time.Second))
	line := fmt.Sprintf("%d of %d transactions (%.1f %%), block %d, %.0f/s, %s left",
		done.Transactions, g.want, 100*float64(done.Transactions)/float64(g.want), done.Seqno, rate, left.Round(time.Second))
	if g.terminal {
		fmt.Fprintf(g.out, "\r\x1b[K%s", line)
		return
	}
	fmt.Fprintln(g.out, line)
}

// end leaves the line.
func (g *generateProgress) end() {
	if g.terminal && g.shown {
		fmt.Fprintln(g.out)
	}
}

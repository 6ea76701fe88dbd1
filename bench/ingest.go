package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tonscribe/bench/synthetic"
	"tonscribe/devnet"
)

// indexed is a chain in a folder of block files, of which all is to be indexed.
type indexed struct {
	from, to     uint32
	transactions int
}

func ingestCommand(d Dependencies) *cobra.Command {
	var fat synthetic.ChainOptions
	var source string
	var settle time.Duration
	busy := devnet.DefaultGeneration()
	cmd := &cobra.Command{
		Use:   "ingest --transactions N",
		Short: "Index a chain through all stages: a devnet's, or fat blocks",
		Long: `Index a chain through all stages: a devnet's, or fat blocks.

A devnet makes a chain of N transactions of every kind (devnet generate) in a
temporary folder; then the whole program indexes it, from files to the API, on
engines in --data, which must be empty. Time counts from the moment when all
stages run until the last block is visible in the API.

With --source the chain consists of real fat blocks, repeated with other accounts
(bench generate): few blocks and much in each, few kinds of contracts. Their bodies
and code repeat with the blocks and compress better than those of a real chain.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if fat.Transactions < 1 {
				return errors.New("--transactions must be at least 1")
			}
			if source == "" {
				return runIngest(cmd, d, fat.Out, settle, func(dir string) (indexed, error) {
					busy.Out, busy.Transactions, busy.Seed = dir, uint64(fat.Transactions), fat.Seed
					return generateDevnet(cmd, busy)
				})
			}
			var ok bool
			if fat.Templates, ok = strings.CutPrefix(source, "files:"); !ok {
				return fmt.Errorf("--source %s: blocks to repeat come from files:DIR", source)
			}
			return runIngest(cmd, d, fat.Out, settle, func(dir string) (indexed, error) {
				fat.Out = dir
				began := time.Now()
				chain, err := writeChain(cmd, fat)
				if err != nil {
					return indexed{}, err
				}
				out := outputOf(cmd)
				printChain(out, chain, time.Since(began))
				return indexed{chain.From, chain.To, chain.Transactions}, out.err
			})
		},
	}
	f := cmd.Flags()
	f.IntVar(&fat.Transactions, "transactions", 1_000_000, "how many, at least")
	f.Uint64Var(&fat.Seed, "seed", 1, "the same seed gives the same chain")
	f.IntVar(&busy.PerBlock, "per-block", busy.PerBlock, "about how many transactions belong to one masterchain block of the devnet")
	f.StringVar(&source, "source", "", "`files:DIR` of real fat blocks to repeat instead")
	f.StringVar(&fat.Out, "out", "", "`DIR` that keeps the generated blocks (default: a temporary one)")
	settleFlag(cmd, &settle)
	d.addFlags(cmd)
	return cmd
}

// generateDevnet writes a devnet's chain.
func generateDevnet(cmd *cobra.Command, g devnet.Generation) (indexed, error) {
	p := newProgress(cmd.ErrOrStderr(), "transactions written", int(g.Transactions))
	g.Progress = func(done devnet.Generated) { p.at(int(done.Transactions)) }
	began := time.Now()
	done, err := devnet.Generate(cmd.Context(), g)
	p.end()
	if err != nil {
		return indexed{}, err
	}
	out, n := outputOf(cmd), int(done.Transactions)
	out.head("figure", "value", "unit")
	out.figure("generated transactions", float64(n), "transactions", n)
	out.figure("generated block size", float64(done.Bytes)/float64(n), "bytes/transaction", n)
	out.figure("generation", float64(n)/time.Since(began).Seconds(), "transactions/s", n)
	return indexed{1, done.Seqno, n}, out.err
}

func settleFlag(cmd *cobra.Command, settle *time.Duration) {
	cmd.Flags().DurationVar(settle, "settle", 30*time.Second, "how long to wait for merges before sizes are taken, at most")
}

func (d Dependencies) addFlags(cmd *cobra.Command) {
	if d.Flags != nil {
		d.Flags(cmd)
	}
}

func runIngest(cmd *cobra.Command, d Dependencies, dir string, settle time.Duration, generate func(dir string) (indexed, error)) error {
	if dir == "" {
		temporary, err := os.MkdirTemp("", "tonscribe-bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temporary)
		dir = temporary
	}
	chain, err := generate(dir)
	if err != nil {
		return err
	}
	out := outputOf(cmd)
	forgetPeakMemory()
	var started time.Time
	var before processorTime
	return d.Index(cmd.Context(), cmd, "files:"+dir, chain.from, chain.to, beginsEmpty(&started, &before),
		func(ctx context.Context, r Running) error {
			took, spent := time.Since(started), r.processorTime()
			if err := ctx.Err(); err != nil {
				return err
			}
			out.head("figure", "value", "unit")
			out.figure("ingest", float64(chain.transactions)/took.Seconds(), "transactions/s", chain.transactions)
			out.figure("ingest time", took.Seconds(), "s", 1)
			each := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 / float64(chain.transactions) }
			out.figure("processor of all processes", each(spent.all-before.all), "µs/transaction", chain.transactions)
			if r.EnginePID != 0 {
				out.figure("processor of ClickHouse", each(spent.engine-before.engine), "µs/transaction", chain.transactions)
			}
			printMemory(out, r, chain.transactions)
			return r.report(ctx, out, chain.transactions, settle)
		})
}

// beginsEmpty starts the clock, unless there is something in the tables: then
// part of the work would be done already.
func beginsEmpty(started *time.Time, before *processorTime) func(context.Context, Running) error {
	return func(ctx context.Context, r Running) error {
		*started, *before = time.Now(), r.processorTime()
		t, err := openTables(r.DSN)
		if err != nil {
			return err
		}
		defer t.Close()
		return t.mustBeEmpty(ctx)
	}
}

package bench

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tonscribe/bench/synthetic"
)

func ingestCommand(d Dependencies) *cobra.Command {
	var o synthetic.ChainOptions
	var source string
	var settle time.Duration
	cmd := &cobra.Command{
		Use:   "ingest --source files:DIR --transactions N",
		Short: "Index real fat blocks, repeated with other accounts, through all stages",
		Long: `Index real fat blocks, repeated with other accounts, through all stages.

The fat blocks of --source become a chain of N transactions (bench generate) in a
temporary folder; then the whole program indexes it, from files to the API, on
engines in --data, which must be empty. Time counts from the moment when all
stages run until the last block is visible in the API. Bodies and code repeat with
the blocks and compress better than those of a real chain: for what a transaction
costs on disk, take 'tonscribe bench fill'.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if source != "" {
				dir, ok := strings.CutPrefix(source, "files:")
				if !ok {
					return fmt.Errorf("--source %s: blocks to repeat come from files:DIR", source)
				}
				o.Templates = dir
			}
			return runIngest(cmd, d, o, settle)
		},
	}
	chainFlags(cmd, &o)
	cmd.Flags().StringVar(&source, "source", "", "`files:DIR` of real blocks to repeat, like --templates DIR")
	cmd.Flags().StringVar(&o.Out, "out", "", "`DIR` that keeps the generated blocks (default: a temporary one)")
	settleFlag(cmd, &settle)
	d.addFlags(cmd)
	return cmd
}

func settleFlag(cmd *cobra.Command, settle *time.Duration) {
	cmd.Flags().DurationVar(settle, "settle", 30*time.Second, "how long to wait for merges before sizes are taken, at most")
}

func (d Dependencies) addFlags(cmd *cobra.Command) {
	if d.Flags != nil {
		d.Flags(cmd)
	}
}

func runIngest(cmd *cobra.Command, d Dependencies, o synthetic.ChainOptions, settle time.Duration) error {
	if o.Out == "" {
		dir, err := os.MkdirTemp("", "tonscribe-bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		o.Out = dir
	}
	out := outputOf(cmd)
	began := time.Now()
	chain, err := writeChain(cmd, o)
	if err != nil {
		return err
	}
	if err := printChain(out, chain, time.Since(began)); err != nil {
		return err
	}
	forgetPeakMemory()
	started := time.Now()
	return d.Index(cmd.Context(), cmd, "files:"+o.Out, chain.From, chain.To, beginsEmpty(&started),
		func(ctx context.Context, r Running) error {
			took := time.Since(started)
			if err := ctx.Err(); err != nil {
				return err
			}
			out.head("figure", "value", "unit")
			if err := out.figure("ingest", float64(chain.Transactions)/took.Seconds(), "transactions/s", chain.Transactions); err != nil {
				return err
			}
			if err := out.figure("ingest time", took.Seconds(), "s", 1); err != nil {
				return err
			}
			if err := printMemory(out, r, chain.Transactions); err != nil {
				return err
			}
			return r.report(ctx, out, chain.Transactions, settle)
		})
}

// beginsEmpty starts the clock, unless there is something in the tables: then
// part of the work would be done already.
func beginsEmpty(started *time.Time) func(context.Context, Running) error {
	return func(ctx context.Context, r Running) error {
		*started = time.Now()
		t, err := openTables(r.DSN)
		if err != nil {
			return err
		}
		defer t.Close()
		return t.mustBeEmpty(ctx)
	}
}

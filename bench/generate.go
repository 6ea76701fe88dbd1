package bench

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"tonscribe/bench/synthetic"
)

// chainFlags are the options of a generated chain.
func chainFlags(cmd *cobra.Command, o *synthetic.ChainOptions) {
	cmd.Flags().StringVar(&o.Templates, "templates", testBlocks(), "`DIR` of real blocks to repeat (searched with its folders)")
	cmd.Flags().IntVar(&o.Transactions, "transactions", 1_000_000, "how many basechain transactions")
	cmd.Flags().Uint64Var(&o.Seed, "seed", 1, "the same seed gives the same chain")
}

// testBlocks is where the project's test data has blocks.
func testBlocks() string {
	if dir := os.Getenv("TONSCRIBE_TESTDATA"); dir != "" {
		return filepath.Join(dir, "blocks")
	}
	return ""
}

func generateCommand() *cobra.Command {
	var o synthetic.ChainOptions
	cmd := &cobra.Command{
		Use:   "generate --templates DIR --out DIR",
		Short: "Write a chain of any length as block files, made of real fat blocks",
		Long: `Write a chain of any length as block files, made of real fat blocks.

The blocks are repeated with other accounts, times and logical times and linked
into a chain that begins with masterchain block 1; 'tonscribe up --source
files:OUT' indexes it. Without --templates, $TONSCRIBE_TESTDATA/blocks is used.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out := outputOf(cmd)
			began := time.Now()
			chain, err := writeChain(cmd, o)
			if err != nil {
				return err
			}
			out.note("masterchain blocks %d to %d in %s", chain.From, chain.To, o.Out)
			printChain(out, chain, time.Since(began))
			return out.err
		},
	}
	chainFlags(cmd, &o)
	cmd.Flags().StringVar(&o.Out, "out", "", "`DIR` for the block files")
	_ = cmd.MarkFlagRequired("out")
	return cmd
}

func writeChain(cmd *cobra.Command, o synthetic.ChainOptions) (synthetic.Chain, error) {
	if o.Templates == "" {
		return synthetic.Chain{}, fmt.Errorf("no real blocks to repeat: give --templates DIR or set TONSCRIBE_TESTDATA")
	}
	p := newProgress(cmd.ErrOrStderr(), "transactions written", o.Transactions)
	o.Progress = func(c synthetic.Chain) { p.at(c.Transactions) }
	chain, err := synthetic.WriteChain(cmd.Context(), o)
	p.end()
	return chain, err
}

func printChain(out *output, c synthetic.Chain, took time.Duration) {
	out.head("figure", "value", "unit")
	out.figure("generated transactions", float64(c.Transactions), "transactions", c.Transactions)
	out.figure("generated messages", float64(c.Messages), "messages", c.Messages)
	out.figure("generated accounts", float64(c.Accounts), "accounts", c.Accounts)
	out.figure("generated block size", float64(c.Bytes)/float64(c.Transactions), "bytes/transaction", c.Transactions)
	out.figure("generation", float64(c.Transactions)/took.Seconds(), "transactions/s", c.Transactions)
}

// progress is a line on the terminal with how far a long run is, how fast, and
// how long it still takes.
type progress struct {
	w     io.Writer
	what  string
	total int
	began time.Time
	last  time.Time
	shown bool
}

const progressEvery = 2 * time.Second

func newProgress(w io.Writer, what string, total int) *progress {
	now := time.Now()
	return &progress{w: w, what: what, total: total, began: now, last: now}
}

func (p *progress) at(n int) {
	now := time.Now()
	if now.Sub(p.last) < progressEvery {
		return
	}
	p.last, p.shown = now, true
	rate := float64(n) / now.Sub(p.began).Seconds()
	left := "unknown"
	if rate > 0 {
		left = time.Duration(float64(max(0, p.total-n)) / rate * float64(time.Second)).Round(time.Second).String()
	}
	fmt.Fprintf(p.w, "\r%s %s of %s, %s/s, %s left   ", grouped(int64(n)), p.what, grouped(int64(p.total)), number(rate), left)
}

func (p *progress) end() {
	if p.shown {
		fmt.Fprintln(p.w)
	}
}

package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// headDefaults are those of the devnet, which is what somebody sees who tries.
var headDefaults = map[string]string{"tps": "20", "interval": "1s"}

func headCommand(d Dependencies) *cobra.Command {
	blocks, warm, hours := 90, 30, 0.0
	cmd := &cobra.Command{
		Use:   "head",
		Short: "Measure what following a chain costs for every masterchain block",
		Long: `Measure what following a chain costs for every masterchain block.

A devnet and all stages run in this process, as with 'tonscribe up'. The figures are
the processor time of this process and of all that it started, the devnet among
them, for each bundle; how many bundles the API is behind the chain when the next
one comes; and how many rows ClickHouse rewrites in merges for each row that is
inserted. Without --data everything is in a temporary folder.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return d.watch(cmd, headDefaults, 0, func(ctx context.Context, l Live) error {
				return l.cost(ctx, outputOf(cmd), blocks, warm, time.Duration(hours*float64(time.Hour)))
			})
		},
	}
	cmd.Flags().IntVar(&blocks, "blocks", blocks, "`NUMBER` of masterchain blocks to measure")
	cmd.Flags().IntVar(&warm, "warm-up", warm, "`NUMBER` of masterchain blocks before that")
	cmd.Flags().Float64Var(&hours, "hours", hours, "measure for a `TIME` in hours, in place of --blocks")
	d.addLiveFlags(cmd)
	return cmd
}

// spent is what was used up to a moment.
type spent struct {
	processorTime
	inserted, merged uint64 // rows of ClickHouse
}

// cost prints the figures of so many blocks, or of a time, after some that are not
// counted.
func (l Live) cost(ctx context.Context, out *output, blocks, warm int, period time.Duration) error {
	if blocks < 1 || warm < 1 {
		return fmt.Errorf("--blocks %d, --warm-up %d: want at least 1 each", blocks, warm)
	}
	tables, err := openTables(l.DSN)
	if err != nil {
		return err
	}
	defer tables.Close()
	for range warm {
		if _, err := l.next(ctx); err != nil {
			return err
		}
	}
	before, err := l.spent(ctx, tables)
	if err != nil {
		return err
	}
	var n, transactions, atMost, late int
	for began := time.Now(); period > 0 && time.Since(began) < period || period == 0 && n < blocks; n++ {
		p, err := l.next(ctx)
		if err != nil {
			return err
		}
		shown, err := l.shown(ctx)
		if err != nil {
			return err
		}
		transactions += p.Transactions
		behind := int(p.Seqno) - 1 - int(shown) // the newest has only just been made
		if atMost = max(atMost, behind); behind > 0 {
			late++
		}
	}
	after, err := l.spent(ctx, tables)
	if err != nil {
		return err
	}
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(n) }
	out.head("figure", "value", "unit")
	out.figure("processor of all processes", each(after.all-before.all), "ms/bundle", n)
	if l.EnginePID != 0 {
		out.figure("processor of ClickHouse", each(after.engine-before.engine), "ms/bundle", n)
	}
	out.figure("transactions", float64(transactions)/float64(n), "1/bundle", n)
	out.figure("bundles behind the chain at most", float64(atMost), "bundles", n)
	out.figure("bundles that the next one overtook", float64(late), "bundles", n)
	inserted := after.inserted - before.inserted
	out.figure("rows inserted", float64(inserted)/float64(n), "1/bundle", n)
	out.figure("rows rewritten by merges", float64(after.merged-before.merged)/float64(max(1, inserted)), "1/row", n)
	return out.err
}

func (l Live) spent(ctx context.Context, t tables) (spent, error) {
	s := spent{processorTime: l.processorTime()}
	err := t.Conn().QueryRow(ctx, `SELECT sumIf(value, event = 'InsertedRows'), sumIf(value, event = 'MergedRows') FROM system.events`).Scan(&s.inserted, &s.merged)
	if err != nil {
		return spent{}, fmt.Errorf("what ClickHouse counts: %w", err)
	}
	return s, nil
}

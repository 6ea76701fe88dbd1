package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"tonscribe/bench/synthetic"
	"tonscribe/internal/clickhouse"
	"tonscribe/internal/kafka"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

type fillOptions struct {
	synthetic.RowOptions
	keys   string
	ahead  int
	settle time.Duration
}

func fillCommand(d Dependencies) *cobra.Command {
	var o fillOptions
	cmd := &cobra.Command{
		Use:   "fill --transactions N",
		Short: "Fill the tables with synthetic rows, through the topics and the real sink",
		Long: `Fill the tables with synthetic rows, through the topics and the real sink.

The rows have the proportions of the main network: transactions with messages,
states of all accounts, jettons, NFTs and contracts of the other kinds; the same
seed gives the same rows. The documents of tokens go into their table directly.
What 'tonscribe bench query' asks for is kept in the data folder, or in --keys
FILE. The tables must be empty.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Transactions < 1 || o.Accounts < 0 || o.Holders < 0 {
				return errors.New("--transactions must be at least 1, --accounts and --holders not negative")
			}
			o.Whole = true
			var err error
			if o.keys, err = d.keysFile(cmd, o.keys); err != nil {
				return err
			}
			return d.Sink(cmd.Context(), cmd, func(ctx context.Context, r Running) error { return fill(ctx, cmd, r, o) })
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.Transactions, "transactions", 1_000_000, "how many")
	f.IntVar(&o.Accounts, "accounts", 0, "how many wallets (default a tenth of the transactions)")
	f.IntVar(&o.Holders, "holders", 0, "how many hold the biggest jetton (default a twentieth of the transactions)")
	f.Uint64Var(&o.Seed, "seed", 1, "the same seed gives the same rows")
	f.StringVar(&o.keys, "keys", "", "`FILE` for the keys to ask for (default "+keysName+" in --data)")
	f.IntVar(&o.ahead, "ahead", 150_000, "how many transactions may wait in the log, which keeps only so much")
	settleFlag(cmd, &o.settle)
	d.addFlags(cmd)
	return cmd
}

func fill(ctx context.Context, cmd *cobra.Command, r Running, o fillOptions) error {
	t, err := openTables(r.DSN)
	if err != nil {
		return err
	}
	defer t.Close()
	if err := t.mustBeEmpty(ctx); err != nil {
		return err
	}
	f := &filler{options: o, log: r.Log, tables: t, progress: newProgress(cmd.ErrOrStderr(), "transactions stored", o.Transactions)}
	forgetPeakMemory()
	began := time.Now()
	rows := synthetic.NewRows(o.RowOptions)
	tokens := synthetic.NewTokens(rows)
	if err := f.publish(ctx, rows, tokens); err != nil {
		return err
	}
	if err := f.await(ctx, 0); err != nil {
		return err
	}
	f.progress.end()
	took := time.Since(began)
	if err := t.insertDocuments(ctx, tokens); err != nil {
		return fmt.Errorf("documents of tokens: %w", err)
	}
	keys := rows.Keys()
	tokens.AddKeys(keys)
	if err := keys.WriteFile(o.keys); err != nil {
		return fmt.Errorf("keys: %w", err)
	}
	out := outputOf(cmd)
	out.head("figure", "value", "unit")
	out.figure("fill", float64(rows.Made())/took.Seconds(), "transactions/s", rows.Made())
	printMemory(out, r, rows.Made())
	return r.report(ctx, out, rows.Made(), o.settle)
}

// filler publishes rows and keeps them from running away from the sink.
type filler struct {
	options  fillOptions
	log      *kafka.Client
	tables   tables
	progress *progress
	// under way, oldest first: what was published and is not in the tables yet.
	underWay []published
	waiting  int // transactions under way
	stored   int
}

type published struct {
	seqno        uint32
	transactions int
}

const (
	// publishedAtOnce is how many transactions are written to the log in one go.
	publishedAtOnce = 4000
	storedPoll      = 100 * time.Millisecond
)

func (f *filler) publish(ctx context.Context, rows *synthetic.Rows, tokens *synthetic.Tokens) error {
	chunks := make(chan *chunk, 2)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(chunks)
		traces := synthetic.NewTraces()
		for {
			c := nextChunk(rows, tokens, traces, f.log.Partitions())
			if c.transactions == 0 {
				return nil
			}
			select {
			case chunks <- c:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
	group.Go(func() error {
		for c := range chunks {
			if err := f.publishChunk(ctx, c); err != nil {
				return err
			}
		}
		return nil
	})
	return group.Wait()
}

// filled are the topics that rows are made for.
var filled = [...]string{schema.Headers.Name, schema.Transactions.Name, schema.Accounts.Name, schema.Contracts.Name, schema.Traces.Name}

// chunk is some bundles, as records by partition and topic.
type chunk struct {
	records      [][len(filled)][]*record.Record
	seqno        uint32
	transactions int
}

func nextChunk(rows *synthetic.Rows, tokens *synthetic.Tokens, traces *synthetic.Traces, partitions int) *chunk {
	c := &chunk{records: make([][len(filled)][]*record.Record, partitions)}
	for c.transactions < publishedAtOnce {
		b := rows.Next()
		if b == nil {
			break
		}
		contracts, assembled := tokens.Records(b, partitions), traces.Records(b, partitions)
		for p := range partitions {
			headers, transactions, accounts := b.Records(p, partitions)
			for topic, records := range [...][]*record.Record{headers, transactions, accounts, contracts[p], assembled[p]} {
				c.records[p][topic] = append(c.records[p][topic], records...)
			}
		}
		c.transactions += len(b.Transactions)
		c.seqno = b.Seqno
	}
	return c
}

func (f *filler) publishChunk(ctx context.Context, c *chunk) error {
	if err := f.await(ctx, max(1, f.options.ahead-c.transactions)); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for p := range c.records {
		for topic, records := range c.records[p] {
			group.Go(func() error { return f.log.Publish(ctx, filled[topic], p, records) })
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	f.underWay = append(f.underWay, published{c.seqno, c.transactions})
	f.waiting += c.transactions
	return nil
}

// await returns when at most so many transactions are not in the tables yet.
func (f *filler) await(ctx context.Context, limit int) error {
	for f.waiting > limit {
		w, err := clickhouse.ReadWatermark(ctx, f.tables.Conn())
		if err != nil && !errors.Is(err, clickhouse.ErrNoWatermark) {
			return err
		}
		for len(f.underWay) > 0 && f.underWay[0].seqno <= w.MCSeqno {
			f.waiting -= f.underWay[0].transactions
			f.stored += f.underWay[0].transactions
			f.underWay = f.underWay[1:]
		}
		f.progress.at(f.stored)
		if f.waiting <= limit {
			return nil
		}
		select {
		case <-time.After(storedPoll):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

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
	serve  bool
	follow int // transactions a second, 0 for a chain that has ended
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
FILE. The tables must be empty.

With --serve the API is served afterwards, until the command is interrupted, and
with --follow the chain goes on meanwhile: a bundle every 400 ms. Tables that are not
empty are served as they are; those that are to be followed were filled with the same
flags, and followed by nothing yet.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Transactions < 1 || o.Accounts < 0 || o.Holders < 0 {
				return errors.New("--transactions must be at least 1, --accounts and --holders not negative")
			}
			if o.follow < 0 || o.follow > maxFollowed {
				return fmt.Errorf("--follow must be from 0 to %d", maxFollowed)
			}
			o.serve = o.serve || o.follow > 0
			o.Whole = true
			var err error
			if o.keys, err = d.keysFile(cmd, o.keys); err != nil {
				return err
			}
			f := newFiller(o, newProgress(cmd.ErrOrStderr(), "transactions stored", o.Transactions))
			err = d.Fill(cmd.Context(), cmd, func(ctx context.Context, r Running) error { return f.begin(ctx, outputOf(cmd), r) })
			if err != nil || !o.serve {
				return err
			}
			return d.Follow(cmd.Context(), cmd, func(ctx context.Context, r Running, address string) error {
				fmt.Fprintf(cmd.ErrOrStderr(), "serving %s/api/v3 until interrupted\n", address)
				return f.goOn(ctx, r)
			})
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.Transactions, "transactions", 1_000_000, "how many")
	f.IntVar(&o.Accounts, "accounts", 0, "how many wallets (default a tenth of the transactions)")
	f.IntVar(&o.Holders, "holders", 0, "how many hold the biggest jetton (default a twentieth of the transactions)")
	f.Uint64Var(&o.Seed, "seed", 1, "the same seed gives the same rows")
	f.StringVar(&o.keys, "keys", "", "`FILE` for the keys to ask for (default "+keysName+" in --data)")
	f.IntVar(&o.ahead, "ahead", 150_000, "how many transactions may wait in the log, which keeps only so much")
	f.BoolVar(&o.serve, "serve", false, "go on serving the API at --listen")
	f.IntVar(&o.follow, "follow", 0, "let `NUMBER` transactions a second follow, and serve the API")
	settleFlag(cmd, &o.settle)
	d.addFlags(cmd)
	return cmd
}

// filler publishes rows and keeps them from running away from the sink.
type filler struct {
	options  fillOptions
	log      *kafka.Client
	tables   tables
	progress *progress
	rows     *synthetic.Rows
	tokens   *synthetic.Tokens
	traces   *synthetic.Traces
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

	// followed is how often a bundle comes to a chain that goes on, and maxFollowed how
	// many transactions a second.
	followed    = 400 * time.Millisecond
	maxFollowed = 20_000
)

func newFiller(o fillOptions, p *progress) *filler {
	rows := synthetic.NewRows(o.RowOptions)
	return &filler{options: o, progress: p, rows: rows, tokens: synthetic.NewTokens(rows), traces: synthetic.NewTraces()}
}

// use takes the log and the tables of what runs.
func (f *filler) use(r Running) (done func(), err error) {
	t, err := openTables(r.DSN)
	if err != nil {
		return nil, err
	}
	f.log, f.tables = r.Log, t
	return func() { t.Close() }, nil
}

// begin fills the tables, or skips what is in them when they are to be served.
func (f *filler) begin(ctx context.Context, out *output, r Running) error {
	done, err := f.use(r)
	if err != nil {
		return err
	}
	defer done()
	err = f.tables.mustBeEmpty(ctx)
	switch {
	case err == nil:
		return f.fill(ctx, out, r)
	case !f.options.serve || !errors.Is(err, errNotEmpty):
		return err
	case f.options.follow == 0:
		return nil
	}
	return f.skip(ctx)
}

// fill publishes all rows and prints what that took.
func (f *filler) fill(ctx context.Context, out *output, r Running) error {
	forgetPeakMemory()
	began := time.Now()
	if err := f.publish(ctx); err != nil {
		return err
	}
	if err := f.await(ctx, 0); err != nil {
		return err
	}
	f.progress.end()
	took := time.Since(began)
	if err := f.tables.insertDocuments(ctx, f.tokens); err != nil {
		return fmt.Errorf("documents of tokens: %w", err)
	}
	keys := f.rows.Keys()
	f.tokens.AddKeys(keys)
	if err := keys.WriteFile(f.options.keys); err != nil {
		return fmt.Errorf("keys: %w", err)
	}
	out.head("figure", "value", "unit")
	out.figure("fill", float64(f.rows.Made())/took.Seconds(), "transactions/s", f.rows.Made())
	printMemory(out, r, f.rows.Made())
	return r.report(ctx, out, f.rows.Made(), f.options.settle)
}

// skip makes the rows that the tables have, for what comes after them.
func (f *filler) skip(ctx context.Context) error {
	w, err := clickhouse.ReadWatermark(ctx, f.tables.Conn())
	if err != nil {
		return err
	}
	var last uint32
	for c := f.next(publishedAtOnce); c.transactions > 0; c = f.next(publishedAtOnce) {
		last = c.seqno
		f.progress.at(f.rows.Made())
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	f.progress.end()
	if last != w.MCSeqno {
		return fmt.Errorf("the tables end with bundle %d, and what these flags make with %d: give the flags that the tables were filled with, or --data DIR of a new folder", w.MCSeqno, last)
	}
	return nil
}

// goOn lets bundles come one by one, or none, until the context ends.
func (f *filler) goOn(ctx context.Context, r Running) error {
	done, err := f.use(r)
	if err != nil {
		return err
	}
	defer done()
	if f.options.follow == 0 {
		<-ctx.Done()
		return nil
	}
	each := max(1, f.options.follow*int(followed)/int(time.Second))
	f.rows.GoOn(each)
	ticker := time.NewTicker(followed)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if err := f.publishChunk(ctx, f.next(1)); err != nil && ctx.Err() == nil {
			return err
		}
	}
}

func (f *filler) publish(ctx context.Context) error {
	chunks := make(chan *chunk, 2)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(chunks)
		for {
			c := f.next(publishedAtOnce)
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

// next makes bundles with so many transactions at least, fewer at the end.
func (f *filler) next(least int) *chunk {
	partitions := f.log.Partitions()
	c := &chunk{records: make([][len(filled)][]*record.Record, partitions)}
	for c.transactions < least {
		b := f.rows.Next()
		if b == nil {
			break
		}
		contracts, assembled := f.tokens.Records(b, partitions), f.traces.Records(b, partitions)
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

package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"tonscribe/verify"
)

func verifyCommand(s *settings) *cobra.Command {
	var without []string
	c := &cobra.Command{
		Use:   "verify",
		Short: "Hold the tables against each other and, with --source, against the blocks",
		Long: `Check a range of masterchain blocks: seals, block chains, the chain of every
account by hash, lt and state, both ends of every message, every row of every
look-up table, what contracts are said to be against their get-methods, token
transfers against their transactions, traces against theirs, actions against what
is recognised in these traces again, fetched documents against the links that
contents have, and ready figures against their rows. With --source the blocks are
decoded again and compared with the tables field by field. Exit code 1 and the first
difference of each check when something is not as it should be.

The tables are those of --clickhouse, of the running 'up' of --data, or of the
embedded engine in --data. Checks: ` + strings.Join(verify.Checks, ", ") + ".",
		Args: cobra.NoArgs,
		RunE: withTables(s, func(cmd *cobra.Command, p *process) error {
			options := verify.Options{
				DSN: p.dsn, From: s.Ingest.From, To: s.Ingest.To, Without: without,
				Out: cmd.OutOrStdout(),
			}
			if bar := newProgress(cmd.ErrOrStderr()); bar.terminal {
				options.Progress = func(p verify.Progress) { bar.show(p.String()) }
			}
			var err error
			if options.Source, err = p.blocksAgain(cmd.Context()); err != nil {
				return err
			}
			_, err = verify.Run(cmd.Context(), options)
			return err
		}),
	}
	addFlags(c, false, flagBlocks, flagFrom, flagLastBlock, flagClickHouse)
	c.Flags().StringSliceVar(&without, "without", nil, "`CHECKS` to leave out")
	return c
}

// blocksAgain are the blocks of --source, nil without one.
func (p *process) blocksAgain(ctx context.Context) (verify.BundleSource, error) {
	s := p.settings
	if s.Ingest.Source == "" {
		if s.Ingest.ToHash != "" {
			return nil, errors.New("--to, ingest.to_hash: the root hash of a block is compared with that of --source: name one")
		}
		return nil, nil
	}
	if err := p.findNetwork(ctx); err != nil {
		return nil, err
	}
	s.Ingest.FromHead = false // the blocks are older
	if err := s.Ingest.Check(); err != nil {
		return nil, err
	}
	return verify.FromIngest(s.Ingest), nil
}

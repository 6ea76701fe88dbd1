package main

import (
	"github.com/spf13/cobra"

	"tonscribe/reclassify"
)

func reclassifyCommand(s *settings) *cobra.Command {
	c := &cobra.Command{
		Use:   "reclassify",
		Short: "Recognise the actions of stored traces again",
		Long: `Recognise again what the traces were that ended with masterchain blocks from
--from to --to, with this version's recognisers and with what contracts were then,
and replace the actions that are others now. Where nothing is, nothing is written.
Without --from and --to all traces that the tables hold are gone through.

It runs beside the stages and the API: nobody sees a trace with its actions twice
or without them. It may be stopped at any moment, and says with which --from to go
on; bundles that it went through already cost time and change nothing. Figures of
days follow within a minute or two. 'tonscribe verify' says beforehand which traces
would change (check actions).

The tables are those of --clickhouse, of the running 'up' of --data, or of the
embedded engine in --data.`,
		Args: cobra.NoArgs,
		RunE: withTables(s, func(cmd *cobra.Command, p *process) error {
			client, err := p.openTables("clickhouse reclassify", p.dsn)
			if err != nil {
				return err
			}
			bar := newProgress(cmd.ErrOrStderr())
			_, err = reclassify.Run(cmd.Context(), reclassify.Options{
				Tables: client, From: s.Ingest.From, To: s.Ingest.To, Out: cmd.OutOrStdout(),
				Progress: func(p reclassify.Progress) { bar.show(p.String()) },
			})
			bar.show("")
			return err
		}),
	}
	addFlags(c, false, flagFrom, flagLast, flagClickHouse)
	return c
}

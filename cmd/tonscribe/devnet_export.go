package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"tonscribe/devnet"
	"tonscribe/devnet/packages"
)

func devnetExportCommand(s *settings) *cobra.Command {
	e := devnet.Exportation{Format: packages.FormatFiles}
	c := &cobra.Command{
		Use:   "export",
		Short: "Write the chain of a stopped devnet to disk",
		Long: `Write the chain that the devnet of --data has made so far to a folder, as
'tonscribe devnet generate' does: block files or archive packages, the zerostates
and the TON global config. The devnet must not run.`,
		Example: `  tonscribe devnet export --data data --out blocks
  tonscribe verify --data data --source files:blocks`,
		Args: cobra.NoArgs,
		RunE: s.loaded(func(cmd *cobra.Command, _ []string) error {
			e.Dir = s.devnetDir()
			done, err := devnet.Export(cmd.Context(), e)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%d transactions in %d blocks, masterchain blocks 1 to %d, %d bytes\n",
				done.Transactions, done.Blocks, done.Seqno, done.Bytes)
			return nil
		}),
	}
	f := c.Flags()
	f.StringVar(&e.Out, "out", "", "`DIR` to write to; empty or not there")
	f.StringVar(&e.Format, "format", e.Format, "files or archive")
	return required(c, "out")
}

package main

import (
	"cmp"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func configCommand(s *settings) *cobra.Command {
	return &cobra.Command{
		Use:   "config",
		Short: "Print every setting with its value and where that comes from",
		Args:  cobra.NoArgs,
		RunE: s.loaded(func(cmd *cobra.Command, _ []string) error {
			table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
			for _, v := range s.loader.Values() {
				fmt.Fprintf(table, "%s\t%s\t%s\n", v.Key, cmp.Or(v.Text, "-"), v.Origin)
			}
			return table.Flush()
		}),
	}
}

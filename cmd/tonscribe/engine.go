package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"tonscribe/internal/engine"
	"tonscribe/schema/table"
)

func engineCommand() *cobra.Command {
	c := &cobra.Command{Use: "engine", Short: "The embedded ClickHouse"}
	c.AddCommand(&cobra.Command{
		Use:   "fetch",
		Short: "Fetch the embedded ClickHouse with npm, once, and check it",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return engine.Fetch(cmd.Context(), cmd.ErrOrStderr())
		},
	}, &cobra.Command{
		Use:   "path",
		Short: "Print where the embedded ClickHouse lies",
		Args:  cobra.NoArgs,
		Run:   func(cmd *cobra.Command, _ []string) { fmt.Fprintln(cmd.OutOrStdout(), engine.LibraryPath()) },
	}, &cobra.Command{
		Use:   "server FOLDER",
		Short: "Write users.xml and access.xml of a ClickHouse server of its own, with the users of the embedded one",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return engine.WriteServerConfiguration(args[0], analystTables)
		},
	})
	return c
}

// analystTables are the tables of docs/analytics.md, in the order of their names:
// what the user reader of the embedded engine sees.
var analystTables = func() []string {
	names := []string{"metadata", "stats_action_days", "stats_balances", "stats_days", "stats_jetton_days", "stats_jetton_totals", "stats_jettons", "stats_pool_days", "stats_touched"}
	for _, t := range table.All {
		if !t.Internal {
			names = append(names, t.Name)
		}
	}
	slices.Sort(names)
	return names
}()

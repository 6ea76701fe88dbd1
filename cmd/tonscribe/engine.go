package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"tonscribe/internal/engine"
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
	})
	return c
}

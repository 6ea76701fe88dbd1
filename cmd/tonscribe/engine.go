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

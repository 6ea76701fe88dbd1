package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"tonscribe/cmd/tonscribe/explain"
	"tonscribe/decode/detect"
	"tonscribe/ton/address"
)

func inspectAccountCommand(s *settings) *cobra.Command {
	parent := ""
	c := &cobra.Command{
		Use:   "account FILE|ADDRESS",
		Short: "Explain what was detected on an account and why",
		Long: `Explain what an account is: its code and methods, what its get-methods answer,
what follows from that, and what its parent says of it (a jetton wallet's master,
an item's collection, an order's multisig).

FILE is a bag of cells with an account's state (Account or ShardAccount); --parent
names one with its parent's. ADDRESS is looked up in the tables: those of
--clickhouse, of the running 'up' of --data, or of the embedded engine in --data.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := os.Stat(args[0]); err == nil || args[0] == "-" {
				return explainFile(cmd, args[0], parent)
			}
			account, _, err := address.Parse(args[0])
			if err != nil {
				return fmt.Errorf("%s is neither a file nor an address: %w", args[0], err)
			}
			return withTables(s, func(cmd *cobra.Command, p *process) error { return explainAddress(cmd, p, account[:]) })(cmd, args)
		},
	}
	addFlags(c, false, flagClickHouse)
	c.Flags().StringVar(&parent, "parent", "", "`FILE` with the parent's state")
	return c
}

func explainFile(cmd *cobra.Command, path, parent string) error {
	read := func(path string) (*explain.Subject, error) {
		boc, err := readBoC(path, cmd.InOrStdin())
		if err != nil {
			return nil, err
		}
		return explain.FromBoC(boc)
	}
	subject, err := read(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	e := explain.Explainer{Out: cmd.OutOrStdout(), Parents: explain.Nobody}
	if parent != "" {
		s, err := read(parent)
		if err != nil {
			return fmt.Errorf("%s: %w", parent, err)
		}
		e.Parents = explain.Only(s)
	}
	if e.Config, err = detect.DefaultConfig(); err != nil {
		return err
	}
	return e.Account(cmd.Context(), subject)
}

func explainAddress(cmd *cobra.Command, p *process, account []byte) error {
	ctx := cmd.Context()
	client, err := p.openTables("clickhouse inspect", p.dsn)
	if err != nil {
		return err
	}
	tables := explain.Tables{Conn: client.Conn()}
	e := explain.Explainer{Out: cmd.OutOrStdout(), Parents: tables.Account}
	if e.Config, err = tables.Config(ctx); err != nil {
		return err
	}
	if e.Config == nil {
		if e.Config, err = detect.DefaultConfig(); err != nil {
			return err
		}
	}
	subject, err := tables.Account(ctx, account)
	if errors.Is(err, explain.ErrUnknown) {
		return errors.New("the index has not seen this account")
	}
	if err != nil {
		return err
	}
	return e.Account(ctx, subject)
}

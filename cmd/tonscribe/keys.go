package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"tonscribe/internal/clickhouse"
	"tonscribe/query/auth"
	"tonscribe/webhooks/store"
)

func keysCommand(s *settings) *cobra.Command {
	c := &cobra.Command{
		Use:   "keys",
		Short: "Make, list, show and revoke API keys",
		Long: `Make, list, show and revoke API keys, in the tables of --clickhouse, of the running
'up' of --data, or of the embedded engine in --data. What is changed holds on every
replica of query within some seconds.

A key is shown once, when it is made: the tables know only its SHA-256.`,
	}
	addFlags(c, true, flagClickHouse)
	c.AddCommand(keysAdd(s), keysList(s), keysShow(s), keysRevoke(s))
	return c
}

// onTables runs a command on the tables, named what in the log.
func onTables(s *settings, what string, run func(cmd *cobra.Command, p *process, client *clickhouse.Client) error) func(*cobra.Command, []string) error {
	return attached(s, true, func(cmd *cobra.Command, p *process) error {
		if p.enginePID != 0 { // nobody else makes the tables of an engine that we have started
			if err := p.makeTables(cmd.Context()); err != nil {
				return err
			}
		}
		client, err := p.openTables(what, p.dsn)
		if err != nil {
			return err
		}
		return run(cmd, p, client)
	})
}

// withKeys runs a command on the table of keys.
func withKeys(s *settings, run func(cmd *cobra.Command, table *auth.Table, args []string) error) func(*cobra.Command, []string) error {
	return onTables(s, "clickhouse keys", func(cmd *cobra.Command, _ *process, client *clickhouse.Client) error {
		return run(cmd, auth.NewTable(client), cmd.Flags().Args())
	})
}

func keysAdd(s *settings) *cobra.Command {
	var (
		rate     float64
		burst    uint32
		streams  auth.Streams
		networks []string
	)
	c := &cobra.Command{
		Use:   "add NAME",
		Short: "Make a key and print it",
		Long: `Make a key and print it: standard output has the key alone.

The name is for you only. A rate of 0 is no limit; the burst is how many requests
may come at once, as many as the rate unless given. Streams, and the addresses of each,
are as query.live of the server says unless given.`,
		Example: `  tonscribe keys add shop --rate 25
  KEY=$(tonscribe keys add explorer --rate 0 --networks mainnet)`,
		Args: cobra.ExactArgs(1),
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("networks") && len(networks) == 0 {
				return errors.New("--networks names none: without it the key is for all of them")
			}
			return nil
		},
		RunE: withKeys(s, func(cmd *cobra.Command, table *auth.Table, args []string) error {
			if !cmd.Flags().Changed("burst") {
				burst = uint32(max(1, math.Ceil(min(rate, 1e6))))
			}
			secret := auth.NewSecret()
			key, err := auth.KeyOf(secret)
			if err != nil {
				return err
			}
			key.Name, key.Networks, key.Rate, key.Burst, key.Streams, key.Created = args[0], networks, rate, burst, streams, time.Now()
			if err := addKey(cmd.Context(), table, key); err != nil {
				return err
			}
			return printMadeKey(cmd, key, secret)
		}),
	}
	c.Flags().Float64Var(&rate, "rate", 10, "requests a second; 0 is no limit")
	c.Flags().Uint32Var(&burst, "burst", 0, "requests at once (default: as the rate)")
	c.Flags().Uint32Var(&streams.Connections, "streams", 0, "streams at a time (default: as the server has it)")
	c.Flags().Uint32Var(&streams.Addresses, "stream-addresses", 0, "addresses that one stream names (default: as the server has it)")
	c.Flags().StringSliceVar(&networks, "networks", nil, "`NETWORKS` that the key is for: mainnet, testnet, devnet (default: all)")
	return c
}

// printMadeKey shows what is shown once.
func printMadeKey(cmd *cobra.Command, key auth.Key, secret string) error {
	fmt.Fprintf(cmd.ErrOrStderr(), "key %s, %s, for %s: %s\n", key.ID(), key.Name, networksText(key), limitText(key))
	if _, err := fmt.Fprintln(cmd.OutOrStdout(), secret); err != nil {
		return fmt.Errorf("the key is made, but could not be shown: %w: 'tonscribe keys revoke %s', and make another", err, key.ID())
	}
	return nil
}

// addKey refuses what would not be told apart from another key.
func addKey(ctx context.Context, table *auth.Table, key auth.Key) error {
	if err := store.CheckName(key.Name); err != nil {
		return err
	}
	for _, network := range key.Networks {
		if !isNetwork(network) {
			return fmt.Errorf("network %q: want mainnet, testnet or devnet", network)
		}
	}
	keys, err := table.List(ctx)
	if err != nil {
		return err
	}
	for _, known := range keys {
		if known.Name == key.Name && !known.Revoked {
			return fmt.Errorf("a key with the name %q is in use: choose another name, or revoke it", key.Name)
		}
	}
	return table.Put(ctx, key)
}

func keysList(s *settings) *cobra.Command {
	asJSON, all := false, false
	c := &cobra.Command{
		Use:   "list",
		Short: "List the keys in use",
		Args:  cobra.NoArgs,
		RunE: withKeys(s, func(cmd *cobra.Command, table *auth.Table, _ []string) error {
			keys, err := table.List(cmd.Context())
			if err != nil {
				return err
			}
			shown := []keyView{}
			for _, k := range keys {
				if all || !k.Revoked {
					shown = append(shown, viewOf(k))
				}
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), shown)
			}
			return printKeys(cmd.OutOrStdout(), shown)
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&all, "all", false, "revoked ones too")
	return c
}

func keysShow(s *settings) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "show ID|NAME",
		Short: "Show a key and how often it was used, by method",
		Args:  cobra.ExactArgs(1),
		RunE: withKeys(s, func(cmd *cobra.Command, table *auth.Table, args []string) error {
			key, err := table.Find(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			uses, err := table.Usage(cmd.Context(), key.Hash)
			if err != nil {
				return err
			}
			view := viewOf(key)
			for _, u := range uses {
				view.Usage = append(view.Usage, useView(u))
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), view)
			}
			return printKey(cmd.OutOrStdout(), view)
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func keysRevoke(s *settings) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID|NAME…",
		Short: "Revoke keys, for ever",
		Args:  cobra.MinimumNArgs(1),
		RunE: withKeys(s, func(cmd *cobra.Command, table *auth.Table, args []string) error {
			var problems []error
			for _, text := range args {
				key, err := table.Find(cmd.Context(), text)
				if err == nil && !key.Revoked {
					key.Revoked = true
					err = table.Put(cmd.Context(), key)
				}
				if err != nil {
					problems = append(problems, err)
					continue
				}
				fmt.Fprintf(cmd.OutOrStdout(), "key %s, %s, is revoked\n", key.ID(), key.Name)
			}
			return errors.Join(problems...)
		}),
	}
}

// keyView is a key as it is printed.
type keyView struct {
	ID       string    `json:"id"`
	Prefix   string    `json:"prefix"`
	Name     string    `json:"name"`
	Networks []string  `json:"networks"` // empty is all
	Rate     float64   `json:"rate"`     // 0 is no limit
	Burst    uint32    `json:"burst"`
	Streams  uint32    `json:"streams,omitempty"` // 0 is as the server has it
	Streamed uint32    `json:"stream_addresses,omitempty"`
	Created  time.Time `json:"created"`
	Revoked  bool      `json:"revoked"`
	Usage    []useView `json:"usage,omitempty"`

	networks, limit string
}

type useView struct {
	Method   string    `json:"method"`
	Requests uint64    `json:"requests"`
	Limited  uint64    `json:"limited"`
	Last     time.Time `json:"last"`
}

func viewOf(k auth.Key) keyView {
	return keyView{
		ID: k.ID(), Prefix: k.Prefix, Name: k.Name, Networks: k.Networks, Rate: k.Rate, Burst: k.Burst, Streams: k.Streams.Connections, Streamed: k.Streams.Addresses, Created: k.Created.UTC(), Revoked: k.Revoked,
		networks: networksText(k), limit: limitText(k),
	}
}

func (v keyView) state() string {
	if v.Revoked {
		return "revoked"
	}
	return "in use"
}

func networksText(k auth.Key) string {
	if len(k.Networks) == 0 {
		return "all networks"
	}
	return strings.Join(k.Networks, ", ")
}

func limitText(k auth.Key) string {
	if k.Rate == 0 {
		return "no limit"
	}
	return fmt.Sprintf("%g/s, %d at once", k.Rate, k.Burst)
}

// ownOr is a limit of streams.
func ownOr(n uint32) string {
	if n == 0 {
		return "as the server has it"
	}
	return strconv.FormatUint(uint64(n), 10)
}

func printJSON(out io.Writer, what any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(what)
}

func printKeys(out io.Writer, keys []keyView) error {
	table := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "id\tkey\tname\tnetworks\tlimit\tmade\tstate")
	for _, k := range keys {
		fmt.Fprintf(table, "%s\t%s…\t%s\t%s\t%s\t%s\t%s\n", k.ID, k.Prefix, k.Name, k.networks, k.limit, k.Created.Format(time.DateOnly), k.state())
	}
	return table.Flush()
}

func printKey(out io.Writer, k keyView) error {
	table := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	for _, row := range [][2]string{
		{"id", k.ID}, {"key", k.Prefix + "…"}, {"name", k.Name}, {"networks", k.networks}, {"limit", k.limit}, {"streams", ownOr(k.Streams)}, {"addresses of one", ownOr(k.Streamed)},
		{"made", k.Created.Format(time.RFC3339)}, {"state", k.state()},
	} {
		fmt.Fprintf(table, "%s\t%s\n", row[0], row[1])
	}
	if err := table.Flush(); err != nil || len(k.Usage) == 0 {
		return err
	}
	fmt.Fprintln(out)
	fmt.Fprintln(table, "method\trequests\tover the limit\tlast")
	all := useView{Method: "all"}
	for _, u := range k.Usage {
		all.Requests, all.Limited = all.Requests+u.Requests, all.Limited+u.Limited
		if u.Last.After(all.Last) {
			all.Last = u.Last
		}
	}
	for _, u := range append(k.Usage, all) {
		fmt.Fprintf(table, "%s\t%d\t%d\t%s\n", u.Method, u.Requests, u.Limited, u.Last.Format(time.RFC3339))
	}
	return table.Flush()
}

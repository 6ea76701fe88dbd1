package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"tonscribe/internal/clickhouse"
	"tonscribe/ton/address"
	merchantapi "tonscribe/webhooks/api"
	"tonscribe/webhooks/store"
)

func merchantsCommand(s *settings) *cobra.Command {
	c := &cobra.Command{
		Use:   "merchants",
		Short: "Add, list, show, disable and enable merchants of payment webhooks",
		Long: `Add, list, show, disable and enable merchants, who register payments and are told of
their ends by webhooks, in the tables of --clickhouse, of the running 'up' of --data, or
of the embedded engine in --data. What is changed holds on every replica of query within
five seconds.

API keys and dashboard tokens are shown once, when they are made: the tables know only
their SHA-256. Merchants do the rest by themselves, through the API or the dashboard.`,
	}
	addFlags(c, true, flagClickHouse)
	c.AddCommand(merchantsAdd(s), merchantsList(s), merchantsShow(s), merchantsDisable(s), merchantsEnable(s), merchantsKey(s), merchantsToken(s), merchantsReseal(s))
	return c
}

// withMerchants runs a command on the tables of merchants.
func withMerchants(s *settings, run func(cmd *cobra.Command, merchants *store.Store, args []string) error) func(*cobra.Command, []string) error {
	return onTables(s, "clickhouse merchants", func(cmd *cobra.Command, p *process, client *clickhouse.Client) error {
		merchants, err := store.New(s.Webhooks.Store, store.Dependencies{Report: p.report, ClickHouse: client})
		if err != nil {
			return err
		}
		return run(cmd, merchants, cmd.Flags().Args())
	})
}

// madeMerchant is what is shown once.
type madeMerchant struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Key   string `json:"key,omitempty"`
	Token string `json:"token,omitempty"`
}

// print shows what was made: as JSON, or the secrets alone, one a line, behind their names.
func (m madeMerchant) print(cmd *cobra.Command, asJSON bool) error {
	err := m.write(cmd, asJSON)
	if err == nil {
		return nil
	}
	var again []string
	if m.Key != "" {
		again = append(again, fmt.Sprintf("'tonscribe merchants key %s'", m.ID))
	}
	if m.Token != "" {
		again = append(again, fmt.Sprintf("'tonscribe merchants token %s'", m.ID))
	}
	return fmt.Errorf("what merchant %s, %s, has now could not be shown: %w: for another one %s", m.ID, m.Name, err, strings.Join(again, " and "))
}

func (m madeMerchant) write(cmd *cobra.Command, asJSON bool) error {
	if asJSON {
		return printJSON(cmd.OutOrStdout(), m)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "merchant %s, %s\n", m.ID, m.Name)
	if m.Key != "" {
		if _, err := fmt.Fprintln(cmd.OutOrStdout(), "key", m.Key); err != nil {
			return err
		}
	}
	if m.Token != "" {
		if _, err := fmt.Fprintln(cmd.OutOrStdout(), "token", m.Token); err != nil {
			return err
		}
	}
	return nil
}

func merchantID(m store.Merchant) string { return hex.EncodeToString(m.ID[:]) }

func merchantsAdd(s *settings) *cobra.Command {
	wallet, asJSON := "", false
	c := &cobra.Command{
		Use:   "add NAME",
		Short: "Add a merchant, and print the first API key and the dashboard token",
		Example: `  tonscribe merchants add shop --native-wallet EQ…
  tonscribe merchants add shop --json | jq -r .token`,
		Args: cobra.ExactArgs(1),
		RunE: withMerchants(s, func(cmd *cobra.Command, merchants *store.Store, args []string) error {
			m, token := store.NewMerchant(args[0])
			m.NativeWallet = wallet
			key, secret := store.NewKey(m.ID, "first", store.Scopes)
			if wallet != "" {
				network := "" // the default is nobody's word
				if s.isSet("network") {
					network = s.Network
				}
				if err := checkWallet(wallet, network); err != nil {
					return fmt.Errorf("--native-wallet: %w", err)
				}
			}
			if err := addMerchant(cmd.Context(), merchants, m, key); err != nil {
				return err
			}
			return madeMerchant{merchantID(m), m.Name, secret, token}.print(cmd, asJSON)
		}),
	}
	c.Flags().StringVar(&wallet, "native-wallet", "", "`ADDRESS` that is paid where a payment names no recipient")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// checkWallet refuses a wallet that the merchant's API would let nobody pay.
func checkWallet(text, network string) error {
	wallet, form, err := address.Parse(text)
	if err != nil {
		return err
	}
	return merchantapi.CheckAddress(wallet, form, network)
}

// addMerchant refuses what would not be told apart from another merchant.
func addMerchant(ctx context.Context, merchants *store.Store, m store.Merchant, key store.Key) error {
	if err := store.CheckName(m.Name); err != nil {
		return err
	}
	all, err := merchants.Merchants.List(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(known store.Merchant) bool { return known.Name == m.Name }) {
		return fmt.Errorf("there is a merchant with the name %q: choose another name", m.Name)
	}
	if err := merchants.Merchants.Put(ctx, m); err != nil {
		return err
	}
	if err := merchants.Keys.Put(ctx, key); err != nil {
		return err
	}
	return note(ctx, merchants, m, "merchant_added", m.Name)
}

// note says in the audit what the operator has done.
func note(ctx context.Context, merchants *store.Store, m store.Merchant, what, detail string) error {
	return merchants.Audit.Put(ctx, store.Entry{Merchant: m.ID, What: what, Who: store.ByOperator, Detail: detail})
}

func merchantsList(s *settings) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "list",
		Short: "List the merchants",
		Args:  cobra.NoArgs,
		RunE: withMerchants(s, func(cmd *cobra.Command, merchants *store.Store, _ []string) error {
			all, err := merchants.Merchants.List(cmd.Context())
			if err != nil {
				return err
			}
			views := []merchantView{}
			for _, m := range all {
				views = append(views, viewOfMerchant(m))
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), views)
			}
			table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
			fmt.Fprintln(table, "id\tname\tadded\tstate")
			for _, v := range views {
				fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", v.ID, v.Name, v.Created.Format(time.DateOnly), v.state())
			}
			return table.Flush()
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// merchantView is a merchant as it is printed.
type merchantView struct {
	ID           string            `json:"id"`
	Name         string            `json:"name"`
	NativeWallet string            `json:"nativeWallet,omitempty"`
	Created      time.Time         `json:"created"`
	Disabled     bool              `json:"disabled"`
	Endpoint     *endpointView     `json:"endpoint,omitempty"`
	Keys         []merchantKeyView `json:"keys,omitempty"`
}

type endpointView struct {
	URL            string `json:"url"`
	Enabled        bool   `json:"enabled"`
	DisabledReason string `json:"disabledReason,omitempty"`
	Signing        string `json:"signing"`
}

type merchantKeyView struct {
	ID       string    `json:"id"`
	Prefix   string    `json:"prefix"`
	Name     string    `json:"name"`
	Scopes   []string  `json:"scopes"`
	Created  time.Time `json:"created"`
	LastUsed time.Time `json:"lastUsed,omitzero"`
	Revoked  time.Time `json:"revoked,omitzero"`
}

func viewOfMerchant(m store.Merchant) merchantView {
	return merchantView{ID: merchantID(m), Name: m.Name, NativeWallet: m.NativeWallet, Created: m.Created.UTC(), Disabled: m.Disabled}
}

func (v merchantView) state() string {
	if v.Disabled {
		return "disabled"
	}
	return "enabled"
}

func merchantsShow(s *settings) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "show ID|NAME",
		Short: "Show a merchant, its endpoint and its API keys",
		Args:  cobra.ExactArgs(1),
		RunE: withMerchants(s, func(cmd *cobra.Command, merchants *store.Store, args []string) error {
			m, err := merchants.Merchants.Find(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			v := viewOfMerchant(m)
			e, err := merchants.Endpoints.Newest(cmd.Context(), m.ID)
			if err != nil {
				return err
			}
			v.Endpoint = &endpointView{e.URL, e.Enabled, e.DisabledReason, e.Signing}
			keys, err := merchants.Keys.List(cmd.Context(), m.ID)
			if err != nil {
				return err
			}
			for _, k := range keys {
				v.Keys = append(v.Keys, merchantKeyView{k.ID(), k.Prefix, k.Name, k.Scopes, k.Created.UTC(), k.Used, k.RevokedAt()})
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), v)
			}
			return printMerchant(cmd.OutOrStdout(), v)
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func printMerchant(out io.Writer, v merchantView) error {
	table := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	url, webhooks := v.Endpoint.URL, "enabled"
	switch {
	case url == "":
		url, webhooks = "none yet", "off"
	case v.Endpoint.DisabledReason != "":
		webhooks = "disabled: " + v.Endpoint.DisabledReason
	case !v.Endpoint.Enabled:
		webhooks = "disabled"
	}
	for _, row := range [][2]string{
		{"id", v.ID}, {"name", v.Name}, {"wallet", v.NativeWallet}, {"added", v.Created.Format(time.RFC3339)}, {"state", v.state()},
		{"url", url}, {"webhooks", webhooks}, {"signed by", v.Endpoint.Signing},
	} {
		fmt.Fprintf(table, "%s\t%s\n", row[0], row[1])
	}
	if err := table.Flush(); err != nil || len(v.Keys) == 0 {
		return err
	}
	fmt.Fprintln(out)
	fmt.Fprintln(table, "key\tid\tname\tscopes\tlast used\tstate")
	for _, k := range v.Keys {
		used, state := "never", "in use"
		if !k.LastUsed.IsZero() {
			used = k.LastUsed.Format(time.DateOnly)
		}
		if !k.Revoked.IsZero() {
			state = "revoked"
		}
		fmt.Fprintf(table, "%s…\t%s\t%s\t%s\t%s\t%s\n", k.Prefix, k.ID, k.Name, strings.Join(k.Scopes, ", "), used, state)
	}
	return table.Flush()
}

func merchantsDisable(s *settings) *cobra.Command {
	return &cobra.Command{
		Use:   "disable ID|NAME…",
		Short: "Refuse merchants: their keys, tokens and sessions",
		Long: `Refuse merchants: their keys and tokens are good for nothing until they are enabled
again, and their sessions end. Payments that are registered are still followed, and told
to their endpoints.`,
		Args: cobra.MinimumNArgs(1),
		RunE: withMerchants(s, func(cmd *cobra.Command, merchants *store.Store, args []string) error {
			return setDisabled(cmd, merchants, args, true)
		}),
	}
}

func merchantsEnable(s *settings) *cobra.Command {
	return &cobra.Command{
		Use:   "enable ID|NAME…",
		Short: "Take back disable",
		Args:  cobra.MinimumNArgs(1),
		RunE: withMerchants(s, func(cmd *cobra.Command, merchants *store.Store, args []string) error {
			return setDisabled(cmd, merchants, args, false)
		}),
	}
}

func setDisabled(cmd *cobra.Command, merchants *store.Store, names []string, disabled bool) error {
	var problems []error
	for _, name := range names {
		m, err := merchants.Merchants.Find(cmd.Context(), name)
		if err == nil && m.Disabled != disabled {
			m.Disabled = disabled
			err = changeMerchant(cmd.Context(), merchants, m, "merchant_"+viewOfMerchant(m).state())
		}
		if err != nil {
			problems = append(problems, err)
			continue
		}
		fmt.Fprintf(cmd.OutOrStdout(), "merchant %s, %s, is %s\n", merchantID(m), m.Name, viewOfMerchant(m).state())
	}
	return errors.Join(problems...)
}

// changeMerchant writes a merchant, and ends the sessions that another token or state
// would not have let begin.
func changeMerchant(ctx context.Context, merchants *store.Store, m store.Merchant, what string) error {
	if err := merchants.Merchants.Put(ctx, m); err != nil {
		return err
	}
	if err := merchants.Sessions.EndAll(ctx, m.ID); err != nil {
		return err
	}
	return note(ctx, merchants, m, what, "")
}

func merchantsKey(s *settings) *cobra.Command {
	name, scopes, asJSON := "", []string{}, false
	c := &cobra.Command{
		Use:   "key ID|NAME",
		Short: "Make another API key of a merchant and print it",
		Args:  cobra.ExactArgs(1),
		RunE: withMerchants(s, func(cmd *cobra.Command, merchants *store.Store, args []string) error {
			if err := checkScopes(scopes); err != nil {
				return err
			}
			m, err := merchants.Merchants.Find(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			key, secret := store.NewKey(m.ID, name, scopes)
			if err := merchants.Keys.Put(cmd.Context(), key); err != nil {
				return err
			}
			if err := note(cmd.Context(), merchants, m, "key_made", key.ID()+" "+name+": "+strings.Join(scopes, ", ")); err != nil {
				return err
			}
			return madeMerchant{ID: merchantID(m), Name: m.Name, Key: secret}.print(cmd, asJSON)
		}),
	}
	c.Flags().StringVar(&name, "name", "by the operator", "`NAME` of the key, for the merchant only")
	c.Flags().StringSliceVar(&scopes, "scopes", store.Scopes, "what the key may do: `SCOPES` of "+strings.Join(store.Scopes, ", "))
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// checkScopes refuses scopes that there are none of, twice the same, and a key that may do
// nothing.
func checkScopes(scopes []string) error {
	for n, scope := range scopes {
		if !slices.Contains(store.Scopes, scope) || slices.Contains(scopes[:n], scope) {
			return fmt.Errorf("--scopes: scope %q: want some of %s, each once", scope, strings.Join(store.Scopes, ", "))
		}
	}
	if len(scopes) == 0 {
		return fmt.Errorf("--scopes: want some of %s", strings.Join(store.Scopes, ", "))
	}
	return nil
}

func merchantsToken(s *settings) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "token ID|NAME",
		Short: "Give a merchant another dashboard token and print it",
		Long:  `Give a merchant another dashboard token and print it. The one before is good for nothing then, and the sessions that it has begun end.`,
		Args:  cobra.ExactArgs(1),
		RunE: withMerchants(s, func(cmd *cobra.Command, merchants *store.Store, args []string) error {
			m, err := merchants.Merchants.Find(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			token := m.NewToken()
			if err := changeMerchant(cmd.Context(), merchants, m, "token_replaced"); err != nil {
				return err
			}
			return madeMerchant{ID: merchantID(m), Name: m.Name, Token: token}.print(cmd, asJSON)
		}),
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

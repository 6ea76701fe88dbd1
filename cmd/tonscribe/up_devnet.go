package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"unicode"

	"tonscribe/devnet"
	v2 "tonscribe/query/v2"
)

// sourceDevnet is a devnet in the same process, read through its lite server.
const sourceDevnet = "devnet"

// useDevnet makes the devnet the source where none is named.
func (s *settings) useDevnet() error {
	if s.Ingest.Source == "" {
		s.Ingest.Source = sourceDevnet
	}
	if s.Ingest.Source != sourceDevnet {
		return nil
	}
	s.Network = "devnet"
	if s.Ingest.From == 0 {
		s.Ingest.From = 1 // it has every block from its first one on
	}
	return s.complete()
}

// startSource starts the devnet when that is the source. The stages then read
// it as they would read any network.
func (u *everything) startSource(ctx context.Context) error {
	if u.settings.Ingest.Source != sourceDevnet {
		return nil
	}
	d, err := u.startDevnet(ctx, u.ended)
	if err != nil {
		return err
	}
	u.devnet = d
	u.settings.Ingest.Source = "liteserver:" + d.ConfigPath()
	u.settings.Decode.Zerostates = append(u.settings.Decode.Zerostates, d.StatesPath())
	return nil
}

// shellWord is text as a shell takes it for one word.
func shellWord(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool {
		return r < 0x80 && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-+:,=@%", r)
	}) {
		return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	return text
}

// welcome says where everything can be asked for.
func (u *everything) welcome(out io.Writer) {
	api := "http://" + u.address + "/api/v3/"
	title := "tonscribe serves its index."
	if u.devnet != nil {
		title = "A TON devnet runs in this process, and tonscribe serves its index."
	}
	fmt.Fprintf(out, "%s Look at\n\n", title)
	table := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	row := func(name, what string) { fmt.Fprintf(table, "  %s\t%s\n", name, what) }
	row("blocks", api+"blocks?limit=10&sort=desc")
	row("transactions", api+"transactions?limit=10&sort=desc")
	row("messages", api+"messages?limit=10&sort=desc")
	row("methods", "http://"+u.address+"/api/docs")
	row("merchants", "http://"+u.address+"/dashboard")
	row("health", "http://"+u.address+"/readyz")
	if u.settings.Query.V2.TypeNamespace == v2.DefaultConfiguration().TypeNamespace {
		row("TON clients", "of /api/v2 want types named ton.…: start with --type-namespace ton")
	}
	row("API key", "in "+filepath.Join(u.settings.Data, ownersKeyName))
	if u.devnet != nil {
		row("lite server", u.devnet.LiteServer()+", TON global config "+u.devnet.ConfigPath())
		row("a transfer", fmt.Sprintf("%s devnet send --data %s --to %s --amount 1.5",
			shellWord(os.Args[0]), shellWord(u.settings.Data), devnet.OwnerOf(u.devnet.Seed(), 1).Address(0).Bounce(false)))
	}
	_ = table.Flush() // a closed standard output changes nothing
	fmt.Fprintln(out)
}

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tonscribe/internal/clickhouse"
	"tonscribe/webhooks/store"
)

// sealKeyName is the file in the data folder that holds the key of merchants' secrets.
const sealKeyName = "seal-key"

// sealKey makes the key that secrets of webhooks are sealed with, on the first start, and
// reads it on every other, unless the configuration has one.
func (p *process) sealKey() error {
	if p.settings.Webhooks.Store.SealKey != "" {
		return nil
	}
	path := p.settings.sealKeyPath()
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		text = []byte(store.NewSealKey())
		err = writeDurably(path, append(text, '\n'))
	}
	key := strings.TrimSpace(string(text))
	if err == nil && key == "" {
		err = fmt.Errorf("%s is empty: put the key back that secrets of webhooks were sealed with, or remove the file for a new one", path)
	}
	p.settings.Webhooks.Store.SealKey = key
	return err
}

func (s *settings) sealKeyPath() string { return filepath.Join(s.Data, sealKeyName) }

func merchantsReseal(s *settings) *cobra.Command {
	return &cobra.Command{
		Use:   "reseal",
		Short: "Seal all secrets of webhooks anew with the first key of webhooks.seal_key",
		Long: `Seal all secrets of webhooks anew with the first key of webhooks.seal_key, or of the
file seal-key in --data. To replace a key, put the new one before it, with a comma or a
line feed between them, restart whatever has the key, run this, and take the old one away.`,
		Args: cobra.NoArgs,
		RunE: onTables(s, "clickhouse merchants", func(cmd *cobra.Command, p *process, client *clickhouse.Client) error {
			c := s.Webhooks.Store
			if c.SealKey == "" {
				text, err := os.ReadFile(s.sealKeyPath())
				if err != nil {
					return errors.Join(store.ErrNoSealKey, err)
				}
				c.SealKey = string(text)
			}
			merchants, err := store.New(c, store.Dependencies{Report: p.report, ClickHouse: client})
			if err != nil {
				return err
			}
			n, err := merchants.Endpoints.Reseal(cmd.Context())
			fmt.Fprintf(cmd.OutOrStdout(), "secrets of %d merchants are sealed anew\n", n)
			return err
		}),
	}
}

// writeDurably writes a file that must not get lost once something depends on it: it is
// on the disk when writeDurably returns.
func writeDurably(path string, text []byte) (err error) {
	file, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

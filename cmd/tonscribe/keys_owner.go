package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/term"

	"tonscribe/query/auth"
)

// ownersKeyName is the file in the data folder that holds the first API key.
const ownersKeyName = "api-key"

// ownersKey makes an API key without limits for the owner of the data folder,
// on the first start, and sees that the tables know it, on every start. It
// returns the key when it is new.
func (p *process) ownersKey(ctx context.Context) (fresh string, err error) {
	path := filepath.Join(p.settings.Data, ownersKeyName)
	secret, err := readOwnersKey(p.settings.Data)
	if err != nil {
		return "", err
	}
	if secret == "" {
		fresh = auth.NewSecret()
		secret = fresh
		if err := replaceFile(path, []byte(secret+"\n")); err != nil {
			return "", err
		}
	}
	client, err := p.openTables("clickhouse keys", p.dsn)
	if err != nil {
		return "", err
	}
	table := auth.NewTable(client)
	key, err := auth.KeyOf(secret)
	if err != nil {
		return "", fmt.Errorf("%s holds no API key: %w (remove the file for a new one)", path, err)
	}
	var known auth.Key
	err = p.persist(ctx, "look for the first API key", func() (err error) {
		known, err = table.Get(ctx, key.Hash)
		if errors.Is(err, auth.ErrNotFound) {
			known, err = auth.Key{}, nil
		}
		return err
	})
	switch {
	case err != nil:
		return "", err
	case known.Hash != key.Hash:
		key.Name, key.Rate, key.Burst, key.Created = "owner", 0, 1, time.Now()
		err = table.Put(ctx, key)
	case known.Revoked:
		p.report.Log.Warn().Str("file", path).Msg("the API key in the file is revoked: remove the file for a new one")
	}
	return fresh, err
}

// showOwnersKey prints a key that was made at this start, on a terminal: there
// somebody reads it. Anything else is a log, which others may read too, and the
// welcome names the file.
func (p *process) showOwnersKey(out *os.File, fresh string) {
	if fresh != "" && term.IsTerminal(int(out.Fd())) {
		fmt.Fprintf(out, "Your API key, without limits, also in %s:\n\n  X-API-Key: %s\n\n", filepath.Join(p.settings.Data, ownersKeyName), fresh)
	}
}

// readOwnersKey is the key in a data folder, "" when there is none.
func readOwnersKey(data string) (string, error) {
	text, err := os.ReadFile(filepath.Join(data, ownersKeyName))
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(text)), err
}

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

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
	path := filepath.Join(p.settings.Data, sealKeyName)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		text = []byte(store.NewSealKey())
		err = writeDurably(path, append(text, '\n'))
	}
	p.settings.Webhooks.Store.SealKey = strings.TrimSpace(string(text))
	return err
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

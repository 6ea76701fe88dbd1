package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// runFile is what a running `up` leaves in its data folder for other commands.
// It holds passwords: mode 0600.
type runFile struct {
	PID              int    `json:"pid"`
	HTTP             string `json:"http"`
	ClickHouse       string `json:"clickhouse"`
	ClickHouseReader string `json:"clickhouse_reader"`
}

const runFileName = "run.json"

func writeRunFile(dir string, r runFile) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(dir, runFileName), append(text, '\n'))
}

// replaceFile writes a file that only its owner may read: whoever does sees all of
// it, or what was there before.
func replaceFile(path string, text []byte) error {
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// readRunFile finds the running `up` of a data folder; nil when none runs.
func readRunFile(dir string) (*runFile, error) {
	path := filepath.Join(dir, runFileName)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := &runFile{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w (remove it if no tonscribe runs there)", path, err)
	}
	if err := unix.Kill(r.PID, 0); errors.Is(err, unix.ESRCH) {
		return nil, nil // left behind by one that was killed
	}
	return r, nil
}

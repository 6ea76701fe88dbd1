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

// writeRunFile writes the file, and locks it for as long as what is returned is open.
func writeRunFile(dir string, r runFile) (*os.File, error) {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, runFileName)
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)); err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// replaceFile writes a file that only its owner may read: whoever does sees all of
// it, or what was there before.
func replaceFile(path string, text []byte) error {
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// readRunFile finds the running `up` of a data folder; nil when none runs. Whoever was
// killed has left the file, but not its lock; a process of the same number may be another.
func readRunFile(dir string) (*runFile, error) {
	path := filepath.Join(dir, runFileName)
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	switch err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB); {
	case err == nil:
		return nil, nil
	case !errors.Is(err, unix.EWOULDBLOCK):
		return nil, fmt.Errorf("lock of %s: %w", path, err)
	}
	r := &runFile{}
	if err := json.NewDecoder(f).Decode(r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// mustNotRun refuses what would end a running `up` of the data folder, and says why.
func (s *settings) mustNotRun(why string) error {
	if s.ClickHouse.DSN != "" {
		return nil
	}
	running, err := readRunFile(s.Data)
	if err == nil && running != nil {
		err = fmt.Errorf("a tonscribe runs on %s (pid %d): stop it first, %s", s.Data, running.PID, why)
	}
	return err
}

// Package engine runs the two engines of tonscribe inside one machine without
// any installation: the real ClickHouse, loaded from a shared library in a child
// process of our own binary, and a Kafka log in our own process.
//
// In comes a folder and a few limits; out come a DSN and a dialer. What is
// behind them speaks the ordinary native and Kafka protocols, so nothing else in
// tonscribe knows whether an engine is embedded or a cluster. The package must
// never look into the data it keeps, and never write outside the folders it was
// given.
package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ErrInUse says that another process has the folder open.
var ErrInUse = errors.New("the folder is in use by another tonscribe process: stop it, or name another folder with --data")

// lockFile opens path and takes its lock without waiting. The lock lives as long
// as any process holds the returned file, inherited copies included.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, ErrInUse
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return f, nil
}

// writeFile replaces a file atomically and durably.
func writeFile(path string, data []byte) error {
	temporary := path + ".new"
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	if err := os.Rename(temporary, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes renames in the folder durable.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

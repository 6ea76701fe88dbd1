package devnet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"tonscribe/devnet/history"
)

// Exportation says what Export writes.
type Exportation struct {
	// Dir is the folder of a devnet that does not run.
	Dir string
	// Out is the folder to write to, which must be empty or not there.
	Out string
	// Format is packages.FormatFiles or packages.FormatArchive.
	Format string
	// Progress is called after every bundle. May be nil.
	Progress func(Generated)
}

// Export writes the chain that a devnet has made so far to disk, in the form of
// Generate: every block with the bytes that the lite server gives.
func Export(ctx context.Context, e Exportation) (done Generated, err error) {
	store, err := openStill(e.Dir)
	if err != nil {
		return done, fmt.Errorf("export: %w", err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := mustBeEmpty(e.Out); err != nil {
		return done, err
	}
	master, err := store.Zerostate(-1)
	if err != nil {
		return done, err
	}
	base, err := store.Zerostate(0)
	if err != nil {
		return done, err
	}
	w, err := newChainWriter(e.Format, e.Out, master, base)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	for seqno := uint32(1); seqno <= max(1, store.Last()); seqno++ {
		if err := ctx.Err(); err != nil {
			return done, err
		}
		b, err := store.Bundle(seqno)
		if err != nil {
			return done, err
		}
		if err := w.Write(b); err != nil {
			return done, err
		}
		done.add(b, e.Progress)
	}
	return done, nil
}

// openStill opens the history of a devnet that does not run.
func openStill(dir string) (*history.Store, error) {
	if _, err := os.Stat(filepath.Join(dir, originFile)); errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("no devnet was ever made in %s", dir)
	}
	store, err := history.Open(filepath.Join(dir, "history"), history.Options{})
	if err == nil {
		return store, nil
	}
	if running, e := FindRunning(dir); e == nil {
		return nil, fmt.Errorf("the devnet in %s runs, it seems (process %d): stop it first: %w", dir, running.PID, err)
	}
	return nil, err
}

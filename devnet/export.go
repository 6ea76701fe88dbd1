package devnet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"tonscribe/devnet/history"
	"tonscribe/devnet/liteserver"
	"tonscribe/devnet/packages"
)

// Exportation says what Export writes.
type Exportation struct {
	// Dir is the folder of a devnet that does not run.
	Dir string
	// Out is the folder to write to, which must be empty or not there.
	Out string
	// Format is packages.FormatFiles or packages.FormatArchive.
	Format string
	// Told is called after every bundle. May be nil.
	Told func(Generated)
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
	writer, err := packages.New(e.Format, e.Out)
	if err != nil {
		return done, err
	}
	if err := e.begin(store); err != nil {
		return done, errors.Join(err, writer.Close())
	}
	for seqno := uint32(1); seqno <= store.Last() && err == nil; seqno++ {
		if err = ctx.Err(); err == nil {
			err = e.bundle(store, writer, seqno, &done)
		}
	}
	return done, errors.Join(err, writer.Close())
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

// begin writes what is before the first bundle: zerostates and global config.
func (e Exportation) begin(store *history.Store) error {
	master, err := store.Zerostate(-1)
	if err != nil {
		return err
	}
	base, err := store.Zerostate(0)
	if err != nil {
		return err
	}
	if err := packages.WriteZerostates(e.Out, master, base); err != nil {
		return err
	}
	first, err := store.Bundle(1)
	if err != nil {
		return err
	}
	return writeJSON(ConfigPath(e.Out), liteserver.NetworkConfig(master.ID, first.Master.ID), 0o644)
}

func (e Exportation) bundle(store *history.Store, writer packages.Writer, seqno uint32, done *Generated) error {
	b, err := store.Bundle(seqno)
	if err != nil {
		return err
	}
	if err := writer.Write(b); err != nil {
		return err
	}
	done.add(b)
	if e.Told != nil {
		e.Told(*done)
	}
	return nil
}

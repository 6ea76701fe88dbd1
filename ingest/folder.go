package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"tonscribe/internal/report"
)

// blockFolder is what sources have in common whose blocks lie in one, which may grow.
type blockFolder struct {
	kind, dir string
	report    report.Reporter
	maxBytes  int
	scan      func(ctx context.Context) error // looks for what has come

	mu    sync.RWMutex
	first uint32 // masterchain seqnos; 0 as long as there is none
	last  uint32
	scans limiter
}

// String is the source in the form of --source.
func (f *blockFolder) String() string { return f.kind + ":" + f.dir }

func (f *blockFolder) Check() error {
	stat, err := os.Stat(f.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("source %s: there is no such folder", f)
	case err != nil:
		return fmt.Errorf("source %s: %w", f, err)
	case !stat.IsDir():
		return fmt.Errorf("source %s: not a folder", f)
	}
	return nil
}

func (f *blockFolder) Open(ctx context.Context) error {
	if err := f.Check(); err != nil {
		return err
	}
	return f.scan(ctx)
}

func (f *blockFolder) Range() (first, last uint32) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.first, f.last
}

func (f *blockFolder) Refresh(ctx context.Context, _ uint32) error {
	return f.scans.do(ctx, func() error { return f.scan(ctx) })
}

func (f *blockFolder) Close() error { return nil }

// walkFiles visits the files below a folder. Links are followed: an archive may lie
// on more than one disk.
func walkFiles(dir string, visit func(path string, entry fs.DirEntry) error) error {
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	return (&walk{visit, map[string]bool{root: true}}).folder(dir)
}

type walk struct {
	visit func(path string, entry fs.DirEntry) error
	been  map[string]bool // in the root, and the folders that links lead to
}

func (w *walk) folder(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		if entry.Type()&fs.ModeSymlink != 0 {
			if entry = w.behind(path); entry == nil {
				continue
			}
		}
		if entry.IsDir() {
			if err = w.folder(path); errors.Is(err, fs.ErrNotExist) {
				err = nil // taken away meanwhile
			}
		} else {
			err = w.visit(path, entry)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// behind is what a link leads to, nil when there is nothing, or a folder that a link
// has led to before: links may go in circles.
func (w *walk) behind(link string) fs.DirEntry {
	info, err := os.Stat(link)
	if err != nil {
		return nil
	}
	if info.IsDir() {
		folder, err := filepath.EvalSymlinks(link)
		if err != nil || w.been[folder] {
			return nil
		}
		w.been[folder] = true
	}
	return fs.FileInfoToDirEntry(info)
}

// widen makes a range of masterchain seqnos hold a block, if it is one of the
// masterchain.
func widen(low, high *uint32, at blockID) {
	if at.workchain != masterchain {
		return
	}
	if *high == 0 || at.seqno < *low {
		*low = at.seqno
	}
	*high = max(*high, at.seqno)
}

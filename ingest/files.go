package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"tonscribe/internal/report"
	"tonscribe/schema/record"
)

// files is a folder of single blocks, one BoC per file, in any layout: every
// .boc and .bin below it is looked at once, and its name means nothing. States,
// proofs and whatever else lies there is counted and left alone. Several files
// may hold the same block.
type files struct {
	blockFolder
	known    map[string]fileStamp
	byID     map[blockID][]string // sorted paths
	unblocks int                  // files that are no blocks
	believed uint32               // the last masterchain block, once it was looked at
}

type fileStamp struct {
	size    int64
	changed time.Time
}

func newFiles(dir string, r report.Reporter, maxBytes int) *files {
	f := &files{blockFolder: blockFolder{kind: "files", dir: dir, report: r, maxBytes: maxBytes}, known: map[string]fileStamp{}, byID: map[blockID][]string{}}
	f.scan = f.rescan
	return f
}

func (f *files) Open(ctx context.Context) error {
	if err := f.blockFolder.Open(ctx); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last == 0 {
		return fmt.Errorf("source %s: no masterchain block among its %d .boc and .bin files", f, len(f.known))
	}
	f.report.Log.Info().Stringer("source", f).Int("blocks", len(f.known)-f.unblocks).Int("other_files", f.unblocks).
		Uint32("first", f.first).Uint32("last", f.last).Msg("block files found")
	return nil
}

func (f *files) Master(_ context.Context, seqno uint32, attempt int) (Blob, error) {
	return f.read(masterID(seqno), attempt)
}

func (f *files) Block(_ context.Context, id *record.BlockId, _ uint32, attempt int) (Blob, error) {
	return f.read(blockIDOf(id), attempt)
}

func (f *files) read(at blockID, attempt int) (Blob, error) {
	for {
		f.mu.RLock()
		paths := f.byID[at]
		f.mu.RUnlock()
		if attempt >= len(paths) {
			return Blob{}, ErrNotFound
		}
		blob, err := f.readFile(paths[attempt])
		if !errors.Is(err, fs.ErrNotExist) {
			return blob, err
		}
		f.gone(paths[attempt])
	}
}

func (f *files) readFile(path string) (Blob, error) {
	blob := Blob{Origin: path}
	file, err := os.Open(path)
	if err != nil {
		return blob, err
	}
	defer file.Close()
	stat, err := file.Stat()
	if err != nil {
		return blob, err
	}
	blob.BOC, err = readBlock(file, 0, stat.Size(), f.maxBytes)
	return blob, err
}

// gone forgets a file that was taken away. Should it come back, it is a new one.
func (f *files) gone(path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, known := f.known[path]; known {
		f.forget(path)
		delete(f.known, path)
	}
}

// rescan looks at files that are new or have changed.
func (f *files) rescan(ctx context.Context) error {
	fresh, err := f.fresh()
	if err != nil {
		return fmt.Errorf("source %s: %w", f, err)
	}
	found := make([]identified, len(fresh))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(2 * readersPerScan)
	for i, path := range fresh {
		group.Go(func() error {
			found[i] = identifyFile(path)
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	f.take(fresh, found)
	return nil
}

// doubt reads the last masterchain block when it stands alone, beyond all that may be
// on its way. Where it is none its files are no blocks: by their word the source would
// reach to there, and everything before it be missing. The caller holds the lock.
func (f *files) doubt() {
	for f.last != f.believed {
		before := f.masterBefore(f.last)
		if before == 0 || f.last-before <= nearEnd || f.holds(f.last) {
			f.believed = f.last
			return
		}
		f.unblocks += len(f.byID[masterID(f.last)])
		delete(f.byID, masterID(f.last))
		f.last = before
	}
}

// masterBefore is the masterchain block before one, 0 when there is none.
func (f *files) masterBefore(seqno uint32) (before uint32) {
	for at := range f.byID {
		if at.workchain == masterchain && at.seqno < seqno {
			before = max(before, at.seqno)
		}
	}
	return before
}

// holds reports whether some file is the masterchain block that it says it is.
func (f *files) holds(seqno uint32) bool {
	check := &verifier{maxBytes: f.maxBytes}
	for _, path := range f.byID[masterID(seqno)] {
		blob, err := f.readFile(path)
		if err == nil {
			_, refusal := check.verifyMaster(seqno, blob)
			if refusal == nil {
				return true
			}
			err = refusal
		}
		f.report.Log.Warn().Err(err).Str("file", path).Msg("file is no block, far beyond all others: it is left alone")
	}
	return false
}

// readersPerScan keeps disks busy without opening too many files.
const readersPerScan = 8

type identified struct {
	at    blockID
	stamp fileStamp
	err   error
}

func identifyFile(path string) identified {
	file, err := os.Open(path)
	if err != nil {
		return identified{err: err}
	}
	defer file.Close()
	stat, err := file.Stat()
	if err != nil {
		return identified{err: err}
	}
	at, err := identify(file)
	return identified{at: at, stamp: fileStamp{stat.Size(), stat.ModTime()}, err: err}
}

// fresh lists the files not seen in this size and age before.
func (f *files) fresh() ([]string, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	var paths []string
	err := walkFiles(f.dir, func(path string, entry fs.DirEntry) error {
		if ext := strings.ToLower(filepath.Ext(path)); ext != ".boc" && ext != ".bin" {
			return nil
		}
		if seen, ok := f.known[path]; ok {
			info, err := entry.Info()
			if err == nil && seen == (fileStamp{info.Size(), info.ModTime()}) {
				return nil
			}
		}
		paths = append(paths, path)
		return nil
	})
	return paths, err
}

func (f *files) take(paths []string, found []identified) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, path := range paths {
		one := found[i]
		if one.err != nil && !errors.Is(one.err, errNoBlock) {
			f.report.Log.Warn().Err(one.err).Str("file", path).Msg("file cannot be read as a block")
		}
		if _, again := f.known[path]; again {
			f.forget(path)
		}
		f.known[path] = one.stamp
		if one.err != nil {
			f.unblocks++
			continue
		}
		f.add(one.at, path)
	}
	f.doubt()
}

func (f *files) add(at blockID, path string) {
	paths := f.byID[at]
	i, _ := slices.BinarySearch(paths, path)
	f.byID[at] = slices.Insert(slices.Clip(paths), i, path)
	widen(&f.first, &f.last, at)
}

// forget takes a changed file out of the index.
func (f *files) forget(path string) {
	for at, paths := range f.byID {
		if i := slices.Index(paths, path); i >= 0 {
			f.byID[at] = slices.Delete(slices.Clone(paths), i, i+1)
			return
		}
	}
	f.unblocks--
}

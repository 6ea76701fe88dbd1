package ingest

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tonscribe/internal/report"
	"tonscribe/schema/record"
)

// archive is a folder of a node's archive packages, at any depth, read in
// place. A node names a package after the masterchain seqno from which on it
// holds bundles (archive.00100.pack, archive.00100.0:8000000000000000.pack), so
// only the packages around the wanted bundle are indexed; a small folder is
// indexed whole and its names do not matter.
type archive struct {
	blockFolder
	packages []*packageFile // by (start, path)
	recent   []*packageFile // indexed ones, the longest unused first
}

const (
	// wholeArchive is how many packages a folder may have to be indexed whole.
	wholeArchive = 128
	// indexedPackages bounds the memory of the index of a larger one: about
	// 200 KiB each for a package of 100 bundles.
	indexedPackages = 128
)

func newArchive(dir string, r report.Reporter, maxBytes int) *archive {
	a := &archive{blockFolder: blockFolder{kind: "archive", dir: dir, report: r, maxBytes: maxBytes}}
	a.scan = a.rescan
	return a
}

func (a *archive) Open(ctx context.Context) error {
	if err := a.blockFolder.Open(ctx); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.last == 0 {
		return fmt.Errorf("source %s: no masterchain block in its %d packages (*.pack)", a, len(a.packages))
	}
	var entries, others int
	for _, p := range a.recent {
		n, o := p.counts()
		entries, others = entries+n, others+o
	}
	a.report.Log.Info().Stringer("source", a).Int("packages", len(a.packages)).Int("indexed", len(a.recent)).
		Int("blocks", entries).Int("proofs_and_others", others).Uint32("first", a.first).Uint32("last", a.last).Msg("archive packages found")
	return nil
}

func (a *archive) Master(ctx context.Context, seqno uint32, attempt int) (Blob, error) {
	return a.find(ctx, masterID(seqno), seqno, attempt)
}

func (a *archive) Block(ctx context.Context, id *record.BlockId, bundle uint32, attempt int) (Blob, error) {
	return a.find(ctx, blockIDOf(id), bundle, attempt)
}

// find goes through the packages that may hold a block of the bundle and gives
// the attempt-th entry for it. A package that cannot be read counts as one.
func (a *archive) find(ctx context.Context, at blockID, bundle uint32, attempt int) (Blob, error) {
	for _, p := range a.around(bundle) {
		if err := ctx.Err(); err != nil {
			return Blob{}, err
		}
		entries, err := p.find(at)
		if err != nil {
			if attempt == 0 {
				return Blob{Origin: p.path}, err
			}
			attempt--
			continue
		}
		a.used(p)
		if attempt < len(entries) {
			return p.read(at, entries[attempt], a.maxBytes)
		}
		attempt -= len(entries)
	}
	return Blob{}, ErrNotFound
}

// around gives the packages to be asked for a bundle, the likeliest first: those
// of its group (the same start), of the groups beside it, and in a small
// archive all others.
func (a *archive) around(bundle uint32) []*packageFile {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.packages) == 0 {
		return nil
	}
	end, _ := slices.BinarySearchFunc(a.packages, bundle, func(p *packageFile, b uint32) int {
		if p.start <= b {
			return -1
		}
		return 1
	})
	begin := a.groupStart(end - 1)
	before := a.groupStart(begin - 1)
	after := a.groupEnd(end)
	list := slices.Concat(a.packages[begin:end], a.packages[end:after], a.packages[before:begin])
	if len(a.packages) <= wholeArchive {
		list = slices.Concat(list, a.packages[after:], a.packages[:before])
	}
	return list
}

func (a *archive) groupStart(i int) int {
	i = max(i, 0)
	for i > 0 && a.packages[i-1].start == a.packages[i].start {
		i--
	}
	return i
}

func (a *archive) groupEnd(i int) int {
	end := min(i+1, len(a.packages))
	for end < len(a.packages) && a.packages[end].start == a.packages[i].start {
		end++
	}
	return end
}

// used keeps the most recently used packages indexed and lets go of others.
func (a *archive) used(p *packageFile) {
	a.mu.Lock()
	if i := slices.Index(a.recent, p); i >= 0 {
		a.recent = slices.Delete(a.recent, i, i+1)
	}
	a.recent = append(a.recent, p)
	var drop *packageFile
	if len(a.recent) > indexedPackages {
		drop = a.recent[0]
		a.recent = a.recent[1:]
	}
	a.mu.Unlock()
	if drop != nil {
		drop.forget()
	}
}

// rescan lists the packages, follows those that have grown and finds the range.
func (a *archive) rescan(ctx context.Context) error {
	paths, err := listPackages(a.dir)
	if err != nil {
		return fmt.Errorf("source %s: %w", a, err)
	}
	a.mu.Lock()
	known := make(map[string]*packageFile, len(a.packages))
	for _, p := range a.packages {
		known[p.path] = p
	}
	packages := make([]*packageFile, len(paths))
	for i, path := range paths {
		if packages[i] = known[path]; packages[i] == nil {
			packages[i] = newPackageFile(path, packageStart(path), a.report)
		}
	}
	slices.SortFunc(packages, func(x, y *packageFile) int {
		return cmp.Or(cmp.Compare(x.start, y.start), strings.Compare(x.path, y.path))
	})
	a.packages = packages
	a.mu.Unlock()
	return a.findRange(ctx, packages)
}

// findRange indexes what tells the first and the last masterchain block: of a
// small archive all packages, of a large one those at both ends. What is indexed
// is followed wherever it stands: the last package of the scan before may have
// grown once more before the next one began.
func (a *archive) findRange(ctx context.Context, packages []*packageFile) error {
	look := packages
	if len(packages) > wholeArchive {
		begin, end := a.groupEnd(0), a.groupStart(len(packages)-1)
		look = slices.Clone(packages[:begin])
		for i, p := range packages[begin:] {
			if begin+i >= end || p.indexed() {
				look = append(look, p)
			}
		}
	}
	first, last := uint32(math.MaxUint32), uint32(0)
	for _, p := range look {
		if err := ctx.Err(); err != nil {
			return err
		}
		low, high, err := p.follow()
		if err != nil {
			return fmt.Errorf("source %s: %w", a, err)
		}
		a.used(p)
		if high > 0 {
			first, last = min(first, low), max(last, high)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if last > 0 {
		a.first, a.last = first, max(a.last, last)
	}
	return nil
}

func listPackages(dir string) ([]string, error) {
	var paths []string
	err := walkFiles(dir, func(path string, _ fs.DirEntry) error {
		name := filepath.Base(path)
		if filepath.Ext(name) != ".pack" {
			return nil
		}
		// Key packages hold the proofs of key blocks only, and temporary ones what comes
		// into the archive when the node has applied it.
		if strings.HasPrefix(name, "key.") || strings.HasPrefix(name, "temp.") {
			return nil
		}
		paths = append(paths, path)
		return nil
	})
	return paths, err
}

var packageNumber = regexp.MustCompile(`\.(\d+)\.`)

// packageStart reads the masterchain seqno out of a package's name; 0 when it
// has none.
func packageStart(path string) uint32 {
	if match := packageNumber.FindStringSubmatch(filepath.Base(path)); match != nil {
		if n, err := strconv.ParseUint(match[1], 10, 32); err == nil {
			return uint32(n)
		}
	}
	return 0
}

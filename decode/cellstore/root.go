// Package cellstore keeps the cells of accounts by hash, on disk.
//
// In: records of cells (package ton/cell), as blocks, zerostates and lite
// servers show them, and how far each partition has come. Out: the record with a
// hash. A state update of a block leaves out what did not change, and the store
// has it from before. What was never put in is not there; the caller asks a lite
// server or does without.
//
// Two generations bound the size. New records go to the younger one; what is
// read from the older one is copied to the younger. When the younger one has
// grown to its share, the older one is deleted and an empty one begins: what
// nobody changed for that long is forgotten.
//
// A Batch is written whole or not at all, so after any kill the marks tell of
// nothing whose cells are not there. The package must never delete a record
// otherwise than with its generation, and knows nothing of what a cell means.
package cellstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/maypok86/otter/v2"

	"tonscribe/internal/descriptors"
	"tonscribe/internal/localstore"
	"tonscribe/internal/report"
)

// Dependencies of a Store.
type Dependencies struct {
	Report report.Reporter
}

// Store is open cells. All methods may be called from several goroutines.
type Store struct {
	configuration Configuration
	report        report.Reporter
	metrics       *metrics
	cache         *pebble.Cache
	// lately are cells that were read from the younger generation or copied to it: most that
	// are asked for were asked for before.
	lately *otter.Cache[[32]byte, []byte]

	// mutex: reading and writing share it, a rotation has it alone.
	mutex   sync.RWMutex
	young   *generation
	old     *generation // nil before the first rotation
	closed  bool
	written atomic.Int64 // bytes of records put since the size was looked at
}

// generation is one of the two databases.
type generation struct {
	*localstore.DB
	number uint64
	dir    string
}

// sync makes what was written survive the loss of power.
func (g *generation) sync() error {
	return g.Do(func() error { return g.LogData(nil, pebble.Sync) })
}

// size is what it takes on disk.
func (g *generation) size() (uint64, error) {
	var bytes uint64
	err := g.Do(func() error {
		bytes = g.Metrics().DiskSpaceUsage()
		return nil
	})
	if err != nil {
		return 0, err
	}
	return bytes, nil
}

// Keys: a letter, and the hash of a cell or the name of a mark; that of a List,
// and an account. What is kept through all generations comes after the cells.
const (
	kindCell byte = 'c'
	kindMark byte = 'm'
)

// ErrClosed says that the store is closed.
var ErrClosed = errors.New("the cell store is closed")

// memTableBytes is what a generation holds in memory before it goes to disk.
const memTableBytes = 16 << 20

// latelyBytes is what a cell takes in memory besides its record, about.
const latelyBytes = 160

const generationPrefix = "generation-"

// Open opens the store in the configured folder, which nobody else may use, and
// makes it when it is not there.
func Open(configuration Configuration, dependencies Dependencies) (*Store, error) {
	if err := configuration.validate(); err != nil {
		return nil, err
	}
	reporter := dependencies.Report.For("cells")
	s := &Store{configuration: configuration, report: reporter, metrics: newMetrics(reporter.Meter("cells"))}
	if err := os.MkdirAll(configuration.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("cell store: %w", err)
	}
	numbers, err := generations(configuration.Dir)
	if err != nil {
		return nil, fmt.Errorf("cell store %s: %w", configuration.Dir, err)
	}
	lately := configuration.CacheBytes / 4
	s.cache = pebble.NewCache(configuration.CacheBytes - lately)
	s.lately = otter.Must(&otter.Options[[32]byte, []byte]{
		MaximumWeight: uint64(lately),
		Weigher:       func(_ [32]byte, record []byte) uint32 { return uint32(latelyBytes + len(record)) },
	})
	if err := s.openGenerations(numbers); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.measure()
	return s, nil
}

func (s *Store) openGenerations(numbers []uint64) (err error) {
	if len(numbers) == 0 {
		numbers = []uint64{1}
	}
	for len(numbers) > 2 { // killed in a rotation
		if err := os.RemoveAll(s.path(numbers[0])); err != nil {
			return fmt.Errorf("cell store: %w", err)
		}
		numbers = numbers[1:]
	}
	if s.young, err = s.openGeneration(numbers[len(numbers)-1]); err != nil {
		return err
	}
	if len(numbers) == 2 {
		if s.old, err = s.openGeneration(numbers[0]); err != nil {
			return err
		}
	}
	return nil
}

// generations are the numbers of those on disk, ascending.
func generations(dir string) ([]uint64, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var numbers []uint64
	for _, entry := range entries {
		text, ok := strings.CutPrefix(entry.Name(), generationPrefix)
		if !ok || !entry.IsDir() {
			continue
		}
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("folder %s: %w", entry.Name(), err)
		}
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	return numbers, nil
}

func (s *Store) path(number uint64) string {
	return filepath.Join(s.configuration.Dir, generationPrefix+strconv.FormatUint(number, 10))
}

func (s *Store) openGeneration(number uint64) (*generation, error) {
	dir := s.path(number)
	db, err := s.openDB(dir)
	if err != nil {
		return nil, err
	}
	return &generation{db, number, dir}, nil
}

func (s *Store) openDB(dir string) (*localstore.DB, error) {
	o := &pebble.Options{
		Cache: s.cache, MemTableSize: memTableBytes,
		L0CompactionThreshold: 4, L0StopWritesThreshold: 24,
		MaxOpenFiles: descriptors.StoreFiles(),
	}
	o.Levels[0].FilterPolicy = bloom.FilterPolicy(10)
	db, err := s.stored(dir).Open(o)
	if err != nil {
		return nil, fmt.Errorf("cell store %s: %w", dir, err)
	}
	return db, nil
}

// stored is how a generation is opened, and what to do when it is damaged.
func (s *Store) stored(dir string) localstore.Store {
	return localstore.Store{Dir: dir, Log: s.report.Log, Remedy: "stop, delete the folder " + s.configuration.Dir +
		" and start again; decode then reads the log again from its oldest bundle, and what is older comes from lite servers"}
}

// explained is an error of the database, with the way out of damage.
func (s *Store) explained(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cell store: %w", s.stored(s.configuration.Dir).Explain(err))
}

// Close ends the store. Everything that was written stays.
func (s *Store) Close() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	var problems error
	for _, g := range []*generation{s.young, s.old} {
		if g != nil {
			problems = errors.Join(problems, g.Close())
		}
	}
	s.cache.Unref()
	return problems
}

// Get is the record of the cell with the hash, nil when it is not there. It must not
// be changed.
func (s *Store) Get(hash *[32]byte) ([]byte, error) {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	if s.closed {
		return nil, ErrClosed
	}
	if record, ok := s.lately.GetIfPresent(*hash); ok {
		s.metrics.reads.WithLabelValues("memory").Inc()
		return record, nil
	}
	var key [1 + 32]byte
	key[0] = kindCell
	copy(key[1:], hash[:])
	record, err := s.get(key[:])
	if err == nil && record != nil {
		s.lately.Set(*hash, record)
	}
	return record, err
}

// get reads what has a key; the caller holds the mutex.
func (s *Store) get(key []byte) ([]byte, error) {
	value, err := s.read(s.young, key)
	if err != nil || value != nil {
		s.metrics.reads.WithLabelValues("young").Inc()
		return value, err
	}
	if s.old != nil {
		if value, err = s.read(s.old, key); err != nil {
			return nil, err
		}
		if value != nil {
			s.metrics.reads.WithLabelValues("old").Inc()
			s.written.Add(int64(len(value)))
			return value, s.explained(s.young.Do(func() error { return s.young.Set(key, value, pebble.NoSync) }))
		}
	}
	s.metrics.reads.WithLabelValues("absent").Inc()
	return nil, nil
}

func (s *Store) read(g *generation, key []byte) ([]byte, error) {
	value, closer, err := g.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, s.explained(err)
	}
	value = slices.Clone(value)
	return value, closer.Close()
}

// Mark is how far a partition has come, 0 when nothing is known of it.
func (s *Store) Mark(partition int) (mcSeqno uint32, err error) {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	if s.closed {
		return 0, ErrClosed
	}
	value, err := s.get(markKey(partition))
	if err != nil || len(value) != 4 {
		return 0, err
	}
	return binary.BigEndian.Uint32(value), nil
}

func markKey(partition int) []byte {
	return binary.BigEndian.AppendUint16([]byte{kindMark}, uint16(partition))
}

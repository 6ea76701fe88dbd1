// Package history keeps the past of a devnet's chain. In come bundles, in the
// order of the masterchain; each is on disk, whole, before Append returns. Out
// come blocks by id, seqno, logical time and time, transactions by account,
// signatures, and the state after any block: recent ones from memory, older ones
// derived from a stored state and the state updates since. It must never change
// a byte of what it was given, and never know half a bundle.
package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/rs/zerolog"
	"github.com/xssnick/tonutils-go/tvm/cell"
	"golang.org/x/sys/unix"

	"tonscribe/devnet/chain"
	"tonscribe/internal/descriptors"
	"tonscribe/internal/localstore"
)

// ErrNotFound is what every question for something unknown is answered with.
var ErrNotFound = errors.New("not found")

// Options of a store. Zero values mean the defaults.
type Options struct {
	// Recent is how many bundles stay in memory with their states (default 32).
	Recent int
	// SnapshotEvery is the number of bundles from one stored state to the next
	// (default 256). Reopening applies at most that many state updates, or twice
	// that many when the last state was not yet written.
	SnapshotEvery uint32
	// CacheBytes bounds the older blocks kept parsed, in bytes of their bags of
	// cells (default 8 MiB).
	CacheBytes int
	// States is how many older states are kept once derived (default 8).
	States int
}

// Store is the past of one chain. One goroutine appends, any number read.
type Store struct {
	options Options
	db      *localstore.DB

	mu      sync.RWMutex
	last    uint32
	head    bool // at least one bundle is stored
	changed chan struct{}
	zero    map[int32]*chain.Zerostate
	shards  map[shardKey]struct{}
	recent  recent

	blocks   *cache[*chain.Block]
	states   *cache[*cell.Cell]
	deriving sync.Mutex // one old state is derived at a time

	snapshots snapshots

	closing sync.Once
	closed  error
}

// ErrInUse says that another process has the folder open.
var ErrInUse = errors.New("the folder is in use by another process")

// Open opens the folder dir, which is made when it is not there. The states of
// the head are derived before it returns.
func Open(dir string, options Options) (*Store, error) {
	options = Options{
		Recent: cmp.Or(options.Recent, 32), SnapshotEvery: cmp.Or(options.SnapshotEvery, 256),
		CacheBytes: cmp.Or(options.CacheBytes, 8<<20), States: cmp.Or(options.States, 8),
	}
	cache := pebble.NewCache(32 << 20)
	defer cache.Unref()
	stored := localstore.Store{Dir: dir, Remedy: "delete the devnet's folder, and what was indexed of it: the chain begins anew", Log: zerolog.Nop()}
	db, err := stored.Open(&pebble.Options{Cache: cache, MemTableSize: 16 << 20, MaxOpenFiles: descriptors.StoreFiles()})
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = ErrInUse
	}
	if err != nil {
		return nil, fmt.Errorf("history %s: %w", dir, err)
	}
	s := &Store{
		options: options,
		db:      db,
		changed: make(chan struct{}),
		zero:    map[int32]*chain.Zerostate{},
		shards:  map[shardKey]struct{}{},
		recent:  newRecent(options.Recent),
		blocks:  newCache(options.CacheBytes, func(b *chain.Block) int { return len(b.Data) }),
		states:  newCache(options.States, func(*cell.Cell) int { return 1 }),
	}
	if err := s.load(); err != nil {
		return nil, fmt.Errorf("history %s: %w", dir, errors.Join(err, db.Close()))
	}
	return s, nil
}

// Close waits for a state that is being written. Nothing may be asked after it.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.snapshots.running.Wait()
		s.closed = s.db.Close()
	})
	return s.closed
}

// Last is the seqno of the newest masterchain block, 0 before the first.
func (s *Store) Last() uint32 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.last
}

// Wait returns when the masterchain has reached seqno, or with ctx's error.
func (s *Store) Wait(ctx context.Context, seqno uint32) error {
	for {
		s.mu.RLock()
		last, changed := s.last, s.changed
		s.mu.RUnlock()
		if last >= seqno {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Zerostate of a workchain.
func (s *Store) Zerostate(workchain int32) (*chain.Zerostate, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if z := s.zero[workchain]; z != nil {
		return z, nil
	}
	return nil, fmt.Errorf("zerostate of workchain %d: %w", workchain, ErrNotFound)
}

// commit makes a batch a part of the store. It returns where that cannot be written.
func (s *Store) commit(batch *pebble.Batch, how *pebble.WriteOptions) error {
	return s.db.Do(func() error { return batch.Commit(how) })
}

package stage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/rs/zerolog"

	"tonscribe/internal/descriptors"
	"tonscribe/internal/localstore"
	"tonscribe/schema/record"
)

// Keys of the frame. The stage's own begin with other bytes.
const (
	keyMarker    = 'M' // → masterchain seqno of the last bundle that is done
	keyFirst     = 'F' // → masterchain seqno of the first bundle that was done
	keyVersion   = 'V' // → version of the stage's layout
	keyPosition  = 'H' // → position in the topic of the store's changes
	keyRestoring = 'R' // → nothing: the store is being filled from that topic, and is not whole
)

// StoreOptions say where a store lies and what it holds.
type StoreOptions struct {
	Dir        string
	CacheBytes int64
	Version    byte   // of the stage's layout
	Few        []byte // kinds of keys of which there are few, so that most that are asked for are not there
	Remedy     string // what to do about damage, and what it costs
	Log        zerolog.Logger
}

// Store is what a stage remembers of earlier bundles. Changes are collected in a
// batch that is made durable with the bundles they belong to; reads see them. Keys
// are a byte that says what they are, and parts of which all but the last are of
// fixed length. It is for one goroutine.
type Store struct {
	options StoreOptions
	stored  localstore.Store
	db      *localstore.DB
	cache   *pebble.Cache
	batch   *pebble.Batch
	marker  uint32 // in the batch
	few     *few   // nil when it is to be made anew
	key     []byte // of the call

	// prepare sees every batch before it is made durable, committed is called
	// after that; nil for nobody.
	prepare   func(*pebble.Batch) error
	committed func() error
}

// OpenStore opens a store, or makes an empty one.
func OpenStore(o StoreOptions) (*Store, error) {
	cache := pebble.NewCache(o.CacheBytes)
	options := &pebble.Options{Cache: cache, MaxOpenFiles: descriptors.StoreFiles()}
	for i := range options.Levels {
		options.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	stored := localstore.Store{Dir: o.Dir, Log: o.Log, Remedy: o.Remedy}
	db, err := stored.Open(options)
	if err != nil {
		cache.Unref()
		return nil, fmt.Errorf("store %s: %w", o.Dir, err)
	}
	s := &Store{options: o, stored: stored, db: db, cache: cache, batch: db.NewIndexedBatch()}
	if err := s.check(); err != nil {
		return nil, errors.Join(fmt.Errorf("store %s: %w", o.Dir, err), s.Close())
	}
	return s, nil
}

// check reads the marker and refuses another layout.
func (s *Store) check() error {
	restoring, err := s.Get(keyRestoring)
	if err == nil && restoring != nil {
		err = s.clear()
	}
	if err != nil {
		return err
	}
	version, err := s.Get(keyVersion)
	if err != nil {
		return err
	}
	marker, err := s.Get(keyMarker)
	if err != nil {
		return err
	}
	switch want := s.options.Version; {
	case version == nil && marker == nil:
		s.marker = 0
		return s.Set([]byte{want}, keyVersion)
	case len(version) != 1 || version[0] != want || marker != nil && len(marker) != 4:
		return fmt.Errorf("its layout is %x, this program knows %d: delete the folder to build it anew", version, want)
	case marker != nil:
		s.marker = binary.BigEndian.Uint32(marker)
	}
	return nil
}

// clear makes the store empty.
func (s *Store) clear() error {
	if err := s.batch.Close(); err != nil {
		return err
	}
	s.few = nil
	err := s.db.Do(func() error { return s.db.DeleteRange([]byte{0}, []byte{0xff, 0xff}, pebble.Sync) })
	s.batch = s.db.NewIndexedBatch()
	return err
}

// Close closes the store; what was not committed is as if it had never been.
func (s *Store) Close() error {
	var err error
	if s.batch != nil {
		err = s.batch.Close()
	}
	err = errors.Join(err, s.db.Close())
	s.cache.Unref()
	return err
}

// Marker is the masterchain seqno of the last bundle that is in the store.
func (s *Store) Marker() uint32 { return s.marker }

// Mark says that a bundle is in the batch.
func (s *Store) Mark(mcSeqno uint32) error {
	if s.marker == 0 {
		if err := s.Set(binary.BigEndian.AppendUint32(nil, mcSeqno), keyFirst); err != nil {
			return err
		}
	}
	s.marker = mcSeqno
	return s.Set(binary.BigEndian.AppendUint32(nil, mcSeqno), keyMarker)
}

// hasNothingBefore reports whether the store has seen no bundle before one.
func (s *Store) hasNothingBefore(mcSeqno uint32) (bool, error) {
	if mcSeqno <= 1 {
		return true, nil
	}
	first, err := s.Get(keyFirst)
	return len(first) == 4 && mcSeqno <= binary.BigEndian.Uint32(first), err
}

// Commit makes everything in the batch durable.
func (s *Store) Commit() error {
	if s.prepare != nil {
		if err := s.prepare(s.batch); err != nil {
			return err
		}
	}
	batch := s.batch
	s.batch = nil // it is the commit's
	if err := s.write(batch, pebble.Sync); err != nil {
		return err
	}
	s.batch = s.db.NewIndexedBatch()
	if s.committed != nil {
		return s.committed()
	}
	return nil
}

// apply makes changes of another member's.
func (s *Store) apply(entries []*record.StoreEntry) error {
	s.few = nil
	batch := s.db.NewBatch()
	for _, e := range entries {
		var err error
		if e.Deleted {
			err = batch.Delete(e.Key, nil)
		} else {
			err = batch.Set(e.Key, e.Value, nil)
		}
		if err != nil {
			return errors.Join(s.explained(err), batch.Close())
		}
	}
	return s.write(batch, pebble.NoSync)
}

// write writes a batch, which is used up.
func (s *Store) write(batch *pebble.Batch, how *pebble.WriteOptions) error {
	return s.explained(s.db.Do(func() error { return errors.Join(batch.Commit(how), batch.Close()) }))
}

// Flush writes what is in memory to the disk's tables.
func (s *Store) Flush() error { return s.db.Flush() }

// keyOf is a key until the next call.
func (s *Store) keyOf(kind byte, parts [][]byte) []byte {
	s.key = append(s.key[:0], kind)
	for _, p := range parts {
		s.key = append(s.key, p...)
	}
	return s.key
}

func (s *Store) explained(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("store: %w", s.stored.Explain(err))
}

// Get returns a copy of a value, nil when there is none.
func (s *Store) Get(kind byte, parts ...[]byte) ([]byte, error) {
	key := s.keyOf(kind, parts)
	if absent, err := s.absent(key); err != nil || absent {
		return nil, err
	}
	value, closer, err := s.batch.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, s.explained(err)
	}
	value = append([]byte{}, value...) // not nil
	return value, closer.Close()
}

// Set puts a value into the batch.
func (s *Store) Set(value []byte, kind byte, parts ...[]byte) error {
	return s.explained(s.batch.Set(s.added(kind, parts), value, nil))
}

// Delete takes a value away with the batch.
func (s *Store) Delete(kind byte, parts ...[]byte) error {
	return s.explained(s.batch.Delete(s.keyOf(kind, parts), nil))
}

// SetNow stores a value at once, for good, whatever becomes of the batch.
func (s *Store) SetNow(value []byte, kind byte, parts ...[]byte) (err error) {
	batch := s.db.NewBatch()
	if err := batch.Set(s.added(kind, parts), value, nil); err != nil {
		return errors.Join(s.explained(err), batch.Close())
	}
	if s.prepare != nil {
		if err := s.prepare(batch); err != nil {
			return errors.Join(err, batch.Close())
		}
	}
	return s.write(batch, pebble.Sync)
}

// Newest returns the value of the highest key that begins with a kind and whose
// rest is a number up to the one given; nil when there is none.
func (s *Store) Newest(kind byte, upTo uint32) (value []byte, err error) {
	err = s.iterate([]byte{kind}, append(binary.BigEndian.AppendUint32([]byte{kind}, upTo), 0), func(it *pebble.Iterator) {
		if it.Last() {
			value = append([]byte{}, it.Value()...)
		}
	})
	return value, err
}

// iterate reads keys from lower up to upper, exclusive.
func (s *Store) iterate(lower, upper []byte, read func(*pebble.Iterator)) (err error) {
	it, err := s.batch.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return s.explained(err)
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	read(it)
	return s.stored.Explain(it.Error())
}

// Each visits the keys that begin with a prefix, without the prefix, after the
// one given, until visit returns false.
func (s *Store) Each(prefix, after []byte, visit func(rest, value []byte) bool) error {
	lower := append(append([]byte{}, prefix...), after...)
	if len(after) > 0 {
		lower = append(lower, 0)
	}
	upper := bytes.Clone(prefix)
	for i := len(upper) - 1; i >= 0; i-- {
		if upper[i]++; upper[i] != 0 {
			break
		}
	}
	return s.iterate(lower, upper, func(it *pebble.Iterator) {
		for ok := it.First(); ok && visit(append([]byte{}, it.Key()[len(prefix):]...), append([]byte{}, it.Value()...)); {
			ok = it.Next()
		}
	})
}

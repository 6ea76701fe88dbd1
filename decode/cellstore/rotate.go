package cellstore

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"tonscribe/internal/localstore"
)

// rotateWhenFull begins a new generation when the younger one has its share of
// the size.
func (s *Store) rotateWhenFull() error {
	s.written.Store(0)
	s.measure()
	s.mutex.Lock() // another partition may find it full as well
	defer s.mutex.Unlock()
	if s.closed {
		return ErrClosed
	}
	size, err := s.young.size()
	if err != nil || size < uint64(s.configuration.MaxBytes/2) {
		return s.explained(err)
	}
	return s.rotate()
}

// rotate deletes the older generation and begins a new one; the caller holds the mutex.
func (s *Store) rotate() error {
	began := time.Now()
	// What was copied from the older generation must be safe before that goes.
	if err := s.young.sync(); err != nil {
		return s.explained(err)
	}
	next, err := s.begin(s.young.number + 1)
	if err != nil {
		return err
	}
	last := s.old
	s.old, s.young = s.young, next
	s.lately.InvalidateAll() // or what is in use all the time would never be copied
	if last != nil {
		if err := last.Close(); err != nil {
			return fmt.Errorf("cell store %s: %w", last.dir, err)
		}
		if err := os.RemoveAll(last.dir); err != nil {
			return s.explained(err)
		}
	}
	s.metrics.rotations.Inc()
	s.report.Log.Info().Uint64("generation", next.number).Dur("took", time.Since(began)).Msg("a new generation of cells begins")
	return nil
}

// begin makes the generation after the younger one, with everything that is kept
// by name. It gets its own name when it is complete: a kill before that leaves
// two generations as they were.
func (s *Store) begin(number uint64) (*generation, error) {
	dir := filepath.Join(s.configuration.Dir, "next")
	if err := os.RemoveAll(dir); err != nil {
		return nil, s.explained(err)
	}
	db, err := s.openDB(dir)
	if err != nil {
		return nil, err
	}
	err = carry(s.young.DB, db)
	if e := db.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(dir, s.path(number))
	}
	if err != nil {
		return nil, s.explained(err)
	}
	return s.openGeneration(number)
}

// carry copies marks and lists.
func carry(from, to *localstore.DB) error {
	iterator, err := from.NewIter(&pebble.IterOptions{LowerBound: []byte{kindMark}})
	if err != nil {
		return err
	}
	defer iterator.Close()
	batch := to.NewBatch()
	for iterator.First(); iterator.Valid(); iterator.Next() {
		if err := batch.Set(iterator.Key(), iterator.Value(), nil); err != nil {
			return err
		}
	}
	if err := iterator.Error(); err != nil {
		return err
	}
	return to.Do(func() error {
		defer batch.Close()
		return batch.Commit(pebble.Sync)
	})
}

// measure sets the gauge of the size.
func (s *Store) measure() {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	if s.closed {
		return
	}
	var bytes uint64
	for _, g := range []*generation{s.young, s.old} {
		if g == nil {
			continue
		}
		size, err := g.size()
		if err != nil {
			return // who writes hears of it
		}
		bytes += size
	}
	s.metrics.bytes.Set(float64(bytes))
}

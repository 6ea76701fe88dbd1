package cellstore

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// Batch is what bundles put into the store, all of it at once.
type Batch struct {
	cells map[[32]byte][]byte
	owed  map[string][]byte // nil: paid
	bytes int
	marks map[int]uint32
}

// NewBatch is an empty one.
func NewBatch() *Batch {
	return &Batch{cells: map[[32]byte][]byte{}, owed: map[string][]byte{}, marks: map[int]uint32{}}
}

// Put adds the record of a cell, which must not change any more.
func (b *Batch) Put(hash [32]byte, record []byte) {
	if _, ok := b.cells[hash]; !ok {
		b.cells[hash] = record
		b.bytes += len(record)
	}
}

// Get is the record of a cell that was put into the batch, nil when it is not
// there.
func (b *Batch) Get(hash *[32]byte) []byte { return b.cells[*hash] }

// Mark says that the batch takes a partition so far.
func (b *Batch) Mark(partition int, mcSeqno uint32) { b.marks[partition] = mcSeqno }

// Owe notes something that is to be done for an account, in the caller's form.
func (b *Batch) Owe(account, what []byte) { b.owed[string(account)] = what }

// Pay ends what Owe began.
func (b *Batch) Pay(account []byte) { b.owed[string(account)] = nil }

// Len is the number of cells.
func (b *Batch) Len() int { return len(b.cells) }

// Reset empties the batch.
func (b *Batch) Reset() {
	clear(b.cells)
	clear(b.owed)
	clear(b.marks)
	b.bytes = 0
}

// Write puts the batch into the store, whole or not at all. With sync it
// survives the loss of power, as does everything written before it.
func (s *Store) Write(b *Batch, sync bool) error {
	if err := s.write(b, sync); err != nil {
		return err
	}
	if s.written.Load() >= s.configuration.MaxBytes/64 {
		return s.rotateWhenFull()
	}
	return nil
}

func (s *Store) write(b *Batch, sync bool) error {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	if s.closed {
		return ErrClosed
	}
	w := s.young.NewBatchWithSize(b.bytes + 48*len(b.cells) + 64)
	defer w.Close()
	var key [1 + 32]byte
	key[0] = kindCell
	for hash, record := range b.cells {
		copy(key[1:], hash[:])
		if err := w.Set(key[:], record, nil); err != nil {
			return fmt.Errorf("cell store: %w", err)
		}
	}
	for account, what := range b.owed {
		name := append([]byte{kindOwed}, account...)
		change := func() error { return w.Set(name, what, nil) }
		if what == nil {
			change = func() error { return w.Delete(name, nil) }
		}
		if err := change(); err != nil {
			return fmt.Errorf("cell store: %w", err)
		}
	}
	for partition, mcSeqno := range b.marks {
		if err := w.Set(markKey(partition), binary.BigEndian.AppendUint32(nil, mcSeqno), nil); err != nil {
			return fmt.Errorf("cell store: %w", err)
		}
	}
	if err := w.Commit(&pebble.WriteOptions{Sync: sync}); err != nil {
		return fmt.Errorf("cell store: %w", err)
	}
	s.metrics.put.Add(float64(len(b.cells)))
	s.written.Add(int64(b.bytes + 33*len(b.cells)))
	return nil
}

// Sync makes everything that was written survive the loss of power.
func (s *Store) Sync() error {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	if s.closed {
		return ErrClosed
	}
	if err := s.young.LogData(nil, pebble.Sync); err != nil {
		return fmt.Errorf("cell store: %w", err)
	}
	return nil
}

// Owed calls each with everything that is owed and not paid, until it returns
// false.
func (s *Store) Owed(each func(account, what []byte) bool) error {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	if s.closed {
		return ErrClosed
	}
	iterator, err := s.young.NewIter(&pebble.IterOptions{LowerBound: []byte{kindOwed}, UpperBound: []byte{kindOwed + 1}})
	if err != nil {
		return fmt.Errorf("cell store: %w", err)
	}
	defer iterator.Close()
	for iterator.First(); iterator.Valid(); iterator.Next() {
		if !each(bytes.Clone(iterator.Key()[1:]), bytes.Clone(iterator.Value())) {
			break
		}
	}
	return iterator.Error()
}

package cellstore

import (
	"bytes"
	"encoding/binary"

	"github.com/cockroachdb/pebble/v2"
)

// Batch is what bundles put into the store, all of it at once.
type Batch struct {
	cells map[[32]byte][]byte
	notes map[string][]byte // by list and account; nil: struck out
	bytes int
	marks map[int]uint32
}

// NewBatch is an empty one.
func NewBatch() *Batch {
	return &Batch{cells: map[[32]byte][]byte{}, notes: map[string][]byte{}, marks: map[int]uint32{}}
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

// List is one of the lists of accounts for which there is something to do.
type List byte

// The lists.
const (
	// Incomplete are accounts that no transaction told of, or not all.
	Incomplete List = 'o'
	// Wanted are accounts of which something is to be fetched.
	Wanted List = 'w'
)

// Note puts an account on a list, with what is to be done in the caller's form.
func (b *Batch) Note(list List, account, what []byte) { b.notes[string(list)+string(account)] = what }

// Strike takes an account off a list.
func (b *Batch) Strike(list List, account []byte) { b.notes[string(list)+string(account)] = nil }

// Len is the number of cells.
func (b *Batch) Len() int { return len(b.cells) }

// Reset empties the batch.
func (b *Batch) Reset() {
	clear(b.cells)
	clear(b.notes)
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
	var key [1 + 32]byte
	key[0] = kindCell
	for hash, record := range b.cells {
		copy(key[1:], hash[:])
		if err := w.Set(key[:], record, nil); err != nil {
			return s.explained(err)
		}
	}
	for name, what := range b.notes {
		change := func() error { return w.Set([]byte(name), what, nil) }
		if what == nil {
			change = func() error { return w.Delete([]byte(name), nil) }
		}
		if err := change(); err != nil {
			return s.explained(err)
		}
	}
	for partition, mcSeqno := range b.marks {
		if err := w.Set(markKey(partition), binary.BigEndian.AppendUint32(nil, mcSeqno), nil); err != nil {
			return s.explained(err)
		}
	}
	err := s.young.Do(func() error {
		defer w.Close()
		return w.Commit(&pebble.WriteOptions{Sync: sync})
	})
	if err != nil {
		return s.explained(err)
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
	return s.explained(s.young.sync())
}

// Noted calls each with everything on a list, until it returns false.
func (s *Store) Noted(list List, each func(account, what []byte) bool) error {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	if s.closed {
		return ErrClosed
	}
	iterator, err := s.young.NewIter(&pebble.IterOptions{LowerBound: []byte{byte(list)}, UpperBound: []byte{byte(list) + 1}})
	if err != nil {
		return s.explained(err)
	}
	defer iterator.Close()
	for iterator.First(); iterator.Valid(); iterator.Next() {
		if !each(bytes.Clone(iterator.Key()[1:]), bytes.Clone(iterator.Value())) {
			break
		}
	}
	return s.explained(iterator.Error())
}

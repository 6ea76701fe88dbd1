package kafka

import (
	"container/list"
	"fmt"
	"sync"

	"tonscribe/schema/record"
)

// entry is one record of a partition.
type entry struct {
	offset int64
	value  []byte         // as it is in the log
	record *record.Record // nil until it is decoded
}

// item is the entry for a reader.
func (e *entry) item() (Item, error) {
	r := e.record
	if r == nil {
		r = &record.Record{}
		if err := r.UnmarshalVT(e.value); err != nil {
			return Item{}, fmt.Errorf("record at offset %d: %w", e.offset, err)
		}
	}
	return Item{Record: r, Offset: e.offset, Size: len(e.value), Raw: e.value}, nil
}

// written is what the process has put into its own log and not all of its readers have
// taken yet, so that they need neither ask the log for it nor decode it: they have the
// writer's records, which nobody may change any more. What is older than the encoded
// bytes that there is room for is read from the log.
type written struct {
	mutex      sync.Mutex
	partitions map[TopicPartition]*share
	order      list.List // of held, the oldest of all partitions first
	bytes, max int
}

// share is what a partition has of it.
type share struct {
	known   bool  // nothing was put behind end that is not known
	end     int64 // offset of the next record
	places  []*list.Element
	moved   chan struct{}      // closed when something changed
	readers map[*fetcher]int64 // the offset up to which each has taken
}

// held is an entry of a partition.
type held struct {
	*entry
	of *share
}

func newWritten(bytes int) *written {
	return &written{partitions: map[TopicPartition]*share{}, max: bytes}
}

// of returns a partition's; the mutex is locked.
func (w *written) of(tp TopicPartition) *share {
	t := w.partitions[tp]
	if t == nil {
		t = &share{moved: make(chan struct{}), readers: map[*fetcher]int64{}}
		w.partitions[tp] = t
	}
	return t
}

func (t *share) wake() {
	close(t.moved)
	t.moved = make(chan struct{})
}

// add takes what was acknowledged as the partition's records from an offset on.
func (w *written) add(tp TopicPartition, offset int64, values [][]byte, records []*record.Record) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	t := w.of(tp)
	if offset != t.end {
		w.drop(t, len(t.places)) // something came twice between them
	}
	t.known, t.end = true, offset+int64(len(values))
	if len(t.readers) > 0 {
		for i, value := range values {
			t.places = append(t.places, w.order.PushBack(held{&entry{offset + int64(i), value, records[i]}, t}))
			w.bytes += len(value)
		}
		for w.bytes > w.max {
			w.drop(w.order.Front().Value.(held).of, 1)
		}
	}
	t.wake()
}

// forget is for a partition whose end is not known: something was sent and not acknowledged.
func (w *written) forget(tp TopicPartition) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	t := w.of(tp)
	w.drop(t, len(t.places))
	t.known = false
	t.wake()
}

// drop removes the oldest entries of a partition; the mutex is locked.
func (w *written) drop(t *share, n int) {
	for _, at := range t.places[:n] {
		w.bytes -= len(w.order.Remove(at).(held).value)
	}
	clear(t.places[:n])
	t.places = t.places[n:]
}

// join makes that what a reader may want is kept, until it leaves.
func (w *written) join(f *fetcher) (leave func()) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	t := w.of(f.tp)
	t.readers[f] = f.offset
	return func() {
		w.mutex.Lock()
		defer w.mutex.Unlock()
		delete(t.readers, f)
		w.release(t)
	}
}

// release drops what all readers have taken; the mutex is locked.
func (w *written) release(t *share) {
	next := t.end
	for _, taken := range t.readers {
		next = min(next, taken)
	}
	n := 0
	for n < len(t.places) && t.places[n].Value.(held).offset < next {
		n++
	}
	w.drop(t, n)
}

// after returns what follows for a reader, at most so many entries; where it has taken
// everything, the channel that is closed when there may be more; and neither where it has
// to ask the log. Behind the entries are left more.
func (w *written) after(f *fetcher, most int) (entries []*entry, left int64, moved <-chan struct{}) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	t := w.of(f.tp)
	t.readers[f] = f.offset
	w.release(t)
	first := t.end - int64(len(t.places))
	switch {
	case !t.known || f.offset < first:
		return nil, 0, nil
	case f.offset >= t.end: // beyond it where the log answered a reader before the writer
		return nil, 0, t.moved
	}
	for _, at := range t.places[f.offset-first : min(f.offset-first+int64(most), int64(len(t.places)))] {
		entries = append(entries, at.Value.(held).entry)
	}
	return entries, t.end - f.offset - int64(len(entries)), nil
}

package stage

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"tonscribe/internal/kafka"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// The topic of a store's changes has three kinds of records, all in partition 0.
//
// A claim begins an epoch: that of the member which begins to work. From there on
// only its records count, whoever else goes on writing because it does not know
// yet that the group has taken its partitions away. Changes are the batches of the
// store, numbered one after the other through all epochs. A snapshot is all of the
// store after the batch of a number; it is written beside the work, so that changes
// come between its records.
//
// Who begins to work claims, and reads up to its claim: from where its own folder
// has come to, or, when that is not on this way, from the newest snapshot. What it
// then has is what the member before it made durable last, or a batch more.
const (
	// chunkBytes is the size of a record of the topic.
	chunkBytes = 1 << 20
	// A snapshot is written when so much has changed since the last one, or as
	// much as that had, or so long ago; the topic must keep more than that.
	snapshotBytes = 64 << 20
	snapshotEvery = 12 * time.Hour
	// hintEvery is after how many batches the store learns anew where they lie.
	hintEvery = 256
)

// errOffChain says that what is read does not follow what the store has.
var errOffChain = errors.New("the changes do not follow each other")

// handover keeps a topic that tells another member what the store has.
type handover struct {
	*Component
	ctx   context.Context //nolint:containedctx // of the session
	tasks *sync.WaitGroup
	store *Store
	topic schema.Topic
	epoch uint64

	position *record.StorePosition
	batches  int                 // since the offset of the position was looked up
	changed  int                 // bytes since the last snapshot
	writing  chan snapshotResult // nil when no snapshot is being written
}

type snapshotResult struct {
	snapshot *record.StoreSnapshot
	err      error
}

// storeTopic is the topic of the changes of a stage's store. Another layout of the
// store is another topic.
func storeTopic(c Configuration) schema.Topic {
	return schema.Topic{Name: fmt.Sprintf("%s-store-%d", c.Name, c.Store.Version), MaxMessageBytes: 16 << 20}
}

func newHandover(ctx context.Context, tasks *sync.WaitGroup, c *Component, store *Store) *handover {
	return &handover{Component: c, ctx: ctx, tasks: tasks, store: store, topic: storeTopic(c.configuration)}
}

// takeOver brings the store to where the member before this one left it, and sees
// to it that the next member can do the same.
func (h *handover) takeOver() error {
	if err := h.kafka.EnsureTopics(h.ctx, []schema.Topic{h.topic}); err != nil {
		return err
	}
	newest, err := h.last(func(*record.StoreRecord) bool { return true })
	if err != nil {
		return err
	}
	h.epoch = newest.GetEpoch()
	for won := false; !won; {
		h.epoch++
		if won, err = h.claim(); err != nil {
			return fmt.Errorf("topic %s: %w", h.topic.Name, err)
		}
	}
	h.store.prepare, h.store.committed = h.announce, h.snapshotWhenDue
	if first, _, err := h.kafka.Offsets(h.ctx, h.topic.Name, 0); err != nil || first > h.position.Snapshot.GetOffset() {
		h.position.Snapshot = nil
		return cmp.Or(err, h.startSnapshot())
	}
	return h.snapshotWhenDue()
}

// last returns the newest record that is accepted, nil when there is none.
func (h *handover) last(accept func(*record.StoreRecord) bool) (*record.StoreRecord, error) {
	found, err := h.kafka.Last(h.ctx, h.topic.Name, 0, func(r *record.Record) bool { return accept(r.GetStore()) })
	return found.GetStore(), err
}

// claim begins an epoch and comes by what the topic has: what follows the store's
// own state, else everything. It reports whether no other member has begun it.
func (h *handover) claim() (won bool, err error) {
	began, before := time.Now(), h.store.marker
	writer := make([]byte, 16)
	rand.Read(writer)
	if err := h.publish(&record.StoreRecord{Kind: record.StoreRecordKind_STORE_CLAIM, Epoch: h.epoch, Writer: writer}); err != nil {
		return false, err
	}
	raw, err := h.store.Get(keyPosition)
	if err != nil {
		return false, err
	}
	h.position = &record.StorePosition{}
	if raw != nil {
		if err := h.position.UnmarshalVT(raw); err != nil {
			return false, fmt.Errorf("position of the store: %w", err)
		}
		won, err = h.follow(writer)
		if !errors.Is(err, errOffChain) {
			return won, err
		}
	}
	won, err = h.restore(writer)
	if err == nil && won {
		h.report.Log.Info().Uint32("bundle", h.store.marker).Uint32("folder", before).Dur("took", time.Since(began)).
			Msg("the store was taken over from the topic of its changes")
	}
	if !errors.Is(err, errOffChain) {
		return won, err
	}
	// The store goes on as it is, and what the topic had counts no more.
	return h.goOn(writer)
}

// reader goes through the topic and keeps to what counts.
type reader struct {
	*handover
	epoch   uint64
	writer  []byte // who began it, nil when that was before
	seen    bool   // the batch of the position's number was met, or need not be
	entries []*record.StoreEntry
	parts   uint32
}

// take goes on with one record.
func (r *reader) take(offset int64, s *record.StoreRecord) error {
	switch {
	case s.Epoch < r.epoch:
		return nil // of a member that was not working any more
	case s.Kind == record.StoreRecordKind_STORE_CLAIM:
		if s.Epoch > r.epoch {
			r.epoch, r.writer, r.entries, r.parts = s.Epoch, s.Writer, nil, 0
		}
		return nil
	case s.Epoch > r.epoch:
		return errOffChain
	case s.Kind != record.StoreRecordKind_STORE_CHANGES || s.Number < r.position.Number:
		return nil
	case s.Number == r.position.Number:
		if !r.seen && s.Epoch != r.position.Epoch {
			return errOffChain
		}
		r.seen = r.seen || s.Last
		return nil
	case s.Number != r.position.Number+1 || !r.seen || s.Part > r.parts:
		return errOffChain
	case s.Part < r.parts:
		return nil // a repetition
	}
	r.entries = append(r.entries, s.Entries...)
	if r.parts++; !s.Last {
		return nil
	}
	if err := r.store.apply(r.entries); err != nil {
		return err
	}
	r.Restored.WithLabelValues("changes").Add(float64(len(r.entries)))
	r.position.Number, r.position.Epoch, r.position.Offset = s.Number, s.Epoch, offset
	r.entries, r.parts = nil, 0
	if s.Snapshot != nil {
		r.position.Snapshot = s.Snapshot
	}
	return nil
}

// follow brings the store from its position to this member's claim.
func (h *handover) follow(writer []byte) (won bool, err error) {
	r := &reader{handover: h, epoch: h.position.Epoch, seen: h.position.Seen}
	if err := h.read(h.position.Offset, r.take); err != nil {
		return false, err
	}
	if !r.seen {
		return false, errOffChain
	}
	return h.arrive(r, writer)
}

// goOn brings the store to this member's claim as it is.
func (h *handover) goOn(writer []byte) (won bool, err error) {
	h.position = &record.StorePosition{}
	r := &reader{handover: h}
	err = h.kafka.Read(h.ctx, h.topic.Name, 0, 0, func(item kafka.Item) error {
		s := item.Record.GetStore()
		h.position.Number = max(h.position.Number, s.GetNumber()) // no number is given twice
		if s.GetKind() == record.StoreRecordKind_STORE_CLAIM {
			return r.take(item.Offset, s)
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	if h.store.marker == 0 && h.position.Number > 0 {
		h.report.Log.Warn().Str("topic", h.topic.Name).
			Msg("the topic does not reach back to a whole snapshot of the store, and the folder has none: the stage begins anew")
	}
	return h.arrive(r, writer)
}

// arrive makes durable that the store has come to this member's claim, if that is
// the one that counts.
func (h *handover) arrive(r *reader, writer []byte) (won bool, err error) {
	if r.epoch != h.epoch || !bytes.Equal(r.writer, writer) {
		h.epoch = max(h.epoch, r.epoch)
		return false, nil
	}
	_, end, err := h.kafka.Offsets(h.ctx, h.topic.Name, 0)
	if err != nil {
		return false, err
	}
	h.position.Epoch, h.position.Offset, h.position.Seen = h.epoch, end, true
	raw, err := h.position.MarshalVT()
	if err != nil {
		return false, err
	}
	if err := errors.Join(h.store.Set(raw, keyPosition), h.store.Delete(keyRestoring), h.store.Commit()); err != nil {
		return false, err
	}
	return true, h.store.check()
}

// read goes through the topic from an offset that it must still have.
func (h *handover) read(offset int64, take func(int64, *record.StoreRecord) error) error {
	first := true
	err := h.kafka.Read(h.ctx, h.topic.Name, 0, offset, func(item kafka.Item) error {
		s := item.Record.GetStore()
		switch {
		case s == nil:
			return fmt.Errorf("offset %d: a record that is not of a store", item.Offset)
		case first && item.Offset != offset:
			return errOffChain
		}
		first = false
		return take(item.Offset, s)
	})
	if err == nil && first {
		return errOffChain // it ends before: it is another one than it was
	}
	return err
}

// restore fills the store from the newest snapshot and what came after it.
// errOffChain says that the topic has none that is whole; the store then is as it
// was, or empty.
func (h *handover) restore(writer []byte) (won bool, err error) {
	last, err := h.last(func(s *record.StoreRecord) bool { return s.GetSnapshot() != nil })
	if err != nil {
		return false, err
	}
	if last == nil {
		return false, errOffChain
	}
	snapshot := last.Snapshot
	if first, _, err := h.kafka.Offsets(h.ctx, h.topic.Name, 0); err != nil || first > snapshot.Offset {
		return false, cmp.Or(err, errOffChain)
	}
	if err := errors.Join(h.store.clear(), h.store.SetNow([]byte{}, keyRestoring)); err != nil {
		return false, err
	}
	err = h.load(snapshot)
	if err == nil {
		h.position = &record.StorePosition{Epoch: snapshot.Epoch, Number: snapshot.Number, Offset: snapshot.Offset, Seen: true, Snapshot: snapshot}
		won, err = h.follow(writer)
	}
	if errors.Is(err, errOffChain) {
		return false, errors.Join(err, h.store.clear(), h.store.check())
	}
	return won, err
}

// errWhole ends the reading of a snapshot.
var errWhole = errors.New("the snapshot is whole")

// load puts a snapshot into the store.
func (h *handover) load(snapshot *record.StoreSnapshot) error {
	parts := uint32(0)
	err := h.read(snapshot.Offset, func(_ int64, s *record.StoreRecord) error {
		switch {
		case s.Kind == record.StoreRecordKind_STORE_CLAIM && s.Epoch > snapshot.Epoch:
			return errOffChain
		case s.Kind != record.StoreRecordKind_STORE_SNAPSHOT || s.Number != snapshot.Number || s.Epoch != snapshot.Epoch || s.Part < parts:
			return nil
		case s.Part > parts:
			return errOffChain
		}
		parts++
		if err := h.store.apply(s.Entries); err != nil {
			return err
		}
		h.Restored.WithLabelValues("snapshot").Add(float64(len(s.Entries)))
		if s.Last {
			return errWhole
		}
		return nil
	})
	switch {
	case errors.Is(err, errWhole):
		return nil
	case err == nil:
		return errOffChain
	}
	return err
}

// announce publishes a batch of the store before it is made durable, and puts
// into it how far the store has come.
func (h *handover) announce(batch *pebble.Batch) error {
	if err := h.harvest(); err != nil {
		return err
	}
	if h.batches++; h.batches == hintEvery {
		_, end, err := h.kafka.Offsets(h.ctx, h.topic.Name, 0)
		if err != nil {
			return err
		}
		h.position.Offset, h.batches = end, 0
	}
	number := h.position.Number + 1
	out := &chunks{handover: h, of: &record.StoreRecord{
		Kind: record.StoreRecordKind_STORE_CHANGES, Epoch: h.epoch, Number: number, Snapshot: h.position.Snapshot,
	}}
	for changes := batch.Reader(); ; {
		kind, key, value, more, err := changes.Next()
		if err != nil {
			return fmt.Errorf("batch of the store: %w", err)
		}
		if !more {
			break
		}
		switch kind {
		case pebble.InternalKeyKindSet:
			err = out.add(&record.StoreEntry{Key: bytes.Clone(key), Value: bytes.Clone(value)})
		case pebble.InternalKeyKindDelete:
			err = out.add(&record.StoreEntry{Key: bytes.Clone(key), Deleted: true})
		default:
			err = fmt.Errorf("batch of the store: a change of kind %s", kind)
		}
		if err != nil {
			return err
		}
	}
	if err := out.end(); err != nil {
		return err
	}
	h.position.Number, h.position.Seen = number, false
	h.changed += out.bytes
	raw, err := h.position.MarshalVT()
	if err != nil {
		return err
	}
	return batch.Set([]byte{keyPosition}, raw, nil)
}

// chunks cuts entries into records, each another part of the same.
type chunks struct {
	*handover
	of    *record.StoreRecord
	size  int // of its entries
	bytes int // of all
}

func (c *chunks) add(e *record.StoreEntry) error {
	size := len(e.Key) + len(e.Value)
	if c.size > 0 && c.size+size > chunkBytes {
		if err := c.publish(c.of); err != nil {
			return err
		}
		c.of.Part, c.of.Entries, c.size = c.of.Part+1, nil, 0
	}
	c.of.Entries = append(c.of.Entries, e)
	c.size += size
	c.bytes += size
	return nil
}

func (c *chunks) end() error {
	c.of.Last = true
	return c.publish(c.of)
}

func (h *handover) publish(s *record.StoreRecord) error {
	return h.kafka.Publish(h.ctx, h.topic.Name, 0, []*record.Record{{Content: &record.Record_Store{Store: s}}})
}

// snapshotWhenDue writes a snapshot when it is time for one.
func (h *handover) snapshotWhenDue() error {
	last := h.position.Snapshot
	due := last == nil || h.changed >= max(snapshotBytes, int(last.Bytes)) || time.Since(time.Unix(last.Time, 0)) >= snapshotEvery
	if h.writing != nil || !due {
		return nil
	}
	return h.startSnapshot()
}

// startSnapshot begins to write all of the store, as it is after the last batch.
func (h *handover) startSnapshot() error {
	_, end, err := h.kafka.Offsets(h.ctx, h.topic.Name, 0)
	if err != nil {
		return err
	}
	snapshot := &record.StoreSnapshot{Epoch: h.epoch, Number: h.position.Number, Offset: end, Time: time.Now().Unix()}
	view := h.store.db.NewSnapshot()
	done := make(chan snapshotResult, 1)
	h.writing, h.changed = done, 0
	h.tasks.Go(func() {
		err := h.writeSnapshot(view, snapshot)
		done <- snapshotResult{snapshot, errors.Join(err, view.Close())}
	})
	return nil
}

func (h *handover) writeSnapshot(view *pebble.Snapshot, snapshot *record.StoreSnapshot) (err error) {
	it, err := view.NewIter(nil)
	if err != nil {
		return h.store.explained(err)
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	out := &chunks{handover: h, of: &record.StoreRecord{Kind: record.StoreRecordKind_STORE_SNAPSHOT, Epoch: snapshot.Epoch, Number: snapshot.Number}}
	for ok := it.First(); ok; ok = it.Next() {
		if key := it.Key(); len(key) == 1 && (key[0] == keyPosition || key[0] == keyRestoring) {
			continue
		}
		if err := out.add(&record.StoreEntry{Key: bytes.Clone(it.Key()), Value: bytes.Clone(it.Value())}); err != nil {
			return err
		}
	}
	if err := it.Error(); err != nil {
		return h.store.explained(err)
	}
	snapshot.Bytes = uint64(out.bytes)
	return out.end()
}

// harvest learns that a snapshot is whole.
func (h *handover) harvest() error {
	select {
	case ended := <-h.writing:
		h.writing = nil
		if ended.err != nil {
			return fmt.Errorf("snapshot of the store: %w", ended.err)
		}
		h.position.Snapshot = ended.snapshot
	default:
	}
	return nil
}

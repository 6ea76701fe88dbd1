package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"tonscribe/schema/record"
)

const (
	// skipBytes is how much repetition a reader drops before it commits past it.
	skipBytes = 16 << 20
	// skipAfter is how long a reader that has nothing but repetitions behind it
	// waits for another record before it commits past them.
	skipAfter = time.Second
)

// ErrMoved ends a reader whose group's commit was moved: the next one starts there.
var ErrMoved = errors.New("the commit was moved")

// Item is one record of a reader. Other readers may have it as well: it is not changed.
type Item struct {
	Record *record.Record
	// Offset of the record in its partition.
	Offset int64
	// Size of the record in bytes, as it was in the log.
	Size int
	// Raw is the record as it was in the log. Record shares nothing with it.
	Raw []byte
}

// PartitionReader is one partition of a topic in the hands of a member of a group. Next
// and Poll are for one goroutine, Intend and Commit for one, not necessarily
// the same.
type PartitionReader struct {
	Topic     string
	Partition int

	client  *Client
	member  *member
	queue   <-chan fetched
	stop    func()       // ends the fetcher and waits for it
	ended   func() error // why the fetcher ended by itself
	start   int64
	intent  int64
	current *position // of the last record taken

	published uint32 // see Published

	mutex     sync.Mutex
	committed int64
	base      *position // in force at committed
	taken     []mark    // records taken since committed
	advanced  bool      // something was committed
	broken    bool      // a commit failed: the generation must end

	skippable  int   // bytes of repetitions since the last record, -1 when others were among them
	skipEnd    int64 // offset after the last of them
	aheadSince time.Time
	aheadCount int
}

// mark says that after the record at offset the position is in force.
type mark struct {
	offset   int64
	position *position
}

// Start is the offset at which the reader started: the committed one.
func (l *PartitionReader) Start() int64 { return l.start }

// Epoch identifies the log in deduplication tokens.
func (l *PartitionReader) Epoch() string { return l.client.epoch }

// Intended is the end of the range that was about to be inserted when the reader
// was last left; that range, from Start, must be inserted as it was.
func (l *PartitionReader) Intended() (end int64, ok bool) { return l.intent, l.intent > l.start }

// Counted is what Count told of the bundle in the midst of which the reader starts.
func (l *PartitionReader) Counted() uint64 { return l.base.or().Count }

// Count keeps a number with the last record that Next or Poll gave, and is called
// by the same goroutine: a reader that starts behind this record knows it.
func (l *PartitionReader) Count(n uint64) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.current.Count = n
}

// Next waits for the record that follows the last one in the stream.
// Repetitions and records whose predecessors are missing are dropped.
func (l *PartitionReader) Next(ctx context.Context) (Item, error) {
	item, _, err := l.receive(ctx, nil)
	return item, err
}

// Poll is Next with a limit: false when nothing came within wait.
func (l *PartitionReader) Poll(ctx context.Context, wait time.Duration) (Item, bool, error) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	return l.receive(ctx, timer.C)
}

func (l *PartitionReader) receive(ctx context.Context, limit <-chan time.Time) (Item, bool, error) {
	for {
		var f fetched
		var open bool
		select { // what is in the queue already goes before the limit
		case f, open = <-l.queue:
		default:
			var skip <-chan time.Time
			if l.skippable > 0 { // the last thing that came was a repetition
				skip = time.After(skipAfter)
			}
			select {
			case f, open = <-l.queue:
			case <-skip:
				if err := l.skip(ctx); err != nil {
					return Item{}, false, err
				}
				continue
			case <-limit:
				return Item{}, false, nil
			case <-ctx.Done():
				return Item{}, false, context.Cause(ctx)
			}
		}
		if item, taken, err := l.take(ctx, f, open); taken || err != nil {
			return item, taken, err
		}
	}
}

// take decides on a record: false when it was dropped.
func (l *PartitionReader) take(ctx context.Context, f fetched, open bool) (Item, bool, error) {
	switch {
	case ctx.Err() != nil:
		return Item{}, false, context.Cause(ctx)
	case !open:
		return Item{}, false, fmt.Errorf("%s: the reader has ended: %w", l.place(), l.ended())
	case f.err != nil:
		return Item{}, false, f.err
	}
	item, err := f.item()
	if err != nil {
		return Item{}, false, fmt.Errorf("%s: %w", l.place(), err)
	}
	switch l.current.judge(item.Record) {
	case repeated:
		return Item{}, false, l.repetition(ctx, item)
	case ahead:
		l.reportAhead(item.Record, item.Offset)
		l.skippable = -1
		return Item{}, false, nil
	}
	l.skippable = 0
	l.current = positionOf(item.Record)
	l.mutex.Lock()
	l.taken = append(l.taken, mark{item.Offset, l.current})
	l.mutex.Unlock()
	l.client.metrics.consumedRecords.WithLabelValues(l.place().labels()).Inc()
	l.client.metrics.consumedBytes.WithLabelValues(l.place().labels()).Add(float64(item.Size))
	return item, true, nil
}

// repetition counts a dropped record, and skips a long run of them.
func (l *PartitionReader) repetition(ctx context.Context, item Item) error {
	l.client.metrics.repeated.WithLabelValues(l.place().labels()).Inc()
	if l.skippable < 0 {
		return nil // records ahead of their time may be of use to who repairs the log
	}
	l.skippable += item.Size
	l.skipEnd = item.Offset + 1
	if l.skippable < skipBytes {
		return nil
	}
	return l.skip(ctx)
}

// skip commits past the repetitions when everything before them is committed:
// nobody else would, and an embedded log that keeps what its groups have not read
// would stay full. It ends the reader, so that the next one starts at the commit,
// where ranges begin. A range that is to be inserted as it was may begin with some.
func (l *PartitionReader) skip(ctx context.Context) error {
	l.mutex.Lock()
	at, open := l.base, len(l.taken) > 0 || l.committed < l.intent
	l.mutex.Unlock()
	if open {
		return nil
	}
	if err := l.commit(ctx, l.skipEnd, commitment{Position: at}); err != nil {
		return err
	}
	return ErrMoved
}

// Bundle is the bundle up to which the group had come when the reader started, 0
// when the commit tells of none.
func (l *PartitionReader) Bundle() uint32 {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.base.or().Bundle
}

// Published returns the bundle up to which a stage has published what it makes of the
// topic, if that is behind the one given, which the end of its output tells of: a member
// that was moved back, and then ended, has left an older one there. Commits keep it until
// they come to it. It is called before anything is committed.
func (l *PartitionReader) Published(bundle uint32) uint32 {
	l.published = max(l.published, bundle)
	return l.published
}

// Rewind moves the group's commit back to the bundle after the one given, for a
// stage whose store, or tables, have not come further; where the log has that one
// no more, to its oldest one. The handler, which has committed nothing yet, then
// ends with ErrMoved, and runs again from there.
func (l *PartitionReader) Rewind(ctx context.Context, bundle uint32) error {
	oldest, first, err := l.client.oldest(ctx, l.place())
	if err != nil {
		return err
	}
	// What comes before the bundle's successor is then a repetition.
	at := &position{Bundle: bundle, Sealed: true}
	if oldest == nil || at.judge(oldest) == ahead {
		at = nil
	}
	l.client.report.Log.Warn().Stringer("partition", l.place()).Str("group", l.member.group).Uint32("have", bundle).
		Uint32("committed", l.Bundle()).Uint32("oldest", oldest.GetMcSeqno()).
		Msg("what was made of the log is behind the group: reading it again from there")
	return l.commit(ctx, first, commitment{Position: at})
}

// reportAhead counts a record without its predecessors, and logs it now and
// then: when they never come, the reader stands still until someone acts.
func (l *PartitionReader) reportAhead(r *record.Record, offset int64) {
	l.client.metrics.ahead.WithLabelValues(l.place().labels()).Inc()
	l.aheadCount++
	if time.Since(l.aheadSince) < reportEvery {
		return
	}
	l.aheadSince = time.Now()
	line := l.client.report.Log.Warn().Stringer("partition", l.place()).Int64("offset", offset).
		Uint32("bundle", r.McSeqno).Uint32("index", r.Index).Uint32("follows", r.PrevMcSeqno).Int("dropped", l.aheadCount)
	if l.current != nil {
		line = line.Uint32("have_bundle", l.current.Bundle).Uint32("have_index", l.current.Index)
	}
	line.Msg("a record came before its predecessors; dropped until they come again")
}

// Intend makes durable that the records from the last commit up to offset end
// (exclusive) are about to be inserted as one range.
func (l *PartitionReader) Intend(ctx context.Context, end int64) error {
	l.mutex.Lock()
	offset, at := l.committed, l.base
	l.mutex.Unlock()
	if end <= offset {
		return fmt.Errorf("%s: intent up to offset %d, but %d is committed", l.place(), end, offset)
	}
	return l.commit(ctx, offset, commitment{End: end, Position: at})
}

// Commit makes durable that everything before offset next is done. It is
// refused when the partition has gone to another member.
func (l *PartitionReader) Commit(ctx context.Context, next int64) error {
	l.mutex.Lock()
	offset, at, taken := l.committed, l.base, 0
	for taken < len(l.taken) && l.taken[taken].offset < next {
		at = l.taken[taken].position
		taken++
	}
	l.mutex.Unlock()
	if next < offset {
		return fmt.Errorf("%s: commit of offset %d, but %d is committed", l.place(), next, offset)
	}
	if next == offset {
		return nil
	}
	if err := l.commit(ctx, next, commitment{Position: at}); err != nil {
		return err
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.committed, l.base, l.advanced = next, at, true
	l.taken = append(l.taken[:0], l.taken[taken:]...)
	return nil
}

func (l *PartitionReader) commit(ctx context.Context, offset int64, c commitment) error {
	if l.published > c.Position.or().Bundle {
		c.Published = l.published
	}
	err := l.member.commit(ctx, l.place(), offset, c.encode())
	if err != nil {
		l.mutex.Lock()
		l.broken = true
		l.mutex.Unlock()
	}
	return err
}

func (l *PartitionReader) place() TopicPartition { return TopicPartition{l.Topic, l.Partition} }

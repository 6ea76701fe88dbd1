package tail

import (
	"context"

	"tonscribe/query/memory"
)

// held is how much there is.
type held struct {
	partial int // bytes of parts of bundles that are not complete yet
	owed    int // bytes of complete bundles that may not be dropped yet
	spare   int // bytes of those that may
	rows    int // of complete bundles
}

func (h held) bytes() int { return h.partial + h.owed + h.spare }

// bundleBytes is about what a bundle takes besides its rows.
const bundleBytes = 2048

// waitForRoom waits until the partition may take a record, or ctx ends.
func (t *Tail) waitForRoom(ctx context.Context, p *partition) error {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	for !t.hasRoom(p) {
		room, next := t.room, len(p.sealed) == 0
		if next {
			t.waiting++
		}
		t.mutex.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
		}
		t.mutex.Lock()
		if next {
			t.waiting--
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// hasRoom reports whether the partition may take a record. Those that are ahead may
// fill only half of what there is, so that the next bundle becomes complete in any
// case.
func (t *Tail) hasRoom(p *partition) bool {
	if len(p.sealed) > 0 {
		return t.held.partial+t.held.owed < t.configuration.MaxBytes/2
	}
	return !t.full()
}

// full reports whether the next bundle has to wait until others may be dropped.
func (t *Tail) full() bool {
	return t.held.partial+t.held.owed >= t.configuration.MaxBytes && t.held.owed > 0
}

// fill counts what a partition took.
func (t *Tail) fill(bytes int) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.held.partial += bytes
	if t.held.spare > 0 && t.held.bytes() > t.configuration.MaxBytes {
		t.publish(t.Bundles())
	}
}

// add shows one more bundle.
func (t *Tail) add(b *memory.Bundle) {
	t.held.partial -= b.Bytes()
	b.AddBytes(bundleBytes)
	if b.MCSeqno <= t.trimmed {
		t.held.spare += b.Bytes()
	} else {
		t.held.owed += b.Bytes()
	}
	t.held.rows += b.Rows()
	t.newest = b.MCSeqno
	t.publish(append(t.Bundles(), b)) // older snapshots end before it
	select {
	case t.changed <- struct{}{}:
	default:
	}
}

// Trim lets bundles be dropped up to the one given: those that ClickHouse has. The
// newest of them stay while they fit into half of what may be held and nothing else
// needs the room.
func (t *Tail) Trim(upTo uint32) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	bundles := t.Bundles()
	for _, b := range bundles {
		if b.MCSeqno > t.trimmed && b.MCSeqno <= upTo {
			t.held.owed -= b.Bytes()
			t.held.spare += b.Bytes()
		}
	}
	t.trimmed = max(t.trimmed, upTo)
	t.publish(bundles)
}

// publish makes bundles visible, but for the oldest ones as far as they may be dropped and
// there is no room for them. It wakes partitions that wait for room.
func (t *Tail) publish(bundles memory.Bundles) {
	n := 0
	for n < len(bundles) && bundles[n].MCSeqno <= t.trimmed && (t.held.spare > t.configuration.MaxBytes/2 || t.held.bytes() > t.configuration.MaxBytes) {
		t.held.spare -= bundles[n].Bytes()
		t.held.rows -= bundles[n].Rows()
		n++
	}
	if n > 0 {
		// What was dropped must not stay in the array that the others lie in.
		left := bundles[n:]
		bundles = append(make(memory.Bundles, 0, len(left)+len(left)/8+16), left...)
	}
	t.bundles.Store(&bundles)
	close(t.room)
	t.room = make(chan struct{})
	t.count()
}

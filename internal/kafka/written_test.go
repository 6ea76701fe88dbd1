package kafka

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tonscribe/schema/record"
	"tonscribe/test/support/enginetest"
)

// forgetful loses every so manieth answer to a request that is as large as one with a bundle.
type forgetful struct {
	net.Conn
	every    int32         // 0 for none
	answered *atomic.Int32 // such requests, on all connections
	sent     atomic.Int64  // bytes of the last request
}

func (f *forgetful) Write(p []byte) (int, error) {
	f.sent.Add(int64(len(p)))
	return f.Conn.Write(p)
}

func (f *forgetful) Read(p []byte) (int, error) {
	n, err := f.Conn.Read(p)
	if sent := f.sent.Swap(0); err == nil && f.every > 0 && sent > 200 && f.answered.Add(1)%f.every == 0 {
		f.Close()
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}

func TestReadersHaveWhatTheirProcessWritesOnceAndInOrder(t *testing.T) {
	const bundles, records = 200, 4
	for _, c := range []struct {
		name string
		room int             // bytes
		lose int32           // every so manieth answer
		pace []time.Duration // of each reader, for a bundle
		same bool            // all of them have the same records
	}{
		{"as they are written", writtenBytes, 0, []time.Duration{0, 0, 0}, true},
		{"one is slow and all there is fits", writtenBytes, 0, []time.Duration{0, time.Millisecond}, true},
		{"one is slower than there is room", 50_000, 0, []time.Duration{0, time.Millisecond}, false},
		{"there is room for nothing", 1, 0, []time.Duration{0, 0}, false},
		{"answers are lost", writtenBytes, 10, []time.Duration{0, time.Millisecond / 2}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var answered atomic.Int32
			log := enginetest.Kafka(t)
			dial := func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := log.Dial(ctx, network, address)
				if err != nil {
					return nil, err
				}
				return &forgetful{Conn: conn, every: c.lose, answered: &answered}, nil
			}
			l := newTestLog(t, Dependencies{Dial: dial, Epoch: log.Epoch(), Alone: true}, log.Address())
			l.ensure()
			l.written.max = c.room
			ended := errors.New("ended")
			have := make([][]*record.Record, len(c.pace))
			var reading sync.WaitGroup
			for i, pace := range c.pace {
				reading.Go(func() {
					if err := l.Follow(t.Context(), l.group(), TopicPartition{l.topic.Name, 0}, 0, func(item Item) error {
						have[i] = append(have[i], item.Record)
						if item.Record.GetSeal() == nil {
							return nil
						}
						time.Sleep(pace)
						if item.Record.McSeqno == bundles {
							return ended
						}
						return nil
					}); !errors.Is(err, ended) {
						t.Errorf("reader %d: %v", i, err)
					}
				})
			}
			var want []*record.Record
			for mc := range uint32(bundles) {
				b := bundle(mc+1, mc, records, 500)
				l.publish(0, b...)
				want = append(want, b...)
				for mc < 2 && l.written.done(TopicPartition{l.topic.Name, 0}) < len(c.pace) {
					time.Sleep(time.Millisecond)
				}
			}
			reading.Wait()
			if c.lose > 0 && answered.Load() < bundles+bundles/c.lose {
				t.Errorf("%d bundles were sent, want more than %d: no answer was lost", answered.Load(), bundles)
			}
			for i := range have {
				if got, want := places(have[i]), places(want); got != want {
					t.Errorf("reader %d:\ngot  %s\nwant %s", i, got, want)
				}
			}
			shared := 0
			for n := range min(len(have[0]), len(have[1])) {
				if have[0][n] == have[1][n] {
					shared++
				}
			}
			// The first bundle may come out of the log, and the next one to who had it before
			// its writer knew that it was there.
			if all := (bundles - 2) * (records + 1); c.same && shared < all || c.room == 1 && shared > 0 {
				t.Errorf("%d records of %d were those of another reader, want all: %t", shared, all, c.same)
			}
			if bytes, entries := l.written.kept(); bytes != 0 || entries != 0 {
				t.Errorf("%d bytes in %d records are kept that all readers have, want none", bytes, entries)
			}
		})
	}
}

// done is how many readers have all of a partition.
func (w *written) done(tp TopicPartition) (readers int) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	t := w.of(tp)
	for _, taken := range t.readers {
		if taken == t.end {
			readers++
		}
	}
	return readers
}

func (w *written) kept() (bytes, entries int) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.bytes, w.order.Len()
}

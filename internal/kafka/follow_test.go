package kafka

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"tonscribe/schema/record"
)

// A group may have committed anywhere up to the midst of the bundle that comes next,
// and more may come while the log is followed.
func whoFollowsGetsWhatComesAfterABundleOnceAndInOrder(t *testing.T, l *testLog) {
	l.ensure()
	random := rand.New(rand.NewPCG(7, 1))
	var bundles [][]*record.Record
	for mc := uint32(5); mc < 30; mc++ {
		bundles = append(bundles, bundle(mc, mc-1, random.IntN(6), 20))
	}
	var stream []*record.Record
	for _, b := range bundles[:15] {
		stream = append(stream, b...)
	}
	written := unreliable(random, stream)
	l.publish(0, written...)
	taken := 0
	committed := uint32(0) // the newest bundle that is sealed before the commit
	for _, stop := range []int{0, 9, 17, 25, len(stream)} {
		if stop > 0 {
			l.reads(func(ctx context.Context, reader *PartitionReader) error {
				for {
					item, err := reader.Next(ctx)
					if err != nil {
						return err
					}
					if item.Record.GetSeal() != nil {
						committed = item.Record.McSeqno
					}
					if taken++; taken == stop {
						return reader.Commit(ctx, item.Offset+1)
					}
				}
			})
		}
		for after := max(committed, 5); after < 20; after += 4 {
			var want []*record.Record
			for _, b := range bundles[:15] {
				if b[0].McSeqno > after {
					want = append(want, b...)
				}
			}
			var have []*record.Record
			ended := errors.New("ended")
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			if len(want) == 0 {
				cancel()
				continue
			}
			err := l.Follow(ctx, l.group(), TopicPartition{l.topic.Name, 0}, after, func(item Item) error {
				if have = append(have, item.Record); len(have) == len(want) {
					return ended
				}
				return nil
			})
			cancel()
			if !errors.Is(err, ended) {
				t.Errorf("after bundle %d, %d records committed: %v, want the last one", after, taken, err)
			}
			if places(have) != places(want) {
				t.Errorf("after bundle %d, %d records committed: got  %s\nwant %s", after, taken, places(have), places(want))
			}
		}
	}
	// What comes later is followed, too.
	ended := errors.New("ended")
	var have []*record.Record
	done := make(chan error, 1)
	go func() {
		done <- l.Follow(t.Context(), l.group(), TopicPartition{l.topic.Name, 0}, 19, func(item Item) error {
			if have = append(have, item.Record); item.Record.McSeqno == 29 && item.Record.GetSeal() != nil {
				return ended
			}
			return nil
		})
	}()
	var want []*record.Record
	for _, b := range bundles[15:] {
		l.publish(0, b...)
		want = append(want, b...)
	}
	if err := <-done; !errors.Is(err, ended) || places(have) != places(want) {
		t.Errorf("%v\ngot  %s\nwant %s", err, places(have), places(want))
	}
}

func whoFollowsWhatTheLogHasNoMoreGetsAnError(t *testing.T, l *testLog) {
	l.ensure()
	b := bundle(9, 8, 3, 20)
	l.publish(0, b[2:]...) // its beginning is gone
	l.publish(0, append(bundle(12, 9, 3, 20), bundle(13, 12, 3, 20)...)...)
	ended := errors.New("ended")
	for after, lost := range map[uint32]string{
		3: "the log begins in bundle 9, which follows bundle 8, but what follows bundle 3 is next",
		8: "the log begins in bundle 9, which follows bundle 8, but what follows bundle 8 is next",
		9: "", 0: "",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		var first *record.Record
		err := l.Follow(ctx, l.group(), TopicPartition{l.topic.Name, 0}, after, func(item Item) error {
			first = item.Record
			return ended
		})
		cancel()
		switch {
		case lost == "" && (!errors.Is(err, ended) || place(first) != "12.0"):
			t.Errorf("after bundle %d: %v, want record 12.0", after, err)
		case lost != "" && (err == nil || !strings.Contains(err.Error(), lost)):
			t.Errorf("after bundle %d: %v, want: %s", after, err, lost)
		}
	}
}

// Whoever knows of some of the partitions only would take what these have for all.
func whoFollowsATopicWithAnotherPartitionCountGetsAnError(t *testing.T, l *testLog) {
	l.ensure()
	l.publish(0, bundle(5, 4, 2, 20)...)
	for _, partitions := range []int{1, 4} {
		l.configuration.Partitions = partitions
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		err := l.Follow(ctx, l.group(), TopicPartition{l.topic.Name, 0}, 0, func(item Item) error { return fmt.Errorf("record %s came", place(item.Record)) })
		cancel()
		if want := fmt.Sprintf("has 2 partitions, but %d are configured", partitions); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want that the topic %s", err, want)
		}
	}
}

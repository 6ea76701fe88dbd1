package kafka

import (
	"context"
	"testing"
	"time"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// A topic without bundles may have another number of partitions and a retention of its
// own; whoever watches gets what it has and what comes, repetitions too.
func whoWatchesGetsWhatTheTopicHasAndWhatComes(t *testing.T, l *testLog) {
	l.topic = schema.Topic{Name: "watched-" + l.suffix, MaxMessageBytes: 1 << 20, Partitions: 1, Retention: schema.Pending.Retention, RetentionBytes: schema.Pending.RetentionBytes}
	l.ensure()
	l.ensure()
	said := func(n uint32) *record.Record {
		return &record.Record{Content: &record.Record_Pending{Pending: &record.PendingTrace{Time: n}}}
	}
	l.publish(0, said(1), said(2), said(2))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	seen := make(chan uint32, 100)
	done := make(chan error, 1)
	go func() {
		done <- l.Watch(ctx, l.topic.Name, 0, func(item Item) { seen <- item.Record.GetPending().GetTime() })
	}()
	want := []uint32{1, 2, 2, 3, 4, 5}
	for i, n := range want {
		if i >= 3 {
			l.publish(0, said(n))
		}
		select {
		case got := <-seen:
			if got != n {
				t.Fatalf("record %d says %d, want %d", i, got, n)
			}
		case <-ctx.Done():
			t.Fatalf("record %d does not come", i)
		}
	}
	cancel()
	if err := <-done; err == nil {
		t.Error("watching ends without a reason")
	}
}

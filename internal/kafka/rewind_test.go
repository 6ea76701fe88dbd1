package kafka

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"tonscribe/schema"
)

// rewound reads partition 0 to its bundle 5, moves the commit back after a bundle,
// and gives what comes then.
func (l *testLog) rewound(after uint32) string {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), time.Minute)
	defer cancel()
	var got []string
	moved := false
	l.Consume(ctx, l.group(), []schema.Topic{l.topic}, func(ctx context.Context, reader *PartitionReader) error {
		if reader.Partition != 0 {
			<-ctx.Done()
			return ctx.Err()
		}
		if reader.Bundle() == 5 {
			if err := reader.Rewind(ctx, after); err != nil {
				return err
			}
			moved = true
			return ErrMoved
		}
		for {
			item, err := reader.Next(ctx)
			if err != nil {
				return err
			}
			if moved {
				got = append(got, place(item.Record))
			}
			switch {
			case item.Record.McSeqno < 5 || item.Record.GetSeal() == nil:
			case moved:
				cancel()
			default:
				return errors.Join(reader.Commit(ctx, item.Offset+1), ErrMoved)
			}
		}
	})
	return strings.Join(got, " ")
}

func aRewoundLaneGivesWhatComesAfterTheBundleAgain(t *testing.T, l *testLog) {
	l.ensure()
	l.publish(0, bundle(1, 0, 1, 10)...)
	l.publish(0, bundle(2, 1, 2, 10)...)
	l.publish(0, bundle(3, 2, 1, 10)...)
	l.publish(0, bundle(2, 1, 2, 10)...)
	l.publish(0, bundle(3, 2, 1, 10)...)
	l.publish(0, bundle(5, 3, 1, 10)...)
	if got, want := l.rewound(2), "3.0 3.1 5.0 5.1"; got != want {
		t.Errorf("after bundle 2 came %s, want %s", got, want)
	}
	if strings.Contains(l.output.String(), "before its predecessors") {
		t.Errorf("records of bundle 2 are told to be ahead, which are repetitions:\n%s", l.output.String())
	}
}

// A stage that was moved back publishes again, and dies on the way: the end of its output
// does not tell then how far it had come.
func commitsTellHowFarTheOutputHadCome(t *testing.T, l *testLog) {
	l.ensure()
	l.publish(0, bundle(1, 0, 1, 10)...)
	l.publish(0, bundle(2, 1, 1, 10)...)
	l.publish(0, bundle(3, 2, 1, 10)...)
	var told []uint32
	life := func(published uint32, bundles int, rewind bool) {
		t.Helper()
		l.reads(func(ctx context.Context, reader *PartitionReader) error {
			told = append(told, reader.Published(published))
			if rewind {
				return reader.Rewind(ctx, 0)
			}
			for range 2 * bundles {
				item, err := reader.Next(ctx)
				if err != nil {
					return err
				}
				if err := reader.Commit(ctx, item.Offset+1); err != nil {
					return err
				}
			}
			return nil
		})
	}
	life(0, 2, false)
	life(3, 0, true) // it died before it committed bundle 3
	life(3, 1, false)
	life(1, 1, false)
	life(2, 1, false)
	life(0, 0, false) // it is there again
	if want := []uint32{0, 3, 3, 3, 3, 0}; !slices.Equal(told, want) {
		t.Errorf("the output was told to have come to bundles %v, want %v", told, want)
	}
}

func whereTheLogHasTheNextBundleNoMoreARewoundLaneBeginsWithTheOldest(t *testing.T, l *testLog) {
	l.ensure()
	l.publish(0, bundle(3, 2, 3, 10)[2:]...)
	l.publish(0, bundle(4, 3, 1, 10)...)
	l.publish(0, bundle(5, 4, 1, 10)...)
	if got, want := l.rewound(2), "4.0 4.1 5.0 5.1"; got != want {
		t.Errorf("after bundle 2, of which the log has no successor whole, came %s, want %s", got, want)
	}
}

package kafka

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

func restartsAtAnyPointGiveEveryRecordOnceInOrder(t *testing.T, l *testLog) {
	l.ensure()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	var stream []*record.Record
	prev := uint32(0)
	for mc := uint32(5); mc < 60; mc += 1 + random.Uint32N(2) {
		stream = append(stream, bundle(mc, prev, random.IntN(6), 20)...)
		prev = mc
	}
	l.publish(0, unreliable(random, stream)...)

	var kept []*record.Record // what outlives a crash: stored with the commit
	crash := errors.New("crash")
	for len(kept) < len(stream) {
		err := l.consume(func(ctx context.Context, reader *PartitionReader) error {
			var open []*record.Record
			for range 20 + random.IntN(60) {
				item, err := reader.Next(ctx)
				if err != nil {
					return err
				}
				open = append(open, item.Record)
				if random.IntN(8) == 0 || len(kept)+len(open) == len(stream) {
					if err := reader.Commit(ctx, item.Offset+1); err != nil {
						return err
					}
					kept, open = append(kept, open...), nil
				}
				if len(kept) == len(stream) {
					return nil
				}
			}
			return crash
		})
		if err != nil && !errors.Is(err, crash) {
			t.Fatal(err)
		}
	}
	if places(kept) != places(stream) {
		t.Fatalf("got  %s\nwant %s", places(kept), places(stream))
	}
}

// unreliable is what a producer may leave in the log that fails, starts again
// and is doubled: every record follows its predecessor at least once.
func unreliable(random *rand.Rand, stream []*record.Record) []*record.Record {
	var written []*record.Record
	for done := 0; done < len(stream); {
		from := max(0, done-random.IntN(12))
		to := min(len(stream), from+1+random.IntN(20))
		if random.IntN(4) == 0 && done > 0 && done+2 < len(stream) { // some came before their predecessors
			early := done + 1 + random.IntN(len(stream)-done-1)
			written = append(written, stream[early:min(len(stream), early+5)]...)
		}
		written = append(written, stream[from:to]...)
		done = max(done, to)
	}
	return written
}

func anIntendedRangeComesBackAsItWas(t *testing.T, l *testLog) {
	l.ensure()
	first := bundle(1, 0, 4, 10)
	l.publish(0, first...)
	l.publish(0, first[2:]...) // repeated inside the range
	l.publish(0, bundle(2, 1, 4, 10)...)
	l.publish(0, bundle(3, 2, 4, 10)...)
	read := func(ctx context.Context, reader *PartitionReader, n int) (got []*record.Record, next int64) {
		for range n {
			item, err := reader.Next(ctx)
			if err != nil {
				t.Error(err)
				break
			}
			got, next = append(got, item.Record), item.Offset+1
		}
		return got, next
	}
	var intended []*record.Record
	var end int64
	l.reads(func(ctx context.Context, reader *PartitionReader) error {
		if _, ok := reader.Intended(); ok || reader.Start() != 0 {
			t.Error("a new group starts with an intent")
		}
		_, next := read(ctx, reader, 3)
		if err := reader.Commit(ctx, next); err != nil {
			return err
		}
		intended, end = read(ctx, reader, 6)
		return reader.Intend(ctx, end)
	})
	l.reads(func(ctx context.Context, reader *PartitionReader) error {
		if got, ok := reader.Intended(); !ok || got != end || reader.Start() != 3 {
			t.Errorf("intended %d %v from %d, want %d from 3", got, ok, reader.Start(), end)
		}
		got, next := read(ctx, reader, 6)
		if places(got) != places(intended) || next != end {
			t.Errorf("got %s up to %d, want %s up to %d", places(got), next, places(intended), end)
		}
		return reader.Commit(ctx, next)
	})
	l.reads(func(ctx context.Context, reader *PartitionReader) error {
		if _, ok := reader.Intended(); ok || reader.Start() != end {
			t.Errorf("intent outlives its commit; start %d, want %d", reader.Start(), end)
		}
		got, _ := read(ctx, reader, 1)
		if places(got) != "2.4" {
			t.Errorf("got %s", places(got))
		}
		return nil
	})
}

func anIntendedRangeIsNotCommittedPastWhereItBeginsWithRepetitions(t *testing.T, l *testLog) {
	l.ensure()
	first := bundle(1, 0, 4, 10)
	l.publish(0, first...)
	l.publish(0, first...)
	l.publish(0, bundle(2, 1, 4, 10)...)
	l.reads(func(ctx context.Context, reader *PartitionReader) error {
		for range first {
			item, err := reader.Next(ctx)
			if err == nil {
				err = reader.Commit(ctx, item.Offset+1)
			}
			if err != nil {
				return err
			}
		}
		item, err := reader.Next(ctx)
		if err != nil {
			return err
		}
		return reader.Intend(ctx, item.Offset+1)
	})
	l.reads(func(ctx context.Context, reader *PartitionReader) error {
		late := make(chan fetched)
		go func(from <-chan fetched) {
			for f := range from {
				if f.err == nil && f.offset == int64(2*len(first)) {
					time.Sleep(skipAfter + skipAfter/2) // the broker takes its time behind the repetitions
				}
				select {
				case late <- f:
				case <-ctx.Done():
				}
			}
		}(reader.queue)
		reader.queue = late
		item, err := reader.Next(ctx)
		if err != nil {
			return fmt.Errorf("want record 2.0: %w", err)
		}
		if got := place(item.Record); got != "2.0" {
			t.Errorf("got %s, want 2.0", got)
		}
		return nil
	})
}

func commitsFromOutsideTheGenerationAreRefused(t *testing.T, l *testLog) {
	l.ensure()
	l.publish(0, bundle(1, 0, 4, 10)...)
	var left *PartitionReader
	l.reads(func(ctx context.Context, reader *PartitionReader) error {
		item, err := reader.Next(ctx)
		if err != nil {
			return err
		}
		for want, zombie := range map[error]*member{
			kafka.IllegalGeneration: {client: l.Client, group: l.group(), id: reader.member.id, generation: reader.member.generation + 1},
			kafka.UnknownMemberId:   {client: l.Client, group: l.group(), id: "someone", generation: reader.member.generation},
		} {
			if err := zombie.commit(ctx, reader.place(), 4, ""); !errors.Is(err, want) {
				t.Errorf("commit: %v, want %v", err, want)
			}
		}
		nobody := &member{client: l.Client, group: l.group(), generation: -1}
		if err := nobody.commit(ctx, reader.place(), 4, ""); err == nil {
			t.Error("a commit without generation passed")
		}
		left = reader
		return reader.Commit(ctx, item.Offset+1)
	})
	if err := left.Commit(t.Context(), 3); err == nil {
		t.Error("a member that left could commit")
	}
	if offset, _, err := l.committed(t.Context(), l.group(), left.place()); offset != 1 || err != nil {
		t.Errorf("committed %d, %v", offset, err)
	}
}

func membersShareAndHandOverPartitions(t *testing.T, l *testLog) {
	l.ensure()
	type taken struct {
		member    string
		partition int
		bundle    uint32
	}
	events := make(chan taken, 100)
	run := func(name string) (leave func()) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			l.Consume(ctx, l.group(), []schema.Topic{l.topic}, func(ctx context.Context, reader *PartitionReader) error {
				for {
					item, err := reader.Next(ctx)
					if err != nil {
						return err
					}
					events <- taken{name, reader.Partition, item.Record.McSeqno}
					if err := reader.Commit(ctx, item.Offset+1); err != nil {
						return err
					}
				}
			})
		}()
		return func() { cancel(); <-done }
	}
	next := [2]uint32{}
	// feed publishes bundles until the members own the partitions as told.
	feed := func(owners [2]string) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; {
			var got [2]string
			for p := range 2 {
				next[p]++
				l.publish(p, bundle(next[p], next[p]-1, 0, 0)...)
			}
			for got[0] == "" || got[1] == "" {
				select {
				case e := <-events:
					if e.bundle > next[e.partition] || e.bundle+1 < next[e.partition] {
						t.Fatalf("partition %d: got bundle %d, want %d", e.partition, e.bundle, next[e.partition])
					}
					// The one before may come again when its commit was cut off.
					if e.bundle == next[e.partition] {
						got[e.partition] = e.member
					}
				case <-time.After(2 * time.Minute):
					t.Fatalf("nothing came; owners so far %v", got)
				}
			}
			if got == owners || owners[0] == "?" && got[0] != got[1] {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("owners are %v, want %v", got, owners)
			}
		}
	}
	leaveA := run("a")
	feed([2]string{"a", "a"})
	leaveB := run("b")
	feed([2]string{"?", "?"})
	leaveA()
	feed([2]string{"b", "b"})
	leaveB()
}

func aFailedHandlerStartsAgainFromTheLastCommit(t *testing.T, l *testLog) {
	l.ensure()
	l.publish(0, bundle(1, 0, 4, 10)...)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var got []string
	l.Consume(ctx, l.group(), []schema.Topic{l.topic}, func(ctx context.Context, reader *PartitionReader) error {
		if reader.Partition != 0 {
			<-ctx.Done()
			return ctx.Err()
		}
		for i := 0; ; i++ {
			item, err := reader.Next(ctx)
			if err != nil {
				return err
			}
			got = append(got, place(item.Record))
			switch {
			case item.Record.GetSeal() != nil:
				cancel()
			case i == 0:
				reader.Commit(ctx, item.Offset+1)
			default:
				return errors.New("no luck")
			}
		}
	})
	if want := "1.0 1.1 1.1 1.2 1.2 1.3 1.3 1.4"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if !strings.Contains(l.output.String(), "no luck") {
		t.Error("the failure was not told")
	}
}

func anOffsetThatTheLogDoesNotHaveIsAnError(t *testing.T, l *testLog) {
	l.ensure()
	l.publish(0, bundle(1, 0, 4, 10)...)
	l.commitRaw(1000, "")
	err := l.consume(func(ctx context.Context, reader *PartitionReader) error {
		_, err := reader.Next(ctx)
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "ends at offset 5, but offset 1000 is next") {
		t.Fatal(err)
	}
}

func lagCountsWhatIsNotCommitted(t *testing.T, l *testLog) {
	l.ensure()
	l.publish(0, bundle(1, 0, 4, 10)...)
	check := func(want int64) {
		t.Helper()
		if lag, err := l.Lag(t.Context(), l.group(), l.topic); err != nil || lag != want {
			t.Errorf("lag %d, %v, want %d", lag, err, want)
		}
	}
	check(5)
	l.commitRaw(2, "")
	check(3)
}

func pollEndsWhenNothingComes(t *testing.T, l *testLog) {
	l.ensure()
	l.reads(func(ctx context.Context, reader *PartitionReader) error {
		_, ok, err := reader.Poll(ctx, 20*time.Millisecond)
		if ok || err != nil {
			t.Errorf("%v %v", ok, err)
		}
		return nil
	})
}

func longRepetitionsAreCommittedPast(t *testing.T, l *testLog) {
	l.ensure()
	first := bundle(1, 0, 8, 1<<20)
	for range 4 {
		l.publish(0, first...)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var starts []int64
	var got []string
	l.Consume(ctx, l.group(), []schema.Topic{l.topic}, func(ctx context.Context, reader *PartitionReader) error {
		if reader.Partition != 0 {
			<-ctx.Done()
			return ctx.Err()
		}
		if starts = append(starts, reader.Start()); reader.Start() > 9 {
			l.publish(0, bundle(2, 1, 0, 0)...)
		}
		for {
			item, err := reader.Next(ctx)
			if err != nil {
				return err
			}
			got = append(got, place(item.Record))
			if err := reader.Commit(ctx, item.Offset+1); err != nil {
				return err
			}
			if item.Record.McSeqno == 2 {
				cancel()
			}
		}
	})
	if want := "1.0 1.1 1.2 1.3 1.4 1.5 1.6 1.7 1.8 2.0"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if len(starts) != 2 || starts[1] <= 9 {
		t.Errorf("readers started at %v", starts)
	}
}

func repetitionsAtTheEndAreCommittedPast(t *testing.T, l *testLog) {
	l.ensure()
	first := bundle(1, 0, 4, 10)
	l.publish(0, first...)
	l.publish(0, first...)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var got, starts []string
	l.Consume(ctx, l.group(), []schema.Topic{l.topic}, func(ctx context.Context, reader *PartitionReader) error {
		if reader.Partition != 0 {
			<-ctx.Done()
			return ctx.Err()
		}
		if starts = append(starts, strconv.FormatInt(reader.Start(), 10)); reader.Start() == int64(2*len(first)) {
			cancel()
		}
		for {
			item, err := reader.Next(ctx)
			if err != nil {
				return err
			}
			got = append(got, place(item.Record))
			if err := reader.Commit(ctx, item.Offset+1); err != nil {
				return err
			}
		}
	})
	if want := "1.0 1.1 1.2 1.3 1.4"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if want := "0 10"; strings.Join(starts, " ") != want {
		t.Errorf("readers started at %v, want %s", starts, want)
	}
}

// A stage of all partitions hears of the end of a generation by the first of them.
func aHandlerThatHearsOfTheEndOfItsGenerationFirstHasNotFailed(t *testing.T, l *testLog) {
	l.ensure()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	runs := 0
	m := &member{client: l.Client, group: l.group()}
	m.handle = func(_ context.Context, reader *PartitionReader) error {
		if runs++; runs > 1 {
			cancel()
			return nil
		}
		elsewhere, end := context.WithCancelCause(ctx)
		defer end(nil)
		another, err := m.open(elsewhere, TopicPartition{reader.Topic, 1})
		if err != nil {
			return err
		}
		defer another.stop()
		end(kafka.ErrGenerationEnded)
		_, err = another.Next(ctx)
		return err
	}
	m.serve(ctx, TopicPartition{l.topic.Name, 0})
	if runs != 1 || strings.Contains(l.output.String(), "partition failed") {
		t.Errorf("the handler ran %d times, want once, and told of no failure", runs)
	}
}

func aFinalErrorOfAHandlerEndsConsume(t *testing.T, l *testLog) {
	l.ensure()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	damage := errors.New("damage")
	err := l.Consume(ctx, l.group(), []schema.Topic{l.topic}, func(ctx context.Context, reader *PartitionReader) error {
		if reader.Partition == 0 {
			return Final(damage)
		}
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, damage) || ctx.Err() != nil {
		t.Errorf("consuming ended with %v, want the handler's %v", err, damage)
	}
}

func aHandlerWhoseCommitFailedStartsAgainWhateverItSaysOfIt(t *testing.T, l *testLog) {
	l.ensure()
	l.publish(0, bundle(1, 0, 1, 10)...)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	runs := 0
	err := l.Consume(ctx, l.group(), []schema.Topic{l.topic}, func(ctx context.Context, reader *PartitionReader) error {
		if reader.Partition != 0 {
			<-ctx.Done()
			return ctx.Err()
		}
		if runs++; runs > 1 {
			cancel()
			return nil
		}
		item, err := reader.Next(ctx)
		if err != nil {
			return err
		}
		stranger := *reader.member
		stranger.id, reader.member = "someone", &stranger
		return Final(reader.Commit(ctx, item.Offset+1))
	})
	if runs != 2 {
		t.Errorf("after a commit that failed the handler ran %d times, want twice: %v", runs, err)
	}
}

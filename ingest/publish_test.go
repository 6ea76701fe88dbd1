package ingest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"tonscribe/decode"
	"tonscribe/internal/report"
	"tonscribe/schema/record"
)

// lopsided is a tape with two partitions, of which the second takes nothing:
// every write ends in a crash as soon as the first partition has it all.
type lopsided struct {
	*tape
	first sync.WaitGroup
}

func (l *lopsided) Publish(ctx context.Context, topic string, partition int, records []*record.Record) error {
	if partition == 0 {
		defer l.first.Done()
		return l.tape.Publish(context.WithoutCancel(ctx), topic, partition, records)
	}
	l.first.Wait()
	return context.Canceled
}

// emptyBundles are finished jobs whose bundles hold nothing but a masterchain id.
func emptyBundles(seqnos ...uint32) chan *job {
	jobs := make(chan *job, len(seqnos))
	for _, seqno := range seqnos {
		j := &job{seqno: seqno, done: make(chan struct{}), bundle: bundleOf(seqno)}
		close(j.done)
		jobs <- j
	}
	close(jobs)
	return jobs
}

func bundleOf(seqno uint32) *bundle {
	master := &block{BlockInfo: &decode.BlockInfo{ID: masterID(seqno).id(make([]byte, 32), make([]byte, 32))}}
	return &bundle{seqno: seqno, master: master, tips: tipsOf(nil)}
}

// Block 30 was skipped, and 31 for its sake. Every run is cut off when one
// partition has all of the run's first write and the other one nothing of it.
func TestRunsCutAtAGapNeverForgetWhatWasSkipped(t *testing.T) {
	log := &lopsided{tape: newTape(2)}
	for partition := range 2 {
		records := recordsOf(bundleOf(29), 28, partition, 2)
		if err := log.tape.Publish(t.Context(), "", partition, records); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.tape.Publish(t.Context(), "", 0, recordsOf(bundleOf(32), 29, 0, 2)); err != nil {
		t.Fatal(err)
	}
	for run := range 3 {
		made, err := New(configure("files:"+t.TempDir(), 0, 60), Dependencies{Report: report.Silent(), Log: log})
		if err != nil {
			t.Fatal(err)
		}
		from, err := made.whereToStart(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if from.prev != 29 || from.next != 32 {
			t.Fatalf("run %d goes on after %d with %d, want after 29 with 32", run, from.prev, from.next)
		}
		_, out := made.assemble(from)
		log.first.Add(1)
		if err := out.run(t.Context(), emptyBundles(32, 33, 34)); !errors.Is(err, context.Canceled) {
			t.Fatalf("run %d: %v, want %v", run, err, context.Canceled)
		}
	}
}

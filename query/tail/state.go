package tail

import (
	"context"
	"fmt"
	"time"

	"tonscribe/schema"
)

const (
	// pollEvery is how often one partition after the other is asked for its newest
	// seal.
	pollEvery = 2 * time.Second
	// patience is how long the log may take to answer that.
	patience = 5 * time.Second
	// nearSeconds is how much older than the log's the newest bundle of the tables
	// may be for following to begin, and how old the log's itself is where they may be
	// older: who follows a chain that goes on has seen it already.
	nearSeconds = 60
	// nearBundles is how many bundles fewer they may have, however much older: a chain
	// may have stood.
	nearBundles = 150
)

// Near reports whether the newest bundle of the tables, of a time in Unix seconds, is the
// log's newest one or shortly before it, in time or in bundles, or the log has none, or
// has what happens now.
func (t *Tail) Near(ctx context.Context, mcSeqno, genUtime uint32) (bool, error) {
	topic := schema.Headers
	t.ask(time.Now())
	seal, err := t.client.LastSeal(ctx, topic.Name, 0)
	if err != nil {
		return false, fmt.Errorf("the newest bundle of the log: %w", err)
	}
	t.mutex.Lock()
	t.inLog = 0 // it may be another log than before
	t.mutex.Unlock()
	t.answered(seal.GetMcSeqno())
	inLog := uint64(seal.GetSeal().GetGenUtime())
	return inLog <= uint64(genUtime)+nearSeconds || uint64(seal.GetMcSeqno()) <= uint64(mcSeqno)+nearBundles || int64(inLog)+nearSeconds >= time.Now().Unix(), nil
}

// Err is the error with which a partition stopped since Start, nil for none. Nothing
// newer becomes visible then.
func (t *Tail) Err() error {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.err
}

// State is nil when all is well, and says otherwise why nothing new becomes visible:
// a partition stopped, the log does not answer, or there is no room.
func (t *Tail) State() error {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	switch {
	case t.err != nil:
		return t.err
	case !t.asked.IsZero() && time.Since(t.asked) > patience:
		return fmt.Errorf("the log cannot be reached: no answer for %s", time.Since(t.asked).Round(time.Second))
	case t.waiting > 0 && t.full():
		return fmt.Errorf("the newest bundles take %d of %d MiB and wait for the sink", t.held.bytes()>>20, t.configuration.MaxBytes>>20)
	}
	return nil
}

// CaughtUp reports whether what the log was seen to have at Start is complete.
func (t *Tail) CaughtUp() bool {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.newest >= t.atStart
}

// fail keeps why a partition stopped.
func (t *Tail) fail(err error) {
	t.report.Log.Error().Err(err).Msg("newer bundles are not taken from the log any more")
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.err == nil {
		t.err = err
	}
}

// watch asks the log how far it is until ctx ends.
func (t *Tail) watch(ctx context.Context, partitions []*partition) {
	pause := time.NewTicker(pollEvery)
	defer pause.Stop()
	for i := 0; ctx.Err() == nil; i++ {
		p := partitions[i%len(partitions)]
		t.ask(time.Now())
		seal, err := t.client.LastSeal(ctx, p.Topic, p.Partition)
		if err == nil {
			t.answered(seal.GetMcSeqno())
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
		}
	}
	t.ask(time.Time{})
}

// ask keeps since when the log has not answered.
func (t *Tail) ask(at time.Time) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.asked.IsZero() || at.IsZero() {
		t.asked = at
	}
}

func (t *Tail) answered(bundle uint32) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.asked = time.Time{}
	t.inLog = max(t.inLog, bundle)
	t.count()
}

package query

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"tonscribe/bench/synthetic"
)

// slowLog is a log that is read slowly, and far from the tables unless it is near.
type slowLog struct {
	growingLog
	far atomic.Bool
}

func (l *slowLog) Near(context.Context, uint32, uint32) (bool, error) { return !l.far.Load(), nil }

func (l *slowLog) CaughtUp() bool { return len(l.Bundles()) == len(l.bundles) }

// newSlowLog is a world whose tables lack the last bundles, and a log that has none of
// these yet.
func newSlowLog(t *testing.T, missing int) (w *world, log *slowLog, inTables, inLog uint32) {
	t.Helper()
	rows := synthetic.NewRows(synthetic.RowOptions{Transactions: 300, Seed: 7, Whole: true})
	var bundles []*synthetic.Bundle
	for b := rows.Next(); b != nil; b = rows.Next() {
		bundles = append(bundles, b)
	}
	from := len(bundles) - missing
	w = newWorldWith(t, bundles[:from], synthetic.NewTokens(rows))
	log = &slowLog{growingLog: growingLog{heldLog: inMemory(t, bundles, synthetic.NewTokens(rows), from), changed: make(chan struct{}, 1)}}
	w.log = log
	return w, log, bundles[from-1].Seqno, bundles[len(bundles)-1].Seqno
}

// Who asked before the restart has seen the newest bundle.
func TestAReplicaThatRestartsWaitsAsLongAsItsLogGivesMore(t *testing.T) {
	t.Parallel()
	w, log, _, newest := newSlowLog(t, 4)
	go func() {
		for !log.CaughtUp() {
			log.grow()
			time.Sleep(2 * time.Second)
		}
	}()
	s := w.serve(t, nil) // which waits until something is visible
	if first := s.component.Watermark(); first != newest {
		t.Errorf("masterchain block %d is the first one that is visible, want %d", first, newest)
	}
}

func TestAReplicaWhoseTablesAreFarBehindTheLogIsNotReady(t *testing.T) {
	t.Parallel()
	w, log, inTables, newest := newSlowLog(t, 2)
	log.far.Store(true)
	s := w.serve(t, nil)
	s.await(inTables)
	if err := s.component.Ready(t.Context()); err == nil {
		t.Errorf("a replica that shows masterchain block %d of %d is ready", inTables, newest)
	}
	log.far.Store(false)
	for !log.CaughtUp() {
		log.grow()
	}
	s.await(newest)
	if err := s.component.Ready(t.Context()); err != nil {
		t.Errorf("ready: %v, want nil", err)
	}
}

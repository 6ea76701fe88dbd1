package query

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"tonscribe/bench/synthetic"
	"tonscribe/query/memory"
	"tonscribe/query/store"
	"tonscribe/schema/table"
)

// growingLog is a log that gets one bundle after the other.
type growingLog struct {
	heldLog
	mu      sync.Mutex
	visible int
	changed chan struct{}
}

func (l *growingLog) Bundles() memory.Bundles {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bundles[:l.visible]
}

func (l *growingLog) Changed() <-chan struct{} { return l.changed }

func (l *growingLog) grow() {
	l.mu.Lock()
	l.visible++
	l.mu.Unlock()
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

func TestASubscriptionGivesTheBundlesAfterAViewWithoutAGap(t *testing.T) {
	t.Parallel()
	rows := synthetic.NewRows(synthetic.RowOptions{Transactions: 900, Seed: 5, Whole: true})
	var bundles []*synthetic.Bundle
	for b := rows.Next(); b != nil; b = rows.Next() {
		bundles = append(bundles, b)
	}
	from, prev := len(bundles)/2, uint32(0)
	w := newWorldWith(t, bundles[:from], synthetic.NewTokens(rows))
	log := &growingLog{heldLog: inMemory(t, bundles, synthetic.NewTokens(rows), from-2), visible: 4, changed: make(chan struct{}, 1)}
	for _, b := range log.bundles { // two of which the tables have, too
		if b.PrevMCSeqno = prev; prev == 0 {
			b.PrevMCSeqno = bundles[from-3].Seqno
		}
		prev = b.MCSeqno
	}
	w.log = log
	s := w.serve(t, nil)
	s.await(bundles[from+1].Seqno)
	subscribers := map[string]*store.Subscription{
		"after the tables' newest bundle": s.component.store.Subscribe(bundles[from-1].Seqno),
		"after one of the tables":         s.component.store.Subscribe(bundles[from-2].Seqno),
	}
	if _, err := s.component.store.Subscribe(bundles[from-4].Seqno).Next(t.Context()); !errors.Is(err, store.ErrMissed) {
		t.Errorf("after a bundle that is long gone: %v, want %v", err, store.ErrMissed)
	}
	ended, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := s.component.store.Subscribe(bundles[len(bundles)-1].Seqno).Next(ended); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after a bundle that is not there yet: %v, want %v", err, context.DeadlineExceeded)
	}
	go func() {
		for range len(log.bundles) - 4 {
			log.grow()
			time.Sleep(time.Millisecond)
		}
	}()
	for name, subscription := range subscribers {
		next := from
		if name == "after one of the tables" {
			next--
		}
		for ; next < len(bundles); next++ {
			b, err := subscription.Next(t.Context())
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if b.MCSeqno != bundles[next].Seqno {
				t.Fatalf("%s: bundle %d comes, want %d", name, b.MCSeqno, bundles[next].Seqno)
			}
			if b.MCSeqno > s.component.Watermark() {
				t.Errorf("%s: bundle %d comes before requests see it", name, b.MCSeqno)
			}
			n := 0
			for range b.All(&table.Transactions.Table) {
				n++
			}
			if want := len(bundles[next].Transactions); n != want {
				t.Errorf("%s: bundle %d has %d transactions, want %d", name, b.MCSeqno, n, want)
			}
		}
	}
}

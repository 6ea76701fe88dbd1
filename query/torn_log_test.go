package query

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tonscribe/bench/synthetic"
	"tonscribe/query/memory"
)

// tornLog is a log that ends with an error when it is followed for the first time, and
// has all its bundles the next time.
type tornLog struct {
	heldLog
	starts atomic.Int32
	torn   atomic.Bool
}

var errTorn = errors.New("the log was torn")

func (l *tornLog) Start(uint32) {
	l.torn.Store(false)
	l.starts.Add(1)
}

func (l *tornLog) Err() error {
	if l.torn.Load() {
		return errTorn
	}
	return nil
}

func (l *tornLog) State() error { return l.Err() }

func (l *tornLog) Bundles() memory.Bundles {
	if l.starts.Load() == 1 {
		return l.bundles[:2]
	}
	return l.bundles
}

func TestALogThatWasTornIsFollowedAgainAndNobodySeesTimeGoBack(t *testing.T) {
	t.Parallel()
	rows := synthetic.NewRows(synthetic.RowOptions{Transactions: 400, Seed: 3, Whole: true})
	var bundles []*synthetic.Bundle
	for b := rows.Next(); b != nil; b = rows.Next() {
		bundles = append(bundles, b)
	}
	from := len(bundles) - 4
	w := newWorldWith(t, bundles[:from], synthetic.NewTokens(rows))
	log := &tornLog{heldLog: inMemory(t, bundles, synthetic.NewTokens(rows), from)}
	w.log = log
	s := w.serve(t, nil)
	s.await(bundles[from+1].Seqno)
	log.torn.Store(true)
	if err := s.component.Ready(t.Context()); !errors.Is(err, errTorn) {
		t.Errorf("ready: %v, want %v", err, errTorn)
	}
	seen := bundles[from+1].Seqno
	for seen < bundles[len(bundles)-1].Seqno {
		got := s.component.Watermark()
		if got < seen {
			t.Fatalf("bundle %d was visible, now %d is the newest", seen, got)
		}
		seen = got
		if a := s.ask("/api/v3/blocks?limit=1&workchain=-1&sort=desc"); a.Code != http.StatusOK || !strings.Contains(a.Body.String(), `"blocks"`) {
			t.Fatalf("blocks: %d %s", a.Code, a.Body)
		}
		time.Sleep(5 * time.Millisecond)
	}
	if n := log.starts.Load(); n != 2 {
		t.Errorf("followed %d times, want 2", n)
	}
	if err := s.component.Ready(t.Context()); err != nil {
		t.Errorf("ready: %v, want nil", err)
	}
}

package clickhouse

import (
	"context"
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// sheet is a table that can be changed.
type sheet struct {
	mutex  sync.Mutex
	rows   map[string]int
	mark   Mark
	broken error
	reads  atomic.Int32
	failed atomic.Int32
}

func (s *sheet) set(key string, value int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.rows[key] = value
	s.mark.Changed++
}

func (s *sheet) fail(err error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.broken = err
}

// follow follows a sheet until the test ends.
func follow(t *testing.T, s *sheet, every time.Duration) *Followed[string, int] {
	t.Helper()
	f := NewFollowed(FollowedOptions[string, int]{
		Mark: func(context.Context) (Mark, error) {
			s.mutex.Lock()
			defer s.mutex.Unlock()
			return s.mark, s.broken
		},
		Read: func(context.Context, map[string]int) (map[string]int, error) {
			s.mutex.Lock()
			defer s.mutex.Unlock()
			s.reads.Add(1)
			return maps.Clone(s.rows), nil
		},
		Every: every, Failed: func(error) { s.failed.Add(1) },
	})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { f.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return f
}

func TestAKeyThatAFollowedTableDoesNotHaveIsLookedForOnceMore(t *testing.T) {
	s := &sheet{rows: map[string]int{"old": 1}}
	f := follow(t, s, time.Hour)
	if got, err := f.Get(t.Context(), "old"); got != 1 || err != nil {
		t.Fatalf("before the first look: %d, %v; want 1", got, err)
	}
	s.set("new", 2)
	if got, err := f.Get(t.Context(), "new"); got != 2 || err != nil {
		t.Errorf("a row of a moment ago: %d, %v; want 2", got, err)
	}
	if _, err := f.Get(t.Context(), "none"); !errors.Is(err, ErrNoRow) {
		t.Errorf("a row that is not there: %v, want %v", err, ErrNoRow)
	}
	if n := s.reads.Load(); n != 2 {
		t.Errorf("the table was read %d times, want 2: it changed once", n)
	}
}

func TestAfterARefreshAFollowedTableHasWhatWasChangedBefore(t *testing.T) {
	s := &sheet{rows: map[string]int{"row": 1}}
	f := follow(t, s, time.Hour)
	for want := 2; want < 5; want++ {
		s.set("row", want)
		if err := f.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, err := f.Get(t.Context(), "row"); got != want || err != nil {
			t.Errorf("%d, %v; want %d", got, err, want)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	s.fail(errors.New("out of order"))
	if err := f.Refresh(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}

func TestAFollowedTableThatCannotBeReadKeepsWhatItHad(t *testing.T) {
	s := &sheet{rows: map[string]int{"old": 1}, broken: errors.New("out of order")}
	f := follow(t, s, 10*time.Millisecond)
	if _, err := f.Get(t.Context(), "old"); !errors.Is(err, ErrNotRead) || f.Known() {
		t.Errorf("before the first look: %v, known %t; want %v", err, f.Known(), ErrNotRead)
	}
	s.fail(nil)
	if got, err := f.Get(t.Context(), "old"); got != 1 || err != nil {
		t.Errorf("when it can be read: %d, %v; want 1", got, err)
	}
	s.fail(errors.New("out of order"))
	for before := s.failed.Load(); s.failed.Load() == before; {
		time.Sleep(time.Millisecond)
	}
	if got, err := f.Get(t.Context(), "old"); got != 1 || err != nil || !f.Known() {
		t.Errorf("when it cannot be read any more: %d, %v, known %t; want 1", got, err, f.Known())
	}
}

func TestMoreUnknownKeysThanMayWaitAreRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sheet{rows: map[string]int{}}
		f := follow(t, s, time.Hour)
		if _, err := f.Get(t.Context(), "none"); !errors.Is(err, ErrNoRow) {
			t.Fatal(err)
		}
		for range maxWaiting {
			f.waiting <- struct{}{}
		}
		began := time.Now()
		if _, err := f.Get(t.Context(), "none"); !errors.Is(err, ErrNoRow) {
			t.Errorf("%v, want %v", err, ErrNoRow)
		}
		if took := time.Since(began); took >= lookPause {
			t.Errorf("it took %s, as long as a look", took)
		}
	})
}

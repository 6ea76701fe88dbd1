package store

import (
	"context"
	"errors"
	"testing"
	"time"

	"tonscribe/internal/clickhouse"
	"tonscribe/query/head"
)

func TestWhoWaitsForTheRankingWaitsNoLongerThanItsRequest(t *testing.T) {
	s := &Store{ranking: ranking{turn: make(chan struct{}, 1)}}
	s.ranking.turn <- struct{}{} // somebody reads it
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := s.TopAccounts(ctx, &head.View{}, 0, 10, nil)
		ended <- err
	}()
	select {
	case err := <-ended:
		if !errors.Is(err, clickhouse.ErrBusy) {
			t.Errorf("got %v, want %v", err, clickhouse.ErrBusy)
		}
	case <-time.After(time.Minute):
		t.Error("it still waits a minute after its request ended")
	}
}

package api

import (
	"context"
	"fmt"
	"testing"
)

func TestWhatTheChainDoesNotTellIsNoFailureOfTheServer(t *testing.T) {
	for from, want := range map[error]*Error{ErrNoServers: errNotConfigured, ErrNoAnswer: errUnavailable, ErrNoIndex: errUnavailable} {
		if got, ours := failed(context.Background(), fmt.Errorf("jetton: %w", from)); got != want || ours {
			t.Errorf("%v is answered with %v, ours %t, want %v", from, got, ours, want)
		}
	}
}

package lifetime_test

import (
	"context"
	"errors"
	"testing"

	"tonscribe/internal/lifetime"
)

func TestStopEndsTheWorkAndWaitsForItsTasks(t *testing.T) {
	r := lifetime.NewRun()
	begun, ended := make(chan struct{}), false
	r.Start(func(ctx context.Context) error {
		r.Go(func() {
			<-ctx.Done()
			<-r.Done()
			ended = true
		})
		close(begun)
		<-ctx.Done()
		return nil
	})
	<-begun
	select {
	case <-r.Done():
		t.Fatal("done before it was stopped")
	default:
	}
	for range 2 {
		if err := r.Stop(t.Context()); err != nil || !ended || r.Err() != nil {
			t.Errorf("stop: %v, its task has ended: %t, error %v; want nil, true, nil", err, ended, r.Err())
		}
	}
}

func TestAFailureEndsTheWorkAndIsKept(t *testing.T) {
	r := lifetime.NewRun()
	failure, gate := errors.New("refused"), make(chan struct{})
	r.Start(func(context.Context) error {
		<-gate
		return failure
	})
	if err := r.Err(); err != nil {
		t.Errorf("before the end the error is %v, want nil", err)
	}
	close(gate)
	<-r.Done()
	if err := r.Err(); !errors.Is(err, failure) {
		t.Errorf("the error is %v, want %v", err, failure)
	}
	if err := r.Stop(t.Context()); !errors.Is(err, failure) {
		t.Errorf("stop gives %v, want %v", err, failure)
	}
}

func TestStopBeforeStartDoesNothing(t *testing.T) {
	if err := lifetime.NewRun().Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

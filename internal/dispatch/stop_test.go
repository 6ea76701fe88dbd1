package dispatch

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// standing is a store with one item, whose Poll goes on for a while after Run was
// told to end.
type standing struct {
	given   bool
	written int
}

func (s *standing) Read(context.Context, string, int) ([]*Item[string, int, bool], time.Time, error) {
	if s.given {
		return nil, time.Time{}, nil
	}
	s.given = true
	return []*Item[string, int, bool]{{Destination: "one", Key: 1}}, time.Time{}, nil
}

func (s *standing) Write(_ context.Context, tried []*Item[string, int, bool]) error {
	s.written += len(tried)
	return nil
}

func (s *standing) Poll(context.Context) error {
	if s.given {
		time.Sleep(time.Minute)
	}
	return nil
}

func TestATryThatIsBrokenOffIsNotWritten(t *testing.T) {
	for range 30 { // either outcome is as likely when it is left to chance
		synctest.Test(t, func(t *testing.T) {
			store := &standing{}
			ctx, end := context.WithCancel(t.Context())
			q := New(Options[string]{
				Limits:   func(string) Limits { return Limits{Parallel: 1, Ahead: 1} },
				Parallel: 1, Items: 1, Bytes: 1 << 10, WriteItems: 1, WriteBytes: 1 << 10, Poll: time.Second,
			}, store, func(ctx context.Context, i *Item[string, int, bool]) Result {
				<-ctx.Done()
				return Result{}
			})
			q.Wake("one", time.Now())
			time.AfterFunc(30*time.Second, end)
			if err := q.Run(ctx); err != nil {
				t.Fatal(err)
			}
			if store.written != 0 {
				t.Fatalf("%d tries were written, want 0: the only one was broken off", store.written)
			}
		})
	}
}

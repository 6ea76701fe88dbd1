package worker

import (
	"context"
	"sync"
)

// byteBudget counts the bytes in flight of a partition.
type byteBudget struct {
	limit int64
	mutex sync.Mutex
	used  int64
	freed chan struct{} // holds a token after bytes were given back
}

func newByteBudget(limit int64) *byteBudget {
	return &byteBudget{limit: limit, freed: make(chan struct{}, 1)}
}

func (b *byteBudget) take(n int64) (used int64) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.used += n
	return b.used
}

func (b *byteBudget) give(n int64) (used int64) {
	used = b.take(-n)
	select {
	case b.freed <- struct{}{}:
	default:
	}
	return used
}

// wait returns when less than the limit is in flight.
func (b *byteBudget) wait(ctx context.Context) error {
	for b.take(0) >= b.limit {
		select {
		case <-b.freed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

package worker

import (
	"context"
	"sync"
)

// room counts the bytes in flight of a partition.
type room struct {
	limit int64
	mutex sync.Mutex
	used  int64
	freed chan struct{} // holds a token after bytes were given back
}

func newRoom(limit int64) *room { return &room{limit: limit, freed: make(chan struct{}, 1)} }

func (r *room) take(n int64) (used int64) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.used += n
	return r.used
}

func (r *room) give(n int64) (used int64) {
	used = r.take(-n)
	select {
	case r.freed <- struct{}{}:
	default:
	}
	return used
}

// wait returns when less than the limit is in flight.
func (r *room) wait(ctx context.Context) error {
	for r.take(0) >= r.limit {
		select {
		case <-r.freed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

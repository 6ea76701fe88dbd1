package ingest

import (
	"context"
	"sync"
)

// budget bounds the bytes of blocks held by the bundles in flight. The bundle to
// be published next, and the two masterchain blocks after it, which confirm it,
// always get through; so a full budget empties by itself. Blocks are counted
// when they have been read, so the bound may be passed by as many blocks as are
// read at the same time.
type budget struct {
	limit int64

	mu    sync.Mutex
	used  int64
	held  map[uint32]map[blockID]int64
	head  uint32 // the bundle to be published next
	freed chan struct{}
}

func newBudget(limit int64, head uint32) *budget {
	return &budget{limit: limit, held: map[uint32]map[blockID]int64{}, head: head, freed: make(chan struct{})}
}

// wait returns once a block of a bundle may be read.
func (b *budget) wait(ctx context.Context, bundle uint32) error {
	for {
		b.mu.Lock()
		ok, freed := b.used < b.limit || bundle <= b.head+2, b.freed
		b.mu.Unlock()
		if ok {
			return ctx.Err()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-freed:
		}
	}
}

// add counts a block that was read. Reading it once more counts nothing.
func (b *budget) add(bundle uint32, at blockID, size int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	blocks := b.held[bundle]
	if blocks == nil {
		blocks = map[blockID]int64{}
		b.held[bundle] = blocks
	}
	b.used += int64(size) - blocks[at]
	blocks[at] = int64(size)
}

// release gives back what a bundle and all before it hold.
func (b *budget) release(bundle uint32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for seqno, blocks := range b.held {
		if seqno > bundle {
			continue
		}
		for _, size := range blocks {
			b.used -= size
		}
		delete(b.held, seqno)
	}
	b.head = bundle + 1
	close(b.freed)
	b.freed = make(chan struct{})
}

func (b *budget) bytes() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

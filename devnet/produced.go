package devnet

import (
	"sync"
	"time"

	"tonscribe/devnet/chain"
)

// Produced tells of a masterchain block that the lite server has from At on.
type Produced struct {
	Seqno        uint32
	GenUtime     uint32
	At           time.Time
	Took         time.Duration
	Blocks       int
	Transactions int
}

func producedOf(b *chain.Bundle, at time.Time, took time.Duration) Produced {
	p := Produced{Seqno: b.Master.ID.SeqNo, GenUtime: b.Master.GenUtime, At: at, Took: took,
		Blocks: 1 + len(b.Shards), Transactions: len(b.Master.Transactions)}
	for _, block := range b.Shards {
		p.Transactions += len(block.Transactions)
	}
	return p
}

// listeners are the subscribers to new blocks.
type listeners struct {
	mu  sync.Mutex
	all map[chan Produced]struct{}
}

// listenersRoom is how many blocks a slow listener may be behind before it
// misses some.
const listenersRoom = 256

func (l *listeners) add() (<-chan Produced, func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[chan Produced]struct{}{}
	}
	c := make(chan Produced, listenersRoom)
	l.all[c] = struct{}{}
	return c, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if _, ok := l.all[c]; ok {
			delete(l.all, c)
			close(c)
		}
	}
}

func (l *listeners) publish(p Produced) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.all {
		select {
		case c <- p:
		default: // it does not keep up
		}
	}
}

func (l *listeners) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.all {
		delete(l.all, c)
		close(c)
	}
}

package litetest

import (
	"context"
	"crypto/sha256"
	"sync"
)

func fileHash(boc []byte) []byte {
	sum := sha256.Sum256(boc)
	return sum[:]
}

// Fault changes what a server does: it gets the request and the honest answer's
// maker, and gives what is sent instead. nil is silence.
type Fault func(ctx context.Context, r Request, honest Handler) any

// Faulty passes requests on to an honest handler until it is given a fault.
type Faulty struct {
	honest Handler

	mu    sync.Mutex
	fault Fault
	meets func(query any) bool
	count int
	hit   chan struct{}
}

// NewFaulty is honest at first.
func NewFaulty(honest Handler) *Faulty { return &Faulty{honest: honest, hit: make(chan struct{}, 1)} }

// Break makes it misbehave; nil repairs it.
func (f *Faulty) Break(fault Fault) { f.BreakFor(func(any) bool { return true }, fault) }

// BreakFor makes it misbehave for some queries.
func (f *Faulty) BreakFor(meets func(query any) bool, fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fault, f.meets = fault, meets
}

// Count is how many requests met the fault.
func (f *Faulty) Count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count
}

// Hit gets a value when a request has met the fault.
func (f *Faulty) Hit() <-chan struct{} { return f.hit }

// Handle is a Handler.
func (f *Faulty) Handle(ctx context.Context, r Request) any {
	f.mu.Lock()
	fault := f.fault
	if fault != nil && !f.meets(r.Query) {
		fault = nil
	}
	if fault != nil {
		f.count++
	}
	f.mu.Unlock()
	if fault == nil {
		return f.honest(ctx, r)
	}
	select {
	case f.hit <- struct{}{}:
	default:
	}
	return fault(ctx, r, f.honest)
}

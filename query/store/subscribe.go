package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"tonscribe/query/head"
	"tonscribe/query/memory"
)

// ErrMissed says that the bundle that comes next is not in memory: it is in the tables,
// as are all up to the newest view's.
var ErrMissed = errors.New("the next bundle is not in memory")

// Subscription hands out the bundles of the chain one after the other, with the rows
// that each has in the tables, as requests come to see them. It is for one goroutine.
type Subscription struct {
	store *Store
	last  uint32
}

// Subscribe begins after a bundle: what a view shows up to its watermark, and what
// comes after that watermark here, is the chain without a gap.
func (s *Store) Subscribe(after uint32) *Subscription { return &Subscription{s, after} }

// Next waits for the next bundle and returns it, or what ended ctx. It returns ErrMissed
// when that bundle is visible and not in memory, because it is too long ago or because
// the log is not followed: who subscribes reads the tables then, and subscribes again
// after what was read.
func (b *Subscription) Next(ctx context.Context) (*memory.Bundle, error) {
	for {
		moved := *b.store.moved.Load()
		if next, err := b.next(); next != nil || err != nil {
			return next, err
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// next is the next bundle, nil when it is not visible yet.
func (b *Subscription) next() (*memory.Bundle, error) {
	v, err := b.store.View()
	if err != nil || v.Watermark <= b.last {
		return nil, nil //nolint:nilerr // nothing is visible yet
	}
	next := v.Held.After(b.last)
	if len(next) == 0 || next[0].PrevMCSeqno != b.last {
		return nil, fmt.Errorf("%w: it follows masterchain block %d", ErrMissed, b.last)
	}
	b.last = next[0].MCSeqno
	return next[0], nil
}

// SeqnosAfter returns the masterchain blocks that follow one as a view shows them, the
// first ones up to a limit, whether they are in memory or not.
func (s *Store) SeqnosAfter(ctx context.Context, v *head.View, after uint32, limit int) (seqnos []uint32, err error) {
	if after < v.Tables {
		blocks, err := head.ReadBlocks(ctx, s.reader, fmt.Sprintf(
			"SELECT record FROM blocks WHERE mc_seqno > %d AND mc_seqno <= %d AND workchain = -1 ORDER BY mc_seqno LIMIT %d", after, v.Tables, limit))
		if err != nil {
			return nil, err
		}
		for _, b := range blocks {
			seqnos = append(seqnos, b.McSeqno)
		}
	}
	for _, b := range v.Memory.After(after) {
		seqnos = append(seqnos, b.MCSeqno)
	}
	slices.Sort(seqnos)
	seqnos = slices.Compact(seqnos)
	return seqnos[:min(len(seqnos), limit)], nil
}

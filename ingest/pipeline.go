package ingest

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// job is one bundle on its way. When done is closed it has a bundle, or why it
// is skipped.
type job struct {
	seqno  uint32
	done   chan struct{}
	bundle *bundle
	gap    *problem
}

// pipeline settles masterchain blocks one after the other and gathers their
// bundles at the same time, a window ahead of the publisher.
type pipeline struct {
	configuration Configuration
	chain         *chain
	leaveOut      func(seqno uint32) bool // nil: none
	waits         *waiting
	tasks         *sync.WaitGroup
	metrics       *metrics
	jobs          chan *job
}

// run sends jobs in masterchain order and closes the channel after the last one.
func (p *pipeline) run(ctx context.Context, from start) error {
	defer close(p.jobs)
	before := from.before
	for seqno := from.next; p.configuration.To == 0 || seqno <= p.configuration.To; seqno++ {
		j := &job{seqno: seqno, done: make(chan struct{})}
		left := p.leaves(seqno)
		var master *block
		why := &problem{left: true}
		// Of what is left out only the bundle after it needs the masterchain block.
		if left && p.leaves(seqno+1) {
			p.chain.skip(seqno)
		} else {
			var err error
			if master, why, err = p.chain.advance(ctx, seqno, left || seqno <= from.sealed); err != nil {
				return err
			}
		}
		switch {
		case master == nil:
			j.gap = why
		case left:
			j.gap = &problem{left: true}
		case before == nil:
			j.gap = &problem{text: fmt.Sprintf("masterchain block %d was skipped, so it is unknown which shard blocks are new in %d", seqno-1, seqno)}
		default:
			a := &assembly{chain: p.chain, seqno: seqno, master: master, before: before, found: map[blockKey]*block{}}
			p.tasks.Go(func() { p.work(ctx, a, j, seqno <= from.sealed) })
		}
		if j.gap != nil {
			close(j.done)
		}
		if before = nil; master != nil {
			before = tipsOf(master.Shards)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case p.jobs <- j:
		}
	}
	return nil
}

func (p *pipeline) leaves(seqno uint32) bool { return p.leaveOut != nil && p.leaveOut(seqno) }

// work gathers a bundle until it is complete or to be skipped. It leaves the
// job open when the context ends.
func (p *pipeline) work(ctx context.Context, a *assembly, j *job, mayNotSkip bool) {
	var pause backoff
	for {
		result, err := a.gather(ctx)
		if err == nil {
			j.bundle = result
			close(j.done)
			return
		}
		if ctx.Err() != nil {
			return
		}
		var refusal *Refusal
		why := &problem{text: err.Error()}
		if errors.As(err, &refusal) {
			why = problemOf(refusal)
		}
		if !mayNotSkip && p.waits.skips(a.seqno, why, &pause) {
			j.gap = why
			close(j.done)
			return
		}
		if p.waits.retry(ctx, a.seqno, why, &pause) != nil {
			return
		}
	}
}

package lite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/xssnick/tonutils-go/ton"
)

// claim is a server's word for its newest block.
type claim struct {
	server *server
	id     *ton.BlockIDExt
}

// claims lists the blocks beyond the head that servers have named, the newest
// first, of equal ones that of the fastest server.
func (p *Pool) claims() []claim {
	head := p.chain.seqno()
	var list []claim
	for _, s := range p.best() {
		s.mu.Lock()
		if s.claim != nil && s.claim.SeqNo > head {
			list = append(list, claim{s, s.claim})
		}
		s.mu.Unlock()
	}
	slices.SortStableFunc(list, func(a, b claim) int { return cmp.Compare(b.id.SeqNo, a.id.SeqNo) })
	return list
}

// follow proves the newest block that servers name, again and again.
func (p *Pool) follow(ctx context.Context) {
	for ctx.Err() == nil {
		changed := p.chain.changes()
		list := p.claims()
		retry := time.Hour
		if len(list) == 0 && len(p.best()) > 0 {
			p.chain.stuck("")
		}
		if len(list) > 0 {
			if err := p.advance(ctx, list); err == nil {
				continue
			} else if ctx.Err() == nil {
				p.chain.stuck(err.Error())
				p.report.Log.Debug().Err(err).Msg("masterchain head cannot be proven")
				retry = 250 * time.Millisecond
				changed = nil // not before the pause: one server may be stirring all the time
			}
		}
		timer := time.NewTimer(retry)
		select {
		case <-ctx.Done():
		case <-changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// advance moves the head to one of the claimed blocks.
func (p *Pool) advance(ctx context.Context, list []claim) error {
	if p.configuration.Proofs == Off {
		return p.believe(list)
	}
	ctx, cancel := context.WithCancel(ctx)
	results := make(chan error, len(list))
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel()
	next, running := 0, 0
	launch := func() time.Duration {
		c := list[next]
		next++
		running++
		group.Go(func() { results <- p.proveClaim(ctx, c) })
		return p.configuration.hedge(c.server)
	}
	timer := time.NewTimer(launch())
	defer timer.Stop()
	var failures []error
	for running > 0 {
		select {
		case <-timer.C:
		case err := <-results:
			running--
			if err == nil {
				return nil
			}
			failures = append(failures, err)
		}
		if next < len(list) {
			timer.Reset(launch())
		}
	}
	return errors.Join(failures...)
}

// moved takes note of a proven head.
func (p *Pool) moved(head *ton.BlockIDExt) {
	p.known.add(head)
	if p.chain.advance(head) {
		p.metrics.head.Set(float64(head.SeqNo))
	}
}

// believe takes the newest block that at least half of the connected servers
// have reached, by the word of most of those that name it.
func (p *Pool) believe(list []claim) error {
	voters := count(p.best(), func(s *server) bool { return s.claim != nil })
	for _, c := range list {
		reached, rivals := 0, 0
		for _, other := range list {
			switch {
			case other.id.Equals(c.id), other.id.SeqNo > c.id.SeqNo:
				reached++
			case other.id.SeqNo == c.id.SeqNo:
				rivals++
			}
		}
		if 2*reached >= voters && reached > rivals {
			p.moved(c.id)
			return nil
		}
	}
	return fmt.Errorf("%d lite servers name different newest blocks, none of which half of them have", voters)
}

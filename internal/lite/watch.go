package lite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/internal/lifetime"
)

// watch follows the masterchain of one server while it is connected.
func (p *Pool) watch(ctx context.Context, s *server) {
	next := uint32(0)
	for ctx.Err() == nil {
		if pause := s.coolsFor(); pause > 0 {
			next = 0
			if lifetime.Sleep(ctx, pause) != nil {
				return
			}
		}
		info, err := p.lastBlock(ctx, s, next)
		if err != nil {
			next = 0 // what it said before may be true no more
			if errors.Is(err, errNoNewBlock) {
				continue
			}
			if lifetime.Sleep(ctx, p.configuration.ReconnectMin) != nil {
				return
			}
			continue
		}
		again := next != 0 && info.SeqNo < next
		next = info.SeqNo + 1
		p.claimed(s, info)
		if again && lifetime.Sleep(ctx, 250*time.Millisecond) != nil { // it did not wait
			return
		}
	}
}

// coolsFor is how long a server is still left out or left alone.
func (s *server) coolsFor() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(time.Until(s.cooling), time.Until(s.busy))
}

// lastBlock asks a server for its newest masterchain block, once it has the one
// with a seqno.
func (p *Pool) lastBlock(ctx context.Context, s *server, wait uint32) (*ton.BlockIDExt, error) {
	limit := p.configuration.AttemptTimeout
	if wait != 0 {
		limit += p.configuration.WaitHead
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s.mu.Lock()
	s.waiting = cancel
	s.mu.Unlock()
	if err := s.rate.wait(ctx); err != nil {
		return nil, err
	}
	request, err := serialize(ton.GetMasterchainInf{}, wait, p.configuration.WaitHead)
	if err != nil {
		return nil, err
	}
	answer, err := s.ask(ctx, request, wait != 0, p)
	if err != nil {
		return nil, err
	}
	info, ok := answer.(ton.MasterchainInfo)
	if !ok || !complete(info.Last) || !isMaster(info.Last) {
		err := fmt.Errorf("getMasterchainInfo: answered with %T", answer)
		p.strike(s, err)
		return nil, err
	}
	if err := p.sameNetwork(info.Init); err != nil {
		p.strike(s, err)
		return nil, err
	}
	return info.Last, nil
}

func (p *Pool) sameNetwork(zero *ton.ZeroStateIDExt) error {
	if zero != nil && !p.configuration.isOf(zero.RootHash) {
		return fmt.Errorf("it serves another network: its zerostate is %X, not %s", zero.RootHash, p.configuration.Zerostate)
	}
	want := p.network.Zerostate
	if want == nil || zero == nil {
		return nil
	}
	if string(zero.RootHash) != string(want.RootHash) || string(zero.FileHash) != string(want.FileHash) {
		return fmt.Errorf("it serves another network: its zerostate is %X, not %X", zero.RootHash, want.RootHash)
	}
	return nil
}

// claimed notes what a server says is its newest block.
func (p *Pool) claimed(s *server, last *ton.BlockIDExt) {
	s.mu.Lock()
	if time.Now().Before(s.cooling) {
		s.mu.Unlock()
		return
	}
	if s.claim == nil || !s.claim.Equals(last) {
		s.claim, s.unproven = last, 0
	}
	s.mu.Unlock()
	head, _ := p.chain.get()
	if head != nil && p.configuration.Proofs == Secure && last.SeqNo == head.SeqNo && !last.Equals(head) {
		p.strike(s, lie("it says that masterchain block %d is %X, proven is %X", head.SeqNo, last.RootHash, head.RootHash))
		return
	}
	if head == nil || last.SeqNo > head.SeqNo {
		p.chain.stir()
	}
}

var errNoNewBlock = errors.New("no new masterchain block")

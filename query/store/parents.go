package store

import (
	"context"
	"fmt"
	"sync"

	"tonscribe/schema/record"
)

// parents holds contracts that the answers about many others name: jetton masters
// and NFT collections, as they were asked for, until a bundle changes them.
type parents struct {
	mutex sync.Mutex
	held  map[spot]*record.Contract
	bytes int
	upTo  uint32 // the bundle
}

// mostParentBytes bounds what is held: contents that lie on the chain may be
// long.
const mostParentBytes = 32 << 20

// learn forgets what bundles up to the view have changed.
func (p *parents) learn(ctx context.Context, s *Store, v *View) error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.upTo >= v.Watermark {
		return nil
	}
	if len(p.held) > 0 {
		changed, err := s.pointers(ctx, fmt.Sprintf("SELECT workchain, account_prefix FROM contracts WHERE mc_seqno > %d", p.upTo), nil)
		if err != nil {
			return err
		}
		for i := range changed {
			if c := p.held[changed[i].account]; c != nil {
				p.bytes -= c.SizeVT()
				delete(p.held, changed[i].account)
			}
		}
	}
	p.upTo = v.Watermark
	return nil
}

// among gives those of the accounts that are held, the others, and the bundle up
// to which that is right.
func (p *parents) among(list []Address) (found map[Address]*record.Contract, missing []Address, upTo uint32) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	found = make(map[Address]*record.Contract, len(list))
	for _, a := range list {
		if c := p.held[spotOf(a[:])]; c != nil && Address(c.Account) == a {
			found[a] = c
		} else {
			missing = append(missing, a)
		}
	}
	return found, missing, p.upTo
}

// keep holds what is a parent, unless more has become visible since it was read.
func (p *parents) keep(read map[Address]*record.Contract, upTo uint32) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.upTo != upTo {
		return
	}
	for a, c := range read {
		at := spotOf(a[:])
		if c.JettonMaster == nil && c.NftCollection == nil || p.held[at] != nil {
			continue
		}
		size := c.SizeVT()
		if p.held == nil || p.bytes+size > mostParentBytes {
			p.held, p.bytes = map[spot]*record.Contract{}, 0
		}
		p.held[at], p.bytes = c, p.bytes+size
	}
}

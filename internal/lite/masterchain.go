package lite

import (
	"context"
	"fmt"
	"sync"

	"github.com/xssnick/tonutils-go/ton"
)

// masterchain is what is proven of it.
type masterchain struct {
	mu      sync.Mutex
	trusted *ton.BlockIDExt // newest proven key block, or the one that trust starts from
	head    *ton.BlockIDExt // newest proven block, nil before the first
	problem string          // why the head does not move
	changed chan struct{}
}

func newMasterchain(trusted *ton.BlockIDExt) *masterchain {
	return &masterchain{trusted: trusted, changed: make(chan struct{})}
}

// changes is closed when something has changed: the head, or a server.
func (m *masterchain) changes() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changed
}

func (m *masterchain) stir() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stirLocked()
}

func (m *masterchain) stirLocked() {
	close(m.changed)
	m.changed = make(chan struct{})
}

func (m *masterchain) get() (head, trusted *ton.BlockIDExt) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.head, m.trusted
}

func (m *masterchain) seqno() uint32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.head == nil {
		return 0
	}
	return m.head.SeqNo
}

// advance moves the head forward.
func (m *masterchain) advance(head *ton.BlockIDExt) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.head != nil && head.SeqNo <= m.head.SeqNo {
		return false
	}
	m.head, m.problem = head, ""
	m.stirLocked()
	return true
}

// trust moves the trusted key block forward.
func (m *masterchain) trust(key *ton.BlockIDExt) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.trusted != nil && key.SeqNo <= m.trusted.SeqNo {
		return false
	}
	m.trusted = key
	return true
}

// stuck notes why the head does not move; "" when there is nothing to be proven.
func (m *masterchain) stuck(why string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.problem = why
}

// Head is the newest masterchain block that is proven. It waits for the first
// one.
func (p *Pool) Head(ctx context.Context) (*ton.BlockIDExt, error) { return p.WaitHead(ctx, 0) }

// WaitHead waits until a masterchain block with this seqno or a later one is
// proven, and gives the newest. When ctx ends before, the error says why.
func (p *Pool) WaitHead(ctx context.Context, seqno uint32) (*ton.BlockIDExt, error) {
	for {
		changed := p.chain.changes()
		head, _ := p.chain.get()
		if head != nil && head.SeqNo >= seqno {
			return head, nil
		}
		select {
		case <-changed:
		case <-p.ctx.Done():
			return nil, errStopped
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", p.noHead(seqno), ctx.Err())
		}
	}
}

// Problem says why no newer masterchain block can be learnt: no server can be
// reached, or none proves the block that it names. It is nil while the network
// itself may have nothing new.
func (p *Pool) Problem() error {
	p.chain.mu.Lock()
	head, problem := p.chain.head, p.chain.problem
	p.chain.mu.Unlock()
	if problem != "" || head == nil || p.connections() == 0 {
		seqno := uint32(1)
		if head != nil {
			seqno = head.SeqNo + 1
		}
		return p.noHead(seqno)
	}
	return nil
}

// Reached reports whether any server can be reached.
func (p *Pool) Reached() bool { return p.connections() > 0 }

// noHead says why the head has not come to a seqno.
func (p *Pool) noHead(seqno uint32) error {
	p.chain.mu.Lock()
	head, problem := p.chain.head, p.chain.problem
	p.chain.mu.Unlock()
	switch {
	case problem != "":
		return fmt.Errorf("%w for masterchain block %d: %s", ErrUnavailable, seqno, problem)
	case p.connections() == 0 || head == nil:
		return (&race{pool: p}).gaveUp(context.Background())
	}
	return fmt.Errorf("%w for masterchain block %d: the lite servers end at %d", ErrUnavailable, seqno, head.SeqNo)
}

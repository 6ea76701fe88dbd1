package lite

import (
	"context"
	"fmt"
	"sync"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"golang.org/x/sync/errgroup"
)

const (
	// runLength is how many masterchain blocks are proven by one proof: the last
	// one by it, the others by the references back from it.
	runLength = 32
	// keptIDs is how many proven ids are kept.
	keptIDs = 16384
	// lookupsAtOnce is how many blocks of a run are looked up at the same time.
	lookupsAtOnce = 8
)

// knownIDs are the ids of proven masterchain blocks.
type knownIDs struct {
	mu   sync.Mutex
	ids  map[uint32]*ton.BlockIDExt
	runs map[uint32]*sync.Mutex // one for every run that is being proven
	used map[uint32]int
}

func newKnownIDs() *knownIDs {
	return &knownIDs{ids: map[uint32]*ton.BlockIDExt{}, runs: map[uint32]*sync.Mutex{}, used: map[uint32]int{}}
}

func (k *knownIDs) add(id *ton.BlockIDExt) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.ids) >= keptIDs {
		clear(k.ids)
	}
	k.ids[id.SeqNo] = id
}

func (k *knownIDs) get(seqno uint32) *ton.BlockIDExt {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.ids[seqno]
}

func (k *knownIDs) has(id *ton.BlockIDExt) bool {
	known := k.get(id.SeqNo)
	return known != nil && known.Equals(id)
}

// anchor gives the proven block of a run with the lowest seqno from this one on.
func (k *knownIDs) anchor(seqno, end uint32) *ton.BlockIDExt {
	k.mu.Lock()
	defer k.mu.Unlock()
	for n := seqno; n <= end; n++ {
		if id := k.ids[n]; id != nil {
			return id
		}
	}
	return nil
}

// lock lets one goroutine at a time prove a run.
func (k *knownIDs) lock(run uint32) (unlock func()) {
	k.mu.Lock()
	m := k.runs[run]
	if m == nil {
		m = &sync.Mutex{}
		k.runs[run] = m
	}
	k.used[run]++
	k.mu.Unlock()
	m.Lock()
	return func() {
		m.Unlock()
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.used[run]--; k.used[run] == 0 {
			delete(k.used, run)
			delete(k.runs, run)
		}
	}
}

// Master gives the complete id of the masterchain block with a seqno: a block of
// the chain that ends with the proven head. Neighbours are learnt with it.
func (p *Pool) Master(ctx context.Context, seqno uint32) (*ton.BlockIDExt, error) {
	if id := p.known.get(seqno); id != nil {
		return id, nil
	}
	if seqno == 0 {
		if p.network.Zerostate == nil {
			return nil, fmt.Errorf("TON global config %s names no zerostate", p.network.source)
		}
		return p.network.Zerostate, nil
	}
	head, err := p.WaitHead(ctx, seqno)
	if err != nil {
		return nil, err
	}
	if head.SeqNo == seqno {
		return head, nil
	}
	run := seqno / runLength
	defer p.known.lock(run)()
	if id := p.known.get(seqno); id != nil {
		return id, nil
	}
	end := min(run*runLength+runLength-1, head.SeqNo)
	anchor := p.known.anchor(seqno, end)
	if anchor == nil && end == head.SeqNo {
		anchor = head
	}
	if anchor == nil {
		if anchor, _, err = p.lookup(ctx, Lookup{Workchain: masterWorkchain, Shard: masterShard, Seqno: end}, true); err != nil {
			return nil, err
		}
		p.known.add(anchor)
	}
	return p.descend(ctx, anchor, seqno)
}

// descend learns the ids from a proven block back to the wanted one, each from
// the block after it. All are looked up at once; what servers say is checked in
// a row afterwards.
func (p *Pool) descend(ctx context.Context, anchor *ton.BlockIDExt, seqno uint32) (*ton.BlockIDExt, error) {
	heard := make([]struct{ id, prev *ton.BlockIDExt }, anchor.SeqNo-seqno+1) // the parent of the wanted block is of no interest
	group, asking := errgroup.WithContext(ctx)
	group.SetLimit(lookupsAtOnce)
	for i := 1; i < len(heard); i++ {
		group.Go(func() error {
			l := Lookup{Workchain: masterWorkchain, Shard: masterShard, Seqno: seqno + uint32(i)}
			id, header, err := p.lookup(asking, l, false)
			if err == nil {
				heard[i].id, heard[i].prev = id, onlyParent(header)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	at := anchor
	for i := len(heard) - 1; i > 0; i-- {
		prev := heard[i].prev // nil: the block itself tells
		if prev == nil || !heard[i].id.Equals(at) {
			var err error
			if prev, err = p.parent(ctx, at); err != nil {
				return nil, err
			}
		}
		at = prev
		p.known.add(at)
	}
	return at, nil
}

// onlyParent is the block that a masterchain block follows by its header, nil when
// that does not say.
func onlyParent(header *tlb.BlockHeader) *ton.BlockIDExt {
	if parents, err := ton.GetParentBlocks(header); err == nil && len(parents) == 1 {
		return parents[0]
	}
	return nil
}

// parent reads which block a proven masterchain block follows.
func (p *Pool) parent(ctx context.Context, id *ton.BlockIDExt) (*ton.BlockIDExt, error) {
	if header, err := p.Header(ctx, id); err == nil {
		if prev := onlyParent(header); prev != nil {
			return prev, nil
		}
	}
	_, root, err := p.Block(ctx, id)
	if err != nil {
		return nil, err
	}
	var prev *ton.BlockIDExt
	err = guarded(func() error {
		block, err := parseBlock(root)
		if err != nil {
			return err
		}
		parents, err := ton.GetParentBlocks(&block.BlockInfo)
		if err != nil {
			return err
		}
		prev = parents[0]
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("block %s: %w", Format(id), err)
	}
	return prev, nil
}

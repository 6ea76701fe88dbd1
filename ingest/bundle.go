package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"tonscribe/decode"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// tips are the newest blocks of all shards after a masterchain block. A block
// belongs to bundle N exactly if it is an ancestor of a tip of N, or one of
// them, and neither an ancestor of a tip of N-1 nor one of those.
type tips struct {
	list []*record.BlockId   // by (workchain, shard)
	ends map[blockKey]uint64 // logical times at which they end, 0: unknown
}

// tipsOf reads ShardHashes of a masterchain block.
func tipsOf(shards []decode.ShardDescr) *tips {
	t := &tips{ends: make(map[blockKey]uint64, len(shards))}
	for _, s := range shards {
		t.list = append(t.list, s.ID)
		t.ends[keyOf(s.ID)] = s.EndLT
	}
	slices.SortFunc(t.list, compareIDs)
	return t
}

// tipsFromSeal are tips without logical times.
func tipsFromSeal(shards []*record.BlockId) *tips {
	t := &tips{list: shards, ends: make(map[blockKey]uint64, len(shards))}
	for _, id := range shards {
		t.ends[keyOf(id)] = 0
	}
	return t
}

// behind gives a tip that a block should have among its ancestors but cannot,
// because its own seqno is no higher.
func (t *tips) behind(id *record.BlockId) *record.BlockId {
	for _, tip := range t.list {
		if tip.Workchain == id.Workchain && schema.ShardsMeet(tip.Shard, id.Shard) && id.Seqno <= tip.Seqno {
			return tip
		}
	}
	return nil
}

// bundle is a masterchain block with all shard blocks that it commits for the
// first time, complete and verified.
type bundle struct {
	seqno  uint32
	master *block
	blocks []*block // by (workchain, shard, seqno), the masterchain block last
	tips   *tips
	bytes  int64
}

// missing are blocks that the source does not have.
type missing []wanted

// maxNamed is how many missing blocks are named.
const maxNamed = 32

func (m missing) Error() string {
	if len(m) == 1 {
		return fmt.Sprintf("block %s is missing; %s names it", FormatID(m[0].id), m[0].by)
	}
	var names []string
	for _, w := range m[:min(len(m), maxNamed)] {
		names = append(names, fmt.Sprintf("%s (%s names it)", FormatID(w.id), w.by))
	}
	text := fmt.Sprintf("%d blocks are missing: %s", len(m), strings.Join(names, ", "))
	if len(m) > maxNamed {
		text += ", and more"
	}
	return text
}

// assembly gathers one bundle: it walks from the tips of the masterchain block
// back to the tips before it, over splits and merges.
type assembly struct {
	chain  *chain
	seqno  uint32
	master *block
	before *tips

	mu    sync.Mutex
	found map[blockKey]*block
}

// wanted is a block to be fetched, and who names it.
type wanted struct {
	id *record.BlockId
	by string
}

// gather reads what is missing. What it has found it keeps for the next try.
func (a *assembly) gather(ctx context.Context) (*bundle, error) {
	after := tipsOf(a.master.Shards)
	blocks, err := a.walk(ctx, after)
	if err != nil {
		return nil, err
	}
	for _, b := range blocks {
		if refusal := a.check(b); refusal != nil {
			a.chain.refused(refusal)
			return nil, refusal
		}
	}
	blocks = append(blocks, a.master)
	slices.SortFunc(blocks, func(x, y *block) int { return compareIDs(x.ID, y.ID) })
	result := &bundle{seqno: a.seqno, master: a.master, blocks: blocks, tips: after}
	for _, b := range blocks {
		result.bytes += int64(len(b.boc))
	}
	return result, nil
}

// walk reads the tips, then all their parents, and so on back to the tips
// before. Past a missing block it goes on elsewhere, to name all of them.
func (a *assembly) walk(ctx context.Context, after *tips) ([]*block, error) {
	var blocks []*block
	var lacks missing
	seen := map[blockKey]bool{}
	wave, err := a.unseen(nil, seen, after.list, fmt.Sprintf("masterchain block %d", a.seqno))
	for len(wave) > 0 && err == nil {
		fetched, absent, err := a.fetch(ctx, wave)
		if err != nil {
			return nil, err
		}
		lacks = append(lacks, absent...)
		blocks = append(blocks, fetched...)
		wave = nil
		for _, b := range fetched {
			if wave, err = a.unseen(wave, seen, b.Prev, "block "+blockIDOf(b.ID).String()); err != nil {
				return nil, err
			}
		}
	}
	if err == nil && len(lacks) > 0 {
		return nil, lacks
	}
	return blocks, err
}

// unseen appends to a wave the blocks that belong to the bundle and were not
// met before. A zerostate (seqno 0) is no block.
func (a *assembly) unseen(wave []wanted, seen map[blockKey]bool, ids []*record.BlockId, by string) ([]wanted, error) {
	for _, id := range ids {
		key := keyOf(id)
		if _, old := a.before.ends[key]; old || seen[key] || id.Seqno == 0 {
			continue
		}
		seen[key] = true
		if tip := a.before.behind(id); tip != nil {
			refusal := refuser(FormatID(id), by)(ReasonParent, "it does not follow %s, which is committed already", FormatID(tip))
			a.chain.refused(refusal)
			return nil, refusal
		}
		wave = append(wave, wanted{id, by})
	}
	return wave, nil
}

// fetch reads blocks at the same time, and tells which of them the source does
// not have.
func (a *assembly) fetch(ctx context.Context, wave []wanted) (found []*block, absent missing, err error) {
	blocks := make([]*block, len(wave))
	errs := make([]error, len(wave))
	var group sync.WaitGroup
	for i, w := range wave {
		group.Go(func() { blocks[i], errs[i] = a.one(ctx, w) })
	}
	group.Wait()
	for i, err := range errs {
		switch {
		case errors.Is(err, ErrNotFound):
			absent = append(absent, wave[i])
		case err != nil:
			return nil, nil, err
		default:
			found = append(found, blocks[i])
		}
	}
	return found, absent, nil
}

func (a *assembly) one(ctx context.Context, w wanted) (*block, error) {
	key := keyOf(w.id)
	a.mu.Lock()
	b := a.found[key]
	a.mu.Unlock()
	if b != nil {
		return b, nil
	}
	b, err := a.chain.shard(ctx, w.id, a.seqno)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.found[key] = b
	return b, nil
}

// check tests the links of a shard block of the bundle.
func (a *assembly) check(b *block) *Refusal {
	if b.GlobalID != a.master.GlobalID {
		return b.refuse(ReasonNetwork, "its global_id is %d, that of the masterchain %d", b.GlobalID, a.master.GlobalID)
	}
	if refusal := a.checkMasterRef(b); refusal != nil {
		return refusal
	}
	for _, prev := range b.Prev {
		key := keyOf(prev)
		end := a.before.ends[key]
		if parent := a.found[key]; parent != nil {
			end = parent.EndLT
			if parent.BeforeSplit != b.AfterSplit {
				return b.refuse(ReasonParent, "after_split is %t, but before_split of its parent %t", b.AfterSplit, parent.BeforeSplit)
			}
		}
		if b.StartLT <= end {
			return b.refuse(ReasonTime, "it starts at lt %d, its parent %s ends at %d", b.StartLT, blockIDOf(prev), end)
		}
	}
	return nil
}

// checkMasterRef tests the masterchain block that a shard block was made after.
func (a *assembly) checkMasterRef(b *block) *Refusal {
	switch {
	case b.MasterRef == nil:
		return b.refuse(ReasonMasterRef, "it names no masterchain block")
	case b.MasterRef.Seqno >= a.seqno:
		return b.refuse(ReasonMasterRef, "it was made after masterchain block %d, which is not before %d", b.MasterRef.Seqno, a.seqno)
	}
	known := a.chain.masterAt(b.MasterRef.Seqno)
	if known != nil && !sameID(known, b.MasterRef) {
		return b.refuse(ReasonMasterRef, "it was made after %s, but the chain has %s", FormatID(b.MasterRef), FormatID(known))
	}
	return nil
}

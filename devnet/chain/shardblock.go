package chain

import (
	"math/big"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

// shardTask is a shard block to be made: where it stands and what it is made
// after.
type shardTask struct {
	shard  shardID
	prev   []*shardHead // the shard's, the parent's, or the two that merge
	descrs []*shardDescr
	split  bool // after_split
	merge  bool // after_merge
	last   bool // the last one for this masterchain block
}

// shardHead is the newest block of a shard, with its state parsed.
type shardHead struct {
	block *Block
	state *state
	// What the masterchain block has to know of the shard's blocks since the
	// one before: fees_collected and created of them all.
	collected, created *big.Int
	blocks             []*Block
	header             header
}

// collateShard makes the next block of a shard.
func (c *Chain) collateShard(t shardTask, now uint32, externals []*external, taken map[*external]bool) (*shardHead, []Refused, error) {
	k, err := c.beginShard(t, now)
	if err != nil {
		return nil, nil, err
	}
	k.taken = taken
	for _, step := range []func() error{
		k.dequeue,
		k.importInternal,
		func() error { return k.importExternals(externals) },
		func() error { return k.processFresh(!k.drained) },
	} {
		if err := step(); err != nil {
			return nil, nil, err
		}
	}
	flow := &valueFlow{
		feesImported: new(big.Int), recovered: new(big.Int), minted: new(big.Int),
		created: new(big.Int).Rsh(k.settings.baseCreated, t.shard.depth()),
	}
	x, err := k.apply(flow)
	if err != nil {
		return nil, nil, err
	}
	k.processedNow(c.master.state.genLT)
	k.state.minRef = min(k.refSeqno, k.state.processed.oldest())
	h := c.shardHeader(t, k)
	block, err := k.finish(h, x, flow, nil)
	if err != nil {
		return nil, nil, err
	}
	return &shardHead{
		block: block, state: k.state, collected: flow.collected, created: flow.created,
		blocks: []*Block{block}, header: h,
	}, k.refused, nil
}

// processedNow notes up to where the neighbours' messages are taken. When
// nothing was taken because nothing is there, that is the end of the
// masterchain block the neighbours were seen at.
func (c *collation) processedNow(masterLT uint64) {
	e := processed{shard: c.shard.shard, seqno: c.refSeqno, lt: c.last.lt, hash: c.last.hash}
	if c.last.lt == 0 {
		if !c.drained || masterLT == 0 {
			return
		}
		e.lt, e.hash = masterLT-1, lastHash
	}
	c.state.processed = c.state.processed.add(e)
}

func (c *Chain) beginShard(t shardTask, now uint32) (*collation, error) {
	k := &collation{
		chain: c, shard: t.shard, settings: c.settings, refSeqno: c.master.block.ID.SeqNo,
		accounts: map[[32]byte]*blockAccount{}, queue: map[[queueKeyBits / 8]byte]*cell.Builder{},
	}
	k.now = max(now, c.master.state.genUtime)
	start := c.master.state.genLT
	for _, p := range t.prev {
		k.prev = append(k.prev, p.block)
		k.seqno = max(k.seqno, p.block.ID.SeqNo+1)
		k.now = max(k.now, p.state.genUtime)
		start = max(start, p.state.genLT)
	}
	k.startAfter(start)
	k.state, k.oldRoot = t.stateBefore()
	k.fromPrev = k.state.accountsBalance()
	k.neighbours = c.neighboursOf(t, k.state)
	k.endLT = c.ends.of
	if t.split || t.merge { // the histories of load begin anew
		k.state.overload, k.state.underload = 0, 0
	}
	return k, k.begin()
}

// stateBefore is the state a block starts from, and the root of what came
// before as the state update has it: the parent's whole state after a split,
// both states after a merge.
func (t shardTask) stateBefore() (*state, *cell.Cell) {
	switch {
	case t.split:
		return t.prev[0].state.half(t.shard), t.prev[0].state.root
	case t.merge:
		left, right := t.prev[0].state, t.prev[1].state
		root := cell.BeginCell().MustStoreUInt(tagSplitState, 32).MustStoreRef(left.root).MustStoreRef(right.root).EndCell()
		return merged(left, right), root
	}
	st := *t.prev[0].state
	return &st, st.root
}

// neighboursOf are all shards as the newest masterchain block shows them; the
// shard's own queue is the newest one. A shard that has just been split off
// sees the other half as a neighbour.
func (c *Chain) neighboursOf(t shardTask, own *state) []*neighbour {
	list := []*neighbour{own.neighbour(true), c.master.state.neighbour(false)}
	for _, h := range c.shards {
		s := shardOf(h.block)
		switch {
		case t.split && s == t.shard.parent():
			list = append(list, h.state.half(t.shard.sibling()).neighbour(false))
		case s.meets(t.shard):
		default:
			list = append(list, h.state.neighbour(false))
		}
	}
	return list
}

func (c *Chain) shardHeader(t shardTask, k *collation) header {
	h := header{afterSplit: t.split, afterMerge: t.merge, prevKey: c.lastKeySeqno()}
	ref := c.master.block.ref()
	h.master = &ref
	for _, d := range t.descrs {
		h.catchain = max(h.catchain, d.nextCatchain)
	}
	h.validatorHash = c.settings.validatorHash(h.catchain)
	k.state.overload, k.state.underload = k.state.overload<<1, k.state.underload<<1
	switch {
	case k.reached(soft):
		k.state.overload |= 1
	case !k.reached(normal):
		k.state.underload |= 1
	}
	if t.split || t.merge {
		return h
	}
	d := t.descrs[0]
	h.beforeSplit = t.last && d.plan.due(planSplit, k.now)
	h.wantSplit = c.wants[t.shard] == planSplit
	h.wantMerge = c.wants[t.shard.parent()] == planMerge || d.plan.kind == planMerge
	return h
}

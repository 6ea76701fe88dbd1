package chain

import (
	"fmt"
	"math/big"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

// Step makes the next block of every shard, then the masterchain block that
// commits them. now is the time; a clock that goes back stands still. External
// messages that find no room stay for the next steps. When a step fails the
// chain is as it was before.
func (c *Chain) Step(now uint32, externals []*cell.Cell) (_ *Bundle, err error) {
	defer rescue(&err)
	bundle := &Bundle{}
	pending := c.pending
	for _, m := range externals {
		e, err := parseExternal(m)
		if err != nil {
			bundle.Refused = append(bundle.Refused, Refused{m, err.Error()})
			continue
		}
		pending = append(pending, e)
	}
	taken := map[*external]bool{}
	heads, err := c.stepShards(now, pending, taken, bundle)
	if err != nil {
		return nil, err
	}
	k, err := c.collateMaster(now, heads, pending, taken)
	if err != nil {
		return nil, fmt.Errorf("masterchain block %d: %w", c.master.block.ID.SeqNo+1, err)
	}
	bundle.Refused = append(bundle.Refused, k.refused...)
	bundle.Master = k.head.block
	bundle.ValidatorSetHash, bundle.CatchainSeqno = k.head.header.validatorHash, k.head.header.catchain
	c.agree(bundle, k.head.header)
	c.pending = nil
	for _, e := range pending {
		if !taken[e] {
			c.pending = append(c.pending, e)
		}
	}
	bundle.Pending = c.Pending()
	if err := c.commit(k.head, k.extra, heads); err != nil {
		return bundle, err
	}
	c.candidate = bundle.Candidate
	return bundle, nil
}

func (c *Chain) stepShards(now uint32, pending []*external, taken map[*external]bool, bundle *Bundle) ([]*shardHead, error) {
	if c.master.block.ID.SeqNo == 0 {
		return c.shards, nil // the masterchain does not know the basechain yet
	}
	var heads []*shardHead
	for _, t := range c.tasks() {
		var head *shardHead
		for i := range c.blocksOf(t) {
			t.last = i == c.blocksOf(t)-1
			if head != nil {
				t.prev = []*shardHead{head}
			}
			next, refused, err := c.collateShard(t, now, pending, taken)
			if err != nil {
				return nil, fmt.Errorf("block of shard %s: %w", t.shard, err)
			}
			if head != nil {
				next.blocks = append(head.blocks, next.block)
				next.collected, next.created = sum(head.collected, next.collected), sum(head.created, next.created)
			}
			head = next
			bundle.Refused = append(bundle.Refused, refused...)
		}
		heads = append(heads, head)
		bundle.Shards = append(bundle.Shards, head.blocks...)
	}
	sortHeads(heads)
	return heads, nil
}

// blocksOf is how many blocks a shard makes in this step: one when it begins
// by a split or merge.
func (c *Chain) blocksOf(t shardTask) int {
	if t.split || t.merge {
		return 1
	}
	return max(1, c.options.ShardBlocks)
}

// tasks are the shards that make blocks now.
func (c *Chain) tasks() []shardTask {
	var tasks []shardTask
	for i, d := range c.extra.shards {
		prev := c.shards[i]
		switch {
		case d.beforeSplit:
			for _, right := range []bool{false, true} {
				tasks = append(tasks, shardTask{shard: d.shard.child(right), prev: []*shardHead{prev}, descrs: []*shardDescr{d}, split: true})
			}
		case d.beforeMerge && d.shard.isRight(): // made with its sibling
		case d.beforeMerge:
			tasks = append(tasks, shardTask{
				shard: d.shard.parent(), prev: []*shardHead{prev, c.shards[i+1]},
				descrs: []*shardDescr{d, c.extra.shards[i+1]}, merge: true,
			})
		default:
			tasks = append(tasks, shardTask{shard: d.shard, prev: []*shardHead{prev}, descrs: []*shardDescr{d}})
		}
	}
	return tasks
}

// commit makes new blocks the head.
func (c *Chain) commit(master *shardHead, extra *masterExtra, heads []*shardHead) error {
	if extra.config.HashKey() != c.settings.root.HashKey() {
		s, err := readSettings(extra.config, c.options)
		if err != nil {
			return err
		}
		c.settings = s
	}
	c.master, c.extra = master, extra
	for _, h := range heads {
		h.blocks, h.collected, h.created = nil, new(big.Int), new(big.Int)
	}
	c.shards = heads
	c.forgetWants()
	c.ends.note(master, heads)
	oldest := master.block.ID.SeqNo
	for _, h := range append([]*shardHead{master}, heads...) {
		oldest = min(oldest, h.state.processed.oldest())
	}
	c.ends.forget(oldest)
	return nil
}

// forgetWants drops what has happened, or cannot happen any more.
func (c *Chain) forgetWants() {
	for id, kind := range c.wants {
		var there bool
		switch kind {
		case planSplit:
			there = c.descrOf(id) != nil
		case planMerge:
			there = c.descrOf(id.child(false)) != nil && c.descrOf(id.child(true)) != nil
		}
		if !there {
			delete(c.wants, id)
		}
	}
}

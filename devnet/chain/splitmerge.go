package chain

import (
	"bytes"
	"math/big"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

// half is the part of a state that belongs to a child shard: its accounts, the
// messages that set out from it, what was taken of those for it.
func (st *state) half(child shardID) *state {
	out := *st
	out.shard, out.root = child, nil
	out.accounts = st.accounts.part(bigEndian(child.shard), child.depth())
	out.queue = st.queueOf(child)
	out.processed = st.processed.of(child)
	out.balance = out.accountsBalance()
	// of an odd amount the left child has less
	out.validatorFees = new(big.Int).Rsh(st.validatorFees, 1)
	if child.isRight() {
		out.validatorFees.Sub(st.validatorFees, out.validatorFees)
	}
	return &out
}

// queueOf is the part of a queue whose messages are at the moment in a child
// shard.
func (st *state) queueOf(child shardID) augmented {
	var others []change
	_ = st.queue.walk(func(key []byte, value *cell.Slice) error {
		if q := parseQueued(key, value); !child.holds(q.current.workchain, q.current.prefix) {
			others = append(others, change{bytes.Clone(key), nil})
		}
		return nil
	})
	return sure(st.queue.update(others))
}

// merged is the state of two sibling shards together.
func merged(left, right *state) *state {
	out := *left
	out.shard, out.root = left.shard.parent(), nil
	out.minRef = min(left.minRef, right.minRef)
	out.accounts, out.queue = left.accounts.with(right.accounts), left.queue.with(right.queue)
	out.processed = processedUpto{owner: out.shard, entries: left.processed.entries}.add(right.processed.entries...)
	out.validatorFees = sum(left.validatorFees, right.validatorFees)
	out.balance = out.accountsBalance()
	return &out
}

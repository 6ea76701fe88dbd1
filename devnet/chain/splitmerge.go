package chain

import (
	"math/big"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

// half is the part of a state that belongs to a child shard: its accounts, the
// messages that set out from it, what was taken of those for it.
func (st *state) half(child shardID) (*state, error) {
	out := *st
	out.shard, out.root = child, nil
	var err error
	prefix := bigEndian(child.shard)
	if out.accounts, err = st.accounts.part(prefix, child.depth()); err != nil {
		return nil, err
	}
	if out.queue, err = st.queueOf(child); err != nil {
		return nil, err
	}
	out.processed = st.processed.of(child)
	if out.balance, err = out.accountsBalance(); err != nil {
		return nil, err
	}
	// of an odd amount the left child has less
	out.validatorFees = new(big.Int).Rsh(st.validatorFees, 1)
	if child.isRight() {
		out.validatorFees.Sub(st.validatorFees, out.validatorFees)
	}
	return &out, nil
}

// queueOf is the part of a queue whose messages are at the moment in a child
// shard.
func (st *state) queueOf(child shardID) (augmented, error) {
	var others []change
	err := st.queue.walk(func(key []byte, value *cell.Slice) error {
		q, err := parseQueued(key, value)
		if err == nil && !child.holds(q.current.workchain, q.current.prefix) {
			others = append(others, change{append([]byte(nil), key...), nil})
		}
		return err
	})
	if err != nil {
		return augmented{}, err
	}
	return st.queue.update(others)
}

// merged is the state of two sibling shards together.
func merged(left, right *state) (*state, error) {
	out := *left
	out.shard, out.root = left.shard.parent(), nil
	out.minRef = min(left.minRef, right.minRef)
	var err error
	if out.accounts, err = left.accounts.with(right.accounts); err != nil {
		return nil, err
	}
	if out.queue, err = left.queue.with(right.queue); err != nil {
		return nil, err
	}
	out.processed = processedUpto{owner: out.shard, entries: left.processed.entries}.add(right.processed.entries...)
	out.validatorFees = sum(left.validatorFees, right.validatorFees)
	out.balance, err = out.accountsBalance()
	return &out, err
}

// with is a map together with another one that has no key in common with it.
func (a augmented) with(o augmented) (augmented, error) {
	var changes []change
	err := o.walk(func(key []byte, value *cell.Slice) error {
		changes = append(changes, change{append([]byte(nil), key...), value.ToBuilder()})
		return nil
	})
	if err != nil {
		return a, err
	}
	return a.update(changes)
}

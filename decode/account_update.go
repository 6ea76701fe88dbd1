package decode

import (
	"fmt"
	"slices"

	"tonscribe/ton/cell"
)

// leaf is an account that a shard state shows, whether the block changes it or
// not.
type leaf struct {
	key       cell.Key
	account   cell.Cell
	transHash [32]byte
	transLt   uint64
}

// stateUpdate collects the accounts that both sides of a block's state update
// (MERKLE_UPDATE ShardState) show, by account id. It needs no hashes. What is not
// a Merkle update shows none.
func (d *Decoder) stateUpdate(c cell.Cell) error {
	d.before, d.after = d.before[:0], d.after[:0]
	if !c.Valid() || c.Kind() != cell.MerkleUpdate || c.Refs() != 2 {
		return nil
	}
	var err error
	if d.before, err = d.shardState(c.Ref(0), d.before); err != nil {
		return fmt.Errorf("old state: %w", err)
	}
	if d.after, err = d.shardState(c.Ref(1), d.after); err != nil {
		return fmt.Errorf("new state: %w", err)
	}
	return nil
}

// shardState reads shard_state#9023afe2 or split_state#5f327da5.
func (d *Decoder) shardState(c cell.Cell, list []leaf) ([]leaf, error) {
	if c.Kind() == cell.PrunedBranch {
		return list, nil
	}
	if d.budget--; d.budget < 0 {
		return nil, fmt.Errorf("%w: too many split states", cell.ErrLimit)
	}
	s := c.Slice()
	switch tag := s.Uint(32); tag {
	case 0x9023afe2:
		s.Ref()
		accounts := s.Ref()
		if s.Failed() {
			return nil, s.Err()
		}
		return d.shardAccounts(accounts, list)
	case 0x5f327da5:
		left, right := s.Ref(), s.Ref()
		if s.Failed() {
			return nil, s.Err()
		}
		list, err := d.shardState(left, list)
		if err != nil {
			return nil, err
		}
		return d.shardState(right, list)
	default:
		return nil, fmt.Errorf("%w: shard state tag %08x", ErrFormat, tag)
	}
}

// shardAccounts reads ShardAccounts (HashmapAugE 256 ShardAccount
// DepthBalanceInfo).
func (d *Decoder) shardAccounts(c cell.Cell, list []leaf) ([]leaf, error) {
	if c.Kind() == cell.PrunedBranch {
		return list, nil
	}
	s := c.Slice()
	if !s.Bool() {
		return list, s.Err()
	}
	root := s.Ref()
	if s.Failed() {
		return nil, s.Err()
	}
	if root.Kind() == cell.PrunedBranch {
		return list, nil
	}
	err := root.Slice().Hashmap(256, &d.budget, true, func(key cell.Key, s cell.Slice) error {
		s.Skip(5) // split_depth
		skipCurrencies(&s)
		l := leaf{key: key, account: s.Ref()}
		s.Read(l.transHash[:])
		l.transLt = s.Uint(64)
		if s.Failed() {
			return fmt.Errorf("account %016x: %w", key, s.Err())
		}
		list = append(list, l)
		return nil
	})
	return list, err
}

// find is the leaf with the key, and the leaves after it.
func find(list []leaf, key cell.Key) (*leaf, []leaf) {
	for len(list) > 0 {
		switch slices.Compare(list[0].key[:], key[:]) {
		case 0:
			return &list[0], list[1:]
		case 1:
			return nil, list
		}
		list = list[1:]
	}
	return nil, nil
}

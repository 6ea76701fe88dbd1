package history

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
)

// splitStateTag begins ShardStateSplit, what a merging block updates.
const splitStateTag = 0x5f327da5

// State after the block with this id (ShardStateUnsplit); a zerostate's id gives
// the zerostate.
func (s *Store) State(id *ton.BlockIDExt) (*cell.Cell, error) {
	if root, err := s.inMemory(id); root != nil || err != nil {
		return root, err
	}
	if _, err := s.Meta(id); err != nil {
		return nil, err
	}
	if root := s.states.get(keyOf(id)); root != nil {
		return root, nil
	}
	s.deriving.Lock()
	defer s.deriving.Unlock()
	root, err := s.derive(id)
	if err != nil {
		return nil, fmt.Errorf("state of %s: %w", Name(id), err)
	}
	s.states.put(keyOf(id), root)
	return root, nil
}

// derive walks back from id to a block whose state is known, and applies the
// state updates on the way forward again.
func (s *Store) derive(id *ton.BlockIDExt) (*cell.Cell, error) {
	var updates []*cell.Cell
	state, err := s.known(id)
	for state == nil && err == nil {
		var block *chain.Block
		if block, err = s.Block(id); err != nil {
			return nil, err
		}
		update, uerr := block.Root.PeekRef(2)
		before, perr := parents(block.Root)
		if err = errors.Join(uerr, perr); err != nil {
			return nil, err
		}
		updates = append(updates, update)
		if len(before) == 2 {
			state, err = s.merged(before)
			break
		}
		id = before[0]
		state, err = s.known(id)
	}
	for i := len(updates) - 1; i >= 0 && err == nil; i-- {
		state, _, err = cell.ApplyMerkleUpdate(state, updates[i])
	}
	return state, err
}

// merged is the state that a merging block updates.
func (s *Store) merged(parents []*ton.BlockIDExt) (*cell.Cell, error) {
	left, err := s.derive(parents[0])
	if err != nil {
		return nil, err
	}
	right, err := s.derive(parents[1])
	if err != nil {
		return nil, err
	}
	return cell.BeginCell().MustStoreUInt(splitStateTag, 32).MustStoreRef(left).MustStoreRef(right).EndCell(), nil
}

// inMemory is a zerostate or a recent state, nil when it is neither.
func (s *Store) inMemory(id *ton.BlockIDExt) (*cell.Cell, error) {
	if id.SeqNo == 0 {
		z, err := s.Zerostate(id.Workchain)
		if err == nil && !z.ID.Equals(id) {
			err = fmt.Errorf("zerostate %s: %w", Name(id), ErrNotFound)
		}
		if err != nil {
			return nil, err
		}
		return z.State, nil
	}
	if b := s.recentBlock(keyOf(id)); b != nil && b.ID.Equals(id) {
		return b.State, nil
	}
	return nil, nil
}

// known is a state that needs no derivation, nil when there is none.
func (s *Store) known(id *ton.BlockIDExt) (*cell.Cell, error) {
	if root, err := s.inMemory(id); root != nil || err != nil {
		return root, err
	}
	key := keyOf(id)
	if root := s.states.get(key); root != nil {
		return root, nil
	}
	data, err := s.get(key.key(kindState))
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if len(data) < 32 {
		return nil, errRecord
	}
	root, err := cell.FromBOC(data[32:])
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(root.Hash(), data[:32]) {
		return nil, errRecord
	}
	return root, nil
}

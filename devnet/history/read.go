package history

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
)

// get is a record's copy.
func (s *Store) get(key []byte) ([]byte, error) {
	value, closer, err := s.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	return bytes.Clone(value), nil
}

// Meta of the block with this id.
func (s *Store) Meta(id *ton.BlockIDExt) (Meta, error) {
	meta, err := s.meta(keyOf(id))
	if err == nil && !meta.ID.Equals(id) {
		err = ErrNotFound
	}
	if err != nil {
		return Meta{}, fmt.Errorf("block %s: %w", Name(id), err)
	}
	return meta, nil
}

func (s *Store) meta(key blockKey) (Meta, error) {
	value, err := s.get(key.key(kindMeta))
	if err != nil {
		return Meta{}, err
	}
	return decodeMeta(key, value)
}

// Data is the bag of cells of the block with this id.
func (s *Store) Data(id *ton.BlockIDExt) ([]byte, error) {
	if b := s.recentBlock(keyOf(id)); b != nil && b.Root != nil && b.ID.Equals(id) {
		return b.Data, nil
	}
	if _, err := s.Meta(id); err != nil {
		return nil, err
	}
	data, err := s.get(keyOf(id).key(kindData))
	if err != nil {
		return nil, fmt.Errorf("block %s: %w", Name(id), err)
	}
	return data, nil
}

// Block with this id. Its state is there only when it is recent; State always
// finds it.
func (s *Store) Block(id *ton.BlockIDExt) (*chain.Block, error) {
	key := keyOf(id)
	b := s.recentBlock(key)
	if b == nil {
		b = s.blocks.get(key)
	}
	if b != nil && b.Root != nil {
		if !b.ID.Equals(id) {
			return nil, fmt.Errorf("block %s: %w", Name(id), ErrNotFound)
		}
		return b, nil
	}
	meta, err := s.Meta(id)
	if err != nil {
		return nil, err
	}
	data, err := s.get(key.key(kindData))
	if err != nil {
		return nil, fmt.Errorf("block %s: %w", Name(id), err)
	}
	b, err = parseBlock(meta, data)
	if err == nil {
		s.blocks.put(key, b)
	}
	return b, err
}

func (s *Store) recentBlock(key blockKey) *chain.Block {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return cmp.Or(s.recent.blocks[key], s.recent.tops[key])
}

// Commit is the bundle of a masterchain block, by ids.
func (s *Store) Commit(mcSeqno uint32) (Commit, error) {
	value, err := s.get(mcKey(kindBundle, mcSeqno))
	if err != nil {
		return Commit{}, fmt.Errorf("bundle %d: %w", mcSeqno, err)
	}
	return decodeCommit(mcSeqno, value)
}

// Bundle is the bundle of a masterchain block. Its blocks have their states only
// when it is recent.
func (s *Store) Bundle(mcSeqno uint32) (*chain.Bundle, error) {
	s.mu.RLock()
	b := s.recent.bundles[mcSeqno]
	s.mu.RUnlock()
	if b != nil {
		return b, nil
	}
	commit, err := s.Commit(mcSeqno)
	if err != nil {
		return nil, err
	}
	b = commit.bundle()
	if b.Master, err = s.Block(commit.Master); err != nil {
		return nil, err
	}
	for _, id := range commit.Shards {
		block, err := s.Block(id)
		if err != nil {
			return nil, err
		}
		b.Shards = append(b.Shards, block)
	}
	return b, nil
}

// bundle is one without its blocks.
func (c Commit) bundle() *chain.Bundle {
	return &chain.Bundle{
		Signatures: c.Signatures, ValidatorSetHash: c.ValidatorSetHash, CatchainSeqno: c.CatchainSeqno, Candidate: c.Candidate,
	}
}

// Signatures under a masterchain block, as lite servers give them
// (liteServer.SignatureSet).
func (s *Store) Signatures(mcSeqno uint32) (any, error) {
	commit, err := s.Commit(mcSeqno)
	if err != nil {
		return nil, err
	}
	return commit.bundle().SignatureSet(), nil
}

// Transaction of an account at a logical time, and the block that it is in.
func (s *Store) Transaction(workchain int32, account [32]byte, lt uint64) (*ton.BlockIDExt, *cell.Cell, error) {
	position, err := s.get(transactionKey(workchain, account[:], lt))
	if err == nil && len(position) != 12 {
		err = errRecord
	}
	if err != nil {
		return nil, nil, fmt.Errorf("transaction %d:%x %d: %w", workchain, account, lt, err)
	}
	meta, err := s.meta(blockKey{shardKey{workchain, binary.BigEndian.Uint64(position)}, binary.BigEndian.Uint32(position[8:])})
	if err != nil {
		return nil, nil, fmt.Errorf("transaction %d:%x %d: %w", workchain, account, lt, err)
	}
	block, err := s.Block(meta.ID)
	if err != nil {
		return nil, nil, err
	}
	for i := range block.Transactions {
		if tx := &block.Transactions[i]; tx.LT == lt && tx.Account == account {
			return block.ID, tx.Cell, nil
		}
	}
	return nil, nil, fmt.Errorf("transaction %d:%x %d in %s: %w", workchain, account, lt, Name(meta.ID), errRecord)
}

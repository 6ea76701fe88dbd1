package history

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// Lookups name an account prefix, as lite servers do: any 64 bits, a shard's own
// id among them. The shards that were ever on the way to such an account are
// asked; no two of them have a block of the same seqno.

// BySeqno is the block of that seqno whose shard holds prefix.
func (s *Store) BySeqno(workchain int32, prefix uint64, seqno uint32) (Meta, error) {
	for _, shard := range s.path(workchain, prefix) {
		meta, err := s.meta(blockKey{shard, seqno})
		if !errors.Is(err, ErrNotFound) {
			return meta, err
		}
	}
	return Meta{}, fmt.Errorf("block (%d,%016x,%d): %w", workchain, prefix, seqno, ErrNotFound)
}

// ByLT is the first block, of the shards that hold prefix, that ends at or after
// a logical time.
func (s *Store) ByLT(workchain int32, prefix, lt uint64) (Meta, error) {
	return s.first(workchain, prefix, func(shard shardKey) ([]byte, func(key, value []byte) uint32) {
		return ltKey(shard, lt), func(_, value []byte) uint32 { return binary.BigEndian.Uint32(value) }
	}, "logical time", lt)
}

// ByUtime is the first block, of the shards that hold prefix, made at or after a
// time.
func (s *Store) ByUtime(workchain int32, prefix uint64, utime uint32) (Meta, error) {
	return s.first(workchain, prefix, func(shard shardKey) ([]byte, func(key, value []byte) uint32) {
		return utimeKey(shard, utime, 0), func(key, _ []byte) uint32 { return binary.BigEndian.Uint32(key[len(key)-4:]) }
	}, "time", utime)
}

// first takes, of the nearest record in each shard on the path, the block of the
// lowest seqno: along a path seqnos and times grow together.
func (s *Store) first(workchain int32, prefix uint64, from func(shardKey) ([]byte, func(key, value []byte) uint32), what string, at any) (Meta, error) {
	var found blockKey
	for _, shard := range s.path(workchain, prefix) {
		start, seqnoOf := from(shard)
		seqno, err := s.seek(start, after(shard.key(start[0])), seqnoOf)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return Meta{}, err
		}
		if found.seqno == 0 || seqno < found.seqno {
			found = blockKey{shard, seqno}
		}
	}
	if found.seqno == 0 {
		return Meta{}, fmt.Errorf("block of (%d,%016x) at %s %v: %w", workchain, prefix, what, at, ErrNotFound)
	}
	return s.meta(found)
}

func (s *Store) seek(start, end []byte, seqnoOf func(key, value []byte) uint32) (uint32, error) {
	iterator, err := s.db.NewIter(&pebble.IterOptions{LowerBound: start, UpperBound: end})
	if err != nil {
		return 0, err
	}
	defer iterator.Close()
	if !iterator.First() {
		return 0, errors.Join(iterator.Error(), ErrNotFound)
	}
	return seqnoOf(iterator.Key(), iterator.Value()), nil
}

// path of an account prefix: every shard that has had blocks and holds it, the
// widest first.
func (s *Store) path(workchain int32, prefix uint64) []shardKey {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var path []shardKey
	for shard := range s.shards {
		if shard.contains(workchain, prefix) {
			path = append(path, shard)
		}
	}
	slices.SortFunc(path, func(a, b shardKey) int { return a.depth() - b.depth() })
	return path
}

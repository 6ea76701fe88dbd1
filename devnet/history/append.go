package history

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/devnet/chain"
)

// SetZerostates tells what the chain begins with. It must come before the first
// Append; later it only checks that the store holds this very chain.
func (s *Store) SetZerostates(states ...*chain.Zerostate) error {
	batch := s.db.NewBatch()
	defer batch.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh := map[int32]*chain.Zerostate{}
	for _, z := range states {
		if z == nil {
			continue
		}
		if old := s.zero[z.ID.Workchain]; old != nil {
			if !bytes.Equal(old.ID.FileHash, z.ID.FileHash) {
				return fmt.Errorf("the stored chain began with zerostate %x of workchain %d, not with %x: choose another data folder, or start it with the options it was made with",
					old.ID.FileHash, z.ID.Workchain, z.ID.FileHash)
			}
			continue
		}
		if s.head {
			return fmt.Errorf("the stored chain has no workchain %d", z.ID.Workchain)
		}
		fresh[z.ID.Workchain] = z
		if err := batch.Set(workchainKey(kindZerostate, z.ID.Workchain), append(appendID(nil, z.ID), z.Data...), nil); err != nil {
			return err
		}
	}
	if err := batch.Set([]byte{kindVersion}, []byte{layoutVersion}, nil); err != nil {
		return err
	}
	if err := s.commit(batch, pebble.Sync); err != nil {
		return fmt.Errorf("zerostates: %w", err)
	}
	for workchain, z := range fresh {
		s.zero[workchain] = z
		s.recent.tops[keyOf(z.ID)] = &chain.Block{ID: z.ID, Data: z.Data, State: z.State}
	}
	return nil
}

// Append stores the next bundle. When it returns nil, the bundle survives a
// crash of the machine. done are the numbers of waiting messages that it has
// dealt with.
func (s *Store) Append(b *chain.Bundle, done ...uint64) error {
	if b == nil || b.Master == nil {
		return errors.New("bundle without a masterchain block")
	}
	seqno := b.Master.ID.SeqNo
	if want := s.Last() + 1; seqno != want {
		return fmt.Errorf("bundle %d: want %d", seqno, want)
	}
	if _, err := s.Zerostate(b.Master.ID.Workchain); err != nil {
		return err
	}
	tops, err := s.nextTops(b)
	if err != nil {
		return fmt.Errorf("bundle %d: %w", seqno, err)
	}
	shards, err := s.write(b, tops, done)
	if err != nil {
		return fmt.Errorf("bundle %d: %w", seqno, err)
	}

	s.mu.Lock()
	s.last, s.head = seqno, true
	for _, shard := range shards {
		s.shards[shard] = struct{}{}
	}
	s.recent.add(b, byKey(tops))
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()

	if seqno%s.options.SnapshotEvery == 0 {
		s.snapshot(b.Master, tops)
	}
	return nil
}

// write commits the bundle in one batch and returns the shards new with it.
func (s *Store) write(b *chain.Bundle, tops []*chain.Block, done []uint64) ([]shardKey, error) {
	batch := s.db.NewBatch()
	defer batch.Close()
	commit := Commit{
		Master: b.Master.ID, Shards: idsOf(b.Shards), Tops: idsOf(tops),
		Signatures: b.Signatures, ValidatorSetHash: b.ValidatorSetHash, CatchainSeqno: b.CatchainSeqno,
		Candidate: b.Candidate,
	}
	err := errors.Join(
		batch.Set(mcKey(kindBundle, b.Master.ID.SeqNo), commit.encode(), nil),
		batch.Set([]byte{kindPending}, appendMessages(nil, b.Pending), nil),
		forget(batch, done),
	)
	var fresh []shardKey
	for _, block := range blocksOf(b) {
		err = errors.Join(err, writeBlock(batch, block, b.Master.ID.SeqNo))
		shard := keyOf(block.ID).shardKey
		if !s.knows(shard) {
			fresh = append(fresh, shard)
			err = errors.Join(err, batch.Set(shard.key(kindShard), nil, nil))
		}
	}
	if err != nil {
		return nil, err
	}
	return fresh, s.commit(batch, pebble.Sync)
}

func writeBlock(batch *pebble.Batch, b *chain.Block, mcSeqno uint32) error {
	key := keyOf(b.ID)
	meta := Meta{ID: b.ID, GenUtime: b.GenUtime, StartLT: b.StartLT, EndLT: b.EndLT, MCSeqno: mcSeqno}
	seqno := binary.BigEndian.AppendUint32(nil, key.seqno)
	err := errors.Join(
		batch.Set(key.key(kindMeta), meta.encode(), nil),
		batch.Set(key.key(kindData), b.Data, nil),
		batch.Set(ltKey(key.shardKey, b.EndLT), seqno, nil),
		batch.Set(utimeKey(key.shardKey, b.GenUtime, key.seqno), nil, nil),
	)
	block := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(nil, key.shard), key.seqno)
	for i := range b.Transactions {
		tx := &b.Transactions[i]
		err = errors.Join(err, batch.Set(transactionKey(tx.Workchain, tx.Account[:], tx.LT), block, nil))
	}
	return err
}

// nextTops are the newest blocks of all shards after b, by workchain and shard:
// those that its masterchain block names.
func (s *Store) nextTops(b *chain.Bundle) ([]*chain.Block, error) {
	ids, err := shardTops(b.Master.Root)
	if err != nil {
		return nil, err
	}
	fresh := map[blockKey]*chain.Block{}
	for _, block := range b.Shards {
		fresh[keyOf(block.ID)] = block
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	tops := make([]*chain.Block, 0, len(ids))
	for _, id := range ids {
		block := fresh[keyOf(id)]
		if block == nil {
			block = s.recent.tops[keyOf(id)]
		}
		if block == nil || !block.ID.Equals(id) {
			return nil, fmt.Errorf("names shard block %s, which it does not bring", Name(id))
		}
		tops = append(tops, block)
	}
	return tops, nil
}

func (s *Store) knows(shard shardKey) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, ok := s.shards[shard]
	return ok
}

func idsOf(blocks []*chain.Block) []*ton.BlockIDExt {
	ids := make([]*ton.BlockIDExt, 0, len(blocks))
	for _, b := range blocks {
		ids = append(ids, b.ID)
	}
	return ids
}

func byKey(blocks []*chain.Block) map[blockKey]*chain.Block {
	m := make(map[blockKey]*chain.Block, len(blocks))
	for _, b := range blocks {
		m[keyOf(b.ID)] = b
	}
	return m
}

// Name is an id as TON tools write it.
func Name(id *ton.BlockIDExt) string {
	return fmt.Sprintf("(%d,%016x,%d)", id.Workchain, uint64(id.Shard), id.SeqNo)
}

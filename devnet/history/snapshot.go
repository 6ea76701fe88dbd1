package history

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
)

// Whole states are stored beside the chain's way, never in it: one that is
// missing costs time at the next opening, nothing else. Of the old ones only
// few are kept, the older the fewer, so that their number grows with the
// logarithm of the chain's length, and the updates to apply for an old state
// stay under a fraction of its age.

// ageShare is the part of a stored state's age that may lie between it and its
// neighbours.
const ageShare = 8

type snapshots struct {
	running sync.WaitGroup
	busy    atomic.Bool
}

// snapshot writes the states at a bundle's end in the background, unless the
// last ones are still being written.
func (s *Store) snapshot(master *chain.Block, tops []*chain.Block) {
	if !s.snapshots.busy.CompareAndSwap(false, true) {
		return
	}
	blocks := append(slices.Clone(tops), master)
	s.snapshots.running.Go(func() {
		defer s.snapshots.busy.Store(false)
		// A failure of the disk shows at the next Append, which has to write too.
		_ = s.writeSnapshot(master.ID.SeqNo, blocks)
	})
}

func (s *Store) writeSnapshot(seqno uint32, blocks []*chain.Block) error {
	batch := s.db.NewBatch()
	defer batch.Close()
	var stored []*ton.BlockIDExt
	for _, b := range blocks {
		if b.ID.SeqNo == 0 || b.State == nil {
			continue
		}
		data := append(bytes.Clone(b.State.Hash()), b.State.ToBOCWithOptions(cell.BOCSerializeOptions{WithCRC32C: true})...)
		if err := batch.Set(keyOf(b.ID).key(kindState), data, nil); err != nil {
			return err
		}
		stored = append(stored, b.ID)
	}
	if err := batch.Set(mcKey(kindSnapshot, seqno), appendIDs(nil, stored), nil); err != nil {
		return err
	}
	if err := s.thin(batch, seqno, stored); err != nil {
		return err
	}
	return s.commit(batch, pebble.Sync)
}

// thin deletes the stored states that the new ones at seqno make needless.
func (s *Store) thin(batch *pebble.Batch, seqno uint32, stored []*ton.BlockIDExt) error {
	points, states, err := s.points()
	if err != nil {
		return err
	}
	needed := map[blockKey]bool{}
	for _, id := range stored {
		needed[keyOf(id)] = true
	}
	drop := needless(points, seqno)
	for _, p := range points {
		if !drop[p] {
			for _, id := range states[p] {
				needed[keyOf(id)] = true
			}
		}
	}
	for p := range drop {
		err = errors.Join(err, batch.Delete(mcKey(kindSnapshot, p), nil))
		for _, id := range states[p] {
			if !needed[keyOf(id)] {
				err = errors.Join(err, batch.Delete(keyOf(id).key(kindState), nil))
			}
		}
	}
	return err
}

// points are the masterchain seqnos with stored states, in order, and the
// blocks whose states they are.
func (s *Store) points() ([]uint32, map[uint32][]*ton.BlockIDExt, error) {
	var points []uint32
	states := map[uint32][]*ton.BlockIDExt{}
	err := s.scan([]byte{kindSnapshot}, func(key, value []byte) error {
		seqno, r := binary.BigEndian.Uint32(key), reader{data: value}
		states[seqno] = r.ids()
		points = append(points, seqno)
		return r.end("stored states of bundle %d", seqno)
	})
	return points, states, err
}

// needless picks, of the points in order and the newest one, those whose
// neighbours lie close enough together for their age. The newest stays, and the
// last before it, which a crash may need.
func needless(points []uint32, newest uint32) map[uint32]bool {
	drop := map[uint32]bool{}
	before := uint32(0) // the zerostate
	for i := 0; i+1 < len(points); i++ {
		next := points[i+1]
		if points[i] < newest && next-before <= (newest-next)/ageShare {
			drop[points[i]] = true
			continue
		}
		before = points[i]
	}
	return drop
}

package history

import (
	"bytes"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
)

// Head is what chain.Resume goes on from; false before the first bundle.
func (s *Store) Head() (chain.Head, bool, error) {
	s.mu.RLock()
	last, stored := s.last, s.head
	s.mu.RUnlock()
	if !stored {
		return chain.Head{}, false, nil
	}
	commit, err := s.Commit(last)
	if err != nil {
		return chain.Head{}, false, err
	}
	head := chain.Head{Candidate: commit.Candidate}
	if head.Master, err = s.withState(commit.Master); err != nil {
		return chain.Head{}, false, err
	}
	for _, id := range commit.Tops {
		block, err := s.withState(id)
		if err != nil {
			return chain.Head{}, false, err
		}
		head.Shards = append(head.Shards, block)
	}
	for seqno := max(1, chain.OldestReference(head)); seqno < last; seqno++ {
		commit, err := s.Commit(seqno)
		if err != nil {
			return chain.Head{}, false, err
		}
		block, err := s.Block(commit.Master)
		if err != nil {
			return chain.Head{}, false, err
		}
		head.Earlier = append(head.Earlier, block)
	}
	head.Pending, err = s.pending()
	return head, err == nil, err
}

// withState is a block with its state; of a zerostate's id, the zerostate.
func (s *Store) withState(id *ton.BlockIDExt) (*chain.Block, error) {
	state, err := s.State(id)
	if err != nil {
		return nil, err
	}
	if id.SeqNo == 0 {
		z, err := s.Zerostate(id.Workchain)
		if err != nil {
			return nil, err
		}
		return &chain.Block{ID: z.ID, Data: z.Data, State: state}, nil
	}
	block, err := s.Block(id)
	if err != nil {
		return nil, err
	}
	full := *block
	full.State = state
	return &full, nil
}

// load reads what is kept in memory.
func (s *Store) load() error {
	version, err := s.get([]byte{kindVersion})
	if err == nil && (len(version) != 1 || version[0] != layoutVersion) {
		return fmt.Errorf("layout version %x: this program writes %d; start with an empty folder", version, layoutVersion)
	}
	if err := s.loadZerostates(); err != nil {
		return err
	}
	if err := s.scan([]byte{kindShard}, func(key, _ []byte) error {
		r := reader{data: key}
		s.shards[shardKey{int32(r.uint32() ^ 1<<31), r.uint64()}] = struct{}{}
		return r.end("shard")
	}); err != nil {
		return err
	}
	iterator, err := s.db.NewIter(&pebble.IterOptions{LowerBound: []byte{kindBundle}, UpperBound: []byte{kindBundle + 1}})
	if err != nil {
		return err
	}
	defer iterator.Close()
	if !iterator.Last() {
		return iterator.Error()
	}
	r := reader{data: iterator.Key()[1:]}
	s.last, s.head = r.uint32(), true
	return s.loadTops()
}

func (s *Store) loadZerostates() error {
	return s.scan([]byte{kindZerostate}, func(_, value []byte) error {
		r := reader{data: value}
		z := &chain.Zerostate{ID: r.id()}
		z.Data = bytes.Clone(r.data)
		if r.failed {
			return fmt.Errorf("zerostate: %w", errRecord)
		}
		var err error
		if z.State, err = cell.FromBOC(z.Data); err != nil {
			return fmt.Errorf("zerostate of workchain %d: %w", z.ID.Workchain, err)
		}
		s.zero[z.ID.Workchain] = z
		s.recent.tops[keyOf(z.ID)] = &chain.Block{ID: z.ID, Data: z.Data, State: z.State}
		return nil
	})
}

// loadTops derives the states of the head.
func (s *Store) loadTops() error {
	head, _, err := s.Head()
	if err != nil {
		return fmt.Errorf("head: %w", err)
	}
	s.recent.tops = byKey(append(head.Shards, head.Master))
	return nil
}

// scan hands every record under a prefix to visit, the key without the prefix.
func (s *Store) scan(prefix []byte, visit func(key, value []byte) error) error {
	iterator, err := s.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: after(prefix)})
	if err != nil {
		return err
	}
	defer iterator.Close()
	for iterator.First(); iterator.Valid(); iterator.Next() {
		if err := visit(iterator.Key()[len(prefix):], iterator.Value()); err != nil {
			return err
		}
	}
	return iterator.Error()
}

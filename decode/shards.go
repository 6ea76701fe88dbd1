package decode

import (
	"cmp"
	"fmt"
	"slices"

	"tonscribe/schema/record"
	"tonscribe/ton/cell"
)

// ShardDescr is one leaf of ShardHashes of a masterchain block (block.tlb,
// shard_descr): the newest block of a shard.
type ShardDescr struct {
	ID          *record.BlockId
	RegMC       uint32 // reg_mc_seqno: the masterchain block that commits it
	StartLT     uint64
	EndLT       uint64
	BeforeSplit bool
	BeforeMerge bool
	WantSplit   bool
	WantMerge   bool
	NXCCUpdated bool
	MinRefMC    uint32 // min_ref_mc_seqno
	GenUtime    uint32
	FSM         FSM
}

// FSM is FutureSplitMerge of a shard: what is announced, and when.
type FSM struct {
	Kind     FSMKind
	Utime    uint32
	Interval uint32
}

// FSMKind tells a split announcement from a merge announcement.
type FSMKind uint8

// The kinds of FutureSplitMerge.
const (
	FSMNone FSMKind = iota
	FSMSplit
	FSMMerge
)

// shardReader collects the leaves of ShardHashes (HashmapE 32 ^(BinTree ShardDescr)). budget bounds the nodes, as a
// bag of cells can share subtrees.
type shardReader struct {
	budget int
	shards []ShardDescr
}

// readShards reads the shard_hashes of McBlockExtra, by (workchain, shard).
func readShards(custom cell.Cell, cells int) ([]ShardDescr, error) {
	s := custom.Slice()
	tag := s.Uint(16)
	s.Skip(1) // key_block
	if tag != 0xcca5 {
		return nil, fmt.Errorf("%w: tag %04x", ErrFormat, tag)
	}
	w := &shardReader{budget: 4*cells + 64}
	if s.Bool() {
		err := s.Next().Hashmap(32, &w.budget, false, func(workchain cell.Key, s cell.Slice) error {
			tree := s.Next()
			if s.Failed() {
				return s.Err()
			}
			return w.tree(tree, int32(workchain[0]>>32), FullShard)
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(w.shards, func(x, y ShardDescr) int {
		return cmp.Or(cmp.Compare(x.ID.Workchain, y.ID.Workchain), cmp.Compare(x.ID.Shard, y.ID.Shard))
	})
	return w.shards, s.Err()
}

// tree reads BinTree ShardDescr.
func (w *shardReader) tree(s cell.Slice, workchain int32, shard uint64) error {
	if w.budget--; w.budget < 0 {
		return fmt.Errorf("%w: too many shards", cell.ErrLimit)
	}
	if !s.Bool() {
		return w.leaf(&s, workchain, shard)
	}
	half := shard & -shard >> 1
	if half < 8 { // shard_pfx_bits is at most 60
		return fmt.Errorf("%w: shard tree deeper than 60", ErrFormat)
	}
	left, right := s.Next(), s.Next()
	if s.Failed() {
		return s.Err()
	}
	if err := w.tree(left, workchain, shard-half); err != nil {
		return err
	}
	return w.tree(right, workchain, shard+half)
}

// leaf reads shard_descr#b or shard_descr_new#a, up to split_merge_at.
func (w *shardReader) leaf(s *cell.Slice, workchain int32, shard uint64) error {
	if tag := s.Uint(4); !s.Failed() && tag != 0xa && tag != 0xb {
		return fmt.Errorf("%w: shard description tag %x", ErrFormat, tag)
	}
	var d ShardDescr
	d.ID = &record.BlockId{Workchain: workchain, Shard: shard, Seqno: uint32(s.Uint(32))}
	d.RegMC = uint32(s.Uint(32))
	d.StartLT, d.EndLT = s.Uint(64), s.Uint(64)
	d.ID.RootHash, d.ID.FileHash = make([]byte, 32), make([]byte, 32)
	s.Read(d.ID.RootHash)
	s.Read(d.ID.FileHash)
	d.BeforeSplit, d.BeforeMerge, d.WantSplit, d.WantMerge = s.Bool(), s.Bool(), s.Bool(), s.Bool()
	d.NXCCUpdated = s.Bool()
	s.Skip(3 + 32 + 64) // flags, next_catchain_seqno, next_validator_shard
	d.MinRefMC, d.GenUtime = uint32(s.Uint(32)), uint32(s.Uint(32))
	if s.Bool() {
		d.FSM.Kind = FSMSplit
		if s.Bool() {
			d.FSM.Kind = FSMMerge
		}
		d.FSM.Utime, d.FSM.Interval = uint32(s.Uint(32)), uint32(s.Uint(32))
	}
	w.shards = append(w.shards, d)
	return s.Err()
}

package decode

import (
	"errors"
	"fmt"
	"math/big"
	"testing"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	tcell "github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/schema/record"
	"tonscribe/ton/cell"
)

// TestEveryHeaderIsWhatTonutilsReads compares headers, previous blocks and, of
// masterchain blocks, the shards.
func TestEveryHeaderIsWhatTonutilsReads(t *testing.T) {
	shards := 0
	for _, f := range blockFiles(t) {
		info, err := Header(f.boc)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Block(f.boc, 0)
		if err != nil {
			t.Fatal(err)
		}
		block, _, _ := tonutilsBlock(t, f.boc)
		compareHeader(t, f.fields["file"], r.Block, block)
		compareInfo(t, f.fields["file"], info, r.Block)
		if block.Extra.Custom == nil {
			continue
		}
		want := tonutilsShards(t, block.Extra.Custom.ShardHashes)
		if len(want) != len(info.Shards) {
			t.Errorf("%s: %d shards, tonutils-go has %d", f.fields["file"], len(info.Shards), len(want))
		}
		for _, s := range info.Shards {
			equal(t, f.fields["file"], describe(s), want[fmt.Sprintf("%d %016x", s.ID.Workchain, s.ID.Shard)])
			shards++
		}
	}
	t.Logf("%d shard descriptions", shards)
}

func compareHeader(t *testing.T, file string, b *record.Block, block *tlb.Block) {
	t.Helper()
	h := block.BlockInfo
	got := fmt.Sprint(b.GlobalId, b.Version, b.AfterMerge, b.BeforeSplit, b.AfterSplit, b.WantSplit, b.WantMerge, b.KeyBlock,
		b.VertSeqnoIncr, b.Flags, b.Id.Seqno, b.VertSeqno, b.Id.Workchain, b.GenUtime, b.StartLt, b.EndLt,
		uint32(b.ValidatorListHashShort), b.GenCatchainSeqno, b.MinRefMcSeqno, b.PrevKeyBlockSeqno)
	want := fmt.Sprint(block.GlobalID, h.Version, h.AfterMerge, h.BeforeSplit, h.AfterSplit, h.WantSplit, h.WantMerge, h.KeyBlock,
		h.VertSeqnoIncr, h.Flags, h.SeqNo, h.VertSeqNo, h.Shard.WorkchainID, h.GenUtime, h.StartLt, h.EndLt,
		h.GenValidatorListHashShort, h.GenCatchainSeqno, h.MinRefMcSeqno, h.PrevKeyBlockSeqno)
	equal(t, file, got, want)
	equal(t, file+" shard", b.Id.Shard, uint64(h.Shard.GetShardID()))
	equal(t, file+" extra", fmt.Sprintf("%x %x", b.RandSeed, b.CreatedBy), fmt.Sprintf("%x %x", block.Extra.RandSeed, block.Extra.CreatedBy))
	if v := h.GenSoftware; v != nil {
		equal(t, file+" software", fmt.Sprint(b.GenSoftwareVersion, b.GenSoftwareCapabilities), fmt.Sprint(v.Version, v.Capabilities))
	}
	if h.MasterRef != nil {
		equal(t, file+" master", b.MasterRefSeqno, h.MasterRef.SeqNo)
	}
	parents, err := ton.GetParentBlocks(&h)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, file+" parents", len(b.PrevBlocks), len(parents))
	for i, p := range parents {
		got := b.PrevBlocks[i]
		equal(t, file+" parent", fmt.Sprintf("%d %x %d %x %x", got.Workchain, got.Shard, got.Seqno, got.RootHash, got.FileHash),
			fmt.Sprintf("%d %x %d %x %x", p.Workchain, uint64(p.Shard), p.SeqNo, p.RootHash, p.FileHash))
	}
}

// compareInfo checks that Header and Block say the same.
func compareInfo(t *testing.T, file string, info *BlockInfo, b *record.Block) {
	t.Helper()
	if !info.ID.EqualVT(b.Id) || len(info.Prev) != len(b.PrevBlocks) || (info.MasterRef == nil) != (b.Id.Workchain == Masterchain) {
		t.Errorf("%s: header %v, block %v", file, info, b)
	}
	equal(t, file, fmt.Sprint(info.AfterSplit, info.BeforeSplit, info.AfterMerge, info.KeyBlock, info.GlobalID, info.GenUtime,
		info.StartLT, info.EndLT, info.MinRefMC, info.PrevKeyBlock, info.GenSoftware, info.MasterRef.GetSeqno()),
		fmt.Sprint(b.AfterSplit, b.BeforeSplit, b.AfterMerge, b.KeyBlock, b.GlobalId, b.GenUtime,
			b.StartLt, b.EndLt, b.MinRefMcSeqno, b.PrevKeyBlockSeqno, b.GenSoftwareVersion, b.MasterRefSeqno))
}

func describe(s ShardDescr) string {
	return fmt.Sprintf("%d %d %d %d %x %x %t %t %t %t %t %d %d %v", s.ID.Seqno, s.RegMC, s.StartLT, s.EndLT, s.ID.RootHash, s.ID.FileHash,
		s.BeforeSplit, s.BeforeMerge, s.WantSplit, s.WantMerge, s.NXCCUpdated, s.MinRefMC, s.GenUtime, s.FSM)
}

// tonutilsShards are the shard descriptions by workchain and shard.
func tonutilsShards(t *testing.T, dict *tcell.Dictionary) map[string]string {
	want := map[string]string{}
	if dict.IsEmpty() {
		return want
	}
	all, err := dict.LoadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range all {
		workchain, err := kv.Key.LoadInt(32)
		if err != nil {
			t.Fatal(err)
		}
		root, err := kv.Value.LoadRef()
		if err != nil {
			t.Fatal(err)
		}
		walkTree(t, root, 1<<63, func(shard uint64, s *tcell.Slice) {
			want[fmt.Sprintf("%d %016x", workchain, shard)] = describe(tonutilsShard(t, s))
		})
	}
	return want
}

func walkTree(t *testing.T, s *tcell.Slice, shard uint64, leaf func(uint64, *tcell.Slice)) {
	if fork, err := s.LoadBoolBit(); err != nil {
		t.Fatal(err)
	} else if !fork {
		leaf(shard, s)
		return
	}
	half := shard & -shard / 2
	for _, child := range []uint64{shard - half, shard + half} {
		ref, err := s.LoadRef()
		if err != nil {
			t.Fatal(err)
		}
		walkTree(t, ref, child, leaf)
	}
}

func tonutilsShard(t *testing.T, s *tcell.Slice) ShardDescr {
	magic, err := s.Copy().LoadUInt(4)
	if err != nil {
		t.Fatal(err)
	}
	var d tlb.ShardDesc
	if magic == 0xb {
		var b tlb.ShardDescB
		err = tlb.LoadFromCell(&b, s)
		d = tlb.ShardDesc{SeqNo: b.SeqNo, RegMcSeqno: b.RegMcSeqno, StartLT: b.StartLT, EndLT: b.EndLT, RootHash: b.RootHash,
			FileHash: b.FileHash, BeforeSplit: b.BeforeSplit, BeforeMerge: b.BeforeMerge, WantSplit: b.WantSplit, WantMerge: b.WantMerge,
			NXCCUpdated: b.NXCCUpdated, MinRefMcSeqNo: b.MinRefMcSeqNo, GenUTime: b.GenUTime, SplitMergeAt: b.SplitMergeAt}
	} else {
		err = tlb.LoadFromCell(&d, s)
	}
	if err != nil {
		t.Fatal(err)
	}
	w := ShardDescr{
		ID:    &record.BlockId{Seqno: d.SeqNo, RootHash: d.RootHash, FileHash: d.FileHash},
		RegMC: d.RegMcSeqno, StartLT: d.StartLT, EndLT: d.EndLT, BeforeSplit: d.BeforeSplit, BeforeMerge: d.BeforeMerge,
		WantSplit: d.WantSplit, WantMerge: d.WantMerge, NXCCUpdated: d.NXCCUpdated, MinRefMC: d.MinRefMcSeqNo, GenUtime: d.GenUTime,
	}
	switch fsm := d.SplitMergeAt.(type) {
	case tlb.FutureSplit:
		w.FSM = FSM{Kind: FSMSplit, Utime: fsm.SplitUtime, Interval: fsm.Interval}
	case tlb.FutureMerge:
		w.FSM = FSM{Kind: FSMMerge, Utime: fsm.MergeUtime, Interval: fsm.Interval}
	}
	return w
}

// shardLeaf builds shard_descr_new#a with its BinTree tag.
func shardLeaf(seqno uint64, fsm func(*tcell.Builder) *tcell.Builder) *tcell.Cell {
	b := begin().MustStoreBoolBit(false).MustStoreUInt(0xa, 4).MustStoreUInt(seqno, 32).MustStoreUInt(42, 32).
		MustStoreUInt(1, 64).MustStoreUInt(2, 64).MustStoreSlice(account(1), 256).MustStoreSlice(account(2), 256).
		MustStoreUInt(0b10101, 5).MustStoreUInt(0, 3).MustStoreUInt(9, 32).MustStoreUInt(8, 64).
		MustStoreUInt(40, 32).MustStoreUInt(1700000001, 32)
	return fsm(b).MustStoreRef(begin().EndCell()).EndCell()
}

func fork(left, right *tcell.Cell) *tcell.Cell {
	return begin().MustStoreBoolBit(true).MustStoreRef(left).MustStoreRef(right).EndCell()
}

// masterBlock is a masterchain block whose ShardHashes have the given trees.
func masterBlock(trees map[int64]*tcell.Cell) *builtBlock {
	dict := tcell.NewDict(32)
	for workchain, tree := range trees {
		key := new(big.Int).SetUint64(uint64(uint32(workchain)))
		if err := dict.SetIntKey(key, begin().MustStoreRef(tree).EndCell()); err != nil {
			panic(err)
		}
	}
	b := sample()
	b.flags, b.txs = 0, map[byte]map[uint64]*tcell.Cell{}
	b.custom = begin().MustStoreUInt(0xcca5, 16).MustStoreBoolBit(false).MustStoreDict(dict).EndCell()
	return b
}

func TestShardsAreListedByWorkchainAndShard(t *testing.T) {
	none := func(b *tcell.Builder) *tcell.Builder { return b.MustStoreBoolBit(false) }
	split := func(b *tcell.Builder) *tcell.Builder {
		return b.MustStoreUInt(0b10, 2).MustStoreUInt(7, 32).MustStoreUInt(8, 32)
	}
	merge := func(b *tcell.Builder) *tcell.Builder {
		return b.MustStoreUInt(0b11, 2).MustStoreUInt(9, 32).MustStoreUInt(10, 32)
	}
	info, err := Header(masterBlock(map[int64]*tcell.Cell{
		0: fork(fork(shardLeaf(1, none), shardLeaf(2, split)), shardLeaf(3, merge)), 5: shardLeaf(4, none),
	}).boc(t))
	if err != nil {
		t.Fatal(err)
	}
	var got string
	for _, s := range info.Shards {
		got += fmt.Sprintf("%d:%x:%d:%v ", s.ID.Workchain, s.ID.Shard, s.ID.Seqno, s.FSM)
	}
	equal(t, "shards", got, "0:2000000000000000:1:{0 0 0} 0:6000000000000000:2:{1 7 8} 0:c000000000000000:3:{2 9 10} 5:8000000000000000:4:{0 0 0} ")
	s := info.Shards[0]
	equal(t, "flags", fmt.Sprint(s.BeforeSplit, s.BeforeMerge, s.WantSplit, s.WantMerge, s.NXCCUpdated, s.RegMC, s.MinRefMC), "true false true false true 42 40")
	equal(t, "master ref", info.MasterRef == nil, true)
}

func TestEndlessShardTreesAreRefused(t *testing.T) {
	tree := shardLeaf(1, func(b *tcell.Builder) *tcell.Builder { return b.MustStoreBoolBit(false) })
	for depth := range 70 {
		if depth == 60 {
			if _, err := Header(masterBlock(map[int64]*tcell.Cell{0: tree}).boc(t)); !errors.Is(err, cell.ErrLimit) {
				t.Errorf("2^60 shards: %v", err)
			}
		}
		tree = fork(tree, tree)
	}
	if _, err := Header(masterBlock(map[int64]*tcell.Cell{0: tree}).boc(t)); !errors.Is(err, ErrFormat) {
		t.Errorf("tree deeper than 60: %v", err)
	}
}

func TestPreviousBlocksAreOfTheRightShards(t *testing.T) {
	for _, c := range []struct {
		name             string
		flags            uint64
		shard, shardBits uint64
		want             string
	}{
		{"same shard", 0x80, 0, 1, "4000000000000000:41 "},
		{"parent after a split", 0x80 | 0x10, 0, 1, "8000000000000000:41 "},
		{"parent of a right half", 0x80 | 0x10, 1 << 62, 2, "4000000000000000:41 "},
		{"children after a merge", 0x80 | 0x40, 0, 1, "2000000000000000:41 6000000000000000:41 "},
	} {
		b := sample()
		b.txs = map[byte]map[uint64]*tcell.Cell{}
		b.flags, b.shard, b.shardBits = c.flags, c.shard, c.shardBits
		if c.flags&0x40 != 0 {
			b.prev = begin().MustStoreRef(blockRef(41).EndCell()).MustStoreRef(blockRef(41).EndCell()).EndCell()
		}
		info, err := Header(b.boc(t))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got string
		for _, p := range info.Prev {
			got += fmt.Sprintf("%x:%d ", p.Shard, p.Seqno)
		}
		equal(t, c.name, got, c.want)
		equal(t, c.name, info.MasterRef.Seqno, 40)
	}
}

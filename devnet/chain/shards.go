package chain

import (
	"fmt"
	"math/big"
	"sort"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// shardDescr is ShardDescr (block.tlb): the newest block of a shard as the
// masterchain knows it.
type shardDescr struct {
	shard        shardID
	seqno        uint32
	registered   uint32 // reg_mc_seqno
	startLT      uint64
	endLT        uint64
	rootHash     []byte
	fileHash     []byte
	beforeSplit  bool
	beforeMerge  bool
	wantSplit    bool
	wantMerge    bool
	updated      bool   // nx_cc_updated
	nextCatchain uint32 // next_catchain_seqno
	minRef       uint32
	genUtime     uint32
	plan         plan
	fees         *big.Int
	created      *big.Int
}

// plan is FutureSplitMerge.
type plan struct {
	kind            planKind
	since, interval uint32
}

type planKind byte

const (
	planNone planKind = iota
	planSplit
	planMerge
)

// planInterval is how long a shard may take at least for a split or merge that
// has been announced (split_merge_interval), in seconds.
const planInterval = 100

// due says whether an announced split or merge may happen now.
func (p plan) due(kind planKind, now uint32) bool {
	return p.kind == kind && now >= p.since && now < p.since+p.interval
}

func (p plan) tlb() any {
	switch p.kind {
	case planSplit:
		return tlb.FutureSplit{SplitUtime: p.since, Interval: p.interval}
	case planMerge:
		return tlb.FutureMerge{MergeUtime: p.since, Interval: p.interval}
	}
	return tlb.FutureSplitMergeNone{}
}

func planOf(v any) plan {
	switch p := v.(type) {
	case tlb.FutureSplit:
		return plan{planSplit, p.SplitUtime, p.Interval}
	case tlb.FutureMerge:
		return plan{planMerge, p.MergeUtime, p.Interval}
	}
	return plan{}
}

func (d *shardDescr) toCell() (*cell.Cell, error) {
	t := tlb.ShardDesc{
		SeqNo: d.seqno, RegMcSeqno: d.registered, StartLT: d.startLT, EndLT: d.endLT, RootHash: d.rootHash, FileHash: d.fileHash,
		BeforeSplit: d.beforeSplit, BeforeMerge: d.beforeMerge, WantSplit: d.wantSplit, WantMerge: d.wantMerge,
		NXCCUpdated: d.updated, NextCatchainSeqNo: d.nextCatchain, NextValidatorShard: int64(d.shard.shard),
		MinRefMcSeqNo: d.minRef, GenUTime: d.genUtime, SplitMergeAt: d.plan.tlb(),
	}
	t.Currencies.FeesCollected = tlb.CurrencyCollection{Coins: tlb.FromNanoTON(d.fees)}
	t.Currencies.FundsCreated = tlb.CurrencyCollection{Coins: tlb.FromNanoTON(d.created)}
	return tlb.ToCell(t)
}

func parseDescr(shard shardID, c *cell.Slice) (*shardDescr, error) {
	var t tlb.ShardDesc
	if err := tlb.LoadFromCell(&t, c); err != nil {
		return nil, fmt.Errorf("descr of shard %s: %w", shard, err)
	}
	return &shardDescr{
		shard: shard, seqno: t.SeqNo, registered: t.RegMcSeqno, startLT: t.StartLT, endLT: t.EndLT,
		rootHash: t.RootHash, fileHash: t.FileHash, beforeSplit: t.BeforeSplit, beforeMerge: t.BeforeMerge,
		wantSplit: t.WantSplit, wantMerge: t.WantMerge, updated: t.NXCCUpdated, nextCatchain: t.NextCatchainSeqNo,
		minRef: t.MinRefMcSeqNo, genUtime: t.GenUTime, plan: planOf(t.SplitMergeAt),
		fees: t.Currencies.FeesCollected.Coins.Nano(), created: t.Currencies.FundsCreated.Coins.Nano(),
	}, nil
}

// shardTree writes ShardHashes (block.tlb): by workchain a BinTree of shards.
func shardTree(shards []*shardDescr) (*cell.Dictionary, error) {
	d := cell.NewDict(32)
	if len(shards) == 0 {
		return d, nil
	}
	sort.Slice(shards, func(i, j int) bool { return shards[i].shard.less(shards[j].shard) })
	root, err := binTree(shardID{basechain, fullShard}, shards)
	if err != nil {
		return nil, err
	}
	key := cell.BeginCell().MustStoreInt(int64(basechain), 32).EndCell()
	return d, d.SetBuilder(key, cell.BeginCell().MustStoreRef(root))
}

func binTree(at shardID, shards []*shardDescr) (*cell.Cell, error) {
	if len(shards) == 1 && shards[0].shard == at {
		descr, err := shards[0].toCell()
		if err != nil {
			return nil, err
		}
		return cell.BeginCell().MustStoreBoolBit(false).MustStoreBuilder(descr.ToBuilder()).EndCell(), nil
	}
	b := cell.BeginCell().MustStoreBoolBit(true)
	split := sort.Search(len(shards), func(i int) bool { return shards[i].shard.shard > at.shard })
	if split == 0 || split == len(shards) {
		return nil, fmt.Errorf("the shards of %s do not fill it", at)
	}
	for side, part := range [2][]*shardDescr{shards[:split], shards[split:]} {
		child, err := binTree(at.child(side == 1), part)
		if err != nil {
			return nil, err
		}
		b.MustStoreRef(child)
	}
	return b.EndCell(), nil
}

// parseShards reads ShardHashes, in order.
func parseShards(d *cell.Dictionary) ([]*shardDescr, error) {
	if d == nil || d.IsEmpty() {
		return nil, nil
	}
	value, err := d.LoadValueByIntKey(big.NewInt(int64(basechain)))
	if err != nil {
		return nil, fmt.Errorf("shards of the basechain: %w", err)
	}
	root, err := value.LoadRefCell()
	if err != nil {
		return nil, err
	}
	return parseBinTree(nil, shardID{basechain, fullShard}, root)
}

func parseBinTree(list []*shardDescr, at shardID, node *cell.Cell) ([]*shardDescr, error) {
	s, err := node.BeginParse()
	if err != nil {
		return nil, err
	}
	fork, err := s.LoadBoolBit()
	if err != nil {
		return nil, err
	}
	if !fork {
		d, err := parseDescr(at, s)
		return append(list, d), err
	}
	for side := range 2 {
		child, err := s.LoadRefCell()
		if err == nil {
			list, err = parseBinTree(list, at.child(side == 1), child)
		}
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

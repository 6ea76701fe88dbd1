package chain

import (
	"fmt"
	"math/big"
	"slices"

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

// due reports whether an announced split or merge may happen now.
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

func (d *shardDescr) toCell() *cell.Cell {
	t := tlb.ShardDesc{
		SeqNo: d.seqno, RegMcSeqno: d.registered, StartLT: d.startLT, EndLT: d.endLT, RootHash: d.rootHash, FileHash: d.fileHash,
		BeforeSplit: d.beforeSplit, BeforeMerge: d.beforeMerge, WantSplit: d.wantSplit, WantMerge: d.wantMerge,
		NXCCUpdated: d.updated, NextCatchainSeqNo: d.nextCatchain, NextValidatorShard: int64(d.shard.shard),
		MinRefMcSeqNo: d.minRef, GenUTime: d.genUtime, SplitMergeAt: d.plan.tlb(),
	}
	t.Currencies.FeesCollected = tlb.CurrencyCollection{Coins: tlb.FromNanoTON(d.fees)}
	t.Currencies.FundsCreated = tlb.CurrencyCollection{Coins: tlb.FromNanoTON(d.created)}
	return sure(tlb.ToCell(t))
}

func parseDescr(shard shardID, c *cell.Slice) *shardDescr {
	var t tlb.ShardDesc
	sure(c, tlb.LoadFromCell(&t, c))
	return &shardDescr{
		shard: shard, seqno: t.SeqNo, registered: t.RegMcSeqno, startLT: t.StartLT, endLT: t.EndLT,
		rootHash: t.RootHash, fileHash: t.FileHash, beforeSplit: t.BeforeSplit, beforeMerge: t.BeforeMerge,
		wantSplit: t.WantSplit, wantMerge: t.WantMerge, updated: t.NXCCUpdated, nextCatchain: t.NextCatchainSeqNo,
		minRef: t.MinRefMcSeqNo, genUtime: t.GenUTime, plan: planOf(t.SplitMergeAt),
		fees: t.Currencies.FeesCollected.Coins.Nano(), created: t.Currencies.FundsCreated.Coins.Nano(),
	}
}

// shardTree writes ShardHashes (block.tlb): by workchain a BinTree of shards.
func shardTree(shards []*shardDescr) *cell.Dictionary {
	d := cell.NewDict(32)
	if len(shards) == 0 {
		return d
	}
	slices.SortFunc(shards, func(a, b *shardDescr) int { return a.shard.compare(b.shard) })
	key := cell.BeginCell().MustStoreInt(int64(basechain), 32).EndCell()
	return sure(d, d.SetBuilder(key, cell.BeginCell().MustStoreRef(binTree(shardID{basechain, fullShard}, shards))))
}

func binTree(at shardID, shards []*shardDescr) *cell.Cell {
	if len(shards) == 1 && shards[0].shard == at {
		return cell.BeginCell().MustStoreBoolBit(false).MustStoreBuilder(shards[0].toCell().ToBuilder()).EndCell()
	}
	split := slices.IndexFunc(shards, func(d *shardDescr) bool { return d.shard.shard > at.shard })
	if split <= 0 {
		panic(fmt.Errorf("the shards of %s do not fill it", at))
	}
	return cell.BeginCell().MustStoreBoolBit(true).
		MustStoreRef(binTree(at.child(false), shards[:split])).MustStoreRef(binTree(at.child(true), shards[split:])).EndCell()
}

// parseShards reads ShardHashes, in order.
func parseShards(d *cell.Dictionary) []*shardDescr {
	if d == nil || d.IsEmpty() {
		return nil
	}
	value := sure(d.LoadValueByIntKey(big.NewInt(int64(basechain))))
	return parseBinTree(nil, shardID{basechain, fullShard}, value.MustLoadRef())
}

func parseBinTree(list []*shardDescr, at shardID, s *cell.Slice) []*shardDescr {
	if !s.MustLoadBoolBit() {
		return append(list, parseDescr(at, s))
	}
	list = parseBinTree(list, at.child(false), s.MustLoadRef())
	return parseBinTree(list, at.child(true), s.MustLoadRef())
}

package chain

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// state is a parsed ShardStateUnsplit (block.tlb).
type state struct {
	root *cell.Cell

	globalID    int32
	shard       shardID
	seqno       uint32
	genUtime    uint32
	genLT       uint64
	minRef      uint32 // min_ref_mc_seqno
	beforeSplit bool

	queue     augmented // OutMsgQueue, by next hop and message hash
	processed processedUpto
	accounts  augmented // ShardAccounts, by account id

	overload, underload uint64
	balance             *big.Int // total_balance
	validatorFees       *big.Int // total_validator_fees
	libraries           *cell.Cell
	masterRef           *tlb.ExtBlkRef // nil in the masterchain

	custom *cell.Cell // McStateExtra, masterchain only
}

const (
	tagState      = 0x9023afe2
	tagSplitState = 0x5f327da5
	queueKeyBits  = 32 + 64 + 256
	noReference   = ^uint32(0) // min_ref_mc_seqno of a state that refers to nothing
)

func emptyState(globalID int32, shard shardID, now uint32) *state {
	return &state{
		globalID: globalID, shard: shard, genUtime: now, minRef: noReference,
		queue:     augmented{bits: queueKeyBits, aug: tlb.AugOutMsgQueue{}},
		processed: processedUpto{owner: shard},
		accounts:  augmented{bits: 256, aug: tlb.AugShardAccounts{}},
		balance:   new(big.Int), validatorFees: new(big.Int),
	}
}

func parseState(root *cell.Cell) (_ *state, err error) {
	defer rescue(&err)
	var raw tlb.ShardStateUnsplit
	if err := tlb.Parse(&raw, root); err != nil {
		return nil, fmt.Errorf("state %x: %w", root.Hash(), err)
	}
	st := emptyState(raw.GlobalID, shardID{raw.ShardIdent.WorkchainID, uint64(raw.ShardIdent.GetShardID())}, raw.GenUTime)
	st.root, st.seqno, st.genLT, st.minRef = root, raw.Seqno, raw.GenLT, raw.MinRefMCSeqno
	st.beforeSplit, st.custom = raw.BeforeSplit, raw.McStateExtra
	queue := raw.OutMsgQueueInfo.MustBeginParse()
	st.queue = loadAugmented(queue, queueKeyBits, tlb.AugOutMsgQueue{})
	st.processed = loadProcessed(queue, st.shard)
	if queue.MustLoadBoolBit() {
		return nil, errors.New("out message queue with an extra part, which the devnet's capabilities exclude")
	}
	st.accounts = loadAugmented(sure(raw.Accounts.ShardAccounts.ToCell()).MustBeginParse(), 256, tlb.AugShardAccounts{})
	stats := raw.Stats.MustBeginParse()
	st.overload, st.underload = stats.MustLoadUInt(64), stats.MustLoadUInt(64)
	st.balance, st.validatorFees = loadCurrency(stats), loadCurrency(stats)
	if libraries := stats.MustLoadMaybeRef(); libraries != nil {
		st.libraries = libraries.MustToCell()
	}
	if stats.MustLoadBoolBit() {
		st.masterRef = &tlb.ExtBlkRef{}
		err = tlb.LoadFromCell(st.masterRef, stats)
	}
	return st, err
}

// seal serialises the state and keeps the cell.
func (st *state) seal() {
	queue := st.processed.store(st.queue.store(cell.BeginCell())).MustStoreBoolBit(false).EndCell()
	stats := storeCurrency(cell.BeginCell().MustStoreUInt(st.overload, 64).MustStoreUInt(st.underload, 64), st.balance, st.validatorFees).
		MustStoreMaybeRef(st.libraries).MustStoreBoolBit(st.masterRef != nil)
	if st.masterRef != nil {
		storeBlkRef(stats, *st.masterRef)
	}
	b := cell.BeginCell().MustStoreUInt(tagState, 32).MustStoreInt(int64(st.globalID), 32)
	// ShardIdent
	b.MustStoreUInt(0, 2).MustStoreUInt(uint64(st.shard.depth()), 6).MustStoreInt(int64(st.shard.workchain), 32).MustStoreUInt(st.shard.prefix(), 64)
	st.root = b.MustStoreUInt(uint64(st.seqno), 32).MustStoreUInt(0, 32).MustStoreUInt(uint64(st.genUtime), 32).
		MustStoreUInt(st.genLT, 64).MustStoreUInt(uint64(st.minRef), 32).MustStoreRef(queue).MustStoreBoolBit(st.beforeSplit).
		MustStoreRef(st.accounts.toCell()).MustStoreRef(stats.EndCell()).MustStoreMaybeRef(st.custom).EndCell()
}

func storeBlkRef(b *cell.Builder, r tlb.ExtBlkRef) *cell.Builder {
	return b.MustStoreUInt(r.EndLt, 64).MustStoreUInt(uint64(r.SeqNo), 32).MustStoreSlice(r.RootHash, 256).MustStoreSlice(r.FileHash, 256)
}

// accountsBalance is what the accounts hold together.
func (st *state) accountsBalance() *big.Int {
	s := st.accounts.extra().ToSlice()
	return loadCurrency(sure(s, s.SkipBits(5))) // split_depth
}

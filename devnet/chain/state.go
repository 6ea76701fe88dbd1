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

func parseState(root *cell.Cell) (*state, error) {
	st, err := readState(root)
	if err != nil {
		return nil, fmt.Errorf("state %x: %w", root.Hash(), err)
	}
	st.root = root
	return st, nil
}

func readState(root *cell.Cell) (*state, error) {
	var raw tlb.ShardStateUnsplit
	if err := tlb.LoadFromCell(&raw, root.MustBeginParse()); err != nil {
		return nil, err
	}
	st := emptyState(raw.GlobalID, shardID{raw.ShardIdent.WorkchainID, uint64(raw.ShardIdent.GetShardID())}, raw.GenUTime)
	st.seqno, st.genLT, st.minRef = raw.Seqno, raw.GenLT, raw.MinRefMCSeqno
	st.beforeSplit, st.custom = raw.BeforeSplit, raw.McStateExtra
	if err := st.readQueue(raw.OutMsgQueueInfo); err != nil {
		return nil, fmt.Errorf("out message queue: %w", err)
	}
	accounts, err := raw.Accounts.ShardAccounts.ToCell()
	if err != nil {
		return nil, err
	}
	if st.accounts, err = loadAugmented(accounts.MustBeginParse(), 256, tlb.AugShardAccounts{}); err != nil {
		return nil, fmt.Errorf("accounts: %w", err)
	}
	return st, st.readStats(raw.Stats)
}

func (st *state) readQueue(info *cell.Cell) error {
	s, err := info.BeginParse()
	if err != nil {
		return err
	}
	if st.queue, err = loadAugmented(s, queueKeyBits, tlb.AugOutMsgQueue{}); err != nil {
		return err
	}
	if st.processed, err = loadProcessed(s, st.shard); err != nil {
		return err
	}
	extra, err := s.LoadBoolBit()
	if err == nil && extra {
		err = errors.New("it has an extra part, which the devnet's capabilities exclude")
	}
	return err
}

func (st *state) readStats(stats *cell.Cell) error {
	s, err := stats.BeginParse()
	if err != nil {
		return err
	}
	st.overload, st.underload = s.MustLoadUInt(64), s.MustLoadUInt(64)
	if st.balance, err = loadCurrency(s); err != nil {
		return err
	}
	if st.validatorFees, err = loadCurrency(s); err != nil {
		return err
	}
	if libs := s.MustLoadMaybeRef(); libs != nil {
		st.libraries = libs.MustToCell()
	}
	if s.MustLoadBoolBit() {
		st.masterRef = &tlb.ExtBlkRef{}
		return tlb.LoadFromCell(st.masterRef, s)
	}
	return nil
}

// seal serialises the state and keeps the cell.
func (st *state) seal() error {
	root, err := st.toCell()
	if err != nil {
		return fmt.Errorf("state of %s: %w", st.shard, err)
	}
	st.root = root
	return nil
}

func (st *state) toCell() (*cell.Cell, error) {
	queue, err := st.queueCell()
	if err != nil {
		return nil, err
	}
	accounts, err := st.accounts.toCell()
	if err != nil {
		return nil, err
	}
	stats, err := st.statsCell()
	if err != nil {
		return nil, err
	}
	b := cell.BeginCell().MustStoreUInt(tagState, 32).MustStoreInt(int64(st.globalID), 32)
	storeShardIdent(b, st.shard)
	b.MustStoreUInt(uint64(st.seqno), 32).MustStoreUInt(0, 32).MustStoreUInt(uint64(st.genUtime), 32).
		MustStoreUInt(st.genLT, 64).MustStoreUInt(uint64(st.minRef), 32).MustStoreRef(queue).
		MustStoreBoolBit(st.beforeSplit).MustStoreRef(accounts).MustStoreRef(stats)
	if err := b.StoreMaybeRef(st.custom); err != nil {
		return nil, err
	}
	return b.EndCell(), nil
}

func (st *state) queueCell() (*cell.Cell, error) {
	b := cell.BeginCell()
	if err := st.queue.store(b); err != nil {
		return nil, err
	}
	if err := st.processed.store(b); err != nil {
		return nil, err
	}
	return b.MustStoreBoolBit(false).EndCell(), nil
}

func (st *state) statsCell() (*cell.Cell, error) {
	b := cell.BeginCell().MustStoreUInt(st.overload, 64).MustStoreUInt(st.underload, 64)
	if err := storeCurrency(b, st.balance); err != nil {
		return nil, err
	}
	if err := storeCurrency(b, st.validatorFees); err != nil {
		return nil, err
	}
	b.MustStoreMaybeRef(st.libraries).MustStoreBoolBit(st.masterRef != nil)
	if st.masterRef != nil {
		storeBlkRef(b, *st.masterRef)
	}
	return b.EndCell(), nil
}

func storeShardIdent(b *cell.Builder, s shardID) {
	b.MustStoreUInt(0, 2).MustStoreUInt(uint64(s.depth()), 6).MustStoreInt(int64(s.workchain), 32).MustStoreUInt(s.prefix(), 64)
}

func storeBlkRef(b *cell.Builder, r tlb.ExtBlkRef) {
	b.MustStoreUInt(r.EndLt, 64).MustStoreUInt(uint64(r.SeqNo), 32).MustStoreSlice(r.RootHash, 256).MustStoreSlice(r.FileHash, 256)
}

// accountsBalance is what the accounts hold together.
func (st *state) accountsBalance() (*big.Int, error) {
	extra, err := st.accounts.extra()
	if err != nil {
		return nil, err
	}
	s := extra.ToSlice()
	if err := s.SkipBits(5); err != nil { // split_depth
		return nil, err
	}
	return loadCurrency(s)
}

package contracts

import (
	"math/big"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// Texts of nominators to their pool: CommentBody(PoolDeposit) with at least the
// lowest stake and 1 TON, CommentBody(PoolWithdraw) with the gas.
const (
	PoolDeposit  = "d"
	PoolWithdraw = "w"
)

// NominatorPool is a pool of the masterchain. Nominators are of the basechain.
type NominatorPool struct {
	Validator         *address.Address // of the masterchain
	ValidatorShare    uint16           // of the reward, in hundredths of a percent
	MaxNominators     uint16
	MinValidatorStake *big.Int
	MinNominatorStake *big.Int
	Elector           *address.Address
}

// StateInit has no nominators.
func (p NominatorPool) StateInit() *tlb.StateInit {
	terms := cell.BeginCell().
		MustStoreSlice(p.Validator.Data(), 256).
		MustStoreUInt(uint64(p.ValidatorShare), 16).
		MustStoreUInt(uint64(p.MaxNominators), 16).
		MustStoreBigCoins(amount(p.MinValidatorStake)).
		MustStoreBigCoins(amount(p.MinNominatorStake)).
		MustStoreSlice(p.Elector.Data(), 256).EndCell()
	round := cell.BeginCell().
		MustStoreUInt(0, 32).
		MustStoreBigUInt(new(big.Int), 256).
		MustStoreUInt(0, 8).
		MustStoreUInt(0, 32).
		MustStoreUInt(0, 32).
		MustStoreDict(nil).EndCell()
	return stateInit(NominatorPoolCode, cell.BeginCell().
		MustStoreUInt(0, 8).
		MustStoreUInt(0, 16).
		MustStoreBigCoins(new(big.Int)).
		MustStoreBigCoins(new(big.Int)).
		MustStoreRef(terms).
		MustStoreDict(nil).
		MustStoreDict(nil).
		MustStoreRef(round))
}

// Address is where StateInit is deployed; pools are in workchain -1.
func (p NominatorPool) Address(workchain int32) *address.Address {
	return AddressOf(workchain, p.StateInit())
}

// PoolProcessWithdrawalsBody is for the pool, from anybody, when no stake is out.
func PoolProcessWithdrawalsBody(queryID uint64, limit uint8) *cell.Cell {
	return body(2, queryID).MustStoreUInt(uint64(limit), 8).EndCell()
}

// PoolValidatorDepositBody is for the pool, from its validator: the value less
// 1 TON is added to their stake.
func PoolValidatorDepositBody(queryID uint64) *cell.Cell {
	return body(4, queryID).EndCell()
}

// PoolValidatorWithdrawBody is for the pool, from its validator.
func PoolValidatorWithdrawBody(queryID uint64, value *big.Int) *cell.Cell {
	return body(5, queryID).MustStoreBigCoins(amount(value)).EndCell()
}

// Stake is what a validator tells the elector.
type Stake struct {
	QueryID   uint64
	Validator [32]byte // public key
	StakeAt   uint32   // active_election_id
	MaxFactor uint32
	ADNL      [32]byte
}

func (s Stake) store(to *cell.Builder) *cell.Cell {
	// The devnet's elector does not check the signature.
	signature := cell.BeginCell().MustStoreSlice(make([]byte, 64), 512).EndCell()
	return to.
		MustStoreSlice(s.Validator[:], 256).
		MustStoreUInt(uint64(s.StakeAt), 32).
		MustStoreUInt(uint64(s.MaxFactor), 32).
		MustStoreSlice(s.ADNL[:], 256).
		MustStoreRef(signature).EndCell()
}

// PoolNewStakeBody is for the pool, from its validator: the pool sends the value
// to the elector.
func PoolNewStakeBody(s Stake, value *big.Int) *cell.Cell {
	return s.store(body(0x4e73744b, s.QueryID).MustStoreBigCoins(amount(value)))
}

// NewStakeBody is for the elector, from an account of the masterchain: the value
// less 1 TON is the stake.
func NewStakeBody(s Stake) *cell.Cell {
	return s.store(body(0x4e73744b, s.QueryID))
}

// RecoverStakeBody is for the elector, or for a pool to ask the elector.
func RecoverStakeBody(queryID uint64) *cell.Cell {
	return body(0x47657424, queryID).EndCell()
}

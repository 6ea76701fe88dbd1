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

// PoolValidatorDepositBody is for the pool, from its validator: the value less
// 1 TON is added to their stake.
func PoolValidatorDepositBody(queryID uint64) *cell.Cell {
	return body(4, queryID).EndCell()
}

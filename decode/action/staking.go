package action

import "math/big"

// Who takes stakes, as details name them.
const (
	liquidStaking    = "liquid_staking" // Tonstakers, and pools of the same contracts
	nominatorStaking = "nominator"
	ethenaStaking    = "ethena"
)

var (
	stakeDeposit    = NewType[stakeStart]("stake_deposit", V1, "staking")
	stakeWithdrawal = NewType[stakeEnd]("stake_withdrawal", V1, "staking")
	stakeRequest    = NewType[stakeEndRequest]("stake_withdrawal_request", V1, "staking")
)

type stakeStart struct {
	Provider     string   `detail:"provider"`
	StakeHolder  Address  `detail:"stake_holder,account"`
	Pool         Address  `detail:"pool,account"`
	Amount       *big.Int `detail:"amount"`
	TokensMinted *big.Int `detail:"tokens_minted"`
	Asset        Address  `detail:"asset"`
	SourceAsset  Address  `detail:"source_asset,optional"`
}

type stakeEnd struct {
	Provider    string   `detail:"provider"`
	StakeHolder Address  `detail:"stake_holder,account"`
	Pool        Address  `detail:"pool,account"`
	Amount      *big.Int `detail:"amount"`
	PayoutNFT   Address  `detail:"payout_nft"`
	TokensBurnt *big.Int `detail:"tokens_burnt"`
	Asset       Address  `detail:"asset"`
}

type stakeEndRequest struct {
	Provider     string   `detail:"provider"`
	StakeHolder  Address  `detail:"stake_holder,account"`
	Pool         Address  `detail:"pool,account"`
	PayoutNFT    Address  `detail:"payout_nft"`
	Asset        Address  `detail:"asset"`
	TokensBurnt  *big.Int `detail:"tokens_burnt"`
	TokensMinted *big.Int `detail:"tokens_minted,optional"`
}

// staking has the types that those who take stakes have in common.
var staking = &Protocol{Name: "staking", Types: []typed{stakeDeposit, stakeWithdrawal, stakeRequest}}

// nanotons is an amount of toncoins as a detail.
func nanotons(n uint64) *big.Int { return new(big.Int).SetUint64(n) }

// less is a less b, zero where b is greater.
func less(a, b uint64) *big.Int { return nanotons(max(a, b) - b) }

// returned reports whether the toncoins of a message did not stay with its
// receiver.
func returned(b *Block) bool { return b.Aborted() && b.Message.GetBounce() }

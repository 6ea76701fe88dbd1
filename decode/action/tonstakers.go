package action

import (
	"bytes"
	"math/big"
	"slices"
)

// Opcodes of Tonstakers.
const (
	opPoolDeposit     = 0x47d54391
	opPoolWithdraw    = 0x319b0cdc
	opPoolWithdrawal  = 0x0a77535c
	opPoolMint        = 0x1674b0a0 // of jettons, and of bills for a later payout
	opBillInit        = 0x132f9a45
	opBillBurn        = 0xf127fe4e
	opBillBurnt       = 0xed58b0b2
	opBillPayout      = 0xdb3b8abd
	opBillsDistribute = 0x1140a64f
)

// depositFee is what a pool keeps of a deposit for its work, in nanotons.
const depositFee = 1e9

// tonstakers are stakes in a pool that gives jettons for them, and for jettons that
// it pays out at the end of a round a bill, which is an NFT item.
var tonstakers = &Protocol{
	Name: "tonstakers",
	Rules: []Rule{
		{
			Name:  "payout for a bill of Tonstakers",
			Order: orderTonstakersDelayedWithdrawal,
			Block: "tonstakers_withdraw",
			Pattern: Call(opBillPayout).As("payout").Below(
				Call(opBillBurnt).As("burnt").Below(Call(opBillBurn)),
			),
			Make: makeBillPayout,
		},
		{
			Name:  "deposit at Tonstakers",
			Order: orderTonstakersDeposit,
			Block: "tonstakers_deposit",
			Pattern: Call(opPoolDeposit).With(OneOf(
				Call(opPoolMint).Where(mintsForStaker).With(
					Call(opJettonInternalTransfer).As("internal transfer").With(notified()),
				),
				Call(opPoolMint).Where(mintsForStaker).Where((*Block).Aborted),
			).Maybe()),
			Make: makePoolDeposit,
		},
		{
			Name:    "withdrawal from Tonstakers",
			Order:   orderTonstakersWithdrawal,
			Block:   "tonstakers_withdraw",
			Pattern: poolWithdrawal(Call(opPoolWithdrawal).As("payout")),
			Make:    makePoolWithdrawal,
		},
		{
			Name:  "withdrawal from Tonstakers at the end of the round",
			Order: orderTonstakersRequest,
			Block: "tonstakers_withdraw_request",
			Pattern: poolWithdrawal(Call(opPoolMint).Where(mintsForStaker).As("bill").With(
				Call(opJettonInternalTransfer).With(notified()).Maybe(), // of what a pool that refuses gives back
			)),
			Make: makePoolRequest,
		},
	},
}

// poolWithdrawal is a burn of a pool's jettons and what the pool answered.
func poolWithdrawal(answer *Pattern) *Pattern {
	return Call(opJettonBurn).With(
		Call(opJettonBurnNotification).With(Call(opPoolWithdraw).As("withdrawal").With(answer)),
	)
}

// mintsForStaker reports whether a mint is that of who staked, or asked for a stake: a
// pool that ends a round on the way mints for the bills of that round, too.
func mintsForStaker(b *Block) bool {
	pool := b.Parent
	if pool == nil {
		return false
	}
	staker := pool.Source()
	if pool.IsCall(opPoolWithdraw) {
		r := pool.Body()
		r.Skip(64) // query_id
		r.Coins()
		staker = r.Address()
	}
	return bytes.Equal(mintedFor(b), staker) || !slices.ContainsFunc(pool.Children, func(c *Block) bool {
		return c.IsCall(opPoolMint) && bytes.Equal(mintedFor(c), staker)
	})
}

// mintedFor is who gets what a pool orders to mint.
func mintedFor(b *Block) Address {
	r := b.Body()
	r.Skip(64) // query_id
	return r.Address()
}

func makePoolDeposit(m *Match) *Made {
	stake := &stakeStart{Provider: liquidStaking, StakeHolder: m.Block.Source(), Pool: m.Block.Destination(), Amount: less(m.Block.Value(), depositFee)}
	internal := m.One("internal transfer")
	if internal == nil {
		return stakeDeposit.Make(stake).Fails(true)
	}
	minted, ok := readInternalTransfer(internal)
	if !ok {
		return nil
	}
	stake.TokensMinted, stake.Asset = minted.Amount, internal.Source()
	return stakeDeposit.Make(stake).Fails(m.Block.Aborted() || internal.Aborted())
}

// burntAtPool reads the amount of a burn.
func burntAtPool(b *Block) (*big.Int, bool) {
	r := b.Body()
	r.Skip(64) // query_id
	amount := r.Coins()
	return amount, !r.Failed()
}

func makePoolWithdrawal(m *Match) *Made {
	burnt, ok := burntAtPool(m.Block)
	if !ok {
		return nil
	}
	withdrawal, payout := m.One("withdrawal"), m.One("payout")
	return stakeWithdrawal.Make(&stakeEnd{
		Provider: liquidStaking, StakeHolder: m.Block.Source(), Pool: withdrawal.Destination(),
		Amount: less(payout.Value(), withdrawal.Value()), TokensBurnt: burnt, Asset: withdrawal.Source(),
	}).Fails(m.Block.Aborted() || returned(payout))
}

func makePoolRequest(m *Match) *Made {
	burnt, ok := burntAtPool(m.Block)
	if !ok {
		return nil
	}
	withdrawal := m.One("withdrawal")
	request := &stakeEndRequest{
		Provider: liquidStaking, StakeHolder: m.Block.Source(), Pool: withdrawal.Destination(),
		Asset: withdrawal.Source(), TokensBurnt: burnt,
	}
	failed := true
	for _, c := range m.One("bill").Children {
		if mint := nftMint.Of(c); mint != nil {
			request.PayoutNFT, failed = mint.NFTItem, c.Failed
			break
		}
		if c.IsCall(opBillInit) {
			request.PayoutNFT, failed = c.Destination(), c.Aborted()
			break
		}
	}
	return stakeRequest.Make(request).Fails(failed || m.Block.Aborted())
}

// makeBillPayout looks for the pool above the burns of bills: each bill burns the
// next one, the first one on the word of the pool that the round is over.
func makeBillPayout(m *Match) *Made {
	payout, burnt := m.One("payout"), m.One("burnt")
	r := burnt.Body()
	r.Skip(64) // query_id
	amount := r.Coins()
	r.Address() // owner, whom it is paid to
	if r.Failed() {
		return nil
	}
	end := &stakeEnd{
		Provider: liquidStaking, StakeHolder: payout.Destination(), Amount: nanotons(payout.Value()), PayoutNFT: burnt.Source(), TokensBurnt: amount,
	}
	for b := burnt.Parent; b != nil; b = b.Parent {
		m.scan.steps--
		if b.IsCall(opBillsDistribute) {
			end.Pool = b.Source()
			break
		}
		if above := stakeWithdrawal.Of(b); above != nil {
			end.Pool = above.Pool
			break
		}
		if m.scan.steps < 0 || !b.IsCall(opBillBurn, opBillBurnt) {
			break
		}
	}
	return stakeWithdrawal.Make(end).Fails(returned(payout))
}

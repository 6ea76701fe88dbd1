package action

import "math/big"

// Opcodes of JVault.
const (
	opJVaultReceive        = 0xd68a4ac1
	opJVaultCancel         = 0x9eada1d9
	opJVaultUnstake        = 0x499a9262
	opJVaultUnstakeRequest = 0x0168d4b7
	opJVaultClaim          = 0x78d9f109
	opJVaultClaimed        = 0x44bc1fe3
	opJVaultRequestUpdate  = 0xf5c5baa3
	opJVaultUpdate         = 0xae9307ce
	opJVaultReferrer       = 0x55c35b40 // asks for an update
	opJVaultReferrerUpdate = 0x076ee4e0
	opJVaultSetData        = 0x383411ea
)

var (
	jvaultStake          = NewType[farmStake]("jvault_stake", V2, "jvault")
	jvaultUnstake        = NewType[farmUnstake]("jvault_unstake", V2, "jvault")
	jvaultUnstakeRequest = NewType[farmUnstake]("jvault_unstake_request", V2, "jvault")
	jvaultClaim          = NewType[farmClaim]("jvault_claim", V2, "jvault")
)

type farmStake struct {
	Period             int64    `detail:"period"`
	MintedStakeJettons *big.Int `detail:"minted_stake_jettons"`
	StakeWallet        Address  `detail:"stake_wallet"`
	Source             Address  `detail:"source,account"`
	SourceJettonWallet Address  `detail:"source_jetton_wallet,account"`
	Asset              Address  `detail:"asset"`
	Pool               Address  `detail:"pool,account"`
	Amount             *big.Int `detail:"amount"`
}

type farmUnstake struct {
	Source       Address  `detail:"source,account"`
	StakeWallet  Address  `detail:"stake_wallet,account"`
	Pool         Address  `detail:"pool,account"`
	Amount       *big.Int `detail:"amount"`
	ExitCode     *int64   `detail:"exit_code"` // of a refusal
	Asset        Address  `detail:"asset"`
	StakingAsset Address  `detail:"staking_asset"`
}

type farmClaim struct {
	ClaimedRewards []farmReward `detail:"claimed_rewards"`
	Source         Address      `detail:"source,account"`
	StakeWallet    Address      `detail:"stake_wallet,account"`
	Pool           Address      `detail:"pool,account"`
}

type farmReward struct {
	Jetton Address  `detail:"jetton"` // the pool's wallet, by which claims name rewards
	Amount *big.Int `detail:"amount"`
}

// jvault is farming at JVault. A stake wallet holds what one staked in a pool; what
// changes there the pool is asked to update, and it answers the wallet.
var jvault = &Protocol{
	Name:  "jvault",
	Types: []typed{jvaultStake, jvaultUnstake, jvaultUnstakeRequest, jvaultClaim},
	Rules: []Rule{
		{
			Name:  "stake at JVault",
			Order: orderJVaultStake,
			Pattern: Is(jettonTransfer).With(
				Call(opJVaultReceive).As("received").With(OneOf(
					poolUpdate(),
					Call(opJVaultCancel).As("cancelled").With(Is(jettonTransfer).Maybe()),
				)),
				Call(opJVaultSetData).Maybe(),
			),
			Make: makeJVaultStake,
		},
		{
			Name:  "stake taken out of JVault",
			Order: orderJVaultUnstake,
			Pattern: Call(opJVaultUnstake).Alone().With(
				poolUpdate().With(Plain().Maybe(), delivered().As("payout").Maybe()).Maybe(),
			),
			Make: func(m *Match) *Made { return makeJVaultUnstake(m, jvaultUnstake) },
		},
		{
			Name:  "rewards claimed at JVault",
			Order: orderJVaultClaim,
			Pattern: Call(opJVaultClaim).With(
				Call(opJVaultClaimed).As("claim").With(
					delivered().As("reward").Every().Maybe(),
					OneOf(Call(opJVaultUpdate), sentBack()).Maybe(),
				).Maybe(),
			),
			Make: makeJVaultClaim,
		},
		{
			Name:    "request to take a stake out of JVault",
			Order:   orderJVaultRequest,
			Pattern: Call(opJVaultUnstakeRequest).Alone().With(poolUpdate().Maybe()),
			Make:    func(m *Match) *Made { return makeJVaultUnstake(m, jvaultUnstakeRequest) },
		},
	},
}

// poolUpdate is what a stake wallet asks of its pool: to update referrers, who may
// have referrers themselves, and the wallet.
func poolUpdate() *Pattern {
	return Call(opJVaultRequestUpdate).As("update").With(
		Again(jvaultReferrers).Every().Maybe(),
		Call(opJVaultUpdate).As("updated").Maybe(),
	)
}

func jvaultReferrers() *Pattern {
	return Call(opJVaultReferrer, opJVaultReferrerUpdate).With(Again(jvaultReferrers).Every().Maybe())
}

func makeJVaultStake(m *Match) *Made {
	t, received := jettonTransfer.Of(m.Block), m.One("received")
	stake := &farmStake{
		StakeWallet: received.Destination(), Pool: received.Source(),
		Source: t.Sender, SourceJettonWallet: t.SenderJettonWallet, Asset: t.Asset, Amount: t.Amount,
	}
	p := t.Forward
	p.Skip(32) // opcode
	stake.Period = int64(p.Uint(32))
	r := received.Body()
	r.Skip(64) // query_id
	r.Coins()  // min_deposit
	r.Coins()  // max_deposit
	r.Skip(16) // unstake_commission
	r.Coins()  // unstake_fee
	if r.Bool() {
		r.Ref() // whitelist
	}
	staked := r.Coins()
	if p.Failed() || r.Failed() {
		return nil
	}
	failed := m.One("cancelled") != nil || m.Block.Failed || m.Aborted("received", "update", "updated")
	if !failed {
		stake.MintedStakeJettons = staked
	}
	return jvaultStake.Make(stake).Fails(failed)
}

// stakeWallet is the pool of a stake wallet, which only its data say, and the master of
// the jettons that stand for what is staked there: a stake wallet is a wallet of them.
func stakeWallet(m *Match, account Address) (pool, master Address) {
	master, _ = m.master(account)
	r, ok := m.Data(account)
	if !ok {
		return nil, master
	}
	pool, minter := r.Address(), r.Address()
	if r.Failed() {
		return nil, master
	}
	return pool, minter
}

// stakedAt is the master of the jettons that a pool takes.
func stakedAt(m *Match, pool Address) Address {
	r, ok := m.Data(pool)
	if !ok {
		return nil
	}
	r.Skip(1 + 32) // init, pool_id
	r.Address()    // admin
	r.Address()    // creator
	lock := r.Address()
	return m.Contract(lock).GetJettonWallet().GetMaster()
}

func makeJVaultUnstake(m *Match, what *TypeOf[farmUnstake]) *Made {
	b, update, payout := m.Block, m.One("update"), m.One("payout")
	r := b.Body()
	r.Skip(64) // query_id
	unstake := &farmUnstake{Source: b.Source(), StakeWallet: b.Destination(), Amount: r.Coins()}
	if r.Failed() {
		return nil
	}
	unstake.Pool, unstake.StakingAsset = stakeWallet(m, b.Destination())
	if update != nil {
		unstake.Pool = update.Destination()
	} else if unstake.Pool == nil && unstake.StakingAsset == nil {
		return nil // nothing says that it is a stake wallet
	}
	unstake.Asset = stakedAt(m, unstake.Pool)
	failed := update == nil || m.Aborted("update")
	if what == jvaultUnstake && payout == nil {
		failed = true
	} else if payout != nil {
		t, lost := ordered(payout)
		if failed = failed || lost; t != nil && t.Asset != nil {
			unstake.Asset = t.Asset
		}
	}
	if update == nil {
		code := int64(b.Tx.GetCompute().GetExitCode())
		unstake.ExitCode = &code
	}
	return what.Make(unstake).Fails(failed || b.Aborted())
}

func makeJVaultClaim(m *Match) *Made {
	b, claim := m.Block, m.One("claim")
	made := &farmClaim{Source: b.Source(), StakeWallet: b.Destination()}
	if claim == nil {
		order := b.underWay(opJVaultClaimed)
		if order == nil {
			return nil
		}
		made.Pool = order.Destination
		return jvaultClaim.Make(made)
	}
	made.Pool = claim.Destination()
	failed := b.Aborted() || claim.Aborted()
	for _, reward := range m.All("reward") {
		t, lost := ordered(reward)
		if failed = failed || lost; t != nil {
			made.ClaimedRewards = append(made.ClaimedRewards, farmReward{Jetton: t.SenderJettonWallet, Amount: t.Amount})
		}
	}
	return jvaultClaim.Make(made).Fails(failed)
}

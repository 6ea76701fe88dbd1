package action_test

import (
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/action"
	"tonscribe/schema/record"
)

// accountData are facts with data of accounts.
type accountData struct {
	known
	data map[string]*cell.Cell
}

func (d accountData) AccountData(account []byte) []byte {
	if c := d.data[string(account)]; c != nil {
		return boc(c)
	}
	return nil
}

var (
	stakeWallet = account(0x71)
	lockWallet  = account(0x72) // of the pool
	stakeMaster = account(0x73)
	jvaultFacts = accountData{
		known{wallet(aliceWallet, alice), wallet(lockWallet, pool)},
		map[string]*cell.Cell{
			string(stakeWallet): cell.BeginCell().MustStoreAddr(friendly(pool)).MustStoreAddr(friendly(stakeMaster)).MustStoreAddr(friendly(alice)).EndCell(),
			string(pool): cell.BeginCell().MustStoreBoolBit(true).MustStoreUInt(5, 32).MustStoreAddr(friendly(market)).MustStoreAddr(friendly(carol)).
				MustStoreAddr(friendly(lockWallet)).EndCell(),
		},
	}
)

// updateOf is a stake wallet's request of an update, with what the pool does besides.
func updateOf(s step, besides ...step) step {
	s.to, s.value, s.body = pool, 60, word(0xf5c5baa3)
	if s.then == nil {
		s.then = append(besides, step{to: stakeWallet, value: 30, body: word(0xae9307ce), then: []step{excess()}})
	}
	return s
}

func TestAStakeAtJVaultIsOneOnceThePoolCountsIt(t *testing.T) {
	received := func(s step) step {
		b := coins(coins(word(0xd68a4ac1).MustStoreUInt(4, 64), 1), 1<<40).MustStoreUInt(7, 16)
		s.to, s.value, s.body = stakeWallet, 80, coins(coins(b, 9).MustStoreBoolBit(true).MustStoreRef(cell.BeginCell().EndCell()), 99)
		return s
	}
	stake := func(s step, besides ...step) step {
		payload := cell.BeginCell().MustStoreUInt(0xe3a06989, 32).MustStoreUInt(2592000, 32)
		return jettonsTo(alice, pool, aliceWallet, lockWallet, 100, payload, append(besides, received(s))...)
	}
	referrer, above := account(0x74), account(0x75)
	referrals := step{to: referrer, value: 20, body: word(0x55c35b40), then: []step{
		{to: above, value: 15, body: word(0x55c35b40), then: []step{
			{to: pool, value: 12, body: word(0x55c35b40), then: []step{{to: above, value: 10, body: word(0x076ee4e0), then: []step{excess()}}}},
		}},
	}}
	back := jettonsTo(pool, alice, lockWallet, aliceWallet, 100, comment("Stake was unsuccessful"))
	for what, c := range map[string]struct {
		step step
		want []string
	}{
		"counted":             {stake(step{then: []step{updateOf(step{})}}), []string{"jvault_stake"}},
		"with referrers":      {stake(step{then: []step{updateOf(step{}, referrals)}}, step{to: referrer, value: 9, body: word(0x383411ea)}), []string{"jvault_stake"}},
		"cancelled":           {stake(step{then: []step{{to: pool, value: 60, body: word(0x9eada1d9), then: []step{back}}}}), []string{"jvault_stake!"}},
		"refused by the pool": {stake(step{then: []step{updateOf(step{aborted: true, then: []step{}})}}), []string{"jvault_stake!"}},
		"an answer of the pool that the wallet refuses": {stake(step{then: []step{updateOf(step{then: []step{{to: stakeWallet, value: 30, aborted: true, bounce: true, body: word(0xae9307ce)}}})}}), []string{"jvault_stake!"}},
		"refused by the wallet":                         {stake(step{aborted: true}), []string{"jetton_transfer", "call_contract!"}},
		"jettons of no wallet's":                        {step{to: pool, value: 9, body: word(0x7362d09c), then: []step{received(step{then: []step{updateOf(step{})}})}}, nil},
	} {
		t.Run(what, func(t *testing.T) {
			list := outermost(t, jvaultFacts, play(alice, c.step))
			if c.want == nil {
				details(t, list, "call_contract", "source", alice)
				return
			}
			wants(t, list, c.want...)
			if c.want[0] == "jvault_stake" {
				details(t, list, "jvault_stake", "period", 2592000, "minted_stake_jettons", 99, "stake_wallet", stakeWallet, "source", alice,
					"source_jetton_wallet", aliceWallet, "asset", master, "pool", pool, "amount", 100)
			}
			if c.want[0] == "jvault_stake!" {
				details(t, list, "jvault_stake!", "minted_stake_jettons", nil, "pool", pool)
			}
		})
	}
}

func TestAStakeIsTakenOutOfJVaultInTwoSteps(t *testing.T) {
	failing := func(code int32) func(*record.Transaction) {
		return func(tx *record.Transaction) { tx.Compute = &record.ComputePhase{ExitCode: code} }
	}
	unstake := func(op uint64, s step) step {
		s.to, s.value, s.bounce, s.body = stakeWallet, 90, true, coins(word(op).MustStoreUInt(4, 64), 100).MustStoreBoolBit(true)
		return s
	}
	const request, take = 0x0168d4b7, 0x499a9262
	paid := jettonsTo(pool, alice, lockWallet, aliceWallet, 100, comment("Jettons unstaked"))
	fee := step{to: market, value: 3, body: comment("Unstake fee")}
	refused := step{aborted: true, change: failing(46), then: []step{bounceOf(alice, word(request))}}
	for what, c := range map[string]struct {
		step   step
		want   []string
		code   any
		others bool // recognised without facts
	}{
		"request":             {unstake(request, step{then: []step{updateOf(step{})}}), []string{"jvault_unstake_request"}, nil, true},
		"request refused":     {unstake(request, refused), []string{"jvault_unstake_request!", "call_contract"}, 46, false},
		"request not counted": {unstake(request, step{then: []step{updateOf(step{aborted: true, then: []step{}})}}), []string{"jvault_unstake_request!"}, nil, true},
		"taken":               {unstake(take, step{then: []step{updateOf(step{}, fee, paid)}}), []string{"jvault_unstake"}, nil, true},
		"taken without fee":   {unstake(take, step{then: []step{updateOf(step{}, paid)}}), []string{"jvault_unstake"}, nil, true},
		"not paid":            {unstake(take, step{then: []step{updateOf(step{})}}), []string{"jvault_unstake!"}, nil, true},
		"not allowed":         {unstake(take, refused), []string{"jvault_unstake!", "call_contract"}, 46, false},
		"the pool refuses":    {unstake(take, step{then: []step{updateOf(step{aborted: true, then: []step{}})}}), []string{"jvault_unstake!"}, nil, true},
		"an order that ends":  {step{to: stakeWallet, value: 9, body: word(take)}, []string{"call_contract"}, nil, false},
	} {
		t.Run(what, func(t *testing.T) {
			list := outermost(t, jvaultFacts, play(alice, c.step))
			wants(t, list, c.want...)
			if c.want[0] != "call_contract" {
				details(t, list, c.want[0], "source", alice, "stake_wallet", stakeWallet, "pool", pool, "amount", 100, "exit_code", c.code,
					"asset", master, "staking_asset", stakeMaster)
			}
			first := outermost(t, jvaultFacts.known, play(alice, c.step))[0]
			if (first.Type.Name == "jvault_unstake" || first.Type.Name == "jvault_unstake_request") != c.others {
				t.Errorf("without the wallet's data it is a %s", summary(first))
			}
		})
	}
}

func TestAStakeWalletIsKnownByItsJettonsWithoutItsData(t *testing.T) {
	facts := known{wallet(aliceWallet, alice), wallet(lockWallet, pool), jettons(stakeWallet, alice, stakeMaster)}
	unstake := func(op uint64, s step) step {
		s.to, s.value, s.bounce, s.body = stakeWallet, 90, true, coins(word(op).MustStoreUInt(4, 64), 100).MustStoreBoolBit(true)
		return s
	}
	paid := jettonsTo(pool, alice, lockWallet, aliceWallet, 100, comment("Jettons unstaked"))
	list := outermost(t, facts, play(alice, unstake(0x499a9262, step{then: []step{updateOf(step{}, paid)}})))
	wants(t, list, "jvault_unstake")
	details(t, list, "jvault_unstake", "pool", pool, "asset", master, "staking_asset", stakeMaster)
	list = outermost(t, facts, play(alice, unstake(0x0168d4b7, step{aborted: true})))
	wants(t, list, "jvault_unstake_request!")
	details(t, list, "jvault_unstake_request!", "pool", nil, "asset", nil, "staking_asset", stakeMaster)
}

func TestWhatJVaultPaysIsPaidToUnknownWalletsToo(t *testing.T) {
	paid := jettonsTo(pool, alice, lockWallet, aliceWallet, 100, comment("Jettons unstaked"))
	take := step{to: stakeWallet, value: 90, body: coins(word(0x499a9262).MustStoreUInt(4, 64), 100).MustStoreBoolBit(true), then: []step{updateOf(step{}, paid)}}
	list := outermost(t, action.NoFacts{}, play(alice, take))
	wants(t, list, "jvault_unstake")
	details(t, list, "jvault_unstake", "pool", pool, "amount", 100, "asset", nil)
	claimed := step{to: pool, value: 60, body: word(0x44bc1fe3), then: []step{paid, {to: stakeWallet, value: 30, body: word(0xae9307ce), then: []step{excess()}}}}
	claim := step{to: stakeWallet, value: 90, body: word(0x78d9f109).MustStoreUInt(4, 64).MustStoreBoolBit(false), then: []step{claimed}}
	list = outermost(t, action.NoFacts{}, play(alice, claim))
	wants(t, list, "jvault_claim")
	details(t, list, "jvault_claim", "claimed_rewards[0].jetton", lockWallet, "claimed_rewards[0].amount", 100)
	refused := paid
	refused.aborted, refused.then = true, []step{bounceOf(pool, word(0x0f8a7ea5))}
	take.then = []step{updateOf(step{}, refused)}
	wants(t, outermost(t, action.NoFacts{}, play(alice, take)), "jvault_unstake!")
}

func TestRewardsAreClaimedAtJVault(t *testing.T) {
	second := account(0x76) // another wallet of the pool
	facts := known{wallet(aliceWallet, alice), wallet(lockWallet, pool), wallet(second, pool)}
	claim := func(s step, then ...step) step {
		s.to, s.value, s.body, s.then = pool, 60, word(0x44bc1fe3), then
		return step{to: stakeWallet, value: 90, body: word(0x78d9f109).MustStoreUInt(4, 64).MustStoreBoolBit(false), then: []step{s}}
	}
	updated := step{to: stakeWallet, value: 30, body: word(0xae9307ce), then: []step{excess()}}
	reward := func(wallet []byte, amount int64) step {
		s := jettonsTo(pool, alice, wallet, aliceWallet, amount, comment("Claim staking rewards"))
		s.then[0].then = s.then[0].then[:0]
		return s
	}
	list := outermost(t, facts, play(alice, claim(step{}, reward(lockWallet, 7), reward(second, 8), updated)))
	wants(t, list, "jvault_claim")
	details(t, list, "jvault_claim", "source", alice, "stake_wallet", stakeWallet, "pool", pool, "claimed_rewards[0].jetton", lockWallet,
		"claimed_rewards[0].amount", 7, "claimed_rewards[1].jetton", second, "claimed_rewards[1].amount", 8)
	list = outermost(t, facts, play(alice, claim(step{}, updated)))
	wants(t, list, "jvault_claim")
	details(t, list, "jvault_claim", "claimed_rewards", []any{})
	wants(t, outermost(t, facts, play(alice, claim(step{aborted: true}))), "jvault_claim!")
	back := bounceOf(stakeWallet, word(0x44bc1fe3))
	back.then = []step{excess()}
	wants(t, outermost(t, facts, play(alice, claim(step{aborted: true, bounce: true}, back))), "jvault_claim!")
	lost := reward(lockWallet, 7)
	lost.then[0].aborted = true
	wants(t, outermost(t, facts, play(alice, claim(step{}, lost, updated))), "jvault_claim!")
	wants(t, outermost(t, facts, play(alice, step{to: stakeWallet, value: 90, aborted: true, body: word(0x78d9f109)})), "call_contract!")
}

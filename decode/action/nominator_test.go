package action_test

import (
	"testing"

	"tonscribe/decode/action"
	"tonscribe/schema/record"
)

var nominatorFacts = known{{Account: pool, NominatorPool: &record.NominatorPool{}}}

func TestStakesInANominatorPoolGoByTheWordOfAComment(t *testing.T) {
	say := func(text string, s step, then ...step) step {
		s.to, s.value, s.body, s.then = pool, 1000, comment(text), then
		return s
	}
	pay := func(to []byte, value uint64, s step) step {
		s.to, s.value = to, value
		return s
	}
	for what, c := range map[string]struct {
		step step
		want []string
	}{
		"deposit":                      {say("d", step{}), []string{"stake_deposit"}},
		"deposit refused":              {say("d", step{aborted: true, bounce: true}, bounceOf(alice, comment("d"))), []string{"stake_deposit!"}},
		"deposit without gas":          {say("d", step{aborted: true, change: skips(record.ComputePhase_NO_GAS)}), []string{"stake_deposit!"}},
		"another word":                 {say("deposit", step{}), []string{"ton_transfer"}},
		"paid at once":                 {say("w", step{}, pay(alice, 5000, step{}), pay(alice, 900, step{})), []string{"stake_withdrawal"}},
		"paid at once, nothing left":   {say("w", step{}, pay(alice, 5000, step{})), []string{"stake_withdrawal"}},
		"paid and back":                {say("w", step{}, pay(alice, 5000, step{aborted: true, bounce: true, then: []step{bounceOf(pool, word(0))}})), []string{"stake_withdrawal!"}},
		"paid to who does not listen":  {say("w", step{}, pay(alice, 5000, step{aborted: true})), []string{"stake_withdrawal"}},
		"asked for":                    {say("w", step{}, pay(alice, 900, step{})), []string{"stake_withdrawal_request"}},
		"asked for, no change":         {say("w", step{}), []string{"stake_withdrawal_request"}},
		"refused":                      {say("w", step{aborted: true, bounce: true}, bounceOf(alice, comment("w"))), []string{"stake_withdrawal_request!"}},
		"asked for without gas":        {say("w", step{aborted: true, change: skips(record.ComputePhase_NO_GAS)}), []string{"stake_withdrawal_request!"}},
		"something to somebody else":   {say("w", step{}, pay(bob, 5000, step{})), []string{"stake_withdrawal_request", "ton_transfer"}},
		"nothing that a pool would do": {say("w", step{}, pay(alice, 1, step{}), pay(alice, 1, step{}), pay(alice, 1, step{})), []string{"stake_withdrawal_request", "ton_transfer", "ton_transfer", "ton_transfer"}},
	} {
		t.Run(what, func(t *testing.T) {
			list := recognise(t, nominatorFacts, play(alice, c.step))
			wants(t, list, c.want...)
			switch c.want[0] {
			case "stake_deposit":
				details(t, list, "stake_deposit", "provider", "nominator", "stake_holder", alice, "pool", pool, "amount", 1000, "tokens_minted", nil, "asset", nil)
			case "stake_withdrawal":
				details(t, list, "stake_withdrawal", "provider", "nominator", "stake_holder", alice, "pool", pool, "amount", 5000,
					"payout_nft", nil, "tokens_burnt", nil, "asset", nil)
			case "stake_withdrawal_request":
				details(t, list, "stake_withdrawal_request", "provider", "nominator", "stake_holder", alice, "pool", pool, "payout_nft", nil,
					"asset", nil, "tokens_burnt", nil, "tokens_minted", nil)
			}
			for _, w := range recognise(t, action.NoFacts{}, play(alice, c.step)) {
				if w.Type.Name != "ton_transfer" && w.Type.Name != "call_contract" {
					t.Errorf("%s at what is no pool", w.Type.Name)
				}
			}
		})
	}
}

func TestANominatorPoolPaysEachWhoAsked(t *testing.T) {
	s := step{to: pool, value: 10, body: word(2).MustStoreUInt(4, 64), then: []step{
		{to: alice, value: 5000}, {to: bob, value: 6000, aborted: true, bounce: true}, excess(),
	}}
	list := recognise(t, nominatorFacts, play(carol, s))
	wants(t, list, "call_contract", "stake_withdrawal", "stake_withdrawal!", "call_contract")
	details(t, list, "stake_withdrawal", "provider", "nominator", "stake_holder", alice, "pool", pool, "amount", 5000)
	details(t, list, "stake_withdrawal!", "stake_holder", bob, "pool", pool, "amount", 6000)
	wants(t, recognise(t, action.NoFacts{}, play(carol, s)), "call_contract", "ton_transfer", "ton_transfer!", "call_contract")
	// To who does not listen.
	s.then[1].bounce = false
	wants(t, recognise(t, nominatorFacts, play(carol, s)), "call_contract", "stake_withdrawal", "stake_withdrawal", "call_contract")
}

func TestWhatIsLeftOfARequestIsNoPayoutOfANominatorPool(t *testing.T) {
	left := step{to: carol, value: 9}
	process := step{to: pool, value: 10, body: word(2).MustStoreUInt(4, 64).MustStoreUInt(40, 8), then: []step{{to: alice, value: 5000}, left}}
	wants(t, recognise(t, nominatorFacts, play(carol, process)), "call_contract", "stake_withdrawal", "ton_transfer")
	// Who asks has a stake of its own.
	process.then = []step{{to: carol, value: 5000}, left}
	list := recognise(t, nominatorFacts, play(carol, process))
	wants(t, list, "call_contract", "stake_withdrawal", "ton_transfer")
	details(t, list, "stake_withdrawal", "stake_holder", carol, "amount", 5000)
	process.then = []step{{to: carol, value: 8}, left}
	details(t, recognise(t, nominatorFacts, play(carol, process)), "stake_withdrawal", "stake_holder", carol, "amount", 8)
	// One of those who have asked.
	one := step{to: pool, value: 10, body: word(3).MustStoreUInt(4, 64).MustStoreSlice(alice[4:], 256), then: []step{{to: alice, value: 5000}, left}}
	list = recognise(t, nominatorFacts, play(carol, one))
	wants(t, list, "call_contract", "stake_withdrawal", "ton_transfer")
	details(t, list, "stake_withdrawal", "stake_holder", alice, "pool", pool, "amount", 5000)
}

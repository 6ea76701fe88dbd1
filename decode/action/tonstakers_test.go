package action_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/action"
	"tonscribe/schema/record"
)

var (
	pool  = account(0x41)
	bills = account(0x42)
	bill  = account(0x43)
)

// poolMint is Tonstakers' order to mint.
func poolMint(amount int64) *cell.Builder { return poolMintFor(alice, amount) }

func poolMintFor(to []byte, amount int64) *cell.Builder {
	return coins(coins(coins(word(0x1674b0a0).MustStoreUInt(4, 64).MustStoreAddr(friendly(to)), amount), 0), 1)
}

func minted(s step) step {
	s.to, s.body = aliceWallet, internalOrder(95, pool)
	return s
}

func TestADepositAtTonstakersIsOneOnceJettonsAreMinted(t *testing.T) {
	deposit := func(s step, then ...step) step {
		s.to, s.value, s.body, s.then = pool, 11_000_000_000, word(0x47d54391).MustStoreUInt(4, 64), then
		return s
	}
	for what, c := range map[string]struct {
		step step
		want []string
	}{
		"minted": {deposit(step{}, step{to: master, value: 1, body: poolMint(95), then: []step{
			minted(step{value: 1, then: []step{{to: alice, value: 1, body: word(0x7362d09c)}, excess()}}),
		}}), []string{"stake_deposit"}},
		"without notification": {deposit(step{}, step{to: master, value: 1, body: poolMint(95), then: []step{minted(step{value: 1})}}),
			[]string{"stake_deposit"}},
		"refused by the pool": {deposit(step{aborted: true, bounce: true}, bounceOf(alice, word(0x47d54391))), []string{"stake_deposit!"}},
		"refused by the master": {deposit(step{}, step{to: master, value: 1, aborted: true, body: poolMint(95)}),
			[]string{"stake_deposit!"}},
		"refused by the master, and back": {deposit(step{}, step{to: master, value: 1, aborted: true, bounce: true, body: poolMint(95), then: []step{bounceOf(pool, poolMint(95))}}),
			[]string{"stake_deposit!"}},
		"refused by the wallet": {deposit(step{}, step{to: master, value: 1, body: poolMint(95), then: []step{minted(step{value: 1, aborted: true})}}),
			[]string{"stake_deposit!"}},
		"a bill instead": {deposit(step{}, step{to: bills, value: 1, body: poolMint(95), then: []step{{to: bill, value: 1, body: word(0x132f9a45)}}}),
			[]string{"stake_deposit!", "call_contract", "call_contract"}},
		"a mint that ends early": {deposit(step{}, step{to: master, value: 1, body: poolMint(95), then: []step{
			{to: aliceWallet, value: 1, body: word(0x178d4519)}}}), []string{"call_contract", "call_contract", "call_contract"}},
	} {
		t.Run(what, func(t *testing.T) {
			list := recognise(t, action.NoFacts{}, play(alice, c.step))
			wants(t, list, c.want...)
			if c.want[0] == "stake_deposit" {
				details(t, list, "stake_deposit", "provider", "liquid_staking", "stake_holder", alice, "pool", pool, "amount", 10_000_000_000,
					"tokens_minted", 95, "asset", master, "source_asset", nil)
			}
		})
	}
}

// poolBurn is a burn of a pool's jettons, and what the pool answers.
func poolBurn(answer ...step) step {
	burn := coins(word(0x595f07bc).MustStoreUInt(4, 64), 95).MustStoreAddr(friendly(alice)).MustStoreBoolBit(false)
	return step{to: aliceWallet, value: 9, body: burn, then: []step{
		{to: master, value: 8, body: word(0x7bdd97de), then: []step{
			{to: pool, value: 7, body: coins(word(0x319b0cdc).MustStoreUInt(4, 64), 95).MustStoreAddr(friendly(alice)).MustStoreAddr(friendly(alice)), then: answer},
		}},
	}}
}

func TestTonstakersPayAtOnceOrGiveABill(t *testing.T) {
	billFacts := append(known{{Account: bill, NftItem: &record.NFTItem{Index: []byte{1}, Collection: bills}}}, wallets...)
	for what, c := range map[string]struct {
		step step
		want []string
	}{
		"at once":                        {poolBurn(step{to: alice, value: 107, body: word(0x0a77535c)}), []string{"stake_withdrawal"}},
		"at once to who does not listen": {poolBurn(step{to: alice, value: 107, aborted: true, body: word(0x0a77535c)}), []string{"stake_withdrawal"}},
		"at once and back":               {poolBurn(step{to: alice, value: 107, aborted: true, bounce: true, body: word(0x0a77535c)}), []string{"stake_withdrawal!"}},
		"a bill": {poolBurn(step{to: bills, value: 6, body: poolMint(95), then: []step{{to: bill, value: 5, deployed: true, body: word(0x132f9a45)}}}),
			[]string{"stake_withdrawal_request", "nft_mint", "contract_deploy"}},
		"a bill refused": {poolBurn(step{to: bills, value: 6, body: poolMint(95), then: []step{{to: bill, value: 5, aborted: true, body: word(0x132f9a45)}}}),
			[]string{"stake_withdrawal_request!", "call_contract!"}},
		"no bill":             {poolBurn(step{to: bills, value: 6, aborted: true, body: poolMint(95)}), []string{"stake_withdrawal_request!"}},
		"refused by the pool": {poolBurn(), []string{"jetton_burn", "call_contract"}},
	} {
		t.Run(what, func(t *testing.T) {
			list := recognise(t, billFacts, play(alice, c.step))
			wants(t, list, c.want...)
			switch c.want[0] {
			case "stake_withdrawal":
				details(t, list, "stake_withdrawal", "provider", "liquid_staking", "stake_holder", alice, "pool", pool, "amount", 100,
					"payout_nft", nil, "tokens_burnt", 95, "asset", master)
			case "stake_withdrawal_request":
				details(t, list, "stake_withdrawal_request", "provider", "liquid_staking", "stake_holder", alice, "pool", pool,
					"payout_nft", bill, "asset", master, "tokens_burnt", 95, "tokens_minted", nil)
			}
		})
	}
}

func TestAPoolThatEndsARoundMintsForItsBillsToo(t *testing.T) {
	facts := append(known{{Account: bill, NftItem: &record.NFTItem{Index: []byte{1}, Collection: bills}}}, wallets...)
	round := step{to: master, value: 2, body: poolMintFor(bills, 700), then: []step{{to: bobWallet, value: 1, body: internalOrder(700, pool)}}}
	mine := step{to: master, value: 1, body: poolMint(95), then: []step{minted(step{value: 1})}}
	for _, mints := range [][]step{{round, mine}, {mine, round}} {
		list := recognise(t, facts, play(alice, step{to: pool, value: 11_000_000_000, body: word(0x47d54391).MustStoreUInt(4, 64), then: mints}))
		wants(t, list, "stake_deposit", "call_contract", "call_contract")
		details(t, list, "stake_deposit", "tokens_minted", 95)
	}
	billed := step{to: bills, value: 6, body: poolMint(95), then: []step{{to: bill, value: 5, deployed: true, body: word(0x132f9a45)}}}
	list := recognise(t, facts, play(alice, poolBurn(round, billed)))
	details(t, list, "stake_withdrawal_request", "payout_nft", bill)
}

func TestAPoolThatRefusesAWithdrawalMintsTheJettonsAnew(t *testing.T) {
	back := minted(step{value: 1, then: []step{{to: alice, value: 1, body: word(0x7362d09c)}, excess()}})
	refused := poolBurn(step{to: master, value: 6, body: poolMint(95), then: []step{back}}, excess())
	list := recognise(t, wallets, play(alice, refused))
	wants(t, list, "stake_withdrawal_request!")
	details(t, list, "stake_withdrawal_request!", "payout_nft", nil, "tokens_burnt", 95, "asset", master, "pool", pool)
}

func TestBillsArePaidOneAfterAnother(t *testing.T) {
	burnt := func(owner []byte, amount int64) *cell.Builder {
		return coins(word(0xed58b0b2).MustStoreUInt(4, 64), amount).MustStoreAddr(friendly(owner)).MustStoreUInt(1, 64)
	}
	second := account(0x44)
	payouts := func(first, last step) step {
		first.to, first.value, first.body = alice, 100, word(0xdb3b8abd)
		last.to, last.value, last.body = bob, 50, word(0xdb3b8abd)
		return step{to: bills, value: 1000, body: word(0x1140a64f), then: []step{
			{to: bill, value: 1, body: word(0xf127fe4e), then: []step{
				{to: second, value: 1, body: word(0xf127fe4e), then: []step{
					{to: bills, value: 3, body: burnt(bob, 45), then: []step{last}},
				}},
				{to: bills, value: 3, body: burnt(alice, 95), then: []step{first}},
			}},
		}}
	}
	list := recognise(t, action.NoFacts{}, play(pool, payouts(step{}, step{})))
	wants(t, list, "call_contract", "stake_withdrawal", "stake_withdrawal")
	details(t, list, "stake_withdrawal", "provider", "liquid_staking", "stake_holder", alice, "pool", pool, "amount", 100,
		"payout_nft", bill, "tokens_burnt", 95, "asset", nil)
	details(t, list[2:], "stake_withdrawal", "stake_holder", bob, "pool", pool, "amount", 50, "payout_nft", second, "tokens_burnt", 45)
	list = recognise(t, action.NoFacts{}, play(pool, payouts(step{aborted: true, bounce: true}, step{aborted: true})))
	wants(t, list, "call_contract", "stake_withdrawal!", "stake_withdrawal")
	// The collection burns the next one, when the first one had nothing to be paid.
	unpaid := step{to: bills, value: 1000, body: word(0x1140a64f), then: []step{{to: bill, value: 1, body: word(0xf127fe4e), then: []step{
		{to: bills, value: 3, body: burnt(alice, 0), then: []step{{to: second, value: 1, body: word(0xf127fe4e), then: []step{
			{to: bills, value: 3, body: burnt(bob, 45), then: []step{{to: bob, value: 50, body: word(0xdb3b8abd)}}}}}}}}}}}
	details(t, recognise(t, action.NoFacts{}, play(pool, unpaid)), "stake_withdrawal", "pool", pool, "stake_holder", bob)
	// Anybody can name somebody else.
	named := step{to: bill, value: 1, body: word(0xf127fe4e), then: []step{{to: bills, value: 3, body: burnt(bob, 95), then: []step{
		{to: alice, value: 100, body: word(0xdb3b8abd)}}}}}
	list = recognise(t, action.NoFacts{}, play(carol, named))
	details(t, list, "stake_withdrawal", "stake_holder", alice)
	if slices.ContainsFunc(list[0].Accounts, func(a action.Address) bool { return bytes.Equal(a, bob) }) {
		t.Error("a payout to alice concerns bob")
	}
	alone := step{to: bill, value: 1, body: word(0xf127fe4e), then: []step{{to: bills, value: 3, body: burnt(alice, 95), then: []step{
		{to: alice, value: 100, body: word(0xdb3b8abd)}}}}}
	details(t, recognise(t, action.NoFacts{}, play(carol, alone)), "stake_withdrawal", "pool", nil, "stake_holder", alice)
}

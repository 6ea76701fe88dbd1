package action_test

import (
	"testing"

	"tonscribe/schema/record"
)

var (
	usde   = addressOf("0:086FA2A675F74347B08DD4606A549B8FDB98829CB282BC1949D3B12FBAED9DCC")
	tsUSDe = addressOf("0:D0E545323C7ACB7102653C073377F7E3C67F122EB94D430A250739F109D4A57D")
)

func walletOf(account, owner, master []byte) *record.Contract {
	return &record.Contract{Account: account, JettonWallet: &record.JettonWallet{Owner: owner, Master: master}}
}

func TestADepositAtEthenaIsUSDeForTsUSDe(t *testing.T) {
	received := account(0x45)
	facts := known{walletOf(aliceWallet, alice, usde), walletOf(bobWallet, pool, usde), walletOf(received, alice, tsUSDe)}
	mint := coins(word(0x642b7d07).MustStoreUInt(4, 64).MustStoreAddr(friendly(alice)), 5)
	deposit := func(mints step) step {
		mints.to, mints.body = tsUSDe, mint
		mints.then = append(mints.then, step{to: received, value: 3, body: internalOrder(80, pool), aborted: mints.aborted})
		mints.aborted = false
		return step{to: aliceWallet, value: 9, body: transferOrder(100, pool), then: []step{
			{to: bobWallet, value: 8, body: internalOrder(100, alice), then: []step{
				{to: pool, value: 7, body: word(0x7362d09c), then: []step{mints}},
			}},
		}}
	}
	list := recognise(t, facts, play(alice, deposit(step{})))
	wants(t, list, "stake_deposit")
	details(t, list, "stake_deposit", "provider", "ethena", "stake_holder", alice, "pool", pool, "amount", 100, "tokens_minted", 80,
		"asset", tsUSDe, "source_asset", usde)
	wants(t, recognise(t, facts, play(alice, deposit(step{aborted: true}))), "stake_deposit!")
	list = recognise(t, facts[:2], play(alice, deposit(step{})))
	wants(t, list, "stake_deposit")
	details(t, list, "stake_deposit", "tokens_minted", 80, "asset", tsUSDe)
	others := known{walletOf(aliceWallet, alice, master), walletOf(bobWallet, pool, master), walletOf(received, alice, tsUSDe)}
	wants(t, recognise(t, others, play(alice, deposit(step{}))), "jetton_transfer", "jetton_mint")
}

func TestAWithdrawalFromEthenaLocksUSDe(t *testing.T) {
	request := func(locked step) step {
		locked.to, locked.body = aliceWallet, coins(word(0xb2583ed5).MustStoreUInt(4, 64), 120)
		return step{to: aliceWallet, value: 9, body: transferOrder(100, tsUSDe), then: []step{
			{to: tsUSDe, value: 8, body: internalOrder(100, alice), then: []step{
				{to: pool, value: 7, body: word(0x7362d09c), then: []step{
					{to: tsUSDe, value: 6, body: word(0x642b7d07), then: []step{locked}},
				}},
				excess(),
			}},
		}}
	}
	facts := known{walletOf(aliceWallet, alice, tsUSDe)}
	list := recognise(t, facts, play(alice, request(step{})))
	wants(t, list, "stake_withdrawal_request")
	details(t, list, "stake_withdrawal_request", "provider", "ethena", "stake_holder", alice, "pool", pool, "payout_nft", nil,
		"asset", tsUSDe, "tokens_burnt", 100, "tokens_minted", 120)
	wants(t, recognise(t, facts, play(alice, request(step{aborted: true}))), "stake_withdrawal_request!")
	list = recognise(t, known{}, play(alice, request(step{})))
	wants(t, list, "stake_withdrawal_request")
	details(t, list, "stake_withdrawal_request", "stake_holder", alice, "asset", tsUSDe, "tokens_burnt", 100, "tokens_minted", 120)
	for what, facts := range map[string]known{
		"a wallet of another one":    {walletOf(aliceWallet, bob, tsUSDe)},
		"a wallet of another master": {walletOf(aliceWallet, alice, usde)},
	} {
		for _, a := range recognise(t, facts, play(alice, request(step{}))) {
			if a.Type.Name != "call_contract" {
				t.Errorf("%s: %s", what, a.Type.Name)
			}
		}
	}
}

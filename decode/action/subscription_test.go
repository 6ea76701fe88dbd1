package action_test

import (
	"testing"

	"tonscribe/decode/action"
)

func TestASubscriptionIsPaidByTheWallet(t *testing.T) {
	plugin := account(0x46)
	confirmed := func(s step) step {
		s.to, s.body = bob, word(0x73756273)
		return step{to: plugin, value: 70, body: word(0xf06c7567).MustStoreUInt(4, 64), then: []step{s}}
	}
	first := recognise(t, action.NoFacts{}, play(alice, confirmed(step{value: 60})))
	wants(t, first, "subscribe")
	details(t, first, "subscribe", "subscriber", alice, "beneficiary", bob, "subscription", plugin, "amount", 70)
	wants(t, recognise(t, action.NoFacts{}, play(alice, confirmed(step{value: 60, aborted: true, bounce: true}))), "subscribe!")
	wants(t, recognise(t, action.NoFacts{}, play(alice, confirmed(step{value: 60, aborted: true}))), "subscribe")

	request := coins(word(0x706c7567).MustStoreUInt(4, 64), 65).MustStoreBoolBit(false)
	later := recognise(t, action.NoFacts{}, play(plugin, step{to: alice, value: 2, body: request, then: []step{confirmed(step{value: 60})}}))
	wants(t, later, "subscribe")
	details(t, later, "subscribe", "subscriber", alice, "beneficiary", bob, "subscription", plugin, "amount", 65)
	wants(t, recognise(t, action.NoFacts{}, play(plugin, step{to: alice, value: 2, aborted: true, body: request})), "call_contract!")
	wants(t, recognise(t, action.NoFacts{}, play(plugin, step{to: alice, value: 2, body: word(0x706c7567), then: []step{confirmed(step{value: 60})}})),
		"call_contract", "call_contract", "call_contract")
	wants(t, recognise(t, action.NoFacts{}, play(alice, step{to: plugin, value: 70, body: word(0xf06c7567)})), "call_contract")
}

func TestASubscriptionEndsWithItsPlugin(t *testing.T) {
	plugin := account(0x46)
	end := step{to: plugin, value: 70, body: word(0x64737472), then: []step{{to: bob, value: 60, body: word(0x64737472)}}}
	list := recognise(t, action.NoFacts{}, play(alice, end))
	wants(t, list, "unsubscribe")
	details(t, list, "unsubscribe", "subscriber", alice, "beneficiary", bob, "subscription", plugin, "amount", nil)
	end.then = nil
	list = recognise(t, action.NoFacts{}, play(alice, end))
	details(t, list, "unsubscribe", "beneficiary", nil)
	end.aborted = true
	wants(t, recognise(t, action.NoFacts{}, play(alice, end)), "unsubscribe!")
	// The beneficiary ends it: the wallet removes the plugin, which then pays.
	last := step{to: bob, value: 40, body: word(0x64737472)}
	removed := step{to: plugin, value: 50, body: word(0xe4737472).MustStoreUInt(4, 64), then: []step{last}}
	asked := step{to: alice, value: 60, body: word(0x64737472).MustStoreUInt(4, 64), then: []step{removed}}
	list = recognise(t, action.NoFacts{}, play(bob, step{to: plugin, value: 70, body: word(0x64737472), then: []step{asked}}))
	wants(t, list, "unsubscribe")
	details(t, list, "unsubscribe", "subscriber", alice, "beneficiary", bob, "subscription", plugin)
}

func TestAPluginThatIsEndedTellsItsWalletAndPaysItsBeneficiary(t *testing.T) {
	plugin := account(0x46)
	wallet := step{to: alice, value: 4, body: word(0x64737472).MustStoreUInt(4, 64)}
	paid := step{to: bob, value: 40, body: word(0x64737472)}
	for what, told := range map[string][]step{"the wallet first": {wallet, paid}, "the beneficiary first": {paid, wallet}} {
		t.Run(what, func(t *testing.T) {
			// By its beneficiary.
			list := recognise(t, action.NoFacts{}, play(bob, step{to: plugin, value: 70, body: word(0x64737472), then: told}))
			wants(t, list, "unsubscribe")
			details(t, list, "unsubscribe", "subscriber", alice, "beneficiary", bob, "subscription", plugin, "amount", nil)
			// By anybody's message from outside, when it was refused too often.
			list = recognise(t, action.NoFacts{}, play(plugin, told...))
			wants(t, list, "unsubscribe")
			details(t, list, "unsubscribe", "subscriber", alice, "beneficiary", bob, "subscription", plugin, "amount", nil)
		})
	}
}

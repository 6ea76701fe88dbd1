package action_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/action"
	"tonscribe/decode/trace"
)

var (
	cocoonProxy  = account(0xe1)
	cocoonClient = account(0xe2)
	cocoonWorker = account(0xe3)
	cocoonRoot   = account(0xe4)
)

// cocoonStart is a message to a contract of Cocoon that begins with a query id.
func cocoonStart(to []byte, op uint64, rest func(*cell.Builder) *cell.Builder, then ...step) step {
	return step{to: to, value: 90, body: rest(word(op).MustStoreUInt(7, 64)), then: then}
}

func cocoonExcesses() step { return step{to: alice, value: 60, body: word(0x2565934c)} }

// cocoonRequest is what a client and its proxy ask of each other, mostly in vain.
func cocoonRequest(to []byte, payload *cell.Builder, then ...step) step {
	b := word(0x65448ff4).MustStoreUInt(7, 64).MustStoreAddr(friendly(alice)).MustStoreRef(cell.BeginCell().EndCell()).MustStoreBoolBit(payload != nil)
	if payload != nil {
		b.MustStoreRef(payload.EndCell())
	}
	return step{to: to, value: 1, aborted: len(then) == 0, body: b, then: then}
}

func cocoonPayout(s step) step {
	s.to, s.value, s.body = bob, 4500, word(0xc59a7cd3).MustStoreUInt(7, 64)
	return s
}

func to(owner []byte) func(*cell.Builder) *cell.Builder {
	return func(b *cell.Builder) *cell.Builder { return b.MustStoreAddr(friendly(owner)) }
}

func tokens(b *cell.Builder) *cell.Builder {
	return b.MustStoreUInt(33, 64).MustStoreAddr(friendly(cocoonWorker))
}

func TestWhatCocoonIsAskedFor(t *testing.T) {
	worker := func(then ...step) step {
		return step{to: cocoonProxy, value: 80, then: then,
			body: word(0x4d725d2c).MustStoreUInt(7, 64).MustStoreAddr(friendly(bob)).MustStoreUInt(2, 2).MustStoreUInt(55, 64).MustStoreBoolBit(false)}
	}
	granted := coins(word(0xc68ebc7b), 999).MustStoreAddr(friendly(alice))
	amount := func(n int64) func(*cell.Builder) *cell.Builder {
		return func(b *cell.Builder) *cell.Builder { return coins(b, n).MustStoreAddr(friendly(alice)) }
	}
	secret := bytes.Repeat([]byte{0x0a}, 32)
	address := "0:" + "E3E3E3E3E3E3E3E3E3E3E3E3E3E3E3E3E3E3E3E3E3E3E3E3E3E3E3E3E3E3E3E3"
	for _, c := range []struct {
		what string
		step step
		pair []any
	}{
		{"cocoon_worker_payout", cocoonStart(cocoonWorker, 0xa040ad28, tokens, worker(cocoonPayout(step{}), cocoonExcesses())),
			[]any{"payout_type", "regular", "query_id", 7, "new_tokens", 33, "worker_state", 2, "worker_tokens", 55, "source", alice, "destination", bob, "amount", 4500}},
		{"cocoon_worker_payout", cocoonStart(cocoonWorker, 0xf5f26a36, tokens, worker(cocoonPayout(step{}))), []any{"payout_type", "last"}},
		{"cocoon_worker_payout!", cocoonStart(cocoonWorker, 0xa040ad28, tokens, worker(cocoonPayout(step{aborted: true}))), []any{"amount", 4500}},
		{"cocoon_worker_payout!", cocoonStart(cocoonWorker, 0xa040ad28, tokens, worker()), []any{"destination", bob, "amount", nil}},
		{"cocoon_proxy_payout", cocoonStart(cocoonProxy, 0x7610e6eb, to(carol), cocoonPayout(step{}), cocoonExcesses()),
			[]any{"query_id", 7, "source", cocoonProxy, "destination", bob}},
		{"cocoon_proxy_payout!", cocoonStart(cocoonProxy, 0x7610e6eb, to(carol), cocoonPayout(step{aborted: true})), []any{"destination", bob}},
		{"cocoon_proxy_charge", cocoonStart(cocoonProxy, 0xbb63ff93, tokens, cocoonRequest(cocoonClient, nil), cocoonExcesses()),
			[]any{"query_id", 7, "new_tokens_used", 33, "expected_address", address, "source", cocoonProxy, "destination", cocoonClient}},
		{"cocoon_client_top_up", cocoonStart(cocoonClient, 0xf172e6c2, amount(70), cocoonRequest(cocoonProxy, nil, cocoonExcesses())),
			[]any{"query_id", 7, "source", alice, "destination", cocoonClient, "amount", 70}},
		{"cocoon_register_proxy", cocoonStart(cocoonRoot, 0x927c7cb5, to(alice), cocoonExcesses()), []any{"query_id", 7, "destination", cocoonRoot}},
		{"cocoon_unregister_proxy", cocoonStart(cocoonRoot, 0x6d49eaf2, func(b *cell.Builder) *cell.Builder { return b.MustStoreUInt(9, 32) }, cocoonExcesses()),
			[]any{"query_id", 7, "seqno", 9, "destination", cocoonRoot}},
		{"cocoon_client_register", cocoonStart(cocoonClient, 0xc45f9f3b, tokens, cocoonRequest(cocoonProxy, nil), cocoonExcesses()),
			[]any{"query_id", 7, "nonce", 33, "source", cocoonWorker, "destination", cocoonClient}},
		{"cocoon_client_change_secret_hash", cocoonStart(cocoonClient, 0xa9357034, func(b *cell.Builder) *cell.Builder {
			return b.MustStoreSlice(secret, 256).MustStoreAddr(nil)
		}, cocoonRequest(cocoonProxy, nil), cocoonExcesses()),
			[]any{"query_id", 7, "new_secret_hash", "a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a", "source", alice, "destination", cocoonClient}},
		{"cocoon_client_request_refund", cocoonStart(cocoonClient, 0xfafa6cc1, to(bob), cocoonRequest(cocoonProxy, nil), cocoonExcesses()),
			[]any{"query_id", 7, "via_wallet", false, "source", bob, "destination", cocoonClient}},
		{"cocoon_client_request_refund", step{to: market, value: 95, body: word(0x9c69f376), then: []step{
			cocoonStart(cocoonClient, 0xfafa6cc1, to(bob), cocoonRequest(cocoonProxy, nil), cocoonExcesses())}},
			[]any{"query_id", 7, "via_wallet", true, "source", bob, "destination", cocoonClient}},
		{"cocoon_grant_refund", cocoonStart(cocoonProxy, 0xefd711e1, tokens, cocoonRequest(cocoonClient, granted, cocoonPayout(step{}), cocoonExcesses())),
			[]any{"query_id", 7, "new_tokens_used", 33, "expected_address", address, "source", cocoonProxy, "destination", bob, "amount", 4500}},
		{"cocoon_grant_refund!", cocoonStart(cocoonProxy, 0xefd711e1, tokens, cocoonRequest(cocoonClient, granted, cocoonPayout(step{aborted: true}))), []any{"amount", 4500}},
		{"cocoon_grant_refund!", cocoonStart(cocoonProxy, 0xefd711e1, tokens, cocoonRequest(cocoonClient, granted)), []any{"destination", nil, "amount", nil}},
		{"cocoon_client_increase_stake", cocoonStart(cocoonClient, 0x6a1f6a60, amount(18), cocoonRequest(cocoonProxy, nil), cocoonExcesses()),
			[]any{"query_id", 7, "new_stake", 18, "source", alice, "destination", cocoonClient, "amount", 18}},
		{"cocoon_client_withdraw", cocoonStart(cocoonClient, 0xda068e78, to(alice), cocoonRequest(cocoonProxy, granted, cocoonPayout(step{aborted: true}), cocoonExcesses())),
			[]any{"query_id", 7, "withdraw_amount", 999, "source", alice, "destination", cocoonClient, "amount", 999}},
		{"cocoon_client_withdraw", cocoonStart(cocoonClient, 0xda068e78, to(alice), cocoonRequest(cocoonProxy, nil)), []any{"withdraw_amount", nil, "amount", nil}},
	} {
		t.Run(c.what, func(t *testing.T) {
			list := outermost(t, action.NoFacts{}, play(alice, c.step))
			wants(t, list, c.what)
			details(t, list, c.what, c.pair...)
		})
	}
}

// The action names no amount: what the proxy pays must not be hidden in it.
func TestWhatIsPaidForARefundThatAClientAsksForIsBesideIt(t *testing.T) {
	paid := cocoonRequest(cocoonProxy, nil, cocoonPayout(step{}), cocoonExcesses())
	list := outermost(t, action.NoFacts{}, play(alice, cocoonStart(cocoonClient, 0xfafa6cc1, to(bob), paid)))
	wants(t, list, "cocoon_client_request_refund", "call_contract", "call_contract")
	details(t, list, "cocoon_client_request_refund", "query_id", 7, "via_wallet", false, "source", bob, "destination", cocoonClient)
	details(t, list, "call_contract", "opcode", 0xc59a7cd3, "destination", bob, "value", 4500)
}

func TestWhatCocoonRefusesFailed(t *testing.T) {
	payload := func(b *cell.Builder) *cell.Builder {
		return coins(b.MustStoreUInt(0, 256), 0).MustStoreAddr(nil).MustStoreAddr(nil)
	}
	for op, want := range map[uint64]string{
		0xa040ad28: "cocoon_worker_payout!", 0x7610e6eb: "cocoon_proxy_payout!", 0xbb63ff93: "cocoon_proxy_charge!",
		0xf172e6c2: "cocoon_client_top_up!", 0x927c7cb5: "cocoon_register_proxy!", 0x6d49eaf2: "cocoon_unregister_proxy!",
		0xc45f9f3b: "cocoon_client_register!", 0xa9357034: "cocoon_client_change_secret_hash!", 0xfafa6cc1: "cocoon_client_request_refund!",
		0xefd711e1: "cocoon_grant_refund!", 0x6a1f6a60: "cocoon_client_increase_stake!", 0xda068e78: "cocoon_client_withdraw!",
	} {
		t.Run(want, func(t *testing.T) {
			s := cocoonStart(cocoonClient, op, payload, bounceOf(alice, word(op)))
			s.aborted, s.bounce = true, true
			wants(t, outermost(t, action.NoFacts{}, play(alice, s)), want)
			s.body = word(op)
			wants(t, outermost(t, action.NoFacts{}, play(alice, s)), "call_contract!", "call_contract")
			if op != 0x927c7cb5 && op != 0x6d49eaf2 {
				wants(t, outermost(t, action.NoFacts{}, play(alice, cocoonStart(cocoonClient, op, payload))), "call_contract")
			}
		})
	}
}

func TestAnAddressThatIsNoAccountIsWrittenByItsBits(t *testing.T) {
	s := cocoonStart(cocoonProxy, 0xbb63ff93, func(b *cell.Builder) *cell.Builder {
		return b.MustStoreUInt(33, 64).MustStoreUInt(1, 2).MustStoreUInt(12, 9).MustStoreUInt(0x0ab, 12)
	}, cocoonRequest(cocoonClient, nil))
	details(t, outermost(t, action.NoFacts{}, play(alice, s)), "cocoon_proxy_charge", "expected_address", "12;ab")
	s.body = word(0xbb63ff93).MustStoreUInt(7, 64).MustStoreUInt(33, 64).MustStoreUInt(0, 2)
	details(t, outermost(t, action.NoFacts{}, play(alice, s)), "cocoon_proxy_charge", "expected_address", nil)
}

// Of a trace to come the first transactions may be all that is foreseen.
func TestWhatIsUnderWayHasItsTypeAlready(t *testing.T) {
	request := cocoonRequest(cocoonProxy, nil, cocoonExcesses())
	worker := step{to: cocoonProxy, value: 80, body: word(0x4d725d2c).MustStoreUInt(7, 64)}
	claimed := step{to: pool, value: 60, body: word(0x44bc1fe3)}
	for want, s := range map[string]step{
		"cocoon_client_withdraw":           cocoonStart(cocoonClient, 0xda068e78, to(alice), request),
		"cocoon_client_change_secret_hash": cocoonStart(cocoonClient, 0xa9357034, func(b *cell.Builder) *cell.Builder { return to(alice)(b.MustStoreUInt(1, 256)) }, request),
		"cocoon_worker_payout!":            cocoonStart(cocoonWorker, 0xa040ad28, tokens, worker), // until it is paid
		"jvault_claim":                     cocoonStart(stakeWallet, 0x78d9f109, func(b *cell.Builder) *cell.Builder { return b }, claimed),
	} {
		all := play(alice, s)
		slices.SortFunc(all, trace.Order)
		list := outermost(t, action.NoFacts{}, all[:2])
		wants(t, list, want)
		if want == "jvault_claim" {
			details(t, list, want, "source", alice, "stake_wallet", stakeWallet, "pool", pool, "claimed_rewards", []any{})
		}
		all[1].OutMsgs = nil // which leads to nothing
		wants(t, outermost(t, action.NoFacts{}, all[:2]), "call_contract")
	}
}

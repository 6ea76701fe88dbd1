package action_test

import (
	"slices"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

func TestActionsOfTegro(t *testing.T) {
	poolX, poolY := account(0x68), account(0x69) // wallets of poolOne and poolTwo
	facts := append(slices.Clone(exchange), jettons(poolX, poolOne, masterX), jettons(poolY, poolTwo, masterY))
	// extract, max_in, min_out, destination, error_destination, no payload
	trade := func(b *cell.Builder, most int64) *cell.Builder {
		return addr(coins(coins(b.MustStoreBoolBit(false), most), 20), bob, alice).MustStoreBoolBit(false)
	}
	says := func(opcode uint64) *cell.Builder { return word(opcode).MustStoreBoolBit(false) }
	x := func(then ...step) step {
		return sends(10, aliceX, poolX, poolOne, trade(word(0x01fb7a25), 10), then...)
	}
	tons := func(most int64, then ...step) step {
		return step{to: poolOne, value: 90, body: trade(order(0x600c00fd), most), then: then}
	}
	pays := func(to []byte, opcode uint64, value uint64, then ...step) step {
		return step{to: to, value: value, body: order(opcode).MustStoreBoolBit(false), then: then}
	}
	// carrying is a transfer from the pool with toncoins for its receiver.
	carrying := func(amount, toncoins int64, opcode uint64) step {
		b := coins(addr(coins(order(0x0f8a7ea5), amount), alice, alice).MustStoreBoolBit(false), toncoins).MustStoreBoolBit(false)
		s := sends(amount, poolX, aliceX, alice, nil)
		s.body = b.MustStoreUInt(opcode, 32).MustStoreBoolBit(false)
		s.then[0].body = coins(addr(coins(order(0x178d4519), amount), poolOne, alice), toncoins).MustStoreBoolBit(false)
		return s
	}
	xIn := transferred("incoming", masterX, alice, poolOne, aliceX, poolX, 10)
	tonIn := transferred("incoming", nil, alice, poolOne, nil, nil, 30)
	xBack := transferred("outgoing", masterX, poolOne, alice, poolX, aliceX, 10)
	given := func(then ...step) step {
		return sends(10, aliceX, poolX, poolOne, coins(coins(word(0x287e167a), 1), 1), then...)
	}
	lp, lpWallet2 := step{to: lpWallet, value: 30, body: internalOrder(77, nil), then: []step{excess()}}, account(0x6a)
	lostRest := carrying(3, 5, 0x848a64ff)
	lostRest.then[0].bounce, lostRest.then[0].aborted, lostRest.then[0].then = true, true, nil
	// The pool's own share of what it earned comes before what a provider gets.
	share := step{to: lpWallet2, value: 30, body: internalOrder(5, nil), then: []step{excess()}}
	for what, c := range map[string]played{
		"swap of jettons": {[]step{x(pays(bob, 0xde6e0675, 55))}, []string{"jetton_swap"},
			slices.Concat([]any{"dex", "tegro", "sender", alice, "asset_in", masterX, "asset_out", nil}, xIn, transferred("outgoing", nil, poolOne, bob, nil, nil, 55))},
		"swap of jettons, some returned": {[]step{x(carrying(3, 0, 0x848a64ff), pays(bob, 0xde6e0675, 55))}, []string{"jetton_swap"}, xIn},
		"swap of toncoins":               {[]step{tons(30, carrying(25, 0, 0xde6e0675))}, []string{"jetton_swap"}, slices.Concat(tonIn, transferred("outgoing", masterX, poolOne, alice, poolX, aliceX, 25))},
		"swap of all toncoins":           {[]step{tons(1000, carrying(25, 0, 0xde6e0675))}, []string{"jetton_swap"}, []any{"dex_incoming_transfer.amount", 90}},
		"jettons refused":                {[]step{x(carrying(10, 0, 0xc6d0084d))}, []string{"jetton_swap!"}, slices.Concat(xIn, xBack)},
		"toncoins refused":               {[]step{tons(30, pays(alice, 0xcf7c0035, 80))}, []string{"jetton_swap!"}, slices.Concat(tonIn, transferred("outgoing", nil, poolOne, alice, nil, nil, 80))},
		"swap at two pools": {[]step{x(pays(poolTwo, 0xde6e0675, 55, sends(40, poolY, bobY, bob, says(0xde6e0675))))}, []string{"jetton_swap", "jetton_swap"},
			slices.Concat(xIn, transferred("outgoing", nil, poolOne, poolTwo, nil, nil, 55))},
		"what was paid is sent on": {[]step{x(pays(bob, 0xde6e0675, 55, sends(40, aliceY, bobY, bob, nil)))}, []string{"jetton_swap", "jetton_transfer"}, nil},
		"an order that ends":       {[]step{tons(30)}, []string{"call_contract"}, nil},
		"deposit": {[]step{given(carrying(3, 5, 0x848a64ff), lp)}, []string{"dex_deposit_liquidity"},
			[]any{"dex", "tegro", "source", alice, "pool", poolOne, "asset_1", nil, "amount_1", 2, "asset_2", masterX, "amount_2", 10, "user_jetton_wallet_2", aliceX,
				"lp_tokens_minted", 77, "vault_excesses[0].asset", nil, "vault_excesses[0].amount", 5, "vault_excesses[1].asset", masterX, "vault_excesses[1].amount", 3}},
		"deposit, with the pool's share": {[]step{given(carrying(3, 5, 0x848a64ff), share, lp)}, []string{"dex_deposit_liquidity"}, []any{"lp_tokens_minted", 77}},
		"deposit of what fits":           {[]step{given(lp)}, []string{"dex_deposit_liquidity"}, []any{"lp_tokens_minted", 77, "vault_excesses", "[]"}},
		"deposit refused":                {[]step{given(carrying(10, 20, 0xd1635ae2))}, []string{"dex_deposit_liquidity!"}, []any{"lp_tokens_minted", nil, "vault_excesses[1].amount", 10}},
		"deposit whose rest is refused":  {[]step{given(lostRest, lp)}, []string{"dex_deposit_liquidity"}, []any{"lp_tokens_minted", 77, "vault_excesses", "[]"}},
		"liquidity minted elsewhere":     {[]step{given(step{to: poolTwo, body: word(9), then: []step{lp}})}, []string{"dex_deposit_liquidity!", "call_contract", "call_contract", "call_contract"}, nil},
		"withdrawal": {[]step{burnt(poolOne, carrying(10, 30, 0xceb1e3c1), step{to: alice, value: 9, body: order(0xd53276db)})}, []string{"dex_withdraw_liquidity"},
			[]any{"dex", "tegro", "source", alice, "pool", poolOne, "lp_tokens_burnt", 77, "asset_1", nil, "amount_1", 30, "asset_2", masterX, "amount_2", 10, "user_jetton_wallet_2", aliceX}},
		"withdrawal, with the pool's share": {[]step{burnt(poolOne, share, carrying(10, 30, 0xceb1e3c1))}, []string{"dex_withdraw_liquidity"}, []any{"lp_tokens_burnt", 77}},
		"withdrawal that is not paid":       {[]step{burnt(poolOne, unsent(10, poolX, aliceX, alice))}, []string{"jetton_burn", "call_contract!"}, nil},
		"burn at another master":            {[]step{burnt(poolOne, sends(10, poolX, aliceX, alice, says(0x12345678)))}, []string{"jetton_burn", "jetton_transfer"}, nil},
	} {
		t.Run(what, func(t *testing.T) {
			list := recognise(t, facts, play(alice, c.sent...))
			wants(t, list, c.want...)
			if c.details != nil {
				details(t, list, c.want[0], c.details...)
			}
		})
	}
}

package action_test

import (
	"slices"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

// dedustV2SwapPayload is an order to swap, at least for least, and then at the next pool.
func dedustV2SwapPayload(least int64, next *cell.Cell) *cell.Cell {
	return coins(word(0xc442500f), least).MustStoreUInt(9, 40).MustStoreMaybeRef(next).MustStoreUInt(0, 2).EndCell()
}

// dedustV2Jettons is what a transfer of jettons carries to a pool.
func dedustV2Jettons(payload *cell.Cell) *cell.Builder {
	return word(0xcbc33949).MustStoreRef(payload).MustStoreRef(cell.BeginCell().EndCell())
}

// dedustV2Toncoins brings toncoins to a pool.
func dedustV2Toncoins(pool []byte, amount int64, payload *cell.Cell, then ...step) step {
	return step{to: pool, value: 90, body: coins(order(0xa5a7cbf8), amount).MustStoreRef(payload).MustStoreRef(cell.BeginCell().EndCell()), then: then}
}

func dedustV2Event(in, out int64) step {
	return step{body: addr(coins(coins(word(0x78e79ba4).MustStoreBoolBit(true), in), out), alice, bob).MustStoreRef(cell.BeginCell().EndCell()).MustStoreRef(cell.BeginCell().EndCell())}
}

// dedustV2Pays is what a pool pays in toncoins.
func dedustV2Pays(to []byte, amount, code int64) step {
	return step{to: to, value: uint64(amount) + 5, body: number(coins(order(0x3216ca09), amount), 32, code).MustStoreBoolBit(false)}
}

func TestSwapsAtDedustV2(t *testing.T) {
	oneX, oneY, twoY := account(0x63), account(0x64), account(0x65)
	facts := append(slices.Clone(exchange), jettons(oneX, poolOne, masterX), jettons(oneY, poolOne, masterY), jettons(twoY, poolTwo, masterY))
	swap := dedustV2SwapPayload(20, nil)
	route := dedustV2SwapPayload(6, coins(addr(cell.BeginCell(), poolTwo), 30).MustStoreUInt(9, 40).MustStoreBoolBit(false).EndCell())
	x := func(then ...step) step { return sends(10, aliceX, oneX, poolOne, dedustV2Jettons(swap), then...) }
	// x for toncoins at the first pool, those for y at the second one.
	two := func(then ...step) step {
		return sends(10, aliceX, oneX, poolOne, dedustV2Jettons(route), dedustV2Event(10, 7), dedustV2Toncoins(poolTwo, 7, swap, then...))
	}
	gaveY := sends(25, oneY, bobY, bob, nil)
	lostTON := dedustV2Pays(bob, 25, 0)
	lostTON.aborted, lostTON.bounce = true, true
	xIn := transferred("incoming", masterX, alice, poolOne, aliceX, oneX, 10)
	tonIn := transferred("incoming", nil, alice, poolOne, nil, nil, 10)
	yOut := transferred("outgoing", masterY, poolOne, bob, oneY, bobY, 25)
	tonOut := transferred("outgoing", nil, poolOne, bob, nil, nil, 25)
	for what, c := range map[string]played{
		"jettons for jettons": {[]step{x(dedustV2Event(10, 25), gaveY)}, []string{"jetton_swap"},
			slices.Concat([]any{"dex", "dedust_v2", "sender", alice, "asset_in", masterX, "asset_out", masterY, "peer_swaps", "[]", "min_out_amount", 20}, xIn, yOut)},
		"jettons for toncoins": {[]step{x(dedustV2Event(10, 25), dedustV2Pays(bob, 25, 0))}, []string{"jetton_swap"}, slices.Concat(xIn, tonOut, []any{"asset_out", nil})},
		"toncoins for jettons": {[]step{dedustV2Toncoins(poolOne, 10, swap, dedustV2Event(10, 25), gaveY, excess())}, []string{"jetton_swap"}, slices.Concat(tonIn, yOut, []any{"asset_in", nil})},
		"through two pools": {[]step{two(dedustV2Event(7, 25), sends(25, twoY, bobY, bob, nil))}, []string{"jetton_swap"},
			slices.Concat(xIn, transferred("outgoing", masterY, poolTwo, bob, twoY, bobY, 25), []any{"asset_in", masterX, "asset_out", masterY, "min_out_amount", 30,
				"peer_swaps[0].asset_in", masterX, "peer_swaps[0].amount_in", 10, "peer_swaps[0].asset_out", nil, "peer_swaps[0].amount_out", 7,
				"peer_swaps[1].asset_in", nil, "peer_swaps[1].amount_in", 7, "peer_swaps[1].asset_out", masterY, "peer_swaps[1].amount_out", 25})},
		"returned, for too little":          {[]step{x(sends(10, oneX, aliceX, alice, nil))}, []string{"jetton_swap!"}, slices.Concat(xIn, transferred("outgoing", masterX, poolOne, alice, oneX, aliceX, 10))},
		"toncoins returned, for too little": {[]step{dedustV2Toncoins(poolOne, 10, swap, dedustV2Pays(alice, 10, 31))}, []string{"jetton_swap!"}, slices.Concat(tonIn, transferred("outgoing", nil, poolOne, alice, nil, nil, 10))},
		"returned by the second pool": {[]step{two(dedustV2Pays(alice, 7, 31))}, []string{"jetton_swap!"},
			slices.Concat(xIn, transferred("outgoing", nil, poolTwo, alice, nil, nil, 7), []any{"peer_swaps", "[]"})},
		"refused by the receiver":         {[]step{x(dedustV2Event(10, 25), lostTON)}, []string{"jetton_swap!"}, slices.Concat(xIn, tonOut)},
		"of more toncoins than there are": {[]step{dedustV2Toncoins(poolOne, 1e9, swap, dedustV2Event(1e9, 25), gaveY)}, []string{"jetton_swap!"}, yOut},
		"paid, without an event":          {[]step{x(gaveY)}, []string{"jetton_transfer", "jetton_transfer"}, nil},
		"under way":                       {[]step{x()}, []string{"jetton_transfer"}, nil},
		"toncoins that are a reward":      {[]step{dedustV2Toncoins(poolOne, 10, word(0x12345678).EndCell(), dedustV2Pays(alice, 10, 0))}, []string{"call_contract", "call_contract"}, nil},
		"for what another exchange takes": {[]step{x(dedustV2Event(10, 25), sends(25, oneY, routerY, router, nil, stonfiSwap(stonfiPay(0xc64370e5, bob, 0, 40, sends(40, routerX, bobY, bob, nil)))))},
			[]string{"jetton_swap", "jetton_swap"}, slices.Concat(xIn, []any{"dex", "dedust_v2", "dex_outgoing_transfer.destination", router})},
		"for what another exchange gave": {[]step{sends(10, aliceX, routerX, router, nil, stonfiSwap(stonfiPay(0xc64370e5, poolOne, 1, 25, sends(25, routerY, oneY, poolOne, dedustV2Jettons(swap),
			dedustV2Event(25, 40), dedustV2Pays(bob, 40, 0)))))}, []string{"jetton_swap", "jetton_swap"}, []any{"dex", "stonfi", "asset_out", masterY, "dex_outgoing_transfer.destination", poolOne}},
		"for what the first version gave": {[]step{sends(10, aliceX, vaultXs, vaultX, nil, dedustFirst(10, nil, dedustEvent(masterX, 10, masterY, 25),
			dedustPays(0xad4eb6f5, vaultY, 25, dedustProof(masterX, masterY), sends(25, vaultYs, oneY, poolOne, dedustV2Jettons(swap), dedustV2Event(25, 40), dedustV2Pays(bob, 40, 0)))))},
			[]string{"jetton_swap", "jetton_swap"}, []any{"dex", "dedust", "asset_out", masterY, "dex_outgoing_transfer.destination", poolOne}},
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

func TestLiquidityOfDedustV2(t *testing.T) {
	oneX, position := account(0x63), account(0x66)
	facts := append(slices.Clone(exchange), jettons(oneX, poolOne, masterX))
	none := cell.BeginCell().EndCell()
	deposit := coins(coins(coins(word(0xc9a015da), 12), 34), 1).MustStoreUInt(0, 16).EndCell()
	x := func(then ...step) step { return sends(12, aliceX, oneX, poolOne, dedustV2Jettons(deposit), then...) }
	tons := func(then ...step) step { return dedustV2Toncoins(poolOne, 34, deposit, then...) }
	credit := func(isX bool, amount int64, then ...step) step {
		return step{to: depository, value: 60, body: coins(order(0xdc5ddba1).MustStoreBoolBit(isX), amount), then: append(then, excess())}
	}
	join := func(then ...step) step {
		return step{to: poolOne, value: 50, body: addr(coins(coins(order(0x25251ee0).MustStoreRef(none), 12), 34), alice), then: then}
	}
	event := step{body: addr(coins(coins(coins(word(0x35df2e12), 10), 34), 77), alice, alice).MustStoreRef(none)}
	minted := []step{event, {to: position, value: 30, body: coins(order(0x855afcbd), 77)}, sends(2, oneX, aliceX, alice, nil)}
	back := []step{sends(12, oneX, aliceX, alice, nil), dedustV2Pays(alice, 34, 9)}
	of := func(a1 []byte, n1, a2, n2, lp any) []any {
		return []any{"dex", "dedust_v2", "source", alice, "pool", poolOne, "destination_liquidity", depository, "asset_1", or(a1), "amount_1", n1, "asset_2", a2, "amount_2", n2, "lp_tokens_minted", lp}
	}
	withdraw := func(fees bool, then ...step) step {
		return step{to: poolOne, value: 90, body: coins(coins(coins(order(0x20b5ef89), 70), 1), 1).MustStoreBoolBit(fees).MustStoreRef(none), then: []step{
			{to: position, value: 80, body: order(0xbc1531a9), then: []step{{to: poolOne, value: 70, body: order(0xf6f6a3aa), then: then}}}}}
	}
	gone := step{body: addr(coins(coins(coins(word(0xc0d77b54), 69), 10), 34), alice, alice).MustStoreRef(none)}
	paidX, paidTON := sends(10, oneX, aliceX, alice, nil), dedustV2Pays(alice, 34, 0)
	const made, taken = "dex_deposit_liquidity", "dex_withdraw_liquidity"
	for what, c := range map[string]played{
		"the first half":           {[]step{x(credit(true, 12))}, []string{made}, append(of(masterX, 12, nil, nil, nil), "target_asset_1", masterX, "target_amount_1", 12, "target_amount_2", nil, "user_jetton_wallet_1", aliceX)},
		"the first half, toncoins": {[]step{tons(credit(false, 34))}, []string{made}, append(of(nil, nil, nil, 34, nil), "target_amount_1", nil, "target_amount_2", 34)},
		"the second half":          {[]step{x(credit(true, 12, join(minted...)))}, []string{made}, append(of(masterX, 10, nil, nil, 77), gaveBack(masterX, 2)...)},
		"both halves": {[]step{tons(credit(false, 34)), x(credit(true, 12, join(minted...)))}, []string{made},
			slices.Concat(of(masterX, 10, nil, 34, 77), gaveBack(masterX, 2), []any{"target_asset_1", masterX, "target_amount_1", 12, "target_asset_2", nil, "target_amount_2", 34, "user_jetton_wallet_1", aliceX, "user_jetton_wallet_2", nil})},
		"both halves, jettons first": {[]step{x(credit(true, 12)), tons(credit(false, 34, join(minted...)))}, []string{made},
			append(of(masterX, 10, nil, 34, 77), "user_jetton_wallet_1", aliceX)},
		"both halves, and a third one": {[]step{x(credit(true, 12)), tons(credit(false, 34, join(minted...))), x(credit(true, 12))}, []string{made, made, made}, of(masterX, 12, nil, nil, nil)},
		"both halves, returned": {[]step{tons(credit(false, 34)), x(credit(true, 12, join(back...)))}, []string{made + "!"},
			append(of(masterX, 12, nil, 34, nil), "vault_excesses[0].asset", masterX, "vault_excesses[0].amount", 12, "vault_excesses[1].asset", nil, "vault_excesses[1].amount", 34)},
		"withdrawn": {[]step{withdraw(false, gone, paidX, paidTON, excess())}, []string{taken}, []any{"dex", "dedust_v2", "source", alice, "pool", poolOne, "destination_liquidity", poolOne,
			"lp_tokens_burnt", 69, "asset_1", masterX, "amount_1", 10, "user_jetton_wallet_1", aliceX, "asset_2", nil, "amount_2", 34, "user_jetton_wallet_2", nil}},
		"withdrawn, one payment under way":    {[]step{withdraw(false, gone, paidX)}, []string{taken + "!"}, []any{"amount_1", 10, "amount_2", nil}},
		"not withdrawn":                       {[]step{withdraw(false)}, []string{taken + "!"}, []any{"lp_tokens_burnt", 70, "amount_1", nil, "amount_2", nil}},
		"withdrawn, with fees not told apart": {[]step{withdraw(true, gone, paidTON)}, []string{"call_contract", "call_contract", "call_contract", "call_contract"}, nil},
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

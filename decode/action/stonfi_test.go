package action_test

import (
	"slices"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

// stonfiPay is a pool's order to its router, side 0 being x and 1 being y.
func stonfiPay(code uint64, owner []byte, side int, amount int64, then ...step) step {
	b := addr(order(0xf93bb43f), owner).MustStoreUInt(code, 32).MustStoreBoolBit(true)
	params := cell.BeginCell()
	for i, wallet := range [][]byte{routerX, routerY} {
		n := int64(0)
		if i == side {
			n = amount
		}
		addr(coins(params, n), wallet)
	}
	return step{to: router, value: 50, body: b.MustStoreRef(params.EndCell()), then: then}
}

func stonfiSwap(then ...step) step {
	return step{to: poolOne, value: 60, body: order(0x25938561), then: then}
}

func TestSwapsAtStonfi(t *testing.T) {
	const ok, refund, referral = 0xc64370e5, 0x38976e9b, 0x45078540
	gave := sends(25, routerY, bobY, bob, nil)
	gaveTON := step{to: routerOldTON, value: 9, body: transferOrder(25, bob), then: []step{{to: bob, value: 30, body: word(0x7362d09c)}}}
	bounced := stonfiSwap()
	bounced.aborted, bounced.bounce = true, true
	short := stonfiSwap(step{to: router, value: 50, body: order(0xf93bb43f)})
	swap := func(pays ...step) []step {
		return []step{sends(10, aliceX, routerX, router, nil, stonfiSwap(pays...))}
	}
	in := transferred("incoming", masterX, alice, router, aliceX, routerX, 10)
	out := transferred("outgoing", masterY, router, bob, routerY, bobY, 25)
	both := []any{"dex", "stonfi", "sender", alice, "asset_in", masterX, "asset_out", masterY, "peer_swaps", "[]"}
	check(t, map[string]played{
		"jettons for jettons": {swap(stonfiPay(ok, bob, 1, 25, gave)), []string{"jetton_swap"}, slices.Concat(both, in, out)},
		"with a share for who referred": {swap(stonfiPay(referral, carol, 1, 1, unsent(1, routerY, bobY, bob)), stonfiPay(ok, bob, 1, 25, gave)),
			[]string{"jetton_swap", "call_contract", "call_contract!"}, slices.Concat(both, in, out)},
		"with a share that is paid as a swap is": {swap(stonfiPay(ok, bob, 1, 25, gave), stonfiPay(ok, carol, 1, 1, unsent(1, routerY, bobY, bob))),
			[]string{"jetton_swap"}, slices.Concat(both, in, out)},
		"jettons for toncoins": {swap(stonfiPay(ok, bob, 1, 25, gaveTON)),
			[]string{"jetton_swap"}, slices.Concat(in, transferred("outgoing", pTonOld, router, bob, nil, nil, 25), []any{"asset_out", pTonOld})},
		"for toncoins to an account without code": {swap(stonfiPay(ok, bob, 1, 25, unrun(gaveTON))), []string{"jetton_swap"}, nil},
		"for toncoins that come back": {swap(stonfiPay(ok, bob, 1, 25, unrun(gaveTON, true))), []string{"jetton_swap!"},
			slices.Concat(in, transferred("outgoing", pTonOld, router, bob, nil, nil, 25))},
		"toncoins for jettons": {[]step{{to: routerOldTON, value: 30, body: transferOrder(10, router), then: []step{{to: router, value: 20, body: word(0x7362d09c),
			then: []step{stonfiSwap(stonfiPay(ok, bob, 1, 25, gave))}}}}},
			[]string{"jetton_swap"}, slices.Concat(out, transferred("incoming", pTonOld, alice, router, nil, routerOldTON, 10), []any{"asset_in", pTonOld})},
		"returned, for too little": {swap(stonfiPay(refund, alice, 0, 10, sends(10, routerX, aliceX, alice, nil))), []string{"jetton_swap!"},
			slices.Concat(both, in, transferred("outgoing", masterX, router, alice, routerX, aliceX, 10))},
		"refused by the receiver": {swap(stonfiPay(ok, bob, 1, 25, refused(25, routerY, bobY, bob))), []string{"jetton_swap!"}, slices.Concat(both, in, out)},
		"refused by the router's wallet": {swap(stonfiPay(ok, bob, 1, 25, unsent(25, routerY, bobY, bob))), []string{"jetton_swap!"},
			slices.Concat(both, in, transferred("outgoing", masterY, router, bob, routerY, nil, 25))},
		"without gas for the payment": {swap(stonfiPay(ok, bob, 1, 25)), []string{"jetton_swap!"},
			slices.Concat(both, in, transferred("outgoing", masterY, router, bob, routerY, nil, 25))},
		"and an order to a pool that has nothing to do with it": {swap(stonfiPay(ok, bob, 1, 25, gave, stonfiSwap(stonfiPay(ok, bob, 1, 25)))),
			[]string{"jetton_swap", "call_contract", "call_contract"}, slices.Concat(both, in, out)},
		"refused by the pool":      {[]step{sends(10, aliceX, routerX, router, nil, bounced)}, []string{"jetton_transfer", "call_contract!"}, nil},
		"with a payment cut short": {[]step{sends(10, aliceX, routerX, router, nil, short)}, []string{"jetton_transfer", "call_contract", "call_contract"}, nil},
	})
}

// The pools of version 2 trade x for y, and wrapped toncoins for y.
func stonfiV2Pay(code uint64, to []byte, from []byte, wallets [2][]byte, amounts [2]int64, then ...step) step {
	b := addr(order(0x657b54f5), to, alice, alice).MustStoreUInt(code, 32).MustStoreBoolBit(false)
	more := coins(cell.BeginCell(), 3)
	for i := range 2 {
		addr(coins(more, amounts[i]), wallets[i])
	}
	return step{to: from, value: 50, body: b.MustStoreRef(more.EndCell()), then: then}
}

func stonfiV2Swap(at []byte, then ...step) step {
	return step{to: at, value: 60, body: order(0x6664de2a), then: then}
}

// stonfiV2Order is a swap with what it is asked for.
func stonfiV2Order(at []byte, asked *cell.Builder, then ...step) step {
	b := coins(coins(addr(order(0x6664de2a), alice), 10), 0).MustStoreRef(asked.EndCell())
	return step{to: at, value: 60, body: b, then: then}
}

// stonfiV2Ask is a payload that asks for what a wallet has, and then for more.
func stonfiV2Ask(opcode uint64, wallet []byte, next *cell.Builder) *cell.Builder {
	swap := coins(addr(coins(cell.BeginCell(), 20), bob), 1)
	if next != nil {
		swap.MustStoreBoolBit(true).MustStoreRef(next.EndCell())
	} else {
		swap.MustStoreBoolBit(false)
	}
	return addr(word(opcode), wallet, alice, alice).MustStoreUInt(9, 64).MustStoreRef(swap.EndCell())
}

func TestSwapsAtStonfiV2(t *testing.T) {
	const ok, refund = 0xc64370e5, 0x38976e9b
	xy, ty := [2][]byte{routerX, routerY}, [2][]byte{routerTON, routerY}
	xt := [2][]byte{routerX, routerTON}
	gave := sends(25, routerY, bobY, bob, nil)
	in := transferred("incoming", masterX, alice, router, aliceX, routerX, 10)
	out := transferred("outgoing", masterY, router, bob, routerY, bobY, 25)
	both := []any{"dex", "stonfi_v2", "sender", alice, "asset_in", masterX, "asset_out", masterY, "peer_swaps", "[]"}
	swap := func(pay ...step) []step {
		ask := stonfiV2Ask(0x6664de2a, routerY, nil)
		return []step{sends(10, aliceX, routerX, router, ask, stonfiV2Order(poolOne, ask, pay...))}
	}
	fees := step{to: router, value: 4, body: order(0x63381632), then: []step{{to: vaultTON, value: 3, body: order(0x0490f09b)}}}
	// By way of toncoins to the second router, which has y.
	next := stonfiV2Ask(0x69cf1a5b, router2Y, nil)
	second := func(told step) []step {
		middle, ask := unwraps(7, routerTON, router2TON), stonfiV2Ask(0x6664de2a, routerTON, next)
		told.to, told.value, told.body = router2, 40, order(0x7362d09c)
		middle.then[0].then = []step{told}
		return []step{sends(10, aliceX, routerX, router, ask, stonfiV2Order(poolOne, ask, stonfiV2Pay(ok, router2, router, xt, [2]int64{0, 7}, middle)))}
	}
	onward := func(last step) []step { return second(step{then: []step{stonfiV2Order(poolTwo, next, last)}}) }
	t2y := [2][]byte{router2TON, router2Y}
	out2 := transferred("outgoing", masterY, router2, bob, router2Y, bobY, 25)
	peer := func(i string, assetIn []byte, amountIn int64, assetOut []byte, amountOut int64) []any {
		p := "peer_swaps[" + i + "]."
		return []any{p + "asset_in", or(assetIn), p + "amount_in", amountIn, p + "asset_out", or(assetOut), p + "amount_out", amountOut}
	}
	viaTON := []any{"sender", alice, "asset_in", masterX, "asset_out", masterY}
	check(t, map[string]played{
		"jettons for jettons": {swap(stonfiV2Pay(ok, bob, router, xy, [2]int64{0, 25}, gave)), []string{"jetton_swap"}, slices.Concat(both, in, out)},
		"with fees for a vault": {swap(fees, stonfiV2Pay(ok, bob, router, xy, [2]int64{0, 25}, gave)),
			[]string{"jetton_swap", "call_contract", "call_contract"}, slices.Concat(both, in, out)},
		"jettons for toncoins": {swap(stonfiV2Pay(ok, bob, router, xt, [2]int64{0, 25}, unwraps(25, routerTON, bob))), []string{"jetton_swap"},
			slices.Concat(in, transferred("outgoing", nil, router, bob, nil, nil, 25), []any{"asset_out", nil})},
		"toncoins for jettons": {[]step{wraps(10, routerTON, router, stonfiV2Ask(0x6664de2a, routerY, nil),
			stonfiV2Swap(poolOne, stonfiV2Pay(ok, bob, router, ty, [2]int64{0, 25}, gave)))}, []string{"jetton_swap"},
			slices.Concat(out, transferred("incoming", nil, alice, router, nil, routerTON, 10), []any{"asset_in", nil, "asset_out", masterY})},
		"through two routers": {onward(stonfiV2Pay(ok, bob, router2, t2y, [2]int64{0, 25}, sends(25, router2Y, bobY, bob, nil))), []string{"jetton_swap"},
			slices.Concat(viaTON, in, out2, peer("0", masterX, 10, nil, 7), peer("1", nil, 7, masterY, 25))},
		"through two pools of a router": {swap(stonfiV2Pay(ok, router, router, xt, [2]int64{0, 7},
			stonfiV2Swap(poolTwo, stonfiV2Pay(ok, bob, router, ty, [2]int64{0, 25}, gave)))), []string{"jetton_swap"},
			slices.Concat(viaTON, in, out, peer("0", masterX, 10, nil, 7), peer("1", nil, 7, masterY, 25))},
		"returned, for too little": {swap(stonfiV2Pay(refund, alice, router, xy, [2]int64{10, 0}, sends(10, routerX, aliceX, alice, nil))), []string{"jetton_swap!"},
			slices.Concat(both, in, transferred("outgoing", masterX, router, alice, routerX, aliceX, 10))},
		"returned by the first pool": {[]step{sends(10, aliceX, routerX, router, nil, stonfiV2Order(poolOne, stonfiV2Ask(0x6664de2a, routerTON, stonfiV2Ask(0x69cf1a5b, router2Y, nil)),
			stonfiV2Pay(refund, alice, router, xt, [2]int64{10, 0}, sends(10, routerX, aliceX, alice, nil))))}, []string{"jetton_swap!"},
			slices.Concat(viaTON, in, transferred("outgoing", masterX, router, alice, routerX, aliceX, 10), []any{"peer_swaps", "[]"})},
		"not heard of by the second router": {second(step{aborted: true}), []string{"jetton_swap!", "call_contract!"}, viaTON},
		"refused by the second router's pool": {second(step{then: []step{refusedOrder(order(0x6664de2a))}}), []string{"jetton_swap!", "call_contract", "call_contract!"},
			slices.Concat(viaTON, in, transferred("outgoing", nil, router, router2, nil, nil, 7), []any{"peer_swaps", "[]"})},
		"returned by the second pool": {onward(stonfiV2Pay(refund, alice, router2, t2y, [2]int64{7, 0}, unwraps(7, router2TON, alice))), []string{"jetton_swap!"},
			slices.Concat(viaTON, in, transferred("outgoing", nil, router2, alice, nil, nil, 7), []any{"peer_swaps", "[]"})},
		"refused by the receiver": {swap(stonfiV2Pay(ok, bob, router, xy, [2]int64{0, 25}, refused(25, routerY, bobY, bob))), []string{"jetton_swap!"},
			slices.Concat(both, in, out)},
		"refused by the router's wallet": {swap(stonfiV2Pay(ok, bob, router, xy, [2]int64{0, 25}, unsent(25, routerY, bobY, bob))), []string{"jetton_swap!"},
			slices.Concat(both, in, transferred("outgoing", masterY, router, bob, routerY, nil, 25))},
		"for toncoins to an account without code": {swap(stonfiV2Pay(ok, bob, router, xt, [2]int64{0, 25}, unrun(unwraps(25, routerTON, bob)))), []string{"jetton_swap"},
			slices.Concat(in, transferred("outgoing", nil, router, bob, nil, nil, 25))},
		"for toncoins that come back": {swap(stonfiV2Pay(ok, bob, router, xt, [2]int64{0, 25}, unrun(unwraps(25, routerTON, bob), true))), []string{"jetton_swap!"}, nil},
		"refused by the wallet of toncoins": {swap(stonfiV2Pay(ok, bob, router, xt, [2]int64{0, 25}, unsent(25, routerTON, nil, bob))), []string{"jetton_swap!"},
			slices.Concat(in, transferred("outgoing", nil, router, bob, nil, nil, 25))},
		"without gas for the payment": {swap(stonfiV2Pay(ok, bob, router, xy, [2]int64{0, 25})), []string{"jetton_swap!"},
			slices.Concat(both, in, transferred("outgoing", masterY, router, bob, routerY, nil, 25))},
		"for one who wraps toncoins when he hears of it": {swap(stonfiV2Pay(ok, bob, router, xy, [2]int64{0, 25}, sends(25, routerY, bobY, bob, nil, wraps(6, router2TON, router2, nil)))),
			[]string{"jetton_swap", "call_contract", "call_contract"}, slices.Concat(both, in, out)},
		"with a payment that leads to something else": {swap(stonfiV2Pay(ok, bob, router, xy, [2]int64{0, 25}, step{to: carol, value: 9, body: word(0x1234)})),
			[]string{"jetton_swap!", "call_contract"}, slices.Concat(both, in, transferred("outgoing", masterY, router, bob, routerY, nil, 25))},
		"with a payment that the next pool does not take": {swap(stonfiV2Pay(ok, router, router, xy, [2]int64{0, 25}, refusedOrder(order(0x6664de2a)))),
			[]string{"jetton_swap!", "call_contract!"}, slices.Concat(in, transferred("outgoing", masterY, router, router, routerY, nil, 25))},
		"with a payment that becomes liquidity": {swap(stonfiV2Pay(ok, router, router, xy, [2]int64{0, 25}, step{to: poolTwo, value: 9, body: coins(coins(addr(order(0x37c096df), alice), 25), 0), then: []step{
			{to: depository, value: 8, body: order(0x50c6a654)}}})), []string{"jetton_swap", "dex_deposit_liquidity"}, slices.Concat(both, in)},
		"with a payment that another pool does not take as liquidity": {swap(stonfiV2Pay(ok, router, router, xy, [2]int64{0, 25}, refusedOrder(order(0x37c096df)))),
			[]string{"jetton_swap!", "call_contract!"}, in},
		"refused by the pool": {[]step{sends(10, aliceX, routerX, router, nil, step{to: poolOne, value: 60, bounce: true, aborted: true, body: order(0x6664de2a)})},
			[]string{"jetton_transfer", "call_contract!"}, nil},
		"with a payment cut short": {swap(step{to: router, value: 5, body: order(0x657b54f5)}), []string{"jetton_transfer", "call_contract", "call_contract"}, nil},
	})
}

func TestASwapAtStonfiV2KnowsWhatItIsAskedForOfTheOrderToThePool(t *testing.T) {
	back := stonfiV2Pay(0x38976e9b, alice, router, [2][]byte{routerX, routerY}, [2]int64{0, 7}, sends(7, routerY, aliceY, alice, nil))
	list := recognise(t, exchange, play(alice, sends(10, aliceX, vaultXs, vaultX, nil, dedustFirst(10, nil, dedustEvent(masterX, 10, masterY, 7),
		dedustPays(0xad4eb6f5, vaultY, 7, dedustProof(masterX, masterY), sends(7, vaultYs, routerY, router, nil,
			stonfiV2Order(poolTwo, stonfiV2Ask(0x6664de2a, routerX, nil), back)))))))
	wants(t, list, "jetton_swap", "jetton_swap!")
	details(t, list, "jetton_swap!", "dex", "stonfi_v2", "asset_in", masterY, "asset_out", masterX, "dex_outgoing_transfer.asset", masterY)
}

func TestARouteOfStonfiV2GoesOnThroughAWalletThatIsNotKnown(t *testing.T) {
	const ok = 0xc64370e5
	next := stonfiV2Ask(0x69cf1a5b, router2TON, nil)
	ask, unknown := stonfiV2Ask(0x6664de2a, routerY, next), account(0x6a)
	last := stonfiV2Pay(ok, bob, router2, [2][]byte{unknown, router2TON}, [2]int64{0, 25}, unwraps(25, router2TON, bob))
	list := recognise(t, exchange, play(alice, sends(10, aliceX, routerX, router, ask, stonfiV2Order(poolOne, ask,
		stonfiV2Pay(ok, router2, router, [2][]byte{routerX, routerY}, [2]int64{0, 7}, sends(7, routerY, unknown, router2, next, stonfiV2Order(poolTwo, next, last)))))))
	wants(t, list, "jetton_swap")
	details(t, list, "jetton_swap", slices.Concat([]any{"asset_in", masterX, "asset_out", nil, "peer_swaps[0].asset_out", masterY, "peer_swaps[0].amount_out", 7,
		"peer_swaps[1].asset_in", masterY, "peer_swaps[1].amount_out", 25}, transferred("outgoing", nil, router2, bob, nil, nil, 25))...)
}

func TestLiquidityIsTakenOutOfStonfiByWalletsThatAreNotKnown(t *testing.T) {
	pays := stonfiV2Pay(0xdda48b6a, alice, router, [2][]byte{routerX, routerY}, [2]int64{10, 7}, sends(10, routerX, aliceX, alice, nil), sends(7, routerY, aliceY, alice, nil))
	old := addr(order(0xf93bb43f), alice).MustStoreUInt(0xdda48b6a, 32).MustStoreBoolBit(true).
		MustStoreRef(addr(coins(addr(coins(cell.BeginCell(), 10), routerX), 7), routerY).EndCell())
	for dex, c := range map[string]struct {
		notice uint64
		pay    step
	}{
		"stonfi":    {0x7bdd97de, step{to: router, value: 50, body: old, then: pays.then}},
		"stonfi_v2": {0x297437cf, pays},
	} {
		list := recognise(t, exchange, play(alice, step{to: carol, value: 90, body: coins(order(0x595f07bc), 500).MustStoreAddr(friendly(alice)).MustStoreBoolBit(false), then: []step{
			{to: poolOne, value: 80, body: coins(order(c.notice), 500), then: []step{c.pay, excess()}}}}))
		wants(t, list, "dex_withdraw_liquidity")
		details(t, list, "dex_withdraw_liquidity", "dex", dex, "source", alice, "pool", poolOne, "lp_tokens_burnt", 500,
			"asset_1", masterX, "amount_1", 10, "user_jetton_wallet_1", aliceX, "asset_2", masterY, "amount_2", 7, "user_jetton_wallet_2", aliceY)
	}
}

func TestLiquidityOfStonfiV2(t *testing.T) {
	provide := func(left, right int64, then ...step) step {
		return step{to: poolOne, value: 60, body: coins(coins(addr(order(0x37c096df), alice), left), right), then: []step{
			{to: depository, value: 50, body: order(0x50c6a654), then: then}}}
	}
	lp := step{to: lpWallet, value: 30, body: internalOrder(500, poolOne), then: []step{excess()}}
	added := func(then ...step) step { return step{to: poolOne, value: 40, body: order(0x06ecd527), then: then} }
	first := slices.Clip([]any{"dex", "stonfi_v2", "source", alice, "pool", poolOne, "destination_liquidity", poolOne, "asset_1", masterX, "amount_1", 10,
		"user_jetton_wallet_1", aliceX, "asset_2", nil, "amount_2", nil, "user_jetton_wallet_2", nil})
	// The one that takes more messages is seen last, and comes first.
	halves := []any{"asset_1", nil, "amount_1", 7, "user_jetton_wallet_1", nil, "asset_2", masterX, "amount_2", 10, "user_jetton_wallet_2", aliceX,
		"lp_tokens_minted", 500, "source", alice, "pool", poolOne}
	failedLP := lp
	failedLP.aborted, failedLP.then = true, nil
	gives := unwraps(7, router2TON, routerTON)
	gives.then[0].then = []step{{to: router, value: 40, body: order(0x7362d09c), then: []step{provide(0, 7)}}}
	pay := func(amounts [2]int64, then ...step) step {
		return stonfiV2Pay(0xdda48b6a, alice, router, [2][]byte{routerX, routerTON}, amounts, then...)
	}
	burn := func(then ...step) step {
		return step{to: lpWallet, value: 90, body: coins(order(0x595f07bc), 500).MustStoreAddr(friendly(alice)).MustStoreBoolBit(false), then: []step{
			{to: poolOne, value: 80, body: coins(order(0x297437cf), 500), then: then}}}
	}
	paid := []any{"dex", "stonfi_v2", "source", alice, "pool", poolOne, "destination_liquidity", poolOne, "asset_1", masterX, "amount_1", 10,
		"user_jetton_wallet_1", aliceX, "asset_2", nil, "amount_2", 7, "user_jetton_wallet_2", nil, "is_refund", nil}
	check(t, map[string]played{
		"a half": {[]step{sends(10, aliceX, routerX, router, nil, provide(10, 0))}, []string{"dex_deposit_liquidity"},
			append(first, "lp_tokens_minted", nil, "vault_excesses", "[]")},
		"a half of toncoins": {[]step{wraps(7, routerTON, router, nil, provide(0, 7))}, []string{"dex_deposit_liquidity"},
			[]any{"asset_1", nil, "amount_1", 7, "user_jetton_wallet_1", nil, "amount_2", nil, "lp_tokens_minted", nil, "source", alice}},
		"the second half": {[]step{sends(10, aliceX, routerX, router, nil, provide(10, 0, added(lp)))}, []string{"dex_deposit_liquidity"},
			append(first, "lp_tokens_minted", 500)},
		"a half of toncoins that a swap gave": {[]step{sends(10, aliceX, router2X, router2, nil,
			stonfiV2Swap(poolTwo, stonfiV2Pay(0xc64370e5, router, router2, [2][]byte{router2X, router2TON}, [2]int64{0, 7}, gives)))},
			[]string{"jetton_swap", "dex_deposit_liquidity"}, nil},
		"both halves": {[]step{sends(10, aliceX, routerX, router, nil, provide(10, 0)), wraps(7, routerTON, router, nil, provide(0, 7, added(lp)))},
			[]string{"dex_deposit_liquidity"}, halves},
		"both halves, the first one later": {[]step{wraps(7, routerTON, router, nil, provide(0, 7)), sends(10, aliceX, routerX, router, nil, provide(10, 0, added(lp)))},
			[]string{"dex_deposit_liquidity"}, halves},
		"the second half, and one of the same asset for later": {[]step{sends(10, aliceX, routerX, router, nil, provide(10, 0, added(lp))),
			sends(3, aliceX, routerX, router, nil, provide(3, 0))}, []string{"dex_deposit_liquidity", "dex_deposit_liquidity"}, append(first, "lp_tokens_minted", 500)},
		"the second half, and a half of the next one": {[]step{sends(10, aliceX, routerX, router, nil, provide(10, 0, added(lp))), wraps(7, routerTON, router, nil, provide(0, 7))},
			[]string{"dex_deposit_liquidity", "dex_deposit_liquidity"}, append(first, "lp_tokens_minted", 500)},
		"both halves, with too little": {[]step{wraps(7, routerTON, router, nil, provide(0, 7)),
			sends(10, aliceX, routerX, router, nil, provide(10, 0, added(step{to: depository, value: 30, body: order(0x50c6a654)})))},
			[]string{"dex_deposit_liquidity", "dex_deposit_liquidity!"}, nil},
		"with too little for it": {[]step{sends(10, aliceX, routerX, router, nil, provide(10, 0, added(step{to: depository, value: 30, body: order(0x50c6a654)})))},
			[]string{"dex_deposit_liquidity!"}, append(first, "lp_tokens_minted", nil)},
		"not minted": {[]step{sends(10, aliceX, routerX, router, nil, provide(10, 0, added(failedLP)))}, []string{"dex_deposit_liquidity!"}, nil},
		"refused by the pool": {[]step{sends(10, aliceX, routerX, router, nil, step{to: poolOne, value: 60, bounce: true, aborted: true, body: order(0x37c096df)})},
			[]string{"jetton_transfer", "call_contract!"}, nil},
		"taken out": {[]step{burn(pay([2]int64{10, 7}, sends(10, routerX, aliceX, alice, nil), unwraps(7, routerTON, alice)))}, []string{"dex_withdraw_liquidity"},
			append(paid, "lp_tokens_burnt", 500)},
		"taken out, paid one by one": {[]step{burn(pay([2]int64{0, 7}, unwraps(7, routerTON, alice)), pay([2]int64{10, 0}, sends(10, routerX, aliceX, alice, nil)))},
			[]string{"dex_withdraw_liquidity"}, []any{"asset_1", nil, "amount_1", 7, "user_jetton_wallet_1", nil,
				"asset_2", masterX, "amount_2", 10, "user_jetton_wallet_2", aliceX, "lp_tokens_burnt", 500}},
		"taken out, one side to be swapped": {[]step{burn(pay([2]int64{0, 7}, stonfiV2Swap(poolTwo, stonfiV2Pay(0xc64370e5, alice, router, [2][]byte{routerX, routerTON},
			[2]int64{11, 0}, sends(11, routerX, aliceX, alice, nil)))), pay([2]int64{10, 0}, sends(10, routerX, aliceX, alice, nil)))},
			[]string{"dex_withdraw_liquidity", "call_contract", "call_contract", "jetton_transfer"}, []any{"asset_1", nil, "amount_1", 7, "user_jetton_wallet_1", nil,
				"asset_2", masterX, "amount_2", 10, "user_jetton_wallet_2", aliceX}},
		"taken out, both for another pool": {[]step{burn(pay([2]int64{0, 7}, provide(0, 7)), pay([2]int64{10, 0}, provide(10, 0, added(lp))))},
			slices.Concat([]string{"dex_withdraw_liquidity"}, slices.Repeat([]string{"call_contract"}, 7)),
			[]any{"asset_1", nil, "amount_1", 7, "asset_2", masterX, "amount_2", 10, "user_jetton_wallet_2", nil}},
		"taken out, one refused by another pool": {[]step{burn(pay([2]int64{0, 7}, unwraps(7, routerTON, alice)),
			pay([2]int64{10, 0}, refusedOrder(order(0x37c096df))))}, []string{"dex_withdraw_liquidity!", "call_contract!"}, nil},
		"taken out, one not paid": {[]step{burn(pay([2]int64{10, 0}, sends(10, routerX, aliceX, alice, nil)), pay([2]int64{0, 7}))},
			[]string{"dex_withdraw_liquidity!"}, []any{"asset_1", masterX, "amount_1", 10, "amount_2", nil}},
		"taken out, nothing paid": {[]step{burn(pay([2]int64{10, 7}))}, []string{"dex_withdraw_liquidity!"},
			[]any{"amount_1", nil, "amount_2", nil, "lp_tokens_burnt", 500, "pool", poolOne}},
		"refused to take out": {[]step{{to: lpWallet, value: 90, body: coins(order(0x595f07bc), 500).MustStoreAddr(friendly(alice)).MustStoreBoolBit(false), then: []step{
			{to: poolOne, value: 80, bounce: true, aborted: true, body: coins(order(0x297437cf), 500), then: []step{bounceOf(lpWallet, order(0x297437cf))}}}}},
			[]string{"jetton_burn!", "call_contract!", "call_contract"}, nil},
		"taken out, and refused": {[]step{burn(pay([2]int64{10, 7}, refused(10, routerX, aliceX, alice), unwraps(7, routerTON, alice)))},
			[]string{"dex_withdraw_liquidity!"}, append(paid, "lp_tokens_burnt", 500)},
		"taken back": {[]step{{to: depository, value: 90, body: order(0x132b9a2c), then: []step{{to: poolOne, value: 80, body: order(0x0f98e2b8),
			then: []step{pay([2]int64{10, 7}, sends(10, routerX, aliceX, alice, nil), unwraps(7, routerTON, alice))}}}}},
			[]string{"dex_withdraw_liquidity"}, append(paid, "lp_tokens_burnt", nil)},
	})
}

func TestLiquidityOfStonfi(t *testing.T) {
	const burnt, refunded = 0xdda48b6a, 0xde7dbbc2
	provide := func(then ...step) step {
		return step{to: poolOne, value: 60, body: order(0xfcf9e58f), then: []step{{to: depository, value: 50, body: order(0x3ebe5431), then: then}}}
	}
	x := func(then ...step) step { return sends(10, aliceX, routerX, router, nil, provide(then...)) }
	tons := func(then ...step) step {
		return step{to: routerOldTON, value: 30, body: transferOrder(7, router), then: []step{{to: router, value: 20, body: word(0x7362d09c), then: []step{provide(then...)}}}}
	}
	unadded := x()
	unadded.then[0].then[0].then[0].then[0].aborted = true
	added := func(then ...step) step { return step{to: poolOne, value: 40, body: order(0x56dfeb8a), then: then} }
	lp := step{to: lpWallet, value: 30, body: internalOrder(500, poolOne), then: []step{excess()}}
	half := slices.Clip([]any{"dex", "stonfi", "source", alice, "pool", poolOne, "destination_liquidity", poolOne, "asset_1", masterX, "amount_1", 10,
		"user_jetton_wallet_1", aliceX, "asset_2", nil, "amount_2", nil})
	gives := func(code uint64, then ...step) step {
		params := addr(coins(addr(coins(cell.BeginCell(), 10), routerX), 7), routerOldTON)
		b := addr(order(0xf93bb43f), alice).MustStoreUInt(code, 32).MustStoreBoolBit(true).MustStoreRef(params.EndCell())
		return step{to: router, value: 50, body: b, then: then}
	}
	burn := func(then ...step) step {
		return step{to: lpWallet, value: 90, body: coins(order(0x595f07bc), 500).MustStoreAddr(friendly(alice)).MustStoreBoolBit(false), then: []step{
			{to: poolOne, value: 80, body: coins(order(0x7bdd97de), 500), then: then}}}
	}
	gaveX := sends(10, routerX, aliceX, alice, nil)
	gaveTON := step{to: routerOldTON, value: 9, body: transferOrder(7, alice), then: []step{{to: alice, value: 15, body: word(0x7362d09c)}}}
	noTON := gaveTON
	noTON.aborted, noTON.then = true, nil
	paid := slices.Clip([]any{"dex", "stonfi", "source", alice, "pool", poolOne, "destination_liquidity", poolOne, "asset_1", masterX, "amount_1", 10,
		"user_jetton_wallet_1", aliceX, "asset_2", pTonOld, "amount_2", 7, "user_jetton_wallet_2", nil})
	check(t, map[string]played{
		"a half":          {[]step{x()}, []string{"dex_deposit_liquidity"}, append(half, "lp_tokens_minted", nil)},
		"the second half": {[]step{x(added(lp))}, []string{"dex_deposit_liquidity"}, append(half, "lp_tokens_minted", 500)},
		"both halves": {[]step{x(), tons(added(lp))}, []string{"dex_deposit_liquidity"}, []any{"asset_1", pTonOld, "amount_1", 7, "user_jetton_wallet_1", nil,
			"asset_2", masterX, "amount_2", 10, "user_jetton_wallet_2", aliceX, "lp_tokens_minted", 500}},
		"the second half, and a half of the next one": {[]step{x(added(lp)), tons()}, []string{"dex_deposit_liquidity", "dex_deposit_liquidity"},
			append(half, "lp_tokens_minted", 500)},
		"with too little for it": {[]step{x(added(step{to: depository, value: 30, body: order(0x3ebe5431)}))}, []string{"dex_deposit_liquidity!"},
			append(half, "lp_tokens_minted", nil)},
		"a half that is refused, and the other one of one before": {[]step{unadded, tons(added(lp))}, []string{"dex_deposit_liquidity!", "dex_deposit_liquidity"},
			append(half, "lp_tokens_minted", nil)},
		"taken out":                        {[]step{burn(gives(burnt, gaveX, gaveTON))}, []string{"dex_withdraw_liquidity"}, append(paid, "lp_tokens_burnt", 500)},
		"taken out, the jettons not paid":  {[]step{burn(gives(burnt, gaveTON))}, []string{"dex_withdraw_liquidity!"}, []any{"amount_1", 7, "amount_2", nil}},
		"taken out, the toncoins not paid": {[]step{burn(gives(burnt, gaveX, noTON))}, []string{"dex_withdraw_liquidity!"}, append(paid, "lp_tokens_burnt", 500)},
		"taken back": {[]step{{to: depository, value: 90, body: order(0x0bf3f447), then: []step{{to: poolOne, value: 80, body: order(0x89446a42),
			then: []step{gives(refunded, gaveX, gaveTON)}}}}}, []string{"dex_withdraw_liquidity"}, append(paid, "lp_tokens_burnt", nil)},
	})
}

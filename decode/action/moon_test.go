package action_test

import (
	"slices"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/schema/record"
)

var (
	moonX, moonY   = account(0x63), account(0x64) // wallets of poolOne
	moonX2, moonY2 = account(0x65), account(0x66) // of poolTwo
	moonRecord     = account(0x67)
	moonFacts      = append(slices.Clone(exchange), jettons(moonX, poolOne, masterX), jettons(moonY, poolOne, masterY),
		jettons(moonX2, poolTwo, masterX), jettons(moonY2, poolTwo, masterY))
)

// moonOrder is an order to swap, of a message or a payload.
func moonOrder(b *cell.Builder) *cell.Builder {
	return coins(b, 20).MustStoreUInt(9, 64).MustStoreUInt(0, 4) // min_out, deadline, no options
}

func TestSwapsAtMoon(t *testing.T) {
	payload := moonOrder(word(0xb37a900b))
	succeeded, failing := word(0xcb7f38d6), word(0xc47c1f57)
	x := func(then ...step) step { return sends(10, aliceX, moonX, poolOne, payload, then...) }
	tons := func(then ...step) step {
		return step{to: poolOne, value: 90, body: moonOrder(coins(order(0xb37a900b), 10)), then: then}
	}
	gaveY := sends(25, moonY, bobY, bob, succeeded)
	gaveTON := step{to: bob, value: 95, body: order(0xcb7f38d6)}
	lostTON := gaveTON
	lostTON.aborted, lostTON.bounce = true, true
	xIn := transferred("incoming", masterX, alice, poolOne, aliceX, moonX, 10)
	tonIn := transferred("incoming", nil, alice, poolOne, nil, nil, 10)
	yOut := transferred("outgoing", masterY, poolOne, bob, moonY, bobY, 25)
	tonOut := transferred("outgoing", nil, poolOne, bob, nil, nil, 95)
	// The first pool pays the second one, with an order for it.
	onward := sends(7, moonY, moonY2, poolTwo, payload, step{to: bob, value: 30, body: order(0xcb7f38d6)})
	for what, c := range map[string]played{
		"jettons for jettons": {[]step{x(gaveY)}, []string{"jetton_swap"},
			slices.Concat([]any{"dex", "moon", "sender", alice, "asset_in", masterX, "asset_out", masterY, "peer_swaps", "[]"}, xIn, yOut)},
		"jettons for toncoins":               {[]step{x(gaveTON)}, []string{"jetton_swap"}, slices.Concat(xIn, tonOut)},
		"toncoins for jettons":               {[]step{tons(gaveY)}, []string{"jetton_swap"}, slices.Concat(tonIn, yOut)},
		"paid with another payload":          {[]step{tons(sends(25, moonY, bobY, bob, word(0x12345678)))}, []string{"jetton_swap"}, slices.Concat(tonIn, yOut)},
		"jettons returned":                   {[]step{x(sends(10, moonX, aliceX, alice, failing))}, []string{"jetton_swap!"}, slices.Concat(xIn, transferred("outgoing", masterX, poolOne, alice, moonX, aliceX, 10))},
		"toncoins returned":                  {[]step{tons(step{to: alice, value: 60, body: order(0xc47c1f57)})}, []string{"jetton_swap!"}, slices.Concat(tonIn, transferred("outgoing", nil, poolOne, alice, nil, nil, 60))},
		"refused by the receiver":            {[]step{x(lostTON)}, []string{"jetton_swap!"}, slices.Concat(xIn, tonOut)},
		"jettons refused by their wallet":    {[]step{tons(refused(25, moonY, bobY, bob))}, []string{"jetton_swap!"}, nil},
		"refused by the pool":                {[]step{tons(step{to: poolOne, body: word(5)})}, []string{"call_contract", "call_contract"}, nil},
		"at two pools":                       {[]step{x(onward)}, []string{"jetton_swap", "jetton_swap"}, slices.Concat(xIn, []any{"asset_out", masterY, "dex_outgoing_transfer.destination", poolTwo})},
		"a transfer that carries no order":   {[]step{sends(10, aliceX, moonX, poolOne, nil, gaveY)}, []string{"jetton_transfer", "jetton_transfer"}, nil},
		"toncoins for who swapped elsewhere": {[]step{sends(10, aliceX, routerX, router, nil, stonfiSwap(stonfiPay(0xc64370e5, poolOne, 0, 25, sends(25, routerY, moonY, poolOne, nil, sends(3, moonX, aliceX, alice, nil)))))}, []string{"jetton_swap", "jetton_transfer"}, nil},
		"jettons for toncoins, which carry an order for their receiver": {[]step{x(step{to: carol, value: 95, body: order(0x200f9086)})}, []string{"jetton_swap"},
			slices.Concat(xIn, transferred("outgoing", nil, poolOne, carol, nil, nil, 95))},
		"jettons for toncoins, with a comment":       {[]step{x(step{to: bob, value: 95, body: comment("done")})}, []string{"jetton_swap"}, slices.Concat(xIn, tonOut)},
		"toncoins returned with a payload of theirs": {[]step{tons(step{to: alice, value: 60, body: order(0x12345678)})}, []string{"jetton_swap!"}, tonIn},
		"through toncoins": {[]step{x(step{to: poolTwo, value: 95, body: moonOrder(coins(order(0xb37a900b), 90)), then: []step{sends(25, moonY2, bobY, bob, succeeded)}})},
			[]string{"jetton_swap", "jetton_swap"}, slices.Concat(xIn, transferred("outgoing", nil, poolOne, poolTwo, nil, nil, 95))},
		"kept by the second pool": {[]step{x(sends(7, moonY, moonY2, poolTwo, payload))}, []string{"jetton_swap"},
			slices.Concat(xIn, []any{"asset_out", masterY, "dex_outgoing_transfer.destination", poolTwo})},
		"kept": {[]step{x(excess())}, []string{"jetton_transfer"}, nil},
		"for what another exchange takes": {[]step{x(sends(25, moonY, routerY, router, nil,
			stonfiSwap(stonfiPay(0xc64370e5, bob, 0, 40, sends(40, routerX, bobY, bob, nil)))))}, []string{"jetton_swap", "jetton_swap"},
			slices.Concat(xIn, []any{"dex", "moon", "asset_out", masterY, "dex_outgoing_transfer.destination", router, "dex_outgoing_transfer.amount", 25})},
		"for what another exchange gave, paid with another payload": {[]step{sends(10, aliceX, routerX, router, nil, stonfiSwap(stonfiPay(0xc64370e5, poolOne, 0, 25,
			sends(25, routerY, moonY, poolOne, payload, sends(3, moonX, aliceX, alice, nil)))))}, []string{"jetton_swap", "jetton_swap"}, []any{"dex", "stonfi"}},
		"for what another exchange gave": {[]step{sends(10, aliceX, routerX, router, nil, stonfiSwap(stonfiPay(0xc64370e5, poolOne, 0, 25, sends(25, routerY, moonY, poolOne, payload, step{to: bob, value: 30, body: order(0xcb7f38d6)}))))},
			[]string{"jetton_swap", "jetton_swap"}, []any{"dex", "stonfi", "asset_out", masterY}},
	} {
		t.Run(what, func(t *testing.T) {
			list := recognise(t, moonFacts, play(alice, c.sent...))
			wants(t, list, c.want...)
			if c.details != nil {
				details(t, list, c.want[0], c.details...)
			}
		})
	}
}

func TestMoonPaysToncoinsWithThoseThatCameWithAnOrder(t *testing.T) {
	heard := sends(10, aliceX, moonX, poolOne, moonOrder(word(0xb37a900b)), step{to: bob, value: 500_000_095, body: order(0xcb7f38d6)})
	notification := &heard.then[0].then[0]
	notification.value = 500_000_000
	notification.change = func(tx *record.Transaction) {
		fees := uint64(400)
		tx.Action = &record.ActionPhase{TotalFwdFees: &fees}
	}
	list := recognise(t, moonFacts, play(alice, heard))
	details(t, list, "jetton_swap", "dex_outgoing_transfer.amount", 95+400+7_000_000)
}

func TestLiquidityOfMoon(t *testing.T) {
	facts := append(slices.Clone(moonFacts), jettons(lpWallet, alice, poolOne))
	half := func(number int64, amount int64, then ...step) step {
		return step{to: moonRecord, value: 50, body: coins(coins(order(0xbaaa2c1b).MustStoreUInt(uint64(number), 8), amount), 1), then: then}
	}
	provide := func(then ...step) step {
		return step{to: poolOne, value: 40, body: coins(addr(coins(coins(order(0x6b1b8a3f), 10), 30), alice), 1), then: then}
	}
	lp := step{to: lpWallet, value: 30, body: internalOrder(77, nil), then: []step{excess()}}
	done := step{to: alice, value: 5, body: order(0x737b4eb6)}
	x := func(then ...step) step { return sends(10, aliceX, moonX, poolOne, coins(word(0xb31db781), 1), then...) }
	tons := func(then ...step) step {
		return step{to: poolOne, value: 90, body: coins(order(0xb31db781), 1), then: then}
	}
	of := func(a1 []byte, n1 any, w1 []byte, a2 []byte, n2 any, lp any) []any {
		return []any{"dex", "moon", "source", alice, "pool", poolOne, "asset_1", or(a1), "amount_1", n1, "user_jetton_wallet_1", or(w1),
			"asset_2", or(a2), "amount_2", n2, "lp_tokens_minted", lp}
	}
	for what, c := range map[string]played{
		"the first half":              {[]step{x(half(1, 10))}, []string{"dex_deposit_liquidity"}, of(masterX, 10, aliceX, nil, nil, nil)},
		"the second half, toncoins":   {[]step{tons(half(0, 30, provide(lp, done)))}, []string{"dex_deposit_liquidity"}, of(nil, 30, nil, nil, nil, 77)},
		"both halves, toncoins last":  {[]step{x(half(1, 10)), tons(half(0, 30, provide(lp, done)))}, []string{"dex_deposit_liquidity"}, of(nil, 30, nil, masterX, 10, 77)},
		"both halves, toncoins first": {[]step{tons(half(0, 30)), x(half(1, 10, provide(lp, done)))}, []string{"dex_deposit_liquidity"}, of(masterX, 10, aliceX, nil, 30, 77)},
		"and a half of the next one":  {[]step{x(half(1, 10, provide(lp, done))), tons(half(0, 30))}, []string{"dex_deposit_liquidity", "dex_deposit_liquidity"}, of(masterX, 10, aliceX, nil, nil, 77)},
		"refused by the pool":         {[]step{x(half(1, 10)), tons(half(0, 30, provide(step{to: alice, value: 5, body: order(0x7daf7060)})))}, []string{"dex_deposit_liquidity", "dex_deposit_liquidity!"}, of(masterX, 10, aliceX, nil, nil, nil)},
		"withdrawn": {[]step{burnt(poolOne, step{to: alice, value: 30, body: order(0x90d3b4ad)}, sends(10, moonX, aliceX, alice, nil))}, []string{"dex_withdraw_liquidity"},
			[]any{"dex", "moon", "source", alice, "pool", poolOne, "lp_tokens_burnt", 77, "asset_1", nil, "amount_1", 30, "asset_2", masterX, "amount_2", 10, "user_jetton_wallet_2", aliceX}},
		"withdrawn as jettons": {[]step{burnt(poolOne, sends(30, moonY, aliceY, alice, word(0x90d3b4ad)), sends(10, moonX, aliceX, alice, word(0xff86f067)))}, []string{"dex_withdraw_liquidity"},
			[]any{"asset_1", masterY, "amount_1", 30, "asset_2", masterX, "amount_2", 10}},
		"paid in part":    {[]step{burnt(poolOne, step{to: alice, value: 30, body: order(0x90d3b4ad)}, refused(10, moonX, aliceX, alice))}, []string{"dex_withdraw_liquidity!"}, nil},
		"burnt elsewhere": {[]step{burnt(poolOne, sends(10, moonX, aliceX, alice, nil))}, []string{"jetton_burn", "jetton_transfer"}, nil},
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

func TestLiquidityIsTakenOutOfMoonByAWalletThatIsNotKnown(t *testing.T) {
	list := recognise(t, moonFacts[1:], play(alice, func() step {
		s := burnt(poolOne, step{to: alice, value: 30, body: order(0x90d3b4ad)}, sends(10, moonY, aliceY, alice, nil))
		s.to = account(0x69)
		return s
	}()))
	wants(t, list, "dex_withdraw_liquidity")
	details(t, list, "dex_withdraw_liquidity", "dex", "moon", "source", alice, "pool", poolOne, "lp_tokens_burnt", 77, "asset_1", nil, "amount_1", 30,
		"asset_2", masterY, "amount_2", 10)
}

// burnt is a burn of LP tokens and what their pool does.
func burnt(pool []byte, then ...step) step {
	return step{to: lpWallet, value: 90, body: addr(coins(order(0x595f07bc), 77), alice).MustStoreBoolBit(false), then: []step{
		{to: pool, value: 80, body: addr(coins(order(0x7bdd97de), 77), alice, alice), then: then},
	}}
}

package action_test

import (
	"slices"
	"testing"
)

func TestSwapsAtBidask(t *testing.T) {
	poolX := account(0x4e)
	rangeOne, rangeTwo := account(0x61), account(0x62)
	poolXs, poolYs := account(0x63), account(0x64)
	facts := append(slices.Clone(exchange), jettons(poolXs, poolX, masterX), jettons(poolYs, poolX, masterY))
	in := func(opcode uint64, then ...step) step {
		return step{to: rangeOne, value: 60, body: order(opcode), then: then}
	}
	ends := func(opcode uint64, then ...step) step {
		return step{to: poolX, value: 50, body: order(opcode), then: then}
	}
	x := func(then ...step) step { return sends(10, aliceX, poolXs, poolX, nil, then...) }
	tons := func(opcode uint64, then ...step) step {
		return step{to: poolX, value: 90, body: coins(order(opcode), 10), then: then}
	}
	gaveY := sends(25, poolYs, bobY, bob, nil)
	gaveTON := step{to: bob, value: 30, body: coins(order(0x6edd65f0), 25).MustStoreBoolBit(false)}
	lostTON := gaveTON
	lostTON.aborted, lostTON.bounce = true, true
	backX := sends(10, poolXs, aliceX, alice, nil)
	xIn := transferred("incoming", masterX, alice, poolX, aliceX, poolXs, 10)
	tonIn := transferred("incoming", nil, alice, poolX, nil, nil, 10)
	yOut := transferred("outgoing", masterY, poolX, bob, poolYs, bobY, 25)
	tonOut := transferred("outgoing", nil, poolX, bob, nil, nil, 25)
	for what, c := range map[string]played{
		"jettons for jettons": {[]step{x(in(0x66210c65, ends(0x520e4831, gaveY)))}, []string{"jetton_swap"},
			slices.Concat([]any{"dex", "bidask", "sender", alice, "asset_in", masterX, "asset_out", masterY, "peer_swaps", "[]"}, xIn, yOut)},
		"jettons for toncoins, in two ranges": {[]step{x(in(0x87d36990, step{to: rangeTwo, value: 55, body: order(0x5a6a036f), then: []step{ends(0xd3a25890, gaveTON)}}))},
			[]string{"jetton_swap"}, slices.Concat(xIn, tonOut)},
		"toncoins for jettons":                      {[]step{tons(0xf2ef6c1b, in(0x66210c65, ends(0x520e4831, gaveY)))}, []string{"jetton_swap"}, slices.Concat(tonIn, yOut)},
		"toncoins for jettons, by the newer opcode": {[]step{tons(0x87d36990, in(0x87d36990, ends(0xd3a25890, gaveY)))}, []string{"jetton_swap"}, slices.Concat(tonIn, yOut)},
		"some of it returned":                       {[]step{x(in(0x87d36990, ends(0xd3a25890, backX, gaveY)))}, []string{"jetton_swap"}, slices.Concat(xIn, yOut)},
		"returned": {[]step{x(in(0x87d36990, ends(0x1bba3896, backX)))}, []string{"jetton_swap!"},
			slices.Concat(xIn, transferred("outgoing", masterX, poolX, alice, poolXs, aliceX, 10))},
		"refused by the receiver":    {[]step{x(in(0x87d36990, ends(0xd3a25890, lostTON)))}, []string{"jetton_swap!"}, slices.Concat(xIn, tonOut)},
		"to an account without code": {[]step{x(in(0x87d36990, ends(0xd3a25890, unrun(gaveTON))))}, []string{"jetton_swap"}, slices.Concat(xIn, tonOut)},
		"refused by the range": {[]step{x(step{to: rangeOne, value: 60, aborted: true, bounce: true, body: order(0x87d36990)})},
			[]string{"jetton_transfer", "call_contract!"}, nil},
		"an order of somebody who just got jettons": {[]step{sends(10, aliceX, bobY, bob, nil, tons(0x87d36990, in(0x87d36990, ends(0xd3a25890, gaveY))))},
			[]string{"jetton_transfer", "jetton_swap"}, nil},
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

func TestSwapsAtBidaskWithoutRanges(t *testing.T) {
	poolXs, poolYs := account(0x63), account(0x64)
	facts := append(slices.Clone(exchange), jettons(poolXs, poolOne, masterX), jettons(poolYs, poolOne, masterY))
	x := func(then ...step) step { return sends(10, aliceX, poolXs, poolOne, word(0xdd79732c), then...) }
	tons := func(then ...step) step {
		return step{to: poolOne, value: 90, body: coins(order(0xdd79732c), 10), then: then}
	}
	gaveY := sends(25, poolYs, bobY, bob, nil)
	gaveTON := step{to: bob, value: 30, body: coins(order(0x6edd65f0), 25).MustStoreBoolBit(false)}
	xIn := transferred("incoming", masterX, alice, poolOne, aliceX, poolXs, 10)
	tonIn := transferred("incoming", nil, alice, poolOne, nil, nil, 10)
	for what, c := range map[string]played{
		"jettons for jettons":  {[]step{x(gaveY)}, []string{"jetton_swap"}, slices.Concat([]any{"dex", "bidask"}, xIn, transferred("outgoing", masterY, poolOne, bob, poolYs, bobY, 25))},
		"jettons for toncoins": {[]step{x(gaveTON)}, []string{"jetton_swap"}, slices.Concat(xIn, transferred("outgoing", nil, poolOne, bob, nil, nil, 25))},
		"toncoins for jettons": {[]step{tons(gaveY)}, []string{"jetton_swap"}, tonIn},
		"returned":             {[]step{x(sends(10, poolXs, aliceX, alice, nil))}, []string{"jetton_swap!"}, xIn},
		"for what another exchange gave": {[]step{sends(10, aliceX, routerX, router, nil, stonfiSwap(stonfiPay(0xc64370e5, poolOne, 0, 25, sends(25, routerY, poolYs, poolOne, word(0xdd79732c),
			gaveTON, sends(3, poolYs, aliceY, alice, nil)))))}, []string{"jetton_swap", "jetton_swap"}, []any{"dex", "stonfi", "asset_out", masterY}},
		"of who swapped elsewhere": {[]step{sends(10, aliceX, routerX, router, nil, stonfiSwap(stonfiPay(0xc64370e5, poolOne, 0, 25, sends(25, routerY, poolYs, poolOne, nil,
			gaveTON))))}, []string{"jetton_swap", "call_contract"}, nil},
		"for what another exchange takes": {[]step{sends(10, aliceX, poolXs, poolOne, word(0xdd79732c), sends(25, poolYs, routerY, router, nil,
			stonfiSwap(stonfiPay(0xc64370e5, bob, 0, 40, sends(40, routerX, bobY, bob, nil)))))}, []string{"jetton_swap", "jetton_swap"},
			slices.Concat(xIn, []any{"dex", "bidask", "asset_out", masterY, "dex_outgoing_transfer.destination", router})},
		"kept": {[]step{x()}, []string{"jetton_transfer"}, nil},
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

func TestLiquidityOfBidask(t *testing.T) {
	poolXs, poolYs := account(0x63), account(0x64)
	rangeOne, rangeTwo, vault, position := account(0x65), account(0x66), account(0x67), account(0x68)
	facts := append(slices.Clone(exchange), jettons(poolXs, poolOne, masterX), jettons(poolYs, poolOne, masterY))
	provide := func(x, y int64, then ...step) step {
		return step{to: rangeOne, value: 60, body: coins(coins(order(0xd1b02ea5).MustStoreUInt(0, 3), x), y), then: then}
	}
	onward := func(then ...step) step { return step{to: rangeTwo, value: 50, body: order(0x0c09445a), then: then} }
	minted := step{to: position, value: 40, deployed: true, body: order(0x250ad226), then: []step{{to: alice, value: 30, body: order(0x0dc8bb28)}}}
	gives := func(paid ...step) step { return step{to: poolOne, value: 30, body: order(0x02422cbe), then: paid} }
	paysTON := func(n int64) step {
		return step{to: alice, value: 20, body: coins(order(0x6edd65f0), n).MustStoreBoolBit(false)}
	}
	refusedTON := paysTON(3)
	refusedTON.bounce, refusedTON.aborted = true, true
	x := func(opcode uint64, then ...step) step {
		return sends(10, aliceX, poolXs, poolOne, word(opcode), then...)
	}
	y := func(opcode uint64, then ...step) step {
		return sends(30, aliceY, poolYs, poolOne, word(opcode), then...)
	}
	save := func(x, y int64, then ...step) step {
		return step{to: vault, value: 60, body: coins(coins(order(0x214ad1d2), x), y), then: then}
	}
	saved := func(then ...step) step { return step{to: poolOne, value: 55, body: order(0xaf31d23f), then: then} }
	tons := func(opcode uint64, then ...step) step {
		return step{to: poolOne, value: 90, body: coins(order(opcode), 20), then: then}
	}
	dammMint := step{to: lpWallet, value: 40, body: coins(order(0x27ae4eff), 77), then: []step{excess()}}
	of := func(a1 []byte, n1 any, a2 []byte, n2, lp any, nft []byte) []any {
		return []any{"dex", "bidask", "source", alice, "pool", poolOne, "asset_1", or(a1), "amount_1", n1, "asset_2", or(a2), "amount_2", n2, "lp_tokens_minted", lp, "nft_address", or(nft)}
	}
	const deposit, deploy, withdrawal = "dex_deposit_liquidity", "contract_deploy", "dex_withdraw_liquidity"
	for what, c := range map[string]played{
		"one asset":                     {[]step{x(0x96feef7b, provide(10, 0, minted))}, []string{deposit, deploy}, of(masterX, 10, nil, nil, nil, position)},
		"toncoins":                      {[]step{tons(0x96feef7b, provide(0, 19, minted))}, []string{deposit, deploy}, of(nil, 19, nil, nil, nil, position)},
		"jettons with toncoins":         {[]step{sends(10, aliceX, poolXs, poolOne, coins(word(0x3ea0bafc), 8), provide(8, 10, minted))}, []string{deposit, deploy}, of(masterX, 10, nil, 8, nil, position)},
		"in two ranges":                 {[]step{x(0x96feef7b, provide(10, 0, onward(minted)))}, []string{deposit, deploy}, of(masterX, 10, nil, nil, nil, position)},
		"the first half":                {[]step{x(0x96feef7b, save(10, 0))}, []string{deposit}, of(masterX, 10, nil, nil, nil, nil)},
		"the first half, toncoins":      {[]step{tons(0x96feef7b, save(0, 18))}, []string{deposit}, of(nil, 18, nil, nil, nil, nil)},
		"both halves":                   {[]step{x(0x96feef7b, save(10, 0)), y(0x96feef7b, save(0, 30, saved(provide(10, 30, minted))))}, []string{deposit, deploy}, of(masterY, 30, masterX, 10, nil, position)},
		"and a half of the next one":    {[]step{x(0x96feef7b, save(10, 0, saved(provide(10, 30, minted)))), y(0x96feef7b, save(0, 30))}, []string{deposit, deposit, deploy}, of(masterX, 10, nil, nil, nil, position)},
		"a half, and one asset":         {[]step{x(0x96feef7b, save(10, 0)), tons(0x96feef7b, provide(0, 19, minted))}, []string{deposit, deposit, deploy}, of(masterX, 10, nil, nil, nil, nil)},
		"some of it returned":           {[]step{x(0x96feef7b, provide(10, 0, gives(paysTON(3), sends(4, poolXs, aliceX, alice, nil)), minted))}, []string{deposit, deploy}, []any{"vault_excesses[0].asset", nil, "vault_excesses[0].amount", 3, "vault_excesses[1].asset", masterX, "vault_excesses[1].amount", 4}},
		"not all of it returned":        {[]step{x(0x96feef7b, provide(10, 0, gives(refusedTON, sends(4, poolXs, aliceX, alice, nil)), minted))}, []string{deposit, deploy}, gaveBack(masterX, 4)},
		"returned":                      {[]step{x(0x96feef7b, provide(10, 0, gives(sends(10, poolXs, aliceX, alice, nil))))}, []string{deposit + "!"}, of(masterX, 10, nil, nil, nil, nil)},
		"a pool without ranges":         {[]step{x(0x729c04c8, dammMint)}, []string{deposit}, of(masterX, 10, nil, nil, 77, nil)},
		"toncoins, without ranges":      {[]step{tons(0x729c04c8, dammMint)}, []string{deposit}, of(nil, 20, nil, nil, 77, nil)},
		"with toncoins, without ranges": {[]step{sends(10, aliceX, poolXs, poolOne, coins(word(0xa8904134), 8), dammMint)}, []string{deposit}, of(masterX, 10, nil, 8, 77, nil)},
		"withdrawn": {[]step{{to: position, value: 90, body: order(0x73403c43), then: []step{{to: rangeOne, value: 80, body: order(0x16e09400), then: []step{
			{to: rangeTwo, value: 70, body: order(0x16e09400), then: []step{{to: poolOne, value: 60, body: order(0x42062d62), then: []step{paysTON(25), sends(10, poolXs, aliceX, alice, nil)}}}}}}}}},
			[]string{withdrawal}, []any{"dex", "bidask", "source", alice, "pool", poolOne, "asset_1", nil, "amount_1", 25, "asset_2", masterX, "amount_2", 10, "user_jetton_wallet_2", aliceX,
				"burnt_nft_address", position, "lp_tokens_burnt", nil}},
		"withdrawn, and lost": {[]step{{to: position, value: 90, body: order(0xebd6ec83), then: []step{{to: rangeOne, value: 80, body: order(0x16e09400), then: []step{
			{to: poolOne, value: 60, body: order(0x42062d62), then: []step{refused(10, poolXs, aliceX, alice)}}}}}}}, []string{withdrawal + "!"}, nil},
		"withdrawn from a pool without ranges": {[]step{{to: lpWallet, value: 90, body: coins(order(0x71e4a09a), 77), then: []step{{to: poolOne, value: 80, body: order(0xadb8eb49), then: []step{
			paysTON(25), sends(10, poolXs, aliceX, alice, nil)}}}}}, []string{withdrawal}, []any{"pool", poolOne, "lp_tokens_burnt", 77, "burnt_nft_address", nil, "amount_1", 25, "amount_2", 10}},
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

package action_test

import (
	"slices"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/action"
	"tonscribe/schema/record"
)

// position is the item of liquidity at TONCO.
var position = account(0x4b)

// toncoSwap is a router's order to the pool, of what a wallet of it got.
func toncoSwap(at, wallet []byte, then ...step) step {
	params := coins(number(coins(cell.BeginCell(), 10), 160, 1), 20)
	b := addr(order(0xa7fb58f8), alice, wallet).MustStoreRef(params.EndCell()).MustStoreRef(cell.BeginCell().EndCell())
	return step{to: at, value: 60, body: b, then: then}
}

// toncoSwap16 is the same of version 1.6.
func toncoSwap16(at, wallet []byte, then ...step) step {
	s := toncoSwap(at, wallet, then...)
	params := coins(number(coins(cell.BeginCell(), 10), 160, 1), 20)
	s.body = addr(order(0xa7fb58f8), carol, alice, wallet).MustStoreRef(params.EndCell()).MustStoreRef(cell.BeginCell().EndCell())
	return s
}

// toncoAsk is a payload that asks for some of what a wallet has, and then for more.
func toncoAsk(wallet []byte, least int64, next *cell.Builder) *cell.Builder {
	b := addr(coins(number(addr(word(0xa7fb58f8), wallet), 160, 1), least), bob)
	if next == nil {
		return b.MustStoreBoolBit(false)
	}
	return b.MustStoreBoolBit(true).MustStoreRef(next.EndCell())
}

func toncoPays(code uint64, wallets [2][]byte, amounts [2]int64, then ...step) step {
	list := cell.BeginCell()
	for i := range 2 {
		addr(coins(list, amounts[i]), wallets[i])
	}
	b := addr(order(0xa1daa96d), bob, carol).MustStoreUInt(code, 32).MustStoreUInt(8, 64)
	return step{to: router, value: 50, body: b.MustStoreMaybeRef(list.EndCell()).MustStoreMaybeRef(nil), then: then}
}

// wrapsOn is what a router's wallet of wrapped toncoins pays to that of another one.
func wrapsOn(amount int64, wallet, to, owner []byte, payload *cell.Builder, then ...step) step {
	s := unwraps(amount, wallet, to)
	s.then = []step{wraps(amount, to, owner, payload, then...)}
	return s
}

func TestSwapsAtTonco(t *testing.T) {
	xy, xt, ty := [2][]byte{routerX, routerY}, [2][]byte{routerX, routerTON}, [2][]byte{routerTON, routerY}
	gave := sends(25, routerY, bobY, bob, nil)
	in := transferred("incoming", masterX, alice, router, aliceX, routerX, 10)
	out := transferred("outgoing", masterY, router, bob, routerY, bobY, 25)
	both := []any{"dex", "tonco", "sender", alice, "asset_in", masterX, "asset_out", masterY, "peer_swaps", "[]"}
	swap := func(then ...step) []step {
		return []step{sends(10, aliceX, routerX, router, nil, toncoSwap(poolOne, routerX, then...))}
	}
	bounced := toncoSwap(poolOne, routerX)
	bounced.aborted, bounced.bounce = true, true
	brought := wraps(10, routerTON, router, nil, toncoSwap(poolOne, routerTON, toncoPays(200, ty, [2]int64{0, 25}, gave)))
	brought.then = slices.Concat([]step{{to: market, value: 1, body: order(0x7362d09c)}}, brought.then)
	check(t, map[string]played{
		"toncoins of which the wallet tells somebody else, too": {[]step{brought}, []string{"jetton_swap", "call_contract"},
			slices.Concat(out, transferred("incoming", nil, alice, router, nil, routerTON, 10))},
		"jettons for jettons": {swap(toncoPays(200, xy, [2]int64{0, 25}, gave)), []string{"jetton_swap"}, slices.Concat(both, in, out, []any{"min_out_amount", 25})},
		"jettons for toncoins": {swap(toncoPays(200, xt, [2]int64{0, 25}, unwraps(25, routerTON, bob))), []string{"jetton_swap"},
			slices.Concat(in, transferred("outgoing", nil, router, bob, nil, nil, 25), []any{"asset_out", nil})},
		"toncoins for jettons": {[]step{wraps(10, routerTON, router, nil, toncoSwap(poolOne, routerTON, toncoPays(200, ty, [2]int64{0, 25}, gave)))}, []string{"jetton_swap"},
			slices.Concat(out, transferred("incoming", nil, alice, router, nil, routerTON, 10), []any{"asset_in", nil, "asset_out", masterY})},
		"for as much as the price allows, the rest returned": {swap(toncoPays(200, xy, [2]int64{3, 25}, sends(3, routerX, aliceX, alice, nil), gave)),
			[]string{"jetton_swap"}, slices.Concat(both, in, out)},
		"through two pools": {swap(toncoPays(200, xt, [2]int64{0, 7}, step{to: routerTON, value: 60,
			body: coins(addr(coins(order(0x0f8a7ea5), 7), router, alice).MustStoreBoolBit(false), 0).MustStoreBoolBit(false), then: []step{
				wraps(7, routerTON, router, nil, toncoSwap(poolTwo, routerTON, toncoPays(200, ty, [2]int64{0, 25}, gave)))}})), []string{"jetton_swap"},
			slices.Concat(in, out, []any{"asset_in", masterX, "asset_out", masterY, "peer_swaps[0].asset_in", masterX, "peer_swaps[0].amount_in", 10,
				"peer_swaps[0].asset_out", nil, "peer_swaps[0].amount_out", 7, "peer_swaps[1].asset_in", nil, "peer_swaps[1].amount_in", 7,
				"peer_swaps[1].asset_out", masterY, "peer_swaps[1].amount_out", 25})},
		"through two pools, by way of the router's own wallet": {swap(toncoPays(200, xy, [2]int64{0, 7}, sends(7, routerY, routerY, router, nil,
			toncoSwap(poolTwo, routerY, toncoPays(200, ty, [2]int64{25, 0}, unwraps(25, routerTON, bob)))))), []string{"jetton_swap"},
			slices.Concat(in, transferred("outgoing", nil, router, bob, nil, nil, 25), []any{"asset_in", masterX, "asset_out", nil,
				"peer_swaps[0].asset_out", masterY, "peer_swaps[0].amount_out", 7, "peer_swaps[1].asset_in", masterY, "peer_swaps[1].amount_in", 7})},
		"through two pools, without a transfer between them": {swap(toncoPays(200, xt, [2]int64{0, 7},
			toncoSwap(poolTwo, routerTON, toncoPays(200, ty, [2]int64{0, 25}, gave)))), []string{"jetton_swap"},
			slices.Concat(in, out, []any{"asset_in", masterX, "asset_out", masterY, "peer_swaps[0].asset_in", masterX, "peer_swaps[0].amount_in", 10,
				"peer_swaps[0].asset_out", nil, "peer_swaps[0].amount_out", 7, "peer_swaps[1].asset_in", nil, "peer_swaps[1].amount_in", 7,
				"peer_swaps[1].asset_out", masterY, "peer_swaps[1].amount_out", 25})},
		"in version 1.6": {[]step{sends(10, aliceX, routerX, router, nil, toncoSwap16(poolOne, routerX, toncoPays(200, xy, [2]int64{0, 25}, gave)))}, []string{"jetton_swap"}, slices.Concat(both, in, out)},
		"returned, for too little": {swap(toncoPays(231, xy, [2]int64{10, 0}, sends(10, routerX, aliceX, alice, nil))), []string{"jetton_swap!"},
			slices.Concat(both, in, transferred("outgoing", masterX, router, alice, routerX, aliceX, 10), []any{"min_out_amount", 20})},
		"returned on the way to a third asset": {[]step{sends(10, aliceX, routerX, router, toncoAsk(routerTON, 7, cell.BeginCell().MustStoreRef(toncoAsk(routerY, 33, nil).EndCell())),
			toncoSwap(poolOne, routerX, toncoPays(231, xt, [2]int64{10, 0}, sends(10, routerX, aliceX, alice, nil))))}, []string{"jetton_swap!"},
			[]any{"asset_in", masterX, "asset_out", masterY, "min_out_amount", 33}},
		"refused by the receiver": {swap(toncoPays(200, xy, [2]int64{0, 25}, refused(25, routerY, bobY, bob))), []string{"jetton_swap!"}, slices.Concat(both, in, out)},
		"refused by the router's wallet": {swap(toncoPays(200, xy, [2]int64{0, 25}, unsent(25, routerY, bobY, bob))), []string{"jetton_swap!"},
			slices.Concat(both, in, transferred("outgoing", masterY, router, bob, routerY, nil, 25))},
		"without gas for the payment": {swap(toncoPays(200, xy, [2]int64{0, 25})), []string{"jetton_swap!"},
			slices.Concat(both, in, transferred("outgoing", masterY, router, carol, routerY, nil, 25))},
		"with a payment that the next pool does not take": {swap(toncoPays(200, xy, [2]int64{0, 25}, refusedOrder(order(0xa7fb58f8)))), []string{"jetton_swap!", "call_contract!"},
			slices.Concat(both, in, transferred("outgoing", masterY, router, carol, routerY, nil, 25))},
		"with a payment to the router itself, which the next pool does not take": {[]step{sends(10, aliceX, routerX, router, toncoAsk(routerY, 7, cell.BeginCell().MustStoreRef(toncoAsk(routerTON, 33, nil).EndCell())),
			toncoSwap(poolOne, routerX, toncoPays(200, xy, [2]int64{0, 7}, sends(7, routerY, routerY, router, nil, refusedOrder(order(0xa7fb58f8))))))}, []string{"jetton_swap!", "call_contract!"},
			slices.Concat(in, transferred("outgoing", masterY, router, router, routerY, routerY, 7), []any{"asset_in", masterX, "asset_out", nil, "peer_swaps", "[]", "min_out_amount", 33})},
		"with a payment to another router, whose pool does not take it": {[]step{sends(10, aliceX, routerX, router, toncoAsk(routerY, 7, cell.BeginCell().MustStoreRef(toncoAsk(router2TON, 33, nil).EndCell())),
			toncoSwap(poolOne, routerX, toncoPays(200, xy, [2]int64{0, 7}, sends(7, routerY, router2Y, router2, toncoAsk(router2TON, 33, nil), refusedOrder(order(0xa7fb58f8))))))}, []string{"jetton_swap!", "call_contract!"},
			slices.Concat(in, transferred("outgoing", masterY, router, router2, routerY, router2Y, 7), []any{"asset_in", masterX, "asset_out", nil, "peer_swaps", "[]", "min_out_amount", 33})},
		"with toncoins to another router, whose pool does not take them": {swap(toncoPays(200, xt, [2]int64{0, 7}, wrapsOn(7, routerTON, router2TON, router2, toncoAsk(router2Y, 33, nil), refusedOrder(order(0xa7fb58f8))))),
			[]string{"jetton_swap!", "call_contract", "call_contract!"}, slices.Concat(in, transferred("outgoing", nil, router, router2, nil, nil, 7))},
		"with toncoins to the router itself, which the next pool does not take": {swap(toncoPays(200, xt, [2]int64{0, 7}, step{to: routerTON, value: 60,
			body: coins(addr(coins(order(0x0f8a7ea5), 7), router, alice).MustStoreBoolBit(false), 0).MustStoreBoolBit(false), then: []step{
				wraps(7, routerTON, router, nil, refusedOrder(order(0xa7fb58f8)))}})), []string{"jetton_swap!", "call_contract", "call_contract!"},
			slices.Concat(in, transferred("outgoing", nil, router, router, nil, nil, 7))},
		"refused by the pool":      {[]step{sends(10, aliceX, routerX, router, nil, bounced)}, []string{"jetton_transfer", "call_contract!"}, nil},
		"with a payment cut short": {swap(step{to: router, value: 9, body: order(0xa1daa96d)}), []string{"jetton_transfer", "call_contract", "call_contract"}, nil},
	})
}

func TestLiquidityOfTonco(t *testing.T) {
	ticks := func(b *cell.Builder) *cell.Builder { return number(number(b, 24, -60), 24, 120) }
	fund := func(amounts [2]int64, then ...step) step {
		b := coins(coins(coins(coins(addr(order(0x4468de77), alice), amounts[0]), amounts[1]), 10), 7)
		return step{to: poolOne, value: 60, body: ticks(number(b, 128, 900)), then: []step{{to: depository, value: 50, body: order(0x3ebe5431), then: then}}}
	}
	item := func() step {
		fees := number(number(number(cell.BeginCell(), 256, 1), 256, 2), 64, 23)
		return step{to: position, value: 30, deployed: true, body: ticks(number(addr(order(0xd5ecca2a), alice), 128, 900)).MustStoreRef(fees.EndCell())}
	}
	mint := func(then ...step) step {
		b := addr(coins(coins(order(0x81702ef8), 10), 7), alice)
		return step{to: poolOne, value: 40, body: ticks(number(b, 128, 900)), then: then}
	}
	xt := [2][]byte{routerX, routerTON}
	payload := addr(word(0x4468de77), routerTON)
	x := func(then ...step) []step {
		return []step{sends(10, aliceX, routerX, router, payload, fund([2]int64{10, 0}, then...))}
	}
	unminted := item()
	unminted.aborted, unminted.deployed = true, false
	half := slices.Clip([]any{"dex", "tonco", "source", alice, "pool", poolOne, "destination_liquidity", poolOne, "asset_1", masterX, "amount_1", 10,
		"user_jetton_wallet_1", aliceX, "asset_2", nil, "amount_2", nil, "target_asset_1", masterX, "target_asset_2", nil, "target_amount_1", 10, "target_amount_2", 7,
		"tick_lower", -60, "tick_upper", 120})
	done := slices.Clip(slices.Concat(half, []any{"lp_tokens_minted", 900, "nft_index", 23, "nft_address", position}))
	returnedTON := unwraps(2, routerTON, alice)
	returnedTON.then = slices.Clone(returnedTON.then)
	returnedTON.then[0].bounce, returnedTON.then[0].aborted = true, true
	check(t, map[string]played{
		"a half": {x(), []string{"dex_deposit_liquidity"}, append(half, "lp_tokens_minted", nil, "nft_address", nil, "nft_index", nil)},
		"a half of what the pool has second": {[]step{sends(10, aliceX, routerX, router, addr(word(0x4468de77), routerTON), fund([2]int64{0, 10}))},
			[]string{"dex_deposit_liquidity"}, []any{"asset_1", masterX, "amount_1", 10, "user_jetton_wallet_1", nil, "user_jetton_wallet_2", aliceX,
				"target_asset_1", nil, "target_asset_2", masterX}},
		"a half of toncoins": {[]step{wraps(7, routerTON, router, addr(word(0x4468de77), routerX), fund([2]int64{0, 7}))}, []string{"dex_deposit_liquidity"},
			[]any{"asset_1", nil, "amount_1", 7, "asset_2", nil, "amount_2", nil, "target_asset_1", masterX, "target_asset_2", nil}},
		"the second half": {x(mint(item(), excess())), []string{"dex_deposit_liquidity", "contract_deploy"}, append(done, "vault_excesses", "[]")},
		"with something left": {x(mint(item(), toncoPays(0, xt, [2]int64{1, 2}, sends(1, routerX, aliceX, alice, nil), unwraps(2, routerTON, alice)))),
			[]string{"dex_deposit_liquidity", "contract_deploy"}, append(done, "vault_excesses[0].asset", masterX, "vault_excesses[0].amount", 1,
				"vault_excesses[1].asset", nil, "vault_excesses[1].amount", 2)},
		"with something left, not all of it given back": {x(mint(item(), toncoPays(0, xt, [2]int64{1, 2}, sends(1, routerX, aliceX, alice, nil), returnedTON))),
			[]string{"dex_deposit_liquidity", "contract_deploy"}, append(done, gaveBack(masterX, 1)...)},
		"without the item": {x(mint()), []string{"dex_deposit_liquidity!"}, append(half, "lp_tokens_minted", nil, "nft_address", nil)},
		"not minted":       {x(mint(unminted)), []string{"dex_deposit_liquidity!"}, nil},
		"refused by the pool": {[]step{sends(10, aliceX, routerX, router, payload, step{to: poolOne, value: 9, aborted: true, body: order(0x4468de77)})},
			[]string{"jetton_transfer", "call_contract!"}, nil},
	})
	facts := append(slices.Clone(exchange), &record.Contract{Account: position, NftItem: &record.NFTItem{Init: true, Index: []byte{23}, Collection: poolOne, Owner: alice}})
	list := recognise(t, facts, play(alice, x(mint(item()))...))
	wants(t, list, "dex_deposit_liquidity", "contract_deploy") // the mint of the item is a part of it
	details(t, list, "dex_deposit_liquidity", done...)

	burn := func(pay step) []step {
		b := ticks(number(order(0x530b5f2c).MustStoreUInt(23, 64), 128, 800))
		return []step{{to: poolOne, value: 90, body: b, then: []step{{to: position, value: 80, body: order(0x46ca335a), then: []step{
			{to: poolOne, value: 70, body: order(0xd73ac09d), then: []step{pay}}}}}}}
	}
	taken := slices.Clip([]any{"dex", "tonco", "source", alice, "pool", poolOne, "destination_liquidity", poolOne, "lp_tokens_burnt", 800, "burnt_nft_index", 23,
		"burnt_nft_address", position, "tick_lower", -60, "tick_upper", 120, "asset_1", masterX, "amount_1", 10, "asset_2", nil})
	both := func(code uint64) step {
		return toncoPays(code, xt, [2]int64{10, 7}, unwraps(7, routerTON, alice), sends(10, routerX, aliceX, alice, nil))
	}
	check(t, map[string]played{
		"taken out": {burn(both(201)), []string{"dex_withdraw_liquidity"}, append(taken, "amount_2", 7, "user_jetton_wallet_1", aliceX, "user_jetton_wallet_2", nil)},
		"taken out of one side": {burn(toncoPays(201, xt, [2]int64{10, 0}, sends(10, routerX, aliceX, alice, nil))), []string{"dex_withdraw_liquidity"},
			append(taken, "amount_2", 0, "user_jetton_wallet_2", carol)},
		"fees collected":         {burn(both(203)), []string{"dex_withdraw_liquidity"}, nil},
		"not taken out":          {burn(both(77)), []string{"dex_withdraw_liquidity!"}, nil},
		"taken out, not paid":    {burn(toncoPays(201, xt, [2]int64{10, 7}, sends(10, routerX, aliceX, alice, nil))), []string{"dex_withdraw_liquidity!"}, nil},
		"taken out, and refused": {burn(toncoPays(201, xt, [2]int64{10, 7}, refused(10, routerX, aliceX, alice), unwraps(7, routerTON, alice))), []string{"dex_withdraw_liquidity!"}, nil},
		"of somebody else": {[]step{{to: poolOne, value: 90, body: order(0x530b5f2c), then: []step{{to: position, value: 80, aborted: true, body: order(0x46ca335a)}}}},
			[]string{"call_contract", "call_contract!"}, nil},
	})

	// Jettons of which nothing is known are paid as others are.
	list = recognise(t, action.NoFacts{}, play(alice, burn(both(201))...))
	wants(t, list, "dex_withdraw_liquidity")
	details(t, list, "dex_withdraw_liquidity", "asset_1", nil, "amount_1", 10, "user_jetton_wallet_1", aliceX, "asset_2", nil, "amount_2", 7, "user_jetton_wallet_2", nil)
	wants(t, recognise(t, action.NoFacts{}, play(alice, burn(toncoPays(201, xt, [2]int64{10, 7}, refused(10, routerX, aliceX, alice), unwraps(7, routerTON, alice)))...)),
		"dex_withdraw_liquidity!")
	wants(t, recognise(t, action.NoFacts{}, play(alice, burn(toncoPays(201, xt, [2]int64{10, 7}, unwraps(7, routerTON, alice)))...)), "dex_withdraw_liquidity!")
}

func TestPoolsOfTonco(t *testing.T) {
	minters := addr(cell.BeginCell(), masterX, pTon)
	create := func(init step) []step {
		empty := cell.BeginCell().EndCell()
		b := number(number(addr(order(0x2e3034ef), routerX, routerTON), 24, 60), 160, 12345)
		b.MustStoreUInt(11, 16).MustStoreUInt(12, 16).MustStoreUInt(13, 16).MustStoreRef(empty).MustStoreRef(empty).MustStoreRef(minters.EndCell())
		return []step{{to: router, value: 90, body: b, then: []step{init}}}
	}
	b := addr(order(0x441c39ed).MustStoreUInt(0, 2), nil).MustStoreBoolBit(false).MustStoreAddr(friendly(nil))
	b = number(number(b.MustStoreBoolBit(true), 24, 60).MustStoreBoolBit(true), 160, 12345).MustStoreBoolBit(true).MustStoreBoolBit(true)
	init := step{to: poolOne, value: 50, deployed: true, body: b}
	roles := cell.BeginCell().EndCell()
	newer := func(more ...uint) step {
		b := order(0x441c39ed).MustStoreBoolBit(false).MustStoreRef(roles).MustStoreBoolBit(true)
		b = number(number(b, 24, 60).MustStoreBoolBit(true), 160, 12345).MustStoreBoolBit(true).MustStoreBoolBit(true).MustStoreUInt(0, 3*16)
		for _, bits := range more {
			b.MustStoreUInt(0, bits)
		}
		return step{to: poolOne, value: 50, deployed: true, body: b.MustStoreBoolBit(false)}
	}
	broken := init
	broken.aborted, broken.deployed = true, false
	check(t, map[string]played{
		"deployed": {create(init), []string{"call_contract in tonco_deploy_pool", "tonco_deploy_pool", "call_contract in tonco_deploy_pool", "contract_deploy"},
			[]any{"source", alice, "pool", poolOne, "router", router, "router_jetton_wallet_1", routerX, "router_jetton_wallet_2", routerTON, "jetton_minter_1", masterX,
				"jetton_minter_2", pTon, "tick_spacing", 60, "initial_price_x96", 12345, "protocol_fee", 11, "lp_fee_base", 12, "lp_fee_current", 13, "pool_active", true}},
		"of version 1.5": {create(newer()), []string{"call_contract in tonco_deploy_pool", "tonco_deploy_pool", "call_contract in tonco_deploy_pool", "contract_deploy"},
			[]any{"pool_active", true}},
		"of version 1.6": {create(newer(1, 32)), []string{"call_contract in tonco_deploy_pool", "tonco_deploy_pool", "call_contract in tonco_deploy_pool", "contract_deploy"},
			[]any{"pool_active", true}},
		"not deployed": {create(broken), []string{"call_contract in tonco_deploy_pool", "tonco_deploy_pool!", "call_contract! in tonco_deploy_pool"}, nil},
	})
}

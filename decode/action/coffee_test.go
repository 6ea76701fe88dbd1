package action_test

import (
	"slices"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/schema/record"
)

// coffeeAsset is an asset of Swap Coffee, toncoins for nil.
func coffeeAsset(b *cell.Builder, master []byte) *cell.Builder {
	if master == nil {
		return b.MustStoreUInt(0, 2)
	}
	return b.MustStoreUInt(1, 2).MustStoreUInt(0, 8).MustStoreSlice(master[4:], 256)
}

// coffeeParams are those of a pool.
func coffeeParams(b *cell.Builder, first, second []byte) *cell.Builder {
	return coffeeAsset(coffeeAsset(b, first), second).MustStoreUInt(0, 3).MustStoreBoolBit(false)
}

// coffeeProof is what a pool of two assets proves itself with.
func coffeeProof(first, second []byte) *cell.Cell {
	return coffeeParams(addr(cell.BeginCell(), factory).MustStoreUInt(2, 2), first, second).EndCell()
}

func coffeePays(vault []byte, amount int64, proof *cell.Cell, then ...step) step {
	b := coins(addr(order(0xc0ffee21), bob), amount).MustStoreMaybeRef(nil).MustStoreMaybeRef(proof)
	return step{to: vault, value: 50, body: b, then: then}
}

func coffeeEvent(asset []byte, in, out int64) step {
	return step{body: coins(coins(coffeeAsset(order(0xc0ffee30), asset), in), out)}
}

func coffeeHop(at []byte, amount int64, then ...step) step {
	return step{to: at, value: 60, body: coins(order(0xc0ffee20), amount), then: then}
}

// coffeeTells is a vault's message to who is to hear of a payment.
func coffeeTells(to []byte) step { return step{to: to, value: 3, body: order(0xc0ffee36)} }

func coffeePaysTON(value uint64, to []byte) step {
	return step{to: to, value: value, body: order(0xc0ffee32)}
}

func TestSwapsAtCoffee(t *testing.T) {
	tx, ty := coffeeProof(nil, masterX), coffeeProof(nil, masterY)
	in := transferred("incoming", masterX, alice, vaultX, aliceX, vaultXs, 10)
	outTON := transferred("outgoing", nil, poolOne, bob, nil, nil, 25)
	outY := transferred("outgoing", masterY, vaultY, bob, vaultYs, bobY, 25)
	swap := func(then ...step) []step {
		return []step{sends(10, aliceX, vaultXs, vaultX, nil, coffeeHop(poolOne, 10, then...))}
	}
	x2t := []any{"dex", "coffee", "sender", alice, "asset_in", masterX, "asset_out", nil, "peer_swaps", "[]"}
	two := func(then ...step) []step { return swap(coffeeEvent(masterX, 10, 7), coffeeHop(poolTwo, 7, then...)) }
	peer0 := []any{"peer_swaps[0].asset_in", masterX, "peer_swaps[0].amount_in", 10, "peer_swaps[0].asset_out", nil, "peer_swaps[0].amount_out", 7}
	peer1 := []any{"peer_swaps[1].asset_in", nil, "peer_swaps[1].amount_in", 7, "peer_swaps[1].asset_out", masterY, "peer_swaps[1].amount_out", 25}
	refusal := step{body: coins(coffeeAsset(order(0xc0ffee31), masterX), 10)}
	failedTON := coffeePaysTON(30, bob)
	failedTON.aborted, failedTON.bounce = true, true
	native := step{to: vaultTON, value: 20, body: coins(order(0xc0ffee00), 10), then: []step{
		coffeeHop(poolOne, 10, coffeeEvent(nil, 10, 25), coffeePays(vaultY, 25, ty, sends(25, vaultYs, bobY, bob, nil)))}}
	bounced := coffeeHop(poolOne, 10)
	bounced.aborted, bounced.bounce = true, true
	check(t, map[string]played{
		"jettons for toncoins": {swap(coffeeEvent(masterX, 10, 25), coffeePays(vaultTON, 25, tx, coffeePaysTON(30, bob))), []string{"jetton_swap"},
			slices.Concat(x2t, in, outTON)},
		"for toncoins that are sent on": {swap(coffeeEvent(masterX, 10, 25), coffeePays(vaultTON, 25, tx, step{to: bob, value: 30, body: order(0xc0ffee36)})),
			[]string{"jetton_swap"}, slices.Concat(x2t, in, transferred("outgoing", nil, vaultTON, bob, nil, nil, 30))},
		"for toncoins, of which somebody else hears": {swap(coffeeEvent(masterX, 10, 25), coffeePays(vaultTON, 25, tx, coffeeTells(carol), coffeePaysTON(30, bob))),
			[]string{"jetton_swap"}, slices.Concat(x2t, in, outTON)},
		"for jettons, of which somebody else hears": {two(coffeeEvent(nil, 7, 25), coffeePays(vaultY, 25, ty, coffeeTells(carol), sends(25, vaultYs, bobY, bob, nil))),
			[]string{"jetton_swap"}, slices.Concat(in, outY)},
		"toncoins for jettons": {[]step{native}, []string{"jetton_swap"},
			slices.Concat([]any{"asset_in", nil, "asset_out", masterY}, transferred("incoming", nil, alice, vaultTON, nil, nil, 10), outY)},
		"through two pools": {two(coffeeEvent(nil, 7, 25), coffeePays(vaultY, 25, ty, sends(25, vaultYs, bobY, bob, nil))), []string{"jetton_swap"},
			slices.Concat(in, outY, peer0, peer1, []any{"asset_in", masterX, "asset_out", masterY})},
		"returned, for too little": {swap(refusal, coffeePays(vaultX, 10, tx, sends(10, vaultXs, aliceX, alice, nil))), []string{"jetton_swap!"},
			slices.Concat(x2t, in, transferred("outgoing", masterX, vaultX, alice, vaultXs, aliceX, 10))},
		"returned by the second pool": {two(refusal, coffeePays(vaultTON, 7, ty, coffeePaysTON(12, alice))), []string{"jetton_swap!"},
			slices.Concat(in, transferred("outgoing", nil, poolTwo, alice, nil, nil, 7), []any{"asset_out", masterY, "peer_swaps", "[]"})},
		"refused by the receiver": {swap(coffeeEvent(masterX, 10, 25), coffeePays(vaultTON, 25, tx, failedTON)), []string{"jetton_swap!"}, slices.Concat(x2t, in, outTON)},
		"to an account without code": {swap(coffeeEvent(masterX, 10, 25), coffeePays(vaultTON, 25, tx, unrun(coffeePaysTON(30, bob)))), []string{"jetton_swap"},
			slices.Concat(x2t, in, outTON)},
		"for toncoins that are sent on to an account without code": {swap(coffeeEvent(masterX, 10, 25), coffeePays(vaultTON, 25, tx,
			unrun(step{to: bob, value: 30, body: order(0xc0ffee36)}))), []string{"jetton_swap"}, nil},
		"jettons refused by the receiver": {two(coffeeEvent(nil, 7, 25), coffeePays(vaultY, 25, ty, refused(25, vaultYs, bobY, bob))), []string{"jetton_swap!"},
			slices.Concat(in, outY)},
		"jettons refused by the vault's wallet": {two(coffeeEvent(nil, 7, 25), coffeePays(vaultY, 25, ty, unsent(25, vaultYs, bobY, bob))), []string{"jetton_swap!"},
			slices.Concat(in, transferred("outgoing", masterY, vaultY, bob, vaultYs, nil, 25))},
		"not paid by the vault": {swap(coffeeEvent(masterX, 10, 25), coffeePays(vaultTON, 25, tx)), []string{"jetton_swap!"},
			slices.Concat(x2t, in, transferred("outgoing", nil, vaultTON, bob, nil, nil, 25))},
		"refused by the pool": {[]step{sends(10, aliceX, vaultXs, vaultX, nil, bounced)}, []string{"jetton_transfer", "call_contract!"}, nil},
		"with an event cut short": {swap(step{body: word(0xc0ffee30)}, coffeePays(vaultTON, 25, tx, coffeePaysTON(30, bob))),
			[]string{"jetton_transfer", "call_contract", "call_contract", "call_contract"}, nil},
	})
}

func TestWhatSwapCoffeeSaysIsEnoughWhereNoWalletIsKnown(t *testing.T) {
	swap := sends(10, aliceX, vaultXs, vaultX, nil, coffeeHop(poolOne, 10, coffeeEvent(masterX, 10, 25),
		coffeePays(vaultY, 25, coffeeProof(masterX, masterY), sends(25, vaultYs, bobY, bob, nil))))
	for _, facts := range []known{{}, {jettons(aliceX, alice, masterX), jettons(vaultXs, vaultX, masterX)}, {jettons(vaultYs, vaultY, masterY), jettons(bobY, bob, masterY)}} {
		list := outermost(t, facts, play(alice, swap))
		wants(t, list, "jetton_swap")
		details(t, list, "jetton_swap", slices.Concat(transferred("incoming", masterX, alice, vaultX, aliceX, vaultXs, 10),
			transferred("outgoing", masterY, vaultY, bob, vaultYs, bobY, 25))...)
	}
	back := sends(10, aliceX, vaultXs, vaultX, nil, coffeeHop(poolOne, 10, step{body: coins(coffeeAsset(order(0xc0ffee31), masterX), 10)},
		coffeePays(vaultX, 10, coffeeProof(masterX, masterY), sends(10, vaultXs, aliceX, alice, nil))))
	list := outermost(t, known{jettons(vaultXs, vaultX, masterX)}, play(alice, back))
	wants(t, list, "jetton_swap!")
	details(t, list, "jetton_swap!", "asset_out", masterY, "dex_outgoing_transfer.asset", masterX, "dex_outgoing_transfer.destination_jetton_wallet", aliceX)
	proof := coffeeProof(masterX, masterY)
	burn := step{to: lpWallet, value: 90, body: coins(order(0x595f07bc), 500).MustStoreAddr(friendly(alice)).MustStoreBoolBit(false), then: []step{
		{to: poolOne, value: 80, body: coins(order(0x7bdd97de), 500), then: []step{{body: order(0xc0ffee35)},
			coffeePays(vaultX, 10, proof, sends(10, vaultXs, aliceX, alice, nil)), coffeePays(vaultY, 7, proof, sends(7, vaultYs, aliceY, alice, nil))}}}}
	list = outermost(t, known{}, play(alice, burn))
	wants(t, list, "dex_withdraw_liquidity")
	details(t, list, "dex_withdraw_liquidity", "dex", "coffee", "source", alice, "pool", poolOne, "lp_tokens_burnt", 500, "asset_1", masterX, "amount_1", 10,
		"user_jetton_wallet_1", aliceX, "asset_2", masterY, "amount_2", 7, "user_jetton_wallet_2", aliceY)
	// The vault that is paid last received its message first.
	payouts := burn.then[0].then
	payouts[1] = later(payouts[1])
	list = outermost(t, known{jettons(lpWallet, alice, poolOne)}, play(alice, burn))
	wants(t, list, "dex_withdraw_liquidity")
	details(t, list, "dex_withdraw_liquidity", "asset_1", masterX, "amount_1", 10, "asset_2", masterY, "amount_2", 7)
}

// coffeeDeployed is the factory's order to what it deploys.
func coffeeDeployed(at []byte, then ...step) step {
	return step{to: at, value: 40, body: word(0xc0ffee22), then: then}
}

func TestLiquidityOfCoffee(t *testing.T) {
	request := func(amount int64, then ...step) step {
		b := addr(coins(order(0xc0ffee27), amount).MustStoreRef(cell.BeginCell().EndCell()).MustStoreRef(coffeeParams(cell.BeginCell(), nil, masterX).EndCell()), alice)
		return step{to: factory, value: 60, body: b, then: []step{coffeeDeployed(depository, then...)}}
	}
	lp := step{to: lpWallet, value: 20, body: internalOrder(500, poolOne), then: []step{excess()}}
	met := func(then ...step) step { return step{to: poolOne, value: 30, body: order(0xc0ffee29), then: then} }
	x := func(then ...step) step { return sends(10, aliceX, vaultXs, vaultX, nil, request(10, then...)) }
	ton := func(then ...step) step {
		return step{to: vaultTON, value: 90, body: coins(order(0xc0ffee04), 7), then: []step{request(7, then...)}}
	}
	proof := coffeeProof(nil, masterX)
	tons := coffeePays(vaultTON, 7, proof, coffeePaysTON(11, alice))
	xs := coffeePays(vaultX, 10, proof, sends(10, vaultXs, aliceX, alice, nil))
	half := slices.Clip([]any{"dex", "coffee", "source", alice, "asset_1", nil, "amount_1", nil, "asset_2", masterX,
		"amount_2", 10, "user_jetton_wallet_1", nil, "user_jetton_wallet_2", aliceX, "target_asset_1", masterX, "target_asset_2", nil, "target_amount_1", nil})
	unminted := lp
	unminted.aborted, unminted.then = true, nil
	returnedTON := coffeePaysTON(11, alice)
	returnedTON.bounce, returnedTON.aborted = true, true
	check(t, map[string]played{
		"rejected, and not all given back": {[]step{x(met(coffeePays(vaultTON, 7, proof, returnedTON), coffeePays(vaultX, 10, proof, refused(10, vaultXs, aliceX, alice)),
			coffeePays(vaultX, 4, proof, sends(4, vaultXs, aliceX, alice, nil))))}, []string{"dex_deposit_liquidity!"}, gaveBack(masterX, 4)},
		"a half": {[]step{x()}, []string{"dex_deposit_liquidity"}, append(half, "pool", nil, "destination_liquidity", nil, "lp_tokens_minted", nil, "vault_excesses", "[]")},
		"a half of toncoins": {[]step{ton()}, []string{"dex_deposit_liquidity"}, []any{"asset_1", nil, "amount_1", 7, "amount_2", nil, "pool", nil,
			"user_jetton_wallet_1", nil, "target_asset_1", nil, "target_asset_2", masterX}},
		"both":            {[]step{ton(), x(met(step{body: order(0xc0ffee33)}, lp))}, []string{"dex_deposit_liquidity", "dex_deposit_liquidity"}, nil},
		"the second half": {[]step{x(met(step{body: order(0xc0ffee33)}, lp))}, []string{"dex_deposit_liquidity"}, append(half, "pool", poolOne, "destination_liquidity", poolOne, "lp_tokens_minted", 500)},
		"rejected": {[]step{x(met(step{body: order(0xc0ffee34)}, tons, xs))}, []string{"dex_deposit_liquidity!"}, append(half, "lp_tokens_minted", nil,
			"vault_excesses[0].asset", nil, "vault_excesses[0].amount", 11, "vault_excesses[1].asset", masterX, "vault_excesses[1].amount", 10)},
		"not minted": {[]step{x(met(step{body: order(0xc0ffee33)}, unminted))}, []string{"dex_deposit_liquidity!"}, nil},
		"of what the depository has already": {[]step{x(xs)}, []string{"dex_deposit_liquidity!"}, append(half, "pool", nil, "lp_tokens_minted", nil,
			"vault_excesses[0].asset", masterX, "vault_excesses[0].amount", 10)},
		"refused by the factory": {[]step{sends(10, aliceX, vaultXs, vaultX, nil, step{to: factory, value: 9, aborted: true, body: order(0xc0ffee27)})},
			[]string{"jetton_transfer", "call_contract!"}, nil},
	})
	burn := func(then ...step) []step {
		return []step{{to: lpWallet, value: 90, body: coins(order(0x595f07bc), 500).MustStoreAddr(friendly(alice)).MustStoreBoolBit(false), then: []step{
			{to: poolOne, value: 80, body: coins(order(0x7bdd97de), 500), then: append([]step{{body: order(0xc0ffee35)}}, then...)}}}}
	}
	paid := []any{"dex", "coffee", "source", alice, "pool", poolOne, "destination_liquidity", poolOne, "lp_tokens_burnt", 500,
		"asset_1", nil, "amount_1", 7, "user_jetton_wallet_1", nil, "asset_2", masterX, "amount_2", 10, "user_jetton_wallet_2", aliceX}
	check(t, map[string]played{
		"taken out":                     {burn(tons, xs), []string{"dex_withdraw_liquidity"}, paid},
		"taken out, in the other order": {burn(xs, tons), []string{"dex_withdraw_liquidity"}, paid},
		"taken out, and told of":        {burn(coffeePays(vaultTON, 7, proof, coffeeTells(carol), coffeePaysTON(11, alice)), xs), []string{"dex_withdraw_liquidity"}, paid},
		"taken out, one under way":      {burn(xs), []string{"dex_withdraw_liquidity!"}, []any{"amount_1", nil, "amount_2", 10}},
		"taken out, one not paid":       {burn(coffeePays(vaultTON, 7, proof), xs), []string{"dex_withdraw_liquidity!"}, []any{"amount_1", nil, "amount_2", 10}},
	})
}

func TestVaultsAndPoolsOfCoffee(t *testing.T) {
	creator := account(0x4c)
	vault := step{to: factory, value: 90, body: coffeeAsset(order(0xc0ffee06), masterX), then: []step{
		{to: vaultX, value: 40, deployed: true, body: word(0xc0ffee22), then: []step{{to: masterX, value: 30, body: order(0x2c76b973),
			then: []step{{to: vaultX, value: 20, body: order(0xd1735400)}}}}}}}
	request := func(amount int64, then ...step) step {
		creation := addr(cell.BeginCell(), carol).MustStoreUInt(0, 4)
		b := coffeeParams(coins(order(0xc0ffee23), amount), nil, masterX).MustStoreRef(creation.EndCell())
		return step{to: factory, value: 60, body: addr(b, alice), then: []step{coffeeDeployed(creator, then...)}}
	}
	proof := addr(addr(cell.BeginCell(), factory).MustStoreUInt(3, 2), bob)
	pooled := func(then ...step) step {
		b := addr(coins(coins(order(0xc0ffee25), 7), 10), alice).MustStoreRef(cell.BeginCell().EndCell()).MustStoreRef(proof.EndCell())
		return step{to: factory, value: 50, body: b, then: []step{coffeeDeployed(poolOne, then...)}}
	}
	lp := step{to: lpWallet, value: 20, body: internalOrder(500, poolOne)}
	x := func(then ...step) step { return sends(10, aliceX, vaultXs, vaultX, nil, request(10, then...)) }
	ton := step{to: vaultTON, value: 90, body: coins(order(0xc0ffee02), 7), then: []step{request(7)}}
	const first, full = "coffee_create_pool_creator", "coffee_create_pool"
	half := []any{"source", alice, "source_jetton_wallet", aliceX, "deposit_recipient", carol, "pool_creator_contract", creator, "provided_asset", masterX,
		"asset_1", masterX, "asset_2", nil, "amount", 10}
	whole := []any{"source", alice, "source_jetton_wallet", aliceX, "initiator_1", alice, "initiator_2", bob, "pool", poolOne, "pool_creator_contract", creator,
		"provided_asset", masterX, "amount", 10, "asset_1", masterX, "amount_1", 10, "asset_2", nil, "amount_2", 7, "lp_tokens_minted", 500}
	list := recognise(t, exchange, play(alice, vault))
	wants(t, list, "call_contract in coffee_create_vault", "coffee_create_vault", "call_contract in coffee_create_vault", "contract_deploy",
		"call_contract in coffee_create_vault", "call_contract in coffee_create_vault")
	details(t, list, "coffee_create_vault", "source", alice, "vault", vaultX, "asset", masterX, "value", 90)
	for what, c := range map[string]struct {
		sent    step
		want    string
		details []any
	}{
		"a half":                   {x(), first, half},
		"of what is there already": {x(coffeePays(vaultX, 10, coffeeProof(nil, masterX), sends(10, vaultXs, aliceX, alice, nil))), first + "!", half},
		"a half of toncoins":       {ton, first, []any{"source_jetton_wallet", nil, "provided_asset", nil, "asset_1", nil, "asset_2", masterX, "amount", 7}},
		"both halves":              {x(pooled(step{body: order(0xc0ffee33)}, step{to: carol, value: 2, body: order(0xc0ffee36)}, lp)), full, whole},
		"not minted":               {x(pooled()), full + "!", []any{"lp_tokens_minted", nil}},
	} {
		t.Run(what, func(t *testing.T) { details(t, recognise(t, exchange, play(alice, c.sent)), c.want, c.details...) })
	}
	wants(t, recognise(t, exchange, play(alice, ton)), "call_contract in "+first, first, "call_contract in "+first, "call_contract in "+first)
	told := step{to: carol, value: 2, body: order(0xc0ffee36), then: []step{{to: bob, value: 1, body: order(0xb216d31f)}}}
	list = outermost(t, exchange, play(alice, x(pooled(step{body: order(0xc0ffee33)}, told, lp))))
	wants(t, list, full) // with what who is notified does
}

func TestProtectedSwapsOfCoffee(t *testing.T) {
	held := []any{"source", alice, "mev_contract", carol, "amount", 90, "asset", nil, "source_jetton_wallet", nil, "mev_contract_jetton_wallet", nil}
	list := recognise(t, exchange, play(alice, step{to: carol, value: 90, body: order(0x6bc79e7e)}))
	details(t, list, "coffee_mev_protect_hold_funds", held...)
	list = recognise(t, exchange, play(alice, step{to: carol, value: 90, body: order(0x6bc79e7e)}, step{to: bob, value: 3, body: word(0xc0ffeea0)}))
	wants(t, list, "call_contract in coffee_mev_protect_hold_funds", "coffee_mev_protect_hold_funds", "call_contract in coffee_mev_protect_hold_funds")
	hold, fee := step{to: carol, value: 90, body: order(0x6bc79e7e)}, step{to: bob, value: 3, body: word(0xc0ffeea0)}
	list = recognise(t, exchange, play(alice, fee, hold, fee, sends(10, aliceX, vaultXs, vaultX, order(0x6bc79e7e)), fee))
	wants(t, list, "call_contract", "call_contract in coffee_mev_protect_hold_funds", "coffee_mev_protect_hold_funds", "call_contract in coffee_mev_protect_hold_funds",
		"jetton_transfer in coffee_mev_protect_hold_funds", "coffee_mev_protect_hold_funds", "call_contract in coffee_mev_protect_hold_funds")
	wants(t, recognise(t, exchange, play(alice, fee, hold)),
		"call_contract in coffee_mev_protect_hold_funds", "coffee_mev_protect_hold_funds", "call_contract in coffee_mev_protect_hold_funds")
	fee.aborted, fee.bounce, fee.then = true, true, []step{bounceOf(alice, word(0xc0ffeea0))}
	wants(t, outermost(t, exchange, play(alice, hold, fee)), "coffee_mev_protect_hold_funds")
	list = recognise(t, exchange, play(alice, step{to: carol, value: 90, aborted: true, bounce: true, body: order(0x6bc79e7e)}))
	details(t, list, "coffee_mev_protect_hold_funds!", held...)
	list = recognise(t, exchange, play(alice, sends(10, aliceX, vaultXs, vaultX, order(0x6bc79e7e))))
	details(t, list, "coffee_mev_protect_hold_funds", "source", alice, "source_jetton_wallet", aliceX, "mev_contract", vaultX,
		"mev_contract_jetton_wallet", vaultXs, "asset", masterX, "amount", 10)
	wants(t, recognise(t, exchange, play(carol, step{to: alice, value: 9, body: order(0xee51ce51)})),
		"coffee_mev_protect_failed_swap", "call_contract in coffee_mev_protect_failed_swap")
	wants(t, recognise(t, exchange, play(carol, unrun(step{to: alice, value: 9, body: order(0xee51ce51)}))),
		"coffee_mev_protect_failed_swap", "call_contract! in coffee_mev_protect_failed_swap")
	wants(t, recognise(t, exchange, play(carol, sends(10, vaultXs, aliceX, alice, order(0xee51ce51)))),
		"coffee_mev_protect_failed_swap", "jetton_transfer in coffee_mev_protect_failed_swap")
}

func TestStakingAtCoffee(t *testing.T) {
	staking := account(0x4d)
	facts := append(slices.Clone(exchange), &record.Contract{Account: item, NftItem: &record.NFTItem{Init: true, Index: []byte{23}, Collection: staking, Owner: alice}})
	minted := step{to: item, value: 20, deployed: true, body: order(0xbe5a7595)}
	stake := func(item step) step {
		return sends(10, aliceX, vaultXs, vaultX, nil, step{to: staking, value: 30, body: order(0xf9471134), then: []step{
			{body: order(0xf9471134).MustStoreUInt(23, 64)}, item}})
	}
	staked := []any{"source", alice, "source_jetton_wallet", aliceX, "pool", staking, "pool_jetton_wallet", vaultXs, "asset", masterX, "amount", 10,
		"minted_item_address", item, "minted_item_index", 23}
	details(t, recognise(t, facts, play(alice, stake(minted))), "coffee_staking_deposit", staked...)
	details(t, recognise(t, exchange, play(alice, stake(minted))), "coffee_staking_deposit", staked...) // the item is not known
	broken := minted
	broken.aborted, broken.deployed = true, false
	details(t, recognise(t, exchange, play(alice, stake(broken))), "coffee_staking_deposit!", staked...)

	unstake := func(out step) step {
		points := coins(addr(order(0xcb03bfaf).MustStoreUInt(23, 64), alice), 77)
		return step{to: item, value: 90, body: order(0xcb03bfaf), then: []step{{to: staking, value: 80, body: points, then: []step{
			{body: order(0xcb03bfaf)}, {to: vaultX, value: 70, body: order(0xcb03bfaf), then: []step{out}}}}}}
	}
	back := []any{"source", alice, "source_jetton_wallet", aliceX, "pool_jetton_wallet", vaultXs, "asset", masterX, "amount", 10,
		"nft_address", item, "nft_index", 23, "points", 77}
	details(t, recognise(t, exchange, play(alice, unstake(sends(10, vaultXs, aliceX, alice, nil)))), "coffee_staking_withdraw", back...)
	wants(t, outermost(t, exchange, play(alice, unstake(unsent(10, vaultXs, aliceX, alice)))), "coffee_staking_withdraw!")
	details(t, recognise(t, exchange, play(alice, unstake(refused(10, vaultXs, aliceX, alice)))), "coffee_staking_withdraw!", back...)

	claim := func(out step) step {
		return step{to: staking, value: 90, body: order(0xb30c7310), then: []step{{body: order(0xb30c7310)}, out}}
	}
	rewards := []any{"pool", staking, "pool_jetton_wallet", routerX, "recipient", alice, "recipient_jetton_wallet", aliceX, "asset", masterX, "amount", 10}
	details(t, recognise(t, exchange, play(bob, claim(sends(10, routerX, aliceX, alice, nil)))), "coffee_staking_claim_rewards", rewards...)
	wants(t, outermost(t, exchange, play(bob, claim(unsent(10, routerX, aliceX, alice)))), "coffee_staking_claim_rewards!")
	details(t, recognise(t, exchange, play(bob, claim(refused(10, routerX, aliceX, alice)))), "coffee_staking_claim_rewards!", rewards...)
}

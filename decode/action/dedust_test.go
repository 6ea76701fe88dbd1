package action_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/action"
	"tonscribe/schema/record"
)

// dedustAsset is an asset of DeDust, toncoins for nil.
func dedustAsset(b *cell.Builder, master []byte) *cell.Builder {
	if master == nil {
		return b.MustStoreUInt(0, 4)
	}
	return b.MustStoreUInt(1, 4).MustStoreUInt(0, 8).MustStoreSlice(master[4:], 256)
}

// dedustProof is what a pool of two assets proves itself with.
func dedustProof(assets ...[]byte) *cell.Cell {
	b := addr(cell.BeginCell(), factory).MustStoreUInt(2, 8).MustStoreBoolBit(false)
	for _, a := range assets {
		dedustAsset(b, a)
	}
	return b.EndCell()
}

// dedustVaultProof is what the vault of an asset proves itself with.
func dedustVaultProof(asset []byte) *cell.Cell {
	return dedustAsset(addr(cell.BeginCell(), factory).MustStoreUInt(1, 8), asset).EndCell()
}

// dedustStep is what a hop is asked for: at least one, and then the next pool.
func dedustStep(b *cell.Builder, next *cell.Cell) *cell.Builder {
	return coins(b.MustStoreBoolBit(false), 1).MustStoreMaybeRef(next).MustStoreRef(cell.BeginCell().EndCell())
}

func dedustNext(poolOne []byte) *cell.Cell {
	return coins(addr(cell.BeginCell(), poolOne).MustStoreBoolBit(false), 1).MustStoreBoolBit(false).EndCell()
}

func dedustEvent(assetIn []byte, in int64, assetOut []byte, out int64) step {
	return step{body: coins(coins(dedustAsset(dedustAsset(word(0x9c610de3), assetIn), assetOut), in), out)}
}

// dedustFirst is the first hop, from the vault of x to the pool of x and toncoins.
func dedustFirst(amount int64, next *cell.Cell, then ...step) step {
	b := coins(order(0x61ee542d).MustStoreRef(dedustVaultProof(masterX)), amount)
	return step{to: poolOne, value: 60, body: dedustStep(addr(b, alice), next), then: then}
}

// dedustSecond is the next hop, to the pool of toncoins and y.
func dedustSecond(amount int64, then ...step) step {
	b := coins(dedustAsset(order(0x72aca8aa).MustStoreRef(dedustProof(nil, masterX)), nil), amount)
	return step{to: poolTwo, value: 50, body: dedustStep(addr(b, alice), nil), then: then}
}

func dedustPays(opcode uint64, vault []byte, amount int64, proof *cell.Cell, then ...step) step {
	return step{to: vault, value: 40, body: addr(coins(order(opcode).MustStoreRef(proof), amount), bob).MustStoreBoolBit(false), then: then}
}

func dedustPaysTON(value uint64, to []byte) step {
	return step{to: to, value: value, body: order(0x474f86cf).MustStoreBoolBit(false)}
}

func TestSwapsAtDedust(t *testing.T) {
	const pays = 0xad4eb6f5
	tx, ty := dedustProof(nil, masterX), dedustProof(nil, masterY)
	in := transferred("incoming", masterX, alice, vaultX, aliceX, vaultXs, 10)
	outTON := transferred("outgoing", nil, vaultTON, bob, nil, nil, 25)
	outY := transferred("outgoing", masterY, vaultY, bob, vaultYs, bobY, 25)
	swap := func(s step) []step { return []step{sends(10, aliceX, vaultXs, vaultX, nil, s)} }
	x2t := []any{"dex", "dedust", "sender", alice, "asset_in", masterX, "asset_out", nil, "peer_swaps", "[]"}
	two := func(last ...step) []step {
		return swap(dedustFirst(10, dedustNext(poolTwo), dedustEvent(masterX, 10, nil, 7), dedustSecond(7, last...)))
	}
	peer0 := []any{"peer_swaps[0].asset_in", masterX, "peer_swaps[0].amount_in", 10, "peer_swaps[0].asset_out", nil, "peer_swaps[0].amount_out", 7}
	peer1 := []any{"peer_swaps[1].asset_in", nil, "peer_swaps[1].amount_in", 7, "peer_swaps[1].asset_out", masterY, "peer_swaps[1].amount_out", 25}
	gaveTON := dedustPaysTON(31, bob)
	failedTON := gaveTON
	failedTON.aborted, failedTON.bounce = true, true
	native := step{to: vaultTON, value: 20, body: coins(order(0xea06185d), 10), then: []step{
		{to: poolOne, value: 60, body: dedustStep(addr(coins(order(0x61ee542d).MustStoreRef(dedustVaultProof(nil)), 10), alice), nil), then: []step{
			dedustEvent(nil, 10, masterY, 25), dedustPays(pays, vaultY, 25, ty, sends(25, vaultYs, bobY, bob, nil))}}}}
	bounced := dedustFirst(10, nil)
	bounced.aborted, bounced.bounce = true, true
	check(t, map[string]played{
		"jettons for toncoins": {swap(dedustFirst(10, nil, dedustEvent(masterX, 10, nil, 25), dedustPays(pays, vaultTON, 25, tx, gaveTON))),
			[]string{"jetton_swap"}, slices.Concat(x2t, in, outTON)},
		"toncoins for jettons": {[]step{native}, []string{"jetton_swap"},
			slices.Concat([]any{"asset_in", nil, "asset_out", masterY}, transferred("incoming", nil, alice, vaultTON, nil, nil, 10), outY)},
		"through two pools": {two(dedustEvent(nil, 7, masterY, 25), dedustPays(pays, vaultY, 25, ty, sends(25, vaultYs, bobY, bob, nil))),
			[]string{"jetton_swap"}, slices.Concat(in, outY, peer0, peer1, []any{"asset_in", masterX, "asset_out", masterY})},
		"returned, for too little": {swap(dedustFirst(10, nil, dedustPays(pays, vaultX, 10, tx, sends(10, vaultXs, aliceX, alice, nil)))),
			[]string{"jetton_swap!"}, slices.Concat(x2t, in, transferred("outgoing", masterX, vaultX, alice, vaultXs, aliceX, 10))},
		"returned by the second pool": {two(dedustPays(pays, vaultTON, 7, ty, dedustPaysTON(12, alice))), []string{"jetton_swap!"},
			slices.Concat(in, transferred("outgoing", nil, vaultTON, alice, nil, nil, 7), []any{"asset_out", masterY, "peer_swaps", "[]"})},
		"refused by the receiver": {swap(dedustFirst(10, nil, dedustEvent(masterX, 10, nil, 25), dedustPays(pays, vaultTON, 25, tx, failedTON))),
			[]string{"jetton_swap!"}, slices.Concat(x2t, in, outTON)},
		"to an account without code": {swap(dedustFirst(10, nil, dedustEvent(masterX, 10, nil, 25), dedustPays(pays, vaultTON, 25, tx, unrun(gaveTON)))),
			[]string{"jetton_swap"}, slices.Concat(x2t, in, outTON)},
		"not paid by the vault": {swap(dedustFirst(10, nil, dedustEvent(masterX, 10, nil, 25), dedustPays(pays, vaultTON, 25, tx))),
			[]string{"jetton_swap!"}, slices.Concat(x2t, in, outTON)},
		"jettons refused by the receiver": {two(dedustEvent(nil, 7, masterY, 25), dedustPays(pays, vaultY, 25, ty, refused(25, vaultYs, bobY, bob))),
			[]string{"jetton_swap!"}, slices.Concat(in, outY, peer0, peer1)},
		"jettons refused by the vault's wallet": {two(dedustEvent(nil, 7, masterY, 25), dedustPays(pays, vaultY, 25, ty, unsent(25, vaultYs, bobY, bob))),
			[]string{"jetton_swap!"}, slices.Concat(in, transferred("outgoing", masterY, vaultY, bob, vaultYs, nil, 25))},
		"refused by the pool": {swap(bounced), []string{"jetton_transfer", "call_contract!"}, nil},
		"with an event that is cut short": {swap(dedustFirst(10, nil, step{body: word(0x9c610de3)}, dedustPays(pays, vaultTON, 25, tx, gaveTON))),
			[]string{"jetton_transfer", "call_contract", "call_contract", "call_contract"}, nil},
	})
}

func TestASwapAtDedustIsOneOfJettonsThatAreNotKnown(t *testing.T) {
	const pays = 0xad4eb6f5
	tx, ty := dedustProof(nil, masterX), dedustProof(nil, masterY)
	in := transferred("incoming", masterX, alice, vaultX, aliceX, vaultXs, 10)
	swap := func(s step) step { return sends(10, aliceX, vaultXs, vaultX, nil, s) }
	two := func(paid ...step) step {
		return swap(dedustFirst(10, dedustNext(poolTwo), dedustEvent(masterX, 10, nil, 7), dedustSecond(7, dedustEvent(nil, 7, masterY, 25), dedustPays(pays, vaultY, 25, ty, paid...))))
	}
	for what, c := range map[string]struct {
		sent    step
		want    string
		details []any
	}{
		"jettons for toncoins": {swap(dedustFirst(10, nil, dedustEvent(masterX, 10, nil, 25), dedustPays(pays, vaultTON, 25, tx, dedustPaysTON(31, bob)))),
			"jetton_swap", append(transferred("outgoing", nil, vaultTON, bob, nil, nil, 25), "asset_out", nil)},
		"jettons for jettons": {two(sends(25, vaultYs, bobY, bob, nil)), "jetton_swap",
			append(transferred("outgoing", masterY, vaultY, bob, vaultYs, bobY, 25), "asset_out", masterY, "peer_swaps[1].amount_out", 25)},
		"refused by the receiver": {two(refused(25, vaultYs, bobY, bob)), "jetton_swap!", append(transferred("outgoing", masterY, vaultY, bob, vaultYs, bobY, 25), "asset_out", masterY)},
		"not paid":                {two(), "jetton_swap!", append(transferred("outgoing", masterY, vaultY, bob, nil, nil, 25), "asset_out", masterY)},
		"returned, for too little": {swap(dedustFirst(10, nil, dedustPays(pays, vaultX, 10, tx, sends(10, vaultXs, aliceX, alice, nil)))), "jetton_swap!",
			append(transferred("outgoing", masterX, vaultX, alice, vaultXs, aliceX, 10), "asset_out", nil)},
	} {
		for _, facts := range []action.Facts{exchange, action.NoFacts{}} {
			list := recognise(t, facts, play(alice, c.sent))
			wants(t, list, c.want)
			details(t, list, c.want, slices.Concat([]any{"dex", "dedust", "sender", alice, "asset_in", masterX}, in, c.details)...)
			if t.Failed() {
				t.Fatal(what)
			}
		}
	}
}

func TestWhatARouteThroughDedustLeadsToIsKnownOfItsPools(t *testing.T) {
	refund := dedustPays(0xad4eb6f5, vaultX, 10, dedustProof(nil, masterX), sends(10, vaultXs, aliceX, alice, nil))
	trace := play(alice, sends(10, aliceX, vaultXs, vaultX, nil, dedustFirst(10, dedustNext(poolTwo), refund)))
	facts := append(slices.Clone(exchange), &record.Contract{Account: poolTwo, DedustPool: &record.DedustPool{Assets: [][]byte{{}, masterY}}})
	details(t, recognise(t, facts, trace), "jetton_swap!", "asset_out", masterY)
	details(t, recognise(t, exchange, trace), "jetton_swap!", "asset_out", masterX) // not known: what came back
}

func TestIDsOfDepositsAreMadeOfTheNamesThatOthersGiveThem(t *testing.T) {
	params := dedustAsset(dedustAsset(addr(order(0xf04ec526).MustStoreRef(cell.BeginCell().EndCell()), alice).MustStoreBoolBit(false), nil), masterX)
	params.MustStoreRef(coins(dedustAsset(coins(coins(cell.BeginCell(), 7), 10), nil), 7).EndCell())
	transactions := play(alice, step{to: vaultTON, value: 90, body: coins(order(0xd55e4686), 7), then: []step{
		{to: factory, value: 70, body: params, then: []step{{to: depository, value: 60, body: order(0x54240fe5)}}}}})
	list := recognise(t, exchange, transactions)
	wants(t, list, "dex_deposit_liquidity")
	first := transactions[slices.IndexFunc(transactions, func(tx *record.Transaction) bool { return bytes.Equal(tx.Account, vaultTON) })]
	if want := sha256.Sum256([]byte(base64.StdEncoding.EncodeToString(first.InMsg.Hash) + "dedust_deposit_liquidity_partial")); list[0].ID != want {
		t.Errorf("%x, want %x", list[0].ID, want)
	}
}

func TestADepositAtDedustIsOneOfJettonsThatAreNotKnown(t *testing.T) {
	params := dedustAsset(dedustAsset(addr(order(0xf04ec526).MustStoreRef(cell.BeginCell().EndCell()), alice).MustStoreBoolBit(false), nil), masterX)
	params.MustStoreRef(coins(dedustAsset(coins(coins(cell.BeginCell(), 7), 10), masterX), 10).EndCell())
	transactions := play(alice, sends(10, aliceX, vaultXs, vaultX, nil, step{to: factory, value: 70, body: params, then: []step{
		{to: depository, value: 60, body: order(0x54240fe5)}}}))
	for _, facts := range []action.Facts{exchange, action.NoFacts{}} {
		list := recognise(t, facts, transactions)
		wants(t, list, "dex_deposit_liquidity")
		details(t, list, "dex_deposit_liquidity", "source", alice, "asset_1", masterX, "amount_1", 10, "user_jetton_wallet_1", aliceX,
			"target_asset_1", nil, "target_amount_1", 7, "target_asset_2", masterX, "target_amount_2", 10, "destination_liquidity", depository)
	}
}

func TestLiquidityOfDedust(t *testing.T) {
	deposit := func(then ...step) step {
		params := addr(order(0xf04ec526).MustStoreRef(cell.BeginCell().EndCell()), alice).MustStoreBoolBit(false)
		targets := coins(dedustAsset(coins(coins(cell.BeginCell(), 7), 10), masterX), 10)
		params = dedustAsset(dedustAsset(params, nil), masterX).MustStoreRef(targets.EndCell())
		return step{to: factory, value: 70, body: params, then: []step{
			{to: depository, value: 2, body: word(0x9b3aa3fa)}, {to: depository, value: 60, body: order(0x54240fe5), then: then}}}
	}
	all := func(then ...step) step {
		found := coins(dedustAsset(coins(dedustAsset(cell.BeginCell(), nil), 8), masterX), 11)
		return step{to: poolOne, value: 50, body: order(0xb56b9598).MustStoreRef(cell.BeginCell().EndCell()).MustStoreRef(found.EndCell()), then: then}
	}
	back := func(vault []byte, amount int64, then ...step) step {
		return dedustPays(0x6b0b787f, vault, amount, cell.BeginCell().EndCell(), then...)
	}
	lp := step{to: lpWallet, value: 30, body: internalOrder(500, poolOne), then: []step{excess()}}
	event := step{body: word(0xb544f4a4)}
	fulfilled := step{to: depository, value: 40, body: word(0xaae79256), then: []step{back(vaultTON, 1, dedustPaysTON(5, alice)), {to: alice, value: 9}}}
	rejected := step{to: depository, value: 40, body: word(0xe1a36cd4), then: []step{
		back(vaultTON, 7, dedustPaysTON(12, alice)), back(vaultX, 10, sends(10, vaultXs, aliceX, alice, nil))}}
	returnedTON := dedustPaysTON(12, alice)
	returnedTON.bounce, returnedTON.aborted = true, true
	lost := rejected
	lost.then = []step{back(vaultTON, 7, returnedTON), back(vaultX, 10, refused(10, vaultXs, aliceX, alice)),
		back(vaultX, 10, unsent(10, vaultXs, aliceX, alice)), back(vaultX, 4, sends(4, vaultXs, aliceX, alice, nil))}
	x := func(then ...step) step { return sends(10, aliceX, vaultXs, vaultX, nil, deposit(then...)) }
	ton := func(then ...step) step {
		return step{to: vaultTON, value: 90, body: coins(order(0xd55e4686), 7), then: []step{deposit(then...)}}
	}
	unminted := lp
	unminted.aborted, unminted.then = true, nil
	refusedCall := step{to: factory, value: 70, bounce: true, aborted: true, body: order(0xf04ec526)}
	half := []any{"dex", "dedust", "source", alice, "destination_liquidity", depository, "asset_1", masterX, "amount_1", 10,
		"user_jetton_wallet_1", aliceX, "asset_2", nil, "amount_2", nil, "user_jetton_wallet_2", nil, "target_asset_1", nil, "target_asset_2", masterX}
	waits := append(slices.Clip(half), "target_amount_1", 7, "target_amount_2", 10, "pool", nil, "lp_tokens_minted", nil, "vault_excesses", "[]")
	second := slices.Clip(slices.Concat(half, []any{"target_amount_1", 8, "target_amount_2", 11, "pool", poolOne}))
	minted := []any{"lp_tokens_minted", 500, "pool", poolOne, "vault_excesses[0].asset", nil, "vault_excesses[0].amount", 5}
	merged := []any{"asset_1", nil, "amount_1", 7, "user_jetton_wallet_1", nil, "asset_2", masterX, "amount_2", 10, "user_jetton_wallet_2", aliceX,
		"target_asset_1", nil, "target_amount_1", 8, "target_asset_2", masterX, "target_amount_2", 11}
	reversed := []any{"asset_1", masterX, "amount_1", 10, "user_jetton_wallet_1", aliceX, "asset_2", nil, "amount_2", 7, "user_jetton_wallet_2", nil,
		"target_asset_1", masterX, "target_amount_1", 11, "target_asset_2", nil, "target_amount_2", 8}
	check(t, map[string]played{
		"a half":               {[]step{x()}, []string{"dex_deposit_liquidity"}, waits},
		"the second half":      {[]step{x(all(event, fulfilled, lp))}, []string{"dex_deposit_liquidity"}, append(second, "lp_tokens_minted", 500)},
		"both, toncoins first": {[]step{ton(), x(all(event, fulfilled, lp))}, []string{"dex_deposit_liquidity"}, append(merged, minted...)},
		"both, jettons first":  {[]step{x(), ton(all(event, fulfilled, lp))}, []string{"dex_deposit_liquidity"}, append(reversed, minted...)},
		"rejected": {[]step{x(all(rejected))}, []string{"dex_deposit_liquidity!"}, append(second, "lp_tokens_minted", nil,
			"vault_excesses[0].asset", nil, "vault_excesses[0].amount", 12, "vault_excesses[1].asset", masterX, "vault_excesses[1].amount", 10)},
		"rejected, and not all given back": {[]step{x(all(lost))}, []string{"dex_deposit_liquidity!"}, gaveBack(masterX, 4)},
		"not minted":                       {[]step{x(all(event, fulfilled, unminted))}, []string{"dex_deposit_liquidity!"}, nil},
		"refused by the factory":           {[]step{sends(10, aliceX, vaultXs, vaultX, nil, refusedCall)}, []string{"jetton_transfer", "call_contract!"}, nil},
		"two that are whole":               {[]step{ton(all(event, fulfilled, lp)), x(all(event, fulfilled, lp))}, []string{"dex_deposit_liquidity", "dex_deposit_liquidity"}, nil},
		"halves whose other ones are in doubt": {[]step{ton(), ton(), x(all(event, fulfilled, lp))},
			[]string{"dex_deposit_liquidity", "dex_deposit_liquidity", "dex_deposit_liquidity"}, nil},
		"a second half, and a half of the next one": {[]step{x(all(event, fulfilled, lp)), ton()}, []string{"dex_deposit_liquidity", "dex_deposit_liquidity"},
			append(slices.Clip(second), "lp_tokens_minted", 500)},
		"a second half in two parts": {[]step{x(), x(all(event, fulfilled, lp))}, []string{"dex_deposit_liquidity", "dex_deposit_liquidity"}, waits},
	})
	burn := func(then ...step) step {
		return step{to: lpWallet, value: 90, body: coins(order(0x595f07bc), 500).MustStoreAddr(friendly(alice)).MustStoreBoolBit(false), then: []step{
			{to: poolOne, value: 80, body: coins(order(0x7bdd97de), 500), then: then}}}
	}
	proof := dedustProof(nil, masterX)
	tons, xs := dedustPays(0xad4eb6f5, vaultTON, 7, proof, dedustPaysTON(11, alice)), dedustPays(0xad4eb6f5, vaultX, 10, proof, sends(10, vaultXs, aliceX, alice, nil))
	paid := []any{"dex", "dedust", "source", alice, "pool", poolOne, "destination_liquidity", poolOne, "lp_tokens_burnt", 500, "is_refund", nil,
		"asset_1", nil, "amount_1", 7, "user_jetton_wallet_1", nil, "asset_2", masterX, "amount_2", 10, "user_jetton_wallet_2", aliceX}
	check(t, map[string]played{
		"taken out": {[]step{burn(step{body: word(0x3aa870a6)}, tons, xs)}, []string{"dex_withdraw_liquidity"}, paid},
		"taken out, in the other order": {[]step{burn(xs, tons)}, []string{"dex_withdraw_liquidity"},
			[]any{"asset_1", masterX, "amount_1", 10, "user_jetton_wallet_1", aliceX, "asset_2", nil, "amount_2", 7, "user_jetton_wallet_2", nil}},
		"taken out, one under way": {[]step{burn(tons)}, []string{"dex_withdraw_liquidity!"}, []any{"asset_1", nil, "amount_1", 7, "amount_2", nil}},
		"taken out, one not paid": {[]step{burn(dedustPays(0xad4eb6f5, vaultTON, 7, proof), xs)}, []string{"dex_withdraw_liquidity!"},
			[]any{"amount_1", nil, "amount_2", 10, "asset_2", masterX}},
	})
	// The pool says what it gave of each, also where nothing else is known of the jettons.
	gave := step{body: coins(coins(coins(addr(word(0x3aa870a6), alice), 500), 7), 10)}
	for _, c := range []struct {
		sent step
		want []any
	}{{burn(gave, tons, xs), paid}, {burn(gave, xs, tons), []any{"asset_1", masterX, "amount_1", 10, "user_jetton_wallet_1", aliceX, "asset_2", nil, "amount_2", 7}}} {
		list := recognise(t, action.NoFacts{}, play(alice, c.sent))
		wants(t, list, "dex_withdraw_liquidity")
		details(t, list, "dex_withdraw_liquidity", c.want...)
	}
	unheard := sends(10, vaultXs, aliceX, alice, nil) // the receiver has no code that could hear of it
	unheard.then[0].then[0].aborted = true
	wants(t, recognise(t, action.NoFacts{}, play(alice, burn(gave, tons, dedustPays(0xad4eb6f5, vaultX, 10, proof, unheard)))), "dex_withdraw_liquidity")
	// A burn is one of liquidity by what the pool pays.
	wants(t, recognise(t, action.NoFacts{}, play(alice, burn())), "call_contract", "call_contract")
}

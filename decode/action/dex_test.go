package action_test

import (
	"cmp"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/action"
	"tonscribe/schema/record"
)

// The accounts of an exchange: jettons x and y, with wallets of a trader, of a
// router or vaults, and of wrapped toncoins.
var (
	router, router2     = account(0x41), account(0x42)
	poolOne, poolTwo    = account(0x43), account(0x44)
	vaultTON            = account(0x45)
	vaultX, vaultY      = account(0x46), account(0x47)
	factory, depository = account(0x48), account(0x49)
	lpWallet            = account(0x4a)
	masterX, masterY    = account(0x51), account(0x52)
	aliceX, aliceY      = account(0x53), account(0x54)
	routerX, routerY    = account(0x55), account(0x56)
	router2X, router2Y  = account(0x57), account(0x58)
	vaultXs, vaultYs    = account(0x59), account(0x5a)
	routerTON           = account(0x5b)
	router2TON          = account(0x5c)
	routerOldTON        = account(0x5d)
	bobY                = account(0x5e)
	pTonOld             = addressOf("0:8CDC1D7640AD5EE326527FC1AD0514F468B30DC84B0173F0E155F451B4E11F7C")
	pTon                = addressOf("0:671963027F7F85659AB55B821671688601CDCF1EE674FC7FBBB1A776A18D34A3")
	exchange            = known{
		jettons(aliceX, alice, masterX), jettons(aliceY, alice, masterY), jettons(bobY, bob, masterY),
		jettons(routerX, router, masterX), jettons(routerY, router, masterY),
		jettons(router2X, router2, masterX), jettons(router2Y, router2, masterY),
		jettons(vaultXs, vaultX, masterX), jettons(vaultYs, vaultY, masterY),
		jettons(routerTON, router, pTon), jettons(router2TON, router2, pTon), jettons(routerOldTON, router, pTonOld),
		jettons(lpWallet, alice, poolOne),
	}
)

func jettons(account, owner, master []byte) *record.Contract {
	return &record.Contract{Account: account, JettonWallet: &record.JettonWallet{Owner: owner, Master: master}}
}

func order(opcode uint64) *cell.Builder { return word(opcode).MustStoreUInt(4, 64) }

func addr(b *cell.Builder, list ...[]byte) *cell.Builder {
	for _, a := range list {
		b.MustStoreAddr(friendly(a))
	}
	return b
}

func number(b *cell.Builder, bits uint, n int64) *cell.Builder {
	return b.MustStoreBigInt(new(big.Int).And(big.NewInt(n), new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), bits), big.NewInt(1))), bits)
}

// sends is a transfer of jettons from one wallet to the one of an owner, with what
// he does when he hears of it.
func sends(amount int64, wallet, to, owner []byte, payload *cell.Builder, then ...step) step {
	b := addr(coins(order(0x0f8a7ea5), amount), owner, alice).MustStoreBoolBit(false)
	coins(b, 1)
	if payload != nil {
		b.MustStoreBoolBit(true).MustStoreRef(payload.EndCell())
	} else {
		b.MustStoreBoolBit(false)
	}
	return step{to: wallet, value: 90, body: b, then: []step{
		{to: to, value: 80, body: internalOrder(amount, alice), then: []step{{to: owner, value: 70, body: order(0x7362d09c), then: then}, excess()}},
	}}
}

// refused is a transfer that the receiving wallet refused.
func refused(amount int64, wallet, to, owner []byte) step {
	s := sends(amount, wallet, to, owner, nil)
	s.then[0].aborted, s.then[0].bounce = true, true
	s.then[0].then = []step{bounceOf(wallet, internalOrder(amount, alice))}
	return s
}

// unsent is a transfer that the sending wallet refused.
func unsent(amount int64, wallet, to, owner []byte) step {
	s := sends(amount, wallet, to, owner, nil)
	s.aborted, s.then = true, nil
	return s
}

// refusedOrder is an order to a second pool, which does not take it.
func refusedOrder(b *cell.Builder) step {
	return step{to: poolTwo, value: 9, body: b, bounce: true, aborted: true}
}

// wraps brings toncoins to a router's wallet of wrapped ones.
func wraps(amount int64, wallet, owner []byte, payload *cell.Builder, then ...step) step {
	b := addr(coins(order(0x01f3835d), amount), alice)
	if payload != nil {
		b.MustStoreBoolBit(true).MustStoreRef(payload.EndCell())
	} else {
		b.MustStoreBoolBit(false)
	}
	return step{to: wallet, value: uint64(amount) + 50, body: b, then: []step{{to: owner, value: 40, body: order(0x7362d09c), then: then}}}
}

// unwraps is what a router's wallet of wrapped toncoins pays.
func unwraps(amount int64, wallet, to []byte) step {
	b := coins(addr(coins(order(0x0f8a7ea5), amount), to, alice).MustStoreBoolBit(false), 0).MustStoreBoolBit(false)
	return step{to: wallet, value: 60, body: b, then: []step{
		{to: to, value: uint64(amount) + 30, body: addr(coins(order(0x01f3835d), amount), alice).MustStoreBoolBit(false)},
	}}
}

// unrun is a payment to an account whose code does not run: what was paid last stays
// there, unless it is to bounce.
func unrun(s step, bounce ...bool) step {
	if n := len(s.then); n > 0 {
		s.then = append(slices.Clone(s.then[:n-1]), unrun(s.then[n-1], bounce...))
	} else {
		s.aborted, s.bounce = true, len(bounce) > 0
	}
	return s
}

// played is a case of what a trace is recognised as.
type played struct {
	sent []step
	want []string
	// of the first action wanted that is no part of another one: name, value
	details []any
}

func check(t *testing.T, cases map[string]played) {
	t.Helper()
	for what, c := range cases {
		t.Run(what, func(t *testing.T) {
			list := recognise(t, exchange, play(alice, c.sent...))
			wants(t, list, c.want...)
			if c.details != nil {
				whole := slices.IndexFunc(c.want, func(what string) bool { return !strings.Contains(what, " in ") })
				details(t, list, c.want[whole], c.details...)
			}
		})
	}
}

// or is an account as it is wanted among details, where it may be none.
func or(account []byte) any {
	if account == nil {
		return nil
	}
	return account
}

// gaveBack is what the details of a deposit are to say of what it gave back, where that is
// jettons only.
func gaveBack(asset []byte, amount int64) []any {
	return []any{"vault_excesses", []any{map[string]any{"asset": plain(action.Detail{}, action.Address(asset)), "amount": amount}}}
}

// transferred is what the details of a swap are to say of what came or went.
func transferred(which string, asset, source, destination, sourceWallet, destinationWallet []byte, amount int64) []any {
	p := "dex_" + which + "_transfer."
	return []any{p + "asset", or(asset), p + "source", source, p + "destination", destination,
		p + "source_jetton_wallet", or(sourceWallet), p + "destination_jetton_wallet", or(destinationWallet), p + "amount", amount}
}

func TestASwapMayBeginWhereAnotherOneEnds(t *testing.T) {
	const ok = 0xc64370e5
	txProof := dedustProof(nil, masterX)
	// y goes from STON.fi to the vault of y, for toncoins.
	toVault := sends(25, routerY, vaultYs, vaultY, nil, step{to: poolTwo, value: 60, body: word(0x61ee542d).MustStoreUInt(4, 64).MustStoreRef(cell.BeginCell().EndCell()), then: []step{
		dedustEvent(masterY, 25, nil, 40), dedustPays(0xad4eb6f5, vaultTON, 40, txProof, dedustPaysTON(44, bob))}})
	first := []any{"dex", "stonfi", "sender", alice, "asset_in", masterX, "asset_out", masterY, "dex_outgoing_transfer.destination", vaultY,
		"dex_outgoing_transfer.amount", 25}
	firstV2 := append([]any{"dex", "stonfi_v2"}, first[2:]...)
	last := []any{"dex", "dedust", "asset_in", masterY, "asset_out", nil, "dex_incoming_transfer.source", router, "dex_incoming_transfer.amount", 25,
		"dex_outgoing_transfer.destination", bob, "dex_outgoing_transfer.amount", 40}
	// Toncoins go from STON.fi to TONCO's wallet of wrapped ones, for y.
	wrapped, asked := unwraps(7, routerTON, router2TON), toncoSwap(poolTwo, router2TON, toncoPays(200, [2][]byte{router2TON, router2Y}, [2]int64{0, 25}, sends(25, router2Y, bobY, bob, nil)))
	asked.then[0].to = router2
	wrapped.then[0].then = []step{{to: router2, value: 40, body: order(0x7362d09c), then: []step{asked}}}
	for what, c := range map[string]struct {
		sent        step
		first, last []any
	}{
		"from STON.fi v2 to TONCO, by toncoins": {sends(10, aliceX, routerX, router, nil,
			stonfiV2Swap(poolOne, stonfiV2Pay(ok, router2, router, [2][]byte{routerX, routerTON}, [2]int64{0, 7}, wrapped))),
			append([]any{"dex", "stonfi_v2", "sender", alice, "asset_in", masterX, "asset_out", nil}, transferred("outgoing", nil, router, router2, nil, nil, 7)...),
			slices.Concat([]any{"dex", "tonco", "asset_in", nil, "asset_out", masterY}, transferred("incoming", nil, router, router2, nil, router2TON, 7),
				transferred("outgoing", masterY, router2, bob, router2Y, bobY, 25))},
		"from STON.fi to DeDust": {sends(10, aliceX, routerX, router, nil, stonfiSwap(stonfiPay(ok, vaultY, 1, 25, toVault))), first, last},
		"from STON.fi v2 to DeDust": {sends(10, aliceX, routerX, router, nil,
			stonfiV2Swap(poolOne, stonfiV2Pay(ok, vaultY, router, [2][]byte{routerX, routerY}, [2]int64{0, 25}, toVault))), firstV2, last},
		"from TONCO to DeDust": {sends(10, aliceX, routerX, router, nil, toncoSwap(poolOne, routerX, toncoPays(200, [2][]byte{routerX, routerY}, [2]int64{0, 25}, toVault))),
			append([]any{"dex", "tonco"}, first[2:]...), last},
		"from DeDust to STON.fi": {sends(10, aliceX, vaultXs, vaultX, nil, dedustFirst(10, nil, dedustEvent(masterX, 10, masterY, 7),
			dedustPays(0xad4eb6f5, vaultY, 7, dedustProof(masterX, masterY), sends(7, vaultYs, routerY, router, nil,
				stonfiSwap(stonfiPay(ok, bob, 0, 25, sends(25, routerX, bobY, bob, nil))))))),
			[]any{"dex", "dedust", "sender", alice, "asset_in", masterX, "asset_out", masterY, "dex_outgoing_transfer.destination", router,
				"dex_outgoing_transfer.amount", 7},
			[]any{"dex", "stonfi", "sender", vaultY, "asset_in", masterY, "dex_incoming_transfer.amount", 7, "dex_outgoing_transfer.amount", 25}},
		"from Swap Coffee to STON.fi v2": {sends(10, aliceX, vaultXs, vaultX, nil, coffeeHop(poolOne, 10, coffeeEvent(masterX, 10, 7),
			coffeePays(vaultY, 7, coffeeProof(masterX, masterY), sends(7, vaultYs, routerY, router, nil,
				stonfiV2Swap(poolTwo, stonfiV2Pay(ok, bob, router, [2][]byte{routerX, routerY}, [2]int64{25, 0}, sends(25, routerX, bobY, bob, nil))))))),
			[]any{"dex", "coffee", "sender", alice, "asset_in", masterX, "asset_out", masterY, "dex_outgoing_transfer.destination", router,
				"dex_outgoing_transfer.amount", 7},
			[]any{"dex", "stonfi_v2", "asset_in", masterY, "dex_incoming_transfer.amount", 7, "dex_outgoing_transfer.amount", 25}},
	} {
		t.Run(what, func(t *testing.T) {
			list := recognise(t, exchange, play(alice, c.sent))
			wants(t, list, "jetton_swap", "jetton_swap")
			slices.SortStableFunc(list, func(a, b *action.Action) int { return cmp.Compare(a.StartLt, b.StartLt) })
			details(t, list[:1], "jetton_swap", c.first...)
			details(t, list[1:], "jetton_swap", c.last...)
		})
	}
}

func TestASwapIsOneWhoeverHasItBegun(t *testing.T) {
	const ok = 0xc64370e5
	order256 := word(0x75097f5d).MustStoreUInt(4, 64).MustStoreUInt(12, 256).MustStoreUInt(1700000000, 48).MustStoreUInt(2, 8).
		MustStoreUInt(7, 256).MustStoreRef(cell.BeginCell().EndCell())
	message := cell.BeginCell().MustStoreUInt(0x18, 6).MustStoreAddr(friendly(aliceX)).MustStoreCoins(77).MustStoreUInt(0, 1+4+4+64+32+1+1).
		MustStoreUInt(0x0f8a7ea5, 32).EndCell()
	facts := append(slices.Clone(exchange), orderFacts...)
	swaps := map[string]step{
		"STON.fi": sends(10, aliceX, routerX, router, nil, stonfiSwap(stonfiPay(ok, bob, 1, 25, sends(25, routerY, bobY, bob, nil)))),
		"STON.fi v2": sends(10, aliceX, routerX, router, nil, stonfiV2Swap(poolOne,
			stonfiV2Pay(ok, bob, router, [2][]byte{routerX, routerY}, [2]int64{0, 25}, sends(25, routerY, bobY, bob, nil)))),
		"DeDust": sends(10, aliceX, vaultXs, vaultX, nil, dedustFirst(10, nil, dedustEvent(masterX, 10, masterY, 25),
			dedustPays(0xad4eb6f5, vaultY, 25, dedustProof(masterX, masterY), sends(25, vaultYs, bobY, bob, nil)))),
		"TONCO": sends(10, aliceX, routerX, router, nil, toncoSwap(poolOne, routerX,
			toncoPays(200, [2][]byte{routerX, routerY}, [2]int64{0, 25}, sends(25, routerY, bobY, bob, nil)))),
		"Swap Coffee": sends(10, aliceX, vaultXs, vaultX, nil, coffeeHop(poolOne, 10, coffeeEvent(masterX, 10, 25),
			coffeePays(bob, 25, coffeeProof(masterX, masterY), sends(25, vaultYs, bobY, bob, nil)))),
		"Moon": sends(10, aliceX, routerX, router, moonOrder(word(0xb37a900b)), sends(25, routerY, bobY, bob, word(0xcb7f38d6))),
	}
	for who, c := range map[string]struct {
		from []byte
		sent func(step) step
		want string
	}{
		"an extension of the wallet": {carol, func(s step) step {
			return step{to: alice, value: 9, body: order(0x6578746e), then: []step{s}}
		}, "call_contract"},
		"the wallet itself, later": {alice, func(s step) step {
			return step{to: alice, value: 9, body: order(0xae42e5a4), then: []step{s}}
		}, "call_contract"},
		"an order of a multisig": {orderWith, func(s step) step {
			return step{to: alice, value: 9, body: order256, then: []step{s}}
		}, "multisig_execute"},
		"the owner of a vesting wallet": {carol, func(s step) step {
			return step{to: alice, value: 9, body: word(0xa7733acd).MustStoreUInt(4, 64).MustStoreUInt(3, 8).MustStoreRef(message), then: []step{
				s, {to: carol, value: 8, body: order(0xf7733acd)}}}
		}, "vesting_send_message"},
	} {
		for where, s := range swaps {
			t.Run(where+", by "+who, func(t *testing.T) {
				list := outermost(t, facts, play(c.from, c.sent(s)))
				wants(t, list, c.want, "jetton_swap")
				details(t, list, "jetton_swap", slices.Concat([]any{"sender", alice, "asset_in", masterX, "asset_out", masterY,
					"dex_incoming_transfer.amount", 10, "dex_outgoing_transfer.destination", bob, "dex_outgoing_transfer.amount", 25})...)
			})
		}
	}
}

package action_test

import (
	"math/big"
	"testing"

	tonutils "github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/contracts"
)

// devnetExchange is a devnet with an exchange: a pool of toncoins and x, one of toncoins and y,
// and one of x and y, of which alice has some.
type devnetExchange struct {
	*devnet
	exchange            contracts.Exchange
	x, y                coinsOf
	native, vaultX      *tonutils.Address // vaults
	vaultY              *tonutils.Address
	poolX, poolY, cross contracts.ExchangePool
	deaf                contracts.NFTItem
}

func newDevnetExchange(t *testing.T) *devnetExchange {
	t.Helper()
	admin := newActor(4, contracts.WalletV4R2, 0)
	b := &devnetExchange{exchange: contracts.Exchange{Content: contracts.OffchainContent("https://example.com/lp.json")},
		x: newCoins(admin.Address, "x"), y: newCoins(admin.Address, "y")}
	// A contract that knows neither toncoins of an exchange nor jettons, and stands where
	// carol's wallet of x and bob's of shares should be.
	b.deaf = contracts.NFTItem{Collection: admin.Address}
	in := func(place *tonutils.Address) chain.Account {
		a := placed(b.deaf.StateInit(), 0, 1)
		a.ID = [32]byte(place.Data())
		return a
	}
	bob, carol := newActor(2, contracts.WalletV4R2, 0), newActor(3, contracts.WalletV3R2, 0)
	b.devnet = newDevnet(t, placed(b.exchange.StateInit(), 0, 10), placed(b.x.StateInit(), 0, 1), placed(b.y.StateInit(), 0, 1), placed(b.deaf.StateInit(), 0, 1),
		in(b.x.walletOf(carol.Address)), in(b.exchange.Pool(nil, b.x.master).Share(bob.Address)))
	b.native, b.vaultX, b.vaultY = b.exchange.Vault(nil), b.exchange.Vault(b.x.master), b.exchange.Vault(b.y.master)
	b.poolX, b.poolY, b.cross = b.exchange.Pool(nil, b.x.master), b.exchange.Pool(nil, b.y.master), b.exchange.Pool(b.x.master, b.y.master)
	factory := b.exchange.Address()
	for _, asset := range []*tonutils.Address{nil, b.x.master, b.y.master} {
		b.act(b.admin, one(factory, 0.5, contracts.ExchangeCreateVaultBody(1, asset))...)
	}
	for _, pool := range []contracts.ExchangePool{b.poolX, b.poolY, b.cross} {
		b.act(b.admin, one(factory, 0.5, pool.CreateBody(1))...)
	}
	b.mints(b.x, b.alice.Address, 1_000_000)
	b.mints(b.y, b.alice.Address, 1_000_000)
	return b
}

// gives is a transfer of alice's jettons to their vault.
func (b *devnetExchange) gives(c coinsOf, amount int64, forward float64, payload *cell.Cell) contracts.Message {
	return b.givesOf(b.alice, c, amount, forward, payload)
}

func (b *devnetExchange) givesOf(from *actor, c coinsOf, amount int64, forward float64, payload *cell.Cell) contracts.Message {
	return pays(c.walletOf(from.Address), ton(forward+0.1), contracts.JettonTransferBody(contracts.JettonTransfer{QueryID: 9, Amount: big.NewInt(amount),
		Destination: b.exchange.Vault(c.master), Response: from.Address, ForwardValue: ton(forward), ForwardPayload: payload}))
}

// amounts are those of both assets of a pool, in its order.
func amounts(pool contracts.ExchangePool, first *tonutils.Address, a, b int64) [2]*big.Int {
	if pool.Assets[0] == first {
		return [2]*big.Int{big.NewInt(a), big.NewInt(b)}
	}
	return [2]*big.Int{big.NewInt(b), big.NewInt(a)}
}

// toncoins is half a deposit.
func (b *devnetExchange) toncoins(d contracts.ExchangeDeposit, amount int64, tons float64) contracts.Message {
	d.Amount = big.NewInt(amount)
	return pays(b.native, ton(tons), d.Body())
}

// fills brings the first liquidity: 1000 and 4000 to every pool.
func (b *devnetExchange) fills() *devnetExchange {
	b.Helper()
	d := contracts.ExchangeDeposit{QueryID: 1, Targets: [2]*big.Int{big.NewInt(1000), big.NewInt(4000)}}
	d.Pool = b.poolX
	b.act(b.alice, b.toncoins(d, 1000, 0.3), b.gives(b.x, 4000, 0.3, d.Payload()))
	d.Pool = b.poolY
	b.act(b.alice, b.toncoins(d, 1000, 0.3), b.gives(b.y, 4000, 0.3, d.Payload()))
	d.Pool, d.Targets = b.cross, amounts(b.cross, b.x.master, 1000, 4000)
	b.act(b.alice, b.gives(b.x, 1000, 0.3, d.Payload()), b.gives(b.y, 4000, 0.3, d.Payload()))
	return b
}

func (b *devnetExchange) swap(limit int64, pools ...contracts.ExchangePool) contracts.ExchangeSwap {
	s := contracts.ExchangeSwap{QueryID: 5}
	for _, pool := range pools {
		s.Route = append(s.Route, contracts.ExchangeHop{Pool: pool.Address(), Limit: big.NewInt(limit)})
	}
	return s
}

// swapped are details of a swap: transfers in and out are of an asset, from, to, the
// wallets of both, and an amount.
func swapped(sender *actor, in, out []any) []any {
	details := []any{"dex", "dedust", "sender", sender, "asset_in", in[0], "asset_out", out[0]}
	for name, t := range map[string][]any{"dex_incoming_transfer.": in, "dex_outgoing_transfer.": out} {
		for i, member := range []string{"asset", "source", "destination", "source_jetton_wallet", "destination_jetton_wallet", "amount"} {
			details = append(details, name+member, t[i])
		}
	}
	return details
}

func TestSwapsOfADevnet(t *testing.T) {
	b := newDevnetExchange(t).fills()
	x, y := b.x.master, b.y.master
	aliceX := b.x.walletOf(b.alice.Address)
	ofTON := func(amount int64) []any { return []any{nil, b.alice, b.native, nil, nil, amount} }
	ofX := func(amount int64) []any { return []any{x, b.alice, b.vaultX, aliceX, b.x.walletOf(b.vaultX), amount} }
	toncoinsTo := func(to any, amount int64) []any { return []any{nil, b.native, to, nil, nil, amount} }
	xTo := func(to *tonutils.Address, amount int64) []any {
		return []any{x, b.vaultX, to, b.x.walletOf(b.vaultX), b.x.walletOf(to), amount}
	}
	yTo := func(to *tonutils.Address, amount int64) []any {
		return []any{y, b.vaultY, to, b.y.walletOf(b.vaultY), b.y.walletOf(to), amount}
	}
	native := func(tons float64, amount int64, s contracts.ExchangeSwap) []contracts.Message {
		s.Amount = big.NewInt(amount)
		return one(b.native, tons, s.Body())
	}

	// A pool of 1000 and 4000 gives for 100, less a fee of 1: 99 * 4000 / 1099.
	s := b.swap(360, b.poolX)
	b.plays("toncoins for jettons", b.alice, native(0.15, 100, s), is("jetton_swap", swapped(b.alice, ofTON(100), xTo(b.alice.Address, 360))...))
	// 1100 and 3640: for 200, less 1, 199 * 1100 / 3839.
	b.plays("jettons for toncoins", b.alice, []contracts.Message{b.gives(b.x, 200, 0.15, b.swap(57, b.poolX).Payload())},
		is("jetton_swap", swapped(b.alice, ofX(200), toncoinsTo(b.alice, 57))...))
	// 1043 and 3840.
	s = b.swap(1, b.poolX)
	s.Recipient = b.bob.Address
	b.plays("for somebody else", b.alice, native(0.15, 10, s), is("jetton_swap", swapped(b.alice, ofTON(10), xTo(b.bob.Address, 32))...),
		is("contract_deploy", "opcode", 0x178d4519, "source", b.x.walletOf(b.vaultX), "destination", b.x.walletOf(b.bob.Address), "value", anything{}))
	asked := func(asset *tonutils.Address, details []any) []any { // who got something else
		details[7] = asset
		return details
	}
	back := is("jetton_swap!", asked(x, swapped(b.alice, ofTON(10), toncoinsTo(b.alice, 10)))...)
	b.plays("too little for it", b.alice, native(0.15, 10, b.swap(1000, b.poolX)), back)
	b.plays("jettons, too little for them", b.alice, []contracts.Message{b.gives(b.x, 200, 0.15, b.swap(1000, b.poolX).Payload())},
		is("jetton_swap!", asked(nil, swapped(b.alice, ofX(200), xTo(b.alice.Address, 200)))...))
	late := b.swap(1, b.poolX)
	late.Deadline = b.now - 1
	b.plays("too late", b.alice, native(0.15, 10, late), back)
	// 1053 and 3808; of x and y, 1000 and 4000.
	hops := []any{"peer_swaps[0].asset_out", x, "peer_swaps[0].amount_in", 100, "peer_swaps[0].amount_out", 327,
		"peer_swaps[1].asset_in", x, "peer_swaps[1].amount_in", 327, "peer_swaps[1].asset_out", y, "peer_swaps[1].amount_out", 983}
	b.plays("through two pools", b.alice, native(0.3, 100, b.swap(1, b.poolX, b.cross)), is("jetton_swap", append(swapped(b.alice, ofTON(100), yTo(b.alice.Address, 983)), hops...)...))
	// 1153 and 3481.
	twice := b.swap(1, b.poolX, b.cross)
	twice.Route[1].Limit = big.NewInt(1_000_000)
	b.plays("refused by the second pool", b.alice, native(0.3, 100, twice), is("jetton_swap!", asked(y, swapped(b.alice, ofTON(100), xTo(b.alice.Address, 275)))...))
	// 1253 and 3206.

	const order = 0xea06185d
	b.plays("with too little value", b.alice, native(0.05, 10, b.swap(1, b.poolX)), refusedCall(order, b.alice, b.native, 0.05)...)
	b.plays("with too little for any gas", b.alice, native(0.00001, 10, b.swap(1, b.poolX)), is("call_contract!", "opcode", order, "source", b.alice, "destination", b.native, "value", ton(0.00001)))
	given := func(forward float64, payload *cell.Cell, more ...any) wanted {
		return is("jetton_transfer", append(more, "asset", x, "sender", b.alice, "receiver", b.vaultX, "sender_jetton_wallet", b.x.walletOf(b.alice.Address),
			"receiver_jetton_wallet", b.x.walletOf(b.vaultX), "amount", 200, "query_id", 9, "response_destination", b.alice, "forward_amount", ton(forward), "forward_payload", payload)...)
	}
	returned := is("jetton_transfer", "asset", x, "sender", b.vaultX, "receiver", b.alice, "sender_jetton_wallet", b.x.walletOf(b.vaultX),
		"receiver_jetton_wallet", b.x.walletOf(b.alice.Address), "amount", 200, "query_id", 9, "response_destination", b.alice, "forward_amount", 1)
	payload := b.swap(1, b.poolX).Payload()
	b.plays("jettons with too little value", b.alice, []contracts.Message{b.gives(b.x, 200, 0.05, payload)}, given(0.05, payload), returned)
	comment := contracts.CommentBody("swap these")
	b.plays("jettons without an order", b.alice, []contracts.Message{b.gives(b.x, 200, 0.2, comment)}, given(0.2, comment, "comment", "swap these"), returned)
	b.plays("jettons whose notification cannot pay for any gas", b.alice, []contracts.Message{b.gives(b.x, 200, 0.00001, payload)}, given(0.00001, payload))
	nowhere := b.exchange.Pool(nil, b.bob.Address).Address()
	missing := b.swap(1)
	missing.Route = []contracts.ExchangeHop{{Pool: nowhere}}
	b.plays("where there is no pool", b.alice, native(0.15, 10, missing), is("call_contract", "opcode", order, "source", b.alice, "destination", b.native, "value", ton(0.15)),
		is("call_contract!", "opcode", 0x61ee542d, "source", b.native, "destination", nowhere, "value", anything{}), bounced(nowhere, b.native))
	b.plays("at a pool that does not trade it", b.alice, native(0.15, 10, b.swap(1, b.cross)), is("jetton_swap!", swapped(b.alice, ofTON(10), toncoinsTo(b.alice, 10))...))

	fails := b.swap(1, b.poolX)
	fails.Recipient = b.deaf.Address(0)
	b.plays("for one who does not know the message, and has the toncoins", b.alice, []contracts.Message{b.gives(b.x, 200, 0.15, fails.Payload())},
		is("jetton_swap", swapped(b.alice, ofX(200), toncoinsTo(fails.Recipient, 73))...))
	// 1180 and 3406.
	fails.Recipient = b.carol.Address
	b.plays("for one whose wallet takes no jettons", b.alice, native(0.15, 10, fails), is("jetton_swap!", swapped(b.alice, ofTON(10), xTo(b.carol.Address, 25))...))
	// 1190 and 3381: what comes with the jettons costs more than there is.
	fails.Recipient, fails.Fulfill = b.bob.Address, contracts.HugeContent(8_000)
	unpaid := xTo(b.bob.Address, 25)
	unpaid[4] = nil
	b.plays("not paid by the vault's wallet", b.alice, native(0.15, 10, fails), is("jetton_swap!", swapped(b.alice, ofTON(10), unpaid)...))

	skipped := native(1_000_000, 10, s)
	b.plays("not sent by the trader's wallet", b.alice, skipped, is("unknown!"))
	skipped[0].Mode |= contracts.ModeIgnoreErrors
	b.plays("skipped by the trader's wallet", b.alice, skipped, is("unknown"))
}

func TestLiquidityOfADevnet(t *testing.T) {
	b := newDevnetExchange(t)
	x, pool, at, deposit := b.x.master, b.poolX, b.poolX.Address(), b.poolX.Deposit(b.alice.Address)
	aliceX, share := b.x.walletOf(b.alice.Address), b.poolX.Share(b.alice.Address)
	d := contracts.ExchangeDeposit{QueryID: 1, Pool: pool, Targets: [2]*big.Int{big.NewInt(1000), big.NewInt(4000)}}
	deployed := is("contract_deploy", "opcode", 0x9b3aa3fa, "source", b.exchange.Address(), "destination", deposit, "value", ton(0.02))
	said := func(what string, first, second int, more ...any) wanted {
		return is(what, append(more, "dex", "dedust", "source", b.alice, "destination_liquidity", deposit, "target_amount_1", first, "target_asset_2", x, "target_amount_2", second)...)
	}
	b.plays("a half of toncoins", b.alice, []contracts.Message{b.toncoins(d, 1000, 0.3)}, said("dex_deposit_liquidity", 1000, 4000, "amount_1", 1000), deployed)
	b.plays("the half of jettons", b.alice, []contracts.Message{b.gives(b.x, 4000, 0.3, d.Payload())},
		said("dex_deposit_liquidity", 1000, 4000, "asset_1", x, "amount_1", 4000, "user_jetton_wallet_1", aliceX, "pool", at, "lp_tokens_minted", 2000),
		is("contract_deploy", "opcode", 0x178d4519, "source", aliceX, "destination", b.x.walletOf(b.vaultX), "value", anything{}),
		is("contract_deploy", "opcode", 0x178d4519, "source", at, "destination", share, "value", ton(0.05)))
	both := func(what string, first, second int, more ...any) wanted {
		return said(what, first, second, append(more, "amount_1", first, "asset_2", x, "amount_2", second, "user_jetton_wallet_2", aliceX, "pool", at)...)
	}
	d.Targets = [2]*big.Int{big.NewInt(700), big.NewInt(2000)}
	b.plays("both halves, too many toncoins", b.alice, []contracts.Message{b.toncoins(d, 700, 0.3), b.gives(b.x, 2000, 0.3, d.Payload())},
		both("dex_deposit_liquidity", 700, 2000, "lp_tokens_minted", 1000, "vault_excesses[0].amount", anything{}), deployed)
	d.Targets = [2]*big.Int{big.NewInt(500), big.NewInt(2500)}
	b.plays("both halves, too many jettons", b.alice, []contracts.Message{b.gives(b.x, 2500, 0.3, d.Payload()), b.toncoins(d, 500, 0.3)},
		both("dex_deposit_liquidity", 500, 2500, "lp_tokens_minted", 1000, "vault_excesses[0].asset", x, "vault_excesses[0].amount", 500), deployed)
	d.MinLP = big.NewInt(1_000_000)
	b.plays("rejected", b.alice, []contracts.Message{b.toncoins(d, 500, 0.3), b.gives(b.x, 2500, 0.3, d.Payload())},
		both("dex_deposit_liquidity!", 500, 2500, "vault_excesses[0].amount", anything{}, "vault_excesses[1].asset", x, "vault_excesses[1].amount", 2500), deployed)
	d.MinLP = nil

	const order = 0xd55e4686
	b.plays("with too little value", b.alice, []contracts.Message{b.toncoins(d, 500, 0.1)}, refusedCall(order, b.alice, b.native, 0.1)...)
	b.plays("with too little for any gas", b.alice, []contracts.Message{b.toncoins(d, 500, 0.00001)},
		is("call_contract!", "opcode", order, "source", b.alice, "destination", b.native, "value", ton(0.00001)))
	returned := func(query uint64) wanted {
		return is("jetton_transfer", "asset", x, "sender", b.vaultX, "receiver", b.alice, "sender_jetton_wallet", b.x.walletOf(b.vaultX), "receiver_jetton_wallet", aliceX,
			"amount", 2500, "query_id", query, "response_destination", b.alice, "forward_amount", 1)
	}
	b.plays("jettons with too little value", b.alice, []contracts.Message{b.gives(b.x, 2500, 0.1, d.Payload())}, is("jetton_transfer", "asset", x, "sender", b.alice,
		"receiver", b.vaultX, "sender_jetton_wallet", aliceX, "receiver_jetton_wallet", b.x.walletOf(b.vaultX), "amount", 2500, "query_id", 9,
		"response_destination", b.alice, "forward_amount", ton(0.1), "forward_payload", d.Payload()), returned(9))
	b.plays("a half of jettons", b.alice, []contracts.Message{b.gives(b.x, 2500, 0.3, d.Payload())},
		said("dex_deposit_liquidity", 500, 2500, "asset_1", x, "amount_1", 2500, "user_jetton_wallet_1", aliceX), deployed)
	const cancel = 0x166cedee
	b.plays("cancelled by another", b.bob, one(deposit, 0.1, contracts.ExchangeCancelBody(2)), refusedCall(cancel, b.bob, deposit, 0.1)...)
	b.plays("cancelled", b.alice, one(deposit, 0.1, contracts.ExchangeCancelBody(2)),
		is("call_contract", "opcode", cancel, "source", b.alice, "destination", deposit, "value", ton(0.1)),
		is("call_contract", "opcode", 0x6b0b787f, "source", deposit, "destination", b.vaultX, "value", ton(0.06)),
		is("ton_transfer", "source", deposit, "destination", b.alice, "value", anything{}), returned(2))
	lost := d
	lost.Pool, lost.Targets = b.exchange.Pool(nil, b.bob.Address), [2]*big.Int{big.NewInt(500), new(big.Int)}
	to := lost.Pool.Deposit(b.alice.Address)
	b.plays("for a pool that is not there", b.alice, []contracts.Message{b.toncoins(lost, 500, 0.3)},
		is("dex_deposit_liquidity!", "dex", "dedust", "source", b.alice, "destination_liquidity", to, "amount_1", 500, "pool", lost.Pool.Address(),
			"target_amount_1", 500, "target_asset_2", b.bob, "target_amount_2", 0),
		is("contract_deploy", "opcode", 0x9b3aa3fa, "source", b.exchange.Address(), "destination", to, "value", ton(0.02)),
		is("call_contract", "opcode", 0x6b0b787f, "source", to, "destination", b.native, "value", ton(0.06)),
		is("ton_transfer", "source", to, "destination", b.alice, "value", anything{}),
		is("call_contract", "opcode", 0x474f86cf, "source", b.native, "destination", b.alice, "value", anything{}))
	b.mints(b.x, b.bob.Address, 4000)
	bobs := pool.Deposit(b.bob.Address)
	d.Targets = [2]*big.Int{big.NewInt(500), big.NewInt(2000)}
	b.plays("whose shares are not taken", b.bob, []contracts.Message{b.toncoins(d, 500, 0.3), b.givesOf(b.bob, b.x, 2000, 0.3, d.Payload())},
		is("dex_deposit_liquidity!", "dex", "dedust", "source", b.bob, "destination_liquidity", bobs, "amount_1", 500, "asset_2", x, "amount_2", 2000,
			"user_jetton_wallet_2", b.x.walletOf(b.bob.Address), "pool", at, "lp_tokens_minted", 1000, "target_amount_1", 500, "target_asset_2", x, "target_amount_2", 2000),
		is("contract_deploy", "opcode", 0x9b3aa3fa, "source", b.exchange.Address(), "destination", bobs, "value", ton(0.02)))

	// 2500 and 10000, for 4000 shares: those that were not taken do not count.
	burn := contracts.JettonBurnBody(6, big.NewInt(400), b.alice.Address)
	b.plays("taken out", b.alice, one(share, 0.4, burn), is("dex_withdraw_liquidity", "dex", "dedust", "source", b.alice, "pool", at, "destination_liquidity", at,
		"lp_tokens_burnt", 400, "amount_1", 250, "asset_2", x, "amount_2", 1000, "user_jetton_wallet_2", aliceX))
	failed := is("jetton_burn!", "owner", b.alice, "owner_jetton_wallet", share, "asset", at, "amount", 400)
	b.plays("taken out by another", b.bob, one(share, 0.4, burn), failed)
	b.plays("taken out with too little for the pool", b.alice, one(share, 0.05, burn), failed)
	b.plays("taken out with too little for any gas", b.alice, one(share, 0.00001, burn), failed)
	all := contracts.JettonBurnBody(6, big.NewInt(1_000_000), b.alice.Address)
	b.plays("more than there is, taken out", b.alice, one(share, 0.4, all), is("jetton_burn!", "owner", b.alice, "owner_jetton_wallet", share, "asset", at, "amount", 1_000_000))
	move := contracts.JettonTransfer{QueryID: 7, Amount: big.NewInt(5), Destination: b.carol.Address}
	b.plays("shares are jettons", b.alice, one(share, 0.2, contracts.JettonTransferBody(move)),
		is("jetton_transfer", "asset", at, "sender", b.alice, "receiver", b.carol, "sender_jetton_wallet", share, "receiver_jetton_wallet", pool.Share(b.carol.Address),
			"amount", 5, "query_id", 7, "forward_amount", 0),
		is("contract_deploy", "opcode", 0x178d4519, "source", share, "destination", pool.Share(b.carol.Address), "value", anything{}))
}

package contracts_test

import (
	"math/big"
	"testing"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
)

// exchange has a pool of toncoins and jettons, and one of two jettons.
// Alice has jettons of both kinds.
type exchange struct {
	jettons
	is          contracts.Exchange
	factory     *address.Address
	other       contracts.JettonMinter // of the other jettons
	otherMaster *address.Address
	pool, cross contracts.ExchangePool
	third       contracts.ExchangePool // of toncoins and the other jettons, empty
	native      *address.Address       // vaults
	vault       *address.Address
	otherVault  *address.Address
}

func newExchange(t testing.TB) exchange {
	t.Helper()
	m := exchange{jettons: newJettons(t), is: contracts.Exchange{Content: contracts.OffchainContent("https://example.com/lp.json")}}
	m.other = contracts.JettonMinter{Admin: admin, Content: contracts.OffchainContent("https://example.com/other.json")}
	m.otherMaster, m.factory = m.other.Address(0), m.is.Address()
	m.deploy(m.otherMaster, m.other.StateInit(), ton(1))
	for _, master := range []*address.Address{m.master, m.otherMaster} {
		m.send(admin, master, ton(0.2), contracts.JettonMintBody(contracts.JettonMint{Amount: big.NewInt(1_000_000), To: alice, Value: ton(0.1)}))
	}
	m.deploy(m.factory, m.is.StateInit(), ton(1))
	m.native, m.vault, m.otherVault = m.is.Vault(nil), m.is.Vault(m.master), m.is.Vault(m.otherMaster)
	m.pool, m.cross = m.is.Pool(m.master, nil), m.is.Pool(m.otherMaster, m.master)
	m.third = m.is.Pool(nil, m.otherMaster)

	trace := m.send(bob, m.factory, ton(0.5), contracts.ExchangeCreateVaultBody(1, nil))
	expect(t, trace, hop{to: m.factory, op: 0x21cfe02b}, hop{to: m.native, op: 0x9b3aa3fa})
	trace = m.send(bob, m.factory, ton(0.5), contracts.ExchangeCreateVaultBody(1, m.master))
	expect(t, trace, hop{to: m.factory, op: 0x21cfe02b}, hop{to: m.vault, op: 0x9b3aa3fa}, hop{to: m.master, op: 0x2c76b973}, hop{to: m.vault, op: 0xd1735400})
	m.send(bob, m.factory, ton(0.5), contracts.ExchangeCreateVaultBody(1, m.otherMaster))
	for _, pool := range []contracts.ExchangePool{m.pool, m.cross, m.third} {
		trace = m.send(bob, m.factory, ton(0.5), pool.CreateBody(1))
		expect(t, trace, hop{to: m.factory, op: 0x97d51f2f}, hop{to: pool.Address(), op: 0x9b3aa3fa})
	}
	return m
}

func (m exchange) walletOf(minter contracts.JettonMinter, owner *address.Address) *address.Address {
	return minter.Wallet(0, owner).Address(0)
}

// gives sends jettons of alice to a vault with an order.
func (m exchange) gives(minter contracts.JettonMinter, jettons int64, forward float64, payload *cell.Cell) []transaction {
	m.t.Helper()
	return m.send(alice, m.walletOf(minter, alice), ton(forward+0.1), contracts.JettonTransferBody(contracts.JettonTransfer{
		Amount: big.NewInt(jettons), Destination: m.is.Vault(minter.Address(0)), Response: alice, ForwardValue: ton(forward), ForwardPayload: payload,
	}))
}

// filled has 1000 nanotons, or so many of the other jettons, and 4000 jettons in its pools.
func filledExchange(t testing.TB) exchange {
	t.Helper()
	m := newExchange(t)
	targets := [2]*big.Int{big.NewInt(1000), big.NewInt(4000)}
	half := contracts.ExchangeDeposit{QueryID: 3, Pool: m.pool, Amount: targets[0], Targets: targets}
	m.send(alice, m.native, ton(0.3), half.Body())
	m.gives(m.minter, 4000, 0.3, half.Payload())
	half = contracts.ExchangeDeposit{QueryID: 4, Pool: m.cross, Targets: targets}
	amounts := map[string]int64{m.cross.Assets[0].String(): 1000, m.cross.Assets[1].String(): 4000}
	m.gives(m.minter, amounts[m.master.String()], 0.3, half.Payload())
	m.gives(m.other, amounts[m.otherMaster.String()], 0.3, half.Payload())
	m.expectPool(m.pool, 1000, 4000, 2000)
	m.expectPool(m.cross, 1000, 4000, 2000)
	return m
}

func (m exchange) expectPool(pool contracts.ExchangePool, reserve0, reserve1, supply int) {
	m.t.Helper()
	expectValues(m.t, "reserves", m.get(pool.Address(), "get_reserves"), reserve0, reserve1)
	expectValues(m.t, "supply", m.get(pool.Address(), "get_jetton_data")[:1], supply)
}

// asset is an asset as a slice of the stack.
func asset(master *address.Address) *cell.Slice {
	return contracts.ExchangeAsset(master).MustBeginParse()
}

func TestExchangeTellsWhatItIs(t *testing.T) {
	m := newExchange(t)
	at := m.pool.Address()
	expectValues(t, "get_vault_address", append(m.get(m.factory, "get_vault_address", asset(nil)), m.get(m.factory, "get_vault_address", asset(m.master))...), m.native, m.vault)
	expectValues(t, "get_pool_address", m.get(m.factory, "get_pool_address", 0, asset(nil), asset(m.master)), at)
	expectValues(t, "get_liquidity_deposit_address", m.get(m.factory, "get_liquidity_deposit_address", slice(alice), 0, asset(nil), asset(m.master)), m.pool.Deposit(alice))
	expectValues(t, "get_asset", append(m.get(m.native, "get_asset"), m.get(m.vault, "get_asset")...), asset(nil), asset(m.master))
	expectValues(t, "is_ready", append(m.get(m.native, "is_ready"), m.get(m.vault, "is_ready")...), true, true)
	expectValues(t, "get_assets", m.get(at, "get_assets"), asset(nil), asset(m.master))
	expectValues(t, "is_stable", m.get(at, "is_stable"), false)
	expectValues(t, "get_trade_fee", m.get(at, "get_trade_fee"), 25, 10000)
	expectValues(t, "get_jetton_data", m.get(at, "get_jetton_data"), 0, true, none, m.is.Content, contracts.Code(contracts.JettonWalletCode))
	expectValues(t, "get_wallet_address", m.get(at, "get_wallet_address", slice(alice)), m.pool.Share(alice))
	m.expectPool(m.pool, 0, 0, 0)
}

func TestLiquidityComesInTwoHalves(t *testing.T) {
	m := newExchange(t)
	deposit, pool := m.pool.Deposit(alice), m.pool.Address()
	half := contracts.ExchangeDeposit{QueryID: 3, Pool: m.pool, Amount: big.NewInt(1000), Targets: [2]*big.Int{big.NewInt(1000), big.NewInt(4000)}, MinLP: big.NewInt(2000)}
	trace := m.send(alice, m.native, ton(0.3), half.Body())
	expect(t, trace, hop{to: m.native, op: 0xd55e4686}, hop{to: m.factory, op: 0xf04ec526}, hop{to: deposit, op: 0x9b3aa3fa}, hop{to: deposit, op: 0x54240fe5})
	expectValues(t, "get_balances", m.get(deposit, "get_balances"), 1000, 0)
	expectValues(t, "get_target_balances", m.get(deposit, "get_target_balances"), 1000, 4000)

	trace = m.gives(m.minter, 4000, 0.3, half.Payload())
	expect(t, trace, hop{to: m.alice1, op: 0x0f8a7ea5}, hop{to: m.walletOf(m.minter, m.vault), op: 0x178d4519}, hop{to: m.vault, op: 0x7362d09c},
		hop{to: alice, op: 0xd53276db}, hop{to: m.factory, op: 0xf04ec526}, hop{to: deposit, op: 0x9b3aa3fa}, hop{to: deposit, op: 0x54240fe5},
		hop{to: pool, op: 0xb56b9598}, hop{to: m.pool.Share(alice), op: 0x178d4519}, hop{to: deposit, op: 0xaae79256},
		hop{to: alice, op: 0x7362d09c}, hop{to: alice, op: 0xd53276db}, hop{to: alice})
	m.expectPool(m.pool, 1000, 4000, 2000)
	if got := m.jettonsOf(m.pool.Share(alice)); got != 2000 {
		t.Errorf("alice has %d shares, want 2000", got)
	}
	if m.account(deposit).State().Status == tlb.AccountStatusActive {
		t.Error("the deposit is still there")
	}
}

// Of 700 nanotons and 2000 jettons the pool, whose price is one to four, takes 500
// nanotons.
func TestWhatAPoolDoesNotTakeComesBack(t *testing.T) {
	m := filledExchange(t)
	half := contracts.ExchangeDeposit{Pool: m.pool, Amount: big.NewInt(700), Targets: [2]*big.Int{big.NewInt(700), big.NewInt(2000)}}
	m.send(alice, m.native, ton(0.3), half.Body())
	trace := m.gives(m.minter, 2000, 0.3, half.Payload())
	m.expectPool(m.pool, 1500, 6000, 3000)
	found := false
	for _, one := range trace {
		if one.op() == 0x6b0b787f {
			body := one.payload()
			body.MustLoadUInt(64)
			body.MustLoadRef()
			expectValues(t, "excess", []any{one.account, body.MustLoadBigCoins()}, m.native, 200)
			found = true
		}
	}
	if !found || trace[len(trace)-1].op() != 0x474f86cf {
		t.Errorf("nothing came back: %s", text(trace))
	}
}

func TestDepositBelowItsLeastSharesIsRejected(t *testing.T) {
	m := filledExchange(t)
	before := m.jettonsOf(m.alice1)
	half := contracts.ExchangeDeposit{Pool: m.pool, Amount: big.NewInt(500), Targets: [2]*big.Int{big.NewInt(500), big.NewInt(2000)}, MinLP: big.NewInt(1001)}
	m.send(alice, m.native, ton(0.3), half.Body())
	trace := m.gives(m.minter, 2000, 0.3, half.Payload())
	if trace[8].op() != 0xe1a36cd4 {
		t.Errorf("trace is %s\nwant a rejection", text(trace))
	}
	m.expectPool(m.pool, 1000, 4000, 2000)
	if got := m.jettonsOf(m.alice1); got != before {
		t.Errorf("alice has %d jettons, want %d", got, before)
	}
}

func TestCancelledDepositPaysBack(t *testing.T) {
	m := newExchange(t)
	before := m.jettonsOf(m.alice1)
	half := contracts.ExchangeDeposit{Pool: m.pool, Targets: [2]*big.Int{big.NewInt(500), big.NewInt(2000)}}
	m.gives(m.minter, 2000, 0.3, half.Payload())
	deposit := m.pool.Deposit(alice)
	if trace := m.send(bob, deposit, ton(0.1), contracts.ExchangeCancelBody(1)); trace[0].ExitCode != 402 {
		t.Errorf("by bob: %s", text(trace))
	}
	trace := m.send(alice, deposit, ton(0.1), contracts.ExchangeCancelBody(1))
	expect(t, trace, hop{to: deposit, op: 0x166cedee}, hop{to: m.vault, op: 0x6b0b787f}, hop{to: alice},
		hop{to: m.walletOf(m.minter, m.vault), op: 0x0f8a7ea5}, hop{to: m.alice1, op: 0x178d4519}, hop{to: alice, op: 0x7362d09c}, hop{to: alice, op: 0xd53276db})
	if got := m.jettonsOf(m.alice1); got != before {
		t.Errorf("alice has %d jettons, want %d", got, before)
	}
}

// A deposit whose pool is not there gives back what it has.
func TestDepositToNoPoolPaysBack(t *testing.T) {
	m := newExchange(t)
	pool := m.is.Pool(nil, user(9))
	half := contracts.ExchangeDeposit{Pool: pool, Amount: big.NewInt(500)}
	trace := m.send(alice, m.native, ton(0.3), half.Body())
	expect(t, trace, hop{to: m.native, op: 0xd55e4686}, hop{to: m.factory, op: 0xf04ec526}, hop{to: pool.Deposit(alice), op: 0x9b3aa3fa},
		hop{to: pool.Deposit(alice), op: 0x54240fe5}, hop{to: pool.Address(), op: 0xb56b9598, fails: true}, hop{to: pool.Deposit(alice), op: 0xffffffff},
		hop{to: m.native, op: 0x6b0b787f}, hop{to: alice}, hop{to: alice, op: 0x474f86cf})
}

func (m exchange) swap(limit int64, pools ...contracts.ExchangePool) contracts.ExchangeSwap {
	s := contracts.ExchangeSwap{QueryID: 5}
	for _, pool := range pools {
		s.Route = append(s.Route, contracts.ExchangeHop{Pool: pool.Address(), Limit: big.NewInt(limit)})
	}
	return s
}

// 1000 nanotons less a fee of 3 into a pool of 1000 and 4000: 997 * 4000 / 1997.
func TestToncoinsAreSwappedForJettons(t *testing.T) {
	m := filledExchange(t)
	s := m.swap(1997, m.pool)
	s.Amount, s.Recipient = big.NewInt(1000), bob
	expectValues(t, "estimate_swap_out", m.get(m.pool.Address(), "estimate_swap_out", asset(nil), 1000), asset(m.master), 1996, 3)
	expectValues(t, "estimate_swap_out", m.get(m.pool.Address(), "estimate_swap_out", asset(m.master), 1000), asset(nil), 199, 3)
	s.Route[0].Limit = big.NewInt(1996)
	trace := m.send(alice, m.native, ton(0.15), s.Body())
	expect(t, trace, hop{to: m.native, op: 0xea06185d}, hop{to: m.pool.Address(), op: 0x61ee542d}, hop{to: m.vault, op: 0xad4eb6f5},
		hop{to: m.walletOf(m.minter, m.vault), op: 0x0f8a7ea5}, hop{to: m.bob1, op: 0x178d4519}, hop{to: bob, op: 0x7362d09c}, hop{to: bob, op: 0xd53276db})
	m.expectPool(m.pool, 2000, 2004, 2000)
	if got := m.jettonsOf(m.bob1); got != 1996 {
		t.Errorf("bob has %d jettons, want 1996", got)
	}
}

func TestJettonsAreSwappedThroughTwoPools(t *testing.T) {
	m := filledExchange(t)
	trace := m.gives(m.other, 1000, 0.3, m.swap(1, m.cross, m.pool).Payload())
	var ops []uint32
	for _, one := range trace {
		ops = append(ops, one.op())
	}
	expectValues(t, "operations", []any{ops[4] == 0x61ee542d, ops[5] == 0x72aca8aa, ops[6] == 0xad4eb6f5, ops[7] == 0x474f86cf}, true, true, true, true)
	if t.Failed() {
		t.Log(text(trace))
	}
}

func TestSwapThatCannotBeDoneComesBack(t *testing.T) {
	for name, one := range map[string]struct {
		change func(m exchange, s *contracts.ExchangeSwap)
		value  float64
	}{
		"too little for it": {func(_ exchange, s *contracts.ExchangeSwap) { s.Route[0].Limit = big.NewInt(1000) }, 0.15},
		"too late":          {func(m exchange, s *contracts.ExchangeSwap) { s.Deadline = m.now - 1 }, 0.15},
		"of another asset": {func(m exchange, s *contracts.ExchangeSwap) {
			s.Route[0].Pool = m.third.Address()
		}, 0.15},
		"with too little gas": {func(exchange, *contracts.ExchangeSwap) {}, 0.09},
		"without an order":    {nil, 0.15},
		"through too many pools": {func(_ exchange, s *contracts.ExchangeSwap) {
			for range 4 {
				s.Route = append(s.Route, s.Route[0])
			}
		}, 0.6},
	} {
		t.Run(name, func(t *testing.T) {
			m := filledExchange(t)
			before := m.jettonsOf(m.alice1)
			var payload *cell.Cell
			if one.change != nil {
				s := m.swap(1, m.pool)
				one.change(m, &s)
				payload = s.Payload()
			}
			trace := m.gives(m.minter, 1000, one.value, payload)
			if got := m.jettonsOf(m.alice1); got != before {
				t.Errorf("alice has %d jettons, want %d: %s", got, before, text(trace))
			}
			m.expectPool(m.pool, 1000, 4000, 2000)
		})
	}
}

// The second pool of a route refuses: what the first one gave goes to the trader.
func TestRefusedSecondSwapPaysWhatTheFirstGave(t *testing.T) {
	for name, second := range map[string]func(m exchange) *address.Address{
		"for its limit":                  func(m exchange) *address.Address { return m.pool.Address() },
		"as it does not trade the asset": func(m exchange) *address.Address { return m.third.Address() },
	} {
		t.Run(name, func(t *testing.T) {
			m := filledExchange(t)
			before := m.jettonsOf(m.alice1)
			s := m.swap(1, m.cross, m.pool)
			s.Route[1] = contracts.ExchangeHop{Pool: second(m), Limit: big.NewInt(100_000)}
			trace := m.gives(m.other, 100, 0.3, s.Payload())
			reserves := m.get(m.cross.Address(), "get_reserves")
			given := intIn(t, reserves[0]).Int64()
			if m.cross.Assets[0].Equals(m.master) {
				given = 1000 - given
			} else {
				given = 4000 - intIn(t, reserves[1]).Int64()
			}
			if got := m.jettonsOf(m.alice1) - before; got != given || given == 0 {
				t.Errorf("alice gained %d jettons, want %d: %s", got, given, text(trace))
			}
			m.expectPool(m.pool, 1000, 4000, 2000)
		})
	}
}

func TestSharesAreTakenOut(t *testing.T) {
	m := filledExchange(t)
	at := m.pool.Share(alice)
	trace := m.send(alice, at, ton(0.3), contracts.JettonBurnBody(6, big.NewInt(500), alice))
	expect(t, trace, hop{to: at, op: 0x595f07bc}, hop{to: m.pool.Address(), op: 0x7bdd97de}, hop{to: m.native, op: 0xad4eb6f5}, hop{to: m.vault, op: 0xad4eb6f5},
		hop{to: alice, op: 0x474f86cf}, hop{to: m.walletOf(m.minter, m.vault), op: 0x0f8a7ea5}, hop{to: m.alice1, op: 0x178d4519},
		hop{to: alice, op: 0x7362d09c}, hop{to: alice, op: 0xd53276db})
	m.expectPool(m.pool, 750, 3000, 1500)
	trace = m.send(alice, at, ton(0.05), contracts.JettonBurnBody(6, big.NewInt(500), alice))
	expect(t, trace, hop{to: at, op: 0x595f07bc}, hop{to: m.pool.Address(), op: 0x7bdd97de, fails: true}, hop{to: at, op: 0xffffffff})
	m.expectPool(m.pool, 750, 3000, 1500)
	if got := m.jettonsOf(at); got != 1500 {
		t.Errorf("alice has %d shares, want 1500", got)
	}
}

// Vaults pay for nobody but pools and deposits of their own factory.
func TestForgedPayoutIsRefused(t *testing.T) {
	m := filledExchange(t)
	other := contracts.Exchange{Content: contracts.SnakeText("another")}
	for name, proof := range map[string]*cell.Cell{
		"with the proof of a pool": m.pool.Proof(),
		"of another factory":       other.Pool(nil, m.master).Proof(),
	} {
		forged := cell.BeginCell().MustStoreUInt(0xad4eb6f5, 32).MustStoreUInt(0, 64).MustStoreRef(proof).
			MustStoreBigCoins(big.NewInt(1)).MustStoreAddr(bob).MustStoreMaybeRef(nil).EndCell()
		from := bob
		if name == "of another factory" {
			from = other.Pool(nil, m.master).Address()
		}
		if trace := m.send(from, m.native, ton(0.1), forged); trace[0].ExitCode != 402 {
			t.Errorf("%s: %s", name, text(trace))
		}
	}
}

func TestVaultAndFactoryRefuseWhatTheyCannotDo(t *testing.T) {
	m := filledExchange(t)
	s := m.swap(1, m.pool)
	s.Amount = ton(1)
	if trace := m.send(alice, m.native, ton(1.05), s.Body()); trace[0].ExitCode != 709 {
		t.Errorf("a swap with too little: %s", text(trace))
	}
	if trace := m.send(alice, m.vault, ton(1.2), s.Body()); trace[0].ExitCode != 403 {
		t.Errorf("toncoins for a vault of jettons: %s", text(trace))
	}
	d := contracts.ExchangeDeposit{Pool: m.pool, Amount: ton(1)}
	if trace := m.send(alice, m.native, ton(1.1), d.Body()); trace[0].ExitCode != 709 {
		t.Errorf("a deposit with too little: %s", text(trace))
	}
	reversed := m.pool
	reversed.Assets[0], reversed.Assets[1] = reversed.Assets[1], reversed.Assets[0]
	if trace := m.send(alice, m.factory, ton(0.5), reversed.CreateBody(1)); trace[0].ExitCode != 404 {
		t.Errorf("a pool in the wrong order: %s", text(trace))
	}
	d = contracts.ExchangeDeposit{Pool: m.cross, Amount: big.NewInt(5)}
	if trace := m.send(alice, m.native, ton(0.3), d.Body()); trace[0].ExitCode != 403 {
		t.Errorf("toncoins for a pool of jettons: %s", text(trace))
	}
}

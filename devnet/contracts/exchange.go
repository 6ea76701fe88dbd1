package contracts

import (
	"math/big"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// Value that a message to an exchange brings besides the toncoins that it gives, in
// nanotons; what is not needed comes back.
const (
	ExchangeSwapValue    = 150_000_000 // for each pool
	ExchangeDepositValue = 300_000_000
)

// Exchange is one that speaks as DeDust 2.0 does: a factory, a vault for each asset,
// a pool for each two, a deposit for each provider of a pool. All are in the
// basechain. An asset is the master of its jettons, nil for toncoins.
type Exchange struct {
	Content *cell.Cell // of the jettons that stand for shares of a pool
}

// What a contract of an exchange is, as its proof says.
const (
	exchangeVault   = 1
	exchangePool    = 2
	exchangeDeposit = 3
)

// StateInit is that of the factory.
func (e Exchange) StateInit() *tlb.StateInit {
	codes := cell.BeginCell().
		MustStoreRef(Code(ExchangeVaultCode)).
		MustStoreRef(Code(ExchangePoolCode)).
		MustStoreRef(Code(ExchangeDepositCode)).EndCell()
	lp := cell.BeginCell().MustStoreRef(e.Content).MustStoreRef(Code(JettonWalletCode)).EndCell()
	return stateInit(ExchangeFactoryCode, cell.BeginCell().
		MustStoreRef(Code(ExchangeBlankCode)).
		MustStoreRef(codes).
		MustStoreRef(lp))
}

// Address is where the factory is deployed.
func (e Exchange) Address() *address.Address { return AddressOf(0, e.StateInit()) }

func (e Exchange) proof(kind uint64) *cell.Builder {
	return cell.BeginCell().MustStoreAddr(e.Address()).MustStoreUInt(kind, 8)
}

// provenBy is where the factory deploys what proves itself so.
func provenBy(proof *cell.Builder) *address.Address {
	return AddressOf(0, stateInit(ExchangeBlankCode, proof))
}

// Vault is the vault of an asset.
func (e Exchange) Vault(asset *address.Address) *address.Address {
	return provenBy(exchangeAsset(e.proof(exchangeVault), asset))
}

// Pool is the pool of two assets, in any order.
func (e Exchange) Pool(a, b *address.Address) ExchangePool {
	if exchangeKey(a).Cmp(exchangeKey(b)) > 0 {
		a, b = b, a
	}
	return ExchangePool{Exchange: e, Assets: [2]*address.Address{a, b}}
}

// ExchangePool is a pool of two assets, in the order of the exchange.
type ExchangePool struct {
	Exchange Exchange
	Assets   [2]*address.Address
}

func (p ExchangePool) params(to *cell.Builder) *cell.Builder {
	return exchangeAsset(exchangeAsset(to.MustStoreBoolBit(false), p.Assets[0]), p.Assets[1])
}

func (p ExchangePool) proof() *cell.Builder { return p.params(p.Exchange.proof(exchangePool)) }

// Proof is what the pool proves itself with.
func (p ExchangePool) Proof() *cell.Cell { return p.proof().EndCell() }

// Address is where the factory deploys the pool.
func (p ExchangePool) Address() *address.Address { return provenBy(p.proof()) }

// Deposit is where the pool's deposit of a provider is, while there is one.
func (p ExchangePool) Deposit(owner *address.Address) *address.Address {
	of := p.params(cell.BeginCell().MustStoreAddr(owner)).EndCell()
	return provenBy(p.Exchange.proof(exchangeDeposit).MustStoreRef(of))
}

// Share is the wallet for an owner's shares of the pool.
func (p ExchangePool) Share(owner *address.Address) *address.Address {
	return JettonWallet{Owner: owner, Minter: p.Address()}.Address(0)
}

// exchangeKey orders assets: toncoins first.
func exchangeKey(asset *address.Address) *big.Int {
	if asset == nil {
		return new(big.Int)
	}
	return new(big.Int).SetBytes(asset.Data())
}

// exchangeAsset stores an asset: native$0000 or jetton$0001 with its master.
func exchangeAsset(to *cell.Builder, asset *address.Address) *cell.Builder {
	if asset == nil {
		return to.MustStoreUInt(0, 4)
	}
	return to.MustStoreUInt(1, 4).MustStoreInt(int64(asset.Workchain()), 8).MustStoreSlice(asset.Data(), 256)
}

// ExchangeAsset is an asset as get-methods take and answer it.
func ExchangeAsset(asset *address.Address) *cell.Cell {
	return exchangeAsset(cell.BeginCell(), asset).EndCell()
}

// ExchangeCreateVaultBody is for the factory, from anybody.
func ExchangeCreateVaultBody(queryID uint64, asset *address.Address) *cell.Cell {
	return exchangeAsset(body(0x21cfe02b, queryID), asset).EndCell()
}

// CreateBody is for the factory, from anybody: it deploys the pool.
func (p ExchangePool) CreateBody(queryID uint64) *cell.Cell {
	return exchangeAsset(exchangeAsset(body(0x97d51f2f, queryID), p.Assets[0]), p.Assets[1]).EndCell()
}

// ExchangeSwap is what a trader asks for.
type ExchangeSwap struct {
	QueryID   uint64
	Amount    *big.Int // of toncoins; a transfer of jettons has its own
	Route     []ExchangeHop
	Deadline  uint32 // 0 for none
	Recipient *address.Address
	Fulfill   *cell.Cell // for the recipient
	Reject    *cell.Cell // for the trader, with what could not be swapped
}

// ExchangeHop is a swap at one pool that must give so much at least.
type ExchangeHop struct {
	Pool  *address.Address
	Limit *big.Int
}

func (s ExchangeSwap) store(to *cell.Builder) *cell.Builder {
	var next *cell.Cell
	step := func(hop ExchangeHop, to *cell.Builder) *cell.Builder {
		return to.MustStoreAddr(hop.Pool).MustStoreBoolBit(false).MustStoreBigCoins(amount(hop.Limit)).MustStoreMaybeRef(next)
	}
	for i := len(s.Route) - 1; i > 0; i-- {
		next = step(s.Route[i], cell.BeginCell()).EndCell()
	}
	return step(s.Route[0], to).MustStoreRef(cell.BeginCell().
		MustStoreUInt(uint64(s.Deadline), 32).
		MustStoreAddr(s.Recipient).
		MustStoreAddr(nil). // referral
		MustStoreMaybeRef(s.Fulfill).
		MustStoreMaybeRef(s.Reject).EndCell())
}

// Body is for the vault of toncoins.
func (s ExchangeSwap) Body() *cell.Cell {
	return s.store(body(0xea06185d, s.QueryID).MustStoreBigCoins(amount(s.Amount))).EndCell()
}

// Payload goes with a transfer of jettons to their vault.
func (s ExchangeSwap) Payload() *cell.Cell {
	return s.store(cell.BeginCell().MustStoreUInt(0xe3a0d482, 32)).EndCell()
}

// ExchangeDeposit is one half of a deposit of liquidity, of toncoins or jettons.
type ExchangeDeposit struct {
	QueryID uint64
	Pool    ExchangePool
	Amount  *big.Int    // of toncoins; a transfer of jettons has its own
	Targets [2]*big.Int // how much of both assets must come before the pool is asked
	MinLP   *big.Int    // the least number of shares
	Fulfill *cell.Cell  // for the provider, with the shares
	Reject  *cell.Cell  // for the provider, with what comes back
}

// Body is for the vault of toncoins.
func (d ExchangeDeposit) Body() *cell.Cell {
	terms := cell.BeginCell().
		MustStoreBigCoins(amount(d.MinLP)).
		MustStoreBigCoins(amount(d.Targets[0])).
		MustStoreBigCoins(amount(d.Targets[1])).EndCell()
	return d.Pool.params(body(0xd55e4686, d.QueryID).MustStoreBigCoins(amount(d.Amount))).
		MustStoreRef(terms).
		MustStoreMaybeRef(d.Fulfill).
		MustStoreMaybeRef(d.Reject).EndCell()
}

// Payload goes with a transfer of jettons to their vault.
func (d ExchangeDeposit) Payload() *cell.Cell {
	return d.Pool.params(cell.BeginCell().MustStoreUInt(0x40e108d6, 32)).
		MustStoreBigCoins(amount(d.MinLP)).
		MustStoreBigCoins(amount(d.Targets[0])).
		MustStoreBigCoins(amount(d.Targets[1])).
		MustStoreMaybeRef(d.Fulfill).
		MustStoreMaybeRef(d.Reject).EndCell()
}

// ExchangeCancelBody is for a deposit, from its provider, who gets back what has come.
func ExchangeCancelBody(queryID uint64) *cell.Cell {
	return body(0x166cedee, queryID).MustStoreMaybeRef(nil).EndCell()
}

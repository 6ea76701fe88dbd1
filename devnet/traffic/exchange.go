package traffic

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
	toncell "tonscribe/ton/cell"
)

// exchange is where people swap: a pool of toncoins and of each of two jettons, and
// one of the two.
type exchange struct {
	maker   *person // who founded it and brought the first liquidity
	is      contracts.Exchange
	address *address.Address
	native  *asset
	jettons [2]*asset
	pools   []*tradedPool
}

// asset is what is traded.
type asset struct {
	jetton *jetton // nil for toncoins
	vault  *address.Address
}

func (a *asset) master() *address.Address {
	if a.jetton == nil {
		return nil
	}
	return a.jetton.address
}

// tradedPool is a pool of the exchange.
type tradedPool struct {
	is      contracts.ExchangePool
	address *address.Address
	assets  [2]*asset
	// first is what the maker brings of both.
	first [2]*big.Int
}

// providers is how many users may bring liquidity.
const providers = 24

func (t *Traffic) foundExchange() {
	e := &exchange{
		maker: t.admin(len(t.people)),
		is: contracts.Exchange{Content: contracts.OnchainContent(map[string]string{
			"name": "Share of a devnet pool", "symbol": "LP", "decimals": "9",
		})},
	}
	e.address = e.is.Address()
	e.native = &asset{vault: e.is.Vault(nil)}
	for i := range e.jettons {
		j := t.jettons[i]
		e.jettons[i] = &asset{jetton: j, vault: e.is.Vault(j.address)}
	}
	dollars, scribes := e.jettons[0], e.jettons[1]
	e.open(e.native, ton(20_000), dollars, dollars.jetton.whole(60_000))
	e.open(e.native, ton(20_000), scribes, scribes.jetton.whole(200_000))
	e.open(dollars, dollars.jetton.whole(60_000), scribes, scribes.jetton.whole(200_000))
	t.exchange = e
}

// open adds a pool of two assets and what comes first of both.
func (e *exchange) open(a *asset, ofA *big.Int, b *asset, ofB *big.Int) {
	is := e.is.Pool(a.master(), b.master())
	p := &tradedPool{is: is, address: is.Address(), assets: [2]*asset{a, b}, first: [2]*big.Int{ofA, ofB}}
	if is.Assets[0] != a.master() {
		slices.Reverse(p.assets[:])
		slices.Reverse(p.first[:])
	}
	e.pools = append(e.pools, p)
}

// marketTasks found the exchange, when all else stands.
func (t *Traffic) marketTasks() [][]task {
	e := t.exchange
	factory := give(e.address, ton(10), nil)
	factory.StateInit = e.is.StateInit()
	founded := task{"exchange founded", func(s *step) bool { return s.data(e.address) != nil }, func(s *step) int {
		return s.sendAs(e.maker, 2, factory)
	}}
	var supplied, filled []task
	for i, a := range e.jettons {
		j := a.jetton
		supplied = append(supplied, task{fmt.Sprintf("maker has jettons %d", i), func(s *step) bool { return s.jettonsOf(j, e.maker.address).Sign() > 0 }, func(s *step) int {
			return s.sendAs(j.admin, 4, s.mint(j, e.maker, j.whole(10*firstJettons), nil))
		}})
	}
	opened := task{"exchange opened", func(s *step) bool {
		return s.data(e.native.vault) != nil && s.data(e.pools[len(e.pools)-1].address) != nil
	}, func(s *step) int {
		var orders []contracts.Message
		for _, a := range []*asset{e.native, e.jettons[0], e.jettons[1]} {
			orders = append(orders, pay(e.address, ton(2), contracts.ExchangeCreateVaultBody(s.query(), a.master())))
		}
		for _, p := range e.pools {
			orders = append(orders, pay(e.address, ton(2), p.is.CreateBody(s.query())))
		}
		return s.sendAs(e.maker, 1+2*len(orders)+4, orders...)
	}}
	for i, p := range e.pools {
		filled = append(filled, task{fmt.Sprintf("pool %d filled", i), func(s *step) bool { return s.reserves(p).supply.Sign() > 0 }, func(s *step) int {
			if !s.free(e.maker, 30_000) {
				return 0
			}
			return s.provide(e.maker, p, p.first, nil)
		}})
	}
	return [][]task{{founded}, append(supplied, opened), filled}
}

// reserves are what a pool counts; all zero when it is not there.
type reserves struct {
	of     [2]*big.Int
	supply *big.Int
}

func (s *step) reserves(p *tradedPool) reserves {
	r := reserves{[2]*big.Int{new(big.Int), new(big.Int)}, new(big.Int)}
	data := s.data(p.address)
	if data == nil {
		return r
	}
	data.Ref() // proof
	data.Ref() // the blank code
	r.of[0], r.of[1], r.supply = data.Coins(), data.Coins(), data.Coins()
	s.fail(data.Err())
	return r
}

// traded is a pool that has something, nil when none is found.
func (s *step) traded() (*tradedPool, reserves) {
	p := oneOf(s.chance, s.exchange.pools)
	r := s.reserves(p)
	if r.supply.Sign() == 0 {
		return nil, r
	}
	return p, r
}

// worth is what so much of one side of a pool is worth on the other.
func (r reserves) worth(side int, amount *big.Int) *big.Int {
	other := new(big.Int).Mul(amount, r.of[1-side])
	return other.Div(other, new(big.Int).Add(r.of[side], amount))
}

// lot is what somebody gives of an asset: a small part of what the pool has.
func (s *step) lot(reserve *big.Int) *big.Int {
	part := new(big.Int).Div(reserve, big.NewInt(int64(200+s.chance.IntN(20_000))))
	return part.Add(part, big.NewInt(1))
}

// swapValue is the value for a swap through so many pools.
func swapValue(pools int) *big.Int { return big.NewInt(int64(pools) * contracts.ExchangeSwapValue) }

// swapOrder is how somebody asks for a swap.
func (s *step) swapOrder(p *person, route []contracts.ExchangeHop) contracts.ExchangeSwap {
	order := contracts.ExchangeSwap{QueryID: s.query(), Route: route}
	switch s.chance.IntN(4) {
	case 0:
		order.Deadline = s.now + lifetime
	case 1:
		order.Recipient = p.address
	case 2:
		order.Fulfill = contracts.CommentBody("swapped")
	}
	return order
}

func (s *step) swapToncoins(p *person) int { return s.sellToncoins(p, false) }

func (s *step) swapToncoinsInVain(p *person) int { return s.sellToncoins(p, true) }

// sellToncoins gives toncoins for jettons, now and then through a second pool; in
// vain, it asks for more than they are worth, or brings too little value.
func (s *step) sellToncoins(p *person, vain bool) int {
	e := s.exchange
	first := e.pools[s.chance.IntN(2)]
	r := s.reserves(first)
	if r.supply.Sign() == 0 {
		return 0
	}
	amount := coins(s.chance, 0.1, 15)
	least := percent(r.worth(0, amount), 95)
	route := []contracts.ExchangeHop{{Pool: first.address, Limit: least}}
	caused := 8
	switch {
	case vain && s.chance.IntN(3) == 0:
		order := s.swapOrder(p, route)
		order.Amount = amount
		return s.send(3, p, pay(e.native.vault, new(big.Int).Add(amount, ton(0.03)), order.Body()))
	case vain:
		route[0].Limit = new(big.Int).Mul(least, big.NewInt(2))
		caused = 5
	case s.chance.IntN(4) == 0 && s.reserves(e.pools[2]).supply.Sign() > 0:
		route = append(route, contracts.ExchangeHop{Pool: e.pools[2].address})
		caused++
	}
	order := s.swapOrder(p, route)
	order.Amount = amount
	return s.send(caused, p, pay(e.native.vault, new(big.Int).Add(amount, swapValue(len(route))), order.Body()))
}

func (s *step) swapJettons() int { return s.sellJettons(false) }

func (s *step) swapJettonsInVain() int { return s.sellJettons(true) }

// sellJettons gives jettons for toncoins or for other jettons; in vain, it asks for
// more than they are worth, brings too little value, or says nothing that a vault
// understands.
func (s *step) sellJettons(vain bool) int {
	e := s.exchange
	of := s.chance.IntN(2)
	from := e.jettons[of]
	p, balance := s.holder(from.jetton)
	if p == nil {
		return 0
	}
	first := e.pools[of]
	caused := 8
	if s.chance.IntN(3) == 0 {
		first, caused = e.pools[2], 11
	}
	r := s.reserves(first)
	if r.supply.Sign() == 0 {
		return 0
	}
	side := 0
	if first.assets[1] == from {
		side = 1
	}
	amount := s.lot(r.of[side])
	if amount.Cmp(balance) > 0 {
		return 0
	}
	route := []contracts.ExchangeHop{{Pool: first.address, Limit: percent(r.worth(side, amount), 95)}}
	value := swapValue(1)
	switch {
	case vain && s.chance.IntN(3) == 0:
		value, caused = ton(0.08), 9
	case vain && s.chance.IntN(2) == 0:
		route, caused = nil, 9
	case vain:
		route[0].Limit, caused = new(big.Int).Mul(r.of[1-side], big.NewInt(2)), 11
	case first != e.pools[2] && s.chance.IntN(4) == 0: // toncoins, and the other jettons for them
		route = append(route, contracts.ExchangeHop{Pool: e.pools[1-of].address})
		value, caused = swapValue(2), 12
	}
	payload := contracts.CommentBody("swap these")
	if route != nil {
		payload = s.swapOrder(p, route).Payload()
	}
	return s.send(caused, p, s.giveJettons(p, from, amount, value, payload))
}

// giveJettons is a transfer to the vault of an asset.
func (s *step) giveJettons(p *person, a *asset, amount, value *big.Int, payload *cell.Cell) contracts.Message {
	return pay(a.jetton.walletOf(p.address), new(big.Int).Add(value, ton(0.1)), contracts.JettonTransferBody(contracts.JettonTransfer{
		QueryID: s.query(), Amount: amount, Destination: a.vault, Response: p.address, ForwardValue: value, ForwardPayload: payload,
	}))
}

// half is one side of a deposit.
func (s *step) half(p *person, of *tradedPool, side int, amounts [2]*big.Int, least *big.Int) contracts.Message {
	order := contracts.ExchangeDeposit{QueryID: s.query(), Pool: of.is, Targets: amounts, MinLP: least}
	value := big.NewInt(contracts.ExchangeDepositValue)
	if a := of.assets[side]; a.jetton != nil {
		return s.giveJettons(p, a, amounts[side], value, order.Payload())
	}
	order.Amount = amounts[side]
	return pay(of.assets[side].vault, value.Add(value, order.Amount), order.Body())
}

// halfCauses is how many transactions half a deposit causes, behind the provider's own.
func (a *asset) halfCauses() int {
	if a.jetton != nil {
		return 7
	}
	return 4
}

// provide brings both halves of a deposit at once.
func (s *step) provide(p *person, of *tradedPool, amounts [2]*big.Int, least *big.Int) int {
	caused := 1 + of.assets[0].halfCauses() + of.assets[1].halfCauses() + 6
	return s.send(caused, p, s.half(p, of, 0, amounts, least), s.half(p, of, 1, amounts, least))
}

// provider is a user who may bring liquidity to a pool; amounts are what he can
// bring, in its proportion.
func (s *step) provider(of *tradedPool, r reserves) (*person, [2]*big.Int) {
	var amounts [2]*big.Int
	p := oneOf(s.chance, s.users[:min(len(s.users), providers)])
	if !s.free(p, 40) {
		return nil, amounts
	}
	amounts[0] = coins(s.chance, 0.5, 20)
	if of.assets[0].jetton != nil {
		amounts[0] = s.lot(r.of[0])
	}
	amounts[1] = new(big.Int).Mul(amounts[0], r.of[1])
	amounts[1].Div(amounts[1], r.of[0]).Add(amounts[1], big.NewInt(1))
	for side, a := range of.assets {
		if a.jetton != nil && s.jettonsOf(a.jetton, p.address).Cmp(amounts[side]) < 0 {
			return nil, amounts
		}
	}
	return p, amounts
}

// bringLiquidity brings both assets to a pool, or only one of them; what a provider
// began some time ago is completed or cancelled.
func (s *step) bringLiquidity() int {
	of, r := s.traded()
	if of == nil {
		return 0
	}
	p, amounts := s.provider(of, r)
	if p == nil {
		return 0
	}
	deposit := of.is.Deposit(p.address)
	if data := s.data(deposit); data != nil {
		return s.endDeposit(p, of, deposit, data)
	}
	switch s.chance.IntN(8) {
	case 0, 1:
		side := s.chance.IntN(2)
		return s.send(1+of.assets[side].halfCauses(), p, s.half(p, of, side, amounts, nil))
	case 2: // more shares than there are
		back := 0
		for _, a := range of.assets {
			if back += 2; a.jetton != nil {
				back += 3
			}
		}
		least := new(big.Int).Lsh(r.supply, 1)
		caused := 1 + of.assets[0].halfCauses() + of.assets[1].halfCauses() + 3 + back
		return s.send(caused, p, s.half(p, of, 0, amounts, least), s.half(p, of, 1, amounts, least))
	}
	return s.provide(p, of, amounts, nil)
}

// endDeposit brings what a deposit lacks, or cancels it.
func (s *step) endDeposit(p *person, of *tradedPool, deposit *address.Address, data *toncell.Reader) int {
	data.Ref() // proof
	data.Ref() // the blank code
	asked := data.Bit()
	have := [2]*big.Int{data.Coins(), data.Coins()}
	rules := toncell.NewReader(data.Ref())
	rules.Coins() // the least number of shares
	want := [2]*big.Int{rules.Coins(), rules.Coins()}
	if data.Fail(rules.Err()); s.fail(data.Err()) || asked {
		return 0
	}
	missing := 0
	if have[0].Sign() > 0 {
		missing = 1
	}
	there := of.assets[1-missing]
	if a := of.assets[missing]; s.chance.IntN(2) == 0 && (a.jetton == nil || s.jettonsOf(a.jetton, p.address).Cmp(want[missing]) >= 0) {
		return s.send(1+a.halfCauses()+8, p, s.half(p, of, missing, want, nil))
	}
	caused := 5
	if there.jetton != nil {
		caused = 8
	}
	return s.send(caused, p, pay(deposit, ton(0.15), contracts.ExchangeCancelBody(s.query())))
}

// takeLiquidity burns shares of a pool.
func (s *step) takeLiquidity() int {
	of, _ := s.traded()
	if of == nil {
		return 0
	}
	for range 8 {
		p := oneOf(s.chance, s.users[:min(len(s.users), providers)])
		if !s.free(p, 2) {
			continue
		}
		wallet := of.is.Share(p.address)
		data := s.data(wallet)
		if data == nil {
			continue
		}
		shares := data.Coins()
		if s.fail(data.Err()) || shares.Sign() == 0 {
			continue
		}
		caused := 5
		for _, a := range of.assets {
			if caused++; a.jetton != nil {
				caused += 3
			}
		}
		burnt := percent(shares, int64(10+s.chance.IntN(91)))
		if burnt.Sign() == 0 {
			burnt = shares
		}
		return s.send(caused, p, pay(wallet, ton(0.4), contracts.JettonBurnBody(s.query(), burnt, p.address)))
	}
	return 0
}

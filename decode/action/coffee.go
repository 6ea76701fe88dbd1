package action

import "math/big"

// Opcodes of Swap Coffee.
const (
	opCoffeeSwap            = 0xc0ffee00 // of a trader to the vault of toncoins
	opCoffeeSwapExtra       = 0xc0ffee01 // of a trader to a vault of an extra currency
	opCoffeeCreatePool      = 0xc0ffee02
	opCoffeeCreatePoolExtra = 0xc0ffee03
	opCoffeeDeposit         = 0xc0ffee04
	opCoffeeDepositExtra    = 0xc0ffee05
	opCoffeeCreateVault     = 0xc0ffee06 // to the factory
	opCoffeeSwapInternal    = 0xc0ffee20 // of a vault or a pool to a pool
	opCoffeePayoutInternal  = 0xc0ffee21 // of a pool to a vault
	opCoffeeDeploy          = 0xc0ffee22 // of the factory to what it deploys
	opCoffeeRequestCreator  = 0xc0ffee23 // of a vault to the factory
	opCoffeeRequestPool     = 0xc0ffee25 // of a pool creator to the factory
	opCoffeeRequestDeposit  = 0xc0ffee27 // of a vault to the factory
	opCoffeeDepositInternal = 0xc0ffee29 // of a liquidity depository to a pool
	opCoffeeSwapEvent       = 0xc0ffee30
	opCoffeeSwapFailedEvent = 0xc0ffee31
	opCoffeePayout          = 0xc0ffee32 // of a vault to a receiver of toncoins
	opCoffeeDepositEvent    = 0xc0ffee33
	opCoffeeDepositFailed   = 0xc0ffee34
	opCoffeeWithdrawalEvent = 0xc0ffee35
	opCoffeeNotification    = 0xc0ffee36
	opCoffeePoolStep        = 0xb216d31f // of who is notified of a new pool; an event too

	opCoffeeMevHold    = 0x6bc79e7e
	opCoffeeMevFailed  = 0xee51ce51
	opCoffeeServiceFee = 0xc0ffeea0

	opProvideWalletAddress = 0x2c76b973 // TEP-89
	opTakeWalletAddress    = 0xd1735400
)

var (
	coffeeVaultCreation   = NewType[coffeeVault]("coffee_create_vault", V2, "coffee")
	coffeeCreatorCreation = NewType[coffeeCreator]("coffee_create_pool_creator", V2, "coffee")
	coffeePoolCreation    = NewType[coffeePool]("coffee_create_pool", V2, "coffee")
	coffeeMevHold         = NewType[coffeeHeld]("coffee_mev_protect_hold_funds", V2, "coffee")
	coffeeMevFailed       = NewType[struct{}]("coffee_mev_protect_failed_swap", V2)
)

type coffeeVault struct {
	Source Address `detail:"source,account"`
	Vault  Address `detail:"vault,account"`
	Asset  Address `detail:"asset"`
	Value  uint64  `detail:"value"`
}

// coffeeCreator is the first half of a pool. The asset that was provided comes
// first of the two.
type coffeeCreator struct {
	Source              Address  `detail:"source,account"`
	SourceJettonWallet  Address  `detail:"source_jetton_wallet,account"`
	DepositRecipient    Address  `detail:"deposit_recipient,account"`
	PoolCreatorContract Address  `detail:"pool_creator_contract,account"`
	ProvidedAsset       Address  `detail:"provided_asset"`
	Asset1              Address  `detail:"asset_1"`
	Asset2              Address  `detail:"asset_2"`
	Amount              *big.Int `detail:"amount"`

	// Side is that of the asset among those of the pool, 0 or 1.
	Side int
}

type coffeePool struct {
	Source              Address  `detail:"source,account"`
	SourceJettonWallet  Address  `detail:"source_jetton_wallet,account"`
	Initiator1          Address  `detail:"initiator_1,account"`
	Initiator2          Address  `detail:"initiator_2,account"`
	Pool                Address  `detail:"pool,account"`
	PoolCreatorContract Address  `detail:"pool_creator_contract,account"`
	ProvidedAsset       Address  `detail:"provided_asset"`
	Amount              *big.Int `detail:"amount"`
	Asset1              Address  `detail:"asset_1"`
	Asset2              Address  `detail:"asset_2"`
	Amount1             *big.Int `detail:"amount_1"`
	Amount2             *big.Int `detail:"amount_2"`
	LPTokensMinted      *big.Int `detail:"lp_tokens_minted"`
}

type coffeeHeld struct {
	Source                  Address  `detail:"source,account"`
	SourceJettonWallet      Address  `detail:"source_jetton_wallet,account"`
	MevContract             Address  `detail:"mev_contract,account"`
	MevContractJettonWallet Address  `detail:"mev_contract_jetton_wallet,account"`
	Asset                   Address  `detail:"asset"`
	Amount                  *big.Int `detail:"amount"`
}

// coffee is Swap Coffee: a vault for each asset, which is the only one to hold it,
// pools that only count, and a protector of swaps.
var coffee = &Protocol{
	Name:  "coffee",
	Types: []typed{coffeeVaultCreation, coffeeCreatorCreation, coffeePoolCreation, coffeeMevHold, coffeeMevFailed},
	Rules: []Rule{
		{
			Name:  "deposit of liquidity at Swap Coffee",
			Order: orderCoffeeDeposit,
			Block: "coffee_deposit_liquidity",
			Pattern: Call(opCoffeeRequestDeposit).As("request").With(
				Call(opCoffeeDeploy).As("deploy").With(
					Call(opCoffeeDepositInternal).As("deposit").With(
						Log(opCoffeeDepositEvent).As("event").Maybe(),
						Log(opCoffeeDepositFailed).Maybe(),
						Call(opJettonInternalTransfer).As("lp").With(notified()).Maybe(),
						Call(opCoffeeNotification).Maybe(),
						coffeePaid().Every().Maybe(),
					).Maybe(),
					coffeePaid().Every().Maybe(), // of what the depository has already
				),
			).Below(coffeeGot(opCoffeeDeposit, opCoffeeDepositExtra)),
			Make: makeCoffeeDeposit,
		},
		{
			Name:    "swap at Swap Coffee",
			Order:   orderCoffeeSwap,
			Pattern: coffeeHop().Below(OneOf(given(), Call(opCoffeeSwap, opCoffeeSwapExtra), givenUnknown()).As("in")),
			Make:    makeCoffeeSwap,
		},
		{
			Name:  "withdrawal of liquidity from Swap Coffee",
			Order: orderCoffeeWithdrawal,
			Pattern: OneOf(
				Is(jettonBurn).With(Log(opCoffeeWithdrawalEvent), coffeePaid().Every()),
				Call(opJettonBurn).With(Call(opJettonBurnNotification).As("notice").With(Log(opCoffeeWithdrawalEvent), coffeePaid().Every())),
			).As("burn"),
			Make: makeCoffeeWithdrawal,
		},
		{
			Name:  "creation of a vault of Swap Coffee",
			Order: orderCoffeeCreateVault,
			Pattern: Call(opCoffeeCreateVault).As("create").With(
				Call(opCoffeeDeploy).As("deploy").With(
					Call(opProvideWalletAddress).With(Call(opTakeWalletAddress).Maybe()).Maybe(),
				),
			),
			Make: makeCoffeeVault,
		},
		{
			Name:  "first half of a pool of Swap Coffee",
			Order: orderCoffeeCreatePoolCreator,
			Pattern: Call(opCoffeeRequestCreator).As("request").With(
				Call(opCoffeeDeploy).As("deploy").With(coffeePaid().Every().Maybe()), // of what it has already
			).Below(coffeeGot(opCoffeeCreatePool, opCoffeeCreatePoolExtra)),
			Make: makeCoffeeCreator,
		},
		{
			Name:  "creation of a pool of Swap Coffee",
			Order: orderCoffeeCreatePool,
			Pattern: Is(coffeeCreatorCreation).As("creator").With(
				Call(opCoffeeRequestPool).As("request").With(
					Call(opCoffeeDeploy).As("deploy").With(
						Log(opCoffeeDepositEvent).As("event").Maybe(),
						Call(opJettonInternalTransfer).As("lp").With(notified()).Maybe(),
						Call(opCoffeeNotification).With(OneOf(Call(opCoffeePoolStep), Log(opCoffeePoolStep)).Maybe()).Maybe(),
						coffeePaid().Every().Maybe(),
					),
				),
			),
			Make: makeCoffeePool,
		},
		{
			Name:    "funds held for a protected swap of Swap Coffee",
			Order:   orderCoffeeMevHold,
			Pattern: OneOf(Call(opCoffeeMevHold), Is(jettonTransfer).Carrying(opCoffeeMevHold)),
			Make:    makeCoffeeHeld,
		},
		{
			Name:    "failure of a protected swap of Swap Coffee",
			Order:   orderCoffeeMevFailed,
			Pattern: OneOf(Call(opCoffeeMevFailed), Is(jettonTransfer).Carrying(opCoffeeMevFailed)),
			Make: func(m *Match) *Made {
				return coffeeMevFailed.Make(&struct{}{}).Fails(m.Block.kind == kindMade && m.Block.Failed || returned(m.Block))
			},
		},
	},
}

// coffeeGot is how assets come to a vault: as a transfer of jettons, or with an
// order.
func coffeeGot(orders ...uint32) *Pattern { return OneOf(given(), Call(orders...)).As("in") }

// coffeePaid is what a vault pays when it is told to, and whom it tells of that. Toncoins
// come with the notification where that goes to their receiver.
func coffeePaid() *Pattern {
	return Call(opCoffeePayoutInternal).As("payout").With(
		OneOf(delivered(), passedOn(), Call(opCoffeePayout)).As("out").Maybe(),
		Call(opCoffeeNotification).As("told").Maybe(),
	)
}

// coffeeHop is a swap at one pool, and those that follow.
func coffeeHop() *Pattern {
	return Call(opCoffeeSwapInternal).As("hop").With(
		Log(opCoffeeSwapEvent).As("event").Maybe(),
		Log(opCoffeeSwapFailedEvent).Maybe(),
		OneOf(Again(coffeeHop), coffeePaid()),
	)
}

// coffeeAsset reads an asset, nil for toncoins and extra currencies.
func (r *Reader) coffeeAsset() Address {
	switch r.Uint(2) {
	case 0:
	case 1:
		return r.account(int32(int8(r.Uint(8))))
	case 2:
		r.Skip(32)
	default:
		r.FailTag()
	}
	return nil
}

// coffeeSides reads the assets of a pool.
func (r *Reader) coffeeSides() (assets [2]Address) {
	return [2]Address{r.coffeeAsset(), r.coffeeAsset()}
}

// coffeeIn is what came to a vault: the request says how much of it was meant.
func (m *Match) coffeeIn(amount *big.Int) (in *dexTransfer, failed bool) {
	b := m.One("in")
	if b.kind == kindMade {
		return m.came(b)
	}
	if transfer := m.One("transfer"); transfer != nil { // its asset is to be found elsewhere
		return notifiedTransfer(transfer, b), b.Aborted()
	}
	return &dexTransfer{Source: b.Source(), Destination: b.Destination(), Amount: amount}, b.Aborted() || b.lacks(amount)
}

// coffeePayment is what a vault was told to pay.
type coffeePayment struct {
	block  *Block
	to     Address
	amount *big.Int
	assets [2]Address // of the pool
	known  bool       // the pool proved which it has
}

func readCoffeePayment(b *Block) (p coffeePayment, ok bool) {
	r := b.Body()
	r.Skip(64) // query_id
	p = coffeePayment{block: b, to: r.Address(), amount: r.Coins()}
	if r.Bool() {
		r.Ref() // notification_data
	}
	if proof, there := r.MaybeOpen(); there {
		proof.Address() // factory
		proof.Skip(2)   // contract type
		p.assets = proof.coffeeSides()
		p.known = !proof.Failed()
	}
	return p, !r.Failed()
}

// other is the asset that the pool gives for one.
func (p *coffeePayment) other(asset Address) Address {
	if same(asset, p.assets[0]) {
		return p.assets[1]
	}
	return p.assets[0]
}

// coffeeOut is what a vault paid, nil where nothing shows it. Its asset is known unless
// the vault has jettons of which nothing else is known.
func (m *Match) coffeeOut(p coffeePayment) (out *dexTransfer, known, failed bool) {
	for _, c := range m.All("out") {
		switch {
		case c.Parent != p.block:
		case c.IsCall(opCoffeePayout):
			return &dexTransfer{Source: p.block.Source(), Destination: c.Destination(), Amount: p.amount}, true, returned(c) || c.lacks(p.amount)
		default:
			return m.moved(c)
		}
	}
	for _, c := range m.All("told") {
		if c.Parent == p.block { // with the toncoins for what is to be done
			return &dexTransfer{Source: c.Source(), Destination: c.Destination(), Amount: new(big.Int).SetUint64(c.Value())}, true, returned(c)
		}
	}
	return nil, false, unpaid(p.block)
}

// coffeeEvent is what a pool says of a swap.
type coffeeEvent struct {
	asset   Address
	in, out *big.Int
}

func readCoffeeEvent(b *Block) (e coffeeEvent, ok bool) {
	r := b.Body()
	r.Skip(64) // query_id
	e.asset = r.coffeeAsset()
	e.in, e.out = r.Coins(), r.Coins()
	return e, !r.Failed()
}

func makeCoffeeSwap(m *Match) *Made {
	hops := m.All("hop")
	r := hops[0].Body()
	r.Skip(64) // query_id
	in, failed := m.coffeeIn(r.Coins())
	pay, ok := readCoffeePayment(m.One("payout"))
	if in == nil || !ok || r.Failed() {
		return nil
	}
	events := m.All("event")
	var peers []peerSwap
	for _, hop := range hops {
		if failed = failed || hop.Aborted(); len(events) == 0 || events[0].Parent != hop {
			failed = true
			continue
		}
		e, ok := readCoffeeEvent(events[0])
		if !ok {
			return nil
		}
		events = events[1:]
		if len(peers) > 0 {
			peers[len(peers)-1].AssetOut = e.asset
		}
		peers = append(peers, peerSwap{AssetIn: e.asset, AmountIn: e.in, AmountOut: e.out})
	}
	if m.One("transfer") != nil {
		if len(peers) == 0 {
			return nil
		}
		if in.Asset = peers[0].AssetIn; !m.mayName(in.Asset) {
			return nil
		}
	}
	out, known, lost := m.coffeeOut(pay)
	paid := out != nil
	if !paid {
		out = &dexTransfer{Source: pay.block.Destination(), Destination: pay.to, Amount: pay.amount}
	}
	switch {
	case known:
	case len(peers) == len(hops) && pay.known:
		out.Asset = pay.other(peers[len(peers)-1].AssetIn)
	case len(peers) == 0 && same(out.Source, in.Destination): // it is the vault that it came to
		out.Asset = in.Asset
	default:
		return nil
	}
	if paid && !known && !m.mayName(out.Asset) {
		return nil
	}
	if len(peers) > 0 { // also where the next pool refused, and gave back what this one had given
		peers[len(peers)-1].AssetOut = out.Asset
	}
	s := swapOf("coffee", in, out, peers)
	if len(peers) < len(hops) && pay.known {
		s.AssetOut = pay.other(out.Asset)
	}
	return jettonSwap.Make(s).Fails(failed || lost || m.Aborted("payout"))
}

func makeCoffeeDeposit(m *Match) *Made {
	request := m.Block
	r := request.Body()
	r.Skip(64) // query_id
	in, failed := m.coffeeIn(r.Coins())
	r.Ref() // what the provider wants
	params := r.Open()
	assets := params.coffeeSides()
	if in == nil || r.Failed() || params.Failed() {
		return nil
	}
	d := &liquidityDeposit{Dex: "coffee", Source: in.Source}
	side := 0
	if !same(in.Asset, assets[0]) {
		side = 1
	}
	d.set(side, in)
	d.TargetAsset1, d.TargetAsset2 = assets[side], assets[1-side]
	failed = failed || m.Aborted("request", "deploy")
	if deposit := m.One("deposit"); deposit != nil {
		d.Pool, d.DestinationLiquidity = deposit.Destination(), deposit.Destination()
		if lp := m.One("lp"); lp != nil {
			if t, ok := readInternalTransfer(lp); ok {
				d.LPTokensMinted = t.Amount
			}
		}
		failed = failed || d.LPTokensMinted == nil || m.Aborted("deposit", "lp")
	}
	for _, b := range m.All("payout") {
		failed = failed || b.Parent == m.One("deploy")
		p, ok := readCoffeePayment(b)
		if !ok {
			return nil
		}
		if out, known, lost := m.coffeeOut(p); known && !lost {
			d.VaultExcesses = append(d.VaultExcesses, m.excessOf(b, out))
		}
	}
	return dexDeposit.Make(d).Fails(failed)
}

func makeCoffeeWithdrawal(m *Match) *Made {
	r := m.Block.First().Body()
	r.Skip(64) // query_id
	w := &liquidityWithdrawal{Dex: "coffee", Source: m.Block.First().Source(), LPTokensBurnt: r.Coins()}
	if r.Failed() {
		return nil
	}
	payouts := m.All("payout") // of both assets, one of which may be under way
	failed := len(payouts) < 2 || m.Aborted("burn", "notice", "payout")
	for i, b := range payouts {
		p, ok := readCoffeePayment(b)
		if !ok || i > 1 {
			return nil
		}
		w.Pool, w.DestinationLiquidity = b.Source(), b.Source()
		out, known, lost := m.coffeeOut(p)
		failed = failed || lost
		side := i
		switch {
		case out == nil:
			continue
		case known && p.known && same(out.Asset, p.assets[1-i]):
			side = 1 - i
		case known:
		case p.known: // a pool orders its first asset first
			out.Asset = p.assets[i]
		default:
			continue
		}
		w.set(side, out)
	}
	return dexWithdrawal.Make(w).Fails(failed)
}

func makeCoffeeVault(m *Match) *Made {
	create := m.Block
	r := create.Body()
	r.Skip(64) // query_id
	v := &coffeeVault{Source: create.Source(), Vault: m.One("deploy").Destination(), Asset: r.coffeeAsset(), Value: create.Value()}
	if r.Failed() {
		return nil
	}
	return coffeeVaultCreation.Make(v).Fails(m.Aborted("create", "deploy"))
}

func makeCoffeeCreator(m *Match) *Made {
	r := m.Block.Body()
	r.Skip(64) // query_id
	in, failed := m.coffeeIn(r.Coins())
	assets := r.coffeeSides()
	r.Skip(3) // amm
	if r.Bool() {
		r.Ref() // amm_settings
	}
	creation := r.Open()
	recipient := creation.Address()
	if in == nil || r.Failed() || creation.Failed() {
		return nil
	}
	c := &coffeeCreator{Source: in.Source, SourceJettonWallet: in.SourceJettonWallet, DepositRecipient: recipient,
		PoolCreatorContract: m.One("deploy").Destination(), ProvidedAsset: in.Asset, Amount: in.Amount}
	if !same(in.Asset, assets[0]) {
		c.Side = 1
	}
	c.Asset1, c.Asset2 = assets[c.Side], assets[1-c.Side]
	return coffeeCreatorCreation.Make(c).Fails(failed || m.One("payout") != nil || m.Aborted("request", "deploy"))
}

func makeCoffeePool(m *Match) *Made {
	c := coffeeCreatorCreation.Of(m.Block)
	r := m.One("request").Body()
	r.Skip(64) // query_id
	amounts := [2]*big.Int{r.Coins(), r.Coins()}
	p := &coffeePool{Source: c.Source, SourceJettonWallet: c.SourceJettonWallet, Pool: m.One("deploy").Destination(),
		PoolCreatorContract: c.PoolCreatorContract, ProvidedAsset: c.ProvidedAsset, Amount: c.Amount, Asset1: c.Asset1, Asset2: c.Asset2,
		Amount1: amounts[c.Side], Amount2: amounts[1-c.Side], Initiator1: r.Address()}
	r.Ref() // creation_params
	proof := r.Open()
	proof.Address() // factory
	proof.Skip(2)   // contract type
	p.Initiator2 = proof.Address()
	if r.Failed() || proof.Failed() {
		return nil
	}
	if lp := m.One("lp"); lp != nil {
		if t, ok := readInternalTransfer(lp); ok {
			p.LPTokensMinted = t.Amount
		}
	}
	return coffeePoolCreation.Make(p).Fails(p.LPTokensMinted == nil || m.Aborted("creator", "request", "deploy", "lp"))
}

func makeCoffeeHeld(m *Match) *Made {
	b := m.Block
	if t := jettonTransfer.Of(b); t != nil {
		return coffeeMevHold.Make(&coffeeHeld{Source: t.Sender, SourceJettonWallet: t.SenderJettonWallet, MevContract: t.Receiver,
			MevContractJettonWallet: t.ReceiverJettonWallet, Asset: t.Asset, Amount: t.Amount}).Fails(b.Failed).Consumes(coffeeFee(b)...)
	}
	return coffeeMevHold.Make(&coffeeHeld{Source: b.Source(), MevContract: b.Destination(), Amount: new(big.Int).SetUint64(b.Value())}).
		Consumes(coffeeFee(b)...)
}

// coffeeFee is the fee of a service that was paid beside a message: the next one behind
// it, of several.
func coffeeFee(b *Block) (fee []*Block) {
	if b.Parent == nil {
		return nil
	}
	for _, c := range b.Parent.Children {
		if !c.IsCall(opCoffeeServiceFee) {
			continue
		}
		if fee = []*Block{c}; c.sent() > b.First().sent() {
			break
		}
	}
	return fee
}

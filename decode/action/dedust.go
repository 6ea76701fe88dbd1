package action

import "math/big"

// Opcodes of DeDust.
const (
	opDedustSwap              = 0xea06185d // of a trader to the vault of toncoins
	opDedustSwapJettons       = 0xe3a0d482 // of a payload
	opDedustSwapExternal      = 0x61ee542d // of a vault to a pool
	opDedustSwapPeer          = 0x72aca8aa // of a pool to the next one
	opDedustPayOutFromPool    = 0xad4eb6f5 // of a pool to a vault
	opDedustPayOutFromDeposit = 0x6b0b787f // of a deposit to a vault
	opDedustPayout            = 0x474f86cf // of the vault of toncoins
	opDedustDeposit           = 0xd55e4686 // of a provider to the vault of toncoins
	opDedustDepositJettons    = 0x40e108d6 // of a payload
	opDedustCreateDeposit     = 0xf04ec526 // of a vault to the factory
	opDedustInstall           = 0x9b3aa3fa // of the factory to what it deploys
	opDedustDepositAsset      = 0x54240fe5 // of the factory to a deposit
	opDedustDepositAll        = 0xb56b9598 // of a deposit to its pool
	opDedustFulfillDeposit    = 0xaae79256 // of a pool to a deposit
	opDedustRejectDeposit     = 0xe1a36cd4 // of a pool to a deposit
	opDedustDepositEvent      = 0xb544f4a4
	opDedustWithdrawalEvent   = 0x3aa870a6
	opDedustSwapEvent         = 0x9c610de3
)

// dedust is DeDust: a vault for each asset, which is the only one to hold it, and
// pools that only count.
var dedust = &Protocol{
	Name: "dedust",
	Rules: []Rule{
		{
			Name:  "deposit of liquidity at DeDust",
			Order: orderDedustDeposit,
			Block: "dedust_deposit_liquidity",
			Pattern: Call(opDedustCreateDeposit).As("create").With(
				Call(opDedustInstall).As("install").Maybe(),
				Call(opDedustDepositAsset).As("asset").With(
					Call(opDedustDepositAll).As("all").With(
						Log(opDedustDepositEvent).Maybe(),
						Call(opJettonInternalTransfer).As("lp").With(notified()).Maybe(),
						OneOf(Call(opDedustFulfillDeposit), Call(opDedustRejectDeposit)).As("end").With(
							dedustPaid(opDedustPayOutFromDeposit).Every().Maybe(),
							Plain().As("rest").Maybe(),
						).Maybe(),
					),
				),
			).Below(dedustGiven(opDedustDeposit)),
			Make: makeDedustDeposit,
		},
		{
			Name:  "first half of a deposit of liquidity at DeDust",
			Order: orderDedustFirstDeposit,
			Block: "dedust_deposit_liquidity_partial",
			Pattern: Call(opDedustCreateDeposit).As("create").With(
				Call(opDedustInstall).As("install").Maybe(),
				Call(opDedustDepositAsset).As("asset"),
			).Below(dedustGiven(opDedustDeposit)),
			Make: makeDedustDeposit,
		},
		{
			Name:    "both halves of a deposit of liquidity at DeDust",
			Order:   orderDedustDepositMerge,
			Block:   "dedust_deposit_liquidity",
			Pattern: Is(dexDeposit).Where(endsDedustDeposit),
			Make:    mergeDedustDeposits,
		},
		{
			Name:  "withdrawal of liquidity from DeDust",
			Order: orderDedustWithdrawal,
			Pattern: Call(opJettonBurn).As("burn").With(
				Call(opJettonBurnNotification).As("notice").With(
					Log(opDedustWithdrawalEvent).As("event").Maybe(),
					dedustPaid(opDedustPayOutFromPool).Every(),
				),
			),
			Make: makeDedustWithdrawal,
		},
		{
			Name:    "swap at DeDust",
			Order:   orderDedustSwap,
			Pattern: dedustHop(opDedustSwapExternal).Below(dedustGiven(opDedustSwap)),
			Make:    makeDedustSwap,
		},
	},
}

// dedustGiven is how an asset comes to a vault: as a transfer of jettons, or as toncoins
// with an order. The vault knows its jettons also where nothing else is known of them.
func dedustGiven(order uint32) *Pattern {
	return OneOf(given(), Call(order), givenUnknown()).As("in")
}

// dedustPaid is what a vault pays when it is told to.
func dedustPaid(order uint32) *Pattern {
	return Call(order).As("payout").With(OneOf(delivered(), passedOn(), Call(opDedustPayout)).As("out").Maybe())
}

// dedustHop is a swap at one pool, and those that follow.
func dedustHop(opcode uint32) *Pattern {
	return Call(opcode).As("hop").With(
		Log(opDedustSwapEvent).As("event").Maybe(),
		OneOf(Again(nextDedustHop), dedustPaid(opDedustPayOutFromPool)),
	)
}

func nextDedustHop() *Pattern { return dedustHop(opDedustSwapPeer) }

// dedustAsset reads an asset, nil for toncoins.
func (r *Reader) dedustAsset() Address {
	switch r.Uint(4) {
	case 0:
		return nil
	case 1:
		return r.account(int32(int8(r.Uint(8))))
	}
	r.FailTag()
	return nil
}

// dedustGave is what came to a vault: of toncoins the amount that the order names.
func (m *Match) dedustGave(b *Block) (in *dexTransfer, failed bool) {
	switch {
	case b.kind == kindMade:
		return m.came(b)
	case b.IsCall(opJettonNotify):
		return m.dedustTold(m.One("transfer")), false
	}
	return namedToncoins(b)
}

// dedustTold is what a vault got by a transfer of jettons that are not known: the vault
// says what it was.
func (m *Match) dedustTold(transfer *Block) *dexTransfer {
	in := notifiedTransfer(transfer, m.One("in"))
	if in == nil {
		return nil
	}
	var ok bool
	if m.Block.IsCall(opDedustSwapExternal) {
		in.Asset, in.Amount, ok = readDedustGiven(m.Block)
	} else {
		var order dedustOrder
		order, ok = readDedustOrder(m.Block)
		in.Asset, in.Amount = order.asset, order.amount
	}
	if !ok || !m.mayName(in.Asset) {
		return nil
	}
	return in
}

// readDedustGiven reads what a vault, which proves itself with its asset, tells a pool
// that it got.
func readDedustGiven(b *Block) (asset Address, amount *big.Int, ok bool) {
	r := b.Body()
	r.Skip(64) // query_id
	proof := r.Open()
	proof.Address() // factory_addr
	proof.Skip(8)   // contract_type
	asset, amount = proof.dedustAsset(), r.Coins()
	return asset, amount, !proof.Failed() && !r.Failed()
}

// dedustOrder is what a vault tells of one half of a deposit: what is to come to the
// pool, and what came.
type dedustOrder struct {
	assets  [2]Address
	targets [2]*big.Int
	asset   Address
	amount  *big.Int
}

func readDedustOrder(b *Block) (o dedustOrder, ok bool) {
	r := b.Body()
	r.Skip(64)  // query_id
	r.Ref()     // proof
	r.Address() // owner_addr
	r.Skip(1)   // is_stable
	o.assets[0], o.assets[1] = r.dedustAsset(), r.dedustAsset()
	r = r.Open()
	o.targets[0], o.targets[1] = r.Coins(), r.Coins()
	o.asset, o.amount = r.dedustAsset(), r.Coins()
	return o, !r.Failed()
}

// dedustPayment is what a vault was told to pay.
type dedustPayment struct {
	block  *Block
	amount *big.Int
	to     Address
}

func readDedustPayment(b *Block) (p dedustPayment, ok bool) {
	r := b.Body()
	r.Skip(64) // query_id
	r.Ref()    // proof
	p = dedustPayment{block: b, amount: r.Coins()}
	if b.IsCall(opDedustPayOutFromPool) {
		p.to = r.Address()
	}
	return p, !r.Failed()
}

// dedustOut is what a vault paid, nil where nothing shows it. Its asset is known unless
// the vault has jettons of which nothing else is known.
func (m *Match) dedustOut(p dedustPayment) (out *dexTransfer, known, failed bool) {
	for _, c := range m.All("out") {
		switch {
		case c.Parent != p.block:
		case c.IsCall(opDedustPayout):
			return &dexTransfer{Source: c.Source(), Destination: c.Destination(), Amount: p.amount}, true, returned(c) || c.lacks(p.amount)
		default:
			return m.moved(c)
		}
	}
	return nil, false, unpaid(p.block)
}

// dedustEvent is what a pool says of a swap.
type dedustEvent struct {
	assets  [2]Address // in and out
	amounts [2]*big.Int
}

func readDedustEvent(b *Block) (e dedustEvent, ok bool) {
	r := b.Body()
	e.assets[0], e.assets[1] = r.dedustAsset(), r.dedustAsset()
	e.amounts[0], e.amounts[1] = r.Coins(), r.Coins()
	return e, !r.Failed()
}

func makeDedustSwap(m *Match) *Made {
	in, failed := m.dedustGave(m.One("in"))
	pay, ok := readDedustPayment(m.One("payout"))
	if in == nil || !ok {
		return nil
	}
	events := m.All("event")
	var peers []peerSwap
	var last *dedustEvent
	for _, hop := range m.All("hop") {
		if failed = failed || hop.Aborted(); len(events) == 0 || events[0].Parent != hop {
			last, failed = nil, true
			continue
		}
		e, ok := readDedustEvent(events[0])
		if !ok {
			return nil
		}
		peers = append(peers, peerSwap{e.assets[0], e.amounts[0], e.assets[1], e.amounts[1]})
		last, events = &e, events[1:]
	}
	out, known, lost := m.dedustOut(pay)
	paid := out != nil
	if !paid {
		out = &dexTransfer{Source: pay.block.Destination(), Destination: pay.to, Amount: pay.amount}
	}
	switch {
	case known:
	case last != nil:
		out.Asset = last.assets[1]
	case same(out.Source, in.Destination): // it is the vault that it came to
		out.Asset = in.Asset
	default:
		return nil
	}
	if paid && !known && !m.mayName(out.Asset) {
		return nil
	}
	failed = failed || lost || m.Aborted("payout")
	s := swapOf("dedust", in, out, peers)
	if failed {
		if asked, known := m.dedustAsked(in.Asset); known {
			s.AssetOut = asked
		}
	}
	return jettonSwap.Make(s).Fails(failed)
}

// dedustPool is what a pool exchanges, by what it proves itself with in the messages
// that were found, or by what is known of it.
func (m *Match) dedustPool(pool Address) (assets [2]Address, known bool) {
	for _, f := range m.found {
		if !f.block.IsCall(opDedustSwapPeer, opDedustPayOutFromPool) || !same(f.block.Source(), pool) {
			continue
		}
		r := f.block.Body()
		r.Skip(64) // query_id
		r = r.Open()
		r.Address() // factory_addr
		r.Skip(8)   // contract_type
		r.Skip(1)   // is_stable
		if proved := [2]Address{r.dedustAsset(), r.dedustAsset()}; !r.Failed() {
			return proved, true
		}
	}
	list := m.Contract(pool).GetDedustPool().GetAssets()
	if len(list) != 2 {
		return assets, false
	}
	for i, asset := range list {
		if len(asset) > 0 { // empty for toncoins
			assets[i] = asset
		}
	}
	return assets, true
}

// dedustAsked is the asset that a route through pools leads to from another one,
// false where one of the pools is not known.
func (m *Match) dedustAsked(from Address) (Address, bool) {
	first := m.One("hop")
	pool := first.Destination()
	r := first.Body()
	r.Skip(64)  // query_id
	r.Ref()     // proof
	r.Coins()   // amount
	r.Address() // sender_addr
	for range maxRoute {
		assets, known := m.dedustPool(pool)
		switch {
		case known && same(assets[0], from):
			from = assets[1]
		case known && same(assets[1], from):
			from = assets[0]
		default:
			return nil, false
		}
		r.Bool()  // kind
		r.Coins() // limit
		next, more := r.MaybeOpen()
		if r.Failed() {
			return nil, false
		}
		if !more {
			return from, true
		}
		r, pool = next, next.Address()
	}
	return nil, false
}

func makeDedustDeposit(m *Match) *Made {
	in, failed := m.dedustGave(m.One("in"))
	if in == nil {
		return nil
	}
	d := &liquidityDeposit{Dex: "dedust", Source: in.Source, DestinationLiquidity: m.One("asset").Destination()}
	d.set(0, in)
	if !d.dedustTargets(m.One("create"), m.One("all")) {
		return nil
	}
	failed = failed || m.Aborted("create", "asset")
	if all := m.One("all"); all != nil {
		d.Pool = all.Destination()
		if lp := m.One("lp"); lp != nil {
			if t, ok := readInternalTransfer(lp); ok {
				d.LPTokensMinted = t.Amount
			}
		}
		failed = failed || d.LPTokensMinted == nil || m.Aborted("all", "lp")
	}
	for _, b := range m.All("payout") {
		p, ok := readDedustPayment(b)
		if !ok {
			return nil
		}
		out, known, lost := m.dedustOut(p)
		if !known || lost {
			continue
		}
		d.VaultExcesses = append(d.VaultExcesses, m.excessOf(b, out))
	}
	return dexDeposit.Make(d).Fails(failed)
}

// dedustTargets sets what came to the pool, or as long as nothing did, what the
// provider wants to come.
func (d *liquidityDeposit) dedustTargets(create, all *Block) bool {
	if all != nil {
		r := all.Body()
		r.Skip(64) // query_id
		r.Ref()    // proof
		r = r.Open()
		d.TargetAsset1, d.TargetAmount1 = r.dedustAsset(), r.Coins()
		d.TargetAsset2, d.TargetAmount2 = r.dedustAsset(), r.Coins()
		return !r.Failed()
	}
	o, ok := readDedustOrder(create)
	d.TargetAsset1, d.TargetAsset2, d.TargetAmount1, d.TargetAmount2 = o.assets[0], o.assets[1], o.targets[0], o.targets[1]
	return ok
}

// endsDedustDeposit reports whether a deposit came to a pool.
func endsDedustDeposit(b *Block) bool {
	d := dexDeposit.Of(b)
	return d.Dex == "dedust" && d.Pool != nil
}

// mergeDedustDeposits makes one deposit of its two halves, the first one first, where
// there is no doubt which they are: the contract that they met at saw no other one, and
// saw the first one before the pool got both.
func mergeDedustDeposits(m *Match) *Made {
	last := dexDeposit.Of(m.Block)
	var other *Block
	for _, b := range m.Trace() {
		d := dexDeposit.Of(b)
		if d == nil || b == m.Block || d.Dex != last.Dex || !same(d.DestinationLiquidity, last.DestinationLiquidity) {
			continue
		}
		if other != nil {
			return nil
		}
		other = b
	}
	first := dexDeposit.Of(other)
	if first == nil || first.Pool != nil || same(first.Asset1, last.Asset1) || dedustMet(other) > dedustMet(m.Block) {
		return nil
	}
	merged := *last
	merged.set(0, &dexTransfer{Asset: first.Asset1, Amount: first.Amount1, SourceJettonWallet: first.UserJettonWallet1})
	merged.set(1, &dexTransfer{Asset: last.Asset1, Amount: last.Amount1, SourceJettonWallet: last.UserJettonWallet1})
	if !same(first.Asset1, last.TargetAsset1) {
		merged.TargetAsset1, merged.TargetAsset2 = last.TargetAsset2, last.TargetAsset1
		merged.TargetAmount1, merged.TargetAmount2 = last.TargetAmount2, last.TargetAmount1
	}
	return dexDeposit.Make(&merged).Fails(m.Block.Failed || other.Failed).ConsumesOnly(other, m.Block)
}

// dedustMet is the logical time at which half of a deposit came to where it meets the other.
func dedustMet(half *Block) (lt uint64) {
	half.Each(func(b *Block) bool {
		if b.IsCall(opDedustDepositAsset) {
			lt = b.Tx.Lt
		}
		return true
	})
	return lt
}

func makeDedustWithdrawal(m *Match) *Made {
	burn, notice := m.Block, m.One("notice")
	r := burn.Body()
	r.Skip(64) // query_id
	w := &liquidityWithdrawal{Dex: "dedust", Source: burn.Source(), LPTokensBurnt: r.Coins(),
		Pool: notice.Destination(), DestinationLiquidity: notice.Destination()}
	if r.Failed() {
		return nil
	}
	payouts := m.All("payout") // of both assets, one of which may be under way
	failed := len(payouts) < 2 || m.Aborted("burn", "notice", "payout")
	assets, proved := m.dedustPool(w.Pool)
	for i, b := range payouts {
		p, ok := readDedustPayment(b)
		if !ok || i > 1 {
			return nil
		}
		out, known, lost := m.dedustOut(p)
		failed = failed || lost
		if side, there := m.dedustSide(p.amount, i); out != nil && !known && proved && there {
			out.Asset, known = assets[side], true
		}
		if known {
			w.set(i, out)
		}
	}
	return dexWithdrawal.Make(w).Fails(failed)
}

// dedustSide is which asset of a pool a payment of liquidity is of, the first that the
// pool ordered or the second, by the amounts that it says it gave.
func (m *Match) dedustSide(paid *big.Int, i int) (side int, ok bool) {
	event := m.One("event")
	if event == nil {
		return 0, false
	}
	r := event.Body()
	r.Address() // sender_addr
	r.Coins()   // liquidity
	gave := [2]*big.Int{r.Coins(), r.Coins()}
	if gave[i].Cmp(paid) == 0 {
		return i, !r.Failed()
	}
	return 1 - i, !r.Failed() && gave[1-i].Cmp(paid) == 0
}

package action

import "math/big"

// Opcodes of DeDust's pools of version 2.
const (
	opDedustV2PayNative         = 0xa5a7cbf8 // of whoever has toncoins for a pool, another pool too
	opDedustV2PayJetton         = 0xcbc33949 // of a payload
	opDedustV2SwapPayload       = 0xc442500f // of what is paid for
	opDedustV2DepositPayload    = 0xc9a015da
	opDedustV2Payout            = 0x3216ca09 // of a pool to a receiver of toncoins
	opDedustV2CreditAsset       = 0xdc5ddba1 // of a pool to a deposit
	opDedustV2JoinLiquidity     = 0x25251ee0 // of a deposit to its pool
	opDedustV2CreditLiquidity   = 0x855afcbd // of a pool to a position
	opDedustV2Withdraw          = 0x20b5ef89 // of a provider to a pool
	opDedustV2WithdrawLiquidity = 0xbc1531a9 // of a pool to a position
	opDedustV2ExitLiquidity     = 0xf6f6a3aa // of a position to its pool
	opDedustV2SwapEvent         = 0x78e79ba4
	opDedustV2DepositEvent      = 0x35df2e12
	opDedustV2WithdrawalEvent   = 0xc0d77b54
)

// dedustV2 are DeDust's pools of version 2, which have their assets. A deposit collects
// two halves of liquidity, and a position is an account of its own.
var dedustV2 = &Protocol{
	Name: "dedust_v2",
	Rules: []Rule{
		{
			Name:    "swap at DeDust v2",
			Order:   orderDedustV2Swap,
			Pattern: dedustV2Hop(),
			Make:    makeDedustV2Swap,
		},
		{
			Name:  "deposit of liquidity at DeDust v2",
			Order: orderDedustV2Deposit,
			Block: "dedust_v2_deposit_liquidity",
			Pattern: Call(opDedustV2CreditAsset).As("credit").With(
				Call(opDedustV2JoinLiquidity).As("join").With(
					Log(opDedustV2DepositEvent).As("event").Maybe(),
					Call(opDedustV2CreditLiquidity).As("position").Maybe(),
					dedustV2Paid().Every().Maybe(),
				),
			).Below(dedustV2Given().As("in")),
			Make: makeDedustV2Deposit,
		},
		{
			Name:    "half of a deposit of liquidity at DeDust v2",
			Order:   orderDedustV2FirstDeposit,
			Block:   "dedust_v2_deposit_liquidity_partial",
			Pattern: Call(opDedustV2CreditAsset).As("credit").Below(dedustV2Given().As("in")),
			Make:    makeDedustV2Deposit,
		},
		{
			Name:    "both halves of a deposit of liquidity at DeDust v2",
			Order:   orderDedustV2DepositMerge,
			Block:   "dedust_v2_deposit_liquidity",
			Pattern: Is(dexDeposit).Where(joinedDedustV2),
			Make:    mergeDedustV2Deposits,
		},
		{
			Name:  "withdrawal of liquidity from DeDust v2",
			Order: orderDedustV2Withdrawal,
			Pattern: Call(opDedustV2Withdraw).As("withdraw").With(
				Call(opDedustV2WithdrawLiquidity).As("position").With(
					Call(opDedustV2ExitLiquidity).As("exit").With(
						Log(opDedustV2WithdrawalEvent).As("event").Maybe(),
						dedustV2Paid().Every().Maybe(),
					),
				),
			),
			Make: makeDedustV2Withdrawal,
		},
	},
}

// dedustV2Given is how an asset comes to a pool, with what it is for.
func dedustV2Given() *Pattern {
	return OneOf(Is(jettonTransfer).Carrying(opDedustV2PayJetton), Call(opDedustV2PayNative))
}

// dedustV2Paid is what a pool pays.
func dedustV2Paid() *Pattern {
	return OneOf(delivered(), passedOn(), Call(opDedustV2Payout)).As("out")
}

// dedustV2Hop is a swap at one pool, and those that follow.
func dedustV2Hop() *Pattern {
	return dedustV2Given().Where(ordersDedustV2Swap).As("hop").With(
		Log(opDedustV2SwapEvent).As("event").Maybe(),
		OneOf(Again(dedustV2Hop), dedustV2Paid()),
	)
}

// dedustV2Order reads what an asset is for that came to a pool, behind the opcode; false
// where that is another one.
func dedustV2Order(b *Block, opcode uint32) (Reader, bool) {
	var r Reader
	if t := jettonTransfer.Of(b); t != nil {
		r, _ = t.Forward.Body(opDedustV2PayJetton)
	} else {
		r = b.Body()
		r.Skip(64) // query_id
		r.Coins()  // amount
	}
	return r.Open().Rest().Body(opcode)
}

func ordersDedustV2Swap(b *Block) bool {
	_, ok := dedustV2Order(b, opDedustV2SwapPayload)
	return ok
}

// dedustV2Got is what came to a pool.
func (m *Match) dedustV2Got(b *Block) (in *dexTransfer, failed bool) {
	if b.kind == kindMade {
		return m.transferred(b)
	}
	return namedToncoins(b)
}

// dedustV2Gave is what a pool paid.
func (m *Match) dedustV2Gave(b *Block) (out *dexTransfer, failed bool) {
	return m.paid(b, opDedustV2Payout)
}

func makeDedustV2Swap(m *Match) *Made {
	hops, events := m.All("hop"), m.All("event")
	in, failed := m.dedustV2Got(hops[0])
	out, lost := m.dedustV2Gave(m.One("out"))
	if in == nil || out == nil {
		return nil
	}
	failed = failed || lost
	var peers []peerSwap
	for i, hop := range hops {
		given, unable := m.dedustV2Got(hop)
		if given == nil {
			return nil
		}
		gave := out
		if i+1 < len(hops) {
			gave, _ = m.dedustV2Got(hops[i+1])
		}
		if gave == nil || !same(given.Destination, gave.Source) {
			return nil
		}
		if failed = failed || unable; len(events) == 0 || events[0].Parent != hop {
			if failed = true; !same(given.Asset, gave.Asset) {
				return nil // it is not what came that went back
			}
			continue
		}
		r := events[0].Body()
		r.Skip(1) // x_to_y
		p := peerSwap{AssetIn: given.Asset, AmountIn: r.Coins(), AssetOut: gave.Asset, AmountOut: r.Coins()}
		if r.Failed() {
			return nil
		}
		peers, events = append(peers, p), events[1:]
	}
	s := swapOf("dedust_v2", in, out, peers)
	s.MinOutAmount = dedustV2Least(hops[0])
	return jettonSwap.Make(s).Fails(failed)
}

// dedustV2Least is how much the last pool of a route is to give at least, nil where the
// order does not say so.
func dedustV2Least(first *Block) *big.Int {
	r, _ := dedustV2Order(first, opDedustV2SwapPayload)
	least := r.Coins()
	for range maxRoute {
		r.Skip(40) // deadline
		next, more := r.MaybeOpen()
		if r.Failed() {
			return nil
		}
		if !more {
			return least
		}
		r = next
		r.Address() // pool
		least = r.Coins()
	}
	return nil
}

// makeDedustV2Deposit makes a deposit of one half of it, at its side of the pool.
func makeDedustV2Deposit(m *Match) *Made {
	b, credit := m.One("in"), m.One("credit")
	in, failed := m.dedustV2Got(b)
	r := credit.Body()
	r.Skip(64) // query_id
	side := 1
	if r.Bool() { // is_x
		side = 0
	}
	amount := r.Coins()
	if in == nil || r.Failed() {
		return nil
	}
	d := &liquidityDeposit{Dex: "dedust_v2", Source: in.Source, Pool: credit.Source(), DestinationLiquidity: credit.Destination()}
	failed = failed || m.Aborted("credit")
	if join := m.One("join"); join != nil {
		if !d.dedustV2Joins(join, m.One("event")) {
			return nil
		}
		amount = d.Joined[side]
		failed = failed || d.LPTokensMinted == nil || m.Aborted("join", "position")
	}
	in.Amount = amount
	d.set(side, in)
	if order, ok := dedustV2Order(b, opDedustV2DepositPayload); ok {
		targets := [2]*big.Int{order.Coins(), order.Coins()}
		if order.Failed() {
			return nil
		}
		d.aim(side, in.Asset, targets[side])
	}
	for _, paid := range m.All("out") {
		out, lost := m.dedustV2Gave(paid)
		if out == nil {
			return nil
		}
		if !lost {
			d.VaultExcesses = append(d.VaultExcesses, vaultExcess{out.Asset, out.Amount})
		}
	}
	return dexDeposit.Make(d).Fails(failed)
}

// dedustV2Joins reads what came to the pool, and what it says it took and gave for it.
func (d *liquidityDeposit) dedustV2Joins(join, event *Block) bool {
	r := join.Body()
	r.Skip(64) // query_id
	r.Ref()    // config
	d.Joined = [2]*big.Int{r.Coins(), r.Coins()}
	d.Source = r.Address()
	if event == nil {
		return !r.Failed()
	}
	e := event.Body()
	d.Joined = [2]*big.Int{e.Coins(), e.Coins()}
	d.LPTokensMinted = e.Coins()
	return !r.Failed() && !e.Failed()
}

// aim says how much the provider wants to come of one of the two assets, in the first
// place or the second: 0 or 1.
func (d *liquidityDeposit) aim(side int, asset Address, amount *big.Int) {
	if side == 0 {
		d.TargetAsset1, d.TargetAmount1 = asset, amount
	} else {
		d.TargetAsset2, d.TargetAmount2 = asset, amount
	}
}

// joinedDedustV2 reports whether a deposit came to a pool with both of its halves.
func joinedDedustV2(b *Block) bool {
	d := dexDeposit.Of(b)
	return d.Dex == "dedust_v2" && d.Joined[0] != nil
}

// mergeDedustV2Deposits makes one deposit of its two halves, where there is no doubt which
// they are: the contract that they met at saw no other one.
func mergeDedustV2Deposits(m *Match) *Made {
	merged := *dexDeposit.Of(m.Block)
	var other *Block
	for _, b := range m.Trace() {
		d := dexDeposit.Of(b)
		if d == nil || b == m.Block || d.Dex != merged.Dex || !same(d.DestinationLiquidity, merged.DestinationLiquidity) {
			continue
		}
		if other != nil {
			return nil
		}
		other = b
	}
	half := dexDeposit.Of(other)
	if half == nil || half.Joined[0] != nil || other.Failed {
		return nil
	}
	switch {
	case merged.Amount1 == nil && half.Amount1 != nil:
		merged.set(0, &dexTransfer{Asset: half.Asset1, Amount: merged.Joined[0], SourceJettonWallet: half.UserJettonWallet1})
		merged.aim(0, half.TargetAsset1, half.TargetAmount1)
	case merged.Amount2 == nil && half.Amount2 != nil:
		merged.set(1, &dexTransfer{Asset: half.Asset2, Amount: merged.Joined[1], SourceJettonWallet: half.UserJettonWallet2})
		merged.aim(1, half.TargetAsset2, half.TargetAmount2)
	default:
		return nil
	}
	return dexDeposit.Make(&merged).Fails(m.Block.Failed).ConsumesOnly(other, m.Block)
}

func makeDedustV2Withdrawal(m *Match) *Made {
	b := m.Block
	r := b.Body()
	r.Skip(64) // query_id
	w := &liquidityWithdrawal{Dex: "dedust_v2", Source: b.Source(), Pool: b.Destination(), DestinationLiquidity: b.Destination(), LPTokensBurnt: r.Coins()}
	r.Coins() // minimal_x_out
	r.Coins() // minimal_y_out
	if fees := r.Bool(); fees || r.Failed() {
		return nil // which payments are of fees is not known
	}
	owed := 0
	event := m.One("event")
	if event != nil {
		r := event.Body()
		w.LPTokensBurnt = r.Coins()
		owed = r.Coins().Sign() + r.Coins().Sign()
		if r.Failed() {
			return nil
		}
	}
	outs := m.All("out")
	return m.withdrawn(w, outs, m.dedustV2Gave, event == nil || len(outs) < owed || m.Aborted("withdraw", "position", "exit"))
}

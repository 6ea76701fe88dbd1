package action

import "math/big"

// Opcodes of TONCO.
const (
	opToncoSwap         = 0xa7fb58f8 // of a router to a pool
	opToncoPayTo        = 0xa1daa96d // of a pool to its router
	opToncoFund         = 0x4468de77 // of a router to a pool
	opToncoAddLiquidity = 0x3ebe5431 // of a pool to the account of a provider
	opToncoMint         = 0x81702ef8 // of that account to its pool
	opToncoPositionInit = 0xd5ecca2a // of a pool to the item of a position
	opToncoStartBurn    = 0x530b5f2c // of a provider to a pool
	opToncoPositionBurn = 0x46ca335a // of a pool to the item of a position
	opToncoBurn         = 0xd73ac09d // of that item to its pool
	opToncoCreatePool   = 0x2e3034ef // of the administrator to a router
	opToncoPoolInit     = 0x441c39ed // of a router to a new pool
)

// Exit codes of a payment.
const (
	toncoOK      = 0
	toncoSwapped = 200
	toncoBurnt   = 201
	toncoFees    = 203 // collected, without liquidity
)

// Bits behind the query's id of a new pool's settings in versions of TONCO that have
// the roles in a cell of their own.
const (
	toncoInit15 = 1 + 25 + 161 + 2 + 3*16 + 1 // from_admin, spacing, price, activity, fees, a maybe
	toncoInit16 = toncoInit15 + 1 + 32        // initial flags
)

var toncoDeployPool = NewType[toncoPool]("tonco_deploy_pool", V2)

type toncoPool struct {
	Source              Address  `detail:"source,account"`
	Pool                Address  `detail:"pool,account"`
	Router              Address  `detail:"router,account"`
	RouterJettonWallet1 Address  `detail:"router_jetton_wallet_1"`
	RouterJettonWallet2 Address  `detail:"router_jetton_wallet_2"`
	JettonMinter1       Address  `detail:"jetton_minter_1"`
	JettonMinter2       Address  `detail:"jetton_minter_2"`
	TickSpacing         *big.Int `detail:"tick_spacing"`
	InitialPriceX96     *big.Int `detail:"initial_price_x96"`
	ProtocolFee         uint64   `detail:"protocol_fee"`
	LPFeeBase           uint64   `detail:"lp_fee_base"`
	LPFeeCurrent        uint64   `detail:"lp_fee_current"`
	PoolActive          *bool    `detail:"pool_active"`
}

// tonco is TONCO: a router that has all jettons, toncoins as wrapped ones, pools of
// concentrated liquidity that only count, and positions that are NFT items.
var tonco = &Protocol{
	Name:  "tonco",
	Types: []typed{toncoDeployPool},
	Rules: []Rule{
		{
			Name:    "swap at TONCO",
			Order:   orderToncoSwap,
			Pattern: toncoHop().Below(routerGot()),
			Make:    makeToncoSwap,
		},
		{
			Name:  "deposit of liquidity at TONCO",
			Order: orderToncoDeposit,
			Block: "tonco_deposit_liquidity",
			Pattern: Call(opToncoFund).As("fund").With(
				Call(opToncoAddLiquidity).As("add").With(
					Call(opToncoMint).As("mint").With(
						OneOf(Is(nftMint).Where(isToncoPosition), Call(opToncoPositionInit)).As("position").Maybe(),
						toncoPaid(nil).Every().Maybe(),
					).Maybe(),
				),
			).Below(routerGot()),
			Make: makeToncoDeposit,
		},
		{
			Name:  "withdrawal of liquidity from TONCO",
			Order: orderToncoWithdrawal,
			Block: "tonco_withdraw_liquidity",
			Pattern: Call(opToncoStartBurn).As("start").With(
				Call(opToncoPositionBurn).As("position").With(
					Call(opToncoBurn).As("burn").With(toncoPaid(nil)),
				),
			),
			Make: makeToncoWithdrawal,
		},
		{
			Name:    "deployment of a pool of TONCO",
			Order:   orderToncoDeployPool,
			Pattern: Call(opToncoCreatePool).As("create").With(Call(opToncoPoolInit).As("init")),
			Make:    makeToncoPool,
		},
	},
}

// toncoHop is a swap at one pool, and those that follow.
func toncoHop() *Pattern { return Call(opToncoSwap).As("swap").With(toncoPaid(toncoHop)) }

// toncoPaid is what a pool tells its router to pay, of one asset or of both. A router
// may order the next swap without paying itself.
func toncoPaid(next func() *Pattern) *Pattern {
	p := Call(opToncoPayTo).As("pay").With(routerGave(next).Every().Maybe())
	if next != nil {
		p.With(Again(next).Maybe())
	}
	return p
}

// isToncoPosition reports whether an item was minted for a position.
func isToncoPosition(b *Block) bool { return b.First().IsCall(opToncoPositionInit) }

// toncoPayment is what a pool tells its router to pay.
type toncoPayment struct {
	To       [2]Address
	ExitCode uint32
	Amounts  [2]*big.Int
	Wallets  [2]Address // of the router
}

func readToncoPayment(b *Block) (p toncoPayment, ok bool) {
	r := b.Body()
	r.Skip(64) // query_id
	p.To[0], p.To[1] = r.Address(), r.Address()
	p.ExitCode = uint32(r.Uint(32))
	r.Skip(64) // seqno
	coins, there := r.MaybeOpen()
	if there {
		for i := range 2 {
			p.Amounts[i], p.Wallets[i] = coins.Coins(), coins.Address()
		}
	}
	return p, there && !r.Failed() && !coins.Failed()
}

// toncoOrder is a router's order to its wallet of one of the assets of a payment, nil
// where it gave none.
func (m *Match) toncoOrder(pay *Block, wallet Address) *Block {
	for _, b := range m.All("out") {
		if b.Parent == pay && same(walletOf(b), wallet) {
			return b
		}
	}
	return nil
}

// toncoOut is what a router gave of one of the assets of a payment: nil where it
// gave nothing of it or it is not known what.
func (m *Match) toncoOut(pay *Block, wallet Address) (out *dexTransfer, failed bool) {
	if b := m.toncoOrder(pay, wallet); b != nil {
		return m.gave(b)
	}
	return nil, unpaid(pay)
}

func makeToncoSwap(m *Match) *Made {
	in, carried, failed := m.got()
	if in == nil {
		return nil
	}
	swaps, pays := m.All("swap"), m.All("pay")
	var peers []peerSwap
	var out *dexTransfer
	var least *big.Int
	asset, amount := in.Asset, in.Amount
	asked, known, onward := Address(nil), false, false
	for i, b := range swaps {
		r := b.Body()
		r.Skip(64)  // query_id
		r.Address() // owner_address
		wallet := r.Address()
		if r.BitsLeft() > 0 { // version 1.6 names the sender before both
			wallet = r.Address()
		}
		r = r.Open()
		r.Coins()   // amount
		r.Skip(160) // sqrt_price_limit
		least = r.Coins()
		p, ok := readToncoPayment(pays[i])
		if !ok || r.Failed() {
			return nil
		}
		side := 0 // of what is bought
		if same(wallet, p.Wallets[0]) {
			side = 1
		}
		if asked, known = m.master(p.Wallets[side]); known {
			asked = traded(asked)
		}
		done := p.ExitCode == toncoOK || p.ExitCode == toncoSwapped
		if !done {
			side = 1 - side
		}
		var lost bool
		if out, lost = m.toncoOut(pays[i], p.Wallets[side]); out == nil {
			if out = m.toncoOwed(pays[i], &p, side); out == nil {
				return nil
			}
		}
		failed = failed || !done || lost && i == len(swaps)-1
		onward = ordersToncoSwap(m.toncoOrder(pays[i], p.Wallets[side]))
		if done {
			peers = append(peers, peerSwap{AssetIn: asset, AmountIn: amount, AssetOut: out.Asset, AmountOut: out.Amount})
		}
		asset, amount = out.Asset, out.Amount
	}
	failed = failed || onward || same(out.Source, out.Destination) // a router has it, for another swap
	s := swapOf("tonco", in, out, peers)
	if s.MinOutAmount = out.Amount; failed {
		if wallet, amount := carried.toncoAsked(maxRoute); wallet != nil {
			if master, found := m.master(wallet); found {
				asked, known, least = traded(master), true, amount
			}
		}
		if s.MinOutAmount = least; known {
			s.AssetOut = asked
		}
	}
	return jettonSwap.Make(s).Fails(failed || m.Aborted("swap", "pay"))
}

// ordersToncoSwap reports whether what a router gave carries the order of another swap.
func ordersToncoSwap(gave *Block) bool {
	if gave == nil {
		return false
	}
	op, _ := carried(gave)
	for _, c := range gave.Children {
		if t, ok := readPTonTransfer(c); ok && unwrapped(c) {
			op, _ = t.Forward.Opcode()
		}
	}
	return op == opToncoSwap
}

// toncoAsked is the router's wallet of what the last order to swap in a payload asks
// for, and how much of it at least; nil where the payload has none. Of the cells below
// it looks at those that a budget is enough for, which each reference halves.
func (p Payload) toncoAsked(budget int) (wallet Address, least *big.Int) {
	r := p.Reader
	if order, ok := p.Body(opToncoSwap); ok {
		wallet = order.Address()
		order.Skip(160) // sqrt_price_limit
		if least = order.Coins(); order.Failed() {
			return nil, nil
		}
	}
	for budget > 0 && r.RefsLeft() > 0 {
		budget /= 2
		next := r.Open()
		if deeper, amount := next.Rest().toncoAsked(budget); deeper != nil {
			wallet, least = deeper, amount
		}
	}
	return wallet, least
}

// toncoOwed is what a router was told to pay, without a transfer that shows it.
func (m *Match) toncoOwed(pay *Block, p *toncoPayment, side int) *dexTransfer {
	master, known := m.master(p.Wallets[side])
	if !known {
		return nil
	}
	out := &dexTransfer{Asset: traded(master), Source: pay.Destination(), Destination: p.To[side], Amount: p.Amounts[side]}
	if out.Asset != nil {
		out.SourceJettonWallet = p.Wallets[side]
	}
	return out
}

func makeToncoDeposit(m *Match) *Made {
	in, carried, failed := m.got()
	if in == nil {
		return nil
	}
	fund := m.One("fund")
	d := &liquidityDeposit{Dex: "tonco", Source: in.Source, Pool: fund.Destination(), DestinationLiquidity: fund.Destination()}
	r := fund.Body()
	r.Skip(64)  // query_id
	r.Address() // owner_address
	first := r.Coins()
	r.Coins() // amount1
	d.TargetAmount1, d.TargetAmount2 = r.Coins(), r.Coins()
	r.Skip(128) // liquidity
	d.TickLower, d.TickUpper = r.SignedBig(24), r.SignedBig(24)
	if r.Failed() {
		return nil
	}
	var other Address
	if r, ok := carried.Body(opToncoFund); ok {
		master, _ := m.master(r.Address())
		other = traded(master)
	}
	d.Asset1, d.Amount1 = in.Asset, in.Amount
	if first.Sign() > 0 {
		d.UserJettonWallet1 = in.SourceJettonWallet
		d.TargetAsset1, d.TargetAsset2 = in.Asset, other
	} else { // the wallet stands at the side of the asset in the pool
		d.UserJettonWallet2 = in.SourceJettonWallet
		d.TargetAsset1, d.TargetAsset2 = other, in.Asset
	}
	if mint := m.One("mint"); mint != nil {
		r := mint.Body()
		r.Skip(64)  // query_id
		r.Coins()   // amount0_funded
		r.Coins()   // amount1_funded
		r.Address() // recipient
		if d.LPTokensMinted = r.Big(128); r.Failed() {
			return nil
		}
		position := m.One("position")
		if position == nil {
			d.LPTokensMinted, failed = nil, true
		} else {
			d.NFTAddress = position.First().Destination()
			r := position.First().Body()
			r.Skip(64)            // query_id
			r.Address()           // user_address
			r.Skip(128 + 24 + 24) // liquidity, ticks
			r = r.Open()
			r.Skip(256 + 256) // fees
			if d.NFTIndex = r.Big(64); r.Failed() {
				return nil
			}
		}
	}
	for _, pay := range m.All("pay") {
		p, ok := readToncoPayment(pay)
		if !ok {
			return nil
		}
		for _, wallet := range p.Wallets {
			if out, lost := m.toncoOut(pay, wallet); out != nil && !lost {
				d.VaultExcesses = append(d.VaultExcesses, vaultExcess{out.Asset, out.Amount})
			}
		}
	}
	failed = failed || m.Aborted("fund", "add", "mint", "position")
	return dexDeposit.Make(d).Fails(failed)
}

func makeToncoWithdrawal(m *Match) *Made {
	start, pay := m.Block, m.One("pay")
	p, ok := readToncoPayment(pay)
	r := start.Body()
	r.Skip(64) // query_id
	w := &liquidityWithdrawal{Dex: "tonco", Source: start.Source(), Pool: start.Destination(), DestinationLiquidity: start.Destination(),
		BurntNFTAddress: m.One("position").Destination(), BurntNFTIndex: r.Big(64), LPTokensBurnt: r.Big(128)}
	w.TickLower, w.TickUpper = r.SignedBig(24), r.SignedBig(24)
	if r.Failed() || !ok {
		return nil
	}
	done := p.ExitCode == toncoOK || p.ExitCode == toncoBurnt || p.ExitCode == toncoFees
	failed := !done || m.Aborted("start", "position", "burn", "pay")
	for side := range 2 {
		out, lost := m.toncoTaken(pay, &p, side)
		w.set(side, out)
		failed = failed || lost
	}
	return dexWithdrawal.Make(w).Fails(failed)
}

// toncoTaken is what a router gave of one of the assets of a position.
func (m *Match) toncoTaken(pay *Block, p *toncoPayment, side int) (out *dexTransfer, failed bool) {
	if b := m.toncoOrder(pay, p.Wallets[side]); b != nil {
		if out, failed = m.gave(b); out != nil {
			return out, failed
		}
		if t, lost := ordered(b); t != nil { // jettons that are not known
			return transferOf(t), lost
		}
	}
	// Nothing was paid of it: the payment names the receiver only.
	if out = m.toncoOwed(pay, p, side); out == nil {
		out = &dexTransfer{Amount: p.Amounts[side]}
	}
	out.DestinationJettonWallet = p.To[side]
	return out, p.Amounts[side].Sign() > 0
}

func makeToncoPool(m *Match) *Made {
	create, init := m.Block, m.One("init")
	r := create.Body()
	r.Skip(64) // query_id
	p := &toncoPool{Source: create.Source(), Pool: init.Destination(), Router: create.Destination()}
	p.RouterJettonWallet1, p.RouterJettonWallet2 = r.Address(), r.Address()
	p.TickSpacing, p.InitialPriceX96 = r.SignedBig(24), r.Big(160)
	p.ProtocolFee, p.LPFeeBase, p.LPFeeCurrent = r.Uint(16), r.Uint(16), r.Uint(16)
	r.Ref() // nftv3_content
	r.Ref() // nftv3item_content
	minters := r.Open()
	p.JettonMinter1, p.JettonMinter2 = minters.Address(), minters.Address()
	if r.Failed() || minters.Failed() {
		return nil
	}
	r = init.Body()
	r.Skip(64) // query_id
	roles := r.BitsLeft() != toncoInit15 && r.BitsLeft() != toncoInit16
	r.Skip(1) // from_admin
	if roles {
		r.Skip(1)   // has_admin
		r.Address() // admin_address
		r.Skip(1)   // has_controller
		r.Address() // controller_address
	}
	r.Skip(1 + 24)  // set_spacing, tick_spacing
	r.Skip(1 + 160) // set_price, initial_price_x96
	if set, active := r.Bool(), r.Bool(); set && !r.Failed() {
		p.PoolActive = &active
	}
	return toncoDeployPool.Make(p).Fails(m.Aborted("create", "init"))
}

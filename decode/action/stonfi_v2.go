package action

import (
	"math/big"
	"slices"
)

// Opcodes of STON.fi, version 2.
const (
	opStonfiV2Swap           = 0x6664de2a // of a router to a pool
	opStonfiV2CrossSwap      = 0x69cf1a5b // of a payload: a swap behind a swap
	opStonfiV2PayTo          = 0x657b54f5 // of a pool to its router
	opStonfiV2Provide        = 0x37c096df // of a router to a pool
	opStonfiV2AddLiquidity   = 0x50c6a654 // of a pool to the account of a provider
	opStonfiV2CbAddLiquidity = 0x06ecd527 // of that account to its pool
	opStonfiV2BurnNotice     = 0x297437cf // of a wallet of LP tokens to its pool
	opStonfiV2RefundMe       = 0x132b9a2c // of a provider to his account
	opStonfiV2CbRefundMe     = 0x0f98e2b8 // of that account to its pool
)

// maxRoute bounds the pools of a route that a body describes.
const maxRoute = 16

// stonfiV2 is version 2 of STON.fi: routers that have all jettons, toncoins as
// wrapped ones, and pools that only count. What a swap gives may go on to another
// pool, of the same router or by a transfer to another one.
var stonfiV2 = &Protocol{
	Name: "stonfi_v2",
	Rules: []Rule{
		{
			Name:    "swap at STON.fi v2",
			Order:   orderStonfiV2Swap,
			Pattern: stonfiV2Hop().Below(routerGot()),
			Make:    makeStonfiV2Swap,
		},
		{
			Name:    "deposit of liquidity at STON.fi v2",
			Order:   orderStonfiV2Deposit,
			Pattern: stonfiProvided(opStonfiV2Provide, opStonfiV2AddLiquidity, opStonfiV2CbAddLiquidity).Below(routerGot()),
			Make: func(m *Match) *Made {
				in, _, failed := m.got()
				return m.stonfiDeposit("stonfi_v2", in, failed)
			},
		},
		{
			Name:  "withdrawal of liquidity from STON.fi v2",
			Order: orderStonfiV2Withdrawal,
			Pattern: OneOf(Is(jettonBurn), Call(opJettonBurn)).As("burn").With(
				Call(opStonfiV2BurnNotice).As("notice").With(stonfiV2Paid()),
			),
			Make: makeStonfiV2Withdrawal,
		},
		{
			Name:  "refund of a deposit at STON.fi v2",
			Order: orderStonfiV2Refund,
			Pattern: Call(opStonfiV2RefundMe).As("refund").With(
				Call(opStonfiV2CbRefundMe).As("notice").With(stonfiV2Paid()),
			),
			Make: makeStonfiV2Withdrawal,
		},
	},
}

// stonfiV2Hop is a swap at one pool, and those that follow.
func stonfiV2Hop() *Pattern {
	return Call(opStonfiV2Swap).As("swap").With(
		Call(opStonfiV2PayTo).As("pay").With(OneOf(Again(stonfiV2Hop), routerGave(stonfiV2Hop)).Maybe()),
	)
}

// stonfiV2Paid is what a pool pays for liquidity.
func stonfiV2Paid() *Pattern {
	return Call(opStonfiV2PayTo).As("pay").Every().With(routerGave(nil).Every().Maybe())
}

// stonfiV2Payment is what a pool tells its router to pay.
type stonfiV2Payment struct {
	To       Address
	ExitCode uint32
	Amounts  [2]*big.Int
	Wallets  [2]Address // of the router
}

func readStonfiV2Payment(b *Block) (p stonfiV2Payment, ok bool) {
	r := b.Body()
	r.Skip(64) // query_id
	p.To = r.Address()
	r.Address() // excesses_address
	r.Address() // original_caller
	p.ExitCode = uint32(r.Uint(32))
	if r.Bool() {
		r.Ref() // custom_payload
	}
	r = r.Open()
	r.Coins() // fwd_ton_amount
	for i := range 2 {
		p.Amounts[i], p.Wallets[i] = r.Coins(), r.Address()
	}
	return p, !r.Failed()
}

// booked is what a router owes by a payment, without a transfer that shows it.
func (m *Match) booked(pay *Block, p *stonfiV2Payment) *dexTransfer {
	side := 0
	if p.Amounts[0].Sign() == 0 {
		side = 1
	}
	master, known := m.master(p.Wallets[side])
	if !known {
		return nil
	}
	out := &dexTransfer{Asset: traded(master), Source: pay.Destination(), Destination: p.To, Amount: p.Amounts[side]}
	if out.Asset != nil {
		out.SourceJettonWallet = p.Wallets[side]
	}
	return out
}

func makeStonfiV2Swap(m *Match) *Made {
	in, _, failed := m.got()
	if in == nil {
		return nil
	}
	failed = failed || m.Aborted("swap")
	pays, outs := m.All("pay"), m.All("out")
	var peers []peerSwap
	var out *dexTransfer
	asset, amount := in.Asset, in.Amount
	for i, pay := range pays {
		p, ok := readStonfiV2Payment(pay)
		if !ok {
			return nil
		}
		failed = failed || p.ExitCode != stonfiSwapOK
		if len(outs) > 0 && outs[0].Parent == pay {
			var lost bool
			out, lost = m.gave(outs[0])
			failed = failed || lost && i == len(pays)-1
			outs = outs[1:]
		} else {
			out = m.booked(pay, &p)
			failed = failed || i == len(pays)-1 && unpaid(pay)
		}
		if out == nil {
			return nil
		}
		if p.ExitCode == stonfiSwapOK {
			peers = append(peers, peerSwap{AssetIn: asset, AmountIn: amount, AssetOut: out.Asset, AmountOut: out.Amount})
		}
		asset, amount = out.Asset, out.Amount
	}
	s := swapOf("stonfi_v2", in, out, peers)
	swaps := m.All("swap")
	asked, known, onward := m.stonfiV2Asked(swaps[len(swaps)-1])
	if failed = failed || onward; failed && known {
		s.AssetOut = asked
	}
	return jettonSwap.Make(s).Fails(failed)
}

// stonfiV2Asked is the asset that the last swap of an order to a pool asks for, known
// where its router's wallet is; onward reports that this swap is not the order's own, but
// one behind it.
func (m *Match) stonfiV2Asked(order *Block) (asset Address, known, onward bool) {
	r := order.Body()
	r.Skip(64)   // query_id
	r.Address()  // from_user
	r.Coins()    // left_amount
	r.Coins()    // right_amount
	r = r.Open() // what came with the assets
	for i := range maxRoute {
		if op := r.Uint(32); r.Failed() || op != opStonfiV2Swap && op != opStonfiV2CrossSwap {
			break
		}
		onward = i > 0
		wallet := r.Address()
		master, found := m.master(wallet)
		asset, known = traded(master), found
		r.Address()  // refund_address
		r.Address()  // excesses_address
		r.Skip(64)   // tx_deadline
		r = r.Open() // the swap
		r.Coins()    // min_out
		r.Address()  // receiver
		r.Coins()    // fwd_gas
		next, more := r.MaybeOpen()
		if !more {
			break
		}
		r = next
	}
	return asset, known, onward
}

// goesOn reports whether a router gave what it was told to pay to a pool, as the payment
// may ask for.
func goesOn(pay *Block) bool {
	return slices.ContainsFunc(pay.Children, func(c *Block) bool {
		return c.IsCall(opStonfiV2Swap, opStonfiV2Provide) && !c.Aborted()
	})
}

func makeStonfiV2Withdrawal(m *Match) *Made {
	gave := func(b *Block) (*dexTransfer, bool) {
		if p, ok := readStonfiV2Payment(b); ok && b.IsCall(opStonfiV2PayTo) {
			return m.booked(b, &p), false
		}
		return m.gave(b)
	}
	return m.stonfiWithdrawal("stonfi_v2", gave, func(pay *Block) ([2]*big.Int, bool) {
		p, ok := readStonfiV2Payment(pay)
		return p.Amounts, ok
	})
}

package action

import "math/big"

// Opcodes of STON.fi, version 1.
const (
	opStonfiSwap           = 0x25938561 // of a router to a pool
	opStonfiPayTo          = 0xf93bb43f // of a pool to its router
	opStonfiProvide        = 0xfcf9e58f // of a router to a pool
	opStonfiAddLiquidity   = 0x3ebe5431 // of a pool to the account of a provider
	opStonfiCbAddLiquidity = 0x56dfeb8a // of that account to its pool
	opStonfiRefundMe       = 0x0bf3f447 // of a provider to his account
	opStonfiCbRefundMe     = 0x89446a42 // of that account to its pool
)

// Exit codes of a payment.
const (
	stonfiSwapOK    = 0xc64370e5
	stonfiSwapOKRef = 0x45078540
)

// stonfi is version 1 of STON.fi: a router that has all jettons, toncoins as
// wrapped ones, and pools that only count.
var stonfi = &Protocol{
	Name: "stonfi",
	Rules: []Rule{
		{
			Name:  "swap at STON.fi",
			Order: orderStonfiSwap,
			Pattern: Call(opStonfiSwap).As("swap").With(
				Call(opStonfiPayTo).Where(paysTrader).As("pay").Every().With(OneOf(delivered(), passedOn()).As("out").Maybe()),
			).Below(given().As("in")),
			Make: makeStonfiSwap,
		},
		{
			Name:    "deposit of liquidity at STON.fi",
			Order:   orderStonfiDeposit,
			Pattern: stonfiProvided(opStonfiProvide, opStonfiAddLiquidity, opStonfiCbAddLiquidity).Below(given().As("in")),
			Make: func(m *Match) *Made {
				in, failed := m.stonfiGot()
				return m.stonfiDeposit("stonfi", in, failed)
			},
		},
		{
			Name:  "withdrawal of liquidity from STON.fi",
			Order: orderStonfiWithdrawal,
			Pattern: OneOf(
				Is(jettonBurn).With(stonfiPaid()),
				Call(opJettonBurn).With(Call(opJettonBurnNotification).As("notice").With(stonfiPaid())),
			).As("burn"),
			Make: makeStonfiWithdrawal,
		},
		{
			Name:    "refund of a deposit at STON.fi",
			Order:   orderStonfiRefund,
			Pattern: Call(opStonfiRefundMe).As("refund").With(Call(opStonfiCbRefundMe).As("notice").With(stonfiPaid())),
			Make:    makeStonfiWithdrawal,
		},
	},
}

// stonfiProvided is one half of a deposit on its way to a provider's account, and the
// liquidity that both halves give.
func stonfiProvided(provide, add, added uint32) *Pattern {
	return Call(provide).As("provide").With(
		Call(add).As("add").With(
			Call(added).As("added").With(
				Call(opJettonInternalTransfer).As("lp").With(notified()).Maybe(),
				Call(add).As("refund").Maybe(),
			).Maybe(),
		),
	)
}

// stonfiPaid is what a pool pays for liquidity.
func stonfiPaid() *Pattern {
	return Call(opStonfiPayTo).As("pay").Every().With(OneOf(delivered(), passedOn()).As("out").Every().Maybe())
}

// stonfiGot is what came to a router. Wrapped toncoins are what they are wrapped as.
func (m *Match) stonfiGot() (in *dexTransfer, failed bool) {
	b := m.One("in")
	if in, failed = m.came(b); in == nil {
		return nil, true
	}
	if t := jettonTransfer.Of(b); t != nil && t.PTon {
		in.DestinationJettonWallet = walletOf(b)
	}
	return in, failed
}

// stonfiGave is what left a router by a transfer: nil where the asset is not known.
func (m *Match) stonfiGave(b *Block) (out *dexTransfer, failed bool) {
	out, failed = m.transferred(b)
	if out != nil && isPTon(out.Asset) {
		out.SourceJettonWallet, out.DestinationJettonWallet = nil, nil
		failed = b.kind != kindMade || b.Failed
		for _, p := range b.Parts { // the toncoins lie in the message that tells of them
			failed = failed || p.IsCall(opJettonNotify) && returned(p)
		}
	}
	return out, failed
}

// stonfiPayment is what a pool tells its router to pay.
type stonfiPayment struct {
	Owner    Address
	ExitCode uint32
	Amounts  [2]*big.Int
	Wallets  [2]Address // of the router
}

func readStonfiPayment(b *Block) (p stonfiPayment, ok bool) {
	r := b.Body()
	r.Skip(64) // query_id
	p.Owner = r.Address()
	p.ExitCode = uint32(r.Uint(32))
	if r.Bool() {
		r = r.Open()
	}
	for i := range 2 {
		p.Amounts[i], p.Wallets[i] = r.Coins(), r.Address()
	}
	return p, !r.Failed()
}

// paysTrader reports whether a payment is not the one of who referred.
func paysTrader(b *Block) bool {
	p, ok := readStonfiPayment(b)
	return ok && p.ExitCode != stonfiSwapOKRef
}

// paid is the side that a payment is of.
func (p *stonfiPayment) paid() int {
	if p.Amounts[0].Sign() > 0 {
		return 0
	}
	return 1
}

func makeStonfiSwap(m *Match) *Made {
	in, failed := m.stonfiGot()
	if in == nil {
		return nil
	}
	var out *dexTransfer
	failed = failed || m.Aborted("swap")
	var asked Address
	var refused bool
	for _, pay := range m.All("pay") {
		p, _ := readStonfiPayment(pay)
		paid, ok := m.stonfiPaid(pay, &p)
		if paid == nil {
			return nil
		}
		if out != nil && paid.Amount.Cmp(out.Amount) <= 0 {
			continue // the share of who referred
		}
		out, asked = paid, paid.Asset
		if refused = !ok || p.ExitCode != stonfiSwapOK; p.ExitCode != stonfiSwapOK {
			if master, known := m.master(p.Wallets[1-p.paid()]); known {
				asked = master
			}
		}
	}
	s := swapOf("stonfi", in, out, nil)
	s.AssetOut = asked
	return jettonSwap.Make(s).Fails(failed || refused)
}

// stonfiPaid is what a router paid on behalf of a pool, nil where the asset is not
// known, false where it did not arrive.
func (m *Match) stonfiPaid(pay *Block, p *stonfiPayment) (out *dexTransfer, ok bool) {
	for _, b := range m.All("out") {
		if b.Parent == pay {
			out, failed := m.stonfiGave(b)
			return out, !failed
		}
	}
	side := p.paid()
	master, known := m.master(p.Wallets[side])
	if !known {
		return nil, false
	}
	return &dexTransfer{Asset: master, Source: pay.Destination(), Destination: p.Owner,
		SourceJettonWallet: p.Wallets[side], Amount: p.Amounts[side]}, !unpaid(pay)
}

// stonfiDeposit makes a deposit of one half of it, and of the other one where the
// provider sent it too.
func (m *Match) stonfiDeposit(dex string, in *dexTransfer, failed bool) *Made {
	provide := m.One("provide")
	if in == nil {
		return nil
	}
	d := &liquidityDeposit{Dex: dex, Source: in.Source, Pool: provide.Destination(), DestinationLiquidity: provide.Destination()}
	d.set(0, in)
	if lp := m.One("lp"); lp != nil {
		if t, ok := readInternalTransfer(lp); ok {
			d.LPTokensMinted = t.Amount
		}
	}
	// What is added to an account without its other half waits there.
	added := m.One("added")
	failed = failed || m.Aborted("provide", "add", "added", "lp") || added != nil && d.LPTokensMinted == nil
	return m.deposited(d, m.One("add"), failed)
}

func makeStonfiWithdrawal(m *Match) *Made {
	return m.stonfiWithdrawal("stonfi", m.stonfiGave, func(pay *Block) ([2]*big.Int, bool) {
		p, ok := readStonfiPayment(pay)
		return p.Amounts, ok
	})
}

// stonfiWithdrawal makes a withdrawal of what a router gave for liquidity, in the
// order in which it gave it. It failed unless all arrived that the pool owes.
func (m *Match) stonfiWithdrawal(dex string, gave func(*Block) (*dexTransfer, bool), owes func(pay *Block) ([2]*big.Int, bool)) *Made {
	pool := m.One("pay").Source()
	w := &liquidityWithdrawal{Dex: dex, Source: m.Block.First().Source(), Pool: pool, DestinationLiquidity: pool}
	if burn := m.One("burn"); burn != nil {
		r := burn.First().Body()
		r.Skip(64) // query_id
		if w.LPTokensBurnt = r.Coins(); r.Failed() {
			return nil
		}
	}
	owed, paid := 0, m.All("out")
	var outs []*Block
	for _, pay := range m.All("pay") {
		amounts, ok := owes(pay)
		if !ok {
			return nil
		}
		sides := amounts[0].Sign() + amounts[1].Sign()
		if owed += sides; sides == 1 && goesOn(pay) {
			outs = append(outs, pay)
		}
		for ; len(paid) > 0 && paid[0].Parent == pay; paid = paid[1:] {
			outs = append(outs, paid[0])
		}
	}
	return m.withdrawn(w, outs, gave, m.Aborted("burn", "refund", "notice", "pay") || len(outs) < owed)
}

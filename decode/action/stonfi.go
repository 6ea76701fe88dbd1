package action

import "math/big"

// Opcodes of STON.fi, version 1.
const (
	opStonfiSwap    = 0x25938561 // of a router to a pool
	opStonfiPayTo   = 0xf93bb43f // of a pool to its router
	stonfiSwapOK    = 0xc64370e5 // exit codes of a payment
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
	},
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
	in, failed := m.came(m.One("in"))
	if in == nil {
		return nil
	}
	if t := jettonTransfer.Of(m.One("in")); t != nil && t.PTon {
		in.DestinationJettonWallet = walletOf(m.One("in"))
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
		if b.Parent != pay {
			continue
		}
		out, failed := m.transferred(b)
		if out != nil && isPTon(out.Asset) {
			out.SourceJettonWallet, out.DestinationJettonWallet = nil, nil
			failed = jettonTransfer.Of(b) == nil || b.Failed
		}
		return out, !failed
	}
	side := p.paid()
	master, known := m.master(p.Wallets[side])
	if !known {
		return nil, false
	}
	return &dexTransfer{Asset: master, Source: pay.Destination(), Destination: p.Owner,
		SourceJettonWallet: p.Wallets[side], Amount: p.Amounts[side]}, !unpaid(pay)
}

package action

import "math/big"

// Opcodes of Tegro.
const (
	opTegroSwap        = 0x600c00fd // of a trader to a pool
	opTegroSwapJettons = 0x01fb7a25 // of a payload
	opTegroDeposit     = 0x287e167a // of a payload
	opTegroSwapped     = 0xde6e0675 // of a pool to a receiver or to the next pool, and of a payload
	opTegroWithdrawn   = 0xceb1e3c1 // of a payload
	opTegroChange      = 0x848a64ff // of a payload
	opTegroLeftTooLow  = 0xb135ad70 // of a pool that refuses, and of a payload
	opTegroRightTooLow = 0xd1635ae2
	opTegroNoLiquidity = 0xcf7c0035
	opTegroSlippage    = 0xc6d0084d
)

// tegro is Tegro: pools of toncoins, on the left, and jettons, on the right, that have
// their assets and are the masters of their LP tokens.
var tegro = &Protocol{
	Name: "tegro",
	Rules: []Rule{
		{
			Name:  "swap at Tegro",
			Order: orderTegroSwap,
			Pattern: OneOf(
				delivered().Carrying(tegroAnswers...), Call(tegroAnswers...),
			).As("out").Below(
				OneOf(Is(jettonTransfer).Carrying(opTegroSwapJettons), Call(opTegroSwap), Is(jettonSwap).Kept()).As("in").With(
					delivered().Carrying(opTegroChange).As("change").Maybe(),
				),
			),
			Make: makeTegroSwap,
		},
		{
			Name:  "deposit of liquidity at Tegro",
			Order: orderTegroDeposit,
			Pattern: Is(jettonTransfer).Carrying(opTegroDeposit).As("in").With(
				tegroMinted(),
				delivered().Carrying(opTegroChange, opTegroLeftTooLow, opTegroRightTooLow).As("change").Maybe(),
			),
			Make: makeTegroDeposit,
		},
		{
			Name:  "withdrawal of liquidity from Tegro",
			Order: orderTegroWithdrawal,
			Pattern: Is(jettonBurn).As("burn").With(
				delivered().Carrying(opTegroWithdrawn).As("out"), tegroMinted(),
			),
			Make: makeTegroWithdrawal,
		},
	},
}

// tegroMinted is what a pool mints: first its own share of what it earned, then what a
// provider gets.
func tegroMinted() *Pattern {
	return Call(opJettonInternalTransfer).As("lp").With(notified()).Every().Maybe()
}

// tegroAnswers are what a pool says when it swapped or refused to.
var tegroAnswers = []uint32{opTegroSwapped, opTegroLeftTooLow, opTegroRightTooLow, opTegroNoLiquidity, opTegroSlippage}

func makeTegroSwap(m *Match) *Made {
	b, paid := m.One("in"), m.Block
	in, failed := m.cameTo(b, paid.First().Source())
	if b.IsCall(opTegroSwap) {
		in, failed = tegroToncoins(b)
	}
	var out *dexTransfer
	var lost bool
	if paid.IsCall(tegroAnswers...) {
		// With the toncoins that were not needed.
		out, lost = &dexTransfer{Source: paid.Source(), Destination: paid.Destination(), Amount: nanotons(paid.Value())}, returned(paid)
	} else {
		out, lost = m.transferred(paid)
	}
	if in == nil || out == nil {
		return nil
	}
	return jettonSwap.Make(swapOf("tegro", in, out, nil)).Fails(failed || lost || same(in.Asset, out.Asset))
}

// tegroToncoins is what an order swaps: as many toncoins as it names at most, and not
// more than it brings.
func tegroToncoins(b *Block) (in *dexTransfer, failed bool) {
	r := b.Body()
	r.Skip(64 + 1) // query_id, extract
	amount := r.Coins()
	if r.Failed() {
		return nil, true
	}
	if brought := nanotons(b.Value()); amount.Cmp(brought) > 0 {
		amount = brought
	}
	return &dexTransfer{Source: b.Source(), Destination: b.Destination(), Amount: amount}, b.Aborted()
}

// tegroGave is a transfer from a pool, which carries toncoins too.
func (m *Match) tegroGave(b *Block) (jettons *dexTransfer, toncoins *big.Int, failed bool) {
	t := jettonTransfer.Of(b)
	if t == nil {
		t, _ = readTransfer(b)
	}
	if jettons, failed = m.transferred(b); jettons == nil || t == nil {
		return nil, nil, true
	}
	return jettons, t.ForwardAmount, failed
}

func makeTegroDeposit(m *Match) *Made {
	t := jettonTransfer.Of(m.Block)
	d := &liquidityDeposit{Dex: "tegro", Source: t.Sender, Pool: t.Receiver, DestinationLiquidity: t.Receiver, Amount1: t.ForwardAmount}
	d.set(1, transferOf(t))
	failed := m.Block.Failed
	if all := m.All("lp"); len(all) > 0 {
		lp := all[len(all)-1]
		minted, ok := readInternalTransfer(lp)
		if !ok || !same(lp.Source(), t.Receiver) {
			return nil
		}
		d.LPTokensMinted, failed = minted.Amount, failed || lp.Aborted()
	}
	if change := m.One("change"); change != nil {
		jettons, toncoins, lost := m.tegroGave(change)
		if jettons == nil {
			return nil
		}
		for _, e := range []vaultExcess{{nil, toncoins}, {jettons.Asset, jettons.Amount}} {
			if !lost && e.Amount.Sign() > 0 {
				d.VaultExcesses = append(d.VaultExcesses, e)
			}
		}
	}
	return dexDeposit.Make(d).Fails(failed || d.LPTokensMinted == nil)
}

func makeTegroWithdrawal(m *Match) *Made {
	burn := jettonBurn.Of(m.Block)
	jettons, toncoins, lost := m.tegroGave(m.One("out"))
	if jettons == nil || !same(jettons.Source, burn.Asset) {
		return nil
	}
	w := &liquidityWithdrawal{Dex: "tegro", Source: burn.Owner, LPTokensBurnt: burn.Amount, Pool: burn.Asset, DestinationLiquidity: burn.Asset, Amount1: toncoins}
	w.set(1, jettons)
	return dexWithdrawal.Make(w).Fails(m.Block.Failed || lost)
}

package action

// Opcodes of Moon.
const (
	opMoonSwap          = 0xb37a900b // of a trader to a pool, and of a payload
	opMoonSwapped       = 0xcb7f38d6 // of a pool to a receiver, and of a payload
	opMoonSwapFailed    = 0xc47c1f57
	opMoonDeposit       = 0xb31db781 // of a provider to a pool, and of a payload
	opMoonRecord        = 0xbaaa2c1b // of a pool to the account of a provider
	opMoonProvide       = 0x6b1b8a3f // of that account to its pool
	opMoonProvided      = 0x737b4eb6 // of a pool to a provider
	opMoonProvideFailed = 0x7daf7060
	opMoonPayout        = 0x90d3b4ad // of a pool for liquidity
	opMoonNotify        = 0xff86f067
)

// moonFee is what a pool keeps of the toncoins that came with a swap, in nanotons.
const moonFee = 7e6

// moon is Moon: pools that have their assets and are the masters of their LP tokens.
var moon = &Protocol{
	Name: "moon",
	Rules: []Rule{
		{
			Name:  "swap at Moon",
			Order: orderMoonSwap,
			Pattern: OneOf(
				moonOrdered().As("in").With(OneOf(Call(opMoonSwap).Where(leadsOn).Kept(), delivered(), passedOn(), moonCall()).As("out")),
				moonOrdered().As("in").With(Any().Where(isMoonPayment).As("out")),
			),
			Make: makeMoonSwap,
		},
		{
			Name:  "deposit of liquidity at Moon",
			Order: orderMoonDeposit,
			Pattern: Call(opMoonRecord).As("record").With(
				Call(opMoonProvide).As("provide").With(
					Call(opJettonInternalTransfer).As("lp").With(notified()).Maybe(),
					Call(opMoonProvided, opMoonProvideFailed).Maybe(),
				).Maybe(),
			).Below(OneOf(given(), Call(opMoonDeposit)).As("in")),
			Make: makeMoonDeposit,
		},
		{
			Name:  "withdrawal of liquidity from Moon",
			Order: orderMoonWithdrawal,
			Pattern: OneOf(
				moonBurnt(Is(jettonBurn)),
				Call(opJettonBurn).With(moonBurnt(Call(opJettonBurnNotification)).As("notice")),
			).As("burn"),
			Make: makeMoonWithdrawal,
		},
	},
}

// moonBurnt is where a pool hears of burnt tokens, with what it pays.
func moonBurnt(heard *Pattern) *Pattern {
	return heard.Where(paidByMoon).With(
		OneOf(delivered(), passedOn(), Call(opMoonPayout)).As("out").Every(),
		Call(opMoonNotify).Maybe(),
	)
}

// moonOrdered is an order to swap, with what is to be swapped.
func moonOrdered() *Pattern { return OneOf(Is(jettonTransfer).Carrying(opMoonSwap), Call(opMoonSwap)) }

// moonCall is how a pool pays toncoins, to another pool too.
func moonCall() *Pattern { return Call(opMoonSwapped, opMoonSwapFailed, opMoonSwap) }

// isMoonPayment reports whether a message may be how a pool pays toncoins: with whatever
// an order has for their receiver.
func isMoonPayment(b *Block) bool {
	return b.internal() && !b.isReturn() && !same(b.Source(), b.Destination())
}

func makeMoonSwap(m *Match) *Made {
	b, paid := m.One("in"), m.One("out")
	op, known := carried(paid)
	if paid.kind == kindCall && !paid.IsCall(opJettonTransfer) {
		op, known = paid.Opcode()
	}
	in, failed := m.transferred(b)
	if b.IsCall(opMoonSwap) {
		in, failed = namedToncoins(b)
	}
	out, lost := m.moonPaid(paid, op == opMoonSwapFailed)
	if in == nil || out == nil || !same(in.Destination, out.Source) {
		return nil
	}
	refused := known && op == opMoonSwapFailed || same(in.Asset, out.Asset)
	return jettonSwap.Make(swapOf("moon", in, out, nil)).Fails(failed || lost || refused)
}

// moonPaid is what a pool paid. Toncoins lie in a message with those that came to the
// pool, which pays its fees out of them.
func (m *Match) moonPaid(b *Block, back bool) (out *dexTransfer, failed bool) {
	if b.kind == kindMade || b.IsCall(opJettonTransfer) {
		return m.transferred(b)
	}
	out = &dexTransfer{Source: b.Source(), Destination: b.Destination(), Amount: nanotons(b.Value())}
	order := b.sender
	if fees := order.Tx.GetAction().GetTotalFwdFees(); !back && fees > 0 && len(order.Tx.OutMsgs) == 1 {
		exact := nanotons(b.Value())
		exact.Add(exact, nanotons(fees+moonFee)).Sub(exact, nanotons(order.Value()))
		if exact.Sign() > 0 {
			out.Amount = exact
		}
	}
	return out, returned(b)
}

func makeMoonDeposit(m *Match) *Made {
	b, record := m.One("in"), m.One("record")
	r := record.Body()
	r.Skip(64 + 8) // query_id, asset_number
	amount := r.Coins()
	if r.Failed() {
		return nil
	}
	var in *dexTransfer
	var failed bool
	if b.kind == kindMade {
		in, failed = m.came(b)
	} else {
		in, failed = &dexTransfer{Source: b.Source(), Destination: b.Destination(), Amount: amount}, b.Aborted()
	}
	if in == nil {
		return nil
	}
	d := &liquidityDeposit{Dex: "moon", Source: in.Source, Pool: record.Source(), DestinationLiquidity: record.Source()}
	d.set(0, in)
	if lp := m.One("lp"); lp != nil {
		if t, ok := readInternalTransfer(lp); ok {
			d.LPTokensMinted = t.Amount
		}
	}
	failed = failed || m.Aborted("record", "provide", "lp") || m.One("provide") != nil && d.LPTokensMinted == nil
	return m.deposited(d, record, failed)
}

// paidByMoon reports whether a pool paid for burnt tokens.
func paidByMoon(burn *Block) bool {
	for _, c := range burn.Children {
		if op, ok := carried(c); ok && (op == opMoonPayout || op == opMoonNotify) || c.IsCall(opMoonPayout, opMoonNotify) {
			return true
		}
	}
	return false
}

func makeMoonWithdrawal(m *Match) *Made {
	pool := m.One("out").First().Source()
	r := m.Block.First().Body()
	r.Skip(64) // query_id
	w := &liquidityWithdrawal{Dex: "moon", Source: m.Block.First().Source(), LPTokensBurnt: r.Coins(), Pool: pool, DestinationLiquidity: pool}
	if r.Failed() {
		return nil
	}
	return m.withdrawn(w, m.All("out"), func(b *Block) (*dexTransfer, bool) {
		if b.IsCall(opMoonPayout) {
			return &dexTransfer{Source: b.Source(), Destination: b.Destination(), Amount: nanotons(b.Value())}, returned(b)
		}
		return m.transferred(b)
	}, m.Aborted("burn", "notice"))
}

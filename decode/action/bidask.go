package action

// Opcodes of Bidask.
const (
	opBidaskSwap         = 0xf2ef6c1b // of a trader to a pool
	opBidaskSwapV2       = 0x87d36990 // of a trader to a pool, and of that to a range
	opBidaskInternalSwap = 0x66210c65 // of a pool to a range
	opBidaskContinue     = 0x59699475 // of a range to the next one
	opBidaskContinueV2   = 0x5a6a036f
	opBidaskSwapped      = 0x520e4831 // of a range to its pool
	opBidaskSwappedV2    = 0xd3a25890
	opBidaskRefused      = 0x1bba3896 // of a range to its pool
	opBidaskPaid         = 0x6edd65f0 // of a pool to a receiver of toncoins
)

// bidask is Bidask: pools that have their assets, and ranges of prices that count.
var bidask = &Protocol{
	Name: "bidask",
	Rules: []Rule{
		{
			Name:    "swap at Bidask",
			Order:   orderBidaskSwap,
			Pattern: bidaskRange(opBidaskInternalSwap, opBidaskSwapV2).Below(OneOf(given(), Call(opBidaskSwap, opBidaskSwapV2)).As("in")),
			Make:    makeBidaskSwap,
		},
	},
}

// bidaskRange is a swap in one range, and in those that follow.
func bidaskRange(opcodes ...uint32) *Pattern {
	return Call(opcodes...).As("range").With(OneOf(
		Again(nextBidaskRange),
		Call(opBidaskSwapped, opBidaskSwappedV2, opBidaskRefused).As("end").With(
			OneOf(delivered(), passedOn(), Call(opBidaskPaid)).As("out").Every(),
		),
	))
}

func nextBidaskRange() *Pattern { return bidaskRange(opBidaskContinue, opBidaskContinueV2) }

// bidaskToncoins is what a message brings whose body names it behind the query's id.
func bidaskToncoins(b *Block) (t *dexTransfer, failed bool) {
	r := b.Body()
	r.Skip(64) // query_id
	t = &dexTransfer{Source: b.Source(), Destination: b.Destination(), Amount: r.Coins()}
	if r.Failed() {
		return nil, true
	}
	return t, b.Aborted()
}

func makeBidaskSwap(m *Match) *Made {
	b, end := m.One("in"), m.One("end")
	came := m.came
	if b.kind != kindMade {
		came = bidaskToncoins
	}
	in, failed := came(b)
	if in == nil {
		return nil
	}
	refused := end.IsCall(opBidaskRefused)
	var out *dexTransfer
	for _, paid := range m.All("out") {
		gave := m.transferred
		if paid.IsCall(opBidaskPaid) {
			gave = bidaskToncoins
		}
		t, lost := gave(paid)
		if t == nil {
			return nil
		}
		// What is returned of the asset that came in is no part of what was bought.
		if out == nil || !refused && same(out.Asset, in.Asset) {
			out, failed = t, failed || lost
		}
	}
	refused = refused || same(out.Asset, in.Asset)
	return jettonSwap.Make(swapOf("bidask", in, out, nil)).Fails(failed || refused || m.Aborted("range", "end"))
}

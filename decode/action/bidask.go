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

	opBidaskProvide         = 0x96feef7b // of a provider to a pool, and of a payload
	opBidaskProvideBoth     = 0x3ea0bafc // of a payload: with toncoins
	opBidaskSave            = 0x214ad1d2 // of a pool to a vault, until the other half comes
	opBidaskSaved           = 0xaf31d23f // of that vault to its pool
	opBidaskInternalProvide = 0xd1b02ea5 // of a pool to a range
	opBidaskContinueProvide = 0x0c09445a // of a range to the next one
	opBidaskProvideRefund   = 0x02422cbe // of a range to its pool
	opBidaskMint            = 0x250ad226 // of a range to the holder of a position
	opBidaskAdded           = 0x0dc8bb28 // of that holder to its owner
	opBidaskBurn            = 0x73403c43 // of the owner to the holder
	opBidaskBurnAll         = 0xebd6ec83
	opBidaskInternalBurn    = 0x16e09400 // of the holder to a range, of that to the next one
	opBidaskBurnt           = 0x42062d62 // of a range to its pool

	opBidaskDammSwap         = 0xdd79732c // of a trader to a pool, and of a payload
	opBidaskDammProvide      = 0x63ec24ae // of payloads
	opBidaskDammProvideBoth  = 0xa8904134
	opBidaskDammProvideOne   = 0x729c04c8 // of a provider to a pool, and of a payload
	opBidaskDammMint         = 0x27ae4eff // of a pool to a wallet of LP tokens
	opBidaskDammBurn         = 0x71e4a09a // of the owner to his wallet
	opBidaskDammInternalBurn = 0xadb8eb49 // of that wallet to its pool
)

// bidaskDeposits are the orders of deposits that transfers of jettons carry.
var bidaskDeposits = []uint32{opBidaskProvide, opBidaskProvideBoth, opBidaskDammProvide, opBidaskDammProvideBoth, opBidaskDammProvideOne}

// bidask is Bidask: pools that have their assets, and ranges of prices that count. The
// pools of its other kind (DAMM) count themselves.
var bidask = &Protocol{
	Name: "bidask",
	Rules: []Rule{
		{
			Name:    "swap at Bidask",
			Order:   orderBidaskSwap,
			Pattern: bidaskRange(opBidaskInternalSwap, opBidaskSwapV2).Below(OneOf(given(), Call(opBidaskSwap, opBidaskSwapV2)).As("in")),
			Make:    makeBidaskSwap,
		},
		{
			Name:  "swap at a pool of Bidask without ranges",
			Order: orderBidaskDammSwap,
			Pattern: OneOf(Is(jettonTransfer).Carrying(opBidaskDammSwap), Call(opBidaskDammSwap)).As("in").With(
				bidaskPaid().Every(),
			),
			Make: makeBidaskSwap,
		},
		{
			Name:  "deposit of liquidity at Bidask",
			Order: orderBidaskDeposit,
			Pattern: OneOf(Is(jettonTransfer).Carrying(bidaskDeposits...), Call(opBidaskProvide, opBidaskDammProvideOne)).As("in").With(OneOf(
				bidaskProvided(),
				Call(opBidaskSave).As("save").With(Call(opBidaskSaved).As("saved").With(bidaskProvided()).Maybe()),
			)),
			Make: makeBidaskDeposit,
		},
		{
			Name:  "withdrawal of liquidity from Bidask",
			Order: orderBidaskWithdrawal,
			Pattern: OneOf(
				Call(opBidaskBurn, opBidaskBurnAll).As("burn").With(Again(bidaskBurnt)),
				Call(opBidaskDammBurn).As("burn").With(Call(opBidaskDammInternalBurn).As("end").With(bidaskPaid().Every())),
			),
			Make: makeBidaskWithdrawal,
		},
	},
}

// bidaskPaid is what a pool pays.
func bidaskPaid() *Pattern { return OneOf(delivered(), passedOn(), Call(opBidaskPaid)).As("out") }

// bidaskProvided is the liquidity that a deposit gives, in one range and those that
// follow, or in a pool without ranges.
func bidaskProvided() *Pattern {
	return OneOf(
		bidaskRangeProvided(opBidaskInternalProvide),
		Call(opBidaskDammMint).As("mint").With(Call(opBidaskAdded).Maybe()),
	)
}

func bidaskRangeProvided(opcode uint32) *Pattern {
	return Call(opcode).As("provide").With(
		Call(opBidaskMint).As("position").With(Call(opBidaskAdded).Maybe()).Maybe(),
		Call(opBidaskProvideRefund).As("refund").With(bidaskPaid().Every()).Maybe(),
		Again(nextBidaskProvided).Maybe(),
	)
}

func nextBidaskProvided() *Pattern { return bidaskRangeProvided(opBidaskContinueProvide) }

// bidaskBurnt is what one range gives for liquidity, and those that follow.
func bidaskBurnt() *Pattern {
	return Call(opBidaskInternalBurn).As("range").With(OneOf(
		Again(bidaskBurnt),
		Call(opBidaskBurnt).As("end").With(bidaskPaid().Every()),
	))
}

// bidaskRange is a swap in one range, and in those that follow.
func bidaskRange(opcodes ...uint32) *Pattern {
	return Call(opcodes...).As("range").With(OneOf(
		Again(nextBidaskRange),
		Call(opBidaskSwapped, opBidaskSwappedV2, opBidaskRefused).As("end").With(
			bidaskPaid().Every(),
		),
	))
}

func nextBidaskRange() *Pattern { return bidaskRange(opBidaskContinue, opBidaskContinueV2) }

// bidaskGot is what came to a pool.
func (m *Match) bidaskGot() (in *dexTransfer, failed bool) {
	if b := m.One("in"); b.kind != kindMade {
		return namedToncoins(b)
	}
	return m.came(m.One("in"))
}

// bidaskGave is what a pool paid.
func (m *Match) bidaskGave(b *Block) (out *dexTransfer, failed bool) {
	return m.paid(b, opBidaskPaid)
}

func makeBidaskSwap(m *Match) *Made {
	in, failed := m.bidaskGot()
	if in == nil {
		return nil
	}
	refused := m.One("end").IsCall(opBidaskRefused)
	var out *dexTransfer
	for _, paid := range m.All("out") {
		t, lost := m.bidaskGave(paid)
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

// makeBidaskDeposit takes toncoins from what the pool tells the range: with an order for
// one asset the other one is zero.
func makeBidaskDeposit(m *Match) *Made {
	b, provide := m.One("in"), m.One("provide")
	d := &liquidityDeposit{Dex: "bidask"}
	failed := b.Failure() || m.Aborted("save", "saved", "provide", "position", "mint")
	if t := jettonTransfer.Of(b); t != nil {
		d.Source, d.Pool = t.Sender, t.Receiver
		d.set(0, transferOf(t))
		for _, both := range []uint32{opBidaskProvideBoth, opBidaskDammProvideBoth} {
			if order, ok := t.Forward.Body(both); ok {
				d.set(1, &dexTransfer{Amount: order.Coins()})
				if order.Failed() {
					return nil
				}
			}
		}
	} else {
		d.Source, d.Pool = b.Source(), b.Destination()
		in, _ := namedToncoins(b)
		switch save := m.One("save"); {
		case save != nil:
			in = bidaskAmount(save, 0)
		case provide != nil:
			in = bidaskAmount(provide, 3)
		}
		if in == nil {
			return nil
		}
		d.set(0, in)
	}
	d.DestinationLiquidity = d.Pool
	if position := m.One("position"); position != nil {
		d.NFTAddress = position.Destination()
	}
	if mint := m.One("mint"); mint != nil {
		minted, _ := namedToncoins(mint) // an amount behind the query's id, of LP tokens
		if minted == nil {
			return nil
		}
		d.LPTokensMinted = minted.Amount
	}
	for _, paid := range m.All("out") {
		out, lost := m.bidaskGave(paid)
		if out == nil {
			return nil
		}
		if !lost {
			d.VaultExcesses = append(d.VaultExcesses, vaultExcess{out.Asset, out.Amount})
		}
	}
	return m.deposited(d, m.One("save"), failed || provide != nil && !d.minted())
}

// bidaskAmount is how much a message names of one of two assets, behind the query's id
// and some cells that may be there; nil where it names both.
func bidaskAmount(b *Block, cells int) *dexTransfer {
	r := b.Body()
	r.Skip(64) // query_id
	for range cells {
		if r.Bool() {
			r.Ref()
		}
	}
	x, y := r.Coins(), r.Coins()
	if r.Failed() || x.Sign() != 0 && y.Sign() != 0 {
		return nil
	}
	return &dexTransfer{Amount: x.Add(x, y)}
}

func makeBidaskWithdrawal(m *Match) *Made {
	burn, pool := m.Block, m.One("end").Destination()
	w := &liquidityWithdrawal{Dex: "bidask", Source: burn.Source(), Pool: pool, DestinationLiquidity: pool}
	if burn.IsCall(opBidaskDammBurn) {
		burnt, _ := namedToncoins(burn) // an amount behind the query's id, of LP tokens
		if burnt == nil {
			return nil
		}
		w.LPTokensBurnt = burnt.Amount
	} else {
		w.BurntNFTAddress = burn.Destination()
	}
	return m.withdrawn(w, m.All("out"), m.bidaskGave, m.Aborted("burn", "range", "end"))
}

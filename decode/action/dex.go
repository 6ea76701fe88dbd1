package action

import (
	"bytes"
	"math/big"
	"slices"
)

var (
	jettonSwap    = NewType[swap]("jetton_swap", V1)
	dexDeposit    = NewType[liquidityDeposit]("dex_deposit_liquidity", V1)
	dexWithdrawal = NewType[liquidityWithdrawal]("dex_withdraw_liquidity", V1)
)

// swap is an exchange of one asset for another one. Assets are masters of jettons,
// null for toncoins.
type swap struct {
	Dex       string      `detail:"dex"`
	Sender    Address     `detail:"sender,account"`
	AssetIn   Address     `detail:"asset_in"`
	AssetOut  Address     `detail:"asset_out"` // that was asked for, also where another one came back
	Incoming  dexTransfer `detail:"dex_incoming_transfer"`
	Outgoing  dexTransfer `detail:"dex_outgoing_transfer"`
	PeerSwaps []peerSwap  `detail:"peer_swaps"` // of more than one pool
	// MinOutAmount is of TONCO what a failed swap should have given at least, and what
	// another one gave, and of DeDust v2 what it was to give at least.
	MinOutAmount *big.Int `detail:"min_out_amount,optional"`
}

// dexTransfer is what an exchange was given, or gave.
type dexTransfer struct {
	Asset                   Address  `detail:"asset"`
	Source                  Address  `detail:"source,account"`
	Destination             Address  `detail:"destination,account"`
	SourceJettonWallet      Address  `detail:"source_jetton_wallet,account"`
	DestinationJettonWallet Address  `detail:"destination_jetton_wallet,account"`
	Amount                  *big.Int `detail:"amount"`
}

// peerSwap is what one of several pools did.
type peerSwap struct {
	AssetIn   Address  `detail:"asset_in"`
	AmountIn  *big.Int `detail:"amount_in"`
	AssetOut  Address  `detail:"asset_out"`
	AmountOut *big.Int `detail:"amount_out"`
}

type liquidityDeposit struct {
	Dex                  string        `detail:"dex"`
	Amount1              *big.Int      `detail:"amount_1"`
	Amount2              *big.Int      `detail:"amount_2"`
	Asset1               Address       `detail:"asset_1"`
	Asset2               Address       `detail:"asset_2"`
	UserJettonWallet1    Address       `detail:"user_jetton_wallet_1,account"`
	UserJettonWallet2    Address       `detail:"user_jetton_wallet_2,account"`
	Source               Address       `detail:"source,account"`
	Pool                 Address       `detail:"pool,account"`
	DestinationLiquidity Address       `detail:"destination_liquidity,account"`
	LPTokensMinted       *big.Int      `detail:"lp_tokens_minted"`
	TargetAsset1         Address       `detail:"target_asset_1"`
	TargetAsset2         Address       `detail:"target_asset_2"`
	TargetAmount1        *big.Int      `detail:"target_amount_1"`
	TargetAmount2        *big.Int      `detail:"target_amount_2"`
	VaultExcesses        []vaultExcess `detail:"vault_excesses"`
	TickLower            *big.Int      `detail:"tick_lower"`
	TickUpper            *big.Int      `detail:"tick_upper"`
	NFTIndex             *big.Int      `detail:"nft_index"`
	NFTAddress           Address       `detail:"nft_address,account"`

	// Joined are the amounts that the pool got of its two assets, of DeDust v2 only, and
	// nil as long as it got one.
	Joined [2]*big.Int
}

// vaultExcess is what a deposit gave back, and what arrived.
type vaultExcess struct {
	Asset  Address  `detail:"asset"`
	Amount *big.Int `detail:"amount"`
}

type liquidityWithdrawal struct {
	Dex                  string   `detail:"dex"`
	Amount1              *big.Int `detail:"amount_1"`
	Amount2              *big.Int `detail:"amount_2"`
	Asset1               Address  `detail:"asset_1"`
	Asset2               Address  `detail:"asset_2"`
	UserJettonWallet1    Address  `detail:"user_jetton_wallet_1,account"`
	UserJettonWallet2    Address  `detail:"user_jetton_wallet_2,account"`
	LPTokensBurnt        *big.Int `detail:"lp_tokens_burnt"`
	IsRefund             *bool    `detail:"is_refund"`
	Source               Address  `detail:"source,account"`
	Pool                 Address  `detail:"pool,account"`
	DestinationLiquidity Address  `detail:"destination_liquidity,account"`
	BurntNFTIndex        *big.Int `detail:"burnt_nft_index"`
	BurntNFTAddress      Address  `detail:"burnt_nft_address,account"`
	TickLower            *big.Int `detail:"tick_lower"`
	TickUpper            *big.Int `detail:"tick_upper"`
}

// dexes are the actions that exchanges have in common.
var dexes = &Protocol{
	Name:  "dex",
	Types: []typed{jettonSwap, dexDeposit, dexWithdrawal},
}

// set says what one of the two assets of a deposit was, in the first place or the
// second: 0 or 1.
func (d *liquidityDeposit) set(side int, in *dexTransfer) {
	if side == 0 {
		d.Asset1, d.Amount1, d.UserJettonWallet1 = in.Asset, in.Amount, in.SourceJettonWallet
	} else {
		d.Asset2, d.Amount2, d.UserJettonWallet2 = in.Asset, in.Amount, in.SourceJettonWallet
	}
}

// set says what one of the two assets of a withdrawal was, in the first place or the
// second: 0 or 1.
func (w *liquidityWithdrawal) set(side int, out *dexTransfer) {
	if side == 0 {
		w.Asset1, w.Amount1, w.UserJettonWallet1 = out.Asset, out.Amount, out.DestinationJettonWallet
	} else {
		w.Asset2, w.Amount2, w.UserJettonWallet2 = out.Asset, out.Amount, out.DestinationJettonWallet
	}
}

// deposited makes a deposit of one half of it, and of the other one where that was made
// before and lies beside this one. What came first waits until the pool has both, at the
// account that met came to, nil for a deposit that waits for nothing.
func (m *Match) deposited(d *liquidityDeposit, met *Block, failed bool) *Made {
	made := dexDeposit.Make(d)
	if other := m.otherHalf(d, met, failed); other != nil {
		half := dexDeposit.Of(other)
		d.set(1, &dexTransfer{Asset: half.Asset1, Amount: half.Amount1, SourceJettonWallet: half.UserJettonWallet1})
		if !d.minted() {
			d.LPTokensMinted, d.NFTAddress, d.VaultExcesses = half.LPTokensMinted, half.NFTAddress, half.VaultExcesses
		}
		failed = failed || other.Failed
		made.Consumes(other)
	}
	return made.Fails(failed)
}

// minted reports whether a deposit gave liquidity.
func (d *liquidityDeposit) minted() bool { return d.LPTokensMinted != nil || d.NFTAddress != nil }

// otherHalf is the other half of a deposit, which the provider sent beside this one. One
// that failed before it gave liquidity is half of none, and one that came when the other
// had given it is half of the next deposit.
func (m *Match) otherHalf(d *liquidityDeposit, met *Block, failed bool) *Block {
	sender := m.One("in").Parent
	if sender == nil || met == nil || d.Amount2 != nil || failed && !d.minted() {
		return nil
	}
	for _, b := range sender.Children {
		half := dexDeposit.Of(b)
		if half != nil && half.Dex == d.Dex && half.Amount2 == nil && same(half.Source, d.Source) && same(half.Pool, d.Pool) &&
			!same(half.Asset1, d.Asset1) && half.minted() != d.minted() && (half.minted() || !b.Failed) {
			if lt := metAt(b, met); lt > 0 && (lt < met.Tx.Lt) == d.minted() {
				return b
			}
		}
	}
	return nil
}

// metAt is the logical time at which half of a deposit came, as the other one did with
// met, to where they meet; 0 where it did not.
func metAt(half, met *Block) (lt uint64) {
	op, _ := met.Opcode()
	half.Each(func(b *Block) bool {
		if b.IsCall(op) && same(b.Destination(), met.Destination()) {
			lt = b.Tx.Lt
		}
		return lt == 0
	})
	return lt
}

// carried is the first 32 bits of what a transfer of jettons carries to its receiver,
// false where it carries less.
func carried(b *Block) (uint32, bool) {
	if t := jettonTransfer.Of(b); t != nil {
		return t.Forward.Opcode()
	}
	if !b.IsCall(opJettonTransfer) {
		return 0, false
	}
	r := b.Body()
	r.Skip(64)                 // query_id
	r.Skip(8 * int(r.Uint(4))) // amount
	r.Address()                // destination
	r.Address()                // response_destination
	if r.Bool() {
		r.Ref() // custom_payload
	}
	r.Skip(8 * int(r.Uint(4))) // forward_ton_amount
	return r.Payload().Opcode()
}

func carries(opcodes []uint32) func(*Block) bool {
	return func(b *Block) bool {
		op, ok := carried(b)
		return ok && slices.Contains(opcodes, op)
	}
}

// master is the master of a jetton wallet, false where the account is not known to
// be one.
func (m *Match) master(wallet Address) (Address, bool) {
	w := m.Contract(wallet).GetJettonWallet()
	return w.GetMaster(), w != nil
}

// traded is the asset that jettons of a master stand for: toncoins where they are
// wrapped.
func traded(master Address) Address {
	if isPTon(master) {
		return nil
	}
	return master
}

// transferOf is what a transfer of jettons gave to its receiver.
func transferOf(t *jettonMove) *dexTransfer {
	return &dexTransfer{Asset: t.Asset, Source: t.Sender, Destination: t.Receiver,
		SourceJettonWallet: t.SenderJettonWallet, DestinationJettonWallet: t.ReceiverJettonWallet, Amount: t.Amount}
}

// given is a transfer of jettons to an exchange, or a swap at another exchange that
// ended with one.
func given() *Pattern { return OneOf(Is(jettonTransfer), Is(jettonSwap).Kept()) }

// givenUnknown is what an exchange hears of a transfer of jettons from wallets of which
// nothing is known.
func givenUnknown() *Pattern {
	return Call(opJettonNotify).Below(Call(opJettonInternalTransfer).Below(Call(opJettonTransfer).As("transfer")))
}

// delivered is the order of a transfer of jettons, with what came of it where no
// transfer was recognised. One is kept that begins a swap at a pool without messages of
// its own.
func delivered() *Pattern { return deliveredTo(notified()) }

// deliveredTo is delivered, with how the receiver is told where no transfer was recognised.
func deliveredTo(told *Pattern) *Pattern {
	return OneOf(
		Is(jettonTransfer).Carrying(opMoonSwap, opBidaskDammSwap).Where(leadsOn).Kept(),
		Is(jettonTransfer),
		Call(opJettonTransfer).With(Call(opJettonInternalTransfer).With(told).Maybe()),
	)
}

// notifiedTransfer is what an exchange heard of such a transfer, without its asset: nil where the
// order cannot be read.
func notifiedTransfer(transfer, told *Block) *dexTransfer {
	t, _ := ordered(transfer)
	if t == nil {
		return nil
	}
	in := transferOf(t)
	in.DestinationJettonWallet = told.Source()
	return in
}

// passedOn is a transfer of jettons to another exchange, with the swap there.
func passedOn() *Pattern { return Is(jettonSwap).Kept() }

// mayName reports whether an exchange may name a jetton without a wallet that shows it:
// where the master is known, those who have wallets of it are known, too.
func (m *Match) mayName(master Address) bool { return m.Contract(master).GetJettonMaster() == nil }

// leadsOn reports whether something came of an order besides what came back.
func leadsOn(b *Block) bool {
	return !b.Failure() && slices.ContainsFunc(b.Children, func(c *Block) bool { return c.kind != kindLog && !c.isReturn() })
}

// transferred is what a transfer of jettons moved, or would have moved: failed
// reports that its receiver did not get it. It is nil where the asset is not known.
func (m *Match) transferred(b *Block) (t *dexTransfer, failed bool) {
	if made := jettonTransfer.Of(b); made != nil {
		return transferOf(made), b.Failed
	}
	if s := jettonSwap.Of(b); s != nil {
		in := s.Incoming
		return &in, false
	}
	order, failed := ordered(b)
	master, known := m.master(b.Destination())
	if order == nil || !known {
		return nil, failed
	}
	t = transferOf(order)
	t.Asset = master
	return t, failed
}

// moved is what a transfer of jettons moved, as transferred says: known reports that the
// asset is, without which the rest of it is returned.
func (m *Match) moved(b *Block) (t *dexTransfer, known, failed bool) {
	if t, failed = m.transferred(b); t != nil {
		return t, true, failed
	}
	if order, _ := ordered(b); order != nil {
		t = transferOf(order)
	}
	return t, false, failed
}

// came is what a transfer of jettons, or a swap at another exchange, gave to this
// one, nil where that went elsewhere.
func (m *Match) came(b *Block) (in *dexTransfer, failed bool) { return m.cameTo(b, m.Block.Source()) }

// cameTo is the same of an exchange that is an account.
func (m *Match) cameTo(b *Block, exchange Address) (in *dexTransfer, failed bool) {
	s := jettonSwap.Of(b)
	if s == nil {
		return m.transferred(b)
	}
	if !same(s.Outgoing.Destination, exchange) {
		return nil, true
	}
	out := s.Outgoing
	return &out, b.Failed
}

// namedToncoins is what a message brings whose body names it behind the query's id.
func namedToncoins(b *Block) (t *dexTransfer, failed bool) {
	r := b.Body()
	r.Skip(64) // query_id
	t = &dexTransfer{Source: b.Source(), Destination: b.Destination(), Amount: r.Coins()}
	if r.Failed() {
		return nil, true
	}
	return t, b.Aborted() || b.lacks(t.Amount)
}

// maxFees is how many of the toncoins that a message names may have gone to fees, in
// nanotons.
const maxFees = 1e8

// lacks reports whether a message does not bring the toncoins that it, or the order to
// pay them, names: a stranger's contracts can name any number, and any receiver.
func (b *Block) lacks(named *big.Int) bool {
	return len(b.Message.GetValueExtra()) == 0 && named.Cmp(new(big.Int).Add(nanotons(b.Value()), nanotons(maxFees))) > 0
}

// withdrawn makes a withdrawal of what a pool gave for liquidity, in the order in which
// it gave it.
func (m *Match) withdrawn(w *liquidityWithdrawal, outs []*Block, gave func(*Block) (*dexTransfer, bool), failed bool) *Made {
	for i, b := range outs {
		out, lost := gave(b)
		if out == nil || i > 1 {
			return nil
		}
		w.set(i, out)
		failed = failed || lost
	}
	return dexWithdrawal.Make(w).Fails(failed)
}

// unpaid reports whether an order to pay led to no transfer of jettons, which another
// action may have made its own, and to no pool that takes them as liquidity.
func unpaid(pay *Block) bool {
	return !slices.ContainsFunc(pay.Children, func(c *Block) bool {
		first := c.First()
		return !first.Aborted() && first.IsCall(opJettonTransfer, opStonfiV2Provide)
	})
}

// excessOf is what a deposit gave back by a payout: of toncoins the value of the
// message, with what is left of the fees.
func (m *Match) excessOf(payout *Block, out *dexTransfer) vaultExcess {
	for _, c := range m.All("out") {
		if c.Parent == payout && out.Asset == nil {
			return vaultExcess{nil, new(big.Int).SetUint64(c.Value())}
		}
	}
	return vaultExcess{out.Asset, out.Amount}
}

// walletOf is the wallet of jettons that a transfer was ordered from.
func walletOf(transfer *Block) Address { return transfer.First().Destination() }

// swapOf makes a swap of what came in and went out: peers are what pools did that did
// not refuse.
func swapOf(dex string, in, out *dexTransfer, peers []peerSwap) *swap {
	s := &swap{Dex: dex, Sender: in.Source, AssetIn: in.Asset, AssetOut: out.Asset, Incoming: *in, Outgoing: *out}
	if len(peers) > 1 {
		s.PeerSwaps = peers
	}
	return s
}

func same(a, b Address) bool { return bytes.Equal(a, b) }

// paid is what a pool paid: jettons, or toncoins with an opcode and their amount.
func (m *Match) paid(b *Block, toncoins uint32) (out *dexTransfer, failed bool) {
	if b.IsCall(toncoins) {
		if out, _ = namedToncoins(b); out == nil {
			return nil, true
		}
		return out, returned(b) || b.lacks(out.Amount)
	}
	return m.transferred(b)
}

package action

import (
	"bytes"
	"cmp"
	"maps"
	"math/big"
	"slices"

	"tonscribe/ton/address"
)

// Opcodes of EVAA's master.
const (
	opEvaaSupply          = 0x1
	opEvaaSupplied        = 0x11a
	opEvaaSupplyFailed    = 0x11f
	opEvaaWithdraw        = 0x2
	opEvaaCollateralized  = 0x211
	opEvaaPaid            = 0x211a
	opEvaaNoFunds         = 0x211fe8
	opEvaaLiquidate       = 0x3
	opEvaaSatisfied       = 0x311
	opEvaaUnsatisfied     = 0x31f
	opEvaaLiquidated      = 0x311d
	opEvaaLocked          = 0x21e6
	opEvaaUncollateral    = 0x21e7
	opEvaaMissingPrices   = 0x21e8
	opEvaaWithdrawCrashed = 0x21ec
	opEvaaReverted        = 0xf // a user's contract did not execute a request
)

// Opcodes of what EVAA's master sends to who asked for a supply, in the place of a
// comment where that asked for data.
const (
	opEvaaSupplyRest     = 0x11ae
	opEvaaSupplyRepaid   = 0x11ab // and what was too much for a debt
	opEvaaSupplyReturned = 0x11ae1
	opEvaaSupplyUndone   = 0x11ae2
)

// Opcodes of EVAA's contracts of users, behind their header.
const (
	opUserSupply           = 0x11
	opUserWithdraw         = 0x21
	opUserWithdrawn        = 0x211a
	opUserWithdrawFailed   = 0x211f
	opUserLiquidate        = 0x31
	opUserLiquidated       = 0x311a
	opUserLiquidationFails = 0x311f
)

// evaaRefusals are the reasons for which a contract of a user refuses a withdrawal,
// by the opcode of its answer.
var evaaRefusals = map[uint32]string{
	opEvaaLocked:          "withdraw_locked_excess",
	opEvaaUncollateral:    "withdraw_not_collateralized_excess",
	opEvaaMissingPrices:   "withdraw_missing_prices_excess",
	opEvaaWithdrawCrashed: "withdraw_execution_crashed",
	opEvaaReverted:        evaaUnknownError,
}

const (
	evaaNoFunds      = "withdraw_no_funds_excess"
	evaaNoLiquidity  = "master_not_enough_liquidity"
	evaaRejected     = "immediate_rejection"
	evaaUnknownError = "unknown"
)

// evaaErrors are the reasons for which a contract of a user refuses a liquidation.
var evaaErrors = map[uint32]string{
	0x30f1: "master_liquidating_too_much",
	0x31f0: "user_withdraw_in_progress",
	0x31f2: "not_liquidatable",
	0x31f3: "min_collateral_not_satisfied",
	0x31f4: "user_not_enough_collateral",
	0x31f5: "user_liquidating_too_much",
	0x31f6: evaaNoLiquidity,
	0x31f7: "liquidation_prices_missing",
	0x31fe: "execution_crashed",
}

// evaaToncoin is the id of toncoins among EVAA's assets, which is the SHA-256 of "TON".
const evaaToncoin = "0x1a4219fe5e60d63af2a3cc7dce6fec69b45c6b5718497a6148e7c232ac87bd8a"

// evaaAssets are the masters of EVAA's other assets on mainnet, by their ids.
var evaaAssets = map[string]address.Address{
	"0xb387968236197958ca4ac55e9b5be38e688c7631af84c86756431f49a878ef33": address.MustParse("0:729C13B6DF2C07CBF0A06AB63D34AF454F3D320EC1BCD8FB5C6D24D0806A17C2"),
	"0x83d916c68510802104d1f75aa6ce30eb1e477aede0d380eee2188e0e56581fc6": address.MustParse("0:7E30FC2B7751BA58A3642F3FD59D5E96A810DDD78D8A310BFE8353BEF10500DF"),
	"0x495668e908644f30322b997de8faaafc21f05aa52f8982f042dac1fe0b4d09d0": address.MustParse("0:CD872FA7C5816052ACDF5332260443FAEC9AACC8C21CCA4D92E7F47034D11892"),
	"0x3313e2f57ba870af34480350c789b0987d15b43a53172bfce294de21e7d724e7": address.MustParse("0:BDF3FA8098D129B54B4F73B5BAC5D1E1FD91EB054169C3916DFC8CCD536D1000"),
	"0xca9006bd3fb03d355daeeff93b24be90afaa6e3ca0073ff5720f8a852c933278": address.MustParse("0:B113A994B5024A16719F69139328EB759596C38A25F59028B146FECDC3621DFE"),
	"0xe025e6a575f174da6d62577c1fe204ccaa5d1e47c55c6b20c67daee56c357b60": address.MustParse("0:3E5FFCA8DDFCF36C36C9FF46F31562AAB51B9914845AD6C26CBDE649D58A5588"),
	"0x9c77a4d798a8f500dcfb877a07227c4ca9d6782504cdc7ce2ad0051e5641c032": address.MustParse("0:8D636010DD90D8C0902AC7F9F397D8BD5E177F131EE2CCA24CE894F15D19CEEA"),
	"0x6bfa124cc1343d14ba57ded299f6f514f5f26777099e3c378922ce4081ecbf91": address.MustParse("0:AEA78C710AE94270DC263A870CF47B4360F53CC5ED38E3DB502E9E9AFB904B11"),
	"0xe08b1f092e7240fb61bf8249d71aa635102acdd50122138105c35dd2896b5331": address.MustParse("0:FE72F474373E97032441BDB873F9A6D3AD10BAB08E6DBC7BEFA5E42B695F5400"),
	"0x70930360b81e5f4ef2e06d2bf64978b44d4b87fb85d78788e001cdf8812d13d1": address.MustParse("0:AFC49CB8786F21C87045B19EDE78FC6B46C51048513F8E9A6D44060199C1BF0C"),
	"0x8be3365cabaa6a0f90d2e64f03fa78268c135fe0b0758b576b447e9b2068d75d": address.MustParse("0:2F956143C461769579BAEF2E32CC2D7BC18283F40D20BB03E432CD603AC33FFC"),
	"0xb372eaca5210612d285f3fdd30e87a0c3a443f1bb7578e16da72563241997ca1": address.MustParse("0:1F1798F724C2296652E6002BFB51BED11FB5A689532E5788AF7203581EF367A8"),
	"0xb8a51f42ccbb912d973e58a22dda26decc7dfc83718c325c24432045ad78dc5a": address.MustParse("0:E8CB571401B1AADB9DEFC1FA0F72A4A5A0E0D5016903067891D763C91541E72B"),
	"0xc585bac25948a5feea8f2a9e052eb45995882b15dfb784b37cd271cc163f3aea": address.MustParse("0:5EE20B5240CC4CE51A4C60BAF8C9D358EF617C26463E89C6571B534972C8EEF1"),
	"0xd9496f9b279a4e26c49eb65d5c47c79b6dfdea16c9baefa9158a7dfbbbcac04a": address.MustParse("0:086FA2A675F74347B08DD4606A549B8FDB98829CB282BC1949D3B12FBAED9DCC"),
	"0x4a4bae807cc87355de2ead44b21a739d9d35e9bba9a217f5cc9c0108197ad137": address.MustParse("0:D0E545323C7ACB7102653C073377F7E3C67F122EB94D430A250739F109D4A57D"),
}

// evaaTestAssets are those that have other masters on testnet.
var evaaTestAssets = map[string]address.Address{
	"0xb387968236197958ca4ac55e9b5be38e688c7631af84c86756431f49a878ef33": address.MustParse("0:5EE20B5240CC4CE51A4C60BAF8C9D358EF617C26463E89C6571B534972C8EEF1"),
	"0x83d916c68510802104d1f75aa6ce30eb1e477aede0d380eee2188e0e56581fc6": address.MustParse("0:DA639C946AD6271DE8BBDC706A457FCEC7D2CAD979D1ED7B8263D3050B620D6D"),
	"0x495668e908644f30322b997de8faaafc21f05aa52f8982f042dac1fe0b4d09d0": address.MustParse("0:B70EEC37760F24F7CC5FE52EC19BB60E595279416F219B788BA857C97DAFE0F6"),
}

var (
	evaaSupply    = NewType[lendingSupply]("evaa_supply", V2, "evaa")
	evaaWithdraw  = NewType[lendingWithdrawal]("evaa_withdraw", V2, "evaa")
	evaaLiquidate = NewType[lendingLiquidation]("evaa_liquidate", V2, "evaa")
)

type lendingSupply struct {
	SenderJettonWallet    Address  `detail:"sender_jetton_wallet"` // never set: it is SourceWallet
	RecipientJettonWallet Address  `detail:"recipient_jetton_wallet"`
	MasterJettonWallet    Address  `detail:"master_jetton_wallet"`
	Master                Address  `detail:"master"`
	AssetID               string   `detail:"asset_id"`
	IsTon                 bool     `detail:"is_ton"`
	Source                Address  `detail:"source,account"`
	SourceWallet          Address  `detail:"source_wallet,account"`
	Recipient             Address  `detail:"recipient,account"`
	RecipientContract     Address  `detail:"recipient_contract,account"`
	Asset                 Address  `detail:"asset"`
	Amount                *big.Int `detail:"amount"`
}

type lendingWithdrawal struct {
	RecipientJettonWallet Address `detail:"recipient_jetton_wallet"`
	MasterJettonWallet    Address `detail:"master_jetton_wallet"`
	Master                Address `detail:"master"`
	FailReason            *string `detail:"fail_reason"`
	AssetID               string  `detail:"asset_id"`
	Source                Address `detail:"source,account"`
	Recipient             Address `detail:"recipient,account"`
	OwnerContract         Address `detail:"owner_contract,account"`
	Asset                 Address `detail:"asset"`
	Amount                uint64  `detail:"amount"`
}

type lendingLiquidation struct {
	FailReason       *string  `detail:"fail_reason"`
	DebtAmount       *big.Int `detail:"debt_amount"`
	Source           Address  `detail:"source,account"`
	Borrower         Address  `detail:"borrower,account"`
	BorrowerContract Address  `detail:"borrower_contract,account"`
	Collateral       string   `detail:"collateral"` // the asset's id as a decimal number
	AssetID          string   `detail:"asset_id"`
	Asset            Address  `detail:"asset"`
	IsKnownAsset     bool     `detail:"is_known_asset"`
	Amount           uint64   `detail:"amount"` // of collateral
}

// evaa is lending at EVAA. A user's part of the master's state is a contract of its
// own: the master asks it, it answers, and the master pays and tells it the outcome.
var evaa = &Protocol{
	Name:  "evaa",
	Types: []typed{evaaSupply, evaaWithdraw, evaaLiquidate},
	Rules: []Rule{
		{
			Name:  "supply to EVAA",
			Order: orderEvaaSupply,
			Pattern: asksEvaa(opEvaaSupply).With(
				userCall(opUserSupply).As("user").With(OneOf(
					Call(opEvaaSupplied).As("success").With(OneOf(Plain(), Call(opEvaaSupplyRest, opEvaaSupplyRepaid)).Maybe()),
					Call(opEvaaSupplyFailed, opEvaaReverted).As("refusal").With(Call(opEvaaSupplyReturned, opEvaaSupplyUndone).Maybe()),
					Is(jettonTransfer).As("refund"),
				)),
			),
			Make: makeEvaaSupply,
		},
		{
			Name:  "withdrawal from EVAA",
			Order: orderEvaaWithdraw,
			Pattern: Call(opEvaaWithdraw).With(
				userCall(opUserWithdraw).As("user").With(OneOf(
					Call(opEvaaCollateralized).As("approval").With(
						OneOf(delivered(), Call(opEvaaPaid)).As("payout"),
						userCall(opUserWithdrawn).With(evaaComment()),
					),
					Call(opEvaaCollateralized).With(userCall(opUserWithdrawFailed).With(Call(opEvaaNoFunds).Maybe())),
					Call(opEvaaLocked, opEvaaUncollateral, opEvaaMissingPrices, opEvaaWithdrawCrashed).As("refusal"),
					Call(opEvaaReverted).As("refusal").With(evaaComment()),
				)),
			),
			Make: makeEvaaWithdraw,
		},
		{
			Name:  "liquidation at EVAA",
			Order: orderEvaaLiquidate,
			Pattern: asksEvaa(opEvaaLiquidate).Alone().With(OneOf(
				userCall(opUserLiquidate).As("user").With(OneOf(
					Call(opEvaaSatisfied).As("satisfied").With(userCall(opUserLiquidated).With(evaaComment()), evaaReport()),
					Call(opEvaaSatisfied).With(OneOf(userCall(opUserLiquidationFails), Call(opUserLiquidationFails)).With(evaaComment()), evaaReport()),
					Call(opEvaaUnsatisfied).As("refusal").With(evaaReport()),
					Call(opEvaaReverted).As("reverted").With(OneOf(Plain(), delivered()).Maybe()),
				)),
				delivered().As("rejection"),
				Call(evaaReports()...).As("rejection"),
				sentBack().As("rejection"),
			)),
			Make: makeEvaaLiquidate,
		},
	},
}

// asksEvaa is a request of the master: a call, or a transfer of jettons to it that
// carries the opcode.
func asksEvaa(opcode uint32) *Pattern {
	return OneOf(
		Call(opcode),
		Is(jettonTransfer).Carrying(opcode),
	)
}

// userBody reads a message to a contract of a user behind its header, which brings the
// contract up to date: a version, code, and whether the message shall be executed.
func userBody(b *Block) Reader {
	r := b.Whole()
	r.VarUint(4)
	if r.Bool() {
		r.Ref()
	}
	r.Skip(2)
	return r
}

// userCall is a message to a contract of a user with an opcode behind the header.
func userCall(opcode uint64) *Pattern {
	return Any().Where(func(b *Block) bool {
		if b.kind != kindCall {
			return false
		}
		r := userBody(b)
		return r.Uint(32) == opcode && !r.Failed()
	})
}

// evaaComment is what is left of the toncoins of a request, which goes back with a
// comment.
func evaaComment() *Pattern { return Plain().Maybe() }

// evaaReport is what a liquidator gets in the end: jettons, or toncoins with a report.
func evaaReport() *Pattern {
	return OneOf(Call(append(evaaReports(), opEvaaLiquidated, opUserLiquidationFails)...), delivered()).As("report").Maybe()
}

// evaaReports are the opcodes of reports that a liquidation failed: the reasons.
func evaaReports() []uint32 { return slices.Sorted(maps.Keys(evaaErrors)) }

func assetID(id *big.Int) string { return "0x" + id.Text(16) }

func makeEvaaSupply(m *Match) *Made {
	user := m.One("user")
	supply := &lendingSupply{RecipientContract: user.Destination()}
	r := userBody(user)
	r.Skip(32 + 64) // opcode, query_id
	supply.AssetID = assetID(r.Big(256))
	if r.Failed() {
		return nil
	}
	if t := jettonTransfer.Of(m.Block); t != nil {
		supply.Source, supply.SourceWallet, supply.MasterJettonWallet = t.Sender, t.SenderJettonWallet, t.ReceiverJettonWallet
		supply.Amount, supply.Master, supply.Asset = t.Amount, t.Receiver, t.Asset
		r, _ = t.Forward.Body(opEvaaSupply)
		r.Skip(2) // include_user_code
		supply.Recipient = r.Address()
		if bytes.Equal(supply.Recipient, t.Sender) {
			supply.RecipientJettonWallet = t.SenderJettonWallet
		} else if refund := jettonTransfer.Of(m.One("refund")); refund != nil && bytes.Equal(refund.SenderJettonWallet, t.ReceiverJettonWallet) {
			supply.RecipientJettonWallet = refund.ReceiverJettonWallet
		}
	} else {
		supply.IsTon, supply.Source, supply.Master = true, m.Block.Source(), m.Block.Destination()
		r = m.Block.Body()
		r.Skip(64 + 2) // query_id, include_user_code
		supply.Amount = nanotons(r.Uint(64))
		supply.Recipient = r.Address()
	}
	success := m.One("success")
	if success != nil && !r.Failed() {
		r = success.Body()
		r.Skip(64) // query_id
		r.Address()
		r.Skip(256) // asset_id
		supply.Amount = nanotons(r.Uint(64))
	}
	if r.Failed() {
		return nil
	}
	failed := success == nil || m.Block.Failure() || success.Aborted()
	if t := jettonTransfer.Of(m.Block); t != nil {
		failed = failed || supply.Amount.Cmp(t.Amount) > 0
	} else {
		failed = failed || m.Block.lacks(supply.Amount)
	}
	return evaaSupply.Make(supply).Fails(failed)
}

func makeEvaaWithdraw(m *Match) *Made {
	b := m.Block
	w := &lendingWithdrawal{Source: b.Source(), Master: b.Destination(), OwnerContract: m.One("user").Destination()}
	r := b.Body()
	r.Skip(64) // query_id
	w.AssetID = assetID(r.Big(256))
	w.Amount = r.Uint(64)
	w.Recipient = r.Address()
	if r.Failed() {
		return nil
	}
	approval := m.One("approval")
	if approval == nil {
		reason := evaaNoFunds
		if refusal := m.One("refusal"); refusal != nil {
			op, _ := refusal.Opcode()
			reason = evaaRefusals[op]
		}
		w.FailReason = &reason
		return evaaWithdraw.Make(w).Fails(true)
	}
	r = approval.Body()
	r.Skip(64) // query_id
	r.Address()
	r.Skip(256) // asset_id
	w.Amount = r.Uint(64)
	payout := m.One("payout")
	toncoins := payout.IsCall(opEvaaPaid)
	if r.Failed() || toncoins != (w.AssetID == evaaToncoin) {
		return nil
	}
	if toncoins {
		return evaaWithdraw.Make(w).Fails(returned(payout) || payout.lacks(nanotons(w.Amount)) || !w.isFor(payout.Destination()))
	}
	t, lost := ordered(payout)
	if t == nil {
		return nil
	}
	w.Asset, w.RecipientJettonWallet, w.MasterJettonWallet = t.Asset, t.ReceiverJettonWallet, t.SenderJettonWallet
	if w.Asset == nil {
		if w.Asset = m.evaaAsset(w.AssetID); w.Asset != nil && !m.mayName(w.Asset) {
			return nil
		}
	}
	return evaaWithdraw.Make(w).Fails(lost || t.Amount.Cmp(nanotons(w.Amount)) < 0 || !w.isFor(t.Receiver))
}

// isFor reports whether who was paid is the recipient, where the request has one.
func (w *lendingWithdrawal) isFor(paid Address) bool {
	return w.Recipient == nil || same(w.Recipient, paid)
}

// liquidation is what a liquidator asks for.
type liquidation struct {
	borrower   Address
	collateral *big.Int
	amount     uint64
}

// readLiquidation reads a request behind its opcode. With jettons there is no query
// id, and what is sent with them says their amount; older requests have the
// liquidator's address.
func readLiquidation(body Reader, queries ...int) (l liquidation, ok bool) {
	for _, query := range queries {
		for _, liquidator := range []bool{true, false} {
			r := body
			r.Skip(query)
			l.borrower = r.Address()
			if liquidator {
				r.Address()
			}
			l.collateral = r.Big(256)
			r.Skip(64 + 2) // min_collateral_amount, include_user_code
			l.amount = r.Uint(64)
			if !r.Failed() && r.BitsLeft() == 0 && l.borrower != nil {
				return l, true
			}
		}
	}
	return l, false
}

// evaaAsset is the master of an asset, nil for toncoins and those that are not known. It
// is that of testnet where nothing but that is known to be one.
func (m *Match) evaaAsset(id string) Address {
	main, ok := evaaAssets[id]
	if !ok {
		return nil
	}
	if test, other := evaaTestAssets[id]; other && m.mayName(main[:]) && !m.mayName(test[:]) {
		return test[:]
	}
	return main[:]
}

// of sets which asset the collateral is.
func (l *lendingLiquidation) of(m *Match, collateral *big.Int) {
	l.Collateral, l.AssetID = collateral.String(), assetID(collateral)
	l.Asset = m.evaaAsset(l.AssetID)
	l.IsKnownAsset = l.Asset != nil || l.AssetID == evaaToncoin
}

// paidBy reports whether the collateral came to who is paid by a message.
func (l *lendingLiquidation) paidBy(b *Block) bool {
	if b.kind != kindMade && !b.IsCall(opJettonTransfer) {
		return !returned(b) && (l.AssetID != evaaToncoin || !b.lacks(nanotons(l.Amount)))
	}
	t, lost := ordered(b)
	return !lost && t.Amount.Cmp(nanotons(l.Amount)) >= 0
}

// liquidationError reads why a contract of a user refused.
func liquidationError(b *Block) string {
	r := b.Body()
	r.Skip(64) // query_id
	r.Address()
	r.Address()
	r.Skip(256) // transferred_asset_id
	what := r.Open()
	what.Skip(64 + 256 + 64) // transferred_amount, collateral_asset_id, min_collateral_amount
	for _, skip := range []func(*Reader){
		func(r *Reader) { r.Skip(64) }, // forward_ton_amount, of different kinds
		func(r *Reader) { r.VarUint(4) },
		func(r *Reader) { r.Skip(16) }, // subaccount_id
		func(*Reader) {},
	} {
		r := what
		skip(&r)
		if reason := evaaErrors[uint32(r.Uint(32))]; reason != "" && !r.Failed() {
			return reason
		}
	}
	return evaaUnknownError
}

func makeEvaaLiquidate(m *Match) *Made {
	made := &lendingLiquidation{}
	var asked liquidation
	var ok bool
	if t := jettonTransfer.Of(m.Block); t != nil {
		body, _ := t.Forward.Body(opEvaaLiquidate)
		asked, ok = readLiquidation(body, 0, 64)
		made.Source, made.DebtAmount = t.Sender, t.Amount
	} else {
		asked, ok = readLiquidation(m.Block.Body(), 64)
		made.Source, made.DebtAmount = m.Block.Source(), nanotons(asked.amount)
	}
	if !ok {
		return nil
	}
	made.Borrower = asked.borrower
	made.of(m, asked.collateral)
	user := m.One("user")
	if user == nil {
		reason := evaaRejected
		made.FailReason = &reason
		return evaaLiquidate.Make(made).Fails(true)
	}
	made.BorrowerContract = user.Destination()
	if satisfied := m.One("satisfied"); satisfied != nil {
		r := satisfied.Body()
		r.Skip(64) // query_id
		made.Borrower = r.Address()
		r.Address()
		r.Skip(256) // transferred_asset_id
		what := r.Open()
		what.Skip(64) // delta_loan_principal
		made.DebtAmount = nanotons(what.Uint(64))
		what.Skip(64 + 64) // protocol_gift, new_user_loan_principal
		made.of(m, what.Big(256))
		what.Skip(64) // delta_collateral_principal
		made.Amount = what.Uint(64)
		if what.Failed() {
			return nil
		}
		reward := m.One("report")
		return evaaLiquidate.Make(made).Fails(m.Block.Failure() || m.Aborted("satisfied") || reward != nil && !made.paidBy(reward))
	}
	reason := cmp.Or(reportedError(m.One("report")), evaaNoLiquidity)
	if refusal := m.One("refusal"); refusal != nil {
		reason = liquidationError(refusal)
	} else if m.One("reverted") != nil {
		reason = evaaUnknownError
	}
	made.FailReason = &reason
	return evaaLiquidate.Make(made).Fails(true)
}

// reportedError is why the master did not pay, as what it sent back says, empty where
// that says nothing known.
func reportedError(report *Block) string {
	op, ok := carried(report)
	if !ok {
		op, _ = report.Opcode()
	}
	return evaaErrors[op]
}

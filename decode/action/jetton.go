package action

import (
	"bytes"
	"math/big"
	"slices"

	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// Opcodes of jettons (TEP-74).
const (
	opJettonTransfer         = 0x0f8a7ea5
	opJettonInternalTransfer = 0x178d4519
	opJettonNotify           = 0x7362d09c
	opJettonBurn             = 0x595f07bc
	opJettonBurnNotification = 0x7bdd97de
	opJettonMint             = 0x642b7d07
	opMinterMint             = 0x00000015
)

// pTonMasters are the masters of toncoins that are wrapped for a router, whose
// wallets send no internal transfer: of mainnet, and the last two of testnet.
var pTonMasters = []address.Address{
	address.MustParse("0:8CDC1D7640AD5EE326527FC1AD0514F468B30DC84B0173F0E155F451B4E11F7C"),
	address.MustParse("0:671963027F7F85659AB55B821671688601CDCF1EE674FC7FBBB1A776A18D34A3"),
	address.MustParse("0:949C4C66760C002800E2FA3D8A3CA4E1C90A9373B53AE7472033483BF14CD95E"),
	address.MustParse("0:1C3AF5D29E73A109D2D873ABA9D84098C2D34D4F39663A589D05E0ACE5C14F57"),
	address.MustParse("0:024B7D03368510ECD7C0A4FBF387B78199267D2F8CA027E964356B5B6BC4D04F"),
}

// isPTon reports whether a master is one of wrapped toncoins.
func isPTon(master Address) bool {
	for i := range pTonMasters {
		if bytes.Equal(master, pTonMasters[i][:]) {
			return true
		}
	}
	return false
}

var (
	jettonTransfer = NewType[jettonMove]("jetton_transfer", V1, "jettons")
	jettonBurn     = NewType[jettonDestruction]("jetton_burn", V1, "jettons")
	jettonMint     = NewType[jettonCreation]("jetton_mint", V1, "jettons")
)

type jettonMove struct {
	Asset                Address  `detail:"asset"`
	Sender               Address  `detail:"sender,account"`
	Receiver             Address  `detail:"receiver,account"`
	SenderJettonWallet   Address  `detail:"sender_jetton_wallet,account"`
	ReceiverJettonWallet Address  `detail:"receiver_jetton_wallet,account"`
	Amount               *big.Int `detail:"amount"`
	Comment              *string  `detail:"comment"`
	IsEncryptedComment   bool     `detail:"is_encrypted_comment"`
	QueryID              uint64   `detail:"query_id"`
	ResponseDestination  Address  `detail:"response_destination"`
	CustomPayload        BoC      `detail:"custom_payload"`
	ForwardPayload       BoC      `detail:"forward_payload"`
	ForwardAmount        *big.Int `detail:"forward_amount"`

	// Forward is the forward payload to read.
	Forward Payload
	// PTon reports that the jettons are wrapped toncoins.
	PTon bool
}

type jettonDestruction struct {
	Owner             Address  `detail:"owner,account"`
	OwnerJettonWallet Address  `detail:"owner_jetton_wallet,account"`
	Asset             Address  `detail:"asset"`
	Amount            *big.Int `detail:"amount"`

	QueryID             uint64
	ResponseDestination Address
	// Custom is the custom payload to read.
	Custom Payload
}

type jettonCreation struct {
	Asset                Address  `detail:"asset"`
	Receiver             Address  `detail:"receiver,account"`
	ReceiverJettonWallet Address  `detail:"receiver_jetton_wallet,account"`
	Amount               *big.Int `detail:"amount"`
	TonAmount            *big.Int `detail:"ton_amount"`
}

// notified is a wallet's message to its owner about received jettons.
func notified() *Pattern {
	return Call(opJettonNotify).Where(isForOwner).As("notification").Maybe()
}

// jettons are transfers, burns and mints of jettons.
var jettons = &Protocol{
	Name:  "jettons",
	Types: []typed{jettonTransfer, jettonBurn, jettonMint},
	Rules: []Rule{
		{
			Name:  "jetton transfer",
			Order: orderJettonTransfer,
			Pattern: Call(opJettonTransfer).As("transfer").With(
				Call(opJettonInternalTransfer).Where(isForReceiver).As("internal transfer").With(notified()),
			),
			Make: makeJettonTransfer,
		},
		{
			Name:    "transfer of wrapped toncoins",
			Order:   orderPTonTransfer,
			Pattern: Call(opJettonTransfer).As("transfer").With(notified()),
			Make:    makePTonTransfer,
		},
		{
			Name:    "transfer that a rejected message asked for",
			Order:   orderJettonTransferGhost,
			Pattern: Call(opJettonTransfer).As("transfer"),
			Make:    makeGhostTransfer,
			Ghosts:  true,
		},
		{
			Name:    "jetton burn",
			Order:   orderJettonBurn,
			Pattern: Call(opJettonBurn).As("burn").With(Call(opJettonBurnNotification).As("notification").Maybe()),
			Make:    makeJettonBurn,
		},
		{
			Name:  "jetton mint",
			Order: orderJettonMint,
			Pattern: Call(opJettonMint, opMinterMint).As("mint").With(
				Call(opJettonInternalTransfer).As("internal transfer").With(notified()).Maybe(),
			),
			Make: makeJettonMint,
		},
	},
}

// isForReceiver reports whether an internal transfer is that to whom the order names, as
// far as that is known: a wallet may give somebody else a share before.
func isForReceiver(b *Block) bool {
	order := b.Parent
	if order == nil || !slices.ContainsFunc(order.Children, func(c *Block) bool { return c != b && c.IsCall(opJettonInternalTransfer) }) {
		return true
	}
	r := order.Body()
	r.Skip(64) // query_id
	r.Coins()  // amount
	receiver := r.Address()
	isNamed := func(c *Block) bool {
		return c.IsCall(opJettonInternalTransfer) && same(c.Contract(c.Destination()).GetJettonWallet().GetOwner(), receiver)
	}
	return isNamed(b) || !slices.ContainsFunc(order.Children, isNamed)
}

// isForOwner reports whether a notification is that to the owner of the wallet, as far as
// that is known: a wallet may tell somebody else before.
func isForOwner(b *Block) bool {
	owner := b.Contract(b.Source()).GetJettonWallet().GetOwner()
	if owner == nil || b.Parent == nil || same(b.Destination(), owner) {
		return true
	}
	return !slices.ContainsFunc(b.Parent.Children, func(c *Block) bool {
		return c.IsCall(opJettonNotify) && same(c.Source(), b.Source()) && same(c.Destination(), owner)
	})
}

// readTransfer reads the order that a wallet was given.
func readTransfer(b *Block) (t *jettonMove, ok bool) {
	r := b.Body()
	t = &jettonMove{Sender: b.Source(), SenderJettonWallet: b.Destination()}
	t.QueryID = r.Uint(64)
	t.Amount = r.Coins()
	t.Receiver = r.Address()
	t.ResponseDestination = r.Address()
	t.CustomPayload = r.MaybeCell()
	t.ForwardAmount = r.Coins()
	if r.Failed() {
		return nil, false
	}
	t.carry(r.Payload())
	return t, true
}

// carry sets what the transfer carries to its receiver. An empty payload is none.
func (t *jettonMove) carry(p Payload) {
	t.Forward = p
	if p.BitsLeft() > 0 || p.RefsLeft() > 0 {
		t.ForwardPayload = p.BoC()
	}
	t.Comment, t.IsEncryptedComment = p.Comment()
}

// internalTransfer is what a wallet was told to receive.
type internalTransfer struct {
	QueryID       uint64
	Amount        *big.Int
	From          Address
	Response      Address
	ForwardAmount *big.Int
	Forward       Payload
}

// readInternalTransfer reads what a wallet was told to receive.
func readInternalTransfer(b *Block) (t internalTransfer, ok bool) {
	r := b.Body()
	t.QueryID = r.Uint(64)
	t.Amount = r.Coins()
	t.From = r.Address()
	t.Response = r.Address()
	t.ForwardAmount = r.Coins()
	if r.Failed() {
		return t, false
	}
	t.Forward = r.Payload()
	return t, true
}

func makeJettonTransfer(m *Match) *Made {
	internal := m.One("internal transfer")
	t, ok := readTransfer(m.Block)
	if !ok {
		return nil
	}
	t.ReceiverJettonWallet = internal.Destination()
	if wallet := m.Contract(internal.Destination()).GetJettonWallet(); wallet != nil {
		t.Asset, t.Receiver = wallet.Master, wallet.Owner
	} else if sender := m.Contract(m.Block.Destination()).GetJettonWallet(); sender != nil && isNew(internal) {
		t.Asset = sender.Master // whose wallet sends to no other than the receiver's
	} else {
		return nil
	}
	if moved, ok := readInternalTransfer(internal); ok {
		t.Amount, t.ForwardAmount = moved.Amount, moved.ForwardAmount
	}
	return jettonTransfer.Make(t).Fails(m.Aborted("transfer", "internal transfer"))
}

// isNew reports whether a message's receiver cannot be known yet: it was made by the
// message, or is not there in spite of it.
func isNew(b *Block) bool {
	return b.deployed || b.Tx.EndStatus != record.AccountStatus_ACCOUNT_ACTIVE
}

func makePTonTransfer(m *Match) *Made {
	wallet := m.Contract(m.Block.Destination()).GetJettonWallet()
	t, ok := readTransfer(m.Block)
	if !ok || wallet == nil || !isPTon(wallet.Master) {
		return nil
	}
	t.Asset, t.PTon = wallet.Master, true
	t.SenderJettonWallet = nil
	told := m.One("notification") // which carries the toncoins
	return jettonTransfer.Make(t).Fails(m.Aborted("transfer") || told != nil && returned(told))
}

func makeGhostTransfer(m *Match) *Made {
	t, ok := readTransfer(m.Block)
	if !ok {
		return nil
	}
	t.Asset = m.Contract(m.Block.Destination()).GetJettonWallet().GetMaster()
	return jettonTransfer.Make(t).Fails(true).Strangers(t.Receiver)
}

func makeJettonBurn(m *Match) *Made {
	wallet := m.Contract(m.Block.Destination()).GetJettonWallet()
	if wallet == nil {
		return nil
	}
	r := m.Block.Body()
	burn := &jettonDestruction{Owner: wallet.Owner, OwnerJettonWallet: m.Block.Destination(), Asset: wallet.Master}
	burn.QueryID = r.Uint(64)
	burn.Amount = r.Coins()
	burn.ResponseDestination = r.Address()
	if r.Failed() {
		return nil
	}
	if custom, ok := r.MaybeOpen(); ok {
		burn.Custom = custom.Rest()
	}
	failed := m.Aborted("burn", "notification")
	for _, c := range m.Block.Children { // masters are told by other messages too
		failed = failed || same(c.Destination(), wallet.Master) && (returned(c) || burn.undoneBy(c))
	}
	return jettonBurn.Make(burn).Fails(failed)
}

// undoneBy reports whether a master that was told of a burn gave the wallet as much as it
// had burnt, as a pool may that does not pay for it.
func (d *jettonDestruction) undoneBy(told *Block) bool {
	return slices.ContainsFunc(told.Children, func(c *Block) bool {
		if !c.IsCall(opJettonInternalTransfer) || c.Aborted() || !same(c.Destination(), d.OwnerJettonWallet) {
			return false
		}
		t, ok := readInternalTransfer(c)
		return ok && t.Amount.Cmp(d.Amount) == 0
	})
}

func makeJettonMint(m *Match) *Made {
	r := m.Block.Body()
	r.Skip(64) // query_id
	mint := &jettonCreation{Asset: m.Block.Destination(), Receiver: r.Address(), TonAmount: r.Coins()}
	if r.Failed() {
		return nil
	}
	internal := m.One("internal transfer")
	if internal == nil {
		// The order says what it would have been.
		order := r.Open()
		if order.Uint(32) != opJettonInternalTransfer {
			return nil
		}
		order.Skip(64) // query_id
		mint.Amount = order.Coins()
		return jettonMint.Make(mint).Fails(true)
	}
	mint.ReceiverJettonWallet = internal.Destination()
	if t, ok := readInternalTransfer(internal); ok {
		mint.Amount = t.Amount
	}
	wallet := m.Contract(internal.Destination()).GetJettonWallet()
	if wallet != nil {
		mint.Asset, mint.Receiver = wallet.Master, wallet.Owner
	}
	known := wallet != nil || isNew(internal) && m.Contract(mint.Asset).GetJettonMaster() != nil
	return jettonMint.Make(mint).Fails(!known || m.Aborted("mint", "internal transfer"))
}

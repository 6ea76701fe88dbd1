package action

import (
	"bytes"
	"math/big"
	"strings"

	"tonscribe/schema/record"
)

// Opcodes of Telegram items (telemint).
const (
	opTeleitemStart   = 0x487a8e81
	opTeleitemCancel  = 0x371638ae
	opTeleitemOK      = 0xa37a0983
	opTeleitemDeploy  = 0x299a3e15
	opTeleitemBidInfo = 0x38127de1
	opFillUp          = 0x370fec51
	opOutbid          = 0x557cea20
)

const fragment = "fragment"

// topUp is the comment of toncoins for a Telegram item that are no bid.
const topUp = "#topup"

var (
	teleitemStart  = NewType[auctionStart]("teleitem_start_auction", V3, "nft.v3")
	teleitemCancel = NewType[auctionEnd]("teleitem_cancel_auction", V3, "nft.v3")
)

// telegram are Telegram items, which have their auctions within themselves.
var telegram = &Protocol{
	Name:  "telegram",
	Types: []typed{teleitemStart, teleitemCancel},
	Rules: []Rule{
		{
			Name:    "a Telegram item tells its new owner",
			Order:   orderTelegramPurchase,
			Pattern: Call(opNFTOwnershipAssigned).Where(comesFromItem),
			Make:    makeTelegramTransfer,
		},
		{
			Name:    "start of an auction of a Telegram item",
			Order:   orderTeleitemStart,
			Pattern: asksTeleitem(opTeleitemStart),
			Make:    makeTeleitemStart,
		},
		{
			Name:    "end of an auction of a Telegram item without a bid",
			Order:   orderTeleitemCancel,
			Pattern: asksTeleitem(opTeleitemCancel),
			Make:    makeTeleitemCancel,
		},
	},
}

func comesFromItem(b *Block) bool { return b.Contract(b.Source()).GetNftItem() != nil }

// topsUp reports whether a plain transfer to a Telegram item is no bid: by its comment, or
// since it comes from the owner of an item that has no auction.
func topsUp(b *Block, item *record.Contract) bool {
	t := item.GetTelemint()
	return says(b, topUp) || t != nil && !t.Auction && !b.Aborted() && bytes.Equal(b.Source(), item.GetNftItem().GetOwner())
}

func goesToTeleitem(b *Block) bool { return isTeleitem(b.Contract(b.Destination())) }

// asksTeleitem is an order of its owner to a Telegram item, which is known to be one or
// answers as such do.
func asksTeleitem(opcode uint32) *Pattern {
	return OneOf(
		Call(opcode).Where(goesToTeleitem).With(Call(opTeleitemOK).Maybe()),
		Call(opcode).With(Call(opTeleitemOK)),
	)
}

// isTeleitem reports whether a contract is a Telegram item.
func isTeleitem(c *record.Contract) bool {
	if c.GetTelemint() != nil {
		return true
	}
	for _, a := range c.GetNftItem().GetContent().GetAttributes() {
		if a.Name == "uri" && strings.Contains(a.Value, "https://nft.fragment.com") {
			return true
		}
	}
	return false
}

// hasNoBid reports whether a notification of an item's new owner is not that of a
// Telegram item whose auction has ended, which is sent with whatever message came next.
func hasNoBid(b *Block) bool {
	r := b.Body()
	r.Skip(64)  // query_id
	r.Address() // prev_owner
	_, bid := r.Payload().Body(opTeleitemBidInfo)
	return !bid
}

// makeTelegramTransfer is for items that are told to nobody but their new owner: by
// a bid at the highest price, or by the end of an auction.
func makeTelegramTransfer(m *Match) *Made {
	b := m.Block
	t := &itemTransfer{}
	t.item(b.Source(), m.Contract(b.Source()).GetNftItem())
	r := b.Body()
	t.QueryID = r.Uint(64)
	t.OldOwner, t.NewOwner = r.Address(), b.Destination()
	if r.Failed() {
		return nil
	}
	p := r.Payload()
	t.carry(p)
	// The item is moved before it says so: that nobody hears it changes nothing.
	made := nftTransfer.Make(t).Fails(false)
	bid, ok := p.Body(opTeleitemBidInfo)
	if !ok {
		return made
	}
	price := bid.Coins()
	// Any item can say that it was sold.
	if bid.Failed() || minted(b.Parent) || !isTeleitem(m.Contract(b.Source())) && marketplaceOf(nil, t.NFTCollection) == nil {
		return made
	}
	name := fragment
	t.IsPurchase, t.Price, t.Marketplace = true, price, &name
	before := b.Parent
	if before == nil {
		return made
	}
	if before.kind == kindExternal || before.IsTransfer() && bytes.Equal(before.Source(), t.NewOwner) {
		made.Consumes(before)
	}
	// The item pays with whatever message finds its auction at an end.
	var paid []*Block
	for _, c := range before.Children {
		if c.IsCall(opFillUp) && bytes.Equal(c.Source(), b.Source()) {
			paid = append(paid, c)
		}
	}
	if len(paid) > 1 { // the fee comes first
		t.RoyaltyAmount, t.RoyaltyAddress = sum(paid[0].Value()), paid[0].Destination()
		t.PayoutAmount, t.PayoutAddress = sum(paid[1].Value()), paid[1].Destination()
	} else if len(paid) == 1 {
		t.PayoutAmount, t.PayoutAddress = sum(paid[0].Value()), paid[0].Destination()
	}
	return made.Consumes(paid...)
}

// minted reports whether a block deployed a Telegram item.
func minted(b *Block) bool {
	return b != nil && (b.Type == &nftMint.Type || b.IsCall(opTeleitemDeploy))
}

func makeTeleitemStart(m *Match) *Made {
	b := m.Block
	r := b.Body()
	r.Skip(64) // query_id
	config := r.Open()
	beneficiary, least, most := config.Address(), config.Coins(), config.Coins()
	if config.Failed() {
		return nil
	}
	name := fragment
	item := m.Contract(b.Destination()).GetNftItem()
	start := &auctionStart{
		NFTCollection: item.GetCollection(), NFTItem: b.Destination(),
		Owner: b.Source(), AuctionAddress: b.Destination(), MarketplaceFeeAddress: beneficiary,
		MarketplaceFeeFactor: new(big.Int), MarketplaceFeeBase: new(big.Int), RoyaltyFeeBase: new(big.Int),
		MaxBid: most, MinBid: least, Marketplace: &name,
	}
	if item != nil {
		start.NFTItemIndex = magnitude(item.Index)
	}
	return teleitemStart.Make(start).Fails(b.Aborted())
}

func makeTeleitemCancel(m *Match) *Made {
	b := m.Block
	name := fragment
	return teleitemCancel.Make(&auctionEnd{
		Owner: b.Source(), NFTItem: b.Destination(), NFTCollection: m.Contract(b.Destination()).GetNftItem().GetCollection(),
		AuctionAddress: b.Destination(), Marketplace: &name,
	}).Fails(b.Aborted())
}

package action

import (
	"bytes"
	"math/big"

	"tonscribe/schema/record"
)

// Opcodes of NFTs (TEP-62).
const (
	opNFTTransfer          = 0x5fcc3d14
	opNFTOwnershipAssigned = 0x05138d91
	opGetStaticData        = 0x2fcb26a2
	opReportStaticData     = 0x8b771735
)

var (
	nftMint      = NewType[itemCreation]("nft_mint", V1, "nft", "nft.v3")
	nftTransfer  = NewType[itemTransfer]("nft_transfer", V1, "nft", "nft.v3")
	nftPurchase  = NewType[itemPurchase]("nft_purchase", V3, "nft.v3")
	nftDiscovery = NewType[itemFound]("nft_discovery", V2)
)

type itemCreation struct {
	Owner         Address  `detail:"owner,account,optional"` // who sent the message that deployed it
	NFTItem       Address  `detail:"nft_item,account"`
	NFTCollection Address  `detail:"nft_collection"`
	NFTItemIndex  *big.Int `detail:"nft_item_index"`
}

// itemMove is what transfers and purchases have in common.
type itemMove struct {
	NFTCollection          Address  `detail:"nft_collection"`
	NFTItem                Address  `detail:"nft_item,account"`
	NFTItemIndex           *big.Int `detail:"nft_item_index"`
	OldOwner               Address  `detail:"old_owner,account,optional"`
	NewOwner               Address  `detail:"new_owner,account"`
	IsPurchase             bool     `detail:"is_purchase"`
	Price                  *big.Int `detail:"price,optional"`
	QueryID                uint64   `detail:"query_id"`
	ResponseDestination    Address  `detail:"response_destination"`
	CustomPayload          BoC      `detail:"custom_payload"`
	ForwardPayload         BoC      `detail:"forward_payload"`
	ForwardAmount          *big.Int `detail:"forward_amount"`
	Comment                *string  `detail:"comment"`
	IsEncryptedComment     *bool    `detail:"is_encrypted_comment"`
	Marketplace            *string  `detail:"marketplace"`
	RealOldOwner           Address  `detail:"real_old_owner"`
	MarketplaceAddress     Address  `detail:"marketplace_address"`
	PayoutAmount           *uint64  `detail:"payout_amount"`
	PayoutAddress          Address  `detail:"payout_address"`
	PayoutComment          *string  `detail:"payout_comment"`
	PayoutCommentEncrypted *bool    `detail:"payout_comment_encrypted"`
	PayoutCommentEncoded   *bool    `detail:"payout_comment_encoded"`
	RoyaltyAmount          *uint64  `detail:"royalty_amount"`
}

type itemTransfer struct {
	itemMove
	RoyaltyAddress Address `detail:"royalty_address"`
}

type itemPurchase struct {
	itemMove
}

type itemFound struct {
	Source        Address  `detail:"source,account"`
	NFTItem       Address  `detail:"nft_item,account"`
	NFTCollection Address  `detail:"nft_collection"`
	NFTItemIndex  *big.Int `detail:"nft_item_index"`
}

// nfts are mints, transfers and purchases of NFT items.
var nfts = &Protocol{
	Name:  "nft",
	Types: []typed{nftMint, nftTransfer, nftPurchase, nftDiscovery},
	Rules: []Rule{
		{
			Name:    "deployment of an NFT item",
			Order:   orderNFTMint,
			Pattern: Deploy().Where(isItem),
			Make:    makeMint,
		},
		{
			Name:  "NFT transfer",
			Order: orderNFTTransfer,
			Pattern: Call(opNFTTransfer).Where(isItem).With(
				Call(opNFTOwnershipAssigned).Where(hasNoBid).As("notification").Maybe(),
			),
			Make: makeNFTTransfer,
		},
		{
			Name:    "payout to the seller of an NFT item",
			Order:   orderPurchase,
			Pattern: Is(nftTransfer).Where(isSold),
			Make:    makePurchase,
		},
		{
			Name:  "payout to the seller at the end of an auction",
			Order: orderPurchaseFinished,
			Pattern: OneOf(Plain().Where(endsAuction), Call(finishOpcodes...)).Kept().With(
				Is(nftTransfer).As("transfer").Where(isSold),
			),
			Make: makePurchaseFinished,
		},
		{
			Name:    "data of an NFT item",
			Order:   orderNFTDiscovery,
			Pattern: Call(opGetStaticData).With(Call(opReportStaticData).As("report")),
			Make: func(m *Match) *Made {
				report := m.One("report")
				r := report.Body()
				r.Skip(64) // query_id
				found := &itemFound{Source: m.Block.Source(), NFTItem: m.Block.Destination(),
					NFTItemIndex: r.Big(256), NFTCollection: r.Address()}
				if r.Failed() {
					return nil
				}
				return nftDiscovery.Make(found).Fails(m.Block.Aborted())
			},
		},
	},
}

// isItem reports whether a message goes to an NFT item.
func isItem(b *Block) bool {
	return b.Message != nil && b.Contract(b.Destination()).GetNftItem() != nil
}

// magnitude is a number of a record, whose zero is empty.
func magnitude(n []byte) *big.Int { return new(big.Int).SetBytes(n) }

// sum is a number that may not be there.
func sum(n uint64) *uint64 { return &n }

func truth(b bool) *bool { return &b }

// item sets what is known of the item.
func (t *itemMove) item(account Address, item *record.NFTItem) {
	t.NFTItem, t.NFTCollection, t.NFTItemIndex = account, item.GetCollection(), magnitude(item.GetIndex())
}

// carry sets what the item carries to its new owner. A payload that is no comment is
// no encrypted one either.
func (t *itemMove) carry(p Payload) {
	if !p.There {
		return
	}
	text, encrypted := p.Comment()
	t.ForwardPayload, t.Comment, t.IsEncryptedComment = p.BoC(), text, &encrypted
}

// soldAt sets what a sale or an auction says of a purchase, whose price is nil where it
// was paid in jettons.
func (t *itemMove) soldAt(marketplace, seller Address, price *big.Int) {
	t.IsPurchase, t.Price = true, price
	t.MarketplaceAddress, t.RealOldOwner = marketplace, seller
	t.Marketplace = marketplaceOf(marketplace, t.NFTCollection)
}

func makeMint(m *Match) *Made {
	account := m.Block.Destination()
	item := m.Contract(account).GetNftItem()
	return nftMint.Make(&itemCreation{Owner: m.Block.Source(), NFTItem: account, NFTCollection: item.GetCollection(),
		NFTItemIndex: magnitude(item.GetIndex())}).Fails(m.Block.Aborted())
}

func makeNFTTransfer(m *Match) *Made {
	b := m.Block
	t := &itemTransfer{}
	t.item(b.Destination(), m.Contract(b.Destination()).GetNftItem())
	r := b.Body()
	t.QueryID = r.Uint(64)
	t.OldOwner, t.NewOwner = b.Source(), r.Address()
	t.ResponseDestination = r.Address()
	t.CustomPayload = r.MaybeCell()
	t.ForwardAmount = r.Coins()
	if r.Failed() {
		return nil
	}
	t.carry(r.Payload())
	made := nftTransfer.Make(t).Fails(b.Aborted())
	if paid := t.bought(m); paid != nil {
		made.Consumes(paid)
	}
	return made
}

// bought finds out whether the transfer is that of a sale to who pays it, or that of an
// auction to another one than its seller. It returns the message that paid for it, nil
// where that is not a part of the transfer.
func (t *itemTransfer) bought(m *Match) (paid *Block) {
	before := m.Block.Parent
	if jettons := jettonTransfer.Of(before); jettons != nil {
		t.boughtWith(jettons, m)
		return nil
	}
	if before == nil || before.Message == nil || !bytes.Equal(before.Destination(), m.Block.Source()) {
		return nil
	}
	if saysCancel(before) || before.IsCall(opSaleCancel, opEmergency) || before.IsCall(cancelOpcodes...) {
		return nil
	}
	c := m.Contract(m.Block.Source())
	switch sale, auction := c.GetSale(), c.GetAuction(); {
	case sale != nil && bytes.Equal(sale.Item, t.NFTItem) && !bytes.Equal(sale.Owner, t.NewOwner) && bytes.Equal(before.Source(), t.NewOwner):
		price := magnitude(sale.Price)
		if before.lacks(price) {
			return nil
		}
		t.soldAt(sale.Marketplace, sale.Owner, price)
	case auction != nil && bytes.Equal(auction.Item, t.NFTItem) && !bytes.Equal(auction.Owner, t.NewOwner) && m.Block.paidOut(bidOf(auction)):
		t.soldAt(auction.Marketplace, auction.Owner, bidOf(auction))
	default:
		return nil
	}
	if before.internal() && !endsAuction(before) && !before.IsCall(finishOpcodes...) && before.within == nil {
		return before
	}
	return nil
}

// boughtWith finds out whether jettons that a sale or an auction of version 4 was told of
// paid for the transfer.
func (t *itemTransfer) boughtWith(jettons *jettonMove, m *Match) {
	if !bytes.Equal(jettons.Receiver, m.Block.Source()) || !bytes.Equal(jettons.Sender, t.NewOwner) {
		return
	}
	c := m.Contract(m.Block.Source())
	switch sale, auction := c.GetSale(), c.GetAuction(); {
	case sale != nil && bytes.Equal(sale.Item, t.NFTItem) && !bytes.Equal(sale.Owner, t.NewOwner):
		t.soldAt(sale.Marketplace, sale.Owner, nil)
	case auction != nil && bytes.Equal(auction.Item, t.NFTItem) && !bytes.Equal(auction.Owner, t.NewOwner) && m.Block.paidOut(bidOf(auction)):
		t.soldAt(auction.Marketplace, auction.Owner, bidOf(auction))
	}
}

// bidOf is the last bid of an auction, nil where it is of jettons.
func bidOf(auction *record.Auction) *big.Int {
	if auction.JettonWallet != nil {
		return nil
	}
	return magnitude(auction.LastBid)
}

// paidOut reports whether the transaction that sent a message sent the toncoins of a bid,
// too: to the seller, and to those who have a share. A bid of jettons is nil.
func (b *Block) paidOut(bid *big.Int) bool {
	if bid == nil || b.sender == nil {
		return bid == nil
	}
	sent := nanotons(maxFees)
	for _, m := range b.sender.Tx.OutMsgs {
		sent.Add(sent, nanotons(m.Value))
	}
	return sent.Cmp(bid) >= 0
}

// isSold reports whether a transfer is a purchase whose seller is known.
func isSold(b *Block) bool {
	t := nftTransfer.Of(b)
	return t != nil && t.IsPurchase && t.RealOldOwner != nil
}

// payoutTo returns the message among those of a contract that pays the seller: the
// greatest, since the seller may be the one who is paid the royalty, too.
func payoutTo(seller, from Address, sent []*Block) (payout *Block) {
	for _, c := range sent {
		if c.IsTransfer() && bytes.Equal(c.Destination(), seller) && bytes.Equal(c.Source(), from) && (payout == nil || c.Value() > payout.Value()) {
			payout = c
		}
	}
	return payout
}

func makePurchase(m *Match) *Made {
	t := nftTransfer.Of(m.Block)
	sent := m.Block.Children
	if before := m.Block.Parent; before != nil && before.kind == kindExternal && bytes.Equal(before.Destination(), t.OldOwner) {
		sent = before.Children // of an auction that a message from outside ended
	}
	payout := payoutTo(t.RealOldOwner, t.OldOwner, sent)
	if payout == nil {
		return nil
	}
	return purchase(t, payout).Consumes(payout).Fails(m.Block.Failed || returned(payout))
}

// makePurchaseFinished looks for the payout beside the transfer: at the end of an
// auction both are sent by the auction.
func makePurchaseFinished(m *Match) *Made {
	t := nftTransfer.Of(m.One("transfer"))
	payout := payoutTo(t.RealOldOwner, t.OldOwner, m.Block.Children)
	if payout == nil {
		return nil
	}
	return purchase(t, payout).Consumes(payout).Fails(m.Aborted("transfer") || returned(payout))
}

func purchase(t *itemTransfer, payout *Block) *Made {
	p := &itemPurchase{t.itemMove}
	sent := tonTransfer.Of(payout)
	p.PayoutAmount, p.PayoutAddress = sum(payout.Value()), payout.Destination()
	p.PayoutComment = sent.Comment
	p.PayoutCommentEncrypted, p.PayoutCommentEncoded = truth(sent.Encrypted), truth(sent.Encrypted && sent.Comment != nil)
	return nftPurchase.Make(p)
}

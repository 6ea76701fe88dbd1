package action

import (
	"bytes"
	"encoding/base64"
	"math/big"
	"strings"

	"tonscribe/schema/record"
)

// Opcodes of sales and auctions.
const (
	opSaleCancel    = 3
	opEmergency     = 555 // of a marketplace, which has a sale or an auction send a message for it
	opSaleUpdate    = 0x6c6c2080
	opSaleUpdateV4  = 0xfd135f7b
	opAuctionCancel = 0x5616c572 // CRC-32 of the words
	opAuctionFinish = 0x20c9eb18
	opAuctionStop   = 0xb95616b6
	// Of version 4, CRC-32 of cancel_auction, finish_auction, process_ton_bid.
	opAuctionCancelV4 = 0xb820e9c2
	opAuctionFinishV4 = 0xf373ace5
	opAuctionBidV4    = 0x344ef025
)

// outbidNotice is a part of the comment with which Getgems returns a bid.
const outbidNotice = "has been outbid by another user"

var (
	putOnSale     = NewType[saleStart]("nft_put_on_sale", V3, "nft.v3")
	putOnAuction  = NewType[auctionStart]("nft_put_on_auction", V3, "nft.v3")
	cancelSale    = NewType[saleEnd]("nft_cancel_sale", V3, "nft.v3")
	cancelAuction = NewType[auctionEnd]("nft_cancel_auction", V3, "nft.v3")
	finishAuction = NewType[auctionEnd]("nft_finish_auction", V3, "nft.v3")
	updateSale    = NewType[saleChange]("nft_update_sale", V3, "nft.v3")
	auctionBid    = NewType[bid]("auction_bid", V1, "nft", "nft.v3")
	auctionOutbid = NewType[outbid]("auction_outbid", V3, "nft.v3")
)

type saleStart struct {
	NFTCollection         Address  `detail:"nft_collection"`
	NFTItem               Address  `detail:"nft_item,account"`
	NFTItemIndex          *big.Int `detail:"nft_item_index"`
	Owner                 Address  `detail:"owner,account"`
	ListingAddress        Address  `detail:"listing_address,account"`
	SaleAddress           Address  `detail:"sale_address,account"`
	MarketplaceAddress    Address  `detail:"marketplace_address"`
	FullPrice             *big.Int `detail:"full_price"`
	MarketplaceFee        *big.Int `detail:"marketplace_fee"`
	RoyaltyAmount         *big.Int `detail:"royalty_amount"`
	MarketplaceFeeAddress Address  `detail:"marketplace_fee_address"`
	RoyaltyAddress        Address  `detail:"royalty_address"`
	Marketplace           *string  `detail:"marketplace"`
}

type auctionStart struct {
	NFTCollection         Address  `detail:"nft_collection"`
	NFTItem               Address  `detail:"nft_item,account"`
	NFTItemIndex          *big.Int `detail:"nft_item_index"`
	Owner                 Address  `detail:"owner,account"`
	ListingAddress        Address  `detail:"listing_address,account"`
	AuctionAddress        Address  `detail:"auction_address,account"`
	MarketplaceAddress    Address  `detail:"marketplace_address"`
	MarketplaceFeeFactor  *big.Int `detail:"marketplace_fee_factor"`
	MarketplaceFeeBase    *big.Int `detail:"marketplace_fee_base"`
	RoyaltyFeeBase        *big.Int `detail:"royalty_fee_base"`
	MaxBid                *big.Int `detail:"max_bid"`
	MinBid                *big.Int `detail:"min_bid"`
	MarketplaceFeeAddress Address  `detail:"marketplace_fee_address"`
	RoyaltyAddress        Address  `detail:"royalty_address"`
	Marketplace           *string  `detail:"marketplace"`
}

type saleEnd struct {
	Owner              Address `detail:"owner,account"`
	NFTItem            Address `detail:"nft_item,account"`
	NFTCollection      Address `detail:"nft_collection"`
	SaleAddress        Address `detail:"sale_address,account"`
	MarketplaceAddress Address `detail:"marketplace_address"`
	Marketplace        *string `detail:"marketplace"`
}

type auctionEnd struct {
	Owner              Address `detail:"owner,account"` // who has the item then
	NFTItem            Address `detail:"nft_item,account"`
	NFTCollection      Address `detail:"nft_collection"`
	AuctionAddress     Address `detail:"auction_address,account"`
	MarketplaceAddress Address `detail:"marketplace_address"`
	Marketplace        *string `detail:"marketplace"`
}

type saleChange struct {
	Source             Address  `detail:"source,account"`
	SaleContract       Address  `detail:"sale_contract,account"`
	NFTAddress         Address  `detail:"nft_address,account"`
	MarketplaceAddress Address  `detail:"marketplace_address"`
	Marketplace        *string  `detail:"marketplace"`
	FullPrice          *big.Int `detail:"full_price"`
	MarketplaceFee     *big.Int `detail:"marketplace_fee"`
	RoyaltyAmount      *big.Int `detail:"royalty_amount"`
}

type bid struct {
	Amount        uint64   `detail:"amount"`
	Bidder        Address  `detail:"bidder,account"`
	Auction       Address  `detail:"auction,account"`
	NFTItem       Address  `detail:"nft_item,account"`
	NFTCollection Address  `detail:"nft_collection"`
	NFTItemIndex  *big.Int `detail:"nft_item_index"`
}

type outbid struct {
	AuctionAddress Address `detail:"auction_address,account"`
	Bidder         Address `detail:"bidder,account"` // who gets the amount back
	NewBidder      Address `detail:"new_bidder,account"`
	NFTItem        Address `detail:"nft_item,account"`
	NFTCollection  Address `detail:"nft_collection"`
	Amount         uint64  `detail:"amount"`
	Comment        *string `detail:"comment,optional"`
	Marketplace    *string `detail:"marketplace,optional"`
}

// listed is an item that is handed to a deployer, which deploys the contract of a
// sale or an auction and hands the item on to it.
func listed() *Pattern {
	return Is(nftTransfer).As("transfer").Alone().With(
		Deploy().As("deploy").Alone(),
		Is(nftTransfer).As("transfer on").Alone(),
	)
}

// finishOpcodes and cancelOpcodes end an auction with and without a sale.
var (
	finishOpcodes = []uint32{opAuctionFinish, opAuctionStop, opAuctionFinishV4}
	cancelOpcodes = []uint32{opAuctionCancel, opAuctionCancelV4}
)

// endOfAuction is a message that ends an auction, by its word or its opcode, and
// the item's way out of it, which is an action of its own.
func endOfAuction(comment func(*Block) bool, opcodes ...uint32) *Pattern {
	return OneOf(Plain().Where(comment), Call(opcodes...)).Where(goesToAuction).With(Is(nftTransfer, nftPurchase).As("transfer").Kept())
}

// sales are sales at a fixed price and auctions, each a contract that owns the item
// meanwhile.
var sales = &Protocol{
	Name:  "sales",
	Types: []typed{putOnSale, putOnAuction, cancelSale, cancelAuction, finishAuction, updateSale, auctionBid, auctionOutbid},
	Rules: []Rule{
		{Name: "new price of a sale", Order: orderSaleUpdate, Pattern: Call(opSaleUpdate, opSaleUpdateV4).Where(goesToSale), Make: makeSaleUpdate},
		{Name: "NFT item put on sale", Order: orderPutOnSale, Pattern: listed(), Make: makePutOnSale},
		{Name: "NFT item put on auction", Order: orderPutOnAuction, Pattern: listed(), Make: makePutOnAuction},
		{
			Name:    "bid",
			Order:   orderAuctionBid,
			Pattern: OneOf(Plain().Where(mayBid), Call(opAuctionBidV4).Where(goesToAuction)),
			Make:    makeBid,
		},
		{
			Name:  "bid returned",
			Order: orderAuctionOutbid,
			Pattern: Is(auctionBid).Where(returnsOne).Kept().With(
				OneOf(Plain().Where(isOutbidNotice), Call(opOutbid)).As("return").Alone().With(sentBack().Maybe()),
			),
			Make: makeOutbid,
		},
		{
			Name:    "sale cancelled",
			Order:   orderCancelSale,
			Pattern: OneOf(Plain().Where(saysCancel), Call(opSaleCancel)).Where(goesToSale).With(Is(nftTransfer).As("transfer").Kept()),
			Make:    makeCancelSale,
		},
		{Name: "auction finished", Order: orderFinishAuction, Pattern: endOfAuction(endsAuction, finishOpcodes...), Make: makeFinishAuction},
		{Name: "auction cancelled", Order: orderCancelAuction, Pattern: endOfAuction(saysCancel, cancelOpcodes...), Make: makeCancelAuction},
	},
}

func goesToSale(b *Block) bool    { return b.Contract(b.Destination()).GetSale() != nil }
func goesToAuction(b *Block) bool { return b.Contract(b.Destination()).GetAuction() != nil }

// says reports whether b is a plain transfer whose comment is one of the words.
func says(b *Block, words ...string) bool {
	text := b.Comment()
	if text == nil || tonTransfer.Of(b).Encrypted {
		return false
	}
	for _, w := range words {
		if *text == w {
			return true
		}
	}
	return false
}

// endsAuction reports whether a plain transfer asks for the end of an auction.
func endsAuction(b *Block) bool { return says(b, "finish", "stop") }

func saysCancel(b *Block) bool { return says(b, "cancel") }

func makeSaleUpdate(m *Match) *Made {
	b := m.Block
	sale := m.Contract(b.Destination()).GetSale()
	r := b.Body()
	r.Skip(64) // query_id
	change := &saleChange{Source: b.Source(), SaleContract: b.Destination(), NFTAddress: sale.Item, MarketplaceAddress: sale.Marketplace,
		FullPrice: r.Coins()}
	if b.IsCall(opSaleUpdate) { // of version 4 the fees are shares
		change.MarketplaceFee, change.RoyaltyAmount = r.Coins(), r.Coins()
	}
	if r.Failed() {
		return nil
	}
	change.Marketplace = marketplaceOf(sale.Marketplace, m.Contract(sale.Item).GetNftItem().GetCollection())
	return updateSale.Make(change).Fails(b.Aborted())
}

// listing checks that an item went through a deployer to the contract that the
// deployer made, and returns that.
func listing(m *Match) (first, second *itemTransfer, deploy *Block, ok bool) {
	first, second, deploy = nftTransfer.Of(m.One("transfer")), nftTransfer.Of(m.One("transfer on")), m.One("deploy")
	ok = bytes.Equal(first.NFTItem, second.NFTItem) && bytes.Equal(second.NewOwner, deploy.Destination())
	return first, second, deploy, ok
}

// sells reports whether the item that is known of a contract, or that it was deployed
// with, is the one; where neither is there its code says what it is.
func sells(known, deployed, item Address) bool {
	return (known == nil || same(known, item)) && (deployed == nil || same(deployed, item))
}

func makePutOnSale(m *Match) *Made {
	first, second, deploy, ok := listing(m)
	known := m.Contract(deploy.Destination()).GetSale()
	sale := saleOf(deploy) // what it was deployed with: the item may have been sold since
	if sale == nil {
		sale = known
	}
	if !ok || sale == nil || !sells(known.GetItem(), sale.Item, first.NFTItem) {
		return nil
	}
	marketplace := sale.Marketplace
	if m := known.GetMarketplace(); m != nil { // of version 4 it is named after the deployment
		marketplace = m
	}
	start := &saleStart{
		NFTCollection: first.NFTCollection, NFTItem: first.NFTItem, NFTItemIndex: first.NFTItemIndex,
		Owner: first.OldOwner, ListingAddress: first.NewOwner, SaleAddress: deploy.Destination(),
		MarketplaceAddress: marketplace, FullPrice: magnitude(sale.Price),
		MarketplaceFeeAddress: sale.FeeAddress, RoyaltyAddress: sale.RoyaltyAddress,
		Marketplace: marketplaceOf(marketplace, first.NFTCollection),
	}
	if sale.Version != 4 { // whose fees are shares
		start.MarketplaceFee, start.RoyaltyAmount = magnitude(sale.Fee), magnitude(sale.Royalty)
	}
	return putOnSale.Make(start).Fails(m.Aborted("transfer", "deploy", "transfer on") || second.NewOwner == nil)
}

func makePutOnAuction(m *Match) *Made {
	first, _, deploy, ok := listing(m)
	known := m.Contract(deploy.Destination()).GetAuction()
	auction := auctionOf(deploy)
	if auction == nil {
		auction = known
	}
	if !ok || auction == nil || !sells(known.GetItem(), auction.Item, first.NFTItem) {
		return nil
	}
	if auction.Marketplace == nil {
		auction.Marketplace = known.GetMarketplace()
	}
	return putOnAuction.Make(&auctionStart{
		NFTCollection: first.NFTCollection, NFTItem: first.NFTItem, NFTItemIndex: first.NFTItemIndex,
		Owner: first.OldOwner, ListingAddress: first.NewOwner, AuctionAddress: deploy.Destination(),
		MarketplaceAddress: auction.Marketplace, MarketplaceFeeFactor: magnitude(auction.FeeFactor), MarketplaceFeeBase: magnitude(auction.FeeBase),
		RoyaltyFeeBase: magnitude(auction.RoyaltyBase), MaxBid: magnitude(auction.MaxBid), MinBid: magnitude(auction.MinBid),
		MarketplaceFeeAddress: auction.FeeAddress, RoyaltyAddress: auction.RoyaltyAddress,
		Marketplace: marketplaceOf(auction.Marketplace, first.NFTCollection),
	}).Fails(m.Aborted("transfer", "deploy", "transfer on"))
}

// mayBid reports whether a plain transfer could be a bid: it goes to something that
// takes some.
func mayBid(b *Block) bool {
	if b.Deployed() || says(b, "cancel", "finish", "stop") {
		return false
	}
	c := b.Contract(b.Destination())
	return c.GetAuction() != nil && !says(b, "deploy") || isTeleitem(c) && !topsUp(b, c) || isDNSItem(c) && returnsOne(b)
}

func makeBid(m *Match) *Made {
	b := m.Block
	account := b.Destination()
	if auction := m.Contract(account).GetAuction(); auction != nil {
		account = auction.Item
	}
	item := m.Contract(account).GetNftItem()
	made := &bid{Amount: b.Value(), Bidder: b.Source(), Auction: b.Destination(), NFTItem: account, NFTCollection: item.GetCollection()}
	if item != nil {
		made.NFTItemIndex = magnitude(item.Index)
	}
	return auctionBid.Make(made).Fails(b.Aborted())
}

// isOutbidNotice reports whether a plain transfer returns a bid.
func isOutbidNotice(b *Block) bool {
	text := b.Comment()
	return text != nil && strings.Contains(*text, outbidNotice)
}

// returnsOne reports whether a bid led to the return of exactly one.
func returnsOne(b *Block) bool {
	n := 0
	for _, c := range b.Children {
		if c.IsCall(opOutbid) || c.IsTransfer() && isOutbidNotice(c) {
			n++
		}
	}
	return n == 1
}

func makeOutbid(m *Match) *Made {
	b, over := m.One("return"), auctionBid.Of(m.Block)
	if !bytes.Equal(b.Source(), over.Auction) {
		return nil
	}
	return auctionOutbid.Make(&outbid{
		AuctionAddress: over.Auction, Bidder: b.Destination(), NewBidder: over.Bidder, NFTItem: over.NFTItem,
		NFTCollection: over.NFTCollection, Amount: b.Value(), Comment: b.Comment(),
		Marketplace: marketplaceOf(m.Contract(over.Auction).GetAuction().GetMarketplace(), over.NFTCollection),
	}).Fails(returned(b))
}

// moved returns what a transfer or purchase moved.
func moved(b *Block) *itemMove {
	if p := nftPurchase.Of(b); p != nil {
		return &p.itemMove
	}
	return &nftTransfer.Of(b).itemMove
}

func makeCancelSale(m *Match) *Made {
	sale, t := m.Contract(m.Block.Destination()).GetSale(), moved(m.One("transfer"))
	if !bytes.Equal(t.NFTItem, sale.Item) {
		return nil
	}
	return cancelSale.Make(&saleEnd{
		Owner: t.NewOwner, NFTItem: t.NFTItem, NFTCollection: t.NFTCollection, SaleAddress: m.Block.Destination(),
		MarketplaceAddress: sale.Marketplace, Marketplace: marketplaceOf(sale.Marketplace, t.NFTCollection),
	}).Fails(m.Block.Aborted() || m.Aborted("transfer"))
}

func makeFinishAuction(m *Match) *Made { return endAuction(m, finishAuction) }
func makeCancelAuction(m *Match) *Made { return endAuction(m, cancelAuction) }

func endAuction(m *Match, what *TypeOf[auctionEnd]) *Made {
	auction, t := m.Contract(m.Block.Destination()).GetAuction(), moved(m.One("transfer"))
	if !bytes.Equal(t.NFTItem, auction.Item) {
		return nil
	}
	return what.Make(&auctionEnd{
		Owner: t.NewOwner, NFTItem: t.NFTItem, NFTCollection: t.NFTCollection, AuctionAddress: m.Block.Destination(),
		MarketplaceAddress: auction.Marketplace, Marketplace: marketplaceOf(auction.Marketplace, t.NFTCollection),
	}).Fails(m.Block.Aborted() || m.Aborted("transfer"))
}

// saleForms read the data that builds of sales are deployed with, by the hash of
// their code.
var saleForms = map[string]func(*Reader) *record.Sale{
	"2pufziLofEllctIDZSWVebzO+RpyA1fMvowFLvyb4I8=": func(r *Reader) *record.Sale { return readSale(r, false) },
	"gnj0xSM95vvtyWmvUZNEp6m//FRIVtuphqlcC8+Fcck=": readSaleV2,
	"MgUN+sRPZIZrzIbyzZ4TBf6dyts5WcACI3z7CQLUQyM=": readSaleV2,
	"3rU7bFdlwebNI4v0e8XoO6WWvcwEsLhM1Qqx5HSgjzE=": readSaleV2,
	"JCIfpXHlQuBVx3vt/b9SfHr0YM/cfzRMRQeHtM+h600=": readSaleV2,
	"a5WmQYucnSNZBF0edVm41UmuDlBvJMqrWPowyPsf64Y=": readSaleV4,
}

// auctionForms are the same for auctions.
var auctionForms = map[string]func(*Reader) *record.Auction{
	"/ACindAgW83MDT/7nKOMw8jBWexg2KpUMkCpLxBZLUA=": readAuctionV1,
	"ZmiHL6eXBUQ//UdSPo6eqfdquZ+aC1nSfej4GhwnudQ=": readAuctionV2,
	"G9nFo5v/t6DzQViLXdkrgTqEK/Ze8UEJOCIAzq+Pct8=": readAuctionV2, // version 3, second build
	"u29ireD+stefqzuK6/CTCvmFU99gCTsgJ/Covxab/Ow=": readAuctionV3R3,
	"zlp4U06qps7tja/UhtB262CpsNbb+1Nnb2YmScBomVY=": readAuctionV4,
}

// deployedWith returns the hash of the code, base64, and the data that a message's
// StateInit has.
func deployedWith(b *Block) (code string, data Reader, ok bool) {
	init, ok := b.InitState()
	if !ok {
		return "", Reader{}, false
	}
	if init.Bool() {
		init.Skip(5) // fixed_prefix_length
	}
	if init.Bool() {
		init.Skip(2) // special
	}
	if !init.Bool() {
		return "", Reader{}, false
	}
	c := init.Ref()
	if !c.Valid() {
		return "", Reader{}, false
	}
	data, ok = init.MaybeOpen()
	return base64.StdEncoding.EncodeToString(c.Hash()[:]), data, ok
}

// saleOf returns the sale that a message deploys, nil where its build is not known.
func saleOf(b *Block) *record.Sale {
	code, data, ok := deployedWith(b)
	if form := saleForms[code]; ok && form != nil {
		if s := form(&data); !data.Failed() {
			return s
		}
	}
	return nil
}

func auctionOf(b *Block) *record.Auction {
	code, data, ok := deployedWith(b)
	if form := auctionForms[code]; ok && form != nil {
		if a := form(&data); !data.Failed() {
			return a
		}
	}
	return nil
}

// join makes r fail where what was read in a reference of it failed.
func (r *Reader) join(inner *Reader) {
	if inner.Failed() {
		r.FailTag()
	}
}

func readSale(r *Reader, addressFirst bool) *record.Sale {
	s := &record.Sale{Version: 1, Marketplace: r.Address(), Item: r.Address(), Owner: r.Address(), Price: r.Coins().Bytes()}
	fees := r.Open()
	if addressFirst {
		s.FeeAddress, s.Fee = fees.Address(), fees.Coins().Bytes()
	} else {
		s.Fee, s.FeeAddress = fees.Coins().Bytes(), fees.Address()
	}
	s.RoyaltyAddress, s.Royalty = fees.Address(), fees.Coins().Bytes()
	r.join(&fees)
	return s
}

func readSaleV2(r *Reader) *record.Sale {
	r.Skip(1 + 32) // complete, created
	return readSale(r, true)
}

func readSaleV4(r *Reader) *record.Sale {
	r.Skip(1) // complete
	s := &record.Sale{Version: 4, Marketplace: r.Address(), Owner: r.Address(), Price: r.Coins().Bytes()}
	static := r.Open()
	s.FeeAddress, s.RoyaltyAddress = static.Address(), static.Address()
	s.FeeShare, s.RoyaltyShare = uint32(static.Uint(17)), uint32(static.Uint(17))
	r.join(&static)
	return s
}

func bytesOf(n uint64) []byte { return new(big.Int).SetUint64(n).Bytes() }

// readFees reads the fees of an auction, with addresses among the shares.
func readFees(r *Reader, a *record.Auction) {
	fees := r.Open()
	a.FeeAddress, a.FeeFactor, a.FeeBase = fees.Address(), bytesOf(fees.Uint(32)), bytesOf(fees.Uint(32))
	a.RoyaltyAddress, a.RoyaltyFactor, a.RoyaltyBase = fees.Address(), bytesOf(fees.Uint(32)), bytesOf(fees.Uint(32))
	r.join(&fees)
}

func readAuctionV1(r *Reader) *record.Auction {
	a := &record.Auction{Version: 1}
	readFees(r, a)
	bids := r.Open()
	a.MinBid, a.MaxBid, a.MinStep = bids.Coins().Bytes(), bids.Coins().Bytes(), bids.Coins().Bytes()
	r.join(&bids)
	return a
}

func readAuctionV2(r *Reader) *record.Auction {
	a := &record.Auction{Version: 1}
	r.Skip(3) // ended, activated, cancelled
	readLastBid(r, a)
	readFees(r, a)
	constants := r.Open()
	constants.Skip(32) // gas
	readConstants(r, &constants, a)
	return a
}

func readLastBid(r *Reader, a *record.Auction) {
	a.LastMember, a.LastBid, a.LastBidAt, a.EndTime = r.Address(), r.Coins().Bytes(), uint32(r.Uint(32)), uint32(r.Uint(32))
}

func readConstants(r, constants *Reader, a *record.Auction) {
	a.Marketplace = constants.Address()
	a.MinBid, a.MaxBid = constants.Coins().Bytes(), constants.Coins().Bytes()
	r.join(constants)
}

func readAuctionV3R3(r *Reader) *record.Auction {
	a := &record.Auction{Version: 1}
	r.Skip(2)
	readLastBid(r, a)
	a.Owner = r.Address()
	r.Skip(64) // query_id
	a.FeeFactor, a.FeeBase = bytesOf(r.Uint(32)), bytesOf(r.Uint(32))
	a.RoyaltyFactor, a.RoyaltyBase = bytesOf(r.Uint(32)), bytesOf(r.Uint(32))
	fees := r.Open()
	a.FeeAddress, a.RoyaltyAddress = fees.Address(), fees.Address()
	r.join(&fees)
	constants := r.Open()
	readConstants(r, &constants, a)
	return a
}

func readAuctionV4(r *Reader) *record.Auction {
	a := &record.Auction{Version: 4}
	r.Skip(2)
	readLastBid(r, a)
	a.Owner = r.Address()
	r.Skip(64) // query_id
	fees := r.Open()
	a.FeeAddress, a.RoyaltyAddress = fees.Address(), fees.Address()
	a.FeeFactor, a.FeeBase = bytesOf(fees.Uint(32)), bytesOf(fees.Uint(32))
	a.RoyaltyFactor, a.RoyaltyBase = bytesOf(fees.Uint(32)), bytesOf(fees.Uint(32))
	r.join(&fees)
	constants := r.Open()
	readConstants(r, &constants, a)
	return a
}

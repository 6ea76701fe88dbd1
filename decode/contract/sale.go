package contract

import (
	"math/big"

	"tonscribe/schema/record"
)

// What get_sale_data begins with: "FIXP" and "AUC".
var (
	magicFixedPrice = big.NewInt(0x46495850)
	magicAuction    = big.NewInt(0x415543)
)

// sale reads get_sale_data, of sales and of auctions up to version 3.
func sale(p *probe) {
	r := p.run("get_sale_data", 1)
	if !r.ok {
		return
	}
	magic, ok := r.values[0].(*big.Int)
	switch {
	case !ok:
		p.basicSale(r)
	case magic.Cmp(magicFixedPrice) == 0:
		r.ok = len(r.values) >= 11
		r.skip()
		p.fixedPrice(r)
	case magic.Cmp(magicAuction) == 0:
		r.ok = len(r.values) >= 20
		r.skip()
		p.auction(r, &record.Auction{Version: 1})
	}
}

// basicSale reads the oldest forms, which do not tell whether they are complete. The
// second of them tells to whom the fee goes, before it; of the first it goes to the
// marketplace.
func (p *probe) basicSale(r *results) {
	s := &record.Sale{Version: 1, Marketplace: r.address(), Item: r.someone(), Owner: r.address(), Price: r.amount()}
	if r.isSlice() {
		s.FeeAddress = r.address()
	}
	s.Fee, s.RoyaltyAddress, s.Royalty = r.amount(), r.address(), r.amount()
	if r.ok {
		p.facts().Sale = s
	}
}

func (p *probe) fixedPrice(r *results) {
	s := &record.Sale{Version: 1, Complete: r.truth(), CreatedAt: r.uint32(), Marketplace: r.address(), Item: r.someone(),
		Owner: r.address(), Price: r.amount(), FeeAddress: r.address(), Fee: r.amount(),
		RoyaltyAddress: r.address(), Royalty: r.amount()}
	if r.ok {
		p.facts().Sale = s
	}
}

// saleV4 reads get_fix_price_data_v4.
func saleV4(p *probe) {
	r := p.run("get_fix_price_data_v4", 13)
	s := &record.Sale{Version: 4, Complete: r.truth(), CreatedAt: r.uint32(), Marketplace: r.address(), Item: r.someone(),
		Owner: r.address(), Price: r.amount(), FeeAddress: r.address(), FeeShare: r.uint32(),
		RoyaltyAddress: r.address(), RoyaltyShare: r.uint32(), SoldAt: r.uint32(), SoldQueryId: r.amount()}
	r.optionalCell() // prices in jettons
	if r.ok {
		p.facts().Sale = s
	}
}

// auction reads what follows the magic number.
func (p *probe) auction(r *results, a *record.Auction) {
	a.End, a.EndTime, a.Marketplace, a.Item, a.Owner = r.truth(), r.uint32(), r.address(), r.someone(), r.address()
	a.LastBid, a.LastMember, a.MinStep = r.amount(), r.address(), r.amount()
	a.FeeAddress, a.FeeFactor, a.FeeBase = r.address(), r.amount(), r.amount()
	a.RoyaltyAddress, a.RoyaltyFactor, a.RoyaltyBase = r.address(), r.amount(), r.amount()
	a.MaxBid, a.MinBid, a.CreatedAt, a.LastBidAt = r.amount(), r.amount(), r.uint32(), r.uint32()
	a.Canceled = r.truth()
	if r.ok {
		p.facts().Auction = a
	}
}

// auctionV4 reads get_auction_data_v4.
func auctionV4(p *probe) {
	r := p.run("get_auction_data_v4", 26)
	a := &record.Auction{Version: 4, Activated: r.truth()}
	p.auction(r, a)
	r.integer() // step time
	r.integer() // last query id
	a.JettonWallet, a.JettonMaster = r.address(), r.address()
	r.integer() // broken state
	r.integer() // public key
	if !r.ok {
		p.facts().Auction = nil
	}
}

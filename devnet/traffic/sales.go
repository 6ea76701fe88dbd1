package traffic

import (
	"math/big"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"

	"tonscribe/devnet/contracts"
	account "tonscribe/ton/address"
	"tonscribe/ton/cell"
)

// offer is an item that a sale or an auction holds, as its data tells.
type offer struct {
	at      *address.Address
	auction bool
	over    bool // sold, cancelled, or not begun
	seller  account.Address
	price   *big.Int // of a sale, or of the next bid
	bid     bool     // somebody has bid
	end     uint32   // of an auction
}

// offered is any item of a collection whose offer suits, nil when none is found.
func (s *step) offered(suits func(*offer) bool) *offer {
	for range 16 {
		c := s.tradable()
		items := s.items(c)
		if items <= 0 {
			return nil
		}
		item := c.is.Item(0, s.chance.Uint64N(uint64(items))).Address(0)
		holder := s.itemOwner(item)
		if s.byAccount[holder] != nil {
			continue
		}
		if o := s.offerAt(holder); o != nil && !o.over && suits(o) {
			return o
		}
	}
	return nil
}

func (s *step) offerAt(at account.Address) *offer {
	state := s.account(at)
	if state.StateInit == nil || state.StateInit.Code == nil {
		return nil
	}
	o := &offer{at: address.NewAddress(0, byte(at.Workchain()), at.ID())}
	r := cell.NewReader(state.StateInit.Data)
	switch state.StateInit.Code.HashKey() {
	case contracts.Code(contracts.SaleCode).HashKey():
		o.readSale(r)
	case contracts.Code(contracts.AuctionCode).HashKey():
		o.auction = true
		o.readAuction(r)
	default:
		return nil
	}
	if s.fail(r.Err()) {
		return nil
	}
	return o
}

func onSale(o *offer) bool { return !o.auction }

func (o *offer) readSale(r *cell.Reader) {
	complete := r.Bit()
	r.Skip(32)  // created
	r.Account() // the marketplace
	r.Account() // the item
	o.seller, o.price = accountOf(r), r.Coins()
	r.Ref() // fees
	o.over = complete || !r.Bit()
}

func (o *offer) readAuction(r *cell.Reader) {
	ended, begun := r.Bit(), r.Bit()
	r.Skip(1) // cancelled
	bidder, bid := r.Account(), r.Coins()
	r.Skip(32) // time of the bid
	o.end = uint32(r.Uint(32))
	o.seller, o.bid, o.over = accountOf(r), bidder != nil, ended || !begun
	r.Ref() // fees
	terms := cell.NewReader(r.Ref())
	terms.Account() // the marketplace
	terms.Account() // the item
	o.price = terms.Coins()
	terms.Coins() // highest
	if o.bid {
		o.price = bid.Add(bid, terms.Coins())
	}
	r.Fail(terms.Err())
}

// percent is a part of a price.
func percent(price *big.Int, part int64) *big.Int {
	share := new(big.Int).Mul(price, big.NewInt(part))
	return share.Div(share, big.NewInt(100))
}

// saleOf is a sale of an item, made now.
func (s *step) saleOf(c *collection, item *address.Address, owner *person) contracts.Sale {
	price := coins(s.chance, 1, 60)
	return contracts.Sale{
		CreatedAt: s.now, Marketplace: s.marketplace, Item: item, Owner: owner.address,
		Price: price, Fee: percent(price, 5), FeeAddress: s.founder.address,
		Royalty: percent(price, 5), RoyaltyAddr: c.admin.address,
	}
}

// nftSale puts an item on sale: the seller deploys the sale and sends it the
// item, or sends the item to the marketplace with the sale in the payload.
func (s *step) nftSale(c *collection, item *address.Address, owner *person) int {
	if !s.ready {
		return 0
	}
	sale := s.saleOf(c, item, owner)
	if s.chance.IntN(2) == 0 {
		return s.handOver(owner, item, sale.StateInit())
	}
	transfer := contracts.NFTTransfer{
		QueryID: s.query(), NewOwner: s.marketplace, Response: owner.address,
		ForwardValue: ton(0.3), ForwardPayload: contracts.ListPayload(sale.StateInit()),
	}
	return s.send(8, owner, pay(item, ton(0.5), contracts.NFTTransferBody(transfer)))
}

// handOver deploys a contract and gives it an item.
func (s *step) handOver(owner *person, item *address.Address, state *tlb.StateInit) int {
	to := contracts.AddressOf(0, state)
	message := pay(to, ton(0.1), contracts.TopUpBody(0))
	message.StateInit = state
	transfer := contracts.NFTTransfer{QueryID: s.query(), NewOwner: to, Response: owner.address, ForwardValue: ton(0.05)}
	return s.send(5, owner, message, pay(item, ton(0.2), contracts.NFTTransferBody(transfer)))
}

func (s *step) nftAuction(c *collection, item *address.Address, owner *person) int {
	if !s.ready {
		return 0
	}
	auction := contracts.Auction{
		CreatedAt: s.now, EndTime: s.now + 40 + s.chance.Uint32N(120), StepTime: 10, Marketplace: s.marketplace, Item: item,
		Owner: owner.address, MinBid: coins(s.chance, 0.5, 10), MinStep: ton(0.5), FeeAddress: s.founder.address,
		RoyaltyAddr: c.admin.address, FeeFactor: 5, FeeBase: 100, RoyaltyFactor: 5, RoyaltyOf: 100,
	}
	return s.handOver(owner, item, auction.StateInit())
}

func (s *step) nftPurchase() int {
	o := s.offered(onSale)
	p := s.anyone(80)
	if o == nil || p == nil {
		return 0
	}
	value := new(big.Int).Add(o.price, big.NewInt(contracts.SaleOverhead))
	return s.send(8, p, pay(o.at, value, nil))
}

// nftSaleChanged gives an item back to its seller, or changes its price.
func (s *step) nftSaleChanged() int {
	o := s.offered(onSale)
	if o == nil {
		return 0
	}
	seller := s.byAccount[o.seller]
	if seller == nil || !s.free(seller, 2) {
		return 0
	}
	body, caused := contracts.SaleCancelBody(s.query()), 5
	if s.chance.IntN(3) == 0 {
		price := coins(s.chance, 1, 60)
		body, caused = contracts.SaleUpdateBody(s.query(), price, percent(price, 5), percent(price, 5)), 2
	}
	return s.send(caused, seller, pay(o.at, ton(0.1), body))
}

func (s *step) nftBid() int {
	o := s.offered(func(o *offer) bool { return o.auction && s.now+5 < o.end && o.price.Cmp(ton(60)) < 0 })
	p := s.anyone(80)
	if o == nil || p == nil {
		return 0
	}
	caused := 2
	if o.bid {
		caused = 3
	}
	return s.send(caused, p, pay(o.at, new(big.Int).Add(o.price, coins(s.chance, 0.01, 2)), nil))
}

// nftAuctionEnd finishes an auction whose time is over.
func (s *step) nftAuctionEnd() int {
	o := s.offered(func(o *offer) bool { return o.auction && s.now >= o.end })
	p := s.anyone(5)
	if o == nil || p == nil {
		return 0
	}
	body := contracts.CommentBody(contracts.AuctionFinish)
	if s.chance.IntN(2) == 0 {
		body = contracts.AuctionCommandBody(s.query(), contracts.AuctionFinish)
	}
	caused := 6
	if o.bid {
		caused = 8
	}
	return s.send(caused, p, pay(o.at, ton(0.1), body))
}

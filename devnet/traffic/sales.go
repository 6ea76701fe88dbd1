package traffic

import (
	"math/big"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
)

// offer is an item that a sale or an auction holds, as its data tells.
type offer struct {
	item, at *address.Address
	auction  bool
	over     bool // sold, cancelled, or not begun
	seller   *address.Address
	price    *big.Int // of a sale, or of the next bid
	bid      bool     // somebody has bid
	end      uint32   // of an auction
}

// offered is any item of a collection whose offer suits, nil when none is found.
func (s *step) offered(suits func(*offer) bool) *offer {
	for range 16 {
		c := s.collections[s.chance.IntN(2)]
		items := s.items(c)
		if items <= 0 {
			return nil
		}
		item := c.is.Item(0, s.chance.Uint64N(uint64(items))).Address(0)
		holder := s.itemOwner(item)
		if holder == nil || s.byID[placeOf(holder)] != nil {
			continue
		}
		if o := s.offerAt(item, holder); o != nil && !o.over && suits(o) {
			return o
		}
	}
	return nil
}

func (s *step) offerAt(item, at *address.Address) *offer {
	state := s.account(placeOf(at))
	if state.StateInit == nil || state.StateInit.Code == nil {
		return nil
	}
	o := &offer{item: item, at: at}
	var err error
	switch state.StateInit.Code.HashKey() {
	case contracts.Code(contracts.SaleCode).HashKey():
		err = o.readSale(state.StateInit.Data)
	case contracts.Code(contracts.AuctionCode).HashKey():
		o.auction = true
		err = o.readAuction(state.StateInit.Data)
	default:
		return nil
	}
	if err != nil {
		s.fail(err)
		return nil
	}
	return o
}

func onSale(o *offer) bool { return !o.auction }

// reader reads fields one after the other and keeps the first error.
type reader struct {
	*cell.Slice
	err error
}

func open(c *cell.Cell) *reader {
	slice, err := c.BeginParse()
	return &reader{slice, err}
}

func (r *reader) keep(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reader) uint(bits uint) uint64 {
	value, err := r.LoadUInt(bits)
	r.keep(err)
	return value
}

func (r *reader) coins() *big.Int {
	value, err := r.LoadBigCoins()
	r.keep(err)
	return value
}

func (r *reader) address() *address.Address {
	value, err := r.LoadAddr()
	r.keep(err)
	if err != nil || value.IsAddrNone() {
		return nil
	}
	return value
}

func (r *reader) ref() *reader {
	c, err := r.LoadRefCell()
	if err != nil {
		r.keep(err)
		return &reader{cell.BeginCell().ToSlice(), err}
	}
	return open(c)
}

func (o *offer) readSale(data *cell.Cell) error {
	r := open(data)
	complete := r.uint(1) == 1
	r.uint(32) // created
	r.address()
	r.address()
	o.seller, o.price = r.address(), r.coins()
	r.ref()
	o.over = complete || r.uint(1) == 0
	return r.err
}

func (o *offer) readAuction(data *cell.Cell) error {
	r := open(data)
	ended, begun := r.uint(1) == 1, r.uint(1) == 1
	r.uint(1) // cancelled
	bidder, bid := r.address(), r.coins()
	r.uint(32) // time of the bid
	o.end = uint32(r.uint(32))
	o.seller, o.bid, o.over = r.address(), bidder != nil, ended || !begun
	r.ref() // fees
	terms := r.ref()
	terms.address()
	terms.address()
	lowest := terms.coins()
	terms.coins() // highest
	o.price = lowest
	if o.bid {
		o.price = bid.Add(bid, terms.coins())
	}
	r.keep(terms.err)
	return r.err
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
func (s *step) nftSale() int {
	c := s.collections[s.chance.IntN(2)]
	item, owner := s.item(c)
	if item == nil || !s.ready {
		return 0
	}
	sale := s.saleOf(c, item, owner)
	if s.chance.IntN(2) == 0 {
		return s.handOver(owner, item, contracts.AddressOf(0, sale.StateInit()), contracts.Message{StateInit: sale.StateInit()})
	}
	transfer := contracts.NFTTransfer{
		QueryID: s.query(), NewOwner: s.marketplace, Response: owner.address,
		ForwardValue: ton(0.3), ForwardPayload: contracts.ListPayload(sale.StateInit()),
	}
	if !s.send(owner, pay(item, ton(0.5), contracts.NFTTransferBody(transfer))) {
		return 0
	}
	return 8
}

// handOver deploys a contract and gives it an item.
func (s *step) handOver(owner *person, item, to *address.Address, deploy contracts.Message) int {
	message := pay(to, ton(0.1), contracts.TopUpBody(0))
	message.StateInit = deploy.StateInit
	transfer := contracts.NFTTransfer{QueryID: s.query(), NewOwner: to, Response: owner.address, ForwardValue: ton(0.05)}
	if !s.send(owner, message, pay(item, ton(0.2), contracts.NFTTransferBody(transfer))) {
		return 0
	}
	return 5
}

func (s *step) nftAuction() int {
	c := s.collections[s.chance.IntN(2)]
	item, owner := s.item(c)
	if item == nil || !s.ready {
		return 0
	}
	auction := contracts.Auction{
		CreatedAt: s.now, EndTime: s.now + 40 + s.chance.Uint32N(120), StepTime: 10, Marketplace: s.marketplace, Item: item,
		Owner: owner.address, MinBid: coins(s.chance, 0.5, 10), MinStep: ton(0.5), FeeAddress: s.founder.address,
		RoyaltyAddr: c.admin.address, FeeFactor: 5, FeeBase: 100, RoyaltyFactor: 5, RoyaltyOf: 100,
	}
	return s.handOver(owner, item, auction.Address(0), contracts.Message{StateInit: auction.StateInit()})
}

func (s *step) nftPurchase() int {
	o := s.offered(onSale)
	p := s.anyone(80)
	if o == nil || p == nil {
		return 0
	}
	value := new(big.Int).Add(o.price, big.NewInt(contracts.SaleOverhead))
	if !s.send(p, pay(o.at, value, nil)) {
		return 0
	}
	return 8
}

// nftSaleChanged gives an item back to its seller, or changes its price.
func (s *step) nftSaleChanged() int {
	o := s.offered(onSale)
	if o == nil || o.seller == nil {
		return 0
	}
	seller := s.byID[placeOf(o.seller)]
	if seller == nil || !s.free(seller, 2) {
		return 0
	}
	body, caused := contracts.SaleCancelBody(s.query()), 5
	if s.chance.IntN(3) == 0 {
		price := coins(s.chance, 1, 60)
		body, caused = contracts.SaleUpdateBody(s.query(), price, percent(price, 5), percent(price, 5)), 2
	}
	if !s.send(seller, pay(o.at, ton(0.1), body)) {
		return 0
	}
	return caused
}

func (s *step) nftBid() int {
	o := s.offered(func(o *offer) bool { return o.auction && s.now+5 < o.end && o.price.Cmp(ton(60)) < 0 })
	p := s.anyone(80)
	if o == nil || p == nil {
		return 0
	}
	if !s.send(p, pay(o.at, new(big.Int).Add(o.price, coins(s.chance, 0.01, 2)), nil)) {
		return 0
	}
	if o.bid {
		return 3
	}
	return 2
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
	if !s.send(p, pay(o.at, ton(0.1), body)) {
		return 0
	}
	if o.bid {
		return 8
	}
	return 6
}

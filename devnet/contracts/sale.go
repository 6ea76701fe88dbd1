package contracts

import (
	"math/big"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// SaleOverhead is what a buyer pays above the price, in nanotons; what is left
// of it comes back.
const SaleOverhead = 100_000_000

// Sale is a sale of an NFT item for a fixed price. It begins when the item is
// transferred to it with a forward value.
type Sale struct {
	CreatedAt               uint32
	Marketplace, Item       *address.Address
	Owner                   *address.Address // nil: whoever sends the item
	Price, Fee, Royalty     *big.Int         // fee and royalty are parts of the price
	FeeAddress, RoyaltyAddr *address.Address
}

// StateInit is of a sale that does not have the item yet.
func (s Sale) StateInit() *tlb.StateInit {
	fees := cell.BeginCell().
		MustStoreAddr(s.FeeAddress).MustStoreBigCoins(amount(s.Fee)).
		MustStoreAddr(s.RoyaltyAddr).MustStoreBigCoins(amount(s.Royalty)).EndCell()
	return stateInit(SaleCode, cell.BeginCell().
		MustStoreBoolBit(false).
		MustStoreUInt(uint64(s.CreatedAt), 32).
		MustStoreAddr(s.Marketplace).
		MustStoreAddr(s.Item).
		MustStoreAddr(s.Owner).
		MustStoreBigCoins(amount(s.Price)).
		MustStoreRef(fees).
		MustStoreBoolBit(false))
}

// Address is where StateInit is deployed.
func (s Sale) Address(workchain int32) *address.Address {
	return AddressOf(workchain, s.StateInit())
}

// SaleCancelBody is for the sale, from the seller or the marketplace. A plain
// transfer of price and SaleOverhead buys.
func SaleCancelBody(queryID uint64) *cell.Cell {
	return body(3, queryID).EndCell()
}

// SaleUpdateBody is for the sale, from the seller or the marketplace.
func SaleUpdateBody(queryID uint64, price, fee, royalty *big.Int) *cell.Cell {
	return body(0x6c6c2080, queryID).
		MustStoreBigCoins(amount(price)).MustStoreBigCoins(amount(fee)).MustStoreBigCoins(amount(royalty)).EndCell()
}

// Auction is an English auction of an NFT item. It begins when the item is
// transferred to it with a forward value.
type Auction struct {
	CreatedAt, EndTime       uint32
	StepTime                 uint32 // a later bid moves the end to this many seconds from it
	Marketplace, Item        *address.Address
	Owner                    *address.Address // nil: whoever sends the item
	MinBid, MaxBid, MinStep  *big.Int         // a bid of MaxBid ends the auction; 0: none does
	FeeAddress, RoyaltyAddr  *address.Address
	FeeFactor, FeeBase       uint32 // the fee is the part factor/base of the last bid
	RoyaltyFactor, RoyaltyOf uint32
}

// StateInit is of an auction that does not have the item yet.
func (a Auction) StateInit() *tlb.StateInit {
	fees := cell.BeginCell().
		MustStoreAddr(a.FeeAddress).
		MustStoreUInt(uint64(a.FeeFactor), 32).MustStoreUInt(uint64(max(a.FeeBase, 1)), 32).
		MustStoreAddr(a.RoyaltyAddr).
		MustStoreUInt(uint64(a.RoyaltyFactor), 32).MustStoreUInt(uint64(max(a.RoyaltyOf, 1)), 32).EndCell()
	terms := cell.BeginCell().
		MustStoreAddr(a.Marketplace).
		MustStoreAddr(a.Item).
		MustStoreBigCoins(amount(a.MinBid)).MustStoreBigCoins(amount(a.MaxBid)).MustStoreBigCoins(amount(a.MinStep)).
		MustStoreUInt(uint64(a.StepTime), 32).
		MustStoreUInt(uint64(a.CreatedAt), 32).EndCell()
	return stateInit(AuctionCode, cell.BeginCell().
		MustStoreUInt(0, 3). // neither ended nor activated nor cancelled
		MustStoreAddr(nil).
		MustStoreBigCoins(new(big.Int)).
		MustStoreUInt(0, 32).
		MustStoreUInt(uint64(a.EndTime), 32).
		MustStoreAddr(a.Owner).
		MustStoreRef(fees).
		MustStoreRef(terms))
}

// Address is where StateInit is deployed.
func (a Auction) Address(workchain int32) *address.Address {
	return AddressOf(workchain, a.StateInit())
}

// Commands of an auction as texts (CommentBody) or as numbers. Any other
// transfer bids its whole value.
const (
	AuctionCancel = "cancel" // by seller or marketplace, before the first bid
	AuctionFinish = "finish" // by anybody, after the end
	AuctionStop   = "stop"   // by seller or marketplace
)

// AuctionCommandBody is a command by its number.
func AuctionCommandBody(queryID uint64, command string) *cell.Cell {
	numbers := map[string]uint64{AuctionCancel: 0x5616c572, AuctionFinish: 0x20c9eb18, AuctionStop: 0xb95616b6}
	return body(numbers[command], queryID).EndCell()
}

// Marketplace puts items on sale that are transferred to it with ListPayload and
// a forward value of 0.3 TON.
type Marketplace struct {
	Owner *address.Address
}

// StateInit is a marketplace of its owner.
func (m Marketplace) StateInit() *tlb.StateInit {
	return stateInit(MarketplaceCode, cell.BeginCell().MustStoreAddr(m.Owner))
}

// Address is where StateInit is deployed.
func (m Marketplace) Address(workchain int32) *address.Address {
	return AddressOf(workchain, m.StateInit())
}

// ListPayload is the forward payload with a Sale or an Auction.
func ListPayload(init *tlb.StateInit) *cell.Cell {
	return StateInitCell(init)
}

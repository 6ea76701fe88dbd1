package render

import (
	"tonscribe/query/api"
	"tonscribe/query/openapi"
	"tonscribe/schema/record"
)

// NFTCollection is a collection of NFT items.
var NFTCollection = api.New("NftCollectionShape",
	api.Address("address", contract.GetAccount),
	api.Address("owner_address", func(c contract) []byte { return c.NftCollection.Owner }).Null(),
	api.Decimal("last_transaction_lt", contract.GetLastTransLt),
	amountOr("next_item_index", "-1", func(c contract) ([]byte, bool) { return c.NftCollection.NextItemIndex, !c.NftCollection.Unordered }).
		Doc("-1 where indexes are not consecutive"),
	content("collection_content", func(c contract) (*record.TokenContent, string) { return c.NftCollection.Content, "" }),
	api.Hash("data_hash", contract.GetDataHash),
	api.Hash("code_hash", contract.GetCodeHash),
)

// amountOr is an amount, or a word of its own in rows that have none.
func amountOr[R any](name, word string, get func(R) (magnitude []byte, ok bool)) api.Member[R] {
	return api.Written(name, func(c *openapi.Components) openapi.Object { return c.Form("Decimal") }, func(w *api.Writer, row R) bool {
		if magnitude, ok := get(row); ok {
			w.JSON = api.AppendAmount(w.JSON, magnitude)
		} else {
			w.JSON = append(append(append(w.JSON, '"'), word...), '"')
		}
		return true
	})
}

// ItemRow is an NFT item of an answer.
type ItemRow struct {
	*record.Contract
	Collection *record.Contract // nil when it has none or it is not known
	inSale     bool             // with whom the item is is left out
}

func (i ItemRow) onSale() bool {
	return !i.inSale && (len(i.NftItem.Sale) > 0 || len(i.NftItem.Auction) > 0)
}

// NFTItem is an NFT item.
var NFTItem = api.New("NftItemShape",
	api.Address("address", ItemRow.GetAccount),
	api.Bool("init", func(i ItemRow) bool { return i.NftItem.Init }),
	api.Amount("index", func(i ItemRow) []byte { return i.NftItem.Index }),
	api.Address("collection_address", func(i ItemRow) []byte { return i.NftItem.Collection }).Null(),
	api.Address("owner_address", func(i ItemRow) []byte { return i.NftItem.Owner }).Null().Doc("a sale contract while the item is on sale"),
	content("content", func(i ItemRow) (*record.TokenContent, string) { return i.NftItem.Content, i.NftItem.Dns.GetDomain() }),
	api.Decimal("last_transaction_lt", ItemRow.GetLastTransLt),
	api.Hash("code_hash", ItemRow.GetCodeHash),
	api.Hash("data_hash", ItemRow.GetDataHash),
	api.Object("collection", NFTCollection, func(i ItemRow) contract { return i.Collection },
		func(i ItemRow) bool { return i.Collection.GetNftCollection() != nil }).Null(),
	api.Bool("on_sale", ItemRow.onSale),
	api.Address("sale_contract_address", func(i ItemRow) []byte { return i.NftItem.Sale }).Optional().If(ItemRow.onSale).InBook(),
	api.Address("auction_contract_address", func(i ItemRow) []byte { return i.NftItem.Auction }).Optional().If(ItemRow.onSale).InBook(),
	api.Address("real_owner", func(i ItemRow) []byte { return i.NftItem.RealOwner }).Optional().If(ItemRow.onSale).InBook().Doc("who sells"),
)

// SaleRow is a sale, an auction or an item of Telegram.
type SaleRow struct {
	*record.Contract
	// Item is the one on sale, nil when it is not known; Collection is the item's.
	Item, Collection *record.Contract
}

// offer is what sales and auctions have in common.
type offer interface {
	GetItem() []byte
	GetOwner() []byte
	GetMarketplace() []byte
	GetCreatedAt() uint32
}

// offerOf is a sale or an auction, an empty one for an item of Telegram.
func offerOf(c *record.Contract) offer {
	if c.Sale != nil {
		return c.Sale
	}
	return c.Auction
}

// SoldItem is the item of a sale; an item of Telegram sells itself.
func SoldItem(c *record.Contract) []byte {
	if c.Sale == nil && c.Auction == nil {
		return c.Account
	}
	return offerOf(c).GetItem()
}

func (s SaleRow) kind() string {
	switch {
	case s.Sale != nil:
		return "getgems_sale"
	case s.Auction != nil:
		return "getgems_auction"
	}
	return "telemint"
}

func (s SaleRow) owner() []byte {
	if s.Sale == nil && s.Auction == nil {
		return s.NftItem.GetOwner()
	}
	return offerOf(s.Contract).GetOwner()
}

// NFTSale is a sale, an auction or an item of Telegram.
var NFTSale = api.New("NftSaleShape",
	api.Word("type", api.Words{"getgems_sale", "getgems_auction", "telemint"}, SaleRow.kind),
	api.Address("address", SaleRow.GetAccount),
	api.Address("nft_address", func(s SaleRow) []byte { return SoldItem(s.Contract) }).Optional(),
	api.Address("nft_owner_address", SaleRow.owner).Optional().Doc("who sells"),
	api.Address("marketplace_address", func(s SaleRow) []byte { return offerOf(s.Contract).GetMarketplace() }).Optional(),
	api.UnixTime("created_at", func(s SaleRow) uint32 { return offerOf(s.Contract).GetCreatedAt() }).Optional(),
	api.Decimal("last_transaction_lt", SaleRow.GetLastTransLt).Optional(),
	api.Hash("code_hash", SaleRow.GetCodeHash).Optional(),
	api.Hash("data_hash", SaleRow.GetDataHash).Optional(),
	api.Written("details", func(*openapi.Components) openapi.Object {
		return openapi.Schema("type", "object", "additionalProperties", openapi.Schema())
	}, func(w *api.Writer, s SaleRow) bool {
		switch {
		case s.Sale != nil:
			fixedPrice.Write(w, s.Sale)
		case s.Auction != nil:
			auctionDetails.Write(w, s.Auction)
		default:
			telemintDetails.Write(w, s.Telemint)
		}
		return true
	}).Doc("what the kind of sale has"),
	api.Object("nft_item", NFTItem, func(s SaleRow) ItemRow { return ItemRow{s.Item, s.Collection, true} },
		func(s SaleRow) bool { return s.Item.GetNftItem() != nil }).Optional(),
)

type (
	sale     = *record.Sale
	auction  = *record.Auction
	telemint = *record.Telemint
)

// newerSale is the version whose contracts tell shares instead of amounts.
const newerSale = 4

func hasAmounts(s sale) bool { return s.Version < newerSale }

var fixedPrice = api.New("FixedPrice",
	api.Bool("is_complete", sale.GetComplete),
	api.Amount("full_price", sale.GetPrice),
	api.Address("marketplace_fee_address", sale.GetFeeAddress).Optional(),
	api.Amount("marketplace_fee", sale.GetFee).If(hasAmounts),
	api.Address("royalty_address", sale.GetRoyaltyAddress).Optional(),
	api.Amount("royalty_amount", sale.GetRoyalty).If(hasAmounts),
)

var auctionDetails = api.New("Auction",
	api.Bool("end_flag", auction.GetEnd),
	api.UnixTime("end_time", auction.GetEndTime),
	api.Amount("last_bid", auction.GetLastBid),
	api.Address("last_member", auction.GetLastMember).Optional(),
	api.Magnitude("min_step", auction.GetMinStep),
	api.Address("mp_fee_address", auction.GetFeeAddress).Optional(),
	api.Magnitude("mp_fee_factor", auction.GetFeeFactor),
	api.Magnitude("mp_fee_base", auction.GetFeeBase),
	api.Address("royalty_fee_address", auction.GetRoyaltyAddress).Optional(),
	api.Magnitude("royalty_fee_factor", auction.GetRoyaltyFactor),
	api.Magnitude("royalty_fee_base", auction.GetRoyaltyBase),
	api.Amount("max_bid", auction.GetMaxBid),
	api.Amount("min_bid", auction.GetMinBid),
	api.UnixTime("last_bid_at", auction.GetLastBidAt).Optional(),
	api.Bool("is_canceled", auction.GetCanceled),
)

var telemintDetails = api.New("Telemint",
	api.Text("token_name", func(t telemint) string { return string(t.TokenName) }),
	api.Address("bidder_address", telemint.GetBidder).Optional().If(telemint.GetAuction),
	api.Amount("bid", telemint.GetBid).If(telemint.GetAuction),
	api.Decimal("bid_ts", telemint.GetBidAt).If(telemint.GetAuction),
	api.Amount("min_bid", telemint.GetMinBid).If(telemint.GetAuction),
	api.UnixTime("end_time", telemint.GetEndTime).If(telemint.GetAuction),
	api.Address("beneficiary_address", telemint.GetBeneficiary).Optional(),
	api.Amount("initial_min_bid", telemint.GetInitialMinBid),
	api.Amount("max_bid", telemint.GetMaxBid),
	api.Amount("min_bid_step", telemint.GetMinBidStep),
	api.Decimal("min_extend_time", telemint.GetMinExtendTime),
	api.Decimal("duration", telemint.GetDuration),
	api.Uint32("royalty_numerator", telemint.GetRoyaltyNumerator),
	api.Uint32("royalty_denominator", telemint.GetRoyaltyDenominator),
	api.Address("royalty_destination", telemint.GetRoyaltyDestination).Optional(),
)

// DNSRecord is a DNS item's records.
var DNSRecord = api.New("DnsRecord",
	api.Address("nft_item_address", contract.GetAccount),
	api.Address("nft_item_owner", func(c contract) []byte { return c.NftItem.Owner }).Null(),
	api.Text("domain", func(c contract) string { return c.NftItem.Dns.Domain }),
	api.Address("dns_next_resolver", func(c contract) []byte { return c.NftItem.Dns.NextResolver }).Null(),
	api.Address("dns_wallet", func(c contract) []byte { return c.NftItem.Dns.Wallet }).Null(),
	api.Hash("dns_site_adnl", func(c contract) []byte { return c.NftItem.Dns.SiteAdnl }).Null(),
	api.Hash("dns_storage_bag_id", func(c contract) []byte { return c.NftItem.Dns.StorageBagId }).Null(),
)

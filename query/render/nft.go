package render

import "tonscribe/schema/record"

// NFTCollection appends a collection (contract 3.19), null for nil.
func NFTCollection(dst []byte, c *record.Contract) []byte {
	if c.GetNftCollection() == nil {
		return append(dst, "null"...)
	}
	n := c.NftCollection
	o := open(dst)
	o.address("address", c.Account)
	o.address("owner_address", n.Owner)
	o.decimal("last_transaction_lt", c.LastTransLt)
	if n.Unordered {
		o.word("next_item_index", "-1")
	} else {
		o.amount("next_item_index", n.NextItemIndex)
	}
	o.key("collection_content")
	o.dst = Content(o.dst, n.Content, "")
	o.hash("data_hash", c.DataHash)
	o.hash("code_hash", c.CodeHash)
	return o.close()
}

// NFTItemOptions are what an item's own record does not say.
type NFTItemOptions struct {
	// Collection is the item's, nil when it has none or it is not known.
	Collection *record.Contract
	// WithoutSale leaves out with whom the item is, as inside of a sale.
	WithoutSale bool
}

// NFTItem appends an item (contract 3.20).
func NFTItem(dst []byte, c *record.Contract, opts NFTItemOptions) []byte {
	n := c.NftItem
	o := open(dst)
	o.address("address", c.Account)
	o.bool("init", n.Init)
	o.amount("index", n.Index)
	o.address("collection_address", n.Collection)
	o.address("owner_address", n.Owner)
	o.key("content")
	o.dst = Content(o.dst, n.Content, n.Dns.GetDomain())
	o.decimal("last_transaction_lt", c.LastTransLt)
	o.hash("code_hash", c.CodeHash)
	o.hash("data_hash", c.DataHash)
	o.key("collection")
	o.dst = NFTCollection(o.dst, opts.Collection)
	onSale := !opts.WithoutSale && (len(n.Sale) > 0 || len(n.Auction) > 0)
	o.bool("on_sale", onSale)
	if onSale {
		o.addressIf("sale_contract_address", n.Sale)
		o.addressIf("auction_contract_address", n.Auction)
		o.addressIf("real_owner", n.RealOwner)
	}
	return o.close()
}

// NFTTransfer appends a transfer of an item (contract 3.21).
func NFTTransfer(dst []byte, t *record.NFTTransfer, opts TransferOptions) []byte {
	o := open(dst)
	o.decimal("query_id", t.QueryId)
	o.address("nft_address", t.Item)
	o.party("nft_collection", t.Collection)
	o.transaction(t.TransactionHash, t.Lt, t.Now, t.Aborted)
	o.party("old_owner", t.OldOwner)
	o.party("new_owner", t.NewOwner)
	o.party("response_destination", t.ResponseDestination)
	o.payload("custom_payload", t.CustomPayload)
	o.amount("forward_amount", t.ForwardAmount)
	o.payload("forward_payload", referenced(t.ForwardPayload, t.ForwardPayloadInline))
	o.null("trace_id")
	if opts.Delivery {
		o.word("delivery", nameOf(deliveryNames[:], t.Delivery))
	}
	return o.close()
}

// NFTSaleOptions are what a sale's own record does not say.
type NFTSaleOptions struct {
	// Item is the one on sale, nil when it is not known; Collection is the item's.
	Item, Collection *record.Contract
}

// NFTSale appends a sale, an auction or an item of Telegram (contract 3.22).
func NFTSale(dst []byte, c *record.Contract, opts NFTSaleOptions) []byte {
	o := open(dst)
	switch {
	case c.Sale != nil:
		o.word("type", "getgems_sale")
		o.saleHead(c, c.Sale.Item, c.Sale.Owner, c.Sale.Marketplace, c.Sale.CreatedAt)
		o.key("details")
		o.dst = fixedPrice(o.dst, c.Sale)
	case c.Auction != nil:
		o.word("type", "getgems_auction")
		o.saleHead(c, c.Auction.Item, c.Auction.Owner, c.Auction.Marketplace, c.Auction.CreatedAt)
		o.key("details")
		o.dst = auction(o.dst, c.Auction)
	default:
		o.word("type", "telemint")
		o.saleHead(c, c.Account, c.NftItem.GetOwner(), nil, 0)
		o.key("details")
		o.dst = telemint(o.dst, c.Telemint)
	}
	if opts.Item.GetNftItem() != nil {
		o.key("nft_item")
		o.dst = NFTItem(o.dst, opts.Item, NFTItemOptions{Collection: opts.Collection, WithoutSale: true})
	}
	return o.close()
}

func (o *object) saleHead(c *record.Contract, item, owner, marketplace []byte, createdAt uint32) {
	o.address("address", c.Account)
	o.addressIf("nft_address", item)
	o.addressIf("nft_owner_address", owner)
	o.addressIf("marketplace_address", marketplace)
	if createdAt > 0 {
		o.int("created_at", int64(createdAt))
	}
	o.decimal("last_transaction_lt", c.LastTransLt)
	o.hashIf("code_hash", c.CodeHash)
	o.hashIf("data_hash", c.DataHash)
}

// newerSale is the version whose contracts tell shares instead of amounts.
const newerSale = 4

func fixedPrice(dst []byte, s *record.Sale) []byte {
	o := open(dst)
	o.bool("is_complete", s.Complete)
	o.amount("full_price", s.Price)
	o.addressIf("marketplace_fee_address", s.FeeAddress)
	if s.Version < newerSale {
		o.amount("marketplace_fee", s.Fee)
	}
	o.addressIf("royalty_address", s.RoyaltyAddress)
	if s.Version < newerSale {
		o.amount("royalty_amount", s.Royalty)
	}
	return o.close()
}

func auction(dst []byte, a *record.Auction) []byte {
	o := open(dst)
	o.bool("end_flag", a.End)
	o.int("end_time", int64(a.EndTime))
	o.amount("last_bid", a.LastBid)
	o.addressIf("last_member", a.LastMember)
	o.integer("min_step", a.MinStep)
	o.addressIf("mp_fee_address", a.FeeAddress)
	o.integer("mp_fee_factor", a.FeeFactor)
	o.integer("mp_fee_base", a.FeeBase)
	o.addressIf("royalty_fee_address", a.RoyaltyAddress)
	o.integer("royalty_fee_factor", a.RoyaltyFactor)
	o.integer("royalty_fee_base", a.RoyaltyBase)
	o.amount("max_bid", a.MaxBid)
	o.amount("min_bid", a.MinBid)
	if a.LastBidAt > 0 {
		o.int("last_bid_at", int64(a.LastBidAt))
	}
	o.bool("is_canceled", a.Canceled)
	return o.close()
}

func telemint(dst []byte, t *record.Telemint) []byte {
	o := open(dst)
	o.text("token_name", string(t.TokenName))
	if t.Auction {
		o.addressIf("bidder_address", t.Bidder)
		o.amount("bid", t.Bid)
		o.decimal("bid_ts", t.BidAt)
		o.amount("min_bid", t.MinBid)
		o.int("end_time", int64(t.EndTime))
	}
	o.addressIf("beneficiary_address", t.Beneficiary)
	o.amount("initial_min_bid", t.InitialMinBid)
	o.amount("max_bid", t.MaxBid)
	o.amount("min_bid_step", t.MinBidStep)
	o.decimal("min_extend_time", t.MinExtendTime)
	o.decimal("duration", t.Duration)
	o.int("royalty_numerator", int64(t.RoyaltyNumerator))
	o.int("royalty_denominator", int64(t.RoyaltyDenominator))
	o.addressIf("royalty_destination", t.RoyaltyDestination)
	return o.close()
}

// DNSRecord appends a DNS item's records (contract 3.23).
func DNSRecord(dst []byte, c *record.Contract) []byte {
	n := c.NftItem.Dns
	o := open(dst)
	o.address("nft_item_address", c.Account)
	o.address("nft_item_owner", c.NftItem.Owner)
	o.text("domain", n.Domain)
	o.address("dns_next_resolver", n.NextResolver)
	o.address("dns_wallet", n.Wallet)
	o.hash("dns_site_adnl", n.SiteAdnl)
	o.hash("dns_storage_bag_id", n.StorageBagId)
	return o.close()
}

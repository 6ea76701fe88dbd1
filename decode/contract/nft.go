package contract

import (
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/schema/record"
	"tonscribe/ton/code"
	"tonscribe/ton/token"
)

// nftCollection reads TEP-62 get_collection_data.
func nftCollection(p *probe) {
	r := p.run("get_collection_data", 3)
	collection := &record.NFTCollection{}
	next := r.integer()
	content := r.cell()
	collection.Owner = r.address()
	if !r.ok || next.Sign() < 0 && (!next.IsInt64() || next.Int64() != -1) {
		return
	}
	if next.Sign() < 0 {
		collection.Unordered = true
	} else {
		collection.NextItemIndex = next.Bytes()
	}
	collection.Content, _ = p.content(content)
	p.facts().NftCollection = collection
}

// nftItem reads TEP-62 get_nft_data. An item of a collection must be confirmed
// by it, and gets its content from it. Before the collection has initialized it, it
// has neither owner nor content.
func nftItem(p *probe) {
	r := p.run("get_nft_data", 5)
	item := &record.NFTItem{Init: r.truth(), Index: r.amount(), Collection: r.address()}
	if item.Init {
		item.Owner = r.address()
	} else {
		item.Owner = r.anyone()
	}
	content := r.optionalCell()
	if !r.ok {
		return
	}
	item.Authority = p.ask("get_authority_address", 1).address() // this and the next are of TEP-85
	item.RevokedAt = p.ask("get_revoked_time", 1).uint64()
	p.facts().NftItem = item
	if item.Collection == nil {
		var ok bool
		if item.Content, ok = p.content(content); !ok {
			p.facts().NftItem = nil
			return
		}
		p.telemint()
		return
	}
	if content == nil && item.Init {
		content = cell.BeginCell().EndCell()
	}
	p.findings.Content = content
	p.telemint()
	p.name(item)
}

// maxTokenNameCells is how many cells of a token name are read.
const maxTokenNameCells = 4096

// telemint reads what items of Telegram have besides.
func (p *probe) telemint() {
	if !code.HasMethods(p.account.Code.Methods, "get_telemint_token_name", "get_telemint_auction_config") {
		return
	}
	r := p.run("get_telemint_token_name", 1)
	name := r.slice()
	cells := maxTokenNameCells
	raw, whole := token.Snake(name, token.MaxValue, &cells)
	if !r.ok || !whole {
		return
	}
	t := &record.Telemint{TokenName: raw[:min(len(raw), token.MaxValue)]}
	r = p.run("get_telemint_auction_config", 6) // null and zeros without an auction
	t.Beneficiary = r.anyone()
	t.InitialMinBid, t.MaxBid, t.MinBidStep = r.amount(), r.amount(), r.amount()
	t.MinExtendTime, t.Duration = r.uint64(), r.uint64()
	if !r.ok {
		return
	}
	r = p.run("get_telemint_auction_state", 5) // which fails without an auction
	bidder, bid, at, minBid, end := r.anyone(), r.amount(), r.uint64(), r.amount(), r.uint64()
	if r.ok {
		t.Auction, t.Bidder, t.Bid, t.BidAt, t.MinBid, t.EndTime = true, bidder, bid, at, minBid, end
	}
	r = p.ask("royalty_params", 3)
	numerator, denominator, destination := r.uint64(), r.uint64(), r.address()
	if r.ok {
		t.RoyaltyNumerator, t.RoyaltyDenominator, t.RoyaltyDestination = numerator, denominator, destination
	}
	p.facts().Telemint = t
}

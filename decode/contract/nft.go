package contract

import (
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/schema/record"
	"tonscribe/ton/code"
	"tonscribe/ton/token"
)

// nftCollection reads TEP-62 get_collection_data.
func nftCollection(p *probe) {
	values, ok := p.call("get_collection_data")
	if !ok {
		return
	}
	r := read(values, 3)
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
// by it, and gets its content from it.
func nftItem(p *probe) {
	values, ok := p.call("get_nft_data")
	if !ok {
		return
	}
	r := read(values, 5)
	item := &record.NFTItem{Init: r.truth(), Index: r.amount(), Collection: r.address(), Owner: r.address()}
	content := r.optionalCell()
	if !r.ok {
		return
	}
	p.soulBound(item)
	p.facts().NftItem = item
	if item.Collection == nil {
		if item.Content, ok = p.content(content); !ok {
			p.facts().NftItem = nil
			return
		}
		p.telemint()
		return
	}
	if content == nil {
		content = cell.BeginCell().EndCell()
	}
	p.findings.Content = content
	p.claim(ClaimNFTItem, item.Collection)
	p.telemint()
	p.name(item)
}

// soulBound reads what TEP-85 adds.
func (p *probe) soulBound(item *record.NFTItem) {
	if p.account.Code.Has("get_authority_address") {
		if values, ok := p.call("get_authority_address"); ok {
			r := read(values, 1)
			item.Authority = r.address()
		}
	}
	if p.account.Code.Has("get_revoked_time") {
		if values, ok := p.call("get_revoked_time"); ok {
			r := read(values, 1)
			item.RevokedAt = r.uint64()
		}
	}
}

// maxTokenNameCells is how many cells of a token name are read.
const maxTokenNameCells = 4096

// telemint reads what items of Telegram have besides.
func (p *probe) telemint() {
	if !code.HasMethods(p.account.Code.Methods, "get_telemint_token_name", "get_telemint_auction_config") {
		return
	}
	values, ok := p.call("get_telemint_token_name")
	if !ok {
		return
	}
	r := read(values, 1)
	name := r.slice()
	cells := maxTokenNameCells
	raw, whole := token.Snake(name, token.MaxValue, &cells)
	if !r.ok || !whole {
		return
	}
	t := &record.Telemint{TokenName: raw[:min(len(raw), token.MaxValue)]}
	if !p.telemintConfig(t) {
		return
	}
	p.telemintAuction(t)
	p.royalty(t)
	p.facts().Telemint = t
}

func (p *probe) telemintConfig(t *record.Telemint) bool {
	values, ok := p.call("get_telemint_auction_config")
	if !ok {
		return false
	}
	r := read(values, 6)
	t.Beneficiary = r.address()
	t.InitialMinBid, t.MaxBid, t.MinBidStep = r.amount(), r.amount(), r.amount()
	t.MinExtendTime, t.Duration = r.uint64(), r.uint64()
	return r.ok
}

// telemintAuction leaves everything unset where the method fails: no auction.
func (p *probe) telemintAuction(t *record.Telemint) {
	values, ok := p.call("get_telemint_auction_state")
	if !ok {
		return
	}
	r := read(values, 5)
	bidder, bid, at, least, end := r.address(), r.amount(), r.uint64(), r.amount(), r.uint64()
	if r.ok {
		t.Auction, t.Bidder, t.Bid, t.BidAt, t.MinBid, t.EndTime = true, bidder, bid, at, least, end
	}
}

func (p *probe) royalty(t *record.Telemint) {
	if !p.account.Code.Has("royalty_params") {
		return
	}
	values, ok := p.call("royalty_params")
	if !ok {
		return
	}
	r := read(values, 3)
	numerator, denominator, destination := r.uint64(), r.uint64(), r.address()
	if r.ok {
		t.RoyaltyNumerator, t.RoyaltyDenominator, t.RoyaltyDestination = numerator, denominator, destination
	}
}

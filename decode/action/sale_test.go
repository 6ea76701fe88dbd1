package action_test

import (
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"
	"google.golang.org/protobuf/proto"

	"tonscribe/decode/action"
	"tonscribe/schema/record"
)

func TestBuildsOfSalesAreReadFromTheDataThatTheyAreDeployedWith(t *testing.T) {
	begin := cell.BeginCell
	fee := func(b *cell.Builder, address []byte, amount int64) *cell.Builder {
		return coins(b.MustStoreAddr(friendly(address)), amount)
	}
	parties := func(b *cell.Builder) *cell.Builder {
		return coins(b.MustStoreAddr(friendly(getgems)).MustStoreAddr(friendly(item)).MustStoreAddr(friendly(alice)), 40)
	}
	v1 := parties(begin()).MustStoreRef(fee(coins(begin(), 4).MustStoreAddr(friendly(market)), carol, 2).EndCell()).EndCell()
	v2 := parties(begin().MustStoreBoolBit(false).MustStoreUInt(9, 32)).MustStoreRef(fee(fee(begin(), market, 4), carol, 2).EndCell()).EndCell()
	v4 := coins(begin().MustStoreBoolBit(false).MustStoreAddr(friendly(getgems)).MustStoreAddr(friendly(alice)), 40).MustStoreUInt(0, 32).MustStoreUInt(0, 64).
		MustStoreRef(begin().MustStoreAddr(friendly(market)).MustStoreAddr(friendly(carol)).MustStoreUInt(5000, 17).MustStoreUInt(2000, 17).EndCell()).EndCell()
	want := &record.Sale{Version: 1, Marketplace: getgems, Item: item, Owner: alice, Price: []byte{40}, FeeAddress: market, Fee: []byte{4},
		RoyaltyAddress: carol, Royalty: []byte{2}}
	want4 := &record.Sale{Version: 4, Marketplace: getgems, Owner: alice, Price: []byte{40}, FeeAddress: market, RoyaltyAddress: carol, FeeShare: 5000, RoyaltyShare: 2000}
	for code, c := range map[string]struct {
		data *cell.Cell
		want *record.Sale
	}{
		"2pufziLofEllctIDZSWVebzO+RpyA1fMvowFLvyb4I8=": {v1, want},
		"gnj0xSM95vvtyWmvUZNEp6m//FRIVtuphqlcC8+Fcck=": {v2, want},
		"JCIfpXHlQuBVx3vt/b9SfHr0YM/cfzRMRQeHtM+h600=": {v2, want},
		"a5WmQYucnSNZBF0edVm41UmuDlBvJMqrWPowyPsf64Y=": {v4, want4},
	} {
		if got := action.DeployedSale(code, boc(c.data)); !proto.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", code, got, c.want)
		}
		if got := action.DeployedSale(code, boc(begin().EndCell())); got != nil {
			t.Errorf("%s: %v of no data", code, got)
		}
	}
}

func TestBuildsOfAuctionsAreReadFromTheDataThatTheyAreDeployedWith(t *testing.T) {
	begin := cell.BeginCell
	shares := func(b *cell.Builder, n uint64) *cell.Builder { return b.MustStoreUInt(n, 32).MustStoreUInt(100, 32) }
	fees := shares(shares(begin().MustStoreAddr(friendly(market)), 5).MustStoreAddr(friendly(carol)), 3).EndCell()
	addresses := begin().MustStoreAddr(friendly(market)).MustStoreAddr(friendly(carol))
	last := func(b *cell.Builder) *cell.Builder {
		return coins(b.MustStoreAddr(nil), 0).MustStoreUInt(0, 32).MustStoreUInt(77, 32)
	}
	owned := func() *cell.Builder {
		return last(begin().MustStoreUInt(0, 2)).MustStoreAddr(friendly(alice)).MustStoreUInt(0, 64)
	}
	bids := func(b *cell.Builder) *cell.Builder { return coins(coins(coins(b, 10), 90), 1).MustStoreUInt(60, 32) }
	limits := func(b *cell.Builder) *cell.Builder { return coins(coins(b.MustStoreAddr(friendly(getgems)), 10), 90) }

	want := func(change func(*record.Auction)) *record.Auction {
		a := &record.Auction{Version: 1, FeeAddress: market, FeeFactor: []byte{5}, FeeBase: []byte{100}, RoyaltyAddress: carol, RoyaltyFactor: []byte{3},
			RoyaltyBase: []byte{100}, MinBid: []byte{10}, MaxBid: []byte{90}}
		change(a)
		return a
	}
	later := func(owner []byte, version uint32) func(*record.Auction) {
		return func(a *record.Auction) { a.Marketplace, a.EndTime, a.Owner, a.Version = getgems, 77, owner, version }
	}
	// Version 2 has the data of the third one's second build.
	v3r2 := last(begin().MustStoreUInt(0, 3)).MustStoreRef(fees).MustStoreRef(limits(begin().MustStoreUInt(1, 32)).EndCell()).EndCell()
	for code, c := range map[string]struct {
		data *cell.Cell
		want *record.Auction
	}{
		"ZmiHL6eXBUQ//UdSPo6eqfdquZ+aC1nSfej4GhwnudQ=": {v3r2, want(later(nil, 1))},
		"/ACindAgW83MDT/7nKOMw8jBWexg2KpUMkCpLxBZLUA=": {begin().MustStoreRef(fees).MustStoreRef(bids(begin()).EndCell()).EndCell(),
			want(func(a *record.Auction) { a.MinStep = []byte{1} })},
		"G9nFo5v/t6DzQViLXdkrgTqEK/Ze8UEJOCIAzq+Pct8=": {v3r2, want(later(nil, 1))},
		"u29ireD+stefqzuK6/CTCvmFU99gCTsgJ/Covxab/Ow=": {shares(shares(owned(), 5), 3).MustStoreRef(addresses.EndCell()).MustStoreRef(limits(begin()).EndCell()).EndCell(),
			want(later(alice, 1))},
		"zlp4U06qps7tja/UhtB262CpsNbb+1Nnb2YmScBomVY=": {owned().MustStoreRef(shares(shares(begin().MustStoreBuilder(addresses), 5), 3).EndCell()).
			MustStoreRef(limits(begin()).EndCell()).EndCell(), want(later(alice, 4))},
	} {
		if got := action.DeployedAuction(code, boc(c.data)); !proto.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", code, got, c.want)
		}
		if got := action.DeployedAuction(code, boc(begin().EndCell())); got != nil {
			t.Errorf("%s: %v of no data", code, got)
		}
	}
}

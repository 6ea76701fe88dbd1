package contracts_test

import (
	"math/big"
	"testing"

	"github.com/xssnick/tonutils-go/address"

	"tonscribe/devnet/contracts"
)

var (
	market  = user(0x33)
	feeTo   = user(0x34)
	royalty = user(0x35)
	carol   = user(0x03)
)

// gained checks how much more an account has, up to 0.1 TON.
func (w *world) gained(of *address.Address, before *big.Int, want float64) {
	w.t.Helper()
	got := new(big.Int).Sub(w.balance(of), before)
	if off := new(big.Int).Sub(got, ton(want)); off.CmpAbs(ton(0.1)) > 0 {
		w.t.Errorf("%s gained %s nanotons, want about %g TON", of.StringRaw()[:6], got, want)
	}
}

func newSale(t *testing.T) (nfts, *address.Address, contracts.Sale, *address.Address) {
	n := newNFTs(t, false)
	item := n.mint()
	sale := contracts.Sale{
		CreatedAt: n.now, Marketplace: market, Item: item, Owner: alice, Price: ton(10), Fee: ton(0.5), Royalty: ton(1),
		FeeAddress: feeTo, RoyaltyAddr: royalty,
	}
	at := sale.Address(0)
	n.deploy(at, sale.StateInit(), ton(0.1))
	n.send(alice, item, ton(0.2), contracts.NFTTransferBody(contracts.NFTTransfer{NewOwner: at, Response: alice, ForwardValue: ton(0.02)}))
	return n, item, sale, at
}

func TestSaleGivesTheItemForItsPrice(t *testing.T) {
	n, item, sale, at := newSale(t)
	data := []any{false, n.now, market, item, alice, sale.Price, feeTo, sale.Fee, royalty, sale.Royalty}
	expectValues(t, "get_sale_data", n.get(at, "get_sale_data"), append([]any{0x46495850}, data...)...)
	expectValues(t, "get_fix_price_data", n.get(at, "get_fix_price_data"), data...)

	if trace := n.send(bob, at, ton(10), nil); trace[0].ExitCode != 450 || trace[1].op() != 0xffffffff {
		t.Errorf("too little: %s", text(trace))
	}
	before := n.balance(alice)
	trace := n.send(bob, at, ton(10.2), nil)
	if len(trace) != 7 {
		t.Fatalf("trace is %s", text(trace))
	}
	expectValues(t, "owner", n.get(item, "get_nft_data")[3:4], bob)
	n.gained(alice, before, 8.5)
	n.gained(feeTo, new(big.Int), 0.5)
	n.gained(royalty, new(big.Int), 1)
	expectValues(t, "complete", n.get(at, "get_sale_data")[1:2], true)
	if trace := n.send(carol, at, ton(10.2), nil); trace[0].ExitCode != 404 {
		t.Errorf("sold twice: %s", text(trace))
	}
}

func TestSaleIsChangedAndCancelledByItsSeller(t *testing.T) {
	n, item, _, at := newSale(t)
	if trace := n.send(bob, at, ton(0.1), contracts.SaleCancelBody(1)); trace[0].ExitCode != 458 {
		t.Errorf("cancelled by bob: %s", text(trace))
	}
	n.send(alice, at, ton(0.1), contracts.SaleUpdateBody(1, ton(20), ton(1), ton(2)))
	got := n.get(at, "get_sale_data")
	expectValues(t, "price, fee, royalty", []any{got[6], got[8], got[10]}, ton(20), ton(1), ton(2))
	trace := n.send(alice, at, ton(0.1), contracts.SaleCancelBody(1))
	expect(t, trace, hop{to: at, op: 3}, hop{to: item, op: 0x5fcc3d14}, hop{to: alice, op: 0x05138d91}, hop{to: alice, op: 0xd53276db})
	expectValues(t, "owner", n.get(item, "get_nft_data")[3:4], alice)
}

func TestSaleWithoutAnOwnerBelongsToWhoSendsTheItem(t *testing.T) {
	n := newNFTs(t, false)
	item := n.mint()
	sale := contracts.Sale{Marketplace: market, Item: item, Price: ton(1), FeeAddress: feeTo, RoyaltyAddr: royalty}
	at := sale.Address(0)
	n.deploy(at, sale.StateInit(), ton(0.1))
	expectValues(t, "owner", n.get(at, "get_sale_data")[5:6], none)
	if trace := n.send(bob, at, ton(2), nil); trace[0].ExitCode != 404 {
		t.Errorf("sold without the item: %s", text(trace))
	}
	n.send(alice, item, ton(0.2), contracts.NFTTransferBody(contracts.NFTTransfer{NewOwner: at, ForwardValue: ton(0.02)}))
	expectValues(t, "owner", n.get(at, "get_sale_data")[5:6], alice)
}

func TestMarketplacePutsAnItemOnSale(t *testing.T) {
	n := newNFTs(t, false)
	item := n.mint()
	place := contracts.Marketplace{Owner: market}
	placeAt := place.Address(0)
	n.deploy(placeAt, place.StateInit(), ton(1))
	expectValues(t, "get_owner", n.get(placeAt, "get_owner"), market)
	sale := contracts.Sale{Marketplace: placeAt, Item: item, Owner: alice, Price: ton(10), Fee: ton(0.5), Royalty: ton(1), FeeAddress: feeTo, RoyaltyAddr: royalty}
	at := sale.Address(0)
	trace := n.send(alice, item, ton(0.5), contracts.NFTTransferBody(contracts.NFTTransfer{
		NewOwner: placeAt, Response: alice, ForwardValue: ton(0.3), ForwardPayload: contracts.ListPayload(sale.StateInit()),
	}))
	expect(t, trace, hop{to: item, op: 0x5fcc3d14}, hop{to: placeAt, op: 0x05138d91}, hop{to: alice, op: 0xd53276db},
		hop{to: at, op: 0xd372158c}, hop{to: item, op: 0x5fcc3d14}, hop{to: at, op: 0x05138d91}, hop{to: alice, op: 0xd53276db})
	expectValues(t, "owner of the item", n.get(item, "get_nft_data")[3:4], at)
	n.send(bob, at, ton(10.2), contracts.CommentBody("mine"))
	expectValues(t, "owner of the item", n.get(item, "get_nft_data")[3:4], bob)

	trace = n.send(bob, item, ton(0.5), contracts.NFTTransferBody(contracts.NFTTransfer{NewOwner: placeAt, Response: bob, ForwardValue: ton(0.3)}))
	expectValues(t, "owner of an item sent without a sale", n.get(item, "get_nft_data")[3:4], bob)
	if len(trace) != 6 {
		t.Errorf("trace is %s", text(trace))
	}
	n.send(market, placeAt, ton(0.1), contracts.WithdrawBody(1))
	if left := n.balance(placeAt); left.Cmp(ton(0.1)) > 0 {
		t.Errorf("%s nanotons are left after the withdrawal", left)
	}
}

func newAuction(t *testing.T) (nfts, *address.Address, contracts.Auction, *address.Address) {
	n := newNFTs(t, false)
	item := n.mint()
	auction := contracts.Auction{
		CreatedAt: n.now, EndTime: n.now + 1000, StepTime: 100, Marketplace: market, Item: item, Owner: alice,
		MinBid: ton(1), MaxBid: ton(100), MinStep: ton(0.5), FeeAddress: feeTo, FeeFactor: 5, FeeBase: 100,
		RoyaltyAddr: royalty, RoyaltyFactor: 10, RoyaltyOf: 100,
	}
	at := auction.Address(0)
	n.deploy(at, auction.StateInit(), ton(0.2))
	n.send(alice, item, ton(0.2), contracts.NFTTransferBody(contracts.NFTTransfer{NewOwner: at, Response: alice, ForwardValue: ton(0.02)}))
	return n, item, auction, at
}

func TestAuctionGoesToTheHighestBid(t *testing.T) {
	n, item, a, at := newAuction(t)
	if trace := n.send(bob, at, ton(0.9), nil); trace[0].ExitCode != 1000 {
		t.Errorf("below the lowest bid: %s", text(trace))
	}
	n.send(bob, at, ton(2), nil)
	before := n.balance(bob)
	if trace := n.send(carol, at, ton(2.4), nil); trace[0].ExitCode != 1000 {
		t.Errorf("below the step: %s", text(trace))
	}
	n.now += 950
	trace := n.send(carol, at, ton(10), contracts.CommentBody("for me"))
	expect(t, trace, hop{to: at}, hop{to: bob})
	n.gained(bob, before, 2)

	want := []any{false, n.now + 100, market, item, alice, ton(10), carol, a.MinStep, feeTo, 5, 100, royalty, 10, 100, a.MaxBid, a.MinBid, n.now - 950, n.now, false}
	expectValues(t, "get_sale_data", n.get(at, "get_sale_data"), append([]any{0x415543}, want...)...)
	expectValues(t, "get_auction_data", n.get(at, "get_auction_data"), append([]any{true}, want...)...)

	if trace := n.send(bob, at, ton(0.2), contracts.CommentBody(contracts.AuctionFinish)); trace[0].ExitCode != 1007 {
		t.Errorf("finished too early: %s", text(trace))
	}
	n.now += 101
	before = n.balance(alice)
	n.send(bob, at, ton(0.2), contracts.CommentBody(contracts.AuctionFinish))
	expectValues(t, "owner", n.get(item, "get_nft_data")[3:4], carol)
	n.gained(feeTo, new(big.Int), 0.5)
	n.gained(royalty, new(big.Int), 1)
	n.gained(alice, before, 8.85)
	expectValues(t, "ended", n.get(at, "get_sale_data")[1:2], true)
}

func TestHighestBidPossibleEndsTheAuction(t *testing.T) {
	n, item, _, at := newAuction(t)
	n.send(bob, at, ton(100), nil)
	expectValues(t, "owner", n.get(item, "get_nft_data")[3:4], bob)
}

func TestAuctionIsCancelledOrStoppedByItsSeller(t *testing.T) {
	for name, bids := range map[string]int{contracts.AuctionCancel: 0, contracts.AuctionStop: 1} {
		t.Run(name, func(t *testing.T) {
			n, item, _, at := newAuction(t)
			owner := alice
			for range bids {
				n.send(bob, at, ton(2), nil)
				if trace := n.send(alice, at, ton(0.2), contracts.CommentBody(contracts.AuctionCancel)); trace[0].ExitCode != 1006 {
					t.Errorf("cancelled with bids: %s", text(trace))
				}
				owner = bob
			}
			if trace := n.send(bob, at, ton(0.2), contracts.AuctionCommandBody(1, name)); trace[0].ExitCode != 458 {
				t.Errorf("by bob: %s", text(trace))
			}
			n.send(alice, at, ton(0.2), contracts.AuctionCommandBody(1, name))
			expectValues(t, "owner", n.get(item, "get_nft_data")[3:4], owner)
			expectValues(t, "cancelled", n.get(at, "get_sale_data")[19:], bids == 0)
		})
	}
}

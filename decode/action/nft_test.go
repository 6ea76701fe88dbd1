package action_test

import (
	"encoding/base64"
	"slices"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode/action"
	"tonscribe/schema/record"
)

var getgems = addressOf("0:584EE61B2DFF0837116D0FCB5078D93964BCBE9C05FD6A141B1BFCA5D6A43E18")

func moveItem(to []byte) *cell.Builder {
	b := word(0x5fcc3d14).MustStoreUInt(6, 64).MustStoreAddr(friendly(to)).MustStoreAddr(friendly(alice)).MustStoreBoolBit(false)
	return coins(b, 3).MustStoreBoolBit(true).MustStoreRef(comment("yours").EndCell())
}

func assigned(to []byte) step {
	return step{to: to, value: 1, body: word(0x05138d91).MustStoreUInt(6, 64)}
}

// sentOn is a transfer of the item to somebody who hears of it.
func sentOn(to []byte, then ...step) step {
	heard := assigned(to)
	heard.then = then
	return step{to: item, value: 5, body: moveItem(to), then: []step{heard, excess()}}
}

func onSale() *record.Contract {
	return &record.Contract{Account: saleAccount, Sale: &record.Sale{Marketplace: getgems, Item: item, Owner: alice, Price: []byte{40}, Version: 1,
		Fee: []byte{4}, FeeAddress: market, Royalty: []byte{2}, RoyaltyAddress: carol}}
}

func onAuction() *record.Contract {
	return &record.Contract{Account: saleAccount, Auction: &record.Auction{Marketplace: getgems, Item: item, Owner: alice, LastBid: []byte{44},
		FeeAddress: market, FeeFactor: []byte{5}, FeeBase: []byte{100}, RoyaltyBase: []byte{101}, RoyaltyAddress: carol, MinBid: []byte{10}, MaxBid: []byte{90}}}
}

func TestAnItemIsMintedWithTheDeploymentOfItsContract(t *testing.T) {
	list := recognise(t, known{itemFacts}, play(alice, step{to: collection, body: word(1), value: 9, then: []step{{to: item, value: 5, deployed: true, body: word(9)}}}))
	wants(t, list, "call_contract", "nft_mint", "contract_deploy")
	details(t, list, "nft_mint", "owner", collection, "nft_item", item, "nft_collection", collection, "nft_item_index", 5)
}

func TestAnItemIsTransferredWhenItsTransactionIsDone(t *testing.T) {
	list := recognise(t, known{itemFacts}, play(alice, sentOn(bob)))
	wants(t, list, "nft_transfer")
	details(t, list, "nft_transfer", "nft_item", item, "nft_collection", collection, "nft_item_index", 5, "old_owner", alice, "new_owner", bob,
		"is_purchase", false, "price", nil, "query_id", 6, "response_destination", alice, "custom_payload", nil, "forward_amount", 3,
		"comment", "yours", "is_encrypted_comment", false, "marketplace", nil, "payout_amount", nil)
	wants(t, recognise(t, known{itemFacts}, play(carol, step{to: item, value: 5, bounce: true, aborted: true, body: moveItem(bob)})), "nft_transfer!")
	wants(t, recognise(t, action.NoFacts{}, play(alice, step{to: item, value: 5, body: moveItem(bob)})), "call_contract")
}

func TestAPayloadOfAnItemIsEncryptedOrNotWhetherItIsACommentOrNot(t *testing.T) {
	empty := base64.StdEncoding.EncodeToString(boc(cell.BeginCell().EndCell()))
	for what, c := range map[string]struct {
		payload                     func(*cell.Builder) *cell.Builder
		forward, comment, encrypted any
	}{
		"empty":    {func(b *cell.Builder) *cell.Builder { return b.MustStoreBoolBit(false) }, empty, nil, false},
		"left out": {func(b *cell.Builder) *cell.Builder { return b }, nil, nil, nil},
		"a text": {func(b *cell.Builder) *cell.Builder {
			return b.MustStoreBoolBit(true).MustStoreRef(comment("a").EndCell())
		},
			base64.StdEncoding.EncodeToString(boc(comment("a").EndCell())), "a", false},
		"encrypted": {func(b *cell.Builder) *cell.Builder {
			return b.MustStoreBoolBit(true).MustStoreRef(word(0x2167da4b).MustStoreUInt(1, 8).EndCell())
		}, base64.StdEncoding.EncodeToString(boc(word(0x2167da4b).MustStoreUInt(1, 8).EndCell())), "AQ==", true},
	} {
		t.Run(what, func(t *testing.T) {
			b := word(0x5fcc3d14).MustStoreUInt(6, 64).MustStoreAddr(friendly(bob)).MustStoreAddr(friendly(alice)).MustStoreBoolBit(false)
			list := recognise(t, known{itemFacts}, play(alice, step{to: item, value: 5, body: c.payload(coins(b, 3))}))
			details(t, list, "nft_transfer", "forward_payload", c.forward, "comment", c.comment, "is_encrypted_comment", c.encrypted)
		})
	}
}

func TestASaleIsAPurchaseWithThePayoutToItsSeller(t *testing.T) {
	paid := step{to: saleAccount, value: 50, then: []step{{to: alice, value: 34, body: comment("sold")}, {to: market, value: 4}, sentOn(bob)}}
	list := recognise(t, known{itemFacts, onSale()}, play(bob, paid))
	wants(t, list, "nft_purchase", "nft_transfer in nft_purchase", "ton_transfer in nft_purchase", "ton_transfer")
	for _, what := range []string{"nft_purchase", "nft_transfer in nft_purchase"} {
		details(t, list, what, "old_owner", saleAccount, "new_owner", bob, "is_purchase", true, "price", 40, "real_old_owner", alice,
			"marketplace", "getgems", "marketplace_address", getgems)
	}
	details(t, list, "nft_purchase", "payout_amount", 34, "payout_address", alice, "payout_comment", "sold",
		"payout_comment_encrypted", false, "payout_comment_encoded", false)

	// The seller takes the item back.
	cancelled := step{to: saleAccount, value: 5, body: word(3), then: []step{sentOn(alice)}}
	list = recognise(t, known{itemFacts, onSale()}, play(alice, cancelled))
	wants(t, list, "nft_cancel_sale", "call_contract in nft_cancel_sale", "nft_transfer")
	details(t, list, "nft_cancel_sale", "owner", alice, "nft_item", item, "nft_collection", collection, "sale_address", saleAccount,
		"marketplace_address", getgems, "marketplace", "getgems")
	details(t, list, "nft_transfer", "is_purchase", false)
	// By a word.
	cancelled.body = comment("cancel")
	list = recognise(t, known{itemFacts, onSale()}, play(alice, cancelled))
	wants(t, list, "nft_cancel_sale", "ton_transfer in nft_cancel_sale", "nft_transfer")
	details(t, list, "nft_cancel_sale", "owner", alice, "nft_item", item, "sale_address", saleAccount)
}

func TestAnItemIsBoughtByWhoPaysForIt(t *testing.T) {
	facts := known{itemFacts, onSale()}
	// Somebody else gets it.
	paid := step{to: saleAccount, value: 50, then: []step{{to: alice, value: 34}, sentOn(bob)}}
	list := recognise(t, facts, play(carol, paid))
	wants(t, list, "ton_transfer", "ton_transfer", "nft_transfer")
	details(t, list, "nft_transfer", "is_purchase", false, "price", nil, "marketplace_address", nil, "real_old_owner", nil)
	// By the opcode.
	paid.body = word(2).MustStoreUInt(1, 64)
	details(t, recognise(t, facts, play(bob, paid)), "nft_purchase", "price", 40, "payout_amount", 34)
}

func TestAnItemIsNotBoughtAtAPriceThatNobodyPays(t *testing.T) {
	sale := onSale()
	sale.Sale.Price = []byte{1, 0, 0, 0, 0, 0, 0, 0} // which a stranger's contract may name
	paid := step{to: saleAccount, value: 50, then: []step{{to: alice, value: 34}, sentOn(bob)}}
	list := recognise(t, known{itemFacts, sale}, play(bob, paid))
	wants(t, list, "ton_transfer", "ton_transfer", "nft_transfer")
	details(t, list, "nft_transfer", "is_purchase", false, "price", nil, "marketplace", nil, "real_old_owner", nil)
}

func TestAnItemIsNotBoughtAtAnAuctionForABidThatNobodyIsPaid(t *testing.T) {
	auction := onAuction()
	auction.Auction.LastBid = []byte{1, 0, 0, 0, 0, 0, 0, 0} // which a stranger's contract may name
	ended := []step{{to: alice, value: 34}, {to: market, value: 4}, sentOn(bob)}
	for what, trace := range map[string][]*record.Transaction{
		"by a word":              play(carol, step{to: saleAccount, value: 5, body: comment("finish"), then: ended}),
		"by the last bid":        play(bob, step{to: saleAccount, value: 50, then: ended}),
		"by a word from outside": play(saleAccount, ended...),
	} {
		for _, a := range recognise(t, known{itemFacts, auction}, trace) {
			if a.Type.Name == "nft_transfer" {
				details(t, []*action.Action{a}, summary(a), "is_purchase", false, "price", nil, "marketplace", nil, "real_old_owner", nil)
			} else if a.Type.Name == "nft_purchase" {
				t.Errorf("%s: a purchase", what)
			}
		}
	}
	// Those who are paid of it got it together.
	auction.Auction.LastBid = []byte{1, 0, 0, 0, 0} // 4.3 toncoins
	ended = []step{{to: alice, value: 3_000_000_000}, {to: market, value: 1_294_000_000}, sentOn(bob)}
	list := recognise(t, known{itemFacts, auction}, play(carol, step{to: saleAccount, value: 5, body: comment("finish"), then: ended}))
	details(t, list, "nft_purchase", "price", 1<<32, "payout_amount", 3_000_000_000)
}

func TestAnItemThatComesBackIsNotBoughtThoughItsSellerIsForgotten(t *testing.T) {
	sale, auction := onSale(), onAuction()
	sale.Sale.Owner, auction.Auction.Owner = nil, nil
	for what, c := range map[string]struct {
		facts *record.Contract
		body  *cell.Builder
		want  string
	}{
		"a sale":                  {sale, word(3), "nft_cancel_sale"},
		"an auction by its word":  {auction, comment("cancel"), "nft_cancel_auction"},
		"an auction by an opcode": {auction, word(0x5616c572), "nft_cancel_auction"},
		"an auction, version 4":   {auction, word(0xb820e9c2).MustStoreUInt(1, 64), "nft_cancel_auction"},
		"a sale by its word":      {sale, comment("cancel"), "nft_cancel_sale"},
	} {
		list := recognise(t, known{itemFacts, c.facts}, play(alice, step{to: saleAccount, value: 5, body: c.body, then: []step{sentOn(alice)}}))
		details(t, list, c.want, "owner", alice)
		details(t, list, "nft_transfer", "is_purchase", false, "price", nil)
		if t.Failed() {
			t.Fatal(what)
		}
	}
}

func TestAnItemThatTheMarketplaceTakesOutIsNotBought(t *testing.T) {
	emergency := word(555).MustStoreUInt(1, 64).MustStoreRef(cell.BeginCell().EndCell())
	for what, facts := range map[string]*record.Contract{"a sale": onSale(), "an auction": onAuction()} {
		for _, to := range [][]byte{carol, market} {
			list := recognise(t, known{itemFacts, facts}, play(market, step{to: saleAccount, value: 5, body: emergency, then: []step{sentOn(to)}}))
			wants(t, list, "call_contract", "nft_transfer")
			details(t, list, "nft_transfer", "is_purchase", false, "price", nil, "new_owner", to)
		}
		if t.Failed() {
			t.Fatal(what)
		}
	}
}

func TestAnItemThatIsPaidInJettonsIsBoughtForNoToncoins(t *testing.T) {
	sale, auction := onSale(), onAuction()
	sale.Sale.Version, auction.Auction.Version, auction.Auction.JettonWallet = 4, 4, carol
	sold, sellers := wallet(carol, saleAccount), account(0x1c)
	pay := func(to, value []byte, amount int64) step {
		return step{to: carol, value: 4, body: transferOrder(amount, to), then: []step{{to: value, value: 3, body: internalOrder(amount, saleAccount)}}}
	}
	for what, facts := range map[string]known{
		"a sale":     {itemFacts, sale, sold, wallet(aliceWallet, alice), wallet(sellers, alice), wallet(bobWallet, bob)},
		"an auction": {itemFacts, auction, sold, wallet(aliceWallet, alice), wallet(sellers, alice), wallet(bobWallet, bob)},
	} {
		t.Run(what, func(t *testing.T) {
			paid := step{to: bobWallet, value: 9, body: transferOrder(44, saleAccount), then: []step{{to: carol, value: 8, body: internalOrder(44, bob),
				then: []step{{to: saleAccount, value: 7, body: word(0x7362d09c), then: []step{pay(alice, sellers, 40), sentOn(bob)}}}}}}
			list := outermost(t, facts, play(bob, paid))
			wants(t, list, "jetton_transfer", "jetton_transfer", "nft_transfer")
			details(t, list, "nft_transfer", "new_owner", bob, "is_purchase", true, "price", nil, "real_old_owner", alice, "marketplace", "getgems")
		})
	}
	// By its opcode.
	ended := step{to: saleAccount, value: 5, body: word(0xf373ace5).MustStoreUInt(1, 64), then: []step{pay(alice, sellers, 40), sentOn(bob)}}
	list := recognise(t, known{itemFacts, auction, sold, wallet(sellers, alice)}, play(carol, ended))
	details(t, list, "nft_finish_auction", "owner", bob)
	details(t, list, "nft_transfer", "is_purchase", true, "price", nil, "real_old_owner", alice)
}

func TestThePriceOfASaleIsChanged(t *testing.T) {
	update := func() *cell.Builder { return coins(coins(coins(word(0x6c6c2080).MustStoreUInt(1, 64), 60), 6), 3) }
	list := recognise(t, known{itemFacts, onSale()}, play(alice, step{to: saleAccount, value: 5, body: update()}))
	wants(t, list, "nft_update_sale", "call_contract in nft_update_sale")
	details(t, list, "nft_update_sale", "source", alice, "sale_contract", saleAccount, "nft_address", item, "full_price", 60, "marketplace_fee", 6,
		"royalty_amount", 3, "marketplace", "getgems")
	wants(t, recognise(t, known{itemFacts, onSale()}, play(bob, step{to: saleAccount, value: 5, aborted: true, body: update()})),
		"nft_update_sale!", "call_contract! in nft_update_sale")
	// Of version 4, with prices in jettons behind it.
	list = recognise(t, known{itemFacts, onSale()}, play(alice, step{to: saleAccount, value: 5,
		body: coins(word(0xfd135f7b).MustStoreUInt(1, 64), 60).MustStoreBoolBit(false)}))
	wants(t, list, "nft_update_sale", "call_contract in nft_update_sale")
	details(t, list, "nft_update_sale", "source", alice, "full_price", 60, "marketplace_fee", nil, "royalty_amount", nil)
}

func TestAnAuctionEndsWithTheItemAtTheHighestBidderOrBackAtItsSeller(t *testing.T) {
	facts := known{itemFacts, onAuction()}
	for what, s := range map[string]step{
		"by a word":    {to: saleAccount, value: 5, body: comment("finish"), then: []step{{to: alice, value: 34}, sentOn(bob)}},
		"by an opcode": {to: saleAccount, value: 5, body: word(0xb95616b6), then: []step{{to: alice, value: 34}, sentOn(bob)}},
		"version 4":    {to: saleAccount, value: 5, body: word(0xf373ace5).MustStoreUInt(1, 64), then: []step{{to: alice, value: 34}, sentOn(bob)}},
	} {
		t.Run(what, func(t *testing.T) {
			list := recognise(t, facts, play(carol, s))
			details(t, list, "nft_finish_auction", "owner", bob, "nft_item", item, "nft_collection", collection, "auction_address", saleAccount,
				"marketplace_address", getgems, "marketplace", "getgems")
			details(t, list, "nft_purchase", "price", 44, "payout_amount", 34, "payout_address", alice)
			details(t, list, "nft_transfer in nft_purchase", "new_owner", bob)
			details(t, list, "ton_transfer in nft_purchase", "value", 34)
		})
	}
	list := recognise(t, facts, play(alice, step{to: saleAccount, value: 5, body: comment("cancel"), then: []step{sentOn(alice)}}))
	details(t, list, "nft_cancel_auction", "owner", alice, "nft_item", item)
	details(t, list, "nft_transfer", "is_purchase", false)
	// The highest price ends it at once.
	list = recognise(t, facts, play(bob, step{to: saleAccount, value: 95, then: []step{{to: alice, value: 80}, sentOn(bob)}}))
	wants(t, list, "nft_purchase", "nft_transfer in nft_purchase", "ton_transfer in nft_purchase")
}

func TestAnAuctionThatAMessageFromOutsideEndsIsAPurchase(t *testing.T) {
	for _, sent := range [][]step{{{to: alice, value: 34}, sentOn(bob)}, {sentOn(bob), {to: alice, value: 34}}} {
		list := recognise(t, known{itemFacts, onAuction()}, play(saleAccount, sent...))
		details(t, list, "nft_purchase", "new_owner", bob, "price", 44, "real_old_owner", alice, "payout_amount", 34, "payout_address", alice)
		details(t, list, "nft_transfer in nft_purchase", "is_purchase", true)
		details(t, list, "ton_transfer in nft_purchase", "value", 34)
		if len(list) != 3 {
			t.Errorf("%q", summaries(list))
		}
	}
	// The buyer's own transfer to the seller is none of the payout.
	paid := step{to: saleAccount, value: 50, then: []step{{to: market, value: 4}, sentOn(bob)}}
	wants(t, outermost(t, known{itemFacts, onSale()}, play(bob, paid, step{to: alice, value: 34})), "nft_transfer", "ton_transfer", "ton_transfer")
}

func TestASellerWhoIsPaidTheRoyaltyTooIsPaidOutWhatIsLeft(t *testing.T) {
	royalty, profit := step{to: alice, value: 4, body: comment("royalty")}, step{to: alice, value: 34, body: comment("profit")}
	for what, s := range map[string]step{
		"by a word":       {to: saleAccount, value: 5, body: comment("finish"), then: []step{royalty, profit, sentOn(bob)}},
		"by the last bid": {to: saleAccount, value: 95, then: []step{royalty, profit, sentOn(bob)}},
	} {
		t.Run(what, func(t *testing.T) {
			list := outermost(t, known{itemFacts, onAuction()}, play(bob, s))
			left := slices.DeleteFunc(list, func(a *action.Action) bool { return a.Type.Name != "ton_transfer" })
			wants(t, left, "ton_transfer")
			details(t, left, "ton_transfer", "value", 4)
			for _, a := range recognise(t, known{itemFacts, onAuction()}, play(bob, s)) {
				if a.Type.Name == "nft_purchase" {
					details(t, []*action.Action{a}, summary(a), "payout_amount", 34, "payout_comment", "profit")
					return
				}
			}
			t.Error("no purchase")
		})
	}
}

func TestABidReturnsTheOneBefore(t *testing.T) {
	notice := comment("Your bid has been outbid by another user.\nGo on")
	s := step{to: saleAccount, value: 55, then: []step{{to: carol, value: 44, body: notice}}}
	list := recognise(t, known{itemFacts, onAuction()}, play(bob, s))
	wants(t, list, "auction_bid", "auction_outbid", "ton_transfer in auction_outbid")
	details(t, list, "auction_bid", "amount", 55, "bidder", bob, "auction", saleAccount, "nft_item", item, "nft_collection", collection, "nft_item_index", 5)
	details(t, list, "auction_outbid", "auction_address", saleAccount, "bidder", carol, "new_bidder", bob, "nft_item", item, "amount", 44, "marketplace", "getgems")
	// One that bounces is a part of it with what came back.
	s.then[0].aborted, s.then[0].bounce, s.then[0].then = true, true, []step{bounceOf(saleAccount, notice)}
	wants(t, recognise(t, known{itemFacts, onAuction()}, play(bob, s)), "auction_bid", "ton_transfer! in auction_outbid", "auction_outbid!", "call_contract in auction_outbid")
	s.then[0].aborted, s.then[0].bounce, s.then[0].then = false, false, nil
	// Two of the kind belong to something else.
	s.then = append(s.then, step{to: market, value: 44, body: notice})
	wants(t, recognise(t, known{itemFacts, onAuction()}, play(bob, s)), "auction_bid", "ton_transfer", "ton_transfer")
	// Of version 4, by its opcode.
	list = recognise(t, known{itemFacts, onAuction()}, play(bob, step{to: saleAccount, value: 55, body: word(0x344ef025).MustStoreUInt(1, 64),
		then: []step{{to: carol, value: 44, body: comment("Your bid has been outbid by another user")}}}))
	wants(t, list, "auction_bid", "auction_outbid", "ton_transfer in auction_outbid")
	details(t, list, "auction_bid", "amount", 55, "bidder", bob, "auction", saleAccount, "nft_item", item)
	// Toncoins for its gas.
	wants(t, recognise(t, known{itemFacts, onAuction()}, play(bob, step{to: saleAccount, value: 5, body: comment("deploy")})), "ton_transfer")
	// A refused bid.
	wants(t, recognise(t, known{itemFacts, onAuction()}, play(bob, step{to: saleAccount, value: 5, bounce: true, aborted: true,
		then: []step{bounceOf(bob, cell.BeginCell())}})), "auction_bid!")
	// One of too little for gas, which nobody returns.
	wants(t, recognise(t, known{itemFacts, onAuction()}, play(bob, step{to: saleAccount, value: 1, aborted: true,
		change: skips(record.ComputePhase_NO_GAS)})), "auction_bid!")
}

func TestWhatAnAuctionOrASalePaysArrivesUnlessItBounces(t *testing.T) {
	notice := comment("Your bid has been outbid by another user")
	onSale, onAuction := known{itemFacts, onSale()}, known{itemFacts, onAuction()}
	for what, c := range map[string]struct {
		facts known
		paid  func(step) step
		want  string
	}{
		"a sale": {onSale, func(s step) step { return step{to: saleAccount, value: 50, then: []step{s, sentOn(bob)}} }, "nft_purchase"},
		"an end": {onAuction, func(s step) step {
			return step{to: saleAccount, value: 5, body: comment("finish"), then: []step{s, sentOn(bob)}}
		}, "nft_purchase"},
		"a new bid": {onAuction, func(s step) step { return step{to: saleAccount, value: 55, then: []step{s}} }, "auction_outbid"},
	} {
		for _, bounces := range []bool{false, true} {
			list := recognise(t, c.facts, play(bob, c.paid(step{to: alice, value: 34, body: notice, aborted: true, bounce: bounces})))
			i := slices.IndexFunc(list, func(a *action.Action) bool { return a.Type.Name == c.want })
			if i < 0 || list[i].Success == bounces {
				t.Errorf("%s, whose toncoins are not accepted: %q, bounce %v, want %s success %v", what, summaries(list), bounces, c.want, !bounces)
			}
		}
	}
}

// stateInit is code, by whose hash builds are known, and data.
func stateInit(code, data *cell.Cell) *cell.Cell {
	return cell.BeginCell().MustStoreUInt(0b00110, 5).MustStoreRef(code).MustStoreRef(data).EndCell()
}

func TestAnItemIsListedThroughADeployer(t *testing.T) {
	deployer := account(0x77)
	given := sentOn(deployer, step{to: saleAccount, value: 3, deployed: true, init: stateInit(cell.BeginCell().EndCell(), cell.BeginCell().EndCell()), body: word(1)},
		step{to: item, value: 2, body: moveItem(saleAccount), then: []step{assigned(saleAccount)}})
	list := recognise(t, known{itemFacts, onSale()}, play(alice, given))
	details(t, list, "nft_put_on_sale", "nft_item", item, "nft_collection", collection, "nft_item_index", 5, "owner", alice, "listing_address", deployer,
		"sale_address", saleAccount, "marketplace_address", getgems, "full_price", 40, "marketplace_fee", 4, "royalty_amount", 2,
		"marketplace_fee_address", market, "royalty_address", carol, "marketplace", "getgems")
	list = recognise(t, known{itemFacts, onAuction()}, play(alice, given))
	details(t, list, "nft_put_on_auction", "owner", alice, "auction_address", saleAccount, "listing_address", deployer, "marketplace_fee_factor", 5,
		"marketplace_fee_base", 100, "royalty_fee_base", 101, "max_bid", 90, "min_bid", 10, "marketplace_fee_address", market, "royalty_address", carol)
	// The deployer keeps the item.
	kept := sentOn(deployer, given.then[0].then[0])
	wants(t, recognise(t, known{itemFacts, onSale()}, play(alice, kept)), "nft_transfer", "call_contract", "contract_deploy")
}

func TestASaleWhoseMarketplaceIsNamedAfterItsDeploymentIsThatOfTheMarketplace(t *testing.T) {
	code := cell.BeginCell().MustStoreUInt(4, 8).EndCell()
	defer action.BuildsLike(base64.StdEncoding.EncodeToString(code.Hash()), "a5WmQYucnSNZBF0edVm41UmuDlBvJMqrWPowyPsf64Y=")()
	deployer := account(0x77)
	shares := cell.BeginCell().MustStoreAddr(friendly(market)).MustStoreAddr(friendly(carol)).MustStoreUInt(5000, 17).MustStoreUInt(2000, 17)
	data := coins(cell.BeginCell().MustStoreBoolBit(false).MustStoreAddr(friendly(deployer)).MustStoreAddr(nil), 50).MustStoreUInt(0, 96).
		MustStoreRef(shares.EndCell()).MustStoreBoolBit(false)
	given := sentOn(deployer, step{to: saleAccount, value: 3, deployed: true, init: stateInit(code, data.EndCell()), body: word(0xfb5dbf47)},
		step{to: item, value: 2, body: moveItem(saleAccount), then: []step{assigned(saleAccount)}})
	details(t, recognise(t, known{itemFacts, onSale()}, play(alice, given)), "nft_put_on_sale", "full_price", 50, "marketplace_fee", nil, "royalty_amount", nil,
		"marketplace_fee_address", market, "royalty_address", carol, "marketplace_address", getgems, "marketplace", "getgems")
	details(t, recognise(t, known{itemFacts}, play(alice, given)), "nft_put_on_sale", "marketplace_address", deployer, "marketplace", nil)
}

func TestDataOfAnItemIsDiscovered(t *testing.T) {
	details(t, recognise(t, action.NoFacts{}, discovery()), "nft_discovery", "source", alice, "nft_item", item, "nft_collection", collection, "nft_item_index", 5)
}

var teleitem = &record.Contract{Account: item, NftItem: itemFacts.NftItem, Telemint: &record.Telemint{}}

func TestDataOfAnItemAreDiscoveredThoughTheAskerRefusesTheAnswer(t *testing.T) {
	answer := word(0x8b771735).MustStoreUInt(1, 64).MustStoreUInt(5, 256).MustStoreAddr(friendly(collection))
	asked := step{to: item, value: 9, body: word(0x2fcb26a2).MustStoreUInt(1, 64), then: []step{{to: alice, value: 5, aborted: true, body: answer}}}
	wants(t, outermost(t, action.NoFacts{}, play(alice, asked)), "nft_discovery")
}

func TestATelegramItemIsTransferredByWhoWonItRightBefore(t *testing.T) {
	won := word(0x05138d91).MustStoreUInt(9, 64).MustStoreAddr(nil).MustStoreBoolBit(false).MustStoreBuilder(coins(word(0x38127de1), 70).MustStoreUInt(9, 32))
	heard := step{to: carol, value: 1, body: word(0x05138d91).MustStoreUInt(6, 64).MustStoreAddr(friendly(bob)).MustStoreBoolBit(false)}
	s := step{to: item, value: 80, body: moveItem(carol), then: []step{{to: bob, body: won}, {to: market, value: 3, body: word(0x370fec51)},
		{to: alice, value: 67, body: word(0x370fec51)}, heard, excess()}}
	list := recognise(t, known{teleitem}, play(bob, s))
	wants(t, list, "nft_transfer", "nft_transfer")
	details(t, list[:1], "nft_transfer", "old_owner", bob, "new_owner", carol, "is_purchase", false)
	details(t, list[1:], "nft_transfer", "new_owner", bob, "is_purchase", true, "price", 70, "royalty_amount", 3, "royalty_address", market,
		"payout_amount", 67, "payout_address", alice)
}

func TestToncoinsForATelegramItemAreNoBid(t *testing.T) {
	won := word(0x05138d91).MustStoreUInt(9, 64).MustStoreAddr(nil).MustStoreBoolBit(false).MustStoreBuilder(coins(word(0x38127de1), 70).MustStoreUInt(9, 32))
	s := step{to: item, value: 8, body: comment("#topup")}
	wants(t, recognise(t, known{teleitem}, play(carol, s)), "ton_transfer")
	// Of its owner, while it has no auction.
	s.body = nil
	wants(t, recognise(t, known{teleitem}, play(alice, s)), "ton_transfer")
	auctioned := &record.Contract{Account: item, NftItem: itemFacts.NftItem, Telemint: &record.Telemint{Auction: true}}
	wants(t, recognise(t, known{auctioned}, play(alice, s)), "auction_bid")
	// They find its auction at an end.
	s.body = comment("#topup")
	s.then = []step{{to: bob, body: won}, {to: alice, value: 67, body: word(0x370fec51)}}
	list := recognise(t, known{teleitem}, play(carol, s))
	wants(t, list, "ton_transfer", "nft_transfer")
	details(t, list, "nft_transfer", "new_owner", bob, "is_purchase", true, "price", 70, "payout_amount", 67, "payout_address", alice)
}

func TestATelegramItemTellsOnlyItsNewOwner(t *testing.T) {
	bidInfo := coins(word(0x38127de1), 70).MustStoreUInt(9, 32)
	told := func(payload *cell.Builder) *cell.Builder {
		return word(0x05138d91).MustStoreUInt(6, 64).MustStoreAddr(nil).MustStoreBoolBit(false).MustStoreBuilder(payload)
	}
	s := step{to: item, value: 80, then: []step{{to: market, value: 3, body: word(0x370fec51)}, {to: carol, value: 67, body: word(0x370fec51)},
		{to: bob, value: 0, aborted: true, body: told(bidInfo)}}}
	list := recognise(t, known{teleitem}, play(bob, s))
	wants(t, list, "nft_transfer")
	details(t, list, "nft_transfer", "new_owner", bob, "is_purchase", true, "price", 70, "marketplace", "fragment", "royalty_amount", 3, "royalty_address", market,
		"payout_amount", 67, "payout_address", carol, "old_owner", nil, "forward_amount", nil)
	list = recognise(t, known{itemFacts}, play(bob, s)) // an item that only says so
	details(t, list, "nft_transfer", "new_owner", bob, "is_purchase", false, "price", nil, "marketplace", nil, "payout_amount", nil)
	list = recognise(t, known{teleitem}, play(carol, step{to: item, value: 5, body: word(99), then: []step{{to: bob, body: told(cell.BeginCell())}}}))
	wants(t, list, "call_contract", "nft_transfer")
	details(t, list, "nft_transfer", "is_purchase", false, "price", nil)
}

func TestAnItemThatAnswersLikeOneOfTelegramIsOneThoughNothingIsKnownOfIt(t *testing.T) {
	config := coins(coins(cell.BeginCell().MustStoreAddr(friendly(carol)), 7), 900).MustStoreUInt(5, 8).MustStoreUInt(60, 32).MustStoreUInt(3600, 32).EndCell()
	start := func() *cell.Builder { return word(0x487a8e81).MustStoreUInt(1, 64).MustStoreRef(config) }
	cancel := func() *cell.Builder { return word(0x371638ae).MustStoreUInt(1, 64) }
	answer := step{to: alice, value: 1, body: word(0xa37a0983).MustStoreUInt(1, 64)}
	list := outermost(t, action.NoFacts{}, play(alice, step{to: item, value: 5, body: start(), then: []step{answer}}))
	wants(t, list, "teleitem_start_auction")
	details(t, list, "teleitem_start_auction", "owner", alice, "nft_item", item, "nft_collection", nil,
		"nft_item_index", nil, "auction_address", item, "min_bid", 7, "max_bid", 900)
	list = outermost(t, action.NoFacts{}, play(alice, step{to: item, value: 5, body: cancel(), then: []step{answer}}))
	wants(t, list, "teleitem_cancel_auction")
	details(t, list, "teleitem_cancel_auction", "owner", alice, "nft_item", item, "nft_collection", nil)
	// Without an answer it may be anything.
	for _, body := range []*cell.Builder{start(), cancel()} {
		wants(t, outermost(t, action.NoFacts{}, play(alice, step{to: item, value: 5, body: body})), "call_contract")
	}
}

func TestAnAuctionOfATelegramItemBeginsAndEnds(t *testing.T) {
	config := coins(coins(cell.BeginCell().MustStoreAddr(friendly(carol)), 7), 900).MustStoreUInt(5, 8).MustStoreUInt(60, 32).MustStoreUInt(3600, 32).EndCell()
	ok := step{to: alice, value: 1, body: word(0xa37a0983)}
	list := recognise(t, known{teleitem}, play(alice, step{to: item, value: 5, body: word(0x487a8e81).MustStoreUInt(1, 64).MustStoreRef(config), then: []step{ok}}))
	details(t, list, "teleitem_start_auction", "owner", alice, "nft_item", item, "auction_address", item, "min_bid", 7, "max_bid", 900,
		"marketplace_fee_address", carol, "marketplace", "fragment", "listing_address", nil)
	list = recognise(t, known{teleitem}, play(alice, step{to: item, value: 5, body: word(0x371638ae).MustStoreUInt(1, 64), then: []step{ok}}))
	refused := step{to: item, value: 5, aborted: true, body: word(0x371638ae).MustStoreUInt(1, 64), then: []step{bounceOf(alice, word(0x371638ae))}}
	wants(t, outermost(t, known{teleitem}, play(alice, refused)), "teleitem_cancel_auction!")
	details(t, list, "teleitem_cancel_auction", "owner", alice, "nft_item", item, "auction_address", item, "marketplace", "fragment")
	bid := step{to: item, value: 80, then: []step{{to: carol, value: 70, body: word(0x557cea20).MustStoreUInt(1, 64)}}}
	list = recognise(t, known{teleitem}, play(bob, bid))
	details(t, list, "auction_bid", "amount", 80, "bidder", bob, "auction", item)
	details(t, list, "auction_outbid", "bidder", carol, "new_bidder", bob, "amount", 70)
}

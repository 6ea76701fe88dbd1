package action_test

import (
	"math/big"
	"testing"

	tonutils "github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
)

// coinsOf are the jettons of a devnet.
type coinsOf struct {
	contracts.JettonMinter
	master *tonutils.Address
}

func newCoins(admin *tonutils.Address, name string) coinsOf {
	minter := contracts.JettonMinter{Admin: admin, Content: contracts.OnchainContent(map[string]string{"name": name, "decimals": "6"})}
	return coinsOf{minter, minter.Address(0)}
}

func (c coinsOf) walletOf(owner *tonutils.Address) *tonutils.Address {
	return c.Wallet(0, owner).Address(0)
}

// mints gives jettons to their first owner.
func (s *devnet) mints(c coinsOf, to *tonutils.Address, amount int64) {
	s.Helper()
	s.act(s.admin, one(c.master, 0.2, contracts.JettonMintBody(contracts.JettonMint{Amount: big.NewInt(amount), To: to, Value: ton(0.1)}))...)
}

func TestJettonsOfADevnet(t *testing.T) {
	admin := newActor(4, contracts.WalletV4R2, 0)
	c := newCoins(admin.Address, "Scribe")
	relay := contracts.Forwarder{ID: 1}
	// Where dave's wallet should be is something that knows no jettons.
	dave := newActor(9, contracts.WalletV4R2, 0)
	wrong := placed(contracts.NFTItem{Collection: admin.Address}.StateInit(), 0, 1)
	wrong.ID = [32]byte(c.walletOf(dave.Address).Data())
	s := newDevnet(t, placed(c.StateInit(), 0, 1), placed(relay.StateInit(), 0, 1), wrong)
	aliceJ, bobJ, daveJ := c.walletOf(s.alice.Address), c.walletOf(s.bob.Address), c.walletOf(dave.Address)

	mint := contracts.JettonMint{QueryID: 6, Amount: big.NewInt(1000), To: s.alice.Address, Value: ton(0.1), Response: s.admin.Address, ForwardValue: big.NewInt(1)}
	s.plays("a mint", s.admin, one(c.master, 0.2, contracts.JettonMintBody(mint)),
		is("jetton_mint", "asset", c.master, "receiver", s.alice, "receiver_jetton_wallet", aliceJ, "amount", 1000, "ton_amount", ton(0.1)),
		is("contract_deploy", "opcode", 0x178d4519, "source", c.master, "destination", aliceJ, "value", ton(0.1)))
	mint.Old, mint.Amount = true, big.NewInt(50)
	s.plays("a mint of older minters", s.admin, one(c.master, 0.2, contracts.JettonMintBody(mint)),
		is("jetton_mint", "asset", c.master, "receiver", s.alice, "receiver_jetton_wallet", aliceJ, "amount", 50, "ton_amount", ton(0.1)))
	s.plays("a mint by another than the admin", s.bob, one(c.master, 0.2, contracts.JettonMintBody(mint)),
		is("jetton_mint!", "asset", c.master, "receiver", s.alice, "amount", 50, "ton_amount", ton(0.1)))
	mint.To = dave.Address
	s.plays("a mint that the wallet refuses", s.admin, one(c.master, 0.2, contracts.JettonMintBody(mint)),
		is("jetton_mint!", "asset", c.master, "receiver", dave, "receiver_jetton_wallet", daveJ, "amount", 50, "ton_amount", ton(0.1)))
	mint.To, mint.Value = s.bob.Address, ton(1000)
	s.plays("a mint whose value the minter does not have", s.admin, one(c.master, 0.2, contracts.JettonMintBody(mint)),
		is("jetton_mint!", "asset", c.master, "receiver", s.bob, "amount", 50, "ton_amount", ton(1000)))

	comment := contracts.CommentBody("for the book")
	order := contracts.JettonTransfer{QueryID: 7, Amount: big.NewInt(300), Destination: s.bob.Address, Response: s.alice.Address, ForwardValue: ton(0.01), ForwardPayload: comment}
	moved := []any{"asset", c.master, "sender", s.alice, "receiver", s.bob, "sender_jetton_wallet", aliceJ, "receiver_jetton_wallet", bobJ, "amount", 300,
		"query_id", 7, "response_destination", s.alice, "forward_amount", ton(0.01), "comment", "for the book", "forward_payload", comment}
	s.plays("a transfer", s.alice, one(aliceJ, 0.2, contracts.JettonTransferBody(order)),
		is("jetton_transfer", moved...), is("contract_deploy", "opcode", 0x178d4519, "source", aliceJ, "destination", bobJ, "value", anything{}))
	s.plays("a transfer to one who has some", s.alice, one(aliceJ, 0.2, contracts.JettonTransferBody(order)), is("jetton_transfer", moved...))
	silent := contracts.JettonTransfer{Amount: big.NewInt(5), Destination: s.alice.Address}
	s.plays("a transfer that tells nobody", s.bob, one(bobJ, 0.2, contracts.JettonTransferBody(silent)), is("jetton_transfer", "asset", c.master, "sender", s.bob,
		"receiver", s.alice, "sender_jetton_wallet", bobJ, "receiver_jetton_wallet", aliceJ, "amount", 5, "query_id", 0, "forward_amount", 0))
	told := order
	told.Destination, told.ForwardPayload, told.ForwardValue = relay.Address(0), contracts.FailBody(1, contracts.FailCompute, 500), ton(0.05)
	s.plays("a transfer whose notification is refused", s.alice, one(aliceJ, 0.2, contracts.JettonTransferBody(told)),
		is("jetton_transfer", "asset", c.master, "sender", s.alice, "receiver", told.Destination, "sender_jetton_wallet", aliceJ,
			"receiver_jetton_wallet", c.walletOf(told.Destination), "amount", 300, "query_id", 7, "response_destination", s.alice, "forward_amount", ton(0.05),
			"forward_payload", told.ForwardPayload),
		is("contract_deploy", "opcode", 0x178d4519, "source", aliceJ, "destination", c.walletOf(told.Destination), "value", anything{}))

	const transfer = 0x0f8a7ea5
	s.plays("by another than the owner", s.bob, one(aliceJ, 0.2, contracts.JettonTransferBody(order)), refusedCall(transfer, s.bob, aliceJ, 0.2)...)
	tooMany := order
	tooMany.Amount = big.NewInt(1_000_000)
	s.plays("of more than there is", s.alice, one(aliceJ, 0.2, contracts.JettonTransferBody(tooMany)), refusedCall(transfer, s.alice, aliceJ, 0.2)...)
	s.plays("with too little for the second wallet", s.alice, one(aliceJ, 0.02, contracts.JettonTransferBody(order)), refusedCall(transfer, s.alice, aliceJ, 0.02)...)
	s.plays("with too little for the first wallet's gas", s.alice, one(aliceJ, 0.001, contracts.JettonTransferBody(order)),
		is("call_contract!", "opcode", transfer, "source", s.alice, "destination", aliceJ, "value", ton(0.001)),
		is("call_contract!", "opcode", 0xffffffff, "source", aliceJ, "destination", s.alice, "value", anything{})) // whose gas it does not pay
	s.plays("with too little for any gas", s.alice, one(aliceJ, 0.00001, contracts.JettonTransferBody(order)),
		is("call_contract!", "opcode", transfer, "source", s.alice, "destination", aliceJ, "value", ton(0.00001)))
	toDave := order
	toDave.Destination, toDave.Amount = dave.Address, big.NewInt(100)
	s.plays("refused by the second wallet", s.alice, one(aliceJ, 0.2, contracts.JettonTransferBody(toDave)),
		is("call_contract", "opcode", transfer, "source", s.alice, "destination", aliceJ, "value", ton(0.2)),
		is("call_contract!", "opcode", 0x178d4519, "source", aliceJ, "destination", daveJ, "value", anything{}), bounced(daveJ, aliceJ))
	ghost := []any{"asset", c.master, "sender", s.alice, "receiver", s.bob, "sender_jetton_wallet", aliceJ, "amount", 300,
		"query_id", 7, "response_destination", s.alice, "forward_amount", ton(0.01), "comment", "for the book", "forward_payload", comment}
	unsent := one(aliceJ, 1_000_000, contracts.JettonTransferBody(order))
	s.plays("a transfer that the owner's wallet cannot pay for", s.alice, unsent, is("jetton_transfer!", ghost...))
	unsent[0].Mode |= contracts.ModeIgnoreErrors
	s.plays("a transfer that the owner's wallet skips", s.alice, unsent, is("jetton_transfer!", ghost...))

	s.plays("a burn", s.alice, one(aliceJ, 0.1, contracts.JettonBurnBody(8, big.NewInt(40), s.alice.Address)),
		is("jetton_burn", "owner", s.alice, "owner_jetton_wallet", aliceJ, "asset", c.master, "amount", 40))
	burn := contracts.JettonBurnBody(8, big.NewInt(1_000_000), s.alice.Address)
	failed := is("jetton_burn!", "owner", s.alice, "owner_jetton_wallet", aliceJ, "asset", c.master, "amount", 1_000_000)
	s.plays("a burn of more than there is", s.alice, one(aliceJ, 0.1, burn), failed)
	s.plays("a burn by another than the owner", s.bob, one(aliceJ, 0.1, burn), failed)
	s.plays("a burn with too little for the master", s.alice, one(aliceJ, 0.001, burn), failed)
	s.plays("a burn with too little for any gas", s.alice, one(aliceJ, 0.00001, burn), failed)

	s.plays("a question for a wallet's address", s.bob, one(c.master, 0.1, contracts.ProvideWalletAddressBody(9, s.alice.Address, true)),
		is("call_contract", "opcode", 0x2c76b973, "source", s.bob, "destination", c.master, "value", ton(0.1)),
		is("call_contract", "opcode", 0xd1735400, "source", c.master, "destination", s.bob, "value", anything{}))
}

// An item, sales and auctions of a devnet.
type devnetItems struct {
	*devnet
	collection       contracts.NFTCollection
	at, item         *tonutils.Address
	itself           []any // what an action says of the item
	feeTo, royaltyTo *actor
}

func newDevnetItems(t *testing.T) devnetItems {
	t.Helper()
	admin := newActor(4, contracts.WalletV4R2, 0)
	collection := contracts.NFTCollection{Owner: admin.Address, Content: contracts.OffchainContent("https://example.com/stones.json"),
		CommonContent: contracts.SnakeText("https://example.com/stones/"), Royalty: contracts.Royalty{Numerator: 5, Denominator: 100, Destination: admin.Address}}
	g := devnetItems{collection: collection, at: collection.Address(0), feeTo: newActor(10, contracts.WalletV4R2, 0), royaltyTo: newActor(11, contracts.WalletV4R2, 0)}
	shop := contracts.Marketplace{Owner: admin.Address}
	g.devnet = newDevnet(t, placed(collection.StateInit(), 0, 1), placed(shop.StateInit(), 0, 1), placed(contracts.Forwarder{ID: 1}.StateInit(), 0, 1))
	g.item = collection.Item(0, 0).Address(0)
	g.itself = []any{"nft_item", g.item, "nft_collection", g.at, "nft_item_index", 0}
	g.plays("a mint", g.admin, one(g.at, 0.2, g.mintBody(0)),
		is("call_contract", "opcode", 1, "source", g.admin, "destination", g.at, "value", ton(0.2)),
		is("nft_mint", g.with("owner", g.at)...),
		is("contract_deploy", "opcode", anything{}, "source", g.at, "destination", g.item, "value", ton(0.05)))
	return g
}

func (g devnetItems) mintBody(index uint64) *cell.Cell {
	return contracts.NFTDeployBody(1, index, contracts.NFTInit{Owner: g.alice.Address, Content: contracts.SnakeText("0.json"), Value: ton(0.05)})
}

// with are details of an action together with those of the item.
func (g devnetItems) with(details ...any) []any { return append(details, g.itself...) }

func TestItemsOfADevnet(t *testing.T) {
	g := newDevnetItems(t)
	g.plays("a mint by another than the owner", g.bob, one(g.at, 0.2, g.mintBody(1)), refusedCall(1, g.bob, g.at, 0.2)...)
	g.plays("a mint out of turn", g.admin, one(g.at, 0.2, g.mintBody(5)), refusedCall(1, g.admin, g.at, 0.2)...)
	g.plays("a mint of what is there", g.admin, one(g.at, 0.2, g.mintBody(0)),
		is("call_contract", "opcode", 1, "source", g.admin, "destination", g.at, "value", ton(0.2)),
		is("call_contract!", "opcode", anything{}, "source", g.at, "destination", g.item, "value", ton(0.05)), bounced(g.item, g.at))

	comment := contracts.CommentBody("a gift")
	order := contracts.NFTTransfer{QueryID: 3, NewOwner: g.bob.Address, Response: g.alice.Address, ForwardValue: ton(0.01), ForwardPayload: comment}
	moved := g.with("query_id", 3, "old_owner", g.alice, "new_owner", g.bob, "response_destination", g.alice, "forward_amount", ton(0.01),
		"forward_payload", comment, "comment", "a gift")
	g.plays("a transfer by another than the owner", g.carol, one(g.item, 0.2, contracts.NFTTransferBody(order)),
		is("nft_transfer!", g.with("query_id", 3, "old_owner", g.carol, "new_owner", g.bob, "response_destination", g.alice, "forward_amount", ton(0.01),
			"forward_payload", comment, "comment", "a gift")...))
	g.plays("a transfer with too little value", g.alice, one(g.item, 0.01, contracts.NFTTransferBody(order)), is("nft_transfer!", moved...))
	g.plays("a transfer with too little for any gas", g.alice, one(g.item, 0.00001, contracts.NFTTransferBody(order)), is("nft_transfer!", moved...))
	unsent := one(g.item, 1_000_000, contracts.NFTTransferBody(order))
	g.plays("a transfer that the owner's wallet cannot pay for", g.alice, unsent, is("unknown!"))
	unsent[0].Mode |= contracts.ModeIgnoreErrors
	g.plays("a transfer that the owner's wallet skips", g.alice, unsent, is("unknown"))
	g.plays("a transfer", g.alice, one(g.item, 0.2, contracts.NFTTransferBody(order)), is("nft_transfer", moved...))
	told := contracts.NFTTransfer{QueryID: 4, NewOwner: contracts.Forwarder{ID: 1}.Address(0), Response: g.bob.Address, ForwardValue: ton(0.05),
		ForwardPayload: contracts.FailBody(1, contracts.FailCompute, 500)}
	g.plays("a transfer whose notification is refused", g.bob, one(g.item, 0.2, contracts.NFTTransferBody(told)), is("nft_transfer",
		g.with("query_id", 4, "old_owner", g.bob, "new_owner", told.NewOwner, "response_destination", g.bob, "forward_amount", ton(0.05), "forward_payload", told.ForwardPayload)...))
	g.plays("a question for the item's data", g.carol, one(g.item, 0.1, contracts.GetStaticDataBody(5)), is("nft_discovery", g.with("source", g.carol)...))
}

// sale is one of the item.
func (g devnetItems) sale() contracts.Sale {
	return contracts.Sale{CreatedAt: devnetDawn, Marketplace: contracts.Marketplace{Owner: g.admin.Address}.Address(0), Item: g.item, Owner: g.alice.Address,
		Price: ton(10), Fee: ton(0.5), Royalty: ton(1), FeeAddress: g.feeTo.Address, RoyaltyAddr: g.royaltyTo.Address}
}

// handedOver are the actions of an item that its owner gives to a contract that he
// deploys.
func (g devnetItems) handedOver(to *tonutils.Address) []wanted {
	return []wanted{
		is("call_contract", "opcode", 0xd372158c, "source", g.alice, "destination", to, "value", ton(0.1)),
		is("contract_deploy", "opcode", 0xd372158c, "source", g.alice, "destination", to, "value", ton(0.1)),
		is("nft_transfer", g.with("query_id", 2, "old_owner", g.alice, "new_owner", to, "response_destination", g.alice, "forward_amount", ton(0.05),
			"forward_payload", emptyPayload)...),
	}
}

var emptyPayload = cell.BeginCell().EndCell()

// refusedTransfer is a plain transfer that fails, and what comes back of it.
func refusedTransfer(from *actor, to *tonutils.Address, tons float64, details ...any) []wanted {
	return []wanted{is("ton_transfer!", append(details, "source", from, "destination", to, "value", ton(tons))...), bounced(to, from)}
}

// parts are fee and royalty of a price.
func (g devnetItems) parts(from *tonutils.Address, fee, royalty float64) (wanted, wanted) {
	return is("ton_transfer", "source", from, "destination", g.feeTo, "value", ton(fee), "comment", "Marketplace fee"),
		is("ton_transfer", "source", from, "destination", g.royaltyTo, "value", ton(royalty), "comment", "Royalty")
}

func TestSalesOfADevnet(t *testing.T) {
	g := newDevnetItems(t)
	sale := g.sale()
	at, shop := sale.Address(0), sale.Marketplace
	deploy := pays(at, ton(0.1), contracts.TopUpBody(0))
	deploy.StateInit = sale.StateInit()
	given := contracts.NFTTransfer{QueryID: 2, NewOwner: at, Response: g.alice.Address, ForwardValue: ton(0.05)}
	g.plays("a sale that its seller deploys", g.alice, []contracts.Message{deploy, pays(g.item, ton(0.2), contracts.NFTTransferBody(given))}, g.handedOver(at)...)
	g.plays("bought for too little", g.bob, one(at, 10, nil), refusedTransfer(g.bob, at, 10)...)
	g.plays("bought with too little for any gas", g.bob, one(at, 0.00001, nil), is("ton_transfer!", "source", g.bob, "destination", at, "value", ton(0.00001)))
	change := contracts.SaleUpdateBody(3, ton(20), ton(2), ton(3))
	changed := []any{"sale_contract", at, "nft_address", g.item, "marketplace_address", shop, "full_price", ton(20), "marketplace_fee", ton(2), "royalty_amount", ton(3)}
	g.plays("a new price by another than the seller", g.bob, one(at, 0.1, change), is("nft_update_sale!", append(changed, "source", g.bob)...))
	g.plays("a new price with too little for any gas", g.alice, one(at, 0.00001, change), is("nft_update_sale!", append(changed, "source", g.alice)...))
	g.plays("a new price", g.alice, one(at, 0.1, change), is("nft_update_sale", append(changed, "source", g.alice)...))
	g.plays("cancelled by another than the seller", g.bob, one(at, 0.1, contracts.SaleCancelBody(4)), refusedCall(3, g.bob, at, 0.1)...)
	g.plays("cancelled with too little", g.alice, one(at, 0.01, contracts.SaleCancelBody(4)), refusedCall(3, g.alice, at, 0.01)...)
	g.plays("cancelled", g.alice, one(at, 0.1, contracts.SaleCancelBody(4)),
		is("nft_cancel_sale", "owner", g.alice, "nft_item", g.item, "nft_collection", g.at, "sale_address", at, "marketplace_address", shop),
		g.returned(at))
	g.plays("cancelled twice", g.alice, one(at, 0.1, contracts.SaleCancelBody(4)), refusedCall(3, g.alice, at, 0.1)...)

	sale.CreatedAt++
	at = sale.Address(0)
	listing := contracts.NFTTransfer{QueryID: 5, NewOwner: shop, Response: g.alice.Address, ForwardValue: ton(0.3), ForwardPayload: contracts.ListPayload(sale.StateInit())}
	g.plays("a sale that the marketplace deploys", g.alice, one(g.item, 0.5, contracts.NFTTransferBody(listing)),
		is("nft_put_on_sale", g.with("owner", g.alice, "listing_address", shop, "sale_address", at, "marketplace_address", shop, "full_price", ton(10),
			"marketplace_fee", ton(0.5), "marketplace_fee_address", g.feeTo, "royalty_amount", ton(1), "royalty_address", g.royaltyTo)...),
		is("contract_deploy", "opcode", 0xd372158c, "source", shop, "destination", at, "value", anything{}))
	fee, royalty := g.parts(at, 0.5, 1)
	g.plays("bought", g.bob, one(at, 10.2, nil), is("nft_purchase", g.with("query_id", 0, "old_owner", at, "new_owner", g.bob, "response_destination", g.bob,
		"forward_amount", 1, "forward_payload", emptyPayload, "is_purchase", true, "price", ton(10), "real_old_owner", g.alice, "marketplace_address", shop,
		"payout_amount", ton(8.5), "payout_address", g.alice, "payout_comment", "Sold")...), fee, royalty)
	g.plays("bought twice", g.carol, one(at, 10.2, nil), refusedTransfer(g.carol, at, 10.2)...)

	listing.ForwardPayload = nil
	g.plays("the marketplace gives back what comes without a sale", g.bob, one(g.item, 0.5, contracts.NFTTransferBody(listing)),
		is("nft_transfer", g.with("query_id", 5, "old_owner", g.bob, "new_owner", shop, "response_destination", g.alice, "forward_amount", ton(0.3), "forward_payload", emptyPayload)...),
		is("nft_transfer", g.with("query_id", 0, "old_owner", shop, "new_owner", g.bob, "response_destination", g.bob, "forward_amount", anything{}, "forward_payload", emptyPayload)...))
}

// auction is one of the item, with its number.
func (g devnetItems) auction(number uint32) contracts.Auction {
	return contracts.Auction{CreatedAt: devnetDawn + number, EndTime: devnetDawn + 4000, StepTime: 10, Marketplace: g.sale().Marketplace, Item: g.item, Owner: g.alice.Address,
		MinBid: ton(1), MaxBid: ton(100), MinStep: ton(0.5), FeeAddress: g.feeTo.Address, FeeFactor: 5, FeeBase: 100,
		RoyaltyAddr: g.royaltyTo.Address, RoyaltyFactor: 10, RoyaltyOf: 100}
}

// begins deploys an auction and gives it the item of its owner.
func (g devnetItems) begins(a contracts.Auction) *tonutils.Address {
	g.Helper()
	at := a.Address(0)
	deploy := pays(at, ton(0.1), contracts.TopUpBody(0))
	deploy.StateInit = a.StateInit()
	given := contracts.NFTTransfer{QueryID: 2, NewOwner: at, Response: g.alice.Address, ForwardValue: ton(0.05)}
	g.plays("an auction begins", g.alice, []contracts.Message{deploy, pays(g.item, ton(0.2), contracts.NFTTransferBody(given))}, g.handedOver(at)...)
	return at
}

func TestAuctionsOfADevnet(t *testing.T) {
	g := newDevnetItems(t)
	auction := g.auction(1)
	at := g.begins(auction)
	bid := func(what string, from *actor, tons float64) wanted {
		return is(what, g.with("amount", ton(tons), "bidder", from, "auction", at)...)
	}
	g.plays("a bid below the lowest", g.bob, one(at, 0.9, nil), bid("auction_bid!", g.bob, 0.9))
	g.plays("a bid with too little for any gas", g.bob, one(at, 0.00001, nil), bid("auction_bid!", g.bob, 0.00001))
	g.plays("a first bid", g.bob, one(at, 2, nil), bid("auction_bid", g.bob, 2))
	g.plays("a bid below the step", g.carol, one(at, 2.4, nil), bid("auction_bid!", g.carol, 2.4))
	g.plays("a higher bid", g.carol, one(at, 3, contracts.CommentBody("for me")), bid("auction_bid", g.carol, 3),
		is("auction_outbid", "auction_address", at, "bidder", g.bob, "new_bidder", g.carol, "nft_item", g.item, "nft_collection", g.at, "amount", ton(2),
			"comment", "Your bid has been outbid by another user"))
	g.plays("cancelled with bids", g.alice, one(at, 0.2, contracts.CommentBody(contracts.AuctionCancel)), refusedTransfer(g.alice, at, 0.2, "comment", "cancel")...)
	g.plays("finished too early", g.bob, one(at, 0.2, contracts.CommentBody(contracts.AuctionFinish)), refusedTransfer(g.bob, at, 0.2, "comment", "finish")...)
	g.plays("stopped by another than the seller", g.bob, one(at, 0.2, contracts.AuctionCommandBody(7, contracts.AuctionStop)), refusedCall(0xb95616b6, g.bob, at, 0.2)...)
	g.now = auction.EndTime
	g.plays("a bid too late", g.bob, one(at, 5, nil), bid("auction_bid!", g.bob, 5))
	fee, royalty := g.parts(at, 0.15, 0.3)
	g.plays("finished", g.bob, one(at, 0.2, contracts.CommentBody(contracts.AuctionFinish)), g.ended("nft_finish_auction", at, g.carol), g.bought(at, g.carol, 3), fee, royalty)
	g.plays("finished twice", g.bob, one(at, 0.2, contracts.AuctionCommandBody(7, contracts.AuctionFinish)), refusedCall(0x20c9eb18, g.bob, at, 0.2)...)
}

// ended is the end of an auction, and who has the item then.
func (g devnetItems) ended(what string, at *tonutils.Address, owner *actor) wanted {
	return is(what, "owner", owner, "nft_item", g.item, "nft_collection", g.at, "auction_address", at, "marketplace_address", g.sale().Marketplace)
}

// bought is the purchase of the item at an auction.
func (g devnetItems) bought(at *tonutils.Address, by *actor, price float64) wanted {
	return is("nft_purchase", g.with("query_id", 0, "old_owner", at, "new_owner", by, "response_destination", g.alice, "forward_amount", 1,
		"forward_payload", emptyPayload, "is_purchase", true, "price", ton(price), "real_old_owner", g.alice, "marketplace_address", g.sale().Marketplace,
		"payout_amount", anything{}, "payout_address", g.alice, "payout_comment", "Auction is over")...)
}

// returned is the item's way back to its seller.
func (g devnetItems) returned(from *tonutils.Address) wanted {
	return is("nft_transfer", g.with("query_id", 0, "old_owner", from, "new_owner", g.alice, "response_destination", g.alice, "forward_amount", 1,
		"forward_payload", emptyPayload)...)
}

func TestEndsOfAuctionsOfADevnet(t *testing.T) {
	g := newDevnetItems(t)
	rest := func(from *tonutils.Address) wanted {
		return is("ton_transfer", "source", from, "destination", g.alice, "value", anything{}, "comment", "Auction is over")
	}
	at := g.begins(g.auction(1))
	g.plays("cancelled by its word", g.alice, one(at, 0.2, contracts.CommentBody(contracts.AuctionCancel)), g.ended("nft_cancel_auction", at, g.alice),
		g.returned(at), rest(at))
	at = g.begins(g.auction(2))
	g.plays("cancelled by its number", g.alice, one(at, 0.2, contracts.AuctionCommandBody(7, contracts.AuctionCancel)), g.ended("nft_cancel_auction", at, g.alice),
		g.returned(at), rest(at))
	at = g.begins(g.auction(3))
	g.act(g.bob, one(at, 2, nil)...)
	fee, royalty := g.parts(at, 0.1, 0.2)
	g.plays("stopped", g.alice, one(at, 0.2, contracts.AuctionCommandBody(7, contracts.AuctionStop)), g.ended("nft_finish_auction", at, g.bob),
		g.bought(at, g.bob, 2), fee, royalty)
	g.act(g.bob, pays(g.item, ton(0.2), contracts.NFTTransferBody(contracts.NFTTransfer{NewOwner: g.alice.Address})))
	at = g.begins(g.auction(4))
	fee, royalty = g.parts(at, 5, 10)
	g.plays("ended by the highest bid", g.carol, one(at, 100, nil), g.bought(at, g.carol, 100), fee, royalty)
}

func TestSoulBoundItemsOfADevnet(t *testing.T) {
	admin := newActor(4, contracts.WalletV4R2, 0)
	collection := contracts.NFTCollection{Owner: admin.Address, Content: contracts.OffchainContent("https://example.com/diplomas.json"),
		Royalty: contracts.Royalty{Denominator: 1, Destination: admin.Address}, SBT: true}
	at, item := collection.Address(0), collection.Item(0, 0).Address(0)
	s := newDevnet(t, placed(collection.StateInit(), 0, 1))
	mint := contracts.SBTDeployBody(1, 0, contracts.SBTInit{Owner: s.alice.Address, Content: emptyPayload, Authority: s.admin.Address, Value: ton(0.05)})
	s.plays("a mint", s.admin, one(at, 0.2, mint), is("call_contract", "opcode", 1, "source", s.admin, "destination", at, "value", ton(0.2)),
		is("nft_mint", "owner", at, "nft_item", item, "nft_collection", at, "nft_item_index", 0),
		is("contract_deploy", "opcode", anything{}, "source", at, "destination", item, "value", ton(0.05)))
	const proves, proof, revokes, destroys, excess = 0x04ded148, 0x0524c7ae, 0x6f89f5e3, 0x1f04537a, 0xd53276db
	called := func(opcode uint32, from, to any, value any) wanted {
		return is("call_contract", "opcode", opcode, "source", from, "destination", to, "value", value)
	}
	s.plays("a proof", s.alice, one(item, 0.1, contracts.SBTProveOwnershipBody(2, s.bob.Address, nil, false)), called(proves, s.alice, item, ton(0.1)),
		called(proof, item, s.bob, anything{}))
	s.plays("a proof of another", s.bob, one(item, 0.1, contracts.SBTProveOwnershipBody(2, s.bob.Address, nil, false)), refusedCall(proves, s.bob, item, 0.1)...)
	order := contracts.NFTTransfer{QueryID: 3, NewOwner: s.bob.Address, Response: s.alice.Address}
	s.plays("a transfer, which there is not", s.alice, one(item, 0.2, contracts.NFTTransferBody(order)), is("nft_transfer!", "nft_item", item, "nft_collection", at,
		"nft_item_index", 0, "query_id", 3, "old_owner", s.alice, "new_owner", s.bob, "response_destination", s.alice, "forward_amount", 0, "forward_payload", emptyPayload))
	s.plays("revoked by another than its authority", s.bob, one(item, 0.1, contracts.SBTRevokeBody(4)), refusedCall(revokes, s.bob, item, 0.1)...)
	s.plays("revoked", s.admin, one(item, 0.1, contracts.SBTRevokeBody(4)), called(revokes, s.admin, item, ton(0.1)))
	s.plays("destroyed by another than its owner", s.bob, one(item, 0.1, contracts.SBTDestroyBody(5)), refusedCall(destroys, s.bob, item, 0.1)...)
	s.plays("destroyed", s.alice, one(item, 0.1, contracts.SBTDestroyBody(5)), called(destroys, s.alice, item, ton(0.1)), called(excess, item, s.alice, anything{}))
}

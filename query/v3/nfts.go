package v3

import (
	"strings"

	"tonscribe/query/params"
	"tonscribe/query/render"
	"tonscribe/query/store"
	"tonscribe/schema/record"
)

const nfts = "NFTs"

var nftCollections = &Endpoint{
	Path: "/nft/collections", Tag: nfts, Summary: "NFT collections",
	Description: "NFT collections that match all filters, the first indexed first.",
	Params: params.Join([]params.Param{
		{Name: "collection_address", Kind: params.AddressKind, Multi: true, Range: "up to 1024", Description: "collections"},
		{Name: "owner_address", Kind: params.AddressKind, Multi: true, Range: "up to 1024", Description: "owners of the collections"},
	}, params.UnsortedPageParams()),
	Result: resultOf[nftCollectionsAnswer](),
	serve: func(q *request) error {
		f := &store.NFTCollectionFilter{Addresses: q.values.Addresses("collection_address"), Owners: q.values.Addresses("owner_address")}
		return q.serveContracts(params.Unsorted, &contractList{
			name: "nft_collections", metadata: true, keyOf: firstKey,
			read: func(page store.Page, after *store.ContractKey) ([]*record.Contract, bool, error) {
				return q.store.NFTCollections(q, f, page, after)
			},
			render: func(dst []byte, c *record.Contract, book addresses) []byte {
				book.add(c.Account)
				book.add(c.NftCollection.Owner)
				return render.NFTCollection(dst, c)
			},
		})
	},
}

var (
	digitsOnly         = params.Unprocessable("index should contain digits only")
	oneOwnerOfItems    = params.Unprocessable("exact one owner_address required for multiple collection_address")
	indexOfNothing     = params.Unprocessable("index parameter is not allowed without the collection_address")
	includeOnSaleParam = params.Param{
		Name: "include_on_sale", Kind: params.BoolKind, Default: "false", Description: "items that an owner_address sells are its own too",
	}
)

var nftItems = &Endpoint{
	Path: "/nft/items", Tag: nfts, Summary: "NFT items",
	Description: "NFT items that match all filters: by owner, collection and index; with a collection alone by index; else the first indexed first.",
	Params: params.Join([]params.Param{
		{Name: "address", Kind: params.AddressKind, Multi: true, Range: "up to 1000", Description: "items"},
		{Name: "owner_address", Kind: params.AddressKind, Multi: true, Range: "up to 1000", Description: "owners"},
		{Name: "collection_address", Kind: params.AddressKind, Multi: true, Description: "collections; more than one with exactly one owner_address"},
		{Name: "index", Kind: params.TextKind, Multi: true, Range: "up to 1000", Description: "indexes of items, with collection_address"},
		includeOnSaleParam,
		{Name: "sort_by_last_transaction_lt", Kind: params.BoolKind, Default: "false", Description: "what changed last comes first"},
	}, params.UnsortedPageParams()),
	Result: resultOf[nftItemsAnswer](),
	Errors: []params.Error{*digitsOnly, *oneOwnerOfItems, *indexOfNothing},
	serve:  serveNFTItems,
}

func serveNFTItems(q *request) error {
	f := &store.NFTItemFilter{
		Addresses: q.values.Addresses("address"), Owners: q.values.Addresses("owner_address"), Collections: q.values.Addresses("collection_address"),
		OnSale: q.values.Bool("include_on_sale"), ByLt: q.values.Bool("sort_by_last_transaction_lt"),
	}
	beyond := false
	for _, text := range q.values.Texts("index") {
		if strings.Trim(text, "0123456789") != "" {
			return digitsOnly
		}
		if n, ok := store.ParseNumber(text); ok {
			f.Indexes = append(f.Indexes, n)
		} else {
			beyond = true // no item has so large a number
		}
	}
	if len(f.Collections) > 1 && len(f.Owners) != 1 {
		return oneOwnerOfItems
	}
	if len(q.values.Texts("index")) > 0 && len(f.Collections) == 0 {
		return indexOfNothing
	}
	var collections map[store.Address]*record.Contract
	return q.serveContracts(params.Unsorted, &contractList{
		name: "nft_items", metadata: true, keyOf: f.KeyOf,
		read: func(page store.Page, after *store.ContractKey) ([]*record.Contract, bool, error) {
			if beyond && len(f.Indexes) == 0 {
				return nil, false, nil
			}
			return q.store.NFTItems(q, f, page, after)
		},
		before: func(list []*record.Contract) (err error) {
			collections, err = q.contractsOf(list, func(c *record.Contract) []byte { return c.NftItem.Collection })
			return err
		},
		render: func(dst []byte, c *record.Contract, book addresses) []byte {
			collection := of(collections, c.NftItem.Collection)
			book.addItem(c, collection)
			return render.NFTItem(dst, c, render.NFTItemOptions{Collection: collection})
		},
	})
}

// addItem adds the addresses of an item and of its collection, which may be nil.
func (s addresses) addItem(c, collection *record.Contract) {
	s.add(c.Account)
	for _, a := range [][]byte{
		c.NftItem.Collection, c.NftItem.Owner, c.NftItem.Sale, c.NftItem.Auction, c.NftItem.RealOwner,
		collection.GetNftCollection().GetOwner(),
	} {
		s.add(a)
	}
}

var nftTransfers = &Endpoint{
	Path: "/nft/transfers", Tag: nfts, Summary: "NFT transfers",
	Description: "Transfers of NFT items that match all filters, aborted ones too.",
	Params: params.Join([]params.Param{
		ownersParam, legacyOwner,
		{Name: "item_address", Kind: params.AddressKind, Multi: true, Range: "up to 1000", Description: "items"},
		{Name: "collection_address", Kind: params.AddressKind, Description: "collection"},
		tokenDirections,
	}, transferParams()),
	Result: resultOf[nftTransfersAnswer](),
	serve: func(q *request) error {
		f, err := q.transferFilter("item_address", "collection_address")
		if err != nil {
			return err
		}
		options := q.transferOptions()
		return serveTransfers(q, &transferList[*record.NFTTransfer]{
			name: "nft_transfers", keyOf: store.NFTTransferKey,
			read: func(page store.Page, after *store.TransferKey) ([]*record.NFTTransfer, bool, error) {
				return q.store.NFTTransfers(q, q.view, f, page, after)
			},
			render: func(dst []byte, t *record.NFTTransfer, book addresses) []byte {
				for _, a := range [][]byte{t.Item, t.Collection, t.OldOwner, t.NewOwner, t.ResponseDestination} {
					book.add(a)
				}
				return render.NFTTransfer(dst, t, options)
			},
			parties: func(t *record.NFTTransfer) [][]byte {
				return [][]byte{t.Collection, t.OldOwner, t.NewOwner, t.ResponseDestination}
			},
		})
	},
}

const mostSales = 1000

var (
	noSale       = params.Unprocessable("at least 1 address required")
	tooManySales = params.Unprocessable("maximum 1000 addresses allowed")
)

var nftSales = &Endpoint{
	Path: "/nft/sales", Tag: nfts, Summary: "NFT sales",
	Description: "Sales at a fixed price, auctions and items of Telegram by their addresses, in this order.",
	Params: []params.Param{
		{Name: "address", Kind: params.AddressKind, Multi: true, Required: true, Range: "1..1000", Description: "sale or auction contracts"},
	},
	Result: resultOf[nftSalesAnswer](),
	Errors: []params.Error{*noSale, *tooManySales},
	serve:  serveNFTSales,
}

func serveNFTSales(q *request) error {
	list := q.values.Addresses("address")
	switch {
	case len(list) == 0:
		return noSale
	case len(list) > mostSales:
		return tooManySales
	}
	sales, err := q.store.Sales(q, list)
	if err != nil {
		return err
	}
	items, err := q.contractsOf(sales, soldItem)
	if err != nil {
		return err
	}
	collections, err := q.collectionsOf(items)
	if err != nil {
		return err
	}
	known, book := map[store.Address]*record.Contract{}, addresses{}
	q.body = append(q.body, `{"nft_sales":[`...)
	for i, c := range sales {
		if i > 0 {
			q.body = append(q.body, ',')
		}
		item := of(items, soldItem(c))
		collection := of(collections, item.GetNftItem().GetCollection())
		book.addSale(c, item, collection)
		known[store.Address(c.Account)] = c
		q.body = render.NFTSale(q.body, c, render.NFTSaleOptions{Item: item, Collection: collection})
	}
	q.body = append(q.body, ']')
	for _, found := range []map[store.Address]*record.Contract{items, collections} {
		for a, c := range found {
			known[a] = c
		}
	}
	if err := q.bookAndMetadata(book, known, true); err != nil {
		return err
	}
	q.body = append(q.body, '}')
	return nil
}

func (q *request) collectionsOf(items map[store.Address]*record.Contract) (map[store.Address]*record.Contract, error) {
	wanted := addresses{}
	for _, c := range items {
		wanted.add(c.NftItem.GetCollection())
	}
	return q.contracts(q, wanted)
}

// soldItem is the item of a sale; an item of Telegram sells itself.
func soldItem(c *record.Contract) []byte {
	switch {
	case c.Sale != nil:
		return c.Sale.Item
	case c.Auction != nil:
		return c.Auction.Item
	}
	return c.Account
}

func (s addresses) addSale(c, item, collection *record.Contract) {
	s.add(c.Account)
	s.add(soldItem(c))
	if item.GetNftItem() != nil {
		s.addItem(item, collection)
	}
	for _, a := range [][]byte{
		c.Sale.GetOwner(), c.Sale.GetMarketplace(), c.Sale.GetFeeAddress(), c.Sale.GetRoyaltyAddress(),
		c.Auction.GetOwner(), c.Auction.GetMarketplace(), c.Auction.GetFeeAddress(), c.Auction.GetRoyaltyAddress(), c.Auction.GetLastMember(),
		c.Telemint.GetBidder(), c.Telemint.GetBeneficiary(), c.Telemint.GetRoyaltyDestination(),
	} {
		s.add(a)
	}
}

package endpoints

import (
	"maps"
	"slices"
	"strings"

	"tonscribe/query/list"
	"tonscribe/query/list/contract"
	"tonscribe/query/list/paging"
	"tonscribe/query/params"
	"tonscribe/query/render"
	"tonscribe/query/rows"
	v3 "tonscribe/query/v3"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

const nfts = "NFTs"

var (
	nftCollectionsAnswer = v3.ListOf("NftCollectionsAnswer", "nft_collections", render.NFTCollection, v3.HasBook|v3.HasMetadata|v3.HasNext)
	nftItemsAnswer       = v3.ListOf("NftItemsAnswer", "nft_items", render.NFTItem, v3.HasBook|v3.HasMetadata|v3.HasNext)
	nftTransfersAnswer   = v3.ListOf("NftTransfersAnswer", "nft_transfers", render.NFTTransfer, v3.HasBook|v3.HasMetadata|v3.HasNext)
	nftSalesAnswer       = v3.ListOf("NftSalesAnswer", "nft_sales", render.NFTSale, v3.HasBook|v3.HasMetadata)
)

var nftCollections = &v3.Endpoint{
	Path: "/nft/collections", Tag: nfts, Summary: "NFT collections",
	Description: "NFT collections that match all filters, the first indexed first.",
	Params: slices.Concat([]params.Param{
		{Name: "collection_address", Kind: params.AddressKind, Multi: true, Range: "up to 1024", Description: "collections"},
		{Name: "owner_address", Kind: params.AddressKind, Multi: true, Range: "up to 1024", Description: "owners of the collections"},
	}, params.UnsortedPageParams()),
	Result: nftCollectionsAnswer,
	Serve: func(q *v3.Request) error {
		f := &contract.NFTCollectionFilter{Addresses: q.Values.Addresses("collection_address"), Owners: q.Values.Addresses("owner_address")}
		return serveContracts(q, nftCollectionsAnswer, firstKey, v3.By(q, f, q.Store.NFTCollections))
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

var nftItems = &v3.Endpoint{
	Path: "/nft/items", Tag: nfts, Summary: "NFT items",
	Description: "NFT items that match all filters: by owner, collection and index; with a collection alone by index; else the first indexed first.",
	Params: slices.Concat([]params.Param{
		{Name: "address", Kind: params.AddressKind, Multi: true, Range: "up to 1000", Description: "items"},
		{Name: "owner_address", Kind: params.AddressKind, Multi: true, Range: "up to 1000", Description: "owners"},
		{Name: "collection_address", Kind: params.AddressKind, Multi: true, Description: "collections; more than one with exactly one owner_address"},
		{Name: "index", Kind: params.TextKind, Multi: true, Range: "up to 1000", Description: "indexes of items, with collection_address"},
		includeOnSaleParam,
		{Name: "sort_by_last_transaction_lt", Kind: params.BoolKind, Default: "false", Description: "what changed last comes first"},
	}, params.UnsortedPageParams()),
	Result: nftItemsAnswer,
	Errors: []params.Error{*digitsOnly, *oneOwnerOfItems, *indexOfNothing},
	Serve:  serveNFTItems,
}

func serveNFTItems(q *v3.Request) error {
	f := &contract.NFTItemFilter{
		Addresses: q.Values.Addresses("address"), Owners: q.Values.Addresses("owner_address"), Collections: q.Values.Addresses("collection_address"),
		OnSale: q.Values.Bool("include_on_sale"), ByLt: q.Values.Bool("sort_by_last_transaction_lt"),
	}
	beyond := false
	for _, text := range q.Values.Texts("index") {
		if strings.Trim(text, "0123456789") != "" {
			return digitsOnly
		}
		if n, ok := contract.ParseNumber(text); ok {
			f.Indexes = append(f.Indexes, n)
		} else {
			beyond = true // no item has so large a number
		}
	}
	if len(f.Collections) > 1 && len(f.Owners) != 1 {
		return oneOwnerOfItems
	}
	if len(q.Values.Texts("index")) > 0 && len(f.Collections) == 0 {
		return indexOfNothing
	}
	var collections map[address.Address]*record.Contract
	return v3.ServePage(q, nftItemsAnswer, &v3.Page[*record.Contract, render.ItemRow, contract.Key]{
		KeyOf: f.KeyOf,
		Read: func(page paging.Page, after *contract.Key) ([]*record.Contract, bool, error) {
			if beyond && len(f.Indexes) == 0 {
				return nil, false, nil
			}
			return q.Store.NFTItems(q, f, page, after)
		},
		Beside: func(list []*record.Contract) (err error) {
			collections, err = q.ContractsOf(q, list, func(c *record.Contract) []byte { return c.NftItem.Collection })
			return err
		},
		Row: func(c *record.Contract) render.ItemRow {
			return render.ItemRow{Contract: c, Collection: rows.ContractAt(collections, c.NftItem.Collection)}
		},
	})
}

var nftTransfers = &v3.Endpoint{
	Path: "/nft/transfers", Tag: nfts, Summary: "NFT transfers",
	Description: "Transfers of NFT items that match all filters, aborted ones too.",
	Params: slices.Concat([]params.Param{
		ownersParam, legacyOwner,
		{Name: "item_address", Kind: params.AddressKind, Multi: true, Range: "up to 1000", Description: "items"},
		{Name: "collection_address", Kind: params.AddressKind, Description: "collection"},
		tokenDirections,
	}, transferParams()),
	Result: nftTransfersAnswer,
	Serve: func(q *v3.Request) error {
		return serveTransfers(q, nftTransfersAnswer, list.NFTTransferKey, func(t *record.NFTTransfer, traced render.Traced) render.NFTTransferRow {
			return render.NFTTransferRow{NFTTransfer: t, Traced: traced}
		}, v3.InView(q, transferFilter(q, "item_address", "collection_address"), q.Store.NFTTransfers))
	},
}

const maxSales = 1000

var (
	noSale       = params.Unprocessable("at least 1 address required")
	tooManySales = params.Unprocessable("maximum 1000 addresses allowed")
)

var nftSales = &v3.Endpoint{
	Path: "/nft/sales", Tag: nfts, Summary: "NFT sales",
	Description: "Sales at a fixed price, auctions and items of Telegram by their addresses, in this order.",
	Params: []params.Param{
		{Name: "address", Kind: params.AddressKind, Multi: true, Required: true, Range: "1..1000", TooMany: tooManySales, Description: "sale or auction contracts"},
	},
	Result: nftSalesAnswer,
	Errors: []params.Error{*noSale, *tooManySales},
	Serve:  serveNFTSales,
}

func serveNFTSales(q *v3.Request) error {
	list := q.Values.Addresses("address")
	switch {
	case len(list) == 0:
		return noSale
	case len(list) > maxSales:
		return tooManySales
	}
	sales, err := q.Store.Sales(q, list)
	if err != nil {
		return err
	}
	items, err := q.ContractsOf(q, sales, render.SoldItem)
	if err != nil {
		return err
	}
	collections, err := q.ContractsOf(q, slices.Collect(maps.Values(items)), func(c *record.Contract) []byte { return c.NftItem.GetCollection() })
	if err != nil {
		return err
	}
	known := rows.ByAccount(sales)
	maps.Copy(known, items)
	maps.Copy(known, collections)
	return v3.ServeRows(q, nftSalesAnswer, 0, sales, known, func(c *record.Contract) render.SaleRow {
		item := rows.ContractAt(items, render.SoldItem(c))
		return render.SaleRow{Contract: c, Item: item, Collection: rows.ContractAt(collections, item.GetNftItem().GetCollection())}
	})
}

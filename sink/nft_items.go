package sink

import (
	"math/big"

	"tonscribe/schema"
)

// nftItems has NFT items, confirmed by their collections.
var nftItems = table[*contract]{
	name: "nft_items",
	each: isOrWas(schema.RoleNFTItem),
	columns: columnsOf(contractKey(), activeColumn(), []column[*contract]{
		col("init", func(c *contract) bool { return c.NftItem.GetInit() }),
		col("item_index", func(c *contract) *big.Int { return number(c.NftItem.GetIndex()) }),
	},
		partyColumns("collection", func(c *contract) party { return partyOf(c.NftItem.GetCollection()) }),
		partyColumns("owner", func(c *contract) party { return partyOf(c.NftItem.GetOwner()) }),
		partyColumns("seller", func(c *contract) party { return partyOf(c.NftItem.GetRealOwner()) })),
}

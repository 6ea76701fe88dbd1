package sink

import (
	"math/big"

	"tonscribe/schema"
)

// nftCollections has NFT collections.
var nftCollections = table[*contract]{
	name: "nft_collections",
	each: isOrWas(schema.RoleNFTCollection),
	columns: columnsOf(contractKey(), activeColumn(),
		partyColumns("owner", func(c *contract) party { return partyOf(c.NftCollection.GetOwner()) }),
		[]column[*contract]{
			col("next_item_index", func(c *contract) *big.Int { return number(c.NftCollection.GetNextItemIndex()) }),
			col("unordered", func(c *contract) bool { return c.NftCollection.GetUnordered() }),
			col("name", func(c *contract) string { return attribute(c.NftCollection.GetContent(), "name") }),
			col("uri", func(c *contract) string { return attribute(c.NftCollection.GetContent(), "uri") }),
		}),
}

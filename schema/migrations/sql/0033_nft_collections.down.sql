{{drop "nft_collections"}}

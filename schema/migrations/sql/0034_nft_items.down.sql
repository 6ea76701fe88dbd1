{{drop "nft_items"}}

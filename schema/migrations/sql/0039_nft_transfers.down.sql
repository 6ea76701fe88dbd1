{{drop "nft_transfers"}}

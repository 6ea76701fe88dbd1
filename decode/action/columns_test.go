package action_test

func init() {
	addColumns("ton_transfer", "ton_transfer_data.content", "comment")
	addColumns("jetton_transfer", "source", "sender", "source_secondary", "sender_jetton_wallet",
		"destination", "receiver", "destination_secondary", "receiver_jetton_wallet")
	addColumns("jetton_burn", "source", "owner", "source_secondary", "owner_jetton_wallet")
	addColumns("jetton_mint", "destination", "receiver", "destination_secondary", "receiver_jetton_wallet", "value", "ton_amount")
	addColumns("nft_mint", "source", "owner", "destination", "nft_item", "asset_secondary", "nft_item", "asset", "nft_collection")
	for _, t := range []string{"nft_transfer", "nft_purchase"} {
		addColumns(t, "source", "old_owner", "destination", "new_owner", "asset_secondary", "nft_item", "asset", "nft_collection",
			"nft_transfer_data.real_prev_owner", "real_old_owner")
	}
}

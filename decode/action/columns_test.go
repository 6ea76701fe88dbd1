package action_test

func init() {
	addColumns("ton_transfer", "ton_transfer_data.content", "comment")
	addColumns("jetton_transfer", "source", "sender", "source_secondary", "sender_jetton_wallet",
		"destination", "receiver", "destination_secondary", "receiver_jetton_wallet")
	addColumns("jetton_burn", "source", "owner", "source_secondary", "owner_jetton_wallet")
	addColumns("jetton_mint", "destination", "receiver", "destination_secondary", "receiver_jetton_wallet", "value", "ton_amount")
}

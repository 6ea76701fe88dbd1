package action_test

func init() {
	addColumns("jetton_swap", "asset", "asset_in", "asset2", "asset_out", "source", "dex_incoming_transfer.source",
		"source_secondary", "dex_incoming_transfer.source_jetton_wallet", "destination", "dex_outgoing_transfer.destination")
	without["jetton_swap"] = []string{"destination_secondary"}

	addColumns("dex_deposit_liquidity", "destination", "pool",
		"dex_deposit_liquidity_data.asset1", "asset_1", "dex_deposit_liquidity_data.asset2", "asset_2",
		"dex_deposit_liquidity_data.amount1", "amount_1", "dex_deposit_liquidity_data.amount2", "amount_2",
		"destination_secondary", "destination_liquidity")
	addColumns("dex_withdraw_liquidity", "destination", "pool",
		"dex_withdraw_liquidity_data.asset1_out", "asset_1", "dex_withdraw_liquidity_data.asset2_out", "asset_2",
		"dex_withdraw_liquidity_data.amount1", "amount_1", "dex_withdraw_liquidity_data.amount2", "amount_2",
		"dex_withdraw_liquidity_data.burned_nft_index", "burnt_nft_index", "dex_withdraw_liquidity_data.burned_nft_address", "burnt_nft_address")
	without["dex_withdraw_liquidity"] = []string{"source_secondary", "asset", "dex_withdraw_liquidity_data.is_refund",
		"dex_withdraw_liquidity_data.dex_wallet_1", "dex_withdraw_liquidity_data.dex_jetton_wallet_1",
		"dex_withdraw_liquidity_data.dex_wallet_2", "dex_withdraw_liquidity_data.dex_jetton_wallet_2"}

	addColumns("tonco_deploy_pool", "destination", "router", "destination_secondary", "pool",
		"tonco_deploy_pool_data.jetton0_router_wallet", "router_jetton_wallet_1", "tonco_deploy_pool_data.jetton1_router_wallet", "router_jetton_wallet_2",
		"tonco_deploy_pool_data.jetton0_minter", "jetton_minter_1", "tonco_deploy_pool_data.jetton1_minter", "jetton_minter_2")

	addColumns("coffee_create_vault", "destination", "vault")
	addColumns("coffee_create_pool_creator", "source_secondary", "source_jetton_wallet", "destination", "deposit_recipient",
		"destination_secondary", "pool_creator_contract", "asset", "provided_asset", "asset2", "asset_2")
	without["coffee_create_pool_creator"] = []string{"asset2_secondary"}
	addColumns("coffee_create_pool", "source_secondary", "source_jetton_wallet", "destination", "pool", "asset", "asset_1", "asset2", "asset_2")
	addColumns("coffee_mev_protect_hold_funds", "source_secondary", "source_jetton_wallet", "destination", "mev_contract",
		"destination_secondary", "mev_contract_jetton_wallet")
	for _, t := range []string{"coffee_staking_deposit", "coffee_staking_withdraw"} {
		addColumns(t, "source_secondary", "source_jetton_wallet", "destination", "pool", "destination_secondary", "pool_jetton_wallet")
	}
	addColumns("coffee_staking_claim_rewards", "source", "pool", "source_secondary", "pool_jetton_wallet", "destination", "recipient",
		"destination_secondary", "recipient_jetton_wallet")

	// destination_liquidity is the depository at DeDust, the pool elsewhere.
	untrue["Coffee deposit liquidity TON + CES"] = []string{"destination_secondary"}
	// It has the amount of each of the two assets with the other one: the wallets
	// were told to transfer 100000 of 0:B113A9… and 100000000 of 0:F6EB37….
	untrue["Coffee withdraw liquidity (jetton - jetton)"] = []string{
		"dex_withdraw_liquidity_data.asset1_out", "dex_withdraw_liquidity_data.user_jetton_wallet_1",
		"dex_withdraw_liquidity_data.asset2_out", "dex_withdraw_liquidity_data.user_jetton_wallet_2"}
}

package action_test

func init() {
	addColumns("stake_deposit", "source", "stake_holder", "destination", "pool")
	addColumns("stake_withdrawal", "source", "stake_holder", "destination", "pool", "staking_data.ts_nft", "payout_nft")
	addColumns("stake_withdrawal_request", "source", "stake_holder", "destination", "pool", "amount", "tokens_burnt", "staking_data.ts_nft", "payout_nft")
	without["stake_withdrawal_request"] = []string{"source_secondary"}
	addColumns("vesting_send_message", "destination", "vesting", "destination_secondary", "destination")
	addColumns("vesting_add_whitelist", "destination", "vesting")
	addColumns("evaa_supply", "source_secondary", "source_wallet", "destination", "recipient", "destination_secondary", "recipient_contract")
	addColumns("evaa_withdraw", "destination", "recipient", "destination_secondary", "owner_contract")
	without["evaa_withdraw"] = []string{"evaa_withdraw_data.is_ton"}
	addColumns("jvault_stake", "source_secondary", "source_jetton_wallet", "destination", "pool")
	for _, t := range []string{"jvault_unstake", "jvault_unstake_request"} {
		addColumns(t, "source_secondary", "stake_wallet", "destination", "pool", "opcode", "exit_code", "asset2", "staking_asset")
	}
	addColumns("jvault_claim", "source_secondary", "stake_wallet", "destination", "pool",
		"jvault_claim_data.claimed_jettons[0]", "claimed_rewards[0].jetton", "jvault_claim_data.claimed_amounts[0]", "claimed_rewards[0].amount")
	addColumns("tgbtc_mint", "asset_secondary", "bitcoin_tx_id", "destination_secondary", "destination_wallet")
	without["tgbtc_mint"] = []string{"source_secondary"} // who sent the log
	for _, t := range []string{"tgbtc_burn", "tgbtc_burn_fallback"} {
		addColumns(t, "source_secondary", "source_wallet")
	}
	addColumns("tgbtc_new_key", "source_secondary", "pubkey", "destination", "coordinator", "destination_secondary", "pegout")
	without["tgbtc_new_key"] = []string{"value"} // when the key was made
	addColumns("tgbtc_dkg_log_fallback", "source", "coordinator", "asset", "pubkey", "value", "timestamp")
	addColumns("layerzero_send", "source", "initiator")
	addColumns("layerzero_send_tokens", "source", "sender", "source_secondary", "sender_wallet", "destination", "oapp", "destination_secondary", "oapp_wallet")
	addColumns("layerzero_receive", "source", "sender", "destination", "oapp", "destination_secondary", "channel")
	addColumns("layerzero_commit_packet", "source", "sender", "source_secondary", "endpoint", "destination", "uln", "destination_secondary", "uln_connection",
		"asset", "channel", "asset_secondary", "msglib_connection")
	addColumns("layerzero_dvn_verify", "source", "initiator")
	// The worker, and who gets the excesses or is asked.
	for _, t := range []string{"cocoon_worker_payout", "cocoon_grant_refund"} {
		without[t] = []string{"source_secondary"}
	}
	for _, t := range []string{"cocoon_proxy_payout", "cocoon_client_top_up"} {
		without[t] = []string{"destination_secondary"}
	}
	without["cocoon_proxy_charge"] = []string{"amount"} // always zero
}

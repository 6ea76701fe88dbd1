{{codecs "blocks" "ZSTD(1)" "workchain shard key_block global_id" "Delta, ZSTD(1)" "mc_seqno seqno gen_utime start_lt end_lt" "T64, ZSTD(1)" "tx_count"}};
{{codecs "transactions" "ZSTD(1)" "workchain account shard type orig_status end_status aborted compute_skipped exit_code result_code in_msg_kind in_msg_opcode out_msg_count" "Delta, ZSTD(1)" "account_prefix lt now mc_seqno block_seqno" "T64, ZSTD(1)" "gas_used total_fees storage_fees in_msg_value"}};
{{codecs "transaction_traces" "ZSTD(1)" "workchain trace_prefix" "Delta, ZSTD(1)" "account_prefix lt account_rest" "T64, ZSTD(1)" "later"}};
{{codecs "traces" "ZSTD(1)" "state replaced" "Delta, ZSTD(1)" "trace_prefix" "T64, ZSTD(1)" "end_lt end_utime nodes"}};
{{codecs "actions" "ZSTD(1)" "number type success ancestors protocol asset asset_out nft_collection pool amount amount_out" "Delta, ZSTD(1)" "trace_prefix" "T64, ZSTD(1)" "trace_end_lt mc_seqno end_utime"}};
{{codecs "action_times" "ZSTD(1)" "type protocol success whole asset asset_out amount amount_out" "Delta, ZSTD(1)" "end_utime start_lt"}};
{{codecs "accounts" "ZSTD(1)" "workchain status code_hash" "Delta, ZSTD(1)" "account_prefix" "T64, ZSTD(1)" "mc_seqno now balance"}};
{{codecs "accounts_by_balance" "ZSTD(1)" "workchain gone" "Delta, ZSTD(1)" "account_prefix" "T64, ZSTD(1)" "balance"}};
{{codecs "contracts" "ZSTD(1)" "workchain roles interfaces" "Delta, ZSTD(1)" "account_prefix" "T64, ZSTD(1)" "first_mc_seqno lt"}};
{{codecs "past_contracts" "ZSTD(1)" "workchain" "Delta, ZSTD(1)" "account_prefix" "T64, ZSTD(1)" "mc_seqno"}};
{{codecs "contract_links" "ZSTD(1)" "role key_workchain first_mc_seqno workchain account_prefix" "Delta, ZSTD(1)" "key_prefix"}};
{{codecs "transfers_by_party" "ZSTD(1)" "workchain account_prefix" "Delta, ZSTD(1)" "list lt transaction_mc_seqno now"}};
{{codecs "jetton_masters" "ZSTD(1)" "workchain active total_supply mintable admin_workchain admin_prefix admin wallet_code_hash mintless_root" "Delta, ZSTD(1)" "account_prefix" "T64, ZSTD(1)" "first_mc_seqno lt"}};
{{codecs "jetton_wallets" "ZSTD(1)" "workchain active master_workchain master_prefix master owner_workchain owner_prefix owner balance" "Delta, ZSTD(1)" "account_prefix" "T64, ZSTD(1)" "first_mc_seqno lt"}};
{{codecs "jetton_transfers" "ZSTD(1)" "workchain account_prefix aborted delivery master_workchain master_prefix master source destination amount" "Delta, ZSTD(1)" "lt transaction_mc_seqno now"}};
{{codecs "jetton_burns" "ZSTD(1)" "workchain account_prefix aborted delivery master_workchain master_prefix master owner_workchain owner_prefix owner amount" "Delta, ZSTD(1)" "lt transaction_mc_seqno now"}};
{{codecs "nft_collections" "ZSTD(1)" "workchain active owner_workchain owner_prefix owner next_item_index unordered" "Delta, ZSTD(1)" "account_prefix" "T64, ZSTD(1)" "first_mc_seqno lt"}};
{{codecs "nft_items" "ZSTD(1)" "workchain active init item_index collection_workchain collection_prefix collection owner_workchain owner_prefix owner seller_workchain seller_prefix seller" "Delta, ZSTD(1)" "account_prefix" "T64, ZSTD(1)" "first_mc_seqno lt"}};
{{codecs "nft_transfers" "ZSTD(1)" "workchain account_prefix aborted collection_workchain collection_prefix collection old_owner_workchain old_owner_prefix old_owner new_owner_workchain new_owner_prefix new_owner" "Delta, ZSTD(1)" "lt transaction_mc_seqno now"}}

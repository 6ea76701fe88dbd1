-- Numbers beside the records: blocks of them are some hundred bytes, for which ZSTD takes longer to
-- begin than to compress, and which it makes hardly smaller than LZ4 does. Parts that are
-- there have the new codecs once they are merged. Columns that an engine chooses rows by cannot be changed.
{{codecs "blocks" "LZ4" "workchain shard key_block global_id" "Delta, LZ4" "mc_seqno seqno gen_utime start_lt end_lt" "T64, LZ4" "tx_count"}};
{{codecs "transactions" "LZ4" "workchain account shard type orig_status end_status aborted compute_skipped exit_code result_code in_msg_kind in_msg_opcode out_msg_count" "Delta, LZ4" "account_prefix lt now mc_seqno block_seqno" "T64, LZ4" "gas_used total_fees storage_fees in_msg_value"}};
{{codecs "transaction_traces" "LZ4" "workchain trace_prefix" "Delta, LZ4" "account_prefix lt account_rest" "T64, LZ4" "later"}};
{{codecs "traces" "LZ4" "state replaced" "Delta, LZ4" "trace_prefix" "T64, LZ4" "end_lt end_utime nodes"}};
{{codecs "actions" "LZ4" "number type success ancestors protocol asset asset_out nft_collection pool amount amount_out" "Delta, LZ4" "trace_prefix" "T64, LZ4" "trace_end_lt mc_seqno end_utime"}};
{{codecs "action_times" "LZ4" "type protocol success whole asset asset_out amount amount_out" "Delta, LZ4" "end_utime start_lt"}};
{{codecs "accounts" "LZ4" "workchain status code_hash" "Delta, LZ4" "account_prefix" "T64, LZ4" "mc_seqno now balance"}};
{{codecs "accounts_by_balance" "LZ4" "workchain gone" "Delta, LZ4" "account_prefix" "T64, LZ4" "balance"}};
{{codecs "contracts" "LZ4" "workchain roles interfaces" "Delta, LZ4" "account_prefix" "T64, LZ4" "first_mc_seqno lt"}};
{{codecs "past_contracts" "LZ4" "workchain" "Delta, LZ4" "account_prefix" "T64, LZ4" "mc_seqno"}};
{{codecs "contract_links" "LZ4" "role key_workchain first_mc_seqno workchain account_prefix" "Delta, LZ4" "key_prefix"}};
{{codecs "transfers_by_party" "LZ4" "workchain account_prefix" "Delta, LZ4" "list lt transaction_mc_seqno now"}};
{{codecs "jetton_masters" "LZ4" "workchain active total_supply mintable admin_workchain admin_prefix admin wallet_code_hash mintless_root" "Delta, LZ4" "account_prefix" "T64, LZ4" "first_mc_seqno lt"}};
{{codecs "jetton_wallets" "LZ4" "workchain active master_workchain master_prefix master owner_workchain owner_prefix owner balance" "Delta, LZ4" "account_prefix" "T64, LZ4" "first_mc_seqno lt"}};
{{codecs "jetton_transfers" "LZ4" "workchain account_prefix aborted delivery master_workchain master_prefix master source destination amount" "Delta, LZ4" "lt transaction_mc_seqno now"}};
{{codecs "jetton_burns" "LZ4" "workchain account_prefix aborted delivery master_workchain master_prefix master owner_workchain owner_prefix owner amount" "Delta, LZ4" "lt transaction_mc_seqno now"}};
{{codecs "nft_collections" "LZ4" "workchain active owner_workchain owner_prefix owner next_item_index unordered" "Delta, LZ4" "account_prefix" "T64, LZ4" "first_mc_seqno lt"}};
{{codecs "nft_items" "LZ4" "workchain active init item_index collection_workchain collection_prefix collection owner_workchain owner_prefix owner seller_workchain seller_prefix seller" "Delta, LZ4" "account_prefix" "T64, LZ4" "first_mc_seqno lt"}};
{{codecs "nft_transfers" "LZ4" "workchain account_prefix aborted collection_workchain collection_prefix collection old_owner_workchain old_owner_prefix old_owner new_owner_workchain new_owner_prefix new_owner" "Delta, LZ4" "lt transaction_mc_seqno now"}}

package main

// analystTables are the tables that docs/analytics.md names: what the user reader
// of the embedded engine sees.
var analystTables = []string{
	"accounts",
	"blocks",
	"codes",
	"contracts",
	"jetton_burns",
	"jetton_masters",
	"jetton_transfers",
	"jetton_wallets",
	"messages_by_account",
	"messages_index",
	"metadata",
	"nft_collections",
	"nft_items",
	"nft_transfers",
	"progress",
	"stats_balances",
	"stats_days",
	"stats_jetton_days",
	"stats_jetton_totals",
	"stats_jettons",
	"stats_touched",
	"transactions",
	"transactions_index",
	"transfers_by_party",
}

package contract

import (
	"slices"
	"strings"

	"tonscribe/ton/code"
)

// detector reads one kind of facts. It applies to codes that have all of its
// methods, or, where hashes are given as well, to those.
type detector struct {
	methods []string
	// only reports whether the code's hash must be among hashes.
	only   bool
	hashes []code.Hash
	read   func(*probe)
}

// detectors in the order in which they run, which is part of what they cost.
var detectors = []detector{
	{methods: words("get_wallet_data"), read: jettonWallet},
	{methods: words("get_jetton_data"), read: jettonMaster},
	{methods: words("get_nft_data"), read: nftItem},
	{methods: words("get_collection_data"), read: nftCollection},
	{methods: words("get_sale_data"), read: sale},
	{methods: words("get_fix_price_data_v4"), read: saleV4},
	{methods: words("get_auction_data_v4"), read: auctionV4},
	{methods: words("get_multisig_data"), read: multisig},
	{methods: words("get_order_data"), read: multisigOrder},
	{methods: words("get_vesting_data get_whitelist get_locked_amount"), read: vesting,
		hashes: []code.Hash{code.Build("wallet_vesting")}},
	{methods: words("get_pool_data list_nominators get_nominator_data"), read: nominatorPool,
		hashes: codes("mj7BS8CY9rRAZMMFIiyuooAPF92oXuaoGYpwle3hDc8=")},
	{methods: words("get_assets is_stable get_reserves"), read: dedustPool, only: true, hashes: codes(
		"1275095b6da3911292406f4f4386f9e780099b854c6dee9ee2895ddce70927c1",
		"778f0d3fe6482c50888970df5e787f40f3a4ab282170c035a5920877058c99d3",
		"c0f9d14fbc8e14f0d72cba2214165eee35836ab174130912baf9dbfa43ead562")},
	{methods: words("get_pool_data get_lp_account_address get_expected_outputs"), read: stonfiPool},
	{methods: words("get_pool_data get_lp_account_address get_pool_type"), read: stonfiPool},
}

func (d *detector) applies(c *Code) bool {
	if slices.Contains(d.hashes, c.Hash) {
		return true
	}
	return !d.only && code.HasMethods(c.Methods, d.methods...)
}

func codes(texts ...string) (hashes []code.Hash) {
	for _, text := range texts {
		hashes = append(hashes, code.MustHash(text))
	}
	return hashes
}

func words(text string) []string { return strings.Fields(text) }

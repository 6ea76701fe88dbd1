package bench

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"tonscribe/bench/synthetic"
)

// asksOf is a path about so many accounts of all kinds.
func asksOf(path string, n int) func(*keyring) string {
	return func(k *keyring) string {
		list := k.States[k.next("states", len(k.States))]
		return path + "?" + url.Values{"address": list[:min(n, len(list))]}.Encode()
	}
}

// asksEach is a path about so many keys of a kind.
func asksEach(path, kind string, n int) func(*keyring) string {
	return asks(path + "?" + strings.Join(slices.Repeat([]string{"address={" + kind + "}"}, n), "&"))
}

func accountQueries(k *synthetic.Keys) []query {
	const ranking = "/topAccountsByBalance?limit=100"
	top, deep := min(10_000, k.N/20), min(400_000, k.Accounts*6/10)
	return []query{
		{"accountStates 1", "accounts", 1, asksOf("/accountStates", 1)},
		{"accountStates 100", "accounts", 100, asksOf("/accountStates", 100)},
		{"walletStates 1", "wallets", 1, asksOf("/walletStates", 1)},
		{"walletStates 100", "wallets", 100, asksOf("/walletStates", 100)},
		{"addressBook 1", "{", 1, asksOf("/addressBook", 1)},
		{"addressBook 100", "{", 100, asksOf("/addressBook", 100)},
		{"metadata item", "{", 1, asksEach("/metadata", "item", 1)},
		{"metadata 100 items", "{", min(100, len(k.Item)), asksEach("/metadata", "item", min(100, len(k.Item)))},
		{"metadata jetton wallet", "{", 2, asksEach("/metadata", "wallet", 1)},
		{"addressInformation", "", 0, asksOf("/addressInformation", 1)},
		{"walletInformation", "", 0, asks("/walletInformation?address={ordinary}")},
		{"topAccountsByBalance l100 o0", "[", 100, asks(ranking)},
		{fmt.Sprintf("topAccountsByBalance l100 o%d", top), "[", 100, asksFrom(ranking+"&offset=", "top", max(0, top-steps), steps)},
		{fmt.Sprintf("topAccountsByBalance l100 cursor %d", deep), "[", 1, func(k *keyring) string { return k.follow(ranking, deep) }},
	}
}

func jettonQueries(k *synthetic.Keys) []query {
	const wallets, transfers, burns = "/jetton/wallets?limit=100&", "/jetton/transfers?limit=20&", "/jetton/burns?limit=20&"
	deep, holders := k.Holders*8/10, "/jetton/wallets?limit=100&jetton_address="+url.QueryEscape(k.Jetton)
	offset := min(deep, 90_000) // below the deepest that is allowed
	ofJetton := "/jetton/transfers?limit=20&jetton_master=" + url.QueryEscape(k.Jetton)
	smallHolders := min(100, k.N/40/len(k.JettonSmall))
	return []query{
		{"jetton/masters l100", "jetton_masters", 100, asks("/jetton/masters?limit=100")},
		{"jetton/masters address", "jetton_masters", 1, asks("/jetton/masters?address={small}")},
		{"jetton/masters admin", "jetton_masters", 1, asks("/jetton/masters?admin_address={popular}")},

		{"jetton/wallets big sorted l100 o0", "jetton_wallets", min(100, k.Holders), asks(holders + "&sort=desc")},
		{fmt.Sprintf("jetton/wallets big sorted l100 o%d", offset), "jetton_wallets", min(100, k.Holders-offset-2000), asksFrom(holders+"&sort=desc&offset=", "holders", offset, 2000)},
		{fmt.Sprintf("jetton/wallets big sorted l100 cursor %d", deep), "jetton_wallets", 1, func(k *keyring) string { return k.follow(holders+"&sort=desc", deep) }},
		{"jetton/wallets big l100 o0", "jetton_wallets", min(100, k.Holders), asks(holders)},
		{fmt.Sprintf("jetton/wallets big l100 cursor %d", deep), "jetton_wallets", 1, func(k *keyring) string { return k.follow(holders, deep) }},
		{"jetton/wallets small sorted l100", "jetton_wallets", smallHolders, asks(wallets + "sort=desc&jetton_address={small}")},
		{"jetton/wallets owner popular l100", "jetton_wallets", 100, asks(wallets + "owner_address={popular}")},
		{"jetton/wallets owner popular sorted l100", "jetton_wallets", 100, asks(wallets + "sort=desc&owner_address={popular}")},
		{"jetton/wallets owner ordinary", "jetton_wallets", 1, asks(wallets + "owner_address={owner}")},
		{"jetton/wallets owner and jetton", "jetton_wallets", 1, asks(wallets + "owner_address={popular}&jetton_address={small}")},
		{"jetton/wallets address", "jetton_wallets", 1, asks(wallets + "address={wallet}")},
		{"jetton/wallets all sorted l100", "jetton_wallets", 100, asks(wallets + "sort=desc")},

		{"jetton/transfers owner popular l20", "jetton_transfers", 20, asks(transfers + "owner_address={popular}")},
		{"jetton/transfers owner ordinary l20", "jetton_transfers", 1, asks(transfers + "owner_address={owner}")},
		{"jetton/transfers owner popular in l20", "jetton_transfers", 20, asks(transfers + "direction=in&owner_address={popular}")},
		{"jetton/transfers owner popular time l20", "jetton_transfers", 20, func(k *keyring) string {
			return asks(transfers+"owner_address={popular}&end_utime=")(k) + strconv.Itoa(int(k.utime)-k.step("owner time"))
		}},
		{"jetton/transfers owner and master l20", "jetton_transfers", 1, asks(transfers + "owner_address={popular}&jetton_master={small}")},
		{"jetton/transfers master popular l20", "jetton_transfers", 20, asks(ofJetton)},
		{"jetton/transfers master popular cursor l20", "jetton_transfers", 20, func(k *keyring) string { return k.follow(ofJetton, 1000) }},
		{"jetton/transfers master ordinary l20", "jetton_transfers", 10, asks(transfers + "jetton_master={small}")},
		{"jetton/transfers wallet ordinary l20", "jetton_transfers", 1, asks(transfers + "jetton_wallet={wallet}")},
		{"jetton/transfers latest l20", "jetton_transfers", 20, asks("/jetton/transfers?limit=20")},

		{"jetton/burns owner popular l20", "jetton_burns", 5, asks(burns + "owner_address={popular}")},
		{"jetton/burns owner ordinary l20", "jetton_burns", 1, asks(burns + "owner_address={burner}")},
		{"jetton/burns master popular l20", "jetton_burns", 20, asks(burns + "jetton_master={jetton}")},
		{"jetton/burns latest l20", "jetton_burns", 20, asks("/jetton/burns?limit=20")},
	}
}

func nftQueries(k *synthetic.Keys) []query {
	const items, transfers = "/nft/items?limit=20&", "/nft/transfers?limit=20&"
	first := items + "collection_address=" + url.QueryEscape(k.Collection[0])
	middle := k.Items / len(k.Collection) / 2
	return []query{
		{"nft/collections l50", "nft_collections", len(k.Collection), asks("/nft/collections?limit=50")},
		{"nft/collections address", "nft_collections", 1, asks("/nft/collections?collection_address={collection}")},
		{"nft/items owner popular l20", "nft_items", 20, asks(items + "owner_address={popular}")},
		{"nft/items owner popular sorted l20", "nft_items", 20, asks(items + "sort_by_last_transaction_lt=true&owner_address={popular}")},
		{"nft/items owner ordinary l20", "nft_items", 1, asks(items + "owner_address={item owner}")},
		{"nft/items seller popular l20", "nft_items", 20, asks(items + "include_on_sale=true&owner_address={popular}")},
		{"nft/items collection l20", "nft_items", 20, asks(items + "collection_address={collection}")},
		{fmt.Sprintf("nft/items collection l20 cursor %d", middle), "nft_items", 1, func(k *keyring) string { return k.follow(first, middle) }},
		{"nft/items collection sorted l20", "nft_items", 20, asks(items + "sort_by_last_transaction_lt=true&collection_address={collection}")},
		{"nft/items collection index", "nft_items", 1, asksFrom(items+"collection_address={collection}&index=", "index", 0, max(1, k.Items/len(k.Collection)))},
		{"nft/items address", "nft_items", 1, asks(items + "address={item}")},
		{"nft/items latest l20", "nft_items", 20, asks("/nft/items?limit=20&sort_by_last_transaction_lt=true")},

		{"nft/transfers owner popular l20", "nft_transfers", 20, asks(transfers + "owner_address={popular}")},
		{"nft/transfers owner ordinary l20", "nft_transfers", 0, asks(transfers + "owner_address={item owner}")},
		{"nft/transfers collection l20", "nft_transfers", 20, asks(transfers + "collection_address={collection}")},
		{"nft/transfers item l20", "nft_transfers", 1, asks(transfers + "item_address={item}")},
		{"nft/transfers latest l20", "nft_transfers", 20, asks("/nft/transfers?limit=20")},

		{"nft/sales 1", "nft_sales", 1, asksEach("/nft/sales", "sale", 1)},
		{"nft/sales 20", "nft_sales", 20, asksEach("/nft/sales", "sale", 20)},
	}
}

func contractQueries(k *synthetic.Keys) []query {
	popular := url.QueryEscape(k.Multisig[0])
	return []query{
		{"dns/records domain", "records", 1, asks("/dns/records?domain={domain}")},
		{"dns/records wallet popular l20", "records", 1, asks("/dns/records?limit=20&wallet={popular}")},
		{"dns/records wallet ordinary", "records", 1, asks("/dns/records?wallet={domain owner}")},
		{"dns/records all l100", "records", min(100, k.Items/len(k.Collection)), asks("/dns/records?limit=100")},

		{"multisig/wallets address", "multisigs", 1, asks("/multisig/wallets?address={multisig}")},
		{"multisig/wallets signer popular l20", "multisigs", 5, asks("/multisig/wallets?limit=20&include_orders=false&wallet_address={popular}")},
		{"multisig/wallets signer ordinary", "multisigs", 1, asks("/multisig/wallets?limit=20&wallet_address={signer}")},
		{"multisig/orders address", "orders", 1, asks("/multisig/orders?address={order}")},
		{"multisig/orders multisig popular l100", "orders", min(100, len(k.Multisig)*8/10), asks("/multisig/orders?limit=100&multisig_address=" + popular)},
		{"multisig/orders multisig ordinary", "orders", 1, asks("/multisig/orders?limit=20&multisig_address={multisig}")},

		{"vesting address", "vesting_contracts", 1, asks("/vesting?contract_address={vesting}")},
		{"vesting wallet popular", "vesting_contracts", 1, asks("/vesting?limit=20&check_whitelist=true&wallet_address={popular}")},
		{"vesting wallet ordinary", "vesting_contracts", 1, asks("/vesting?limit=20&wallet_address={vesting owner}")},
	}
}

func statsQueries() []query {
	return []query{
		{"stats/transactions", "days", 1, asks("/stats/transactions?limit=100")},
		{"stats/fees", "days", 1, asks("/stats/fees?limit=100")},
		{"stats/accountsByBalance", "balances", 5, asks("/stats/accountsByBalance")},
		{"stats/jettons by holders l100", "jettons", 100, asks("/stats/jettons?limit=100")},
		{"stats/jettons by transfers l100", "jettons", 100, asks("/stats/jettons?limit=100&by=transfers&days=365")},
	}
}

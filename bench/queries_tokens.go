package bench

import (
	"fmt"
	"net/url"
	"strings"

	"tonscribe/bench/synthetic"
)

// Keys of accounts, tokens and other contracts.
func (k *keyring) jetton() string { return url.QueryEscape(k.Jetton) }
func (k *keyring) small() string  { return k.pick("small", k.JettonSmall) }
func (k *keyring) owner() string  { return k.pick("owner", k.Owner) }

func (k *keyring) collection() string { return k.pick("collection", k.Collection) }

// several is a parameter so many times, each with another key.
func (k *keyring) several(name, kind string, list []string, n int) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = name + "=" + k.pick(kind, list)
	}
	return strings.Join(parts, "&")
}

// accounts is the parameter address for accounts of all kinds.
func (k *keyring) accounts(n int) string {
	list := k.States[k.next("states", len(k.States))]
	parts := make([]string, min(n, len(list)))
	for i := range parts {
		parts[i] = "address=" + url.QueryEscape(list[i])
	}
	return strings.Join(parts, "&")
}

// always is a path without keys.
func always(path string) func(*keyring) string { return func(*keyring) string { return path } }

func accountQueries(k *synthetic.Keys) []query {
	const ranking = "/topAccountsByBalance?limit=100"
	top, deep := min(10_000, k.N/20), min(400_000, k.Accounts*6/10)
	return []query{
		{"accountStates 1", "accounts", 1, func(k *keyring) string { return "/accountStates?" + k.accounts(1) }},
		{"accountStates 100", "accounts", 100, func(k *keyring) string { return "/accountStates?" + k.accounts(100) }},
		{"walletStates 1", "wallets", 1, func(k *keyring) string { return "/walletStates?" + k.accounts(1) }},
		{"walletStates 100", "wallets", 100, func(k *keyring) string { return "/walletStates?" + k.accounts(100) }},
		{"addressBook 1", "{", 1, func(k *keyring) string { return "/addressBook?" + k.accounts(1) }},
		{"addressBook 100", "{", 100, func(k *keyring) string { return "/addressBook?" + k.accounts(100) }},
		{"metadata item", "{", 1, func(k *keyring) string { return "/metadata?" + k.several("address", "item", k.Item, 1) }},
		{"metadata 100 items", "{", min(100, len(k.Item)), func(k *keyring) string {
			return "/metadata?" + k.several("address", "item", k.Item, min(100, len(k.Item)))
		}},
		{"metadata jetton wallet", "{", 2, func(k *keyring) string { return "/metadata?" + k.several("address", "wallet", k.JettonWallet, 1) }},
		{"addressInformation", "", 0, func(k *keyring) string { return "/addressInformation?" + k.accounts(1) }},
		{"walletInformation", "", 0, func(k *keyring) string { return "/walletInformation?address=" + k.ordinary() }},
		{"topAccountsByBalance l100 o0", "[", 100, always(ranking)},
		{fmt.Sprintf("topAccountsByBalance l100 o%d", top), "[", 100, func(k *keyring) string {
			return fmt.Sprintf("%s&offset=%d", ranking, top+k.step("top"))
		}},
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
		{"jetton/masters l100", "jetton_masters", 100, always("/jetton/masters?limit=100")},
		{"jetton/masters address", "jetton_masters", 1, func(k *keyring) string { return "/jetton/masters?address=" + k.small() }},
		{"jetton/masters admin", "jetton_masters", 1, func(k *keyring) string { return "/jetton/masters?admin_address=" + k.popular() }},

		{"jetton/wallets big sorted l100 o0", "jetton_wallets", min(100, k.Holders), always(holders + "&sort=desc")},
		{fmt.Sprintf("jetton/wallets big sorted l100 o%d", offset), "jetton_wallets", min(100, k.Holders-offset-2000), func(k *keyring) string {
			return fmt.Sprintf("%s&sort=desc&offset=%d", holders, offset+k.step("holders")%2000)
		}},
		{fmt.Sprintf("jetton/wallets big sorted l100 cursor %d", deep), "jetton_wallets", 1, func(k *keyring) string { return k.follow(holders+"&sort=desc", deep) }},
		{"jetton/wallets big l100 o0", "jetton_wallets", min(100, k.Holders), always(holders)},
		{fmt.Sprintf("jetton/wallets big l100 cursor %d", deep), "jetton_wallets", 1, func(k *keyring) string { return k.follow(holders, deep) }},
		{"jetton/wallets small sorted l100", "jetton_wallets", smallHolders, func(k *keyring) string { return wallets + "sort=desc&jetton_address=" + k.small() }},
		{"jetton/wallets owner popular l100", "jetton_wallets", 100, func(k *keyring) string { return wallets + "owner_address=" + k.popular() }},
		{"jetton/wallets owner popular sorted l100", "jetton_wallets", 100, func(k *keyring) string { return wallets + "sort=desc&owner_address=" + k.popular() }},
		{"jetton/wallets owner ordinary", "jetton_wallets", 1, func(k *keyring) string { return wallets + "owner_address=" + k.owner() }},
		{"jetton/wallets owner and jetton", "jetton_wallets", 1, func(k *keyring) string {
			return wallets + "owner_address=" + k.popular() + "&jetton_address=" + k.small()
		}},
		{"jetton/wallets address", "jetton_wallets", 1, func(k *keyring) string { return wallets + "address=" + k.pick("wallet", k.JettonWallet) }},
		{"jetton/wallets all sorted l100", "jetton_wallets", 100, always(wallets + "sort=desc")},

		{"jetton/transfers owner popular l20", "jetton_transfers", 20, func(k *keyring) string { return transfers + "owner_address=" + k.popular() }},
		{"jetton/transfers owner ordinary l20", "jetton_transfers", 1, func(k *keyring) string { return transfers + "owner_address=" + k.owner() }},
		{"jetton/transfers owner popular in l20", "jetton_transfers", 20, func(k *keyring) string {
			return transfers + "direction=in&owner_address=" + k.popular()
		}},
		{"jetton/transfers owner popular time l20", "jetton_transfers", 20, func(k *keyring) string {
			return fmt.Sprintf("%sowner_address=%s&end_utime=%d", transfers, k.popular(), int(k.utime)-k.step("owner time"))
		}},
		{"jetton/transfers owner and master l20", "jetton_transfers", 1, func(k *keyring) string {
			return transfers + "owner_address=" + k.popular() + "&jetton_master=" + k.small()
		}},
		{"jetton/transfers master popular l20", "jetton_transfers", 20, always(ofJetton)},
		{"jetton/transfers master popular cursor l20", "jetton_transfers", 20, func(k *keyring) string { return k.follow(ofJetton, 1000) }},
		{"jetton/transfers master ordinary l20", "jetton_transfers", 10, func(k *keyring) string { return transfers + "jetton_master=" + k.small() }},
		{"jetton/transfers wallet ordinary l20", "jetton_transfers", 1, func(k *keyring) string { return transfers + "jetton_wallet=" + k.pick("wallet", k.JettonWallet) }},
		{"jetton/transfers latest l20", "jetton_transfers", 20, always("/jetton/transfers?limit=20")},

		{"jetton/burns owner popular l20", "jetton_burns", 5, func(k *keyring) string { return burns + "owner_address=" + k.popular() }},
		{"jetton/burns owner ordinary l20", "jetton_burns", 1, func(k *keyring) string { return burns + "owner_address=" + k.pick("burner", k.Burner) }},
		{"jetton/burns master popular l20", "jetton_burns", 20, func(k *keyring) string { return burns + "jetton_master=" + k.jetton() }},
		{"jetton/burns latest l20", "jetton_burns", 20, always("/jetton/burns?limit=20")},
	}
}

func nftQueries(k *synthetic.Keys) []query {
	const items, transfers = "/nft/items?limit=20&", "/nft/transfers?limit=20&"
	first := items + "collection_address=" + url.QueryEscape(k.Collection[0])
	middle := k.Items / len(k.Collection) / 2
	return []query{
		{"nft/collections l50", "nft_collections", len(k.Collection), always("/nft/collections?limit=50")},
		{"nft/collections address", "nft_collections", 1, func(k *keyring) string { return "/nft/collections?collection_address=" + k.collection() }},
		{"nft/items owner popular l20", "nft_items", 20, func(k *keyring) string { return items + "owner_address=" + k.popular() }},
		{"nft/items owner popular sorted l20", "nft_items", 20, func(k *keyring) string {
			return items + "sort_by_last_transaction_lt=true&owner_address=" + k.popular()
		}},
		{"nft/items owner ordinary l20", "nft_items", 1, func(k *keyring) string { return items + "owner_address=" + k.pick("item owner", k.ItemOwner) }},
		{"nft/items seller popular l20", "nft_items", 20, func(k *keyring) string {
			return items + "include_on_sale=true&owner_address=" + k.popular()
		}},
		{"nft/items collection l20", "nft_items", 20, func(k *keyring) string { return items + "collection_address=" + k.collection() }},
		{fmt.Sprintf("nft/items collection l20 cursor %d", middle), "nft_items", 1, func(k *keyring) string { return k.follow(first, middle) }},
		{"nft/items collection sorted l20", "nft_items", 20, func(k *keyring) string {
			return items + "sort_by_last_transaction_lt=true&collection_address=" + k.collection()
		}},
		{"nft/items collection index", "nft_items", 1, func(k *keyring) string {
			return fmt.Sprintf("%scollection_address=%s&index=%d", items, k.collection(), k.step("index")%max(1, k.Items/len(k.Collection)))
		}},
		{"nft/items address", "nft_items", 1, func(k *keyring) string { return items + "address=" + k.pick("item", k.Item) }},
		{"nft/items latest l20", "nft_items", 20, always("/nft/items?limit=20&sort_by_last_transaction_lt=true")},

		{"nft/transfers owner popular l20", "nft_transfers", 20, func(k *keyring) string { return transfers + "owner_address=" + k.popular() }},
		{"nft/transfers owner ordinary l20", "nft_transfers", 0, func(k *keyring) string { return transfers + "owner_address=" + k.pick("item owner", k.ItemOwner) }},
		{"nft/transfers collection l20", "nft_transfers", 20, func(k *keyring) string { return transfers + "collection_address=" + k.collection() }},
		{"nft/transfers item l20", "nft_transfers", 1, func(k *keyring) string { return transfers + "item_address=" + k.pick("item", k.Item) }},
		{"nft/transfers latest l20", "nft_transfers", 20, always("/nft/transfers?limit=20")},

		{"nft/sales 1", "nft_sales", 1, func(k *keyring) string { return "/nft/sales?" + k.several("address", "sale", k.Sale, 1) }},
		{"nft/sales 20", "nft_sales", 20, func(k *keyring) string { return "/nft/sales?" + k.several("address", "sale", k.Sale, 20) }},
	}
}

func contractQueries(k *synthetic.Keys) []query {
	popular := url.QueryEscape(k.Multisig[0])
	return []query{
		{"dns/records domain", "records", 1, func(k *keyring) string { return "/dns/records?domain=" + k.pick("domain", k.Domain) }},
		{"dns/records wallet popular l20", "records", 1, func(k *keyring) string { return "/dns/records?limit=20&wallet=" + k.popular() }},
		{"dns/records wallet ordinary", "records", 1, func(k *keyring) string { return "/dns/records?wallet=" + k.pick("domain owner", k.DomainOwner) }},
		{"dns/records all l100", "records", min(100, k.Items/len(k.Collection)), always("/dns/records?limit=100")},

		{"multisig/wallets address", "multisigs", 1, func(k *keyring) string { return "/multisig/wallets?address=" + k.pick("multisig", k.Multisig) }},
		{"multisig/wallets signer popular l20", "multisigs", 5, func(k *keyring) string {
			return "/multisig/wallets?limit=20&include_orders=false&wallet_address=" + k.popular()
		}},
		{"multisig/wallets signer ordinary", "multisigs", 1, func(k *keyring) string {
			return "/multisig/wallets?limit=20&wallet_address=" + k.pick("signer", k.Signer)
		}},
		{"multisig/orders address", "orders", 1, func(k *keyring) string { return "/multisig/orders?address=" + k.pick("order", k.MultisigOrder) }},
		{"multisig/orders multisig popular l100", "orders", min(100, len(k.Multisig)*8/10), always("/multisig/orders?limit=100&multisig_address=" + popular)},
		{"multisig/orders multisig ordinary", "orders", 1, func(k *keyring) string {
			return "/multisig/orders?limit=20&multisig_address=" + k.pick("multisig", k.Multisig)
		}},

		{"vesting address", "vesting_contracts", 1, func(k *keyring) string { return "/vesting?contract_address=" + k.pick("vesting", k.Vesting) }},
		{"vesting wallet popular", "vesting_contracts", 1, func(k *keyring) string { return "/vesting?limit=20&check_whitelist=true&wallet_address=" + k.popular() }},
		{"vesting wallet ordinary", "vesting_contracts", 1, func(k *keyring) string {
			return "/vesting?limit=20&wallet_address=" + k.pick("vesting owner", k.VestingOwner)
		}},
	}
}

func statsQueries() []query {
	return []query{
		{"stats/transactions", "days", 1, always("/stats/transactions?limit=100")},
		{"stats/fees", "days", 1, always("/stats/fees?limit=100")},
		{"stats/accountsByBalance", "balances", 5, always("/stats/accountsByBalance")},
		{"stats/jettons by holders l100", "jettons", 100, always("/stats/jettons?limit=100")},
		{"stats/jettons by transfers l100", "jettons", 100, always("/stats/jettons?limit=100&by=transfers&days=365")},
	}
}

package query

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"tonscribe/schema/record"
)

// endpointRules are an endpoint's parameters as the contract lists them: name and
// type, with * where several values may be sent.
type endpointRules struct {
	path, list string
	params     string
	// base is a query that finds something. {a} and {b} stand for two different
	// addresses, both of which are found, in the parameter lists.
	base  string
	lists []string
	a, b  []byte
}

const (
	timeAndPage = " start_utime utime, end_utime utime, start_lt uint64, end_lt uint64, limit int32, offset int32, sort sort"
	pageOnly    = " limit int32, offset int32"
)

// rulesTown has every kind of contract that the endpoints list.
func rulesTown(t *testing.T) (*town, []endpointRules) {
	at := func(n byte) []byte { return addressOf(n) }
	multisig := func(n byte) *record.Contract {
		return &record.Contract{Account: at(n), CodeHash: hashOf(1), DataHash: hashOf(2), Multisig: &record.Multisig{
			NextOrderSeqno: []byte{4}, Threshold: 1, Signers: [][]byte{at(11), at(12)}, Proposers: [][]byte{at(13)}}}
	}
	order := func(n, of byte) *record.Contract {
		return &record.Contract{Account: at(n), CodeHash: hashOf(1), DataHash: hashOf(2), MultisigOrder: &record.MultisigOrder{Multisig: at(of), Seqno: []byte{n}, Threshold: 1, Signers: [][]byte{at(11)}}}
	}
	vesting := func(n byte) *record.Contract {
		return &record.Contract{Account: at(n), CodeHash: hashOf(1), DataHash: hashOf(2), Vesting: &record.Vesting{TotalAmount: []byte{1}, Owner: at(n + 100), Sender: at(14), Whitelist: [][]byte{at(15)}}}
	}
	name := func(n byte, domain string) *record.Contract {
		return &record.Contract{Account: at(n), CodeHash: hashOf(1), DataHash: hashOf(2), NftItem: &record.NFTItem{Init: true, Index: []byte{n}, Owner: at(16),
			Dns: &record.DNSName{Domain: domain, Wallet: at(17)}}}
	}
	sale := func(n byte) *record.Contract {
		return &record.Contract{Account: at(n), CodeHash: hashOf(1), DataHash: hashOf(2), Sale: &record.Sale{Item: at(33), Owner: at(16), Marketplace: at(18), Price: []byte{5}, Version: 1}}
	}
	w := newTown(t, multisig(21), multisig(22), order(23, 21), order(24, 22), vesting(25), vesting(26), name(31, "a.ton"), name(33, "bb.ton"), sale(41), sale(42))
	var transfers []*record.JettonTransfer
	for _, j := range w.transfers {
		if !j.Aborted {
			transfers = append(transfers, j)
		}
	}
	slices.SortFunc(transfers, func(a, b *record.JettonTransfer) int { return int(a.Lt) - int(b.Lt) })
	var burns []*record.JettonBurn
	for _, b := range w.burns {
		burns = append(burns, b)
	}
	slices.SortFunc(burns, func(a, b *record.JettonBurn) int { return int(a.Lt) - int(b.Lt) })
	var nfts []*record.NFTTransfer
	for _, n := range w.nfts {
		nfts = append(nfts, n)
	}
	slices.SortFunc(nfts, func(a, b *record.NFTTransfer) int { return int(a.Lt) - int(b.Lt) })
	two := func(match func(*record.Contract) bool, of func(*record.Contract) []byte) (a, b []byte) {
		a = of(w.any(match))
		return a, of(w.any(func(c *record.Contract) bool { return match(c) && string(of(c)) != string(a) }))
	}
	account := func(c *record.Contract) []byte { return c.Account }
	isMaster := func(c *record.Contract) bool { return c.JettonMaster != nil }
	isWallet := func(c *record.Contract) bool { return c.JettonWallet != nil }
	isItem := func(c *record.Contract) bool { return c.NftItem != nil && c.NftItem.Collection != nil }
	isCollection := func(c *record.Contract) bool { return c.NftCollection != nil }
	all := []endpointRules{
		{path: "/accountStates", list: "accounts", params: "address addr*, code_hash hash*, include_boc bool", lists: []string{"address"}},
		{path: "/walletStates", list: "wallets", params: "address addr*, code_hash hash*", lists: []string{"address"}},
		{path: "/jetton/masters", list: "jetton_masters", params: "address addr*, admin_address addr*," + pageOnly, lists: []string{"address"}},
		{path: "/jetton/wallets", list: "jetton_wallets", params: "address addr*, owner_address addr*, jetton_address addr*, exclude_zero_balance bool," + pageOnly + ", sort sort", lists: []string{"owner_address"}},
		{path: "/jetton/transfers", list: "jetton_transfers", params: "owner_address addr*, jetton_wallet addr*, jetton_master addr," + timeAndPage, lists: []string{"jetton_wallet"}},
		{path: "/jetton/burns", list: "jetton_burns", params: "owner_address addr*, jetton_wallet addr*, jetton_master addr," + timeAndPage, lists: []string{"jetton_wallet"}},
		{path: "/nft/collections", list: "nft_collections", params: "collection_address addr*, owner_address addr*," + pageOnly, lists: []string{"collection_address"}},
		{path: "/nft/items", list: "nft_items", params: "address addr*, owner_address addr*, collection_address addr*, include_on_sale bool, sort_by_last_transaction_lt bool," + pageOnly, lists: []string{"address"}},
		{path: "/nft/transfers", list: "nft_transfers", params: "owner_address addr*, item_address addr*, collection_address addr," + timeAndPage, lists: []string{"item_address"}},
		{path: "/nft/sales", list: "nft_sales", params: "address addr*", lists: []string{"address"}, a: at(41), b: at(42)},
		{path: "/dns/records", list: "records", params: "wallet addr," + pageOnly, base: "wallet=" + rawOf(at(17))},
		{path: "/multisig/wallets", list: "multisigs", params: "address addr*, wallet_address addr*, include_orders bool," + pageOnly + ", sort sort", lists: []string{"address"}, a: at(21), b: at(22)},
		{path: "/multisig/orders", list: "orders", params: "address addr*, multisig_address addr*, parse_actions bool," + pageOnly + ", sort sort", lists: []string{"multisig_address"}, a: at(21), b: at(22)},
		{path: "/vesting", list: "vesting_contracts", params: "contract_address addr*, wallet_address addr*, check_whitelist bool," + pageOnly, lists: []string{"contract_address", "wallet_address"}, a: at(25), b: at(26)},
		{path: "/topAccountsByBalance", params: "" + strings.TrimSpace(pageOnly), base: "limit=5"},
	}
	for n := range all {
		e := &all[n]
		switch e.path {
		case "/accountStates", "/walletStates", "/jetton/transfers":
			e.a = transfers[0].SourceWallet
			e.b = transfers[slices.IndexFunc(transfers, func(j *record.JettonTransfer) bool { return string(j.SourceWallet) != string(e.a) })].SourceWallet
		case "/jetton/burns":
			e.a = burns[0].Wallet
			e.b = burns[slices.IndexFunc(burns, func(b *record.JettonBurn) bool { return string(b.Wallet) != string(e.a) })].Wallet
		case "/nft/transfers":
			e.a = nfts[0].Item
			e.b = nfts[slices.IndexFunc(nfts, func(x *record.NFTTransfer) bool { return string(x.Item) != string(e.a) })].Item
		case "/jetton/masters":
			e.a, e.b = two(isMaster, account)
		case "/jetton/wallets":
			e.a, e.b = two(isWallet, func(c *record.Contract) []byte { return c.JettonWallet.Owner })
		case "/nft/collections":
			e.a, e.b = two(isCollection, account)
		case "/nft/items":
			e.a, e.b = two(isItem, account)
		case "/vesting":
			e.lists = e.lists[:1]
		}
		if e.base == "" {
			e.base = e.lists[0] + "=" + url.QueryEscape(rawOf(e.a))
		}
	}
	return w, all
}

// each calls a function with every parameter of a type.
func (e *endpointRules) each(kinds string, take func(name, kind string)) {
	for _, p := range strings.Split(e.params, ",") {
		name, kind, _ := strings.Cut(strings.TrimSpace(p), " ")
		if slices.Contains(strings.Fields(kinds), kind) {
			take(name, kind)
		}
	}
}

const wrongElement, wrongValue = `failed to decode: schema: error converting value for index %d of "%s"`, `failed to decode: schema: error converting value for "%s"`

// refuses asks and expects an error.
func (w *town) refuses(path string, status int, text string) {
	w.Helper()
	got := w.ask("/api/v3" + path)
	if got.Code != status {
		w.Errorf("%.150s: status %d instead of %d: %.200s", path, got.Code, status, got.Body)
		return
	}
	w.isError(w.TB.(*testing.T), path, got, text)
}

// body asks for an answer of 200.
func (w *town) body(path string) string {
	w.Helper()
	got := w.ask("/api/v3" + path)
	if got.Code != http.StatusOK {
		w.Errorf("%.200s: %d %.200s", path, got.Code, got.Body)
	}
	return got.Body.String()
}

// rowsOf are the rows of an answer, as texts.
func (w *town) rowsOf(e *endpointRules, query string) (rows []string) {
	w.Helper()
	text := []byte(w.body(e.path + "?" + query))
	var list []json.RawMessage
	if e.list != "" {
		members := map[string]json.RawMessage{}
		if err := json.Unmarshal(text, &members); err != nil {
			w.Fatalf("%s?%s: %v", e.path, query, err)
		}
		text = members[e.list]
	}
	if err := json.Unmarshal(text, &list); err != nil || list == nil {
		w.Fatalf("%s?%s: %s is no list: %v, %.200s", e.path, query, e.list, err, text)
	}
	for _, r := range list {
		rows = append(rows, string(r))
	}
	return rows
}

func (w *town) same(what, have, want string) {
	w.Helper()
	if have != want {
		w.Errorf("%s: another answer:\n%.300s\nwant\n%.300s", what, have, want)
	}
}

package query

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"tonscribe/query/render"
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

func TestParameterRulesOfAccountsAndTokens(t *testing.T) {
	w, all := rulesTown(t)
	for name, check := range map[string]func(*testing.T, *town, []endpointRules){
		"values that do not convert are refused":       wrongValuesAreRefused,
		"empty values are as the contract has them":    emptyValues,
		"limit, offset and sort":                       limitOffsetAndSort,
		"lists in every form are one":                  listsInEveryForm,
		"addresses in every form are one":              addressesInEveryForm,
		"unknown addresses have nothing":               unknownAddresses,
		"rules of single endpoints":                    rulesOfEndpoints,
		"legacy information about accounts":            legacyInformation,
		"ready figures":                                rulesOfFigures,
		"unknown names are passed over with a warning": unknownNames,
	} {
		t.Run(name, func(t *testing.T) {
			part, s := *w, *w.server
			s.TB = t
			part.server = &s
			check(t, &part, all)
		})
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

func wrongValuesAreRefused(t *testing.T, w *town, all []endpointRules) {
	bad := map[string][]string{
		"addr":   {"nobody", "0:12", "", "addr_none", "null", "0:" + zeros + "0", "EQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAM9d", "0:" + zeros + ",0:" + zeros},
		"addr*":  {"nobody", "0:12", "addr_none", "null", "EQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAM9d", "0:" + zeros + ",nobody"},
		"hash*":  {"zz", strings.Repeat("A", 43), zeros[1:], "0x" + zeros[1:], strings.Repeat("A", 43) + " ="},
		"bool":   {"yes", "2", "tRuE", " true"},
		"utime":  {"-1", "abc", "", "1,2", "0x10"},
		"uint64": {"-1", "1.5", "1e3", "18446744073709551616", "+1", "0x1", "a"},
		"int32":  {"2147483648", "1.5", "abc", "-2147483649", "1e2"},
	}
	for _, e := range all {
		e.each("addr addr* hash* bool utime uint64 int32", func(name, kind string) {
			text := fmt.Sprintf(wrongValue, name)
			if strings.HasSuffix(kind, "*") {
				text = fmt.Sprintf(wrongElement, 0, name)
				w.refuses(fmt.Sprintf("%s?%s=&%s[]=x", e.path, name, name), 422, fmt.Sprintf(wrongElement, 1, name))
				w.refuses(fmt.Sprintf("%s?%s=x&%s=y", e.path, name, name), 422, text+" (and 1 other error)")
			}
			for _, value := range bad[kind] {
				w.refuses(fmt.Sprintf("%s?%s=%s", e.path, name, url.QueryEscape(value)), 422, text)
			}
		})
		if strings.Contains(e.params, "start_utime") {
			w.refuses(e.path+"?limit=c&end_lt=a&end_utime=b", 422, fmt.Sprintf(wrongValue, "end_utime"))
			w.refuses(e.path+"?limit=c&end_lt=a&start_lt=b", 422, fmt.Sprintf(wrongValue, "start_lt")+" (and 1 other error)")
			w.refuses(e.path+"?limit=c&end_utime=1&owner_address=b", 422, fmt.Sprintf(wrongElement, 0, "owner_address"))
		}
	}
}

func emptyValues(t *testing.T, w *town, all []endpointRules) {
	for _, e := range all {
		want := w.body(e.path + "?" + e.base)
		e.each("bool", func(name, _ string) {
			w.same(e.path+" "+name, w.body(e.path+"?"+e.base+"&"+name+"="), w.body(e.path+"?"+e.base+"&"+name+"=false"))
		})
		e.each("int32", func(name, _ string) {
			if name == "limit" {
				if n := len(w.rowsOf(&e, e.base+"&limit=")); n != 1 {
					t.Errorf("%s: limit= gives %d rows instead of 1", e.path, n)
				}
				return
			}
			w.same(e.path+" "+name, w.body(e.path+"?"+e.base+"&"+name+"="), want)
		})
		for _, name := range e.lists {
			w.same(e.path+" an empty element more", w.body(e.path+"?"+e.base+"&"+name+"="), want)
		}
	}
}

func limitOffsetAndSort(t *testing.T, w *town, all []endpointRules) {
	for _, e := range all {
		e.each("int32", func(name, _ string) {
			if name != "limit" {
				w.same(e.path+" a negative offset", w.body(e.path+"?"+e.base+"&offset=-7"), w.body(e.path+"?"+e.base))
				if n := len(w.rowsOf(&e, e.base+"&offset=2147483647")); n != 0 {
					t.Errorf("%s: %d rows behind the end", e.path, n)
				}
				return
			}
			w.refuses(e.path+"?"+e.base+"&limit=1001", 422, "limit is not allowed: 1001 > 1000")
			w.refuses(e.path+"?"+e.base+"&limit=2147483647", 422, "limit is not allowed: 2147483647 > 1000")
			for _, limit := range []string{"0", "-5", "1"} {
				if n := len(w.rowsOf(&e, e.base+"&limit="+limit)); n != 1 {
					t.Errorf("%s: limit=%s gives %d rows instead of 1", e.path, limit, n)
				}
			}
			w.same(e.path+" the last limit counts", w.body(e.path+"?"+e.base+"&limit=3&limit=1"), w.body(e.path+"?"+e.base+"&limit=1"))
			if len(w.rowsOf(&e, e.base+"&limit=1000")) == 0 {
				t.Errorf("%s: limit=1000 finds nothing", e.path)
			}
		})
		if !strings.Contains(e.params, "sort sort") {
			w.same(e.path+" sort is ignored", w.body(e.path+"?"+e.base+"&sort=sideways"), w.body(e.path+"?"+e.base))
			continue
		}
		for _, wrong := range []string{"sideways", "", "ascending", "asc,desc"} {
			w.refuses(e.path+"?"+e.base+"&sort="+wrong, 422, "wrong value for sort parameter")
		}
		up, down := w.body(e.path+"?"+e.base+"&sort=asc"), w.body(e.path+"?"+e.base+"&sort=desc")
		for _, form := range []string{"a", "A", "ASC", "Asc"} {
			w.same(e.path+" sort="+form, w.body(e.path+"?"+e.base+"&sort="+form), up)
		}
		for _, form := range []string{"d", "D", "DESC"} {
			w.same(e.path+" sort="+form, w.body(e.path+"?"+e.base+"&sort="+form), down)
		}
		if e.path != "/jetton/wallets" { // which is not sorted without
			w.same(e.path+" without sort", w.body(e.path+"?"+e.base), down)
		}
	}
}

func listsInEveryForm(t *testing.T, w *town, all []endpointRules) {
	for _, e := range all {
		for _, name := range e.lists {
			a, b := url.QueryEscape(rawOf(e.a)), url.QueryEscape(rawOf(e.b))
			want := w.rowsOf(&e, name+"="+a+"&"+name+"="+b)
			one := w.rowsOf(&e, name+"="+a)
			if len(one) == 0 || len(want) <= len(one) && len(want) < 10 {
				t.Errorf("%s: %s finds %d rows for one and %d for two", e.path, name, len(one), len(want))
			}
			for what, query := range map[string]string{
				"joined by a comma":       name + "=" + a + "," + b,
				"with brackets":           name + "[]=" + a + "&" + name + "[]=" + b,
				"in both ways":            name + "=" + a + "&" + name + "[]=" + b,
				"in another order, twice": name + "=" + b + "&" + name + "=" + a + "&" + name + "=" + a,
			} {
				w.same(e.path+" "+name+" "+what, strings.Join(w.rowsOf(&e, query), "\n"), strings.Join(want, "\n"))
			}
			w.same(e.path+" "+name+" by index is ignored", strings.Join(w.rowsOf(&e, name+"="+a+"&"+name+"[0]="+b), "\n"), strings.Join(one, "\n"))
		}
	}
}

func addressesInEveryForm(t *testing.T, w *town, all []endpointRules) {
	for _, e := range all {
		address, name := e.a, "wallet"
		if len(e.lists) > 0 {
			name = e.lists[0]
		} else if address = addressOf(17); e.list == "" {
			continue
		}
		want := w.body(e.path + "?" + name + "=" + rawOf(address))
		for _, form := range []string{
			strings.ToLower(rawOf(address)),
			string(render.UserFriendly(nil, address, true, false)), string(render.UserFriendly(nil, address, false, false)),
			string(render.UserFriendly(nil, address, true, true)), string(render.UserFriendly(nil, address, false, true)),
			strings.NewReplacer("-", "+", "_", "/").Replace(string(render.UserFriendly(nil, address, true, false))),
		} {
			w.same(e.path+" "+form, w.body(e.path+"?"+name+"="+url.QueryEscape(form)), want)
		}
	}
}

func unknownAddresses(t *testing.T, w *town, all []endpointRules) {
	nobody := rawOf(addressOf(99))
	for _, e := range all {
		e.each("addr addr*", func(name, _ string) {
			if n := len(w.rowsOf(&e, name+"="+nobody)); n != 0 {
				t.Errorf("%s?%s: %d rows of an address that nobody has", e.path, name, n)
			}
		})
	}
	w.same("metadata", w.body("/metadata?address="+nobody), "{}")
	w.same("metadata of no address", w.body("/metadata?address=junk"), "{}")
	if n := len(w.rowsOf(&endpointRules{path: "/dns/records", list: "records"}, "domain=nobody.ton")); n != 0 {
		t.Errorf("%d records of a domain that nobody has", n)
	}
}

func rulesOfEndpoints(t *testing.T, w *town, all []endpointRules) {
	a, b := rawOf(addressOf(1)), rawOf(addressOf(2))
	many := func(n int) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf("0:%064x", i+1))
		}
		return strings.Join(list, ",")
	}
	for _, c := range []struct{ path, text string }{
		{"/accountStates", "address of account is required"},
		{"/accountStates?address=", "address of account is required"},
		{"/accountStates?code_hash=" + zeros, "address of account is required"},
		{"/walletStates", "address of account is required"},
		{"/walletStates?address=&address[]=", "address of account is required"},
		{"/addressBook", "at least 1 address required"},
		{"/addressBook?address=", "at least 1 address required"},
		{"/metadata", "at least 1 address required"},
		{"/metadata?address=", "at least 1 address required"},
		{"/nft/sales", "at least 1 address required"},
		{"/nft/sales?address=", "at least 1 address required"},
		{"/nft/sales?address=" + many(1001), "maximum 1000 addresses allowed"},
		{"/jetton/wallets?jetton_address=" + a + "&jetton_address=" + b, "exact one owner_address required for multiple jetton_address"},
		{"/jetton/wallets?jetton_address=" + a + "," + b + "&owner_address=" + a + "," + b, "exact one owner_address required for multiple jetton_address"},
		{"/nft/items?collection_address=" + a + "," + b, "exact one owner_address required for multiple collection_address"},
		{"/nft/items?collection_address=" + a + "&collection_address=" + b + "&owner_address=" + a + "&owner_address=" + b, "exact one owner_address required for multiple collection_address"},
		{"/nft/items?index=1", "index parameter is not allowed without the collection_address"},
		{"/nft/items?index=1x&collection_address=" + a, "index should contain digits only"},
		{"/nft/items?index=-1&collection_address=" + a, "index should contain digits only"},
		{"/nft/items?index=0x1&collection_address=" + a, "index should contain digits only"},
		{"/nft/items?index=1.0", "index should contain digits only"},
		{"/dns/records", "either wallet address or domain is required"},
		{"/dns/records?domain=", "either wallet address or domain is required"},
		{"/dns/records?wallet=" + a + "&domain=a.ton", "provide either wallet address or domain, not both"},
		{"/multisig/orders", "At least one of address or multisig_address should be specified"},
		{"/multisig/orders?address=&multisig_address=", "At least one of address or multisig_address should be specified"},
		{"/multisig/orders?parse_actions=true", "At least one of address or multisig_address should be specified"},
		{"/multisig/wallets", "At least one of address or wallet_address should be specified"},
		{"/multisig/wallets?include_orders=false", "At least one of address or wallet_address should be specified"},
		{"/vesting", "at least one of contract_address or wallet_address is required"},
		{"/vesting?check_whitelist=true", "at least one of contract_address or wallet_address is required"},
		{"/vesting?contract_address=" + a + "&wallet_address=" + b, "only one of contract_address or wallet_address should be specified"},
	} {
		w.refuses(c.path, 422, c.text)
	}
	rows := func(path, list, query string) int {
		return len(w.rowsOf(&endpointRules{path: path, list: list}, query))
	}
	for _, c := range []struct {
		path, list, query string
		want              int
	}{
		{"/nft/sales", "nft_sales", "address=" + many(1000), 0},
		{"/nft/sales", "nft_sales", "address=" + rawOf(addressOf(31)), 0},
		{"/vesting", "vesting_contracts", "wallet_address=" + rawOf(addressOf(14)), 2},
		{"/vesting", "vesting_contracts", "wallet_address=" + rawOf(addressOf(125)), 1},
		{"/vesting", "vesting_contracts", "wallet_address=" + rawOf(addressOf(15)), 0},
		{"/vesting", "vesting_contracts", "check_whitelist=on&wallet_address=" + rawOf(addressOf(15)), 2},
		{"/multisig/wallets", "multisigs", "wallet_address=" + rawOf(addressOf(13)), 2},
		{"/multisig/wallets", "multisigs", "address=" + rawOf(addressOf(21)) + "&wallet_address=" + rawOf(addressOf(12)), 1},
		{"/multisig/wallets", "multisigs", "address=" + rawOf(addressOf(21)) + "&wallet_address=" + rawOf(addressOf(14)), 0},
		{"/multisig/orders", "orders", "address=" + rawOf(addressOf(23)) + "&multisig_address=" + rawOf(addressOf(21)), 1},
		{"/multisig/orders", "orders", "address=" + rawOf(addressOf(23)) + "&multisig_address=" + rawOf(addressOf(22)), 0},
		{"/dns/records", "records", "domain=a.ton", 1},
		{"/dns/records", "records", "domain=A.ton", 0},
		{"/dns/records", "records", "wallet=" + rawOf(addressOf(17)), 2},
		{"/jetton/transfers", "jetton_transfers", "address=junk&limit=3", 3}, // an alias that is no address is ignored
		{"/jetton/burns", "jetton_burns", "address=junk&limit=3", 3},
		{"/nft/transfers", "nft_transfers", "address=junk&limit=3", 3},
		{"/jetton/transfers", "jetton_transfers", "direction=in&limit=3", 3}, // without an owner it means nothing
		{"/jetton/transfers", "jetton_transfers", "owner_address=" + rawOf(addressOf(99)) + "&address=" + rawOf(w.oneTransfer().Source), 0},
	} {
		if got := rows(c.path, c.list, c.query); got != c.want {
			t.Errorf("%s?%.120s: %d rows instead of %d", c.path, c.query, got, c.want)
		}
	}
	codeIs := func(hash []byte) int {
		return rows("/accountStates", "accounts", "address="+rawOf(w.oneTransfer().SourceWallet)+"&code_hash="+url.QueryEscape(b64(hash)))
	}
	code := w.contracts[string(w.oneTransfer().SourceWallet)].CodeHash
	if with, other := codeIs(code), codeIs(hashOf(7)); with != 1 || other != 0 {
		t.Errorf("code_hash leaves %d accounts of the code and %d of another one, instead of 1 and 0", with, other)
	}
	if text := w.body("/accountStates?include_boc=false&address=" + rawOf(w.oneTransfer().SourceWallet)); strings.Contains(text, "_boc") || !strings.Contains(text, `"code_hash"`) {
		t.Errorf("include_boc=false: %.300s", text)
	}
}

// oneTransfer is the first one that was not aborted.
func (w *town) oneTransfer() (first *record.JettonTransfer) {
	for _, j := range w.transfers {
		if !j.Aborted && (first == nil || j.Lt < first.Lt) {
			first = j
		}
	}
	return first
}

func legacyInformation(t *testing.T, w *town, _ []endpointRules) {
	w.refuses("/addressInformation", 401, "address of account is required")
	w.refuses("/walletInformation", 401, "address of account is required")
	for _, path := range []string{"/addressInformation", "/walletInformation"} {
		for _, value := range []string{"junk", "", "0:" + zeros + ",0:" + zeros} {
			w.refuses(path+"?address="+value, 422, fmt.Sprintf(wrongValue, "address"))
		}
		w.refuses(path+"?use_v2=yes&address=0:"+zeros, 422, fmt.Sprintf(wrongValue, "use_v2"))
	}
	w.same("addressInformation of nobody", w.body("/addressInformation?address="+rawOf(addressOf(99))),
		`{"balance":"0","code":null,"data":null,"last_transaction_lt":"0","last_transaction_hash":"`+strings.Repeat("A", 43)+`=","frozen_hash":null,"status":"uninit"}`)
	w.same("walletInformation of nobody", w.body("/walletInformation?address="+rawOf(addressOf(99))),
		`{"balance":"0","last_transaction_lt":"0","last_transaction_hash":"`+strings.Repeat("A", 43)+`=","status":"uninit"}`)
	w.refuses("/walletInformation?address="+rawOf(w.oneTransfer().SourceWallet), 409, "not a wallet")
}

func rulesOfFigures(t *testing.T, w *town, _ []endpointRules) {
	for _, path := range []string{"/stats/transactions", "/stats/fees"} {
		for _, c := range []struct{ query, text string }{
			{"limit=1001", "limit is not allowed: 1001 > 1000"}, {"limit=x", fmt.Sprintf(wrongValue, "limit")}, {"offset=1.5", fmt.Sprintf(wrongValue, "offset")},
			{"sort=up", "wrong value for sort parameter"}, {"start_utime=-1", fmt.Sprintf(wrongValue, "start_utime")}, {"end_utime=", fmt.Sprintf(wrongValue, "end_utime")},
			{"cursor=AAAA", "wrong value for cursor parameter: send next_cursor of the page before with the same other parameters"},
		} {
			w.refuses(path+"?"+c.query, 422, c.text)
		}
		if text := w.body(path + "?end_utime=1"); !strings.HasPrefix(text, `{"days":[]`) {
			t.Errorf("%s before the first day: %.200s", path, text)
		}
	}
	for _, c := range []struct{ query, text string }{
		{"by=price", "by should be one of: holders, transfers"}, {"days=0", "days should be from 1 to 365"}, {"days=366", "days should be from 1 to 365"},
		{"days=x", fmt.Sprintf(wrongValue, "days")}, {"limit=1001", "limit is not allowed: 1001 > 1000"},
	} {
		w.refuses("/stats/jettons?"+c.query, 422, c.text)
	}
	if text := w.body("/stats/accountsByBalance?x=1"); !strings.HasPrefix(text, `{"balances":[`) {
		t.Errorf("/stats/accountsByBalance: %.200s", text)
	}
}

func unknownNames(t *testing.T, w *town, all []endpointRules) {
	for _, e := range all {
		got := w.ask("/api/v3" + e.path + "?" + e.base + "&_=123&nothing=1")
		if want := `299 - "unknown parameters were ignored: _, nothing"`; got.Code != http.StatusOK || got.Header().Get("Warning") != want {
			t.Errorf("%s: %d, Warning %q instead of %q", e.path, got.Code, got.Header().Get("Warning"), want)
		}
	}
}

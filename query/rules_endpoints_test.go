package query

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"tonscribe/schema/record"
)

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
		{"/nft/sales?address=" + many(1025), "maximum 1000 addresses allowed"},
		{"/nft/sales?address=x", `failed to decode: schema: error converting value for index 0 of "address"`},
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

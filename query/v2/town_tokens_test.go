package v2

import (
	"encoding/hex"
	"testing"

	"github.com/xssnick/tonutils-go/ton/wallet"

	own "tonscribe/ton/address"
)

func TestTokensSayWhatTheyAre(t *testing.T) {
	w := newTown(t, 120, 60)
	found := map[string]int{}
	keys := map[string][]string{
		"ext.tokens.jettonMasterData":  {"address", "contract_type", "total_supply", "mintable", "jetton_content", "jetton_wallet_code"},
		"ext.tokens.jettonWalletData":  {"address", "contract_type", "balance", "owner", "jetton", "jetton_wallet_code"},
		"ext.tokens.nftCollectionData": {"address", "contract_type", "next_item_index", "collection_content"},
		"ext.tokens.nftItemData":       {"address", "contract_type", "init", "index", "content"},
	}
	names := 0
	for _, account := range w.accounts() {
		r := w.send("GET", Prefix+"/getTokenData?address="+account.String(), "")
		if r.status == 409 {
			r.refusal(t, account.String(), 409, "Smart contract is not Jetton or NFT")
			continue
		}
		result := w.result(r, account.String())
		kind, _ := at(result, "@type").(string)
		found[kind]++
		for _, key := range keys[kind] {
			if at(result, key) == nil {
				t.Errorf("%s of %s has no %s: %v", kind, account.String(), key, result)
			}
		}
		if got := at(result, "address"); got != account.String() {
			t.Errorf("address is %v, want it as it was sent: %s", got, account.String())
		}
		if domain, ok := at(result, "content.domain").(string); ok {
			names++
			w.resolves(domain, at(result, "content.data").(map[string]any))
		}
	}
	t.Logf("%d accounts: %v, %d names", len(w.accounts()), found, names)
	if names == 0 {
		t.Error("no item of the town is a name")
	}
	for kind := range keys {
		if found[kind] == 0 {
			t.Errorf("no account of the town is %s", kind)
		}
	}
}

// resolves asks the root of all names for one; records are those that its item
// tells.
func (w *town) resolves(domain string, records map[string]any) {
	w.t.Helper()
	root := "-1:" + hex.EncodeToString(w.traffic.Params()[4].MustBeginParse().MustLoadSlice(256))
	resolved := w.get("dnsResolve", "address="+root+"&name="+domain+"&ttl=3")
	entries := at(resolved, "entries").([]any)
	if len(entries) < len(records) { // texts are records of no kind that items tell
		w.t.Errorf("%s has %d entries, its item tells %d records", domain, len(entries), len(records))
	}
	handed := w.get("dnsResolve", "address="+root+"&name="+domain+"&ttl=0")
	if got := at(handed, "entries.0.name"); got != "ton" || at(handed, "entries.0.entry.@type") != "dns.entryDataNextResolver" {
		w.t.Errorf("the root's part of %s: %v, want ton and the next resolver", domain, handed)
	}
	wallet, ok := records["wallet"]
	if !ok {
		return
	}
	var want own.Address
	if _, err := hex.Decode(want.ID(), []byte(at(wallet, "smc_addr.address").(string))); err != nil {
		w.t.Fatal(err)
	}
	for _, e := range entries {
		if got := at(e, "name"); got != "" { // the item is the last resolver, and is asked for itself
			w.t.Errorf("a record of %s is named %q, want nothing", domain, got)
		}
		if at(e, "entry.smc_address.account_address") == bounceable(&want) {
			return
		}
	}
	w.t.Errorf("%s: %v has no wallet %s", domain, resolved, bounceable(&want))
}

func TestWalletsOfTheTownAreKnown(t *testing.T) {
	w := newTown(t, 12, 30)
	types := map[string]int{}
	for _, account := range w.accounts() {
		info := w.get("getWalletInformation", "address="+account.String())
		if at(info, "wallet") == true {
			types[at(info, "wallet_type").(string)]++
		}
		if at(info, "balance") != w.get("getAddressBalance", "address="+account.String()) {
			t.Errorf("%s: two balances", account.String())
		}
	}
	t.Logf("%v", types)
	if len(types) < 2 {
		t.Errorf("kinds of wallets: %v, want several", types)
	}
	info := w.get("getWalletInformation", "address="+w.alice.address().String())
	for key, want := range map[string]any{"wallet_type": "wallet v4 r2", "seqno": float64(0), "wallet_id": float64(wallet.DefaultSubwallet), "account_state": "active"} {
		if got := at(info, key); got != want {
			t.Errorf("Alice's wallet: %s is %v, want %v", key, got, want)
		}
	}
	extended := w.get("getExtendedAddressInformation", "address="+w.alice.address().String())
	if at(extended, "account_state.@type") != "wallet.v4.accountState" || at(extended, "revision") != float64(2) {
		t.Errorf("Alice's wallet: %v", extended)
	}
}

package devnet

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton/wallet"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/contracts"
)

// walletNames are the methods that make a contract with its own code look like
// wallets: every old wallet has no more of them.
const (
	seqnoNames = "wallet_v1r2 wallet_v2r1 wallet_v3r1 wallet_v5_beta"
	keyNames   = "wallet_highload_v2"
	bothNames  = "wallet_v1r3 wallet_v2r2 wallet_v3r2"
)

// interfaces are the names that contracts of the town have, by the names of
// their codes: the rule of appendix C, by hand.
var interfaces = map[string]string{
	contracts.JettonMinterCode:  "jetton_master",
	contracts.JettonWalletCode:  "jetton_wallet",
	contracts.NFTCollectionCode: "nft_collection",
	contracts.NFTItemCode:       "editable nft_item",
	contracts.SBTItemCode:       "nft_item sbt",
	contracts.SaleCode:          "nft_auction_v1 nft_sale",
	contracts.AuctionCode:       "nft_auction_v1 nft_sale",
	contracts.DNSRootCode:       "dns",
	contracts.DNSCollectionCode: "dns nft_collection",
	contracts.DNSItemCode:       "dns editable nft_item",
	contracts.MultisigCode:      "multisig_v2",
	contracts.MultisigOrderCode: "multisig_order_v2",
	contracts.VestingCode:       strings.Join([]string{seqnoNames, keyNames, bothNames, "wallet_vesting"}, " "),
	contracts.NominatorPoolCode: "daolama_vault",
	contracts.MarketplaceCode:   "",
	contracts.ForwarderCode:     "",
	silent:                      "",
	contracts.BombCode:          "jetton_master nft_collection nft_item",
	contracts.EndlessCode:       "dns jetton_master jetton_wallet nft_auction_v1 nft_collection nft_item nft_sale " + seqnoNames,

	contracts.ExchangeFactoryCode: "dedust_factory",
	contracts.ExchangeVaultCode:   "dedust_vault",
	contracts.ExchangePoolCode:    "dedust_pool jetton_master moon_pool",
	contracts.ExchangeDepositCode: "dedust_liquidity_deposit lockup_universal",

	"wallet_v1r1":          "wallet_v1r1",
	"wallet_v1r2":          "wallet_v1r2",
	"wallet_v1r3":          "wallet_v1r3",
	"wallet_v2r1":          "wallet_v2r1",
	"wallet_v2r2":          "wallet_v2r2",
	"wallet_v3r1":          "wallet_v3r1",
	"wallet_v3r2":          "wallet_v3r2",
	"wallet_v4r1":          "wallet_v4r1",
	"wallet_v4r2":          "wallet_v4r2",
	"wallet_v5_beta":       "wallet_v5_beta",
	"wallet_v5r1":          "wallet_v5r1",
	"wallet_highload_v2":   "wallet_highload_v2",
	"wallet_highload_v2r2": "wallet_highload_v2r2",
	"wallet_highload_v3r1": "wallet_highload_v3r1",
}

// spaced is a name that is said with a space behind it.
const spaced = "dedust_liquidity_deposit"

// silent is the code of the elector and the config contract of a town.
const silent = "silent"

// walletTypes are what walletStates calls wallets, where it knows them.
var walletTypes = map[string]string{
	"wallet_v1r1": "wallet v1 r1", "wallet_v1r2": "wallet v1 r2", "wallet_v1r3": "wallet v1 r3", "wallet_v2r1": "wallet v2 r1",
	"wallet_v2r2": "wallet v2 r2", "wallet_v3r1": "wallet v3 r1", "wallet_v3r2": "wallet v3 r2", "wallet_v4r1": "wallet v4 r1",
	"wallet_v4r2": "wallet v4 r2", "wallet_v5r1": "wallet v5 r1",
}

var versionNames = map[wallet.Version]string{
	wallet.V1R1: "wallet_v1r1", wallet.V1R2: "wallet_v1r2", wallet.V1R3: "wallet_v1r3", wallet.V2R1: "wallet_v2r1", wallet.V2R2: "wallet_v2r2",
	wallet.V3R1: "wallet_v3r1", wallet.V3R2: "wallet_v3r2", wallet.V4R1: "wallet_v4r1", wallet.V4R2: "wallet_v4r2",
	wallet.V5R1Beta: "wallet_v5_beta", wallet.V5R1Final: "wallet_v5r1", wallet.HighloadV3: "wallet_highload_v3r1",
	//nolint:staticcheck // deprecated contracts are on the chain
	wallet.HighloadV2R2: "wallet_highload_v2r2", wallet.HighloadV2Verified: "wallet_highload_v2",
}

var codeNames = func() map[string]string {
	names := map[string]string{}
	for _, name := range []string{
		contracts.JettonMinterCode, contracts.JettonWalletCode, contracts.NFTCollectionCode, contracts.NFTItemCode, contracts.SBTItemCode,
		contracts.SaleCode, contracts.AuctionCode, contracts.MarketplaceCode, contracts.DNSRootCode, contracts.DNSCollectionCode,
		contracts.DNSItemCode, contracts.MultisigCode, contracts.MultisigOrderCode, contracts.VestingCode, contracts.NominatorPoolCode,
		contracts.ForwarderCode, contracts.EndlessCode, contracts.BombCode,
		contracts.ExchangeFactoryCode, contracts.ExchangeVaultCode, contracts.ExchangePoolCode, contracts.ExchangeDepositCode,
	} {
		names[string(contracts.Code(name).Hash())] = name
	}
	return names
}()

// kindOf is the name of an account's code, empty without code.
func kindOf(state *tlb.AccountState) string {
	if state.StateInit == nil || state.StateInit.Code == nil {
		return ""
	}
	if name, ok := codeNames[string(state.StateInit.Code.Hash())]; ok {
		return name
	}
	if name, ok := versionNames[wallet.GetWalletVersion(&tlb.Account{State: state, Code: state.StateInit.Code, IsActive: true})]; ok {
		return name
	}
	return fmt.Sprintf("code %x", state.StateInit.Code.Hash())
}

// kinds are the active accounts by the name of their code.
func (w *town) kinds() map[string][]string {
	w.Helper()
	found := map[string][]string{}
	for _, a := range slices.Sorted(maps.Keys(w.accounts)) {
		var state tlb.AccountState
		w.must(tlb.Parse(&state, w.accounts[a].Account))
		kind := kindOf(&state)
		if a == rawOf(-1, chain.Elector[:]) || a == rawOf(-1, chain.Config[:]) {
			kind = silent
		}
		if kind != "" {
			found[kind] = append(found[kind], a)
		}
	}
	return found
}

func (w *town) checkInterfaces() {
	found := w.kinds()
	for kind := range interfaces {
		if len(found[kind]) == 0 {
			w.Errorf("the town has no contract of %s", kind)
		}
	}
	for kind, accounts := range found {
		text, ok := interfaces[kind]
		if !ok {
			w.Errorf("%d accounts with %s", len(accounts), kind)
			continue
		}
		want := strings.Fields(text)
		if i := slices.Index(want, spaced); i >= 0 {
			want[i] += " "
		}
		slices.Sort(want)
		said := fmt.Sprint(want)
		if text == "" && kind != silent { // whose methods cannot be known
			said = fmt.Sprint(nil)
		}
		for _, row := range w.rows("accountStates?include_boc=false", "address", "accounts", "address", accounts) {
			if got := fmt.Sprint(row["interfaces"]); got != said {
				w.Errorf("%s, a %s: interfaces are %s, want %s", row["address"], kind, got, said)
			}
		}
	}
	var counts []string
	for _, kind := range slices.Sorted(maps.Keys(found)) {
		counts = append(counts, fmt.Sprintf("%s %d", kind, len(found[kind])))
	}
	w.Logf("accounts by code: %s", strings.Join(counts, ", "))
}

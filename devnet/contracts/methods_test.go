package contracts_test

import (
	"bytes"
	"testing"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
)

// Indexers read the method ids out of the code: behind SETCP0 comes a constant
// dictionary with keys of 19 bits.
func TestMethodsAreFoundInTheCode(t *testing.T) {
	for code, methods := range map[string][]string{
		contracts.JettonMinterCode:  {"get_jetton_data", "get_wallet_address"},
		contracts.JettonWalletCode:  {"get_wallet_data"},
		contracts.NFTCollectionCode: {"get_collection_data", "get_nft_address_by_index", "get_nft_content", "royalty_params"},
		contracts.NFTItemCode:       {"get_nft_data", "get_editor"},
		contracts.SBTItemCode:       {"get_nft_data", "get_authority_address", "get_revoked_time"},
		contracts.SaleCode:          {"get_sale_data", "get_fix_price_data"},
		contracts.AuctionCode:       {"get_sale_data", "get_auction_data"},
		contracts.DNSRootCode:       {"dnsresolve"},
		contracts.DNSCollectionCode: {"dnsresolve", "get_collection_data", "get_nft_address_by_index", "get_nft_content"},
		contracts.DNSItemCode:       {"dnsresolve", "get_nft_data", "get_editor", "get_domain", "get_auction_info", "get_last_fill_up_time"},
		contracts.MultisigCode:      {"get_multisig_data", "get_order_address", "get_order_estimate"},
		contracts.MultisigOrderCode: {"get_order_data"},
		contracts.VestingCode:       {"get_vesting_data", "is_whitelisted", "get_whitelist", "get_locked_amount", "seqno", "get_subwallet_id", "get_public_key"},
		contracts.NominatorPoolCode: {"get_pool_data", "list_nominators", "get_nominator_data"},
		contracts.ElectorCode:       {"active_election_id", "participant_list_extended", "compute_returned_stake", "past_elections"},
		contracts.ConfigCode:        {"seqno"},
		contracts.EndlessCode:       explorerMethods,
		contracts.BombCode:          {"get_jetton_data", "get_nft_data", "get_collection_data"},

		contracts.ExchangeFactoryCode: {"get_vault_address", "get_pool_address", "get_liquidity_deposit_address"},
		contracts.ExchangeVaultCode:   {"get_asset"},
		contracts.ExchangePoolCode:    {"get_reserves", "get_assets", "get_jetton_data", "is_stable", "get_trade_fee", "estimate_swap_out"},
		contracts.ExchangeDepositCode: {"get_balances", "get_target_balances"},
	} {
		root := contracts.Code(code).MustBeginParse()
		if start := root.MustLoadSlice(40); !bytes.Equal(start, []byte{0xff, 0x00, 0xf4, 0xa4, 0x13}) {
			t.Errorf("code of %s begins with %x, want ff00f4a413", code, start)
		}
		dict := refOf(root).AsDict(19)
		for _, method := range methods {
			key := cell.BeginCell().MustStoreUInt(tlb.MethodNameHash(method), 19).EndCell()
			if _, err := dict.LoadValue(key); err != nil {
				t.Errorf("%s has no method %s: %v", code, method, err)
			}
		}
	}
}

package v2

import (
	"math/big"
	"time"

	"tonscribe/query/api"
	"tonscribe/query/node"
	"tonscribe/ton/code"
)

// walletRow is an account and the wallet that it is, empty for none.
type walletRow struct {
	*node.Account
	is     bool
	wallet code.Wallet
}

var walletInformation = api.Typed("WalletInformation", "ext.accounts.walletInformation",
	api.Bool("wallet", func(w walletRow) bool { return w.is }),
	api.BigDecimal("balance", func(w walletRow) *big.Int { return w.Balance }),
	api.Word("account_state", accountWords, func(w walletRow) string { return w.Status() }),
	api.PartOf("last_transaction_id", transactionID, func(w walletRow) *node.TransactionID { return &w.Last }),
	api.Text("wallet_type", func(w walletRow) string { return w.wallet.Type }).Optional(),
	api.Int32("seqno", func(w walletRow) int32 { return int32(w.wallet.Seqno) }).If(func(w walletRow) bool { return w.is }),
	api.Int32("wallet_id", func(w walletRow) int32 { return int32(*w.wallet.ID) }).If(func(w walletRow) bool { return w.wallet.ID != nil }),
	api.BoolIf("is_signature_allowed", func(w walletRow) *bool { return w.wallet.SignatureAllowed }).Optional(),
)

var getWalletInformation = &Method{
	Name: "getWalletInformation", Tag: tagAccounts, Summary: "Wallet information",
	Description: "What kind of wallet an account is, and where its seqno stands.",
	Params:      accountParams, Cache: time.Second,
	Result: of(api.Via(walletInformation, func(s *node.Account) walletRow {
		if w := s.Wallet(); w != nil {
			return walletRow{s, true, *w}
		}
		return walletRow{Account: s}
	}), (*call).account),
}

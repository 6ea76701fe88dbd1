package v2

import (
	"math/big"
	"time"

	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/query/api"
	"tonscribe/query/node"
	"tonscribe/query/stack"
	"tonscribe/ton/code"
)

// accountMembers are those of all answers about an account's state, from balance to
// the last transaction.
func accountMembers[R any](of func(R) *node.Account) []api.Member[R] {
	return []api.Member[R]{
		api.BigDecimal("balance", func(row R) *big.Int { return of(row).Balance }),
		currencies(func(row R) []node.Currency { return of(row).Currencies }),
		api.PartOf("last_transaction_id", transactionID, func(row R) *node.TransactionID { return &of(row).Last }),
		api.PartOf("block_id", blockID, func(row R) *ton.BlockIDExt { return of(row).Master }),
	}
}

// information is an account, and whether it is suspended.
type information struct {
	*node.Account
	suspended bool
}

var fullAccountState = api.Typed("FullAccountState", "raw.fullAccountState", append(accountMembers(func(i information) *node.Account { return i.Account }),
	api.Cell("code", func(i information) *cell.Cell { return i.Code() }),
	api.Cell("data", func(i information) *cell.Cell { return i.Data() }),
	api.Bytes("frozen_hash", func(i information) []byte { return i.FrozenHash() }),
	api.Uint32("sync_utime", func(i information) uint32 { return i.Utime }),
	api.Word("state", accountWords, func(i information) string { return i.Status() }),
	api.Bool("suspended", func(i information) bool { return i.suspended }),
)...)

var getAddressInformation = &Method{
	Name: "getAddressInformation", Tag: tagAccounts, Summary: "Address information",
	Description: "State of an account: balance, code, data, the last transaction.",
	Params:      accountParams, Cache: time.Second,
	Result: of(fullAccountState, func(c *call) (i information, err error) {
		if i.Account, err = c.account(); err == nil {
			i.suspended, err = c.Suspended(c, i.Account)
		}
		return i, err
	}),
}

var getAddressBalance = &Method{
	Name: "getAddressBalance", Tag: tagAccounts, Summary: "Address balance",
	Description: "Balance of an account in nanotons.",
	Params:      accountParams, Cache: time.Second,
	Result: of(api.Via(api.String, func(s *node.Account) string { return s.Balance.String() }), (*call).account),
}

var getAddressState = &Method{
	Name: "getAddressState", Tag: tagAccounts, Summary: "Address state",
	Description: "active, uninitialized or frozen.",
	Params:      accountParams, Cache: time.Second,
	Result: of(api.Via(api.String, (*node.Account).Status), (*call).account),
}

var getShardAccountCell = &Method{
	Name: "getShardAccountCell", Tag: tagAccounts, Summary: "Shard account cell",
	Description: "ShardAccount (TL-B) of an account: the last transaction's hash and lt, and a reference to the account.",
	Params:      accountParams, Cache: time.Second,
	Result: of(api.Via(stack.Cells, (*node.Account).ShardAccount), (*call).account),
}

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

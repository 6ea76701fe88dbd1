package render

import (
	"strconv"

	"tonscribe/query/api"
	"tonscribe/query/openapi"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// AccountRow is an account of an answer, with what its own record does not say.
type AccountRow struct {
	*record.Account
	Code *Code // nil when it is not known
}

// Code is what is known of an account's code.
type Code struct {
	BoC        []byte   // nil when it is not known
	Methods    []uint32 // nil when they are not known
	Interfaces []string // nil for null
}

func (a AccountRow) code() Code {
	if a.Code == nil {
		return Code{}
	}
	return *a.Code
}

func appendMethods(w *api.Writer, a AccountRow) bool {
	ids := a.code().Methods
	if ids != nil {
		w.JSON = api.AppendList(w.JSON, ids, func(dst []byte, id uint32) []byte { return strconv.AppendUint(dst, uint64(id), 10) })
	}
	return ids != nil
}

// Account is the newest state of an account.
var Account = api.New("FullState",
	api.Address("address", AccountRow.GetAccount),
	api.Hash("account_state_hash", AccountRow.GetHash).Doc("hash of the account's cell"),
	api.Decimal("balance", func(a AccountRow) uint64 { return a.State.GetBalance() }).Null().Doc("nanotons"),
	currencies("extra_currencies", func(a AccountRow) []*record.ExtraCurrency { return a.State.GetExtraCurrencies() }).
		NullUnless(func(a AccountRow) bool { return !a.State.GetExtraUnknown() }),
	api.Enum("status", statuses, func(a AccountRow) record.AccountStatus { return a.State.GetStatus() }).Null(),
	api.Hash("frozen_hash", func(a AccountRow) []byte { return a.State.GetFrozenHash() }).Optional(),
	api.Hash("last_transaction_hash", AccountRow.GetLastTransHash).Null(),
	api.Decimal("last_transaction_lt", AccountRow.GetLastTransLt).Null(),
	api.Hash("data_hash", func(a AccountRow) []byte { return a.State.GetDataHash() }).Optional(),
	api.Hash("code_hash", func(a AccountRow) []byte { return a.State.GetCodeHash() }).Optional(),
	api.PlainBoC("data_boc", AccountRow.GetData).Optional().Asked(StateBoCs).Doc("missing when it is not known, too large or too deep"),
	api.PlainBoC("code_boc", func(a AccountRow) []byte { return a.code().BoC }).Optional().Asked(StateBoCs).Doc("missing when it is not known"),
	api.Written("contract_methods", func(*openapi.Components) openapi.Object {
		return openapi.Schema("type", "array", "items", openapi.Schema("type", "integer", "format", "int64"))
	}, appendMethods).Null().Doc("ids of the get-methods; null when they are not known"),
	api.Texts("interfaces", func(a AccountRow) []string { return a.code().Interfaces }).Null().Doc("what the contract is by its code"),
)

// WalletRow is an account of an answer as a wallet.
type WalletRow struct {
	*record.Account
	*Wallet // nil where it is none
}

// Wallet is what is read from a wallet's data.
type Wallet struct {
	Type               string
	Seqno, WalletID    *uint32
	IsSignatureAllowed *bool
}

func (w WalletRow) is() bool { return w.Wallet != nil }

// WalletState is the state of a wallet, or of an account that is none.
var WalletState = api.New("WalletState",
	api.Address("address", WalletRow.GetAccount),
	api.Bool("is_wallet", WalletRow.is),
	api.Text("wallet_type", func(w WalletRow) string { return w.Type }).Optional().If(WalletRow.is),
	api.Uint32If("seqno", func(w WalletRow) *uint32 { return w.Seqno }).Optional().If(WalletRow.is),
	api.Uint32If("wallet_id", func(w WalletRow) *uint32 { return w.WalletID }).Optional().If(WalletRow.is),
	api.Decimal("balance", func(w WalletRow) uint64 { return w.State.GetBalance() }).Optional(),
	currencies("extra_currencies", func(w WalletRow) []*record.ExtraCurrency { return w.State.GetExtraCurrencies() }).
		If(func(w WalletRow) bool { return len(w.State.GetExtraCurrencies()) > 0 }),
	api.BoolIf("is_signature_allowed", func(w WalletRow) *bool { return w.IsSignatureAllowed }).Optional().If(WalletRow.is),
	api.Enum("status", statuses, func(w WalletRow) record.AccountStatus { return w.State.GetStatus() }).Optional(),
	api.Hash("code_hash", func(w WalletRow) []byte { return w.State.GetCodeHash() }).Optional(),
	api.Hash("last_transaction_hash", WalletRow.GetLastTransHash).Null(),
	api.Decimal("last_transaction_lt", WalletRow.GetLastTransLt).Null(),
)

// Balance is an account of a ranking.
type Balance struct {
	Account address.Address
	Amount  uint64
}

// RichAccount is an account of a ranking by balance.
var RichAccount = api.New("RichAccount",
	api.Address("account", func(b *Balance) []byte { return b.Account[:] }),
	api.Decimal("balance", func(b *Balance) uint64 { return b.Amount }).Doc("nanotons"),
)

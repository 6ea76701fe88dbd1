package render

import (
	"strconv"

	"tonscribe/schema/record"
)

// accountState appends an AccountState (contract 3.3); of nil only the hash is
// known.
func accountState(dst, hash []byte, state *record.AccountState) []byte {
	o := open(dst)
	o.hash("hash", hash)
	if state == nil {
		o.raw("balance", `null,"extra_currencies":null,"account_status":null,"frozen_hash":null,"data_hash":null,"code_hash":null`)
		return o.close()
	}
	o.decimal("balance", state.Balance)
	o.key("extra_currencies")
	if state.ExtraUnknown {
		o.dst = append(o.dst, "null"...)
	} else {
		o.dst = ExtraCurrencies(o.dst, state.ExtraCurrencies)
	}
	o.word("account_status", nameOf(statusNames[:], state.Status))
	o.hash("frozen_hash", state.FrozenHash)
	o.hash("data_hash", state.DataHash)
	o.hash("code_hash", state.CodeHash)
	return o.close()
}

// AccountOptions are what an account's own record does not say.
type AccountOptions struct {
	IncludeBoC bool
	Code       []byte   // BoC, nil when it is not known
	Methods    []uint32 // nil when they are not known
	Interfaces []string // nil for null
}

// Account appends an AccountStateFull (contract 3.4).
func Account(dst []byte, a *record.Account, opts AccountOptions) []byte {
	o := open(dst)
	o.address("address", a.Account)
	o.hash("account_state_hash", a.Hash)
	o.decimal("balance", a.State.GetBalance())
	o.key("extra_currencies")
	if a.State.GetExtraUnknown() {
		o.dst = append(o.dst, "null"...)
	} else {
		o.dst = ExtraCurrencies(o.dst, a.State.GetExtraCurrencies())
	}
	o.word("status", Status(a.State.GetStatus()))
	o.hashIf("frozen_hash", a.State.GetFrozenHash())
	o.hash("last_transaction_hash", a.LastTransHash)
	o.decimal("last_transaction_lt", a.LastTransLt)
	o.hashIf("data_hash", a.State.GetDataHash())
	o.hashIf("code_hash", a.State.GetCodeHash())
	if opts.IncludeBoC {
		o.bocIf("data_boc", a.Data)
		o.bocIf("code_boc", opts.Code)
	}
	o.key("contract_methods")
	o.dst = methods(o.dst, opts.Methods)
	o.key("interfaces")
	o.dst = Names(o.dst, opts.Interfaces)
	return o.close()
}

// Status is the word for an account's status.
func Status(status record.AccountStatus) string { return nameOf(statusNames[:], status) }

func methods(dst []byte, ids []uint32) []byte {
	if ids == nil {
		return append(dst, "null"...)
	}
	dst = append(dst, '[')
	for i, id := range ids {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendUint(dst, uint64(id), 10)
	}
	return append(dst, ']')
}

// Names appends a list of texts, null for nil.
func Names(dst []byte, names []string) []byte {
	if names == nil {
		return append(dst, "null"...)
	}
	dst = append(dst, '[')
	for i, name := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = Text(dst, name)
	}
	return append(dst, ']')
}

// bocIf writes a bag of cells, and leaves the member out when there is none.
func (o *object) bocIf(name string, boc []byte) {
	if len(boc) > 0 {
		o.key(name)
		o.dst = BoC(o.dst, boc)
	}
}

// BoC appends the BoC of code or data as account states show it: without the
// CRC-32C that records have.
func BoC(dst, boc []byte) []byte {
	const hasCRC = 0x40
	if len(boc) < 10 || boc[4]&hasCRC == 0 {
		return base64String(dst, boc)
	}
	plain := append(make([]byte, 0, len(boc)), boc[:len(boc)-4]...)
	plain[4] &^= hasCRC
	return base64String(dst, plain)
}

// WalletOptions are what is read from a wallet's data.
type WalletOptions struct {
	IsWallet           bool
	Type               string // empty: not a wallet that is known by its code
	Seqno              *uint32
	WalletID           *uint32
	IsSignatureAllowed *bool
}

// Wallet appends a WalletState (contract 3.5).
func Wallet(dst []byte, a *record.Account, w WalletOptions) []byte {
	o := open(dst)
	o.address("address", a.Account)
	o.bool("is_wallet", w.IsWallet)
	w.members(&o)
	o.decimal("balance", a.State.GetBalance())
	if len(a.State.GetExtraCurrencies()) > 0 {
		o.key("extra_currencies")
		o.dst = ExtraCurrencies(o.dst, a.State.ExtraCurrencies)
	}
	if w.IsSignatureAllowed != nil {
		o.bool("is_signature_allowed", *w.IsSignatureAllowed)
	}
	o.word("status", Status(a.State.GetStatus()))
	o.hashIf("code_hash", a.State.GetCodeHash())
	o.hash("last_transaction_hash", a.LastTransHash)
	o.decimal("last_transaction_lt", a.LastTransLt)
	return o.close()
}

func (w WalletOptions) members(o *object) {
	if w.Type != "" {
		o.word("wallet_type", w.Type)
	}
	if w.Seqno != nil {
		o.int("seqno", int64(*w.Seqno))
	}
	if w.WalletID != nil {
		o.int("wallet_id", int64(*w.WalletID))
	}
}

// Balance appends a row of topAccountsByBalance.
func Balance(dst, account []byte, balance uint64) []byte {
	o := open(dst)
	o.address("account", account)
	o.decimal("balance", balance)
	return o.close()
}

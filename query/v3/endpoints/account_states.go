package endpoints

import (
	"bytes"
	"slices"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/query/api"
	"tonscribe/query/cache"
	"tonscribe/query/params"
	"tonscribe/query/render"
	v3 "tonscribe/query/v3"
	"tonscribe/schema/record"
	"tonscribe/ton/code"
)

const accountsTag = "Accounts"

// stateParams are those of lists of accounts.
var stateParams = []params.Param{
	{Name: "address", Kind: params.AddressKind, Multi: true, Required: true, Range: "1..1000", Description: "accounts"},
	{Name: "code_hash", Kind: params.HashKind, Multi: true, Description: "only accounts with one of these codes"},
}

var errNoAccounts = params.Error{Status: 422, Text: "address of account is required"}

// maxAccounts is how many accounts a request may name.
const maxAccounts = 1024

var (
	accountStatesAnswer = v3.ListOf("AccountStatesAnswer", "accounts", render.Account, v3.HasBook|v3.HasMetadata)
	walletStatesAnswer  = v3.ListOf("WalletStatesAnswer", "wallets", render.WalletState, v3.HasBook|v3.HasMetadata)
)

var accountStates = &v3.Endpoint{
	Path: "/accountStates", Tag: accountsTag, Summary: "Account states",
	Description: "The newest states of accounts. Accounts that were never on the chain are left out.",
	Params: slices.Concat(stateParams, []params.Param{
		{Name: "include_boc", Kind: params.BoolKind, Default: "true", Description: "with code_boc and data_boc"},
	}),
	Result: accountStatesAnswer,
	Errors: []params.Error{errNoAccounts},
	Serve:  serveAccountStates,
}

func serveAccountStates(q *v3.Request) error {
	list, err := states(q)
	if err != nil {
		return err
	}
	codes, err := q.Store.Codes(q, codesOf(list))
	if err != nil {
		return err
	}
	var parts api.Part
	var bocs map[cache.Hash]cache.BoC
	if !q.Values.Sent("include_boc") || q.Values.Bool("include_boc") {
		parts = render.StateBoCs
		if bocs, err = q.Store.CodeBoCs(q, codesOf(list)); err != nil {
			return err
		}
	}
	return v3.ServeRows(q, accountStatesAnswer, parts, list, nil, func(a *record.Account) render.AccountRow {
		row := render.AccountRow{Account: a}
		if code := codes[codeOf(a)]; code != nil {
			row.Code = &render.Code{Methods: code.Methods, Interfaces: code.Interfaces, BoC: bocs[code.Hash]}
		}
		return row
	})
}

// states are the accounts that the request asks for, by address.
func states(q *v3.Request) ([]*record.Account, error) {
	wanted := q.Values.Addresses("address")
	if len(wanted) == 0 {
		return nil, &errNoAccounts
	}
	if len(wanted) > maxAccounts {
		return nil, params.Unprocessable("address is not allowed: %d > %d", len(wanted), maxAccounts)
	}
	found, err := q.Store.Accounts(q, q.View, wanted)
	if err != nil {
		return nil, err
	}
	hashes := q.Values.Hashes("code_hash")
	var list []*record.Account
	for _, a := range found {
		if len(hashes) == 0 || slices.Contains(hashes, codeOf(a)) {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b *record.Account) int { return bytes.Compare(a.Account, b.Account) })
	return list, nil
}

// codeOf is the hash of an account's code, zero without code.
func codeOf(a *record.Account) (hash cache.Hash) {
	if len(a.State.GetCodeHash()) == len(hash) {
		copy(hash[:], a.State.CodeHash)
	}
	return hash
}

func codesOf(accounts []*record.Account) (hashes []cache.Hash) {
	for _, a := range accounts {
		if hash := codeOf(a); hash != (cache.Hash{}) {
			hashes = append(hashes, hash)
		}
	}
	slices.SortFunc(hashes, cache.CompareHashes)
	return slices.Compact(hashes)
}

var walletStates = &v3.Endpoint{
	Path: "/walletStates", Tag: accountsTag, Summary: "Wallet states",
	Description: "What kinds of wallets accounts are, and where their seqnos stand. Accounts that are no wallets are listed too.",
	Params:      stateParams, Result: walletStatesAnswer,
	Errors: []params.Error{errNoAccounts},
	Serve: func(q *v3.Request) error {
		list, err := states(q)
		if err != nil {
			return err
		}
		return v3.ServeRows(q, walletStatesAnswer, 0, list, nil, func(a *record.Account) render.WalletRow {
			return render.WalletRow{Account: a, Wallet: walletOf(a)}
		})
	},
}

// walletOf reads a wallet's data; nil for what is none that is known by its code.
func walletOf(a *record.Account) *render.Wallet {
	build := codeOf(a)
	if !code.IsWallet(build) || len(a.Data) == 0 {
		return nil
	}
	data, err := cell.FromBOC(a.Data)
	if err != nil {
		return nil
	}
	w, ok := code.ReadWallet(build, data)
	if !ok {
		return nil
	}
	return &render.Wallet{Type: w.Type, Seqno: &w.Seqno, WalletID: w.ID, IsSignatureAllowed: w.SignatureAllowed}
}

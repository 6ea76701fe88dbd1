package v3

import (
	"bytes"
	"slices"

	"tonscribe/query/openapi"
	"tonscribe/query/params"
	"tonscribe/query/render"
	"tonscribe/query/store"
	"tonscribe/schema/record"
	"tonscribe/ton/code"

	"github.com/xssnick/tonutils-go/tvm/cell"
)

const accountsTag = "Accounts"

// stateParams are those of lists of accounts.
var stateParams = []params.Param{
	{Name: "address", Kind: params.AddressKind, Multi: true, Required: true, Range: "1..1000", Description: "accounts"},
	{Name: "code_hash", Kind: params.HashKind, Multi: true, Description: "only accounts with one of these codes"},
}

var errNoAccounts = params.Error{Status: 422, Text: "address of account is required"}

// mostAccounts is how many accounts a request may name.
const mostAccounts = 1024

// fullState is the state of an account (contract 3.4).
type fullState struct {
	Address         openapi.Address  `json:"address"`
	Hash            openapi.Hash     `json:"account_state_hash" doc:"hash of the account's cell"`
	Balance         *openapi.Decimal `json:"balance" doc:"nanotons"`
	ExtraCurrencies *currencies      `json:"extra_currencies"`
	Status          *string          `json:"status" enum:"uninit,frozen,active,nonexist"`
	FrozenHash      openapi.Hash     `json:"frozen_hash,omitempty"`
	LastHash        *openapi.Hash    `json:"last_transaction_hash"`
	LastLt          *openapi.Decimal `json:"last_transaction_lt"`
	DataHash        openapi.Hash     `json:"data_hash,omitempty"`
	CodeHash        openapi.Hash     `json:"code_hash,omitempty"`
	DataBoc         openapi.BOC      `json:"data_boc,omitempty" doc:"missing when it is not known, too large or too deep"`
	CodeBoc         openapi.BOC      `json:"code_boc,omitempty" doc:"missing when it is not known"`
	Methods         *[]int64         `json:"contract_methods" doc:"ids of the get-methods; null when they are not known"`
	Interfaces      *[]string        `json:"interfaces" doc:"what the contract is by its code"`
}

type accountStatesAnswer struct {
	Accounts []fullState `json:"accounts"`
	bookAndMetadata
}

var accountStates = &Endpoint{
	Path: "/accountStates", Tag: accountsTag, Summary: "Account states",
	Description: "The newest states of accounts. Accounts that were never on the chain are left out.",
	Params: params.Join(stateParams, []params.Param{
		{Name: "include_boc", Kind: params.BoolKind, Default: "true", Description: "with code_boc and data_boc"},
	}),
	Result: resultOf[accountStatesAnswer](),
	Errors: []params.Error{errNoAccounts},
	serve:  serveAccountStates,
}

func serveAccountStates(q *request) error {
	list, err := q.states()
	if err != nil {
		return err
	}
	withBoC := !q.values.Sent("include_boc") || q.values.Bool("include_boc")
	codes, err := q.store.Codes(q, codesOf(list))
	if err != nil {
		return err
	}
	var bocs map[store.Hash][]byte
	if withBoC {
		if bocs, err = q.store.CodeBoCs(q, codesOf(list)); err != nil {
			return err
		}
	}
	q.body = append(q.body, `{"accounts":[`...)
	for i, a := range list {
		if i > 0 {
			q.body = append(q.body, ',')
		}
		opts := render.AccountOptions{IncludeBoC: withBoC}
		if code := codes[codeOf(a)]; code != nil {
			opts.Methods, opts.Interfaces, opts.Code = code.Methods, code.Interfaces, bocs[code.Hash]
		}
		q.body = render.Account(q.body, a, opts)
	}
	q.body = append(q.body, ']')
	return q.bookOf(list)
}

// states are the accounts that the request asks for, by address.
func (q *request) states() ([]*record.Account, error) {
	wanted := q.values.Addresses("address")
	if len(wanted) == 0 {
		return nil, &errNoAccounts
	}
	if len(wanted) > mostAccounts {
		return nil, params.Unprocessable("address is not allowed: %d > %d", len(wanted), mostAccounts)
	}
	found, err := q.store.Accounts(q, q.view, wanted)
	if err != nil {
		return nil, err
	}
	hashes := q.values.Hashes("code_hash")
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
func codeOf(a *record.Account) (hash store.Hash) {
	if len(a.State.GetCodeHash()) == len(hash) {
		copy(hash[:], a.State.CodeHash)
	}
	return hash
}

func codesOf(list []*record.Account) (hashes []store.Hash) {
	for _, a := range list {
		if hash := codeOf(a); hash != (store.Hash{}) {
			hashes = append(hashes, hash)
		}
	}
	slices.SortFunc(hashes, func(a, b store.Hash) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(hashes)
}

// bookOf ends the answer about some accounts.
func (q *request) bookOf(list []*record.Account) error {
	book := addresses{}
	for _, a := range list {
		book.add(a.Account)
	}
	if err := q.bookAndMetadata(book, nil, true); err != nil {
		return err
	}
	q.body = append(q.body, '}')
	return nil
}

// walletState is the state of a wallet (contract 3.5).
type walletState struct {
	Address            openapi.Address  `json:"address"`
	IsWallet           bool             `json:"is_wallet"`
	WalletType         string           `json:"wallet_type,omitempty"`
	Seqno              *uint32          `json:"seqno,omitempty"`
	WalletID           *uint32          `json:"wallet_id,omitempty"`
	Balance            openapi.Decimal  `json:"balance,omitempty"`
	ExtraCurrencies    currencies       `json:"extra_currencies,omitempty"`
	IsSignatureAllowed *bool            `json:"is_signature_allowed,omitempty"`
	Status             string           `json:"status,omitempty" enum:"uninit,frozen,active,nonexist"`
	CodeHash           openapi.Hash     `json:"code_hash,omitempty"`
	LastHash           *openapi.Hash    `json:"last_transaction_hash"`
	LastLt             *openapi.Decimal `json:"last_transaction_lt"`
}

type walletStatesAnswer struct {
	Wallets []walletState `json:"wallets"`
	bookAndMetadata
}

var walletStates = &Endpoint{
	Path: "/walletStates", Tag: accountsTag, Summary: "Wallet states",
	Description: "What kinds of wallets accounts are, and where their seqnos stand. Accounts that are no wallets are listed too.",
	Params:      stateParams, Result: resultOf[walletStatesAnswer](),
	Errors: []params.Error{errNoAccounts},
	serve: func(q *request) error {
		list, err := q.states()
		if err != nil {
			return err
		}
		q.body = append(q.body, `{"wallets":[`...)
		for i, a := range list {
			if i > 0 {
				q.body = append(q.body, ',')
			}
			q.body = render.Wallet(q.body, a, walletOptions(a))
		}
		q.body = append(q.body, ']')
		return q.bookOf(list)
	},
}

func walletOptions(a *record.Account) render.WalletOptions {
	build := codeOf(a)
	if !code.IsWallet(build) || len(a.Data) == 0 {
		return render.WalletOptions{}
	}
	data, err := cell.FromBOC(a.Data)
	if err != nil {
		return render.WalletOptions{}
	}
	w, ok := code.ReadWallet(build, data)
	if !ok {
		return render.WalletOptions{}
	}
	return render.WalletOptions{IsWallet: true, Type: w.Type, Seqno: &w.Seqno, WalletID: w.ID, IsSignatureAllowed: w.SignatureAllowed}
}

package v2

import (
	"math/big"
	"time"

	"tonscribe/query/openapi"
	"tonscribe/ton/code"
)

type walletInformation struct {
	_                  typed         `type:"ext.accounts.walletInformation"`
	Wallet             bool          `json:"wallet"`
	Balance            *big.Int      `json:"balance"`
	AccountState       string        `json:"account_state" enum:"active,uninitialized,frozen"`
	Last               transactionID `json:"last_transaction_id"`
	WalletType         string        `json:"wallet_type,omitempty"`
	Seqno              *int32        `json:"seqno,omitempty"`
	WalletID           *int32        `json:"wallet_id,omitempty"`
	IsSignatureAllowed *bool         `json:"is_signature_allowed,omitempty"`
}

var getWalletInformation = &Method{
	Name: "getWalletInformation", Tag: tagAccounts, Summary: "Wallet information",
	Description: "What kind of wallet an account is, and where its seqno stands.",
	Params:      accountParams, Cache: time.Second,
	Result: openapi.TypeOf[walletInformation](),
	serve: func(c *call) (any, error) {
		s, err := c.accountOf()
		if err != nil {
			return nil, err
		}
		return newWalletInformation(s), nil
	},
}

func newWalletInformation(s *accountState) walletInformation {
	w := walletInformation{Balance: s.balance, AccountState: s.status(), Last: s.last}
	if s.code() == nil || s.data() == nil {
		return w
	}
	known, ok := code.ReadWallet(s.code().HashKey(), s.data())
	if !ok {
		return w
	}
	seqno := int32(known.Seqno)
	w.Wallet, w.WalletType, w.Seqno, w.IsSignatureAllowed = true, known.Type, &seqno, known.SignatureAllowed
	if known.ID != nil {
		id := int32(*known.ID)
		w.WalletID = &id
	}
	return w
}

package v2

import (
	"encoding/base64"
	"fmt"
	"math/big"
	"time"

	"github.com/xssnick/tonutils-go/tvm/cell"
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

// walletLayout is what stands at the beginning of a wallet's data.
type walletLayout uint8

const (
	layoutSeqno   walletLayout = iota // seqno 32
	layoutID                          // seqno 32, wallet_id 32
	layoutAllowed                     // is_signature_allowed 1, seqno 32, wallet_id 32
)

// walletKind is a wallet that is known by the hash of its code.
type walletKind struct {
	name   string
	layout walletLayout
}

// walletKinds are the wallets by the hash of their code.
var walletKinds = byCode(map[string]walletKind{
	"oM/CxIruFqJx8s/AtzgtgXVs7LEBfQd/qqs7tgL2how=": {"wallet v1 r1", layoutSeqno},
	"1JAvzJ+tdGmPqONTIgpo2g3PcuMryy657gQhfBfTBiw=": {"wallet v1 r2", layoutSeqno},
	"WHzHie/xyE9G7DeX5F/ICaFP9a4k8eDHpqmcydyQYf8=": {"wallet v1 r3", layoutSeqno},
	"XJpeaMEI4YchoHxC+ZVr+zmtd+xtYktgxXbsiO7mUyk=": {"wallet v2 r1", layoutSeqno},
	"/pUw0yQ4Uwg+8u8LTCkIwKv2+hwx6iQ6rKpb+MfXU/E=": {"wallet v2 r2", layoutSeqno},
	"thBBpYp5gLlG6PueGY48kE0keZ/6NldOpCUcQaVm9YE=": {"wallet v3 r1", layoutID},
	"hNr6RJ+Ypph3ibojI1gHK8D3bcRSQAKl0JGLmnXS1Zk=": {"wallet v3 r2", layoutID},
	"ZN1UgFUixb6KnbWc6gEFzPDQh4bKeb64y3nogKjXMi0=": {"wallet v4 r1", layoutID},
	"/rX/aCDi/w2Ug+fg1iyBfYRniftK5YDIeIZtlZ2r1cA=": {"wallet v4 r2", layoutID},
	"89fKU0k97trCizgZhqhJQDy6w9LFhHea8IEGWvCsS5M=": {"wallet v5 beta", layoutAllowed},
	"IINLe3KxEhR+Gy+0V7hOdNGjDwT3N9T2KmaOlVLSty8=": {"wallet v5 r1", layoutAllowed},
})

// byCode turns base64 keys into hashes.
func byCode[T any](list map[string]T) map[[32]byte]T {
	kinds := make(map[[32]byte]T, len(list))
	for text, kind := range list {
		hash, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(hash) != 32 {
			panic(fmt.Sprintf("query/v2: code hash %q is none", text))
		}
		kinds[[32]byte(hash)] = kind
	}
	return kinds
}

var getWalletInformation = &Method{
	Name: "getWalletInformation", Tag: tagAccounts, Summary: "Wallet information",
	Description: "What kind of wallet an account is, and where its seqno stands.",
	Params:      accountParams, Cache: time.Second,
	Result: resultOf[walletInformation](),
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
	known, ok := readWallet(s.code().HashKey(), s.data())
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

// Wallet is what a wallet's data begins with.
type Wallet struct {
	Type             string
	Seqno            uint32
	ID               *uint32 // nil for kinds that have none
	SignatureAllowed *bool   // of version 5
}

// IsWallet says that the code is one of a wallet.
func IsWallet(code [32]byte) bool {
	_, ok := walletKinds[code]
	return ok
}

// WalletOf reads the data, a bag of cells, of a contract with the code. It is
// false for what is no wallet.
func WalletOf(code [32]byte, data []byte) (Wallet, bool) {
	if !IsWallet(code) || len(data) == 0 {
		return Wallet{}, false
	}
	root, err := cell.FromBOC(data)
	if err != nil {
		return Wallet{}, false
	}
	return readWallet(code, root)
}

func readWallet(code [32]byte, data *cell.Cell) (w Wallet, ok bool) {
	kind, ok := walletKinds[code]
	if !ok {
		return w, false
	}
	r := parse(data)
	w.Type = kind.name
	if kind.layout == layoutAllowed {
		allowed := r.Bit()
		w.SignatureAllowed = &allowed
	}
	w.Seqno = uint32(r.Uint(32))
	if kind.layout != layoutSeqno {
		id := uint32(r.Uint(32))
		w.ID = &id
	}
	return w, r.Err() == nil // the code may be a wallet's and the data not
}

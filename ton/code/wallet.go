package code

import (
	"github.com/xssnick/tonutils-go/tvm/cell"

	toncell "tonscribe/ton/cell"
)

// Wallet is what the data of a wallet begins with.
type Wallet struct {
	Type             string // such as "wallet v4 r2"
	Seqno            uint32
	ID               *uint32 // nil for kinds that have none
	SignatureAllowed *bool   // of version 5, else nil
}

// walletLayout is what stands at the beginning of a wallet's data.
type walletLayout uint8

const (
	layoutSeqno   walletLayout = iota // seqno 32
	layoutID                          // seqno 32, wallet_id 32
	layoutAllowed                     // is_signature_allowed 1, seqno 32, wallet_id 32
)

type walletKind struct {
	name   string
	layout walletLayout
}

// wallets are the kinds of wallets whose data is read, by their public build.
var wallets = map[Hash]walletKind{
	Build("wallet_v1r1"):    {"wallet v1 r1", layoutSeqno},
	Build("wallet_v1r2"):    {"wallet v1 r2", layoutSeqno},
	Build("wallet_v1r3"):    {"wallet v1 r3", layoutSeqno},
	Build("wallet_v2r1"):    {"wallet v2 r1", layoutSeqno},
	Build("wallet_v2r2"):    {"wallet v2 r2", layoutSeqno},
	Build("wallet_v3r1"):    {"wallet v3 r1", layoutID},
	Build("wallet_v3r2"):    {"wallet v3 r2", layoutID},
	Build("wallet_v4r1"):    {"wallet v4 r1", layoutID},
	Build("wallet_v4r2"):    {"wallet v4 r2", layoutID},
	Build("wallet_v5_beta"): {"wallet v5 beta", layoutAllowed},
	Build("wallet_v5r1"):    {"wallet v5 r1", layoutAllowed},
}

// IsWallet reports whether the code is that of a wallet.
func IsWallet(code Hash) bool {
	_, ok := wallets[code]
	return ok
}

// ReadWallet reads the data of a contract with the code. The second value is
// false for what is no wallet, and for data that is not a wallet's.
func ReadWallet(code Hash, data *cell.Cell) (w Wallet, ok bool) {
	kind, ok := wallets[code]
	if !ok {
		return w, false
	}
	r := toncell.NewReader(data)
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
	return w, r.Err() == nil
}

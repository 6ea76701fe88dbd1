package contracts

import (
	"math/big"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// JettonMinter is a jetton master of TEP-74 and TEP-89.
type JettonMinter struct {
	Admin   *address.Address
	Content *cell.Cell // OnchainContent or OffchainContent
	// WalletCode names the code of its wallets, JettonWalletCode when empty.
	WalletCode string
}

// StateInit begins with no supply: jettons come from JettonMintBody.
func (m JettonMinter) StateInit() *tlb.StateInit {
	return stateInit(JettonMinterCode, cell.BeginCell().
		MustStoreBigCoins(new(big.Int)).
		MustStoreAddr(m.Admin).
		MustStoreRef(m.Content).
		MustStoreRef(jettonWalletCode(m.WalletCode)))
}

func jettonWalletCode(name string) *cell.Cell {
	if name == "" {
		name = JettonWalletCode
	}
	return Code(name)
}

// Address is where StateInit is deployed.
func (m JettonMinter) Address(workchain int32) *address.Address {
	return AddressOf(workchain, m.StateInit())
}

// Wallet is the jetton wallet of an owner.
func (m JettonMinter) Wallet(workchain int32, owner *address.Address) JettonWallet {
	return JettonWallet{Owner: owner, Minter: m.Address(workchain), Code: m.WalletCode}
}

// JettonWallet is a jetton wallet of TEP-74. The minter and other wallets
// deploy it with the first jettons; its balance begins with 0.
type JettonWallet struct {
	Owner, Minter *address.Address
	Code          string // as the minter's WalletCode
}

// StateInit begins with no jettons.
func (w JettonWallet) StateInit() *tlb.StateInit {
	code := jettonWalletCode(w.Code)
	return &tlb.StateInit{Code: code, Data: cell.BeginCell().
		MustStoreBigCoins(new(big.Int)).
		MustStoreAddr(w.Owner).
		MustStoreAddr(w.Minter).
		MustStoreRef(code).EndCell()}
}

// Address is where StateInit is deployed.
func (w JettonWallet) Address(workchain int32) *address.Address {
	return AddressOf(workchain, w.StateInit())
}

// JettonTransfer is the message transfer of TEP-74, from the owner to their
// jetton wallet.
type JettonTransfer struct {
	QueryID        uint64
	Amount         *big.Int
	Destination    *address.Address // owner of the other wallet
	Response       *address.Address // gets what is left of the value
	Custom         *cell.Cell
	ForwardValue   *big.Int // nanotons of the notification; none is sent for 0
	ForwardPayload *cell.Cell
}

// JettonTransferBody is for the owner's jetton wallet.
func JettonTransferBody(t JettonTransfer) *cell.Cell {
	return either(body(0x0f8a7ea5, t.QueryID).
		MustStoreBigCoins(amount(t.Amount)).
		MustStoreAddr(t.Destination).
		MustStoreAddr(t.Response).
		MustStoreMaybeRef(t.Custom).
		MustStoreBigCoins(amount(t.ForwardValue)), t.ForwardPayload).EndCell()
}

// JettonBurnBody is for the owner's jetton wallet.
func JettonBurnBody(queryID uint64, jettons *big.Int, response *address.Address) *cell.Cell {
	return body(0x595f07bc, queryID).
		MustStoreBigCoins(amount(jettons)).
		MustStoreAddr(response).
		MustStoreMaybeRef(nil).EndCell()
}

// JettonMint asks a minter for new jettons.
type JettonMint struct {
	QueryID        uint64
	Amount         *big.Int
	To             *address.Address // owner of the wallet
	Value          *big.Int         // nanotons that go to the wallet, of the minter's
	From           *address.Address // told in the notification
	Response       *address.Address
	ForwardValue   *big.Int
	ForwardPayload *cell.Cell
	Old            bool // with the number 0x15 of older minters
}

// JettonMintBody is for the minter, from its admin.
func JettonMintBody(m JettonMint) *cell.Cell {
	op := uint64(0x642b7d07)
	if m.Old {
		op = 0x15
	}
	transfer := either(body(0x178d4519, m.QueryID).
		MustStoreBigCoins(amount(m.Amount)).
		MustStoreAddr(m.From).
		MustStoreAddr(m.Response).
		MustStoreBigCoins(amount(m.ForwardValue)), m.ForwardPayload)
	return body(op, m.QueryID).
		MustStoreAddr(m.To).
		MustStoreBigCoins(amount(m.Value)).
		MustStoreRef(transfer.EndCell()).EndCell()
}

// ProvideWalletAddressBody of TEP-89 is for the minter, from anybody.
func ProvideWalletAddressBody(queryID uint64, owner *address.Address, include bool) *cell.Cell {
	return body(0x2c76b973, queryID).MustStoreAddr(owner).MustStoreBoolBit(include).EndCell()
}

// TopUpBody adds to the balance of any of our contracts.
func TopUpBody(queryID uint64) *cell.Cell {
	return body(0xd372158c, queryID).EndCell()
}

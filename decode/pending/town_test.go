package pending

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"math/big"
	"testing"

	tonutils "github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
	"tonscribe/devnet/genesis"
	"tonscribe/test/support/configtest"
	"tonscribe/ton/address"
	toncell "tonscribe/ton/cell"
	"tonscribe/ton/tvm"
)

const noon = 1_760_000_000

// town is a World of accounts that stand still.
type town struct {
	accounts map[address.Address]*cell.Cell
	failing  *address.Address // its state cannot be read
	executed int
}

func (w *town) State(_ context.Context, a address.Address) (State, error) {
	if w.failing != nil && a == *w.failing {
		return State{}, context.DeadlineExceeded
	}
	return State{Account: w.accounts[a], LastLT: 1000}, nil
}

func (w *town) Libraries(_ context.Context, hashes [][32]byte) ([]*cell.Cell, error) {
	return make([]*cell.Cell, len(hashes)), nil
}

func (w *town) Deliver(_ context.Context, in tvm.Delivery) (tvm.Outcome, error) {
	w.executed++
	return tvm.Deliver(in)
}

// settle puts an active account into the town.
func (w *town) settle(t testing.TB, at *tonutils.Address, code, data *cell.Cell, nanotons uint64) {
	t.Helper()
	size, err := toncell.SizeOf(1<<20, code, data)
	if err != nil {
		t.Fatal(err)
	}
	account, err := tlb.ToCell(&tlb.AccountState{
		IsValid: true, Address: at,
		StorageInfo: tlb.StorageInfo{
			StorageUsed:  tlb.StorageUsed{CellsUsed: new(big.Int).SetUint64(size.Cells + 1), BitsUsed: new(big.Int).SetUint64(size.Bits)},
			StorageExtra: tlb.StorageExtraNone{}, LastPaid: noon - 60,
		},
		AccountStorage: tlb.AccountStorage{
			Status: tlb.AccountStatusActive, LastTransactionLT: 1000, Balance: tlb.FromNanoTONU(nanotons),
			StateInit: &tlb.StateInit{Code: code, Data: data},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if w.accounts == nil {
		w.accounts = map[address.Address]*cell.Cell{}
	}
	w.accounts[address.New(at.Workchain(), at.Data())] = account
}

// moment is the next block of a chain with the devnet's parameters.
func moment(t testing.TB, change func(*genesis.Config)) Moment {
	t.Helper()
	return Moment{Config: configtest.Of(t, change, nil), Now: noon, LT: 20_000_000}
}

// household is a wallet with jettons of its own, in a town.
type household struct {
	town
	contracts.Wallet
	key    ed25519.PrivateKey
	minter contracts.JettonMinter
}

func newHousehold(t testing.TB) *household {
	t.Helper()
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	h := &household{key: key, Wallet: contracts.NewWallet(contracts.WalletV3R2, key.Public().(ed25519.PublicKey), -3)}
	at := h.Address(0)
	h.settle(t, at, h.StateInit().Code, h.StateInit().Data, 100e9)
	h.minter = contracts.JettonMinter{Admin: at, Content: cell.BeginCell().EndCell()}
	purse := h.minter.Wallet(0, at)
	data := cell.BeginCell().MustStoreBigCoins(big.NewInt(500)).MustStoreAddr(at).MustStoreAddr(h.minter.Address(0)).
		MustStoreRef(contracts.Code(contracts.JettonWalletCode)).EndCell()
	h.settle(t, purse.Address(0), purse.StateInit().Code, data, 1e9)
	return h
}

func account(b byte) *tonutils.Address {
	id := make([]byte, 32)
	id[0], id[31] = b, b
	return tonutils.NewAddress(0, 0, id)
}

// order is a signed message to the wallet.
func (h *household) order(t testing.TB, messages ...contracts.Message) *cell.Cell {
	t.Helper()
	m, err := h.External(0, h.key, contracts.Order{Messages: messages, ValidUntil: noon + 600})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// transfer moves jettons to an account.
func (h *household) transfer(to *tonutils.Address, jettons int64) contracts.Message {
	return contracts.Message{To: h.minter.Wallet(0, h.Address(0)).Address(0), Value: big.NewInt(200_000_000), Mode: contracts.ModePayFees,
		Body: contracts.JettonTransferBody(contracts.JettonTransfer{Amount: big.NewInt(jettons), Destination: to, Response: h.Address(0), ForwardValue: big.NewInt(1)})}
}

// program is code with cells that it refers to.
func program(t testing.TB, code string, refs ...*cell.Cell) *cell.Cell {
	t.Helper()
	raw, err := hex.DecodeString(code)
	if err != nil {
		t.Fatal(err)
	}
	b := cell.BeginCell().MustStoreSlice(raw, uint(len(raw))*8)
	for _, r := range refs {
		b.MustStoreRef(r)
	}
	return b.EndCell()
}

// letter is a message that a program sends.
func letter(t testing.TB, to *tonutils.Address, nanotons uint64, body *cell.Cell) *cell.Cell {
	t.Helper()
	c, err := tlb.ToCell(&tlb.InternalMessage{IHRDisabled: true, DstAddr: to, Amount: tlb.FromNanoTONU(nanotons), Body: body})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// knock is a message from outside without a body.
func knock(t testing.TB, to *tonutils.Address) *cell.Cell {
	t.Helper()
	c, err := tlb.ToCell(&tlb.ExternalMessage{DstAddr: to, Body: cell.BeginCell().EndCell()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var noTON = new(big.Int)

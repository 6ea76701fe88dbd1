package chain

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton/wallet"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

const genUtime = uint32(1_700_000_000)

// town is a number of wallets v4r2 that send each other money.
type town struct {
	t       testing.TB
	rand    *rand.Rand
	wallets []*walletV4
}

type walletV4 struct {
	key   ed25519.PrivateKey
	addr  *address.Address
	init  *tlb.StateInit
	seqno uint32
}

const subwallet = 698983191

func newTown(t testing.TB, n int) *town {
	w := &town{t: t, rand: rand.New(rand.NewPCG(1, 2))}
	for i := range n {
		seed := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("wallet"), uint64(i)))
		w.wallets = append(w.wallets, newWallet(t, ed25519.NewKeyFromSeed(seed[:]), 0))
	}
	return w
}

func newWallet(t testing.TB, key ed25519.PrivateKey, workchain int8) *walletV4 {
	t.Helper()
	init, err := wallet.GetStateInit(key.Public().(ed25519.PublicKey), wallet.V4R2, subwallet)
	must(t, err)
	addr, err := wallet.AddressFromPubKey(key.Public().(ed25519.PublicKey), wallet.V4R2, subwallet, workchain)
	must(t, err)
	return &walletV4{key: key, addr: addr, init: init}
}

// accounts are the wallets with a thousand TON each.
func (w *town) accounts() (list []Account) {
	for _, x := range w.wallets {
		list = append(list, Account{
			Workchain: x.addr.Workchain(), ID: [32]byte(x.addr.Data()), Code: x.init.Code, Data: x.init.Data,
			Balance: big.NewInt(1000_000_000_000),
		})
	}
	return list
}

func (w *town) pick() *walletV4 { return w.wallets[w.rand.IntN(len(w.wallets))] }

// pay is an external message that makes a wallet send messages.
func (x *walletV4) pay(t testing.TB, messages ...*tlb.InternalMessage) *cell.Cell {
	t.Helper()
	return x.send(t, 3, messages...)
}

// payAll sends all there is and leaves nothing behind, not even the wallet.
func (x *walletV4) payAll(t testing.TB, message *tlb.InternalMessage) *cell.Cell {
	t.Helper()
	return x.send(t, 128+32, message)
}

func (x *walletV4) send(t testing.TB, mode uint64, messages ...*tlb.InternalMessage) *cell.Cell {
	t.Helper()
	order := cell.BeginCell().MustStoreUInt(subwallet, 32).MustStoreUInt(0xffffffff, 32).MustStoreUInt(uint64(x.seqno), 32).MustStoreUInt(0, 8)
	for _, m := range messages {
		c, err := tlb.ToCell(m)
		must(t, err)
		order.MustStoreUInt(mode, 8).MustStoreRef(c)
	}
	x.seqno++
	body := cell.BeginCell().MustStoreSlice(ed25519.Sign(x.key, order.EndCell().Hash()), 512).MustStoreBuilder(order).EndCell()
	c, err := tlb.ToCell(&tlb.ExternalMessage{DstAddr: x.addr, Body: body})
	must(t, err)
	return c
}

func to(addr *address.Address, nano int64, bounce bool, body *cell.Cell) *tlb.InternalMessage {
	return &tlb.InternalMessage{IHRDisabled: true, Bounce: bounce, DstAddr: addr, Amount: tlb.FromNanoTON(big.NewInt(nano)), Body: body}
}

// payments are messages of n random wallets to random wallets.
func (w *town) payments(n int) (list []*cell.Cell) {
	for range n {
		list = append(list, w.pick().pay(w.t, to(w.pick().addr, 1_000_000+w.rand.Int64N(1_000_000), false, nil)))
	}
	return list
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

package node

import (
	"encoding/hex"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/history"
	"tonscribe/devnet/liteserver"
	"tonscribe/devnet/traffic"
	"tonscribe/internal/lifetime/lifetimetest"
	"tonscribe/internal/lite"
	"tonscribe/internal/report"
	"tonscribe/test/support/litetest"
	"tonscribe/ton/address"
	"tonscribe/ton/code"
)

// town is a chain and who asks its lite server.
type town struct {
	*Node
	chain *chain.Chain
	store *history.Store
}

// newTown makes the first blocks of a chain with some accounts in its zerostate.
func newTown(t *testing.T, blocks uint32, accounts ...chain.Account) *town {
	t.Helper()
	now := uint32(time.Now().Unix()) - 1000
	people := traffic.New(7, traffic.Options{NetworkID: -3})
	made, err := chain.New(chain.Options{Seed: 7, GenUtime: now, Params: people.Params(), Accounts: append(people.Accounts(), accounts...)})
	if err != nil {
		t.Fatal(err)
	}
	master, base := made.Zerostates()
	store := litetest.NewStore(t, history.Options{}, master, base)
	for i := range blocks {
		bundle, err := made.Step(now+2*i+2, nil)
		if err == nil {
			err = store.Append(bundle)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	server := litetest.Serve(t, liteserver.Dependencies{History: store, Send: made.Check, Now: func() uint32 { return now }})
	c := lite.DefaultConfiguration()
	if c.Inline, err = server.GlobalConfig(); err != nil {
		t.Fatal(err)
	}
	pool, err := lite.New(c, lite.Dependencies{Report: report.Silent()})
	if err != nil {
		t.Fatal(err)
	}
	lifetimetest.Run(t, pool)
	n, err := New(DefaultConfiguration(), Dependencies{Report: report.Silent(), Servers: pool})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Stop)
	return &town{n, made, store}
}

// contractWith is an account of the basechain with TVM code in hex.
func contractWith(number byte, code string, data *cell.Cell) chain.Account {
	raw, err := hex.DecodeString(strings.ReplaceAll(code, " ", ""))
	if err != nil {
		panic(err)
	}
	body := cell.BeginCell().MustStoreSlice(raw, uint(len(raw))*8).EndCell()
	return chain.Account{ID: [32]byte{0xb0, number}, Code: body, Data: data, Balance: big.NewInt(1_000_000_000)}
}

// restrictedData is the data of a restricted wallet after its first message.
func restrictedData(seqno uint64, limits map[int64]uint64) *cell.Cell {
	dictionary := cell.NewDict(32)
	for seconds, value := range limits {
		if err := dictionary.Set(cell.BeginCell().MustStoreInt(seconds, 32).EndCell(), cell.BeginCell().MustStoreCoins(value).EndCell()); err != nil {
			panic(err)
		}
	}
	return cell.BeginCell().MustStoreUInt(seqno, 32).MustStoreUInt(4_000_000_000, 32).MustStoreSlice(make([]byte, 32), 256).
		MustStoreUInt(1_700_000_000, 32).MustStoreDict(dictionary).EndCell()
}

func TestARestrictedWalletIsReadAndAskedWhatItMaySend(t *testing.T) {
	const balance = "30 80 2A" // 42, whatever is asked for
	wallet := contractWith(0x10, balance, restrictedData(7, map[int64]uint64{-32768: 900, 100: 300, 92: 800}))
	fresh := contractWith(0x11, balance, restrictedData(0, nil))
	silent := contractWith(0x12, "30 F2F0", restrictedData(7, nil)) // throws
	known := contractKinds
	contractKinds = map[code.Hash]contractKind{}
	for _, a := range []chain.Account{wallet, fresh, silent} {
		contractKinds[a.Code.HashKey()] = contractKind{1, readRestricted}
	}
	t.Cleanup(func() { contractKinds = known })
	n := newTown(t, 2, wallet, fresh, silent)
	for _, c := range []struct {
		name     string
		account  chain.Account
		want     Contract
		revision int32
	}{
		{"a wallet", wallet, &RestrictedWallet{
			ID: 4_000_000_000, Seqno: 7, Unlocked: 42, StartAt: 1_700_000_000, Limits: []RestrictedLimit{{-32768, 900}, {92, 800}, {100, 300}},
		}, 1},
		{"one without its first message", fresh, nil, 0},
		{"one that does not say its balance", silent, nil, 0},
	} {
		s, err := n.Account(t.Context(), address.New(0, c.account.ID[:]), nil)
		if err != nil {
			t.Fatal(err)
		}
		got, revision, err := n.Contract(t.Context(), s)
		if err != nil || revision != c.revision || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, revision %d, %v; want %+v, %d", c.name, got, revision, err, c.want, c.revision)
		}
	}
}

func TestTheRestrictedWalletOfTheContractIsKnown(t *testing.T) {
	if kind, known := contractKinds[code.MustHash("jTUEm5Rs8ztYUQu0VgyEGpRfd4HW3p/GnKP0MPbjInM=")]; !known || kind.revision != 1 {
		t.Errorf("revision %d, known %t, want 1", kind.revision, known)
	}
}

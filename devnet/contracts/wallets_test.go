package contracts_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"math/big"
	"testing"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/contracts"
)

var walletNames = map[contracts.WalletVersion]string{
	contracts.WalletV3R2: "v3r2", contracts.WalletV4R2: "v4r2", contracts.WalletV5R1: "v5r1", contracts.WalletHighloadV3: "highload v3",
}

func TestWalletsHaveThePublicCodes(t *testing.T) {
	for version, want := range map[contracts.WalletVersion]string{
		contracts.WalletV3R2:       "hNr6RJ+Ypph3ibojI1gHK8D3bcRSQAKl0JGLmnXS1Zk=",
		contracts.WalletV4R2:       "/rX/aCDi/w2Ug+fg1iyBfYRniftK5YDIeIZtlZ2r1cA=",
		contracts.WalletV5R1:       "IINLe3KxEhR+Gy+0V7hOdNGjDwT3N9T2KmaOlVLSty8=",
		contracts.WalletHighloadV3: "EayteVWEQJDyg78ji8FEmHH3g+fMCXlAjT9IWUg+hSU=",
	} {
		key := ed25519.NewKeyFromSeed(seed(1))
		init := contracts.NewWallet(version, key.Public().(ed25519.PublicKey), -239).StateInit()
		if got := base64.StdEncoding.EncodeToString(init.Code.Hash()); got != want {
			t.Errorf("code of %s is %s, want %s", walletNames[version], got, want)
		}
	}
}

// The first order of a wallet deploys it; the next ones do not. One message and
// many are sent, with comments and with a state init.
func TestWalletsSendWhatTheyAreOrdered(t *testing.T) {
	for version, name := range walletNames {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			key := ed25519.NewKeyFromSeed(seed(7))
			wallet := contracts.NewWallet(version, key.Public().(ed25519.PublicKey), -239)
			at := wallet.Address(0)
			w.place(at, nil, ton(100))
			minter := contracts.JettonMinter{Admin: at, Content: contracts.OffchainContent("x")}
			var many []contracts.Message
			for i := range min(wallet.MaxMessages(), 40) {
				many = append(many, contracts.Message{To: user(byte(i + 1)), Value: ton(0.1), Mode: 3, Body: contracts.CommentBody(fmt.Sprint(i))})
			}
			for seqno, messages := range [][]contracts.Message{
				{{To: alice, Value: ton(1), Mode: contracts.ModePayFees | contracts.ModeIgnoreErrors, Body: contracts.CommentBody("first")}},
				{{To: minter.Address(0), Value: ton(1), Mode: 3, StateInit: minter.StateInit()}},
				many,
			} {
				order := contracts.Order{
					Messages: messages, Seqno: uint32(seqno), ValidUntil: w.now + 60,
					QueryID: uint32(seqno), CreatedAt: uint64(w.now - 1), Deploy: seqno == 0,
				}
				external := sign(t, wallet, key, order)
				if again := sign(t, wallet, key, order); !bytes.Equal(external.Hash(), again.Hash()) {
					t.Fatalf("the same order is %x and %x", external.Hash(), again.Hash())
				}
				trace := w.deliver(external)
				sent := 0
				for _, one := range trace {
					if one.tx == nil || one.aborted() && !one.isUninit() {
						t.Fatalf("order %d: trace is %s", seqno, text(trace))
					}
					if !one.account.Equals(at) {
						sent++
					}
				}
				if sent != len(messages) {
					t.Fatalf("order %d of %d messages sends %d", seqno, len(messages), sent)
				}
				if again := w.deliver(external); again[0].tx != nil && version != contracts.WalletHighloadV3 || again[0].Accepted {
					t.Errorf("order %d is accepted twice", seqno)
				}
			}
			if !w.active(minter.Address(0)) {
				t.Error("the minter was not deployed")
			}
			expectValues(t, "get_public_key", w.get(at, "get_public_key"), new(big.Int).SetBytes(wallet.Key))
			if version != contracts.WalletHighloadV3 {
				expectValues(t, "seqno", w.get(at, "seqno"), 3)
			}
		})
	}
}

func sign(t *testing.T, wallet contracts.Wallet, key ed25519.PrivateKey, order contracts.Order) *cell.Cell {
	t.Helper()
	external, err := wallet.External(0, key, order)
	if err != nil {
		t.Fatal(err)
	}
	return external
}

func TestWalletRefusesAnotherKeyAnExpiredOrderAndTooMany(t *testing.T) {
	w := newWorld(t)
	key, other := ed25519.NewKeyFromSeed(seed(7)), ed25519.NewKeyFromSeed(seed(8))
	wallet := contracts.NewWallet(contracts.WalletV4R2, key.Public().(ed25519.PublicKey), -239)
	w.place(wallet.Address(0), wallet.StateInit(), ton(1))
	one := contracts.Message{To: alice, Value: ton(0.1), Mode: 3}
	if _, err := wallet.External(0, other, contracts.Order{Messages: []contracts.Message{one}}); err == nil {
		t.Error("signed with another wallet's key")
	}
	if _, err := wallet.External(0, key, contracts.Order{Messages: []contracts.Message{one, one, one, one, one}}); err == nil {
		t.Error("five messages in an order of a wallet v4")
	}
	trace := w.deliver(sign(t, wallet, key, contracts.Order{Messages: []contracts.Message{one}, ValidUntil: w.now - 1}))
	if trace[0].Accepted {
		t.Error("an expired order is accepted")
	}
}

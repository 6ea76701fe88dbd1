package v2

import (
	"crypto/ed25519"
	"math/big"
	"sync"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/contracts"
	"tonscribe/devnet/history"
	"tonscribe/devnet/traffic"
	"tonscribe/internal/lite"
	"tonscribe/test/support/litetest"
	own "tonscribe/ton/address"
)

// town is a chain of its own with people, jettons, NFTs and names on it, a lite
// server that proves it, and the API that asks it.
type town struct {
	*service
	pool    *lite.Pool
	store   *history.Store
	traffic *traffic.Traffic
	alice   person

	mu    sync.Mutex
	chain *chain.Chain
	inbox []*cell.Cell
	now   uint32
}

const townID = -3

// person has a wallet v4r2 with money in the zerostate.
type person struct {
	key    ed25519.PrivateKey
	wallet contracts.Wallet
}

func newPerson(number byte) person {
	seed := make([]byte, ed25519.SeedSize)
	seed[0] = number
	key := ed25519.NewKeyFromSeed(seed)
	return person{key: key, wallet: contracts.NewWallet(contracts.WalletV4R2, key.Public().(ed25519.PublicKey), townID)}
}

func (p person) address() *address.Address { return p.wallet.Address(0) }

func (p person) account() chain.Account {
	state := p.wallet.StateInit()
	return chain.Account{ID: [32]byte(p.address().Data()), Code: state.Code, Data: state.Data, Balance: big.NewInt(1_000_000_000_000)}
}

// newTown has made its first blocks. Accounts stand in its zerostate.
func newTown(t *testing.T, blocks int, transactions int, accounts ...chain.Account) *town {
	t.Helper()
	return newTownBy(t, chain.Simplex, blocks, transactions, accounts...)
}

// newTownBy is newTown of a chain that is signed in one of the ways.
func newTownBy(t *testing.T, signers chain.Consensus, blocks int, transactions int, accounts ...chain.Account) *town {
	t.Helper()
	w := &town{traffic: traffic.New(7, traffic.Options{NetworkID: townID}), alice: newPerson(1), now: uint32(time.Now().Unix()) - 1000}
	made, err := chain.New(chain.Options{
		Seed: 7, GenUtime: w.now, Consensus: signers, Params: w.traffic.Params(),
		Accounts: append(append(w.traffic.Accounts(), w.alice.account()), accounts...),
	})
	if err != nil {
		t.Fatal(err)
	}
	master, base := made.Zerostates()
	w.chain, w.store = made, litetest.NewStore(t, history.Options{}, master, base)
	w.service = &service{t: t}
	for range blocks {
		w.step(transactions)
	}
	w.pool = newPool(t, w.store, w.take, lite.Secure)
	w.service = newService(t, w.pool, withTON)
	return w
}

// take is where the lite server puts what it is sent.
func (w *town) take(message *cell.Cell) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.chain.Check(message); err != nil {
		return err
	}
	w.inbox = append(w.inbox, message)
	return nil
}

// step makes a bundle of what was sent and of traffic, two seconds later.
func (w *town) step(transactions int) *chain.Bundle {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now += 2
	master, _ := w.chain.Head()
	seqno := uint32(1)
	if master != nil {
		seqno = master.ID.SeqNo + 1
	}
	sent := w.inbox
	if transactions > 0 {
		more, err := w.traffic.Next(w.chain, seqno, w.now, transactions)
		if err != nil {
			w.t.Fatal(err)
		}
		sent = append(sent, more...)
	}
	b, err := w.chain.Step(w.now, sent)
	if err != nil {
		w.t.Fatal(err)
	}
	w.inbox = nil
	if err := w.store.Append(b); err != nil {
		w.t.Fatal(err)
	}
	return b
}

// await lets the API see the newest block.
func (w *town) await() {
	w.t.Helper()
	if _, err := w.pool.WaitHead(w.t.Context(), w.store.Last()); err != nil {
		w.t.Fatal(err)
	}
}

// accounts are the accounts of the basechain that had a transaction.
func (w *town) accounts() []Address {
	w.t.Helper()
	seen := map[[32]byte]bool{}
	var list []Address
	for seqno := uint32(1); seqno <= w.store.Last(); seqno++ {
		bundle, err := w.store.Bundle(seqno)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, b := range bundle.Shards {
			for i := range b.Transactions {
				if id := b.Transactions[i].Account; !seen[id] {
					seen[id] = true
					list = append(list, Address{Address: own.New(0, id[:])})
				}
			}
		}
	}
	return list
}

// transfer is a signed message of Alice's.
func (w *town) transfer(seqno uint32, to *address.Address, nanotons int64, comment string) *cell.Cell {
	w.t.Helper()
	m, err := w.alice.wallet.External(0, w.alice.key, contracts.Order{
		Seqno: seqno, ValidUntil: w.now + 3600,
		Messages: []contracts.Message{{To: to, Value: big.NewInt(nanotons), Body: contracts.CommentBody(comment), Mode: contracts.ModePayFees}},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return m
}

// post asks by POST.
func (s *service) post(name, body string) reply { return s.send("POST", Prefix+"/"+name, body) }

func (s *service) result(r reply, what string) any {
	s.t.Helper()
	if r.status != 200 {
		s.t.Fatalf("%s: %d %s", what, r.status, r.text)
	}
	return r.body["result"]
}

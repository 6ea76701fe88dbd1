package liteserver

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
)

// networkID is the global id that package genesis gives the chain.
const networkID = -3

// devnet is a chain of its own behind a lite server.
type devnet struct {
	*Component
	t     testing.TB
	store *history.Store
	begin uint32

	mu    sync.Mutex
	chain *chain.Chain
	inbox []*cell.Cell
}

// person has a wallet v4r2 with money in the zerostate.
type person struct {
	key     ed25519.PrivateKey
	wallet  contracts.Wallet
	address *address.Address
}

func newPerson(number byte) person {
	seed := make([]byte, ed25519.SeedSize)
	seed[0] = number
	key := ed25519.NewKeyFromSeed(seed)
	wallet := contracts.NewWallet(contracts.WalletV4R2, key.Public().(ed25519.PublicKey), networkID)
	return person{key: key, wallet: wallet, address: wallet.Address(0)}
}

func (p person) account() chain.Account {
	state := p.wallet.StateInit()
	return chain.Account{ID: [32]byte(p.address.Data()), Code: state.Code, Data: state.Data, Balance: big.NewInt(1_000_000_000_000)}
}

// newDevnet has made its first three blocks.
func newDevnet(t testing.TB, options chain.Options, people ...person) *devnet {
	t.Helper()
	options.Seed, options.GenUtime = 1, uint32(time.Now().Unix())-100
	for _, p := range people {
		options.Accounts = append(options.Accounts, p.account())
	}
	made, err := chain.New(options)
	if err != nil {
		t.Fatal(err)
	}
	store, err := history.Open(t.TempDir(), history.Options{Recent: 8, SnapshotEvery: 16})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	master, base := made.Zerostates()
	if err := store.SetZerostates(master, base); err != nil {
		t.Fatal(err)
	}
	d := &devnet{t: t, store: store, chain: made, begin: options.GenUtime}
	for range 3 {
		d.step()
	}
	d.Component = serve(t, store, d.send)
	return d
}

func (d *devnet) send(message *cell.Cell) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.chain.Check(message); err != nil {
		return err
	}
	d.inbox = append(d.inbox, message)
	return nil
}

// step makes the next bundle of all messages that were sent.
func (d *devnet) step() *chain.Bundle {
	d.t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	master, _ := d.chain.Head()
	// A second for each block, so that shards have time to split.
	b, err := d.chain.Step(d.begin+master.ID.SeqNo+1, d.inbox)
	if err != nil {
		d.t.Fatal(err)
	}
	for _, r := range b.Refused {
		d.t.Errorf("refused: %s", r.Reason)
	}
	d.inbox = nil
	if err := d.store.Append(b); err != nil {
		d.t.Fatal(err)
	}
	return b
}

// live makes bundles until the test ends.
func (d *devnet) live() {
	end := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		ticker := time.NewTicker(30 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				d.step()
			case <-end:
				return
			}
		}
	})
	d.t.Cleanup(func() { close(end); running.Wait() })
}

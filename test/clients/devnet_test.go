package clients

import (
	"crypto/ed25519"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/contracts"
	"tonscribe/devnet/history"
	"tonscribe/devnet/liteserver"
	"tonscribe/devnet/traffic"
	"tonscribe/test/support/litetest"
)

// devnet is a chain with traffic behind a lite server.
type devnet struct {
	t       testing.TB
	server  *liteserver.Component
	store   *history.Store
	traffic *traffic.Traffic
	begin   uint32
	forge   bool // the lite server tells another slot than the one that was signed for

	mu    sync.Mutex
	chain *chain.Chain
	inbox []*cell.Cell
}

// task is what a script is told.
type task struct {
	Config     json.RawMessage `json:"config"`
	Wallet     string          `json:"wallet"` // raw, with transactions
	Seqno      uint32          `json:"seqno"`  // of the wallet
	Absent     string          `json:"absent"`
	Balance    string          `json:"balance"`
	LastLT     string          `json:"last_lt"`
	LastHash   string          `json:"last_hash"` // hex
	Masterseqn uint32          `json:"mc_seqno"`  // at which this is so
	Message    string          `json:"message"`   // an external message that will be taken, base64
	Signatures signatures      `json:"signatures"`
}

// signatures of the masterchain block, in the words of tonlib_api.tl.
type signatures struct {
	Type      string   `json:"@type"`
	List      [][]byte `json:"signatures"`
	Session   []byte   `json:"session_id,omitempty"`
	Slot      *uint32  `json:"slot,omitempty"`
	Candidate []byte   `json:"candidate,omitempty"`
}

func signaturesOf(b *chain.Bundle) signatures {
	s := signatures{Type: "blocks.blockSignatures"}
	for _, one := range b.Signatures {
		s.List = append(s.List, one.Signature)
	}
	if c := b.Candidate; c != nil {
		s.Type, s.Session, s.Slot, s.Candidate = "blocks.blockSignatures.simplex", c.SessionID, &c.Slot, c.Data
	}
	return s
}

var payer = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))

// wallet that sends nothing unless the test does.
func wallet() contracts.Wallet {
	return contracts.NewWallet(contracts.WalletV4R2, payer.Public().(ed25519.PublicKey), -3)
}

func newDevnet(t testing.TB, signers chain.Consensus) *devnet {
	t.Helper()
	town := traffic.New(3, traffic.Options{Wallets: 20})
	w := wallet()
	state := w.StateInit()
	begin := uint32(time.Now().Unix()) - 100
	made, err := chain.New(chain.Options{
		Seed: 3, GenUtime: begin, Consensus: signers, Params: town.Params(), ShardBlocks: 2,
		Accounts: append(town.Accounts(), chain.Account{ID: [32]byte(w.Address(0).Data()), Code: state.Code, Data: state.Data, Balance: coins(1000)}),
	})
	if err != nil {
		t.Fatal(err)
	}
	master, base := made.Zerostates()
	store := litetest.NewStore(t, history.Options{}, master, base)
	d := &devnet{t: t, store: store, chain: made, traffic: town, begin: begin}
	d.server = litetest.Serve(t, liteserver.Dependencies{History: store, Send: d.send})
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

// step makes the next bundle.
func (d *devnet) step() {
	d.t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	master, _ := d.chain.Head()
	// A second for each block, so that shards have time to split.
	now := d.begin + master.ID.SeqNo + 1
	messages, err := d.traffic.Next(d.chain, master.ID.SeqNo+1, now, 30)
	if err != nil {
		d.t.Fatal(err)
	}
	b, err := d.chain.Step(now, append(messages, d.inbox...))
	if err != nil {
		d.t.Fatal(err)
	}
	d.inbox = nil
	if d.forge {
		told := *b.Candidate
		told.Slot++
		b.Candidate = &told
	}
	if err := d.store.Append(b); err != nil {
		d.t.Fatal(err)
	}
}

// live makes bundles until the test ends.
func (d *devnet) live() {
	end := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		ticker := time.NewTicker(200 * time.Millisecond)
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

// write puts the task into a file for a script.
func (d *devnet) write(t task) string {
	d.t.Helper()
	data, err := json.Marshal(t)
	if err != nil {
		d.t.Fatal(err)
	}
	name := filepath.Join(d.t.TempDir(), "task.json")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		d.t.Fatal(err)
	}
	return name
}

package devnet

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/liteclient"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/history"
	"tonscribe/devnet/liteserver"
	"tonscribe/devnet/traffic"
	"tonscribe/test/support/harness"
	"tonscribe/test/support/litetest"
)

const (
	// dawn is the time of the town's zerostates; each masterchain block is a
	// second later than the one before.
	dawn = 1_760_000_000
	// pause is how long the chain stands still once: auctions end in it.
	pause = 900
	// perSecond is about how many transactions the town's traffic causes.
	perSecond = 100
)

// size of a town: masterchain blocks, and people with wallets.
type size struct{ blocks, wallets int }

func townSize() size {
	if os.Getenv("TONSCRIBE_TEST_LONG") != "" {
		return size{blocks: 300, wallets: 9000}
	}
	return size{blocks: 75, wallets: 300}
}

// town is a devnet that lived for a while and stands still now, an `up` that
// has indexed it through its lite server, and the client of another library
// that asks the same lite server about the block that the index shows.
type town struct {
	*testing.T
	chain   *chain.Chain
	cast    *cast
	api     string
	client  *ton.APIClient
	block   *ton.BlockIDExt
	bundles []*chain.Bundle
	// accounts are all that the states at the block hold, by raw address.
	accounts map[string]*tlb.ShardAccount
	// history are all transactions, in the order of the blocks.
	history []*transaction
}

// newTown lets a town live while it is indexed.
func newTown(t *testing.T) *town {
	t.Helper()
	of := townSize()
	life := traffic.New(7, traffic.Options{Wallets: of.wallets})
	w := &town{T: t, cast: newCast(), accounts: map[string]*tlb.ShardAccount{}}
	var err error
	w.chain, err = chain.New(chain.Options{Seed: 7, GenUtime: dawn, Accounts: append(life.Accounts(), w.cast.accounts()...), Params: life.Params()})
	w.must(err)
	store, err := history.Open(filepath.Join(t.TempDir(), "history"), history.Options{})
	w.must(err)
	t.Cleanup(func() { store.Close() })
	master, base := w.chain.Zerostates()
	w.must(store.SetZerostates(master, base))
	w.live(life, store, 1)
	p := w.index(w.serve(store), uint32(of.blocks))
	for seqno := 2; seqno <= of.blocks; seqno++ {
		w.live(life, store, uint32(seqno))
	}
	p.AwaitReady(strings.TrimSuffix(w.api, "/api/v3/"), startLimit*4)
	w.look()
	return w
}

func (w *town) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// live makes the next bundle.
func (w *town) live(life *traffic.Traffic, store *history.Store, seqno uint32) {
	w.Helper()
	switch _, shards := w.chain.Head(); seqno {
	case 20:
		w.must(w.chain.Split(uint64(shards[0].ID.Shard)))
	case 55:
		w.must(w.chain.Merge(uint64(shards[0].ID.Shard)))
	}
	now := dawn + seqno
	if seqno > 45 {
		now += pause
	}
	messages, err := life.Next(w.chain, seqno, now, perSecond)
	w.must(err)
	bundle, err := w.chain.Step(now, append(messages, w.cast.messages(w, seqno, now)...))
	w.must(err)
	w.must(store.Append(bundle))
	w.bundles = append(w.bundles, bundle)
}

// serve starts the lite server and gives the path of its global config.
func (w *town) serve(store *history.Store) string {
	w.Helper()
	server := litetest.Serve(w, liteserver.Dependencies{History: store, Send: func(*cell.Cell) error { return fmt.Errorf("the town stands still") }})
	text, err := server.GlobalConfig()
	w.must(err)
	path := filepath.Join(w.TempDir(), "global.config.json")
	w.must(os.WriteFile(path, text, 0o600))

	var config liteclient.GlobalConfig
	w.must(json.Unmarshal(text, &config))
	pool := liteclient.NewConnectionPool()
	w.Cleanup(pool.Stop)
	w.must(pool.AddConnectionsFromConfig(w.Context(), &config))
	w.client = ton.NewAPIClient(pool, ton.ProofCheckPolicyFast)
	w.client.SetTrustedBlockFromConfig(&config)
	return path
}

// index starts an `up` that goes as far as the last block of the town. All that
// it has is the lite server.
func (w *town) index(config string, last uint32) *harness.Process {
	w.Helper()
	listen := harness.FreeAddress(w)
	w.api = "http://" + listen + "/api/v3/"
	return harness.Start(w, nil, "up", "--data", w.TempDir(), "--listen", listen, "--network", "devnet",
		"--source", "liteserver:"+config, "--from", "1", "--to", fmt.Sprint(last), "--serve")
}

// look reads the states and the transactions, and finds the block that both the
// index and the lite server speak of.
func (w *town) look() {
	w.Helper()
	var info struct {
		Last struct {
			Seqno    uint32 `json:"seqno"`
			RootHash []byte `json:"root_hash"`
		} `json:"last"`
	}
	harness.GetJSON(w, w.api+"masterchainInfo", &info)
	var err error
	w.block, err = w.client.LookupBlock(w.Context(), -1, -1<<63, info.Last.Seqno)
	w.must(err)
	master, shards := w.chain.Head()
	if !bytes.Equal(w.block.RootHash, info.Last.RootHash) || !bytes.Equal(w.block.RootHash, master.ID.RootHash) {
		w.Fatalf("the index shows block %d (%x), the chain stands at %d (%x)", info.Last.Seqno, info.Last.RootHash, master.ID.SeqNo, master.ID.RootHash)
	}
	for _, b := range append(slices.Clone(shards), master) {
		w.readState(b)
	}
	for _, bundle := range w.bundles {
		for _, b := range append(slices.Clone(bundle.Shards), bundle.Master) {
			for _, made := range b.Transactions {
				w.history = append(w.history, readTransaction(w, made))
			}
		}
	}
}

func (w *town) readState(b *chain.Block) {
	w.Helper()
	var state tlb.ShardStateUnsplit
	w.must(tlb.Parse(&state, b.State))
	entries, err := state.Accounts.ShardAccounts.Range(false, false)
	w.must(err)
	for _, entry := range entries {
		id, err := entry.Key.MustBeginParse().LoadSlice(256)
		w.must(err)
		w.accounts[rawOf(b.ID.Workchain, id)], err = w.chain.Account(b.ID.Workchain, [32]byte(id))
		w.must(err)
	}
}

// rawOf is an address as the API shows it.
func rawOf(workchain int32, id []byte) string {
	return fmt.Sprintf("%d:%s", workchain, strings.ToUpper(hex.EncodeToString(id)))
}

// shown is an address as the API shows it, nil for none.
func shown(a *address.Address) any {
	if a == nil || a.IsAddrNone() {
		return nil
	}
	return rawOf(a.Workchain(), a.Data())
}

// rows asks a v3 list for many addresses, some at a time, and gives its rows by
// the member that names them.
func (w *town) rows(path, parameter, list, name string, addresses []string) map[string]map[string]any {
	w.Helper()
	found := map[string]map[string]any{}
	for chunk := range slices.Chunk(addresses, 250) {
		url := w.api + path
		if !strings.Contains(path, "?") {
			url += "?"
		}
		for _, a := range chunk {
			url += "&" + parameter + "=" + a
		}
		for _, row := range harness.Pages(w, url+"&limit=1000", list) {
			key, _ := row[name].(string)
			if found[key] != nil {
				w.Errorf("%s: %s is there twice", path, key)
			}
			found[key] = row
		}
	}
	return found
}

// transaction is what a test wants to know of one, read by another library.
type transaction struct {
	account string
	hash    []byte
	aborted bool
	in      *message
	out     []*message
}

// message is an internal one.
type message struct {
	hash    string
	bounced bool
	opcode  uint64 // noOpcode when the body is too short for one
}

const noOpcode = 1 << 32

func readTransaction(t testing.TB, made chain.Transaction) *transaction {
	t.Helper()
	var tx tlb.Transaction
	if err := tlb.Parse(&tx, made.Cell); err != nil {
		t.Fatal(err)
	}
	read := &transaction{account: rawOf(made.Workchain, made.Account[:]), hash: made.Hash[:]}
	if d, ok := tx.Description.(tlb.TransactionDescriptionOrdinary); ok {
		read.aborted = d.Aborted
	}
	messages := made.Cell.MustPeekRef(0)
	if tx.IO.In != nil {
		read.in = readMessage(t, messages.MustPeekRef(0))
	}
	if tx.IO.Out == nil {
		return read
	}
	entries, err := tx.IO.Out.List.LoadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		root, err := entry.Value.LoadRefCell()
		if err != nil {
			t.Fatal(err)
		}
		if m := readMessage(t, root); m != nil {
			read.out = append(read.out, m)
		}
	}
	return read
}

// readMessage reads an internal message; others are nil.
func readMessage(t testing.TB, root *cell.Cell) *message {
	t.Helper()
	if root.MustBeginParse().MustLoadUInt(1) != 0 {
		return nil
	}
	var internal tlb.InternalMessage
	if err := tlb.Parse(&internal, root); err != nil {
		t.Fatal(err)
	}
	m := &message{hash: string(root.Hash()), bounced: internal.Bounced, opcode: noOpcode}
	if body := internal.Body.MustBeginParse(); body.BitsLeft() >= 32 {
		m.opcode = body.MustLoadUInt(32)
	}
	return m
}

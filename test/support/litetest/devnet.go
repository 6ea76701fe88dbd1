package litetest

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"

	"github.com/xssnick/tonutils-go/liteclient"
	"github.com/xssnick/tonutils-go/tl"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/history"
	"tonscribe/devnet/liteserver"
	"tonscribe/devnet/packages"
	"tonscribe/devnet/traffic"
	"tonscribe/internal/lifetime/lifetimetest"
	"tonscribe/internal/report"
)

// Devnet is a signed chain with traffic and the lite server on it.
type Devnet struct {
	Bundles []*chain.Bundle // all of them, from block 1 on
	Store   *history.Store
	// Sent gets external messages that the lite server took.
	Sent chan *cell.Cell

	chain    *chain.Chain
	traffic  *traffic.Traffic
	zero     *ton.BlockIDExt
	server   *liteserver.Component
	upstream *liteclient.ConnectionPool
}

// genesisTime is when the chains of tests begin.
const genesisTime = 1_700_000_000

// Signers are the ways in which the blocks of a chain may be signed.
var Signers = []chain.Consensus{chain.Simplex, chain.Catchain}

// NewDevnet makes a chain of so many masterchain blocks.
func NewDevnet(t testing.TB, seed uint64, blocks int) *Devnet {
	t.Helper()
	return NewDevnetBy(t, chain.Simplex, seed, blocks)
}

// NewDevnetBy makes a chain that is signed in one of the ways.
func NewDevnetBy(t testing.TB, signers chain.Consensus, seed uint64, blocks int) *Devnet {
	t.Helper()
	d := &Devnet{traffic: traffic.New(seed, traffic.DefaultOptions()), Sent: make(chan *cell.Cell, 100)}
	var err error
	if d.chain, err = chain.New(chain.Options{
		Seed: seed, GenUtime: genesisTime, Consensus: signers, Accounts: d.traffic.Accounts(), Params: d.traffic.Params(),
	}); err != nil {
		t.Fatal(err)
	}
	master, base := d.chain.Zerostates()
	d.zero, d.Store = master.ID, NewStore(t, history.Options{}, master, base)
	d.Grow(t, blocks, 10)
	d.serve(t)
	return d
}

// Grow makes further blocks, each with about so many transactions.
func (d *Devnet) Grow(t testing.TB, blocks, transactions int) {
	t.Helper()
	for range blocks {
		seqno := uint32(len(d.Bundles) + 1)
		now := genesisTime + 5*seqno
		messages, err := d.traffic.Next(d.chain, seqno, now, transactions)
		if err != nil {
			t.Fatal(err)
		}
		bundle, err := d.chain.Step(now, messages)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Store.Append(bundle); err != nil {
			t.Fatal(err)
		}
		d.Bundles = append(d.Bundles, bundle)
	}
}

// Shards is how many shards the basechain has at the head.
func (d *Devnet) Shards() int {
	_, shards := d.chain.Head()
	return len(shards)
}

// Split asks for the first shard to be split, Merge for it and its sibling to be
// merged; the next few blocks do it.
func (d *Devnet) Split(t testing.TB) { d.ask(t, d.chain.Split) }

// Merge is the opposite of Split.
func (d *Devnet) Merge(t testing.TB) { d.ask(t, d.chain.Merge) }

func (d *Devnet) ask(t testing.TB, what func(shard uint64) error) {
	t.Helper()
	_, shards := d.chain.Head()
	if err := what(uint64(shards[0].ID.Shard)); err != nil {
		t.Fatal(err)
	}
}

// serve starts the chain's own lite server and connects to it.
func (d *Devnet) serve(t testing.TB) {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := liteserver.DefaultConfiguration()
	c.Key, c.Queries = key, 10_000
	server, err := liteserver.New(c, liteserver.Dependencies{Report: report.Silent(), History: d.Store, Send: func(message *cell.Cell) error {
		d.Sent <- message
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	lifetimetest.Run(t, server)
	d.server = server
	d.upstream = liteclient.NewConnectionPool()
	err = d.upstream.AddConnection(t.Context(), server.Addr().String(), base64.StdEncoding.EncodeToString(key.Public().(ed25519.PublicKey)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.upstream.Stop)
}

// Handle passes a request on to the chain's lite server.
func (d *Devnet) Handle(ctx context.Context, r Request) any {
	var request []byte
	for _, part := range []any{r.Wait, r.Query} {
		if wait, ok := part.(*ton.WaitMasterchainSeqno); ok {
			if wait == nil {
				continue
			}
			part = *wait
		}
		data, err := tl.Serialize(part, true)
		if err != nil {
			return ton.LSError{Code: 621, Text: err.Error()}
		}
		request = append(request, data...)
	}
	var answer tl.Serializable
	if err := d.upstream.QueryLiteserver(ctx, tl.Raw(request), &answer); err != nil {
		return nil
	}
	return answer
}

// Config writes the TON global config of the chain's own lite server.
func (d *Devnet) Config(t testing.TB) string {
	t.Helper()
	text, err := d.server.GlobalConfig()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "global.config.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Zero is the id of the masterchain's zerostate.
func (d *Devnet) Zero() *ton.BlockIDExt { return d.zero }

// Init is masterchain block 1, a key block.
func (d *Devnet) Init() *ton.BlockIDExt { return d.Bundles[0].Master.ID }

// Master is a masterchain block.
func (d *Devnet) Master(seqno uint32) *chain.Block { return d.Bundles[seqno-1].Master }

// Write puts all blocks and the zerostates into a folder, as the source files
// reads them.
func (d *Devnet) Write(t testing.TB, dir string) {
	t.Helper()
	master, base := d.chain.Zerostates()
	if err := packages.WriteZerostates(dir, master, base); err != nil {
		t.Fatal(err)
	}
	files := packages.NewFiles(dir)
	for _, bundle := range d.Bundles {
		if err := files.Write(bundle); err != nil {
			t.Fatal(err)
		}
	}
}

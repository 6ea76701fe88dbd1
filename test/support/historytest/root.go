// Package historytest reads the beginning of a real chain for tests: in come
// block files and zerostates of TONSCRIBE_TESTDATA, out go bundles with states,
// a split among them. Without the variable the test is skipped.
package historytest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/test/support/realdata"
)

// Chain is what was read.
type Chain struct {
	Zerostates []*chain.Zerostate // the masterchain's first
	Bundles    []*chain.Bundle
}

type key struct {
	workchain int32
	shard     int64
	seqno     uint32
}

func keyOf(id *ton.BlockIDExt) key { return key{id.Workchain, id.Shard, id.SeqNo} }

// Load reads the first bundles of the main network.
func Load(t testing.TB) Chain {
	t.Helper()
	dir := realdata.Path(t)
	l := loader{t: t, blocks: map[key]*chain.Block{}, states: map[key]*cell.Cell{}}
	files, err := filepath.Glob(filepath.Join(dir, "blocks/mainnet_genesis_mc1-199/*.boc"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no blocks in %s: %v", dir, err)
	}
	for _, file := range files {
		b := l.block(file)
		l.blocks[keyOf(b.ID)] = b
	}
	var c Chain
	for _, name := range []string{"mc_5E994FCF", "basechain_EE0BEDFE"} {
		z := l.zerostate(filepath.Join(dir, "states/mainnet_zerostate_"+name+".boc"))
		l.states[keyOf(z.ID)] = z.State
		c.Zerostates = append(c.Zerostates, z)
	}
	for seqno := uint32(1); l.blocks[key{-1, -1 << 63, seqno}] != nil; seqno++ {
		c.Bundles = append(c.Bundles, l.bundle(l.blocks[key{-1, -1 << 63, seqno}]))
	}
	if len(c.Bundles) < 50 {
		t.Fatalf("bundles: got %d, want at least 50", len(c.Bundles))
	}
	return c
}

type loader struct {
	t      testing.TB
	blocks map[key]*chain.Block
	states map[key]*cell.Cell
}

// bundle of a masterchain block: the shard blocks are found by walking back from
// those that it names to those whose states are known.
func (l *loader) bundle(master *chain.Block) *chain.Bundle {
	l.t.Helper()
	seqno := master.ID.SeqNo
	b := &chain.Bundle{Master: master, CatchainSeqno: seqno, ValidatorSetHash: seqno * 7,
		Signatures: []ton.Signature{{NodeIDShort: make([]byte, 32), Signature: make([]byte, 64)}}}
	for _, id := range Tops(l.t, master.Root) {
		for at := keyOf(id); l.states[at] == nil; {
			block := l.blocks[at]
			if block == nil {
				l.t.Fatalf("block %v is not there", at)
			}
			b.Shards = append([]*chain.Block{block}, b.Shards...)
			at = keyOf(l.parent(block))
		}
	}
	for _, block := range append(b.Shards[:len(b.Shards):len(b.Shards)], master) {
		state, _, err := cell.ApplyMerkleUpdate(l.states[keyOf(l.parent(block))], block.Root.MustPeekRef(2))
		if err != nil {
			l.t.Fatalf("state of %v: %v", keyOf(block.ID), err)
		}
		block.State = state
		l.states[keyOf(block.ID)] = state
	}
	return b
}

// Tops are the shard blocks that a masterchain block names, by workchain and shard.
func Tops(t testing.TB, master *cell.Cell) []*ton.BlockIDExt {
	t.Helper()
	var block tlb.Block
	if err := tlb.Parse(&block, master); err != nil {
		t.Fatal(err)
	}
	ids, err := ton.LoadShardsFromHashes(block.Extra.Custom.ShardHashes, false)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(ids, func(a, b *ton.BlockIDExt) int {
		return cmp.Or(cmp.Compare(a.Workchain, b.Workchain), cmp.Compare(uint64(a.Shard), uint64(b.Shard)))
	})
	return ids
}

func (l *loader) parent(b *chain.Block) *ton.BlockIDExt {
	l.t.Helper()
	var block tlb.Block
	if err := tlb.Parse(&block, b.Root); err != nil {
		l.t.Fatal(err)
	}
	ids, err := ton.GetParentBlocks(&block.BlockInfo)
	if err != nil || len(ids) != 1 {
		l.t.Fatalf("parents of %v: got %v (%v), want one", keyOf(b.ID), ids, err)
	}
	return ids[0]
}

func (l *loader) block(file string) *chain.Block {
	l.t.Helper()
	data, root := l.read(file)
	var parsed tlb.Block
	if err := tlb.Parse(&parsed, root); err != nil {
		l.t.Fatalf("%s: %v", file, err)
	}
	info := &parsed.BlockInfo
	workchain, shard := tlb.ConvertShardIdentToShard(info.Shard)
	return &chain.Block{
		ID:   id(workchain, shard, info.SeqNo, data, root),
		Data: data, Root: root, GenUtime: info.GenUtime, StartLT: info.StartLt, EndLT: info.EndLt,
		Transactions: l.transactions(workchain, &parsed),
	}
}

// transactions of a block, by logical time and account.
func (l *loader) transactions(workchain int32, block *tlb.Block) []chain.Transaction {
	l.t.Helper()
	var list []chain.Transaction
	accounts := block.Extra.ShardAccountBlocks.MustBeginParse()
	if !accounts.MustLoadBoolBit() {
		return nil
	}
	for _, account := range l.entries(accounts.MustLoadRef().MustToCell(), 256) {
		var parsed tlb.AccountBlock
		if err := tlb.LoadFromCell(&parsed, account.Value); err != nil {
			l.t.Fatal(err)
		}
		for _, tx := range l.entries(parsed.Transactions.AsCell(), 64) {
			c, err := tx.Value.LoadRefCell()
			if err != nil {
				l.t.Fatal(err)
			}
			list = append(list, chain.Transaction{Workchain: workchain, Account: [32]byte(parsed.Addr), LT: tx.Key.MustLoadUInt(64), Hash: c.HashKey(), Cell: c})
		}
	}
	slices.SortFunc(list, func(a, b chain.Transaction) int {
		return cmp.Or(cmp.Compare(a.LT, b.LT), bytes.Compare(a.Account[:], b.Account[:]))
	})
	return list
}

// entries of an augmented dictionary, the extras (CurrencyCollection) skipped.
func (l *loader) entries(root *cell.Cell, bits uint) []cell.DictKV {
	l.t.Helper()
	list, err := root.AsDict(bits).LoadAll()
	if err != nil {
		l.t.Fatal(err)
	}
	for _, e := range list {
		var fees tlb.CurrencyCollection
		if err := tlb.LoadFromCell(&fees, e.Value); err != nil {
			l.t.Fatal(err)
		}
	}
	return list
}

func (l *loader) zerostate(file string) *chain.Zerostate {
	l.t.Helper()
	data, root := l.read(file)
	var state tlb.ShardStateUnsplit
	if err := tlb.Parse(&state, root); err != nil {
		l.t.Fatalf("%s: %v", file, err)
	}
	workchain, shard := tlb.ConvertShardIdentToShard(state.ShardIdent)
	return &chain.Zerostate{ID: id(workchain, shard, 0, data, root), Data: data, State: root}
}

func (l *loader) read(file string) ([]byte, *cell.Cell) {
	l.t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		l.t.Fatal(err)
	}
	root, err := cell.FromBOC(data)
	if err != nil {
		l.t.Fatalf("%s: %v", file, err)
	}
	return data, root
}

func id(workchain int32, shard uint64, seqno uint32, data []byte, root *cell.Cell) *ton.BlockIDExt {
	hash := sha256.Sum256(data)
	return &ton.BlockIDExt{Workchain: workchain, Shard: int64(shard), SeqNo: seqno, RootHash: root.Hash(), FileHash: hash[:]}
}

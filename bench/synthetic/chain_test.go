package synthetic

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/decode"
	"tonscribe/test/support/realdata"
)

// testBlocks is the folder of real blocks.
func testBlocks(t testing.TB) string {
	return realdata.Path(t, "blocks")
}

func writeChain(t testing.TB, transactions int, seed uint64) (Chain, string) {
	t.Helper()
	out := t.TempDir()
	chain, err := WriteChain(context.Background(), ChainOptions{Templates: testBlocks(t), Out: out, Transactions: transactions, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return chain, out
}

type writtenBlock struct {
	tlb.Block
	root *cell.Cell
	boc  []byte
}

func readBlock(t *testing.T, dir string, workchain int, seqno uint32) writtenBlock {
	t.Helper()
	boc, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("block_%d_8000000000000000_%d.boc", workchain, seqno)))
	if err != nil {
		t.Fatal(err)
	}
	root, err := cell.FromBOC(boc)
	if err != nil {
		t.Fatalf("block %d %d: %v", workchain, seqno, err)
	}
	b := writtenBlock{root: root, boc: boc}
	if err := tlb.LoadFromCell(&b.Block, root.MustBeginParse()); err != nil {
		t.Fatalf("block %d %d: %v", workchain, seqno, err)
	}
	return b
}

func (b *writtenBlock) isNamedBy(ref tlb.ExtBlkRef) error {
	file := sha256.Sum256(b.boc)
	if ref.SeqNo != b.BlockInfo.SeqNo || ref.EndLt != b.BlockInfo.EndLt || !bytes.Equal(ref.RootHash, b.root.Hash()) || !bytes.Equal(ref.FileHash, file[:]) {
		return fmt.Errorf("block %d is not the one that is named: %d", b.BlockInfo.SeqNo, ref.SeqNo)
	}
	return nil
}

func TestChainIsLinkedAndCommittedByTheMasterchain(t *testing.T) {
	chain, dir := writeChain(t, 8000, 1)
	var shard, master *writtenBlock
	for seqno := chain.From; seqno <= chain.To; seqno++ {
		s, m := readBlock(t, dir, 0, seqno), readBlock(t, dir, -1, seqno)
		if shard != nil {
			for _, err := range []error{
				shard.isNamedBy(s.BlockInfo.PrevRef.Prev1), master.isNamedBy(*s.BlockInfo.MasterRef), master.isNamedBy(m.BlockInfo.PrevRef.Prev1),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			if s.BlockInfo.StartLt <= master.BlockInfo.EndLt || m.BlockInfo.StartLt <= s.BlockInfo.EndLt {
				t.Fatalf("logical time does not grow at bundle %d", seqno)
			}
		}
		value, err := m.Extra.Custom.ShardHashes.LoadValueByIntKey(intKey(0))
		if err != nil {
			t.Fatal(err)
		}
		leaf := value.MustLoadRef()
		if leaf.MustLoadBoolBit() {
			t.Fatal("more than one shard")
		}
		if err := s.isNamedBy(shardDescr(t, leaf)); err != nil {
			t.Fatal(err)
		}
		shard, master = &s, &m
	}
}

func TestChainTransactionsAreChainedAndMessagesAgree(t *testing.T) {
	chain, dir := writeChain(t, 60_000, 1)
	type end struct {
		lt   uint64
		hash string
	}
	lasts := map[string]end{}
	produced, externals := map[string]bool{}, map[string]bool{}
	transactions, messages, internal, matched, visits, twice := 0, 0, 0, 0, 0, 0
	for seqno := chain.From; seqno <= chain.To; seqno++ {
		for _, workchain := range []int{0, -1} {
			b := readBlock(t, dir, workchain, seqno)
			for _, tx := range listTransactions(t, &b.Block) {
				transactions++
				key := fmt.Sprintf("%d:%x", workchain, tx.AccountAddr)
				if before := lasts[key]; tx.PrevTxLT != before.lt || (before.lt != 0 && string(tx.PrevTxHash) != before.hash) {
					t.Fatalf("transaction %d of %s does not follow %d", tx.LT, key, before.lt)
				} else if before.lt != 0 {
					visits++
				}
				if tx.LT < b.BlockInfo.StartLt || tx.LT > b.BlockInfo.EndLt || tx.Now != b.BlockInfo.GenUtime {
					t.Fatalf("transaction %d is not inside of its block", tx.LT)
				}
				lasts[key] = end{tx.LT, string(tx.Hash)}
				for _, m := range tx.out {
					messages++
					produced[string(m.Hash())] = true
				}
				if tx.in == nil {
					continue
				}
				messages++
				hash := string(tx.in.Hash())
				if in, ok := tx.IO.In.Msg.(*tlb.ExternalMessage); ok {
					if externals[hash] {
						twice++ // a body without room for a difference
					}
					externals[hash] = true
					if !bytes.Equal(in.DstAddr.Data(), tx.AccountAddr) {
						t.Fatal("external message to another account")
					}
					continue
				}
				internal++
				if produced[hash] {
					matched++
				}
				if in := tx.IO.In.AsInternal(); workchain == 0 && !bytes.Equal(in.DstAddr.Data(), tx.AccountAddr) {
					t.Fatal("message to another account")
				}
			}
		}
	}
	if transactions != chain.Transactions || messages != chain.Messages {
		t.Errorf("%d transactions and %d messages, said %d and %d", transactions, messages, chain.Transactions, chain.Messages)
	}
	if twice*100 > len(externals) {
		t.Errorf("%d external messages are repetitions, %d are not", twice, len(externals))
	}
	if matched == 0 || visits == 0 {
		t.Errorf("%d of %d internal messages were produced in the chain, %d transactions follow another", matched, internal, visits)
	}
	t.Logf("%d bundles, %d transactions, %d messages, %d of %d internal ones from inside, %d accounts, %d bytes a transaction",
		chain.To, transactions, messages, matched, internal, chain.Accounts, chain.Bytes/int64(transactions))
}

func TestChainIsTheSameForTheSameSeed(t *testing.T) {
	first, a := writeChain(t, 3000, 7)
	second, b := writeChain(t, 3000, 7)
	_, other := writeChain(t, 3000, 8)
	if first != second {
		t.Fatalf("%+v and %+v", first, second)
	}
	same := 0
	files, _ := os.ReadDir(a)
	for _, f := range files {
		x, _ := os.ReadFile(filepath.Join(a, f.Name()))
		y, _ := os.ReadFile(filepath.Join(b, f.Name()))
		z, _ := os.ReadFile(filepath.Join(other, f.Name()))
		if !bytes.Equal(x, y) {
			t.Errorf("%s differs", f.Name())
		}
		if bytes.Equal(x, z) {
			same++
		}
	}
	if same != 0 || len(files) == 0 {
		t.Errorf("%d of %d files do not depend on the seed", same, len(files))
	}
}

func TestTemplateInItsOwnPlaceIsTheRealBlockButForItsStates(t *testing.T) {
	dir := testBlocks(t)
	for _, name := range []string{
		"mylocalton_single/block_0_8000000000000000_205890.boc", "mainnet_single/block_0_8000000000000000_57314442.boc",
		"mainnet_collator_57120586-57120589/block_0_8000000000000000_57120588.boc", "mylocalton_single/block_0_8000000000000000_212538.boc",
	} {
		boc, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		tpl, err := readTemplate(name, boc)
		if err != nil {
			t.Fatal(err)
		}
		original, err := decode.Block(boc, 1)
		if err != nil {
			t.Fatal(err)
		}
		h := original.Block
		p := placement{
			seqno: h.Id.Seqno, globalID: h.GlobalId, utime: h.GenUtime, window: h.StartLt &^ (1<<tpl.windowBits - 1), windowBits: tpl.windowBits,
			randSeed: [32]byte(h.RandSeed), masterRef: blockRef{seqno: h.MasterRefSeqno},
			prev: blockRef{seqno: h.PrevBlocks[0].Seqno, rootHash: [32]byte(h.PrevBlocks[0].RootHash), fileHash: [32]byte(h.PrevBlocks[0].FileHash)},
		}
		before := ledger{}
		for _, c := range original.Changes {
			first := c.Transactions[0]
			before[keyOf(first.Account[4:])] = &last{lt: first.PrevTransLt, hash: [32]byte(first.PrevTransHash)}
		}
		out, _, fresh, err := tpl.put(nil, &p, before)
		if err != nil || fresh != 0 {
			t.Fatalf("%s: %d new accounts, %v", name, fresh, err)
		}
		made, err := decode.Block(out, 1)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		// What is of the states, and what the chain of blocks does not keep.
		made.Block.Id, made.Block.MinRefMcSeqno, made.Block.PrevKeyBlockSeqno, made.Block.VertSeqno = h.Id, h.MinRefMcSeqno, h.PrevKeyBlockSeqno, h.VertSeqno
		if !made.Block.EqualVT(h) {
			t.Errorf("%s: the header is %v instead of %v", name, made.Block, h)
		}
		if len(made.Transactions) != len(original.Transactions) {
			t.Fatalf("%s: %d transactions instead of %d", name, len(made.Transactions), len(original.Transactions))
		}
		for i, tx := range made.Transactions {
			want := original.Transactions[i]
			tx.Hash, tx.StateHashBefore, tx.StateHashAfter = want.Hash, want.StateHashBefore, want.StateHashAfter
			tx.StateBefore, tx.StateAfter = want.StateBefore, want.StateAfter
			if before[keyOf(tx.Account[4:])].lt != tx.PrevTransLt { // not its first one here
				tx.PrevTransHash = want.PrevTransHash
			}
			if !tx.EqualVT(want) {
				t.Fatalf("%s: transaction %d is %v instead of %v", name, want.Lt, tx, want)
			}
		}
		p.mask, p.salt, p.window = key{0xff << 56, 1, 2, 3}, 5, 1<<50
		again, ref, _, err := tpl.put(nil, &p, before)
		if err != nil || bytes.Equal(again, out) {
			t.Errorf("%s: nothing changed, %v", name, err)
		}
		if root, err := cell.FromBOC(again); err != nil || [32]byte(root.HashKey()) != ref.rootHash {
			t.Fatalf("%s: the bag of cells has another root hash: %v", name, err)
		}
	}
}

func TestStatesAreThoseThatTheTransactionsName(t *testing.T) {
	chain, dir := writeChain(t, 20_000, 2)
	states := map[string]*decode.Change{}
	chained, changes := 0, 0
	for seqno := chain.From; seqno <= chain.To; seqno++ {
		for _, workchain := range []int{0, -1} {
			boc, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("block_%d_8000000000000000_%d.boc", workchain, seqno)))
			if err != nil {
				t.Fatal(err)
			}
			block, err := decode.Block(boc, seqno)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range block.Changes {
				if c.Problem != nil {
					t.Fatalf("block (%d, %d): account %x: %v", workchain, seqno, c.Account, c.Problem)
				}
				changes++
				if before := states[string(c.Account)]; before != nil && bytes.Equal(before.HashAfter(), c.HashBefore()) {
					chained++
					if first := c.Transactions[0].StateBefore; first.Balance != before.After.Balance || first.Status != before.After.Status {
						t.Fatalf("block (%d, %d): account %x begins with %v, it had %v", workchain, seqno, c.Account, first, before.After)
					}
				}
				states[string(c.Account)] = c
			}
		}
	}
	if chained < changes/10 {
		t.Errorf("only %d of %d changes follow the one before", chained, changes)
	}
}

func BenchmarkChain(b *testing.B) {
	dir := b.TempDir()
	templates := testBlocks(b)
	start := time.Now()
	chain, err := WriteChain(context.Background(), ChainOptions{Templates: templates, Out: dir, Transactions: 100_000, Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(chain.Transactions)/time.Since(start).Seconds(), "tx/s")
}

func TestChainDecodesToTheHashesThatItNames(t *testing.T) {
	chain, dir := writeChain(t, 3000, 1)
	transactions := 0
	for seqno := chain.From; seqno <= chain.To; seqno++ {
		s, m := readBlock(t, dir, 0, seqno), readBlock(t, dir, -1, seqno)
		info, err := decode.Header(m.boc)
		if err != nil {
			t.Fatal(err)
		}
		if len(info.Shards) != 1 || !bytes.Equal(info.Shards[0].ID.RootHash, s.root.Hash()) || info.Shards[0].RegMC != seqno {
			t.Fatalf("masterchain block %d names %v", seqno, info.Shards)
		}
		for _, b := range []writtenBlock{s, m} {
			result, err := decode.Block(b.boc, seqno)
			if err != nil {
				t.Fatal(err)
			}
			list := listTransactions(t, &b.Block)
			if !bytes.Equal(result.Block.Id.RootHash, b.root.Hash()) || len(result.Transactions) != len(list) {
				t.Fatalf("block %d decodes to another one", seqno)
			}
			hashes := map[string]bool{}
			for _, tx := range list {
				hashes[string(tx.Hash)] = true
			}
			for _, tx := range result.Transactions {
				transactions++
				if !hashes[string(tx.Hash)] {
					t.Fatalf("transaction %d has another hash", tx.Lt)
				}
			}
		}
	}
	if transactions != chain.Transactions {
		t.Errorf("%d transactions, not %d", transactions, chain.Transactions)
	}
}

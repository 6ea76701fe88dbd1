package worker

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tonscribe/decode"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/test/support/realdata"
)

// source is a bundle as ingest knows it.
type source struct {
	mcSeqno, prev uint32
	master        *record.BlockId
	genUtime      uint32
	blocks        []*record.RawBlock // masterchain last
}

// realBundles are the first bundles of mainnet, with a split, and after them
// bundles made of single blocks with many transactions.
func realBundles(t testing.TB) []*source {
	t.Helper()
	data := realdata.Path(t)
	bundles := chain(t, filepath.Join(data, "blocks", "mainnet_genesis_mc1-199"))
	for _, folder := range []string{"mainnet_collator_57120586-57120589", "mylocalton_single", "mainnet_single"} {
		for _, b := range blocksIn(t, filepath.Join(data, "blocks", folder)) {
			last := bundles[len(bundles)-1]
			bundles = append(bundles, &source{mcSeqno: last.mcSeqno + 1, prev: last.mcSeqno, master: last.master,
				genUtime: last.genUtime + 5, blocks: []*record.RawBlock{b.raw}})
		}
	}
	return bundles
}

type block struct {
	raw  *record.RawBlock
	info *decode.BlockInfo
}

func blocksIn(t testing.TB, folder string) []*block {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.boc"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no blocks in %s: %v", folder, err)
	}
	var blocks []*block
	for _, file := range files {
		boc, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		info, err := decode.Header(boc)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		blocks = append(blocks, &block{&record.RawBlock{Id: info.ID, Boc: boc}, info})
	}
	return blocks
}

func key(id *record.BlockId) string { return fmt.Sprintf("%d %x %d", id.Workchain, id.Shard, id.Seqno) }

// chain makes bundles of the blocks in the folder, from masterchain block 1 on.
func chain(t testing.TB, folder string) []*source {
	t.Helper()
	byID := map[string]*block{}
	for _, b := range blocksIn(t, folder) {
		byID[key(b.info.ID)] = b
	}
	var bundles []*source
	taken := map[string]bool{}
	for seqno := uint32(1); ; seqno++ {
		master := byID[key(&record.BlockId{Workchain: decode.Masterchain, Shard: decode.FullShard, Seqno: seqno})]
		if master == nil {
			break
		}
		s := &source{mcSeqno: seqno, prev: seqno - 1, master: master.info.ID, genUtime: master.info.GenUtime}
		var walk func(id *record.BlockId)
		walk = func(id *record.BlockId) {
			b := byID[key(id)]
			if b == nil || taken[key(id)] {
				return
			}
			taken[key(id)] = true
			s.blocks = append(s.blocks, b.raw)
			for _, prev := range b.info.Prev {
				walk(prev)
			}
		}
		for _, shard := range master.info.Shards {
			walk(shard.ID)
		}
		slices.SortFunc(s.blocks, func(a, b *record.RawBlock) int {
			return cmp.Or(cmp.Compare(a.Id.Workchain, b.Id.Workchain), cmp.Compare(a.Id.Shard, b.Id.Shard), cmp.Compare(a.Id.Seqno, b.Id.Seqno))
		})
		s.blocks = append(s.blocks, master.raw)
		bundles = append(bundles, s)
	}
	if len(bundles) < 40 {
		t.Fatalf("only %d bundles in %s", len(bundles), folder)
	}
	return bundles
}

// input is what ingest publishes of the bundle in a partition.
func (s *source) input(partition, partitions int) []*record.Record {
	var records []*record.Record
	add := func() *record.Record {
		r := &record.Record{McSeqno: s.mcSeqno, PrevMcSeqno: s.prev, Index: uint32(len(records))}
		records = append(records, r)
		return r
	}
	for _, raw := range s.blocks {
		if first, last := schema.PartitionsOf(raw.Id.Shard, partitions); first <= partition && partition <= last {
			add().Content = &record.Record_RawBlock{RawBlock: raw}
		}
	}
	seal := &record.Seal{Rows: uint64(len(records)), Master: s.master, GenUtime: s.genUtime, Shards: []*record.BlockId{s.master}}
	add().Content = &record.Record_Seal{Seal: seal}
	return records
}

// rows are the encoded rows that a partition of the output topics must hold.
type rows struct {
	blocks, transactions [][]byte
	accounts             map[string]*record.Transaction // the last transaction of each
}

// expected decodes the bundle without any worker.
func (s *source) expected(t testing.TB, partition, partitions int) rows {
	t.Helper()
	want := rows{accounts: map[string]*record.Transaction{}}
	for _, raw := range s.blocks {
		result, err := decode.Block(raw.Boc, s.mcSeqno)
		if err != nil {
			t.Fatal(err)
		}
		if first, _ := schema.PartitionsOf(raw.Id.Shard, partitions); first == partition {
			want.blocks = append(want.blocks, encode(t, result.Block))
		}
		for _, transaction := range result.Transactions {
			if schema.PartitionOf(transaction.Account[4:], partitions) == partition {
				want.transactions = append(want.transactions, encode(t, withoutStates(transaction)))
				want.accounts[string(transaction.Account)] = transaction
			}
		}
	}
	return want
}

// withoutStates leaves out what the cell store has a part in.
func withoutStates(transaction *record.Transaction) *record.Transaction {
	plain := transaction.CloneVT()
	plain.StateBefore, plain.StateAfter = nil, nil
	return plain
}

func encode(t testing.TB, m interface{ MarshalVT() ([]byte, error) }) []byte {
	t.Helper()
	b, err := m.MarshalVT()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func equalRows(a, b [][]byte) bool { return slices.EqualFunc(a, b, bytes.Equal) }

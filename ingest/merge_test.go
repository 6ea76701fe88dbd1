package ingest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/xssnick/tonutils-go/ton"

	devnet "tonscribe/devnet/chain"
	"tonscribe/schema/record"
)

// A chain whose shards split and merge, and make two blocks for each of the
// masterchain: every bundle holds what the chain says, over both.
func TestBundlesAreCompleteOverSplitsAndMerges(t *testing.T) {
	const genesis = 1_750_000_000
	c, err := devnet.New(devnet.Options{Seed: 1, GenUtime: genesis, ShardBlocks: 2, SplitDelay: 1})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var want [][]string
	shards := map[int]int{}
	for i := range uint32(30) {
		switch i {
		case 8:
			err = c.Split(0xc000000000000000)
		case 18:
			err = c.Merge(0xa000000000000000)
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := c.Step(genesis+1+i, nil)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, save(t, dir, b))
		_, heads := c.Head()
		shards[len(heads)]++
	}
	if shards[2] < 10 || shards[3] < 5 {
		t.Fatalf("bundles by number of shards: %v", shards)
	}
	log := newTape(1)
	publish(t, configure("files:"+dir, 1, uint32(len(want))), log)
	got := make([][]string, len(want))
	for _, r := range log.read(t, 0) {
		if b := r.GetRawBlock(); b != nil {
			got[r.McSeqno-1] = append(got[r.McSeqno-1], FormatID(b.Id))
		}
	}
	for i := range want {
		slices.Sort(want[i])
		slices.Sort(got[i])
		if !slices.Equal(got[i], want[i]) {
			t.Errorf("bundle %d holds %v, want %v", i+1, got[i], want[i])
		}
	}
}

// save writes the blocks of a bundle and gives their ids.
func save(t *testing.T, dir string, b *devnet.Bundle) (ids []string) {
	t.Helper()
	for i, x := range append(b.Shards[:len(b.Shards):len(b.Shards)], b.Master) {
		name := fmt.Sprintf("%d-%d.boc", b.Master.ID.SeqNo, i)
		if err := os.WriteFile(filepath.Join(dir, name), x.Data, 0o600); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, FormatID(recordID(x.ID)))
	}
	return ids
}

func recordID(id *ton.BlockIDExt) *record.BlockId {
	return &record.BlockId{Workchain: id.Workchain, Shard: uint64(id.Shard), Seqno: id.SeqNo, RootHash: id.RootHash, FileHash: id.FileHash}
}

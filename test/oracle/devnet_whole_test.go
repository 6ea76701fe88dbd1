package oracle

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/traffic"
)

// devnetBlocks are the blocks of a small devnet, with splits and a merge, in
// files.
func devnetBlocks(t *testing.T) (list []boc) {
	const genesis = 1_750_000_000
	town := traffic.New(11, traffic.Options{Wallets: 12, NetworkID: -3})
	c, err := chain.New(chain.Options{Seed: 11, GenUtime: genesis, Accounts: town.Accounts(), Params: town.Params(), SplitDelay: 1})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for seqno := uint32(1); seqno <= 24; seqno++ {
		switch seqno {
		case 8:
			err = c.Split(0x4000000000000000)
		case 15:
			err = c.Merge(0x2000000000000000)
		}
		if err != nil {
			t.Fatal(err)
		}
		messages, err := town.Next(c, seqno, genesis+seqno, 30)
		if err != nil {
			t.Fatal(err)
		}
		bundle, err := c.Step(genesis+seqno, messages)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range append(bundle.Shards, bundle.Master) {
			name := fmt.Sprintf("%d_%016x_%d.boc", b.ID.Workchain, uint64(b.ID.Shard), b.ID.SeqNo)
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, b.Data, 0o600); err != nil {
				t.Fatal(err)
			}
			list = append(list, boc{name: name, path: path, size: int64(len(b.Data))})
		}
	}
	return list
}

// Whole blocks: with value flow, state update, envelopes, shards and
// configuration, all made here.
func TestAnotherReaderReadsWholeDevnetBlocks(t *testing.T) {
	compare(t, devnetBlocks(t), readBlock, "--whole")
}

package worker

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/xssnick/tonutils-go/ton"

	devchain "tonscribe/devnet/chain"
	"tonscribe/devnet/traffic"
	"tonscribe/schema/record"
)

// devnet is a chain with traffic of every kind and a split, and what finds its
// zerostates.
func devnet(t testing.TB, blocks uint32, transactions int) ([]*source, func(context.Context, *record.BlockId) ([]byte, error)) {
	t.Helper()
	const dawn = 1_760_000_000
	town := traffic.New(7, traffic.Options{Wallets: 100})
	made, err := devchain.New(devchain.Options{Seed: 7, GenUtime: dawn, Accounts: town.Accounts(), Params: town.Params()})
	if err != nil {
		t.Fatal(err)
	}
	var bundles []*source
	for seqno := uint32(1); seqno <= blocks; seqno++ {
		if _, shards := made.Head(); seqno == blocks/3 {
			if err := made.Split(uint64(shards[0].ID.Shard)); err != nil {
				t.Fatal(err)
			}
		}
		messages, err := town.Next(made, seqno, dawn+seqno, transactions)
		if err != nil {
			t.Fatal(err)
		}
		b, err := made.Step(dawn+seqno, messages)
		if err != nil {
			t.Fatal(err)
		}
		bundles = append(bundles, sourceOf(b))
	}
	master, base := made.Zerostates()
	return bundles, func(_ context.Context, id *record.BlockId) ([]byte, error) {
		for _, z := range []*devchain.Zerostate{master, base} {
			if bytes.Equal(z.ID.FileHash, id.FileHash) {
				return z.Data, nil
			}
		}
		return nil, nil
	}
}

func sourceOf(b *devchain.Bundle) *source {
	idOf := func(id *ton.BlockIDExt) *record.BlockId {
		return &record.BlockId{Workchain: id.Workchain, Shard: uint64(id.Shard), Seqno: id.SeqNo, RootHash: id.RootHash, FileHash: id.FileHash}
	}
	s := &source{mcSeqno: b.Master.ID.SeqNo, prev: b.Master.ID.SeqNo - 1, master: idOf(b.Master.ID), genUtime: b.Master.GenUtime}
	for _, block := range append(slices.Clone(b.Shards), b.Master) {
		s.blocks = append(s.blocks, &record.RawBlock{Id: idOf(block.ID), Boc: block.Data})
	}
	return s
}

// Accounts keep parts of messages, share cells, and change before and after
// each other in one block.
func TestEveryStateOfADevnetIsKnownWithItsZerostates(t *testing.T) {
	bundles, zerostate := devnet(t, 45, 80)
	configuration := DefaultConfiguration()
	configuration.Cells.Dir = t.TempDir()
	found := onEmbedded(t, 1).run(bundles, configuration, zerostate)
	if data, code, _ := found.check(t); data != 0 || code != 0 || len(found.accounts) == 0 || len(found.late) == 0 {
		t.Errorf("of %d accounts and %d late ones %d data and %d codes are missing", len(found.accounts), len(found.late), data, code)
	}
	t.Logf("%d states of accounts, %d transactions, %d late accounts", len(found.accounts), len(found.transactions), len(found.late))
}

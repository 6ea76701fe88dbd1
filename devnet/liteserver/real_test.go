package liteserver

import (
	"bytes"
	"testing"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/history"
	"tonscribe/test/support/historytest"
)

// The real chain has no signatures in its files, so that these tests check every
// proof but those of the masterchain's validators.

func TestRealBlocksAreServedWithProofs(t *testing.T) {
	store, c := realStore(t)
	client := connect(t, serve(t, store, refuseAll), ton.ProofCheckPolicyFast)
	ctx := t.Context()
	for _, bundle := range c.Bundles {
		for _, want := range append([]*chain.Block{bundle.Master}, bundle.Shards...) {
			id, err := client.LookupBlock(ctx, want.ID.Workchain, want.ID.Shard, want.ID.SeqNo)
			if err != nil || !id.Equals(want.ID) {
				t.Fatalf("look-up of %s: got %v (%v)", history.Name(want.ID), id, err)
			}
			data, err := client.GetBlockDataAsCell(ctx, id)
			if err != nil || data.HashKey() != want.Root.HashKey() {
				t.Errorf("block %s: %v", history.Name(id), err)
			}
			header, err := client.GetBlockHeader(ctx, id)
			if err != nil || header.SeqNo != id.SeqNo || header.GenUtime != want.GenUtime {
				t.Errorf("header of %s: got %v (%v)", history.Name(id), header, err)
			}
			list, incomplete, err := client.GetBlockTransactionsV2(ctx, id, 256)
			if err != nil || incomplete || len(list) != len(want.Transactions) {
				t.Errorf("transactions of %s: got %d, %v (%v), want %d", history.Name(id), len(list), incomplete, err, len(want.Transactions))
			}
			for i := range want.Transactions {
				tx := &want.Transactions[i]
				got, err := client.GetTransaction(ctx, id, address.NewAddress(0, byte(tx.Workchain), tx.Account[:]), tx.LT)
				if err != nil || !bytes.Equal(got.Hash, tx.Hash[:]) {
					t.Errorf("transaction %x %d: %v", tx.Account, tx.LT, err)
				}
			}
		}
		shards, err := client.GetBlockShardsInfo(ctx, bundle.Master.ID)
		if err != nil || len(shards) == 0 {
			t.Errorf("shards of %s: got %v (%v)", history.Name(bundle.Master.ID), shards, err)
		}
	}
}

func TestRealAccountsAreServedWithProofs(t *testing.T) {
	store, c := realStore(t)
	client := connect(t, serve(t, store, refuseAll), ton.ProofCheckPolicyFast)
	ctx := t.Context()
	for _, bundle := range c.Bundles {
		master := bundle.Master.ID
		last := map[[32]byte]*chain.Transaction{}
		for i := range bundle.Master.Transactions {
			tx := &bundle.Master.Transactions[i]
			last[tx.Account] = tx
		}
		for id, tx := range last {
			account, err := client.GetAccount(ctx, master, address.NewAddress(0, 255, id[:]))
			if err == nil && !account.IsActive && ends(t, tx) {
				continue
			}
			if err != nil || !account.IsActive || account.LastTxLT != tx.LT || !bytes.Equal(account.LastTxHash, tx.Hash[:]) {
				t.Errorf("account -1:%x at %s: got %+v (%v), want its transaction %d", id, history.Name(master), account, err, tx.LT)
			}
		}
		for _, workchain := range []byte{0, 255} {
			if workchain == 0 && historytest.Tops(t, bundle.Master.Root)[0].SeqNo == 0 {
				continue
			}
			account, err := client.GetAccount(ctx, master, address.NewAddress(0, workchain, bytes.Repeat([]byte{7}, 32)))
			if err != nil || account.IsActive {
				t.Errorf("absent account at %s: got %+v (%v)", history.Name(master), account, err)
			}
		}
		config, err := client.GetBlockchainConfig(ctx, master)
		if err != nil || config.Get(34) == nil {
			t.Errorf("config at %s: %v", history.Name(master), err)
		}
		if config, err = client.GetBlockchainConfig(ctx, master, 15, 28); err != nil || config.Get(28) == nil {
			t.Errorf("config parameters at %s: %v", history.Name(master), err)
		}
	}
}

// ends reports whether the account is gone after its transaction.
func ends(t *testing.T, tx *chain.Transaction) bool {
	var parsed tlb.Transaction
	if err := tlb.Parse(&parsed, tx.Cell); err != nil {
		t.Fatal(err)
	}
	return parsed.EndStatus == tlb.AccountStatusNonExist
}

func TestRealTransactionsAreListedBackwards(t *testing.T) {
	store, c := realStore(t)
	client := connect(t, serve(t, store, refuseAll), ton.ProofCheckPolicyFast)
	newest := c.Bundles[len(c.Bundles)-1].Master.Transactions
	tx := newest[len(newest)-1]
	list, err := client.ListTransactions(t.Context(), address.NewAddress(0, 255, tx.Account[:]), 100, tx.LT, tx.Hash[:])
	if err != nil || len(list) != maxTransactions {
		t.Fatalf("got %d transactions (%v), want %d", len(list), err, maxTransactions)
	}
	if _, err := client.ListTransactions(t.Context(), address.NewAddress(0, 255, tx.Account[:]), 1, tx.LT, make([]byte, 32)); err == nil {
		t.Error("another hash: got nil, want an error")
	}
}

package liteserver

import (
	"bytes"
	"context"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/ton/wallet"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/history"
)

func TestTheSecureClientReadsBlocksAndAccounts(t *testing.T) {
	alice := newPerson(1)
	d := newDevnet(t, chain.Options{}, alice)
	client := connect(t, d.Component, ton.ProofCheckPolicySecure)
	ctx := t.Context()
	for range 4 {
		d.step()
		head, err := client.GetMasterchainInfo(ctx)
		if err != nil || head.SeqNo != d.store.Last() {
			t.Fatalf("head: got %v (%v), want %d", head, err, d.store.Last())
		}
		shards, err := client.GetBlockShardsInfo(ctx, head)
		if err != nil || len(shards) == 0 {
			t.Fatalf("shards: got %v (%v)", shards, err)
		}
		for _, id := range append(shards, head) {
			found, err := client.LookupBlock(ctx, id.Workchain, id.Shard, id.SeqNo)
			if err != nil || !found.Equals(id) {
				t.Errorf("look-up of %s: got %v (%v)", history.Name(id), found, err)
			}
			if _, err := client.GetBlockData(ctx, id); err != nil {
				t.Errorf("block %s: %v", history.Name(id), err)
			}
			list, _, err := client.GetBlockTransactionsV2(ctx, id, 100)
			if err != nil {
				t.Errorf("transactions of %s: %v", history.Name(id), err)
			}
			for _, tx := range list {
				who := address.NewAddress(0, byte(id.Workchain), tx.Account)
				if got, err := client.GetTransaction(ctx, id, who, tx.LT); err != nil || !bytes.Equal(got.Hash, tx.Hash) {
					t.Errorf("transaction %x %d: %v", tx.Account, tx.LT, err)
				}
			}
		}
		account, err := client.GetAccount(ctx, head, alice.address)
		if err != nil || !account.IsActive || account.State.Balance.Nano().Sign() == 0 {
			t.Fatalf("account: got %+v (%v)", account, err)
		}
		if account, err = client.GetAccount(ctx, head, newPerson(99).address); err != nil || account.IsActive {
			t.Errorf("absent account: got %+v (%v)", account, err)
		}
		seqno, err := client.RunGetMethod(ctx, head, alice.address, "seqno")
		if err != nil || seqno.MustInt(0).Sign() != 0 {
			t.Errorf("seqno: got %v (%v)", seqno, err)
		}
		config, err := client.GetBlockchainConfig(ctx, head)
		if err != nil || config.Get(8) == nil {
			t.Errorf("config: %v", err)
		}
		if config, err = client.GetBlockchainConfig(ctx, head, 34, 15); err != nil || config.Get(34) == nil {
			t.Errorf("config params: %v", err)
		}
	}
	// From the newest block back to the first.
	head, err := client.GetMasterchainInfo(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for seqno := uint32(1); seqno < head.SeqNo; seqno++ {
		id, err := client.LookupBlock(ctx, -1, wholeShard, seqno)
		if err != nil {
			t.Fatal(err)
		}
		if err := client.VerifyProofChain(ctx, head, id); err != nil {
			t.Errorf("proof from %d back to %d: %v", head.SeqNo, seqno, err)
		}
		if err := client.VerifyProofChain(ctx, id, head); err != nil {
			t.Errorf("proof from %d to %d: %v", seqno, head.SeqNo, err)
		}
	}
}

func TestAGetMethodThatFailsTellsItsExitCode(t *testing.T) {
	alice := newPerson(1)
	d := newDevnet(t, chain.Options{}, alice)
	client := connect(t, d.Component, ton.ProofCheckPolicySecure)
	head, err := client.GetMasterchainInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for who, want := range map[*address.Address]int32{alice.address: 11, newPerson(99).address: -256} {
		_, err := client.RunGetMethod(t.Context(), head, who, "no_such_method")
		if failure, is := errors.AsType[ton.ContractExecError](err); !is || failure.Code != want {
			t.Errorf("%s: got %v, want exit code %d", who, err, want)
		}
	}
}

func TestAWalletSendsAndWaitsForItsTransaction(t *testing.T) {
	alice, bob := newPerson(1), newPerson(2)
	d := newDevnet(t, chain.Options{}, alice)
	client := connect(t, d.Component, ton.ProofCheckPolicySecure)
	d.live()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	w, err := wallet.FromPrivateKey(client, alice.key, wallet.V4R2)
	if err != nil {
		t.Fatal(err)
	}
	if !w.WalletAddress().Equals(alice.address) {
		t.Fatalf("wallet: got %s, want %s", w.WalletAddress(), alice.address)
	}
	transfer, err := w.BuildTransfer(bob.address, tlb.MustFromTON("1.5"), false, "hello")
	if err != nil {
		t.Fatal(err)
	}
	tx, block, err := w.SendWaitTransaction(ctx, transfer)
	if err != nil {
		t.Fatal(err)
	}
	got, err := client.ListTransactions(ctx, alice.address, 5, tx.LT, tx.Hash)
	if err != nil || len(got) != 1 {
		t.Errorf("transactions of the sender: got %d (%v), want 1", len(got), err)
	}
	for {
		account, err := client.WaitForBlock(block.SeqNo).GetAccount(ctx, block, bob.address)
		if err != nil {
			t.Fatal(err)
		}
		if account.IsActive && account.State != nil {
			if balance := account.State.Balance.Nano(); balance.Cmp(big.NewInt(1_500_000_000)) != 0 {
				t.Errorf("receiver: got %s nanotons, want 1500000000", balance)
			}
			break
		}
		if block, err = client.WaitForBlock(block.SeqNo + 1).GetMasterchainInfo(ctx); err != nil {
			t.Fatal(err)
		}
	}
	seqno, err := client.RunGetMethod(ctx, block, alice.address, "seqno")
	if err != nil || seqno.MustInt(0).Uint64() != 1 {
		t.Errorf("seqno: got %v (%v), want 1", seqno, err)
	}
}

func TestAMessageThatTheAccountRefusesIsAnError(t *testing.T) {
	alice := newPerson(1)
	d := newDevnet(t, chain.Options{}, alice)
	client := connect(t, d.Component, ton.ProofCheckPolicySecure)
	err := client.SendExternalMessage(t.Context(), &tlb.ExternalMessage{DstAddr: alice.address, Body: alice.wallet.StateInit().Data})
	if failure, is := errors.AsType[ton.LSError](err); !is || failure.Code != codeUnknown || !bytes.Contains([]byte(failure.Text), []byte("cannot apply external message to current state")) {
		t.Errorf("got %v", err)
	}
}

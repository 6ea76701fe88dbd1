package liteserver

import (
	"math/big"
	"testing"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/genesis"
)

// pliant is code of a config contract that takes its data from any external
// message: DROP, ACCEPT, LDREF, DROP, and pop into register c4.
func pliant() *cell.Cell {
	return cell.BeginCell().MustStoreSlice([]byte{0x30, 0xf8, 0x00, 0xd4, 0x30, 0xed, 0x54}, 56).EndCell()
}

// changeConfig makes the next masterchain block a key block, by a parameter that
// nobody reads.
func (d *devnet) changeConfig(number int64) {
	d.t.Helper()
	d.setParam(number, cell.BeginCell().MustStoreUInt(uint64(d.store.Last()), 32).EndCell())
}

// setParam makes the next masterchain block a key block.
func (d *devnet) setParam(number int64, param *cell.Cell) {
	d.t.Helper()
	params := d.chain.Config().AsDict(32)
	if err := params.SetIntKey(big.NewInt(number), cell.BeginCell().MustStoreRef(param).EndCell()); err != nil {
		d.t.Fatal(err)
	}
	data := cell.BeginCell().MustStoreRef(params.AsCell()).EndCell()
	message, err := tlb.ToCell(&tlb.ExternalMessage{
		DstAddr: address.NewAddress(0, 255, chain.Config[:]), Body: cell.BeginCell().MustStoreRef(data).EndCell(),
	})
	if err != nil {
		d.t.Fatal(err)
	}
	if err := d.send(message); err != nil {
		d.t.Fatal(err)
	}
}

// Mainnet went from catchain to simplex at a key block: proofs lead over it.
func TestProofsLeadOverKeyBlocks(t *testing.T) {
	for name, signers := range map[string]struct {
		first     chain.Consensus
		switchAt  int
		ordinary  bool
		finalized bool
	}{
		"simplex":          {chain.Simplex, -1, false, true},
		"catchain":         {chain.Catchain, -1, true, false},
		"simplex later on": {chain.Catchain, 30, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			ordinary, finalized := proofsLeadOverKeyBlocks(t, signers.first, signers.switchAt)
			if ordinary > 0 != signers.ordinary || finalized > 0 != signers.finalized {
				t.Errorf("%d blocks were signed by catchain, %d by simplex", ordinary, finalized)
			}
		})
	}
}

func proofsLeadOverKeyBlocks(t *testing.T, signers chain.Consensus, switchAt int) (ordinary, finalized int) {
	d := newDevnet(t, chain.Options{Consensus: signers, Accounts: []chain.Account{{
		Workchain: masterchain, ID: chain.Config, Code: pliant(), Data: cell.BeginCell().MustStoreRef(cell.BeginCell().EndCell()).EndCell(),
		Balance: big.NewInt(1_000_000_000_000),
	}}})
	params, err := genesis.Default().Params(genesis.Facts{Simplex: true, BaseRootHash: make([]byte, 32), BaseFileHash: make([]byte, 32)})
	if err != nil {
		t.Fatal(err)
	}
	keys := 0
	for i := range 60 {
		if i == switchAt {
			d.setParam(30, params[30])
		} else if i%3 == 0 {
			d.changeConfig(-1000)
		}
		b := d.step()
		var block tlb.Block
		if err := tlb.Parse(&block, b.Master.Root); err != nil {
			t.Fatal(err)
		}
		if block.BlockInfo.KeyBlock {
			keys++
		}
		if b.Candidate == nil {
			ordinary++
		} else {
			finalized++
		}
	}
	if keys <= maxSteps {
		t.Fatalf("key blocks: got %d, want more than one answer has steps (%d)", keys, maxSteps)
	}
	client := connect(t, d.Component, ton.ProofCheckPolicySecure)
	head, err := client.GetMasterchainInfo(t.Context()) // proven from block 1, in several answers
	if err != nil || head.SeqNo != d.store.Last() {
		t.Fatalf("head: got %v (%v), want %d", head, err, d.store.Last())
	}
	for seqno := uint32(1); seqno < head.SeqNo; seqno += 7 {
		id, err := client.LookupBlock(t.Context(), masterchain, wholeShard, seqno)
		if err != nil {
			t.Fatal(err)
		}
		if err := client.VerifyProofChain(t.Context(), id, head); err != nil {
			t.Errorf("from %d to %d: %v", seqno, head.SeqNo, err)
		}
		if err := client.VerifyProofChain(t.Context(), head, id); err != nil {
			t.Errorf("from %d to %d: %v", head.SeqNo, seqno, err)
		}
	}
	return ordinary, finalized
}

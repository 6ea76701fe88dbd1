package liteserver

import (
	"bytes"
	"context"
	"errors"
	"math/big"
	"testing"

	"github.com/xssnick/tonutils-go/tl"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/history"
)

// splitAndMerged is a devnet whose shards have split and merged, and its blocks.
func splitAndMerged(t *testing.T) (*devnet, []*chain.Bundle) {
	d := newDevnet(t, chain.Options{ShardBlocks: 3})
	var bundles []*chain.Bundle
	counts := map[int]bool{}
	for i := range 60 {
		_, shards := d.chain.Head()
		counts[len(shards)] = true
		var err error
		switch first := uint64(shards[0].ID.Shard); {
		case i < 20 && len(shards) == 2:
			err = d.chain.Split(first)
		case i >= 30 && len(shards) == 3:
			err = d.chain.Merge(first)
		}
		if err != nil {
			t.Fatal(err)
		}
		bundles = append(bundles, d.step())
	}
	if _, shards := d.chain.Head(); !counts[3] || len(shards) != 2 {
		t.Fatalf("shards: got %v and %d at the end, want 3 and 2", counts, len(shards))
	}
	return d, bundles
}

// ask sends one query and fails unless the answer is an A.
func ask[A any](t *testing.T, client *ton.APIClient, query tl.Serializable) A {
	t.Helper()
	var answer tl.Serializable
	if err := client.Client().QueryLiteserver(t.Context(), query, &answer); err != nil {
		t.Fatalf("%T: %v", query, err)
	}
	got, ok := answer.(A)
	if !ok {
		t.Fatalf("%+v: got %+v", query, answer)
	}
	return got
}

// proven is the root of a proof of a block.
func proven(t *testing.T, id *ton.BlockIDExt, proof []byte) *tlb.Block {
	t.Helper()
	root, err := cell.FromBOC(proof)
	if err != nil {
		t.Fatalf("proof of %s: %v", history.Name(id), err)
	}
	block, err := ton.CheckBlockProof(root, id.RootHash)
	if err != nil {
		t.Fatalf("proof of %s: %v", history.Name(id), err)
	}
	return block
}

// follow checks links from a masterchain block to a shard block.
func follow(t *testing.T, master *ton.BlockIDExt, links []ton.ShardBlockLink) *ton.BlockIDExt {
	t.Helper()
	at := master
	for _, link := range links {
		block := proven(t, at, link.Proof)
		var next []*ton.BlockIDExt
		var err error
		if at.Workchain == masterchain {
			next, err = ton.LoadShardsFromHashes(block.Extra.Custom.ShardHashes, true)
		} else {
			next, err = ton.GetParentBlocks(&block.BlockInfo)
		}
		if err != nil {
			t.Fatalf("link from %s: %v", history.Name(at), err)
		}
		at = nil
		for _, id := range next {
			if id.Equals(link.ID) {
				at = id
			}
		}
		if at == nil {
			t.Fatalf("link leads to %s, the block proves %v", history.Name(link.ID), next)
		}
	}
	return at
}

func TestShardBlocksAreProvenOverSplitsAndMerges(t *testing.T) {
	d, bundles := splitAndMerged(t)
	client := connect(t, d.Component, ton.ProofCheckPolicySecure)
	for _, bundle := range bundles {
		for _, block := range bundle.Shards {
			proof := ask[ton.ShardBlockProof](t, client, ton.GetShardBlockProof{ID: block.ID})
			if !proof.MasterchainID.Equals(bundle.Master.ID) {
				t.Errorf("%s: proven from %s, want %s", history.Name(block.ID), history.Name(proof.MasterchainID), history.Name(bundle.Master.ID))
			}
			if end := follow(t, proof.MasterchainID, proof.Links); !end.Equals(block.ID) {
				t.Errorf("links end at %s, want %s", history.Name(end), history.Name(block.ID))
			}
		}
	}
}

func TestLookUpsAreProvenFromTheClientsBlock(t *testing.T) {
	d, bundles := splitAndMerged(t)
	client := connect(t, d.Component, ton.ProofCheckPolicySecure)
	trusted := bundles[len(bundles)-1].Master.ID
	for i, bundle := range bundles {
		for _, block := range blocksOf(bundle) {
			short := &ton.BlockInfoShort{Workchain: block.ID.Workchain, Shard: block.ID.Shard, Seqno: int32(block.ID.SeqNo)}
			for _, query := range []ton.LookupBlockWithProof{
				{Mode: bySeqno, ID: short, MCBlockID: trusted},
				{Mode: byLT, ID: short, MCBlockID: trusted, LT: block.StartLT},
				{Mode: byUtime, ID: short, MCBlockID: trusted, UTime: block.GenUtime},
			} {
				got := ask[ton.LookupBlockResult](t, client, query)
				if query.Mode != byUtime && !got.ID.Equals(block.ID) {
					t.Fatalf("mode %d: got %s, want %s", query.Mode, history.Name(got.ID), history.Name(block.ID))
				}
				checkLookup(t, got, query)
			}
		}
		older := &ton.BlockInfoShort{Workchain: masterchain, Shard: wholeShard, Seqno: int32(trusted.SeqNo)}
		if i < len(bundles)-1 {
			failure := ask[ton.LSError](t, client, ton.LookupBlockWithProof{Mode: bySeqno, ID: older, MCBlockID: bundle.Master.ID})
			if failure.Code == codeError {
				t.Errorf("a block newer than the client's: got %v", failure)
			}
		}
	}
}

func blocksOf(b *chain.Bundle) []*chain.Block { return append([]*chain.Block{b.Master}, b.Shards...) }

// checkLookup does what a client does that trusts only its masterchain block.
func checkLookup(t *testing.T, got ton.LookupBlockResult, query ton.LookupBlockWithProof) {
	t.Helper()
	if !got.MCBlockID.Equals(query.MCBlockID) {
		state := mcState(t, query.MCBlockID, got.ClientMCStateProof, got.MCBlockProof)
		var info tlb.McStateExtraBlockInfo
		loader, err := state.Info.BeginParse()
		if err == nil {
			err = tlb.LoadFromCellAsProof(&info, loader)
		}
		if err != nil {
			t.Fatal(err)
		}
		value, err := info.PrevBlocks.LoadValueByIntKey(big.NewInt(int64(got.MCBlockID.SeqNo)))
		if err != nil {
			t.Fatalf("masterchain block %d: %v", got.MCBlockID.SeqNo, err)
		}
		var ref tlb.KeyExtBlkRef
		if err := tlb.LoadFromCell(&ref, value); err != nil || !bytes.Equal(ref.BlkRef.RootHash, got.MCBlockID.RootHash) {
			t.Fatalf("masterchain block %d: got %x (%v), want %x", got.MCBlockID.SeqNo, ref.BlkRef.RootHash, err, got.MCBlockID.RootHash)
		}
	}
	if end := follow(t, got.MCBlockID, got.ShardLinks); !end.Equals(got.ID) {
		t.Fatalf("links end at %s, want %s", history.Name(end), history.Name(got.ID))
	}
	header := proven(t, got.ID, got.Header)
	if query.Mode == bySeqno {
		return
	}
	parents, err := ton.GetParentBlocks(&header.BlockInfo)
	if err != nil || parents[0].SeqNo == 0 {
		return
	}
	for _, parent := range parents {
		root, err := cell.FromBOC(got.PrevHeader)
		if err != nil {
			t.Fatal(err)
		}
		before, err := ton.CheckBlockProof(root, parent.RootHash)
		if err != nil {
			continue
		}
		if before.BlockInfo.EndLt >= query.LT && query.Mode == byLT || before.BlockInfo.GenUtime >= query.UTime && query.Mode == byUtime {
			t.Errorf("the block before %s fits the look-up too", history.Name(got.ID))
		}
		return
	}
	t.Errorf("the header before %s is of another block", history.Name(got.ID))
}

func mcState(t *testing.T, id *ton.BlockIDExt, block, state []byte) *tlb.McStateExtra {
	t.Helper()
	var roots []*cell.Cell
	for _, data := range [][]byte{block, state} {
		root, err := cell.FromBOC(data)
		if err != nil {
			t.Fatal(err)
		}
		roots = append(roots, root)
	}
	extra, err := ton.CheckShardMcStateExtraProof(id, roots)
	if err != nil {
		t.Fatal(err)
	}
	return extra
}

func TestOldAccountsAreReadFromDerivedStates(t *testing.T) {
	alice := newPerson(1)
	d := newDevnet(t, chain.Options{}, alice)
	for range 60 {
		d.step()
	}
	client := connect(t, d.Component, ton.ProofCheckPolicySecure)
	for seqno := uint32(2); seqno <= d.store.Last(); seqno += 5 {
		id, err := client.LookupBlock(t.Context(), masterchain, wholeShard, seqno)
		if err != nil {
			t.Fatal(err)
		}
		account, err := client.GetAccount(t.Context(), id, alice.address)
		if err != nil || !account.IsActive {
			t.Errorf("at %d: got %+v (%v)", seqno, account, err)
		}
		sizes := ask[ton.BlockOutMsgQueueSize](t, client, ton.GetBlockOutMsgQueueSize{Mode: 1, ID: id, WantProof: &ton.True{}})
		if sizes.Size != 0 || len(sizes.Proof) == 0 {
			t.Errorf("queue at %d: got %+v", seqno, sizes)
		}
	}
}

func TestAWaitEndsWithTheBlockOrItsTime(t *testing.T) {
	d := newDevnet(t, chain.Options{})
	client := connect(t, d.Component, ton.ProofCheckPolicySecure)
	next := d.store.Last() + 1
	waited := make(chan error, 1)
	asked := make(chan struct{})
	go func() {
		close(asked)
		_, err := client.WaitForBlock(next).GetMasterchainInfo(t.Context())
		waited <- err
	}()
	<-asked
	d.step()
	if err := <-waited; err != nil {
		t.Errorf("got %v, want the block", err)
	}
	short, cancel := context.WithTimeout(t.Context(), 1)
	defer cancel()
	if _, err := client.WaitForBlock(next + 1).GetMasterchainInfo(short); err == nil {
		t.Error("a block that never comes: got nil, want an error")
	}
	for seqno, want := range map[int32]int32{int32(next) + 1: codeTimeout, int32(next) + 100_000: codeNotReady, -1: codeNotReady} {
		prefix, err := tl.Serialize(ton.WaitMasterchainSeqno{Seqno: seqno, Timeout: 5}, true)
		if err != nil {
			t.Fatal(err)
		}
		query, err := tl.Serialize(ton.GetTime{}, true)
		if err != nil {
			t.Fatal(err)
		}
		if failure := ask[ton.LSError](t, client, tl.Raw(append(prefix, query...))); failure.Code != want {
			t.Errorf("seqno %d: got %v, want code %d", seqno, failure, want)
		}
	}
}

func TestTheConfigOfTheLastKeyBlockIsProven(t *testing.T) {
	d := newDevnet(t, chain.Options{})
	client := connect(t, d.Component, ton.ProofCheckPolicySecure)
	head, err := client.GetMasterchainInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := ask[ton.ConfigAll](t, client, ton.GetConfigParams{Mode: fromKeyBlock, BlockID: head, Params: []int32{34}})
	if got.ID.SeqNo != 1 || len(got.StateProof) != 0 {
		t.Fatalf("got block %d and a state proof of %d bytes, want key block 1 and none", got.ID.SeqNo, len(got.StateProof))
	}
	block := proven(t, got.ID, got.ConfigProof)
	if _, err := block.Extra.Custom.ConfigParams.Config.Params.LoadValueByIntKey(big.NewInt(34)); err != nil {
		t.Error(err)
	}
}

func TestNodesOfAPoolTryAnotherServerWhereThereIsNoBlock(t *testing.T) {
	d := newDevnet(t, chain.Options{})
	client := connect(t, d.Component, ton.ProofCheckPolicySecure)
	if _, err := client.LookupBlock(t.Context(), masterchain, wholeShard, 1_000_000); !errors.Is(err, ton.ErrBlockNotFound) {
		t.Errorf("got %v, want %v", err, ton.ErrBlockNotFound)
	}
}

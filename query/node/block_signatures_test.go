package node

import (
	"bytes"
	"testing"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/packages"
)

// Whoever gives signatures of another block, or of another vote, is not believed.
func TestSimplexSignaturesOfSomethingElseAreRefused(t *testing.T) {
	w := newTown(t, 5)
	set, err := w.store.Signatures(5)
	if err != nil {
		t.Fatal(err)
	}
	other, err := w.store.Signatures(4)
	if err != nil {
		t.Fatal(err)
	}
	commit, err := w.store.Commit(5)
	if err != nil {
		t.Fatal(err)
	}
	block, err := w.store.Block(commit.Master)
	if err != nil {
		t.Fatal(err)
	}
	config := tlb.BlockchainConfig{Root: w.chain.Config()}
	validators := &validatorsOf{}
	if validators.catchain, err = config.GetCatchainConfig(); err != nil {
		t.Fatal(err)
	}
	elected, err := config.GetCurrentValidators()
	if err != nil {
		t.Fatal(err)
	}
	validators.validators = *elected
	kept, _, err := packages.Proof(block, &chain.Bundle{Master: block})
	if err != nil {
		t.Fatal(err)
	}
	root, err := cell.FromBOC(kept)
	if err != nil {
		t.Fatal(err)
	}
	proof := root.MustPeekRef(0)
	check := func(set any) error {
		return validators.check(commit.Master, ton.BlockLinkForward{DestProof: proof.ToBOC(), SignatureSet: set})
	}
	if err := check(set); err != nil {
		t.Fatalf("the block's own signatures: %v", err)
	}
	for name, change := range map[string]func(s *ton.SignatureSetSimplex){
		"of another slot":      func(s *ton.SignatureSetSimplex) { s.Slot++ },
		"of another session":   func(s *ton.SignatureSetSimplex) { s.SessionID = make([]byte, 32) },
		"of another candidate": func(s *ton.SignatureSetSimplex) { s.Candidate[90] ^= 1 },
	} {
		changed := set.(ton.SignatureSetSimplex)
		changed.Candidate = bytes.Clone(changed.Candidate)
		change(&changed)
		if check(changed) == nil {
			t.Errorf("signatures %s are taken", name)
		}
	}
	if check(other) == nil {
		t.Error("signatures of block 4 are taken for block 5")
	}
}

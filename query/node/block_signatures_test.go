package node

import (
	"bytes"
	"math/big"
	"path/filepath"
	"slices"
	"testing"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/packages"
	"tonscribe/test/support/litetest"
	"tonscribe/test/support/realdata"
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

func TestSignaturesKeepTheOrderInWhichTheyAreGiven(t *testing.T) {
	const set, keyBlock = "mainnet_mc3082181-3082201", 3082181
	dir := realdata.Path(t)
	signed := litetest.OpenSigned(t, filepath.Join(dir, "blocks", set), filepath.Join(dir, "proofs", set), keyBlock, keyBlock+1)
	id := signed.ID(-1, litetest.MasterShard, keyBlock+1)
	proof := signed.Handle(t.Context(), litetest.Request{Query: ton.GetBlockProof{Mode: 1, KnownBlock: signed.Key(), TargetBlock: id}})
	link := proof.(ton.PartialBlockProof).Steps[0].(ton.BlockLinkForward)
	root, err := cell.FromBOC(link.ConfigProof)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ton.CheckBlockProof(root, signed.Key().RootHash)
	if err != nil {
		t.Fatal(err)
	}
	validators := &validatorsOf{}
	for number, into := range map[int64]any{28: &validators.catchain, 34: &validators.validators} {
		value, err := key.Extra.Custom.ConfigParams.Config.Params.LoadValueByIntKey(big.NewInt(number))
		if err != nil {
			t.Fatal(err)
		}
		if err := tlb.Parse(into, value.MustToCell().MustPeekRef(0)); err != nil {
			t.Fatal(err)
		}
	}
	signatures := link.SignatureSet.(ton.SignatureSet).Signatures
	slices.Reverse(signatures)
	given := slices.Clone(signatures)
	if err := validators.check(id, link); err != nil || len(given) < 2 {
		t.Fatalf("%d signatures, %v", len(given), err)
	}
	for i, got := range signatures {
		if want := given[i]; !bytes.Equal(got.NodeIDShort, want.NodeIDShort) {
			t.Fatalf("signature %d is of %X, given was that of %X", i, got.NodeIDShort, want.NodeIDShort)
		}
	}
}

package v2

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/devnet/packages"
)

func TestSignaturesOfBlocksAreChecked(t *testing.T) {
	for signers, want := range map[chain.Consensus]string{
		chain.Catchain: "blocks.blockSignatures", chain.Simplex: "blocks.blockSignatures.simplex",
	} {
		t.Run(string(signers), func(t *testing.T) {
			w := newTownBy(t, signers, 9, 0)
			for _, seqno := range []uint32{1, 2, 5, 9} {
				set := w.get("getMasterchainBlockSignatures", fmt.Sprintf("seqno=%d", seqno))
				if at(set, "@type") != want || at(set, "id.seqno") != float64(seqno) || at(set, "signatures.0.@type") != "blocks.signature" {
					t.Errorf("block %d: %v, want a %s", seqno, set, want)
				}
				if signers != chain.Simplex {
					continue
				}
				b, err := w.store.Commit(seqno)
				if err != nil {
					t.Fatal(err)
				}
				base64 := base64.StdEncoding.EncodeToString
				if at(set, "session_id") != base64(b.Candidate.SessionID) || at(set, "slot") != float64(b.Candidate.Slot) || at(set, "candidate") != base64(b.Candidate.Data) {
					t.Errorf("block %d: %v, want session %x, slot %d, candidate %x", seqno, set, b.Candidate.SessionID, b.Candidate.Slot, b.Candidate.Data)
				}
			}
		})
	}
}

// Whoever gives signatures of another block, or of another vote, is not believed.
func TestSimplexSignaturesOfSomethingElseAreRefused(t *testing.T) {
	w := newTown(t, 5, 0)
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

// What the API computes equals what the lite server computes.
func TestGetMethodsEqualThoseOfTheLiteServer(t *testing.T) {
	w := newTown(t, 25, 40)
	head, err := w.pool.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, account := range w.accounts() {
		for _, method := range []string{"seqno", "get_wallet_data", "get_jetton_data", "get_nft_data", "get_collection_data"} {
			own := w.result(w.post("runGetMethodStd", fmt.Sprintf(`{"address":"%s","method":"%s","stack":[],"seqno":%d}`, account.upper(), method, head.SeqNo)), method)
			theirs, err := w.pool.RunMethod(t.Context(), head, account.tonutils(), tlb.MethodNameHash(method), emptyStack())
			if err != nil {
				t.Fatal(err)
			}
			exit := at(own, "exit_code").(float64)
			if exit == -13 {
				exit = -256 // an account without code, in the words of lite servers
			}
			if exit != float64(theirs.ExitCode) {
				t.Errorf("%s of %s: exit code %v, the lite server's is %d", method, account.upper(), exit, theirs.ExitCode)
			}
			if exit == 0 {
				compared++
				if depth, ok := depthOf(theirs.Result); ok && depth != len(at(own, "stack").([]any)) {
					t.Errorf("%s of %s: %d values, the lite server has %d", method, account.upper(), len(at(own, "stack").([]any)), depth)
				}
			}
		}
	}
	t.Logf("%d successful runs", compared)
	if compared == 0 {
		t.Error("no get-method succeeded")
	}
}

func emptyStack() []byte {
	return cell.BeginCell().MustStoreUInt(0, 24).EndCell().ToBOC()
}

func depthOf(stack *cell.Cell) (int, bool) {
	if stack == nil {
		return 0, false
	}
	r := parse(stack)
	depth := r.Uint(24)
	return int(depth), r.Err() == nil
}

func TestHotAnswersAreShared(t *testing.T) {
	w := newTown(t, 3, 0)
	const askers = 50
	replies := make(chan reply, askers)
	for range askers {
		go func() { replies <- w.send("GET", Prefix+"/getMasterchainInfo", "") }()
	}
	cached := 0
	for range askers {
		r := <-replies
		if r.status != 200 || at(r.body, "result.last.seqno") != float64(3) {
			t.Errorf("%d %s", r.status, r.text)
		}
		if strings.HasSuffix(r.body["@extra"].(string), ":c") {
			cached++
		}
	}
	t.Logf("%d of %d answers were kept ones", cached, askers)
	// A second request within the second gets the first one's answer.
	waitFor(t, func() bool {
		w.get("getMasterchainInfo", "")
		r := w.send("GET", Prefix+"/getMasterchainInfo", "")
		return strings.HasSuffix(r.body["@extra"].(string), ":c")
	})
}

func TestExtraNamesTheServersThatAnswered(t *testing.T) {
	w := newTown(t, 2, 0)
	for method, want := range map[string]string{"getAddressState": "0", "packAddress": "_"} {
		extra := w.send("GET", Prefix+"/"+method+"?address="+w.alice.address().String(), "").body["@extra"].(string)
		if parts := strings.Split(extra, ":"); len(parts) != 3 || parts[1] != want {
			t.Errorf("%s: @extra is %s, want time:%s:milliseconds", method, extra, want)
		}
	}
}

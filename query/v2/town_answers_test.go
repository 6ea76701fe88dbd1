package v2

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"

	"tonscribe/devnet/chain"
	"tonscribe/internal/lite"
	toncell "tonscribe/ton/cell"
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
			own := w.result(w.post("runGetMethodStd", fmt.Sprintf(`{"address":"%s","method":"%s","stack":[],"seqno":%d}`, account.String(), method, head.SeqNo)), method)
			answer, _, err := w.pool.Query(t.Context(), lite.Query{Request: ton.RunSmcMethod{
				Mode: 0b100, ID: head, Account: ton.AccountID{ID: account.ID()}, MethodID: tlb.MethodNameHash(method), Params: emptyStack(),
			}})
			if err != nil {
				t.Fatal(err)
			}
			theirs := answer.(ton.RunMethodResult)
			exit := at(own, "exit_code").(float64)
			if exit == -13 {
				exit = -256 // an account without code, in the words of lite servers
			}
			if exit != float64(theirs.ExitCode) {
				t.Errorf("%s of %s: exit code %v, the lite server's is %d", method, account.String(), exit, theirs.ExitCode)
			}
			if exit == 0 {
				compared++
				if depth, ok := depthOf(theirs.Result); ok && depth != len(at(own, "stack").([]any)) {
					t.Errorf("%s of %s: %d values, the lite server has %d", method, account.String(), len(at(own, "stack").([]any)), depth)
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
	r := toncell.NewReader(stack)
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

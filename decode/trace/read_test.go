package trace

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tonscribe/schema/record"
	"tonscribe/test/support/realdata"
	"tonscribe/ton/cell"
)

func TestNormalisedHashIsThatOfTEP467(t *testing.T) {
	destination := append(make([]byte, 4), strings.Repeat("\x11", 32)...)
	for _, c := range []struct {
		bits uint
		want string
	}{
		{32, "657e551d55c95c03b3c3bfdd62a0c7367b25521d257235a1bd8b7aa46fe702b2"},
		{0, "667fd65a7f83ddde7e579e0769af9af8786662bf7c78defc93c70887448ac7f9"},
	} {
		var bag cell.Bag
		var b cell.Builder
		b.Store(0xdeadbeef, c.bits)
		body, err := bag.Add(&b)
		if err != nil {
			t.Fatal(err)
		}
		m := &record.Message{Hash: make([]byte, 32), Destination: destination}
		if err := normalize(m, body); err != nil || hex.EncodeToString(m.HashNorm) != c.want {
			t.Errorf("body of %d bits: %x, %v, want %s", c.bits, m.HashNorm, err, c.want)
		}
	}
}

// counters are those of a trace as another index wrote them.
type counters struct {
	ID           string `json:"trace_id"`
	External     string `json:"external_hash"`
	State        string `json:"state"`
	Nodes        int    `json:"nodes_"`
	Edges        int    `json:"edges_"`
	Pending      int    `json:"pending_edges_"`
	StartLt      uint64 `json:"start_lt"`
	EndLt        uint64 `json:"end_lt"`
	StartUtime   uint32 `json:"start_utime"`
	EndUtime     uint32 `json:"end_utime"`
	McSeqnoStart uint32 `json:"mc_seqno_start"`
	McSeqnoEnd   uint32 `json:"mc_seqno_end"`
}

func countersOf(t *record.Trace) counters {
	b64 := base64.StdEncoding.EncodeToString
	return counters{ID: b64(t.Id), External: b64(t.ExternalHash), State: []string{"complete", "pending", "broken"}[t.State],
		Nodes: int(t.Nodes), Edges: int(t.Edges), Pending: int(t.PendingEdges), StartLt: t.StartLt, EndLt: t.EndLt,
		StartUtime: t.StartUtime, EndUtime: t.EndUtime, McSeqnoStart: t.McSeqnoStart, McSeqnoEnd: t.McSeqnoEnd}
}

func TestRecordedTracesHaveTheCountersOfTheReference(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(realdata.Path(t, "traces"), "*.json"))
	if err != nil || len(files) < 83 {
		t.Fatalf("%d traces, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var want struct{ Trace counters }
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		r, err := Read(text)
		if err != nil {
			t.Fatalf("%s: %v", filepath.Base(file), err)
		}
		got, tree, err := r.Assemble()
		if err != nil {
			t.Fatalf("%s: %v", filepath.Base(file), err)
		}
		if g := countersOf(got); g != want.Trace {
			t.Errorf("%s:\n got %+v\nwant %+v", filepath.Base(file), g, want.Trace)
		}
		if len(tree.Nodes) != len(r.Transactions) || len(tree.Missing) > 0 {
			t.Errorf("%s: %d of %d transactions are in the tree", filepath.Base(file), len(tree.Nodes), len(r.Transactions))
		}
	}
}

// node is a TraceNode of an answer.
type node struct {
	Hash     string `json:"tx_hash"`
	Message  string `json:"in_msg_hash"`
	Children []node `json:"children"`
}

func (n *Node) answer() node {
	b64 := base64.StdEncoding.EncodeToString
	a := node{Hash: b64(n.Tx.Hash), Message: b64(n.Tx.InMsg.GetHash())}
	for _, c := range n.Children {
		a.Children = append(a.Children, c.answer())
	}
	return a
}

func TestAnswersOfThePublicAPIAreReadWhole(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(realdata.Path(t, "api_v3_traces/walletkit"), "*.json"))
	if err != nil || len(files) < 9 {
		t.Fatalf("%d answers, %v", len(files), err)
	}
	wallets := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var want struct {
			Traces []struct {
				ID        string   `json:"trace_id"`
				External  string   `json:"external_hash"`
				Order     []string `json:"transactions_order"`
				Tree      node     `json:"trace"`
				StartLt   uint64   `json:"start_lt,string"`
				EndLt     uint64   `json:"end_lt,string"`
				SeqnoEnd  uint32   `json:"mc_seqno_end,string"`
				TraceInfo struct {
					State        string `json:"trace_state"`
					Messages     int    `json:"messages"`
					Transactions int    `json:"transactions"`
					Pending      int    `json:"pending_messages"`
				} `json:"trace_info"`
			}
		}
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		list, err := ReadAll(text)
		if err != nil || len(list) != len(want.Traces) {
			t.Fatalf("%s: %d traces, %v", filepath.Base(file), len(list), err)
		}
		for i, r := range list {
			w := want.Traces[i]
			got, tree, err := r.Assemble()
			if err != nil {
				t.Fatal(err)
			}
			c := countersOf(got)
			if c.ID != w.ID || c.External != w.External || c.StartLt != w.StartLt || c.EndLt != w.EndLt || c.McSeqnoEnd != w.SeqnoEnd ||
				c.State != w.TraceInfo.State || c.Nodes != w.TraceInfo.Transactions || c.Edges != w.TraceInfo.Messages || c.Pending != w.TraceInfo.Pending {
				t.Errorf("%s: %+v, want %+v", filepath.Base(file), c, w)
			}
			var order []string
			for _, tx := range tree.Transactions {
				order = append(order, base64.StdEncoding.EncodeToString(tx.Hash))
			}
			if !slices.Equal(order, w.Order) {
				t.Errorf("%s: order %v, want %v", filepath.Base(file), order, w.Order)
			}
			if g, w := fmt.Sprint(tree.Root.answer()), fmt.Sprint(w.Tree); g != w {
				t.Errorf("%s: tree\n%s, want\n%s", filepath.Base(file), g, w)
			}
			for _, contract := range r.Contracts {
				if contract.JettonWallet != nil {
					wallets++
				}
			}
		}
	}
	if wallets == 0 {
		t.Error("no jetton wallet was read from the metadata of an answer")
	}
}

func TestBodiesThatLieApartAreFoundByTheirHash(t *testing.T) {
	text := `{"transactions":[{"account":"0:` + strings.Repeat("11", 32) + `","hash":"` + strings.Repeat("A", 43) + `=","lt":"1","messages":[
		{"direction":"in","msg_hash":"` + strings.Repeat("A", 43) + `=","body_hash":"lqKW0iTyhcZ77pPDD4owkVfw2qNdxbh+QQt4YwoJz8c="}]}],
		"message_contents":[{"hash":"lqKW0iTyhcZ77pPDD4owkVfw2qNdxbh+QQt4YwoJz8c=","body":"te6cckEBAQEAAgAAAEysuc0="}]}`
	r, err := Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if m := r.Transactions[0].InMsg; len(m.Body) == 0 {
		t.Error("the body was not found")
	}
}

func TestWhatIsNoTraceIsRefused(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":            ``,
		"a list":             `[]`,
		"no transactions":    `{"transactions":[]}`,
		"no traces":          `{"traces":[]}`,
		"two traces":         `{"traces":[{"transactions":[{"account":"0:` + strings.Repeat("11", 32) + `","hash":"` + strings.Repeat("A", 43) + `=","lt":"1"}]},{"transactions":[{"account":"0:` + strings.Repeat("11", 32) + `","hash":"` + strings.Repeat("A", 43) + `=","lt":"1"}]}]}`,
		"no hash":            `{"transactions":[{"account":"0:` + strings.Repeat("11", 32) + `","lt":"1"}]}`,
		"no account":         `{"transactions":[{"hash":"` + strings.Repeat("A", 43) + `=","lt":"1"}]}`,
		"a short hash":       `{"transactions":[{"account":"0:` + strings.Repeat("11", 32) + `","hash":"AAAA","lt":"1"}]}`,
		"a bad lt":           `{"transactions":[{"account":"0:` + strings.Repeat("11", 32) + `","hash":"` + strings.Repeat("A", 43) + `=","lt":"x"}]}`,
		"a bad address":      `{"transactions":[{"account":"0:11","hash":"` + strings.Repeat("A", 43) + `=","lt":"1"}]}`,
		"a body of no cells": `{"transactions":[{"account":"0:` + strings.Repeat("11", 32) + `","hash":"` + strings.Repeat("A", 43) + `=","lt":"1","in_msg":{"hash":"` + strings.Repeat("A", 43) + `=","message_content":{"body":"AAAA"}}}]}`,
	} {
		if _, err := Read([]byte(text)); err == nil {
			t.Errorf("%s was read", name)
		}
	}
}

func TestWhatIsWrongWithARecordingIsSaidInTheWordsOfJSON(t *testing.T) {
	account, hash := "0:"+strings.Repeat("11", 32), strings.Repeat("A", 43)+"="
	long := strings.Repeat("9", 513)
	begin := `{"transactions":[{"account":"` + account + `","hash":"` + hash + `","lt":"1"`
	for text, want := range map[string]string{
		`[]`:                                     "no JSON of a trace: a list, want an object",
		`{"traces":[]}`:                          "no traces",
		`{"traces":5}`:                           "no JSON of a trace: traces: a number, want a list",
		`{"traces":["x"]}`:                       "no JSON of a trace: a text, want an object",
		`{"trace":{}}`:                           "a trace without transactions",
		`{"transactions":5}`:                     "transactions: a number, want a list",
		`{"transactions":[{}]}`:                  "transaction 1: no account",
		begin + `},5]}`:                          "transaction 2: a number, want an object",
		begin + `},{"hash":5}]}`:                 "transaction 2: hash: a number, want a text",
		begin + `,"block_ref":{"shard":"zz"}}]}`: `transaction 1: "zz" is no shard`,
		`{"transactions":{"` + hash + `":{}}}`:   "transaction " + hash + ": no account",
		begin + `}],"interfaces":["` + account + `"]}`:                                           "no JSON of a trace: interfaces: a list, want an object",
		begin + `}],"interfaces":{"` + account + `":["jetton_wallet"]}}`:                         "interfaces: " + account + `: a list, want an object such as {"JettonWallet":{"owner":…,"jetton":…}}`,
		begin + `}],"interfaces":{"` + account + `":{"JettonWallet":true}}}`:                     "interfaces: JettonWallet of " + account + ": true or false, want an object",
		begin + `}],"interfaces":{"` + account + `":{"JettonWallet":{"balance":` + long + `}}}}`: "interfaces: JettonWallet of " + account + ": a number of more than 512 characters",
		begin + `,"total_fees_extra_currencies":{"1":` + long + `}}]}`:                           "transaction 1: currency 1: a number of more than 512 characters",
	} {
		if _, err := ReadAll([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestInterfacesMayStandBesideTheTracesOfAnAnswer(t *testing.T) {
	wallet, owner, hash := "0:"+strings.Repeat("11", 32), "0:"+strings.Repeat("22", 32), strings.Repeat("A", 43)+"="
	list, err := ReadAll([]byte(`{"traces":[{"transactions":{"` + hash + `":{"account":"` + wallet + `","hash":"` + hash + `","lt":"1"}}}],
		"interfaces":{"` + wallet + `":{"JettonWallet":{"owner":"` + owner + `"}}},
		"metadata":{"` + wallet + `":{"token_info":[{"type":"jetton_wallets","extra":{}}]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	account := list[0].Transactions[0].Account
	if got := list[0].Contract(account).GetJettonWallet(); len(got.GetOwner()) == 0 {
		t.Errorf("the wallet is %v", got)
	}
}

func TestTransactionsThatAreBeforeTheirSendersAreNoTrace(t *testing.T) {
	hash := func(n byte) string { return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{n}, 32)) }
	address := func(n byte) string { return "0:" + hex.EncodeToString(bytes.Repeat([]byte{n}, 32)) }
	message := fmt.Sprintf(`{"hash":%q,"source":%q,"destination":%q}`, hash(3), address(2), address(1))
	for received, want := range map[int]bool{4: false, 5: false, 6: true} {
		r, err := Read(fmt.Appendf(nil, `{"transactions":[{"account":%q,"hash":%q,"lt":"5","out_msgs":[%s]},{"account":%q,"hash":%q,"lt":"%d","in_msg":%s}]}`,
			address(2), hash(4), message, address(1), hash(5), received, message))
		if err != nil {
			t.Fatal(err)
		}
		if found, _, err := r.Assemble(); errors.Is(err, ErrOrder) == want || (found != nil) != want {
			t.Errorf("sent at 5, received at %d: %v, %v, want a trace: %v", received, found, err, want)
		}
	}
}

func TestContentThatIsNoObjectIsNone(t *testing.T) {
	const item, hash = "0:1111111111111111111111111111111111111111111111111111111111111111", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	for content, want := range map[string]int{`null`: 0, `"https://a.site"`: 0, `[1]`: 0, `{"uri":"https://a.site"}`: 1} {
		r, err := Read([]byte(`{"transactions":[{"account":"` + item + `","hash":"` + hash + `","lt":1,"now":2,"mc_block_seqno":3,"descr":"ord","messages":[]}],
			"interfaces":{"` + item + `":{"NftItem":{"index":"5","content":` + content + `}}}}`))
		if err != nil {
			t.Errorf("%s: %v", content, err)
			continue
		}
		account := append(make([]byte, 4), strings.Repeat("\x11", 32)...)
		if got := len(r.Contract(account).GetNftItem().GetContent().GetAttributes()); got != want || r.Contract(account).GetNftItem() == nil {
			t.Errorf("%s: %d attributes, want %d", content, got, want)
		}
	}
}

func TestAnInterfaceThatIsNullIsNone(t *testing.T) {
	const account, hash = "0:1111111111111111111111111111111111111111111111111111111111111111", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	for name := range interfaceForms {
		r, err := Read([]byte(`{"transactions":[{"account":"` + account + `","hash":"` + hash + `","lt":1}],"interfaces":{"` + account + `":{"` + name + `":null}}}`))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(r.Contracts)+len(r.Data) != 0 {
			t.Errorf("%s: contracts %v, data %v, want none", name, r.Contracts, r.Data)
		}
	}
}

func TestWhatStandsTwiceInARecordingIsThereOnce(t *testing.T) {
	text, err := os.ReadFile(realdata.Path(t, "traces", "03RZCW7mu3eJp-FWifVzKsRHafUrqQNu4E6YwZxvXJ0=.json"))
	if err != nil {
		t.Fatal(err)
	}
	read := func(change func(recording map[string]any)) counters {
		var recording map[string]any
		d := json.NewDecoder(bytes.NewReader(text))
		if d.UseNumber(); d.Decode(&recording) != nil {
			t.Fatal("no JSON")
		}
		change(recording)
		changed, err := json.Marshal(recording)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Read(changed)
		if err != nil {
			t.Fatal(err)
		}
		found, tree, err := r.Assemble()
		if err != nil {
			t.Fatal(err)
		}
		if len(tree.Nodes) != len(r.Transactions) {
			t.Errorf("%d transactions, of which %d are in the tree", len(r.Transactions), len(tree.Nodes))
		}
		return countersOf(found)
	}
	twice := func(in map[string]any, name string) { in[name] = append(in[name].([]any), in[name].([]any)...) }
	want := read(func(map[string]any) {})
	for what, change := range map[string]func(map[string]any){
		"transactions": func(r map[string]any) { twice(r, "transactions") },
		"messages": func(r map[string]any) {
			for _, tx := range r["transactions"].([]any) {
				twice(tx.(map[string]any), "messages")
			}
		},
	} {
		if got := read(change); got != want {
			t.Errorf("%s twice:\n got %+v\nwant %+v", what, got, want)
		}
	}
}

func TestCodeThatARecordingHasNoExitCodeOfHadNoGas(t *testing.T) {
	for members, want := range map[string]record.ComputePhase_SkipReason{
		`"orig_status":"active","aborted":true,"compute_exit_code":null`:                                   record.ComputePhase_NO_GAS,
		`"orig_status":"active","aborted":true,"compute_exit_code":null,"compute_skip_reason":"bad_state"`: record.ComputePhase_BAD_STATE,
		`"orig_status":"active","aborted":true,"compute_exit_code":37`:                                     record.ComputePhase_NOT_SKIPPED,
		`"orig_status":"active","aborted":true`:                                                            record.ComputePhase_NOT_SKIPPED,
		`"orig_status":"active","aborted":false,"compute_exit_code":null`:                                  record.ComputePhase_NOT_SKIPPED,
		`"orig_status":"uninit","aborted":true,"compute_exit_code":null`:                                   record.ComputePhase_NOT_SKIPPED,
	} {
		r, err := Read([]byte(`{"transactions":[{"account":"0:` + strings.Repeat("11", 32) + `","hash":"` + strings.Repeat("A", 43) + `=","lt":"1","descr":"ord",` + members + `}]}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Transactions[0].GetCompute().GetSkipReason(); got != want {
			t.Errorf("%s: skipped for %s, want %s", members, got, want)
		}
	}
}

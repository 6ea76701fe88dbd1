package render

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	actions "tonscribe/decode/action"
	"tonscribe/decode/trace"
	"tonscribe/query/api"
	"tonscribe/query/openapi"
	"tonscribe/schema/record"
	"tonscribe/test/support/realdata"
)

// youngerThan are fields of traces that recordings do not have yet, or that have
// another value by the time at which they were recorded.
var youngerThan = []string{"classification_state", "trace_external_hash", "hash_norm"}

func TestTracesEqualRecordedAnswers(t *testing.T) {
	before := exceptions
	defer func() { exceptions = before }()
	exceptions = append(exceptions[:len(exceptions):len(exceptions)], youngerThan...)
	files, err := filepath.Glob(filepath.Join(realdata.Path(t, "api_v3_traces/walletkit"), "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var answer struct{ Traces []json.RawMessage }
		if err := json.Unmarshal(text, &answer); err != nil {
			t.Fatal(err)
		}
		list, err := trace.ReadAll(text)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range list {
			assembled, tree, err := r.Assemble()
			if err != nil {
				t.Fatal(err)
			}
			w := &api.Writer{Book: api.Book{}}
			Trace.Write(w, TraceRow{Trace: assembled, Tree: tree})
			if diffs := compare("", parse(t, w.JSON), parse(t, answer.Traces[i])); len(diffs) > 0 {
				t.Errorf("%s:\n%s", filepath.Base(file), strings.Join(diffs, "\n"))
			}
			if g, want := keys(t, w.JSON), keys(t, answer.Traces[i]); g != want {
				t.Errorf("%s: keys\n got %s\nwant %s", filepath.Base(file), g, want)
			}
			compared++
		}
	}
	if compared < 9 {
		t.Errorf("%d traces compared, want 9", compared)
	}
}

// chainOf is a trace in which each transaction sends one message to the next.
func chainOf(length int) []*record.Transaction {
	var list []*record.Transaction
	hash := func(kind byte, i int) []byte {
		h := make([]byte, 32)
		h[0], h[30], h[31] = kind, byte(i>>8), byte(i)
		return h
	}
	account := make([]byte, 36)
	for i := range length {
		tx := &record.Transaction{Account: account, Lt: uint64(i + 1), Hash: hash(1, i), InMsg: &record.Message{Hash: hash(2, i), Source: account, Destination: account}}
		if i == 0 {
			tx.InMsg.Kind = record.Message_EXTERNAL_IN
		}
		if i < length-1 {
			tx.OutMsgs = []*record.Message{{Hash: hash(2, i+1), Source: account, Destination: account}}
		}
		list = append(list, tx)
	}
	return list
}

func rowOf(t *testing.T, list []*record.Transaction) TraceRow {
	t.Helper()
	r := &trace.Recorded{Transactions: list}
	assembled, tree, err := r.Assemble()
	if err != nil {
		t.Fatal(err)
	}
	return TraceRow{Trace: assembled, Tree: tree}
}

func TestChildrenAreNullWhereMessagesLedToNothing(t *testing.T) {
	list := chainOf(2)
	list[1].OutMsgs = []*record.Message{{Kind: record.Message_EXTERNAL_OUT, Hash: make([]byte, 32)}}
	leaf := func() any {
		node := parse(t, Trace.Append(nil, rowOf(t, list)))["trace"].(map[string]any)
		return node["children"].([]any)[0].(map[string]any)["children"]
	}
	if got := leaf(); got != nil {
		t.Errorf("children of a transaction that only sent a log are %v, want null", got)
	}
	list[1].OutMsgs = nil
	if got, ok := leaf().([]any); !ok || len(got) != 0 {
		t.Errorf("children of a transaction that sent nothing are %v, want []", got)
	}
}

// The message that was sent first may be received last, by another shard.
func TestChildrenAreInTheOrderOfTheirTransactions(t *testing.T) {
	list := chainOf(3)
	list[0].OutMsgs = []*record.Message{list[2].InMsg, list[1].InMsg}
	list[1].OutMsgs, list[1].InMsg.CreatedLt, list[2].InMsg.CreatedLt = nil, 3, 2
	children := parse(t, Trace.Append(nil, rowOf(t, list)))["trace"].(map[string]any)["children"].([]any)
	for i, want := range list[1:] {
		if got := children[i].(map[string]any)["tx_hash"]; got != base64.StdEncoding.EncodeToString(want.Hash) {
			t.Errorf("child %d is %v, want the transaction with lt %d", i, got, want.Lt)
		}
	}
}

func TestTraceWithWithheldOrMissingTransactionsSaysSo(t *testing.T) {
	list := chainOf(3)
	missing := parse(t, Trace.Append(nil, rowOf(t, []*record.Transaction{list[0], list[2]})))
	if missing["warning"] != "missing node in trace found" || missing["is_incomplete"] != false || len(missing["transactions"].(map[string]any)) != 2 {
		t.Errorf("a trace that lacks a transaction: %v, incomplete %v", missing["warning"], missing["is_incomplete"])
	}
	largest := rowOf(t, chainOf(MaxTraceTransactions))
	if got := parse(t, Trace.Append(nil, TraceOf(largest.Trace, largest.Tree))); len(got["transactions"].(map[string]any)) != MaxTraceTransactions {
		t.Error("transactions of a trace that is not too large are withheld")
	}
	row := rowOf(t, chainOf(MaxTraceTransactions+1))
	large := parse(t, Trace.Append(nil, TraceOf(row.Trace, row.Tree)))
	for _, name := range []string{"trace", "transactions", "transactions_order"} {
		if _, there := large[name]; there {
			t.Errorf("a trace that is too large has %s", name)
		}
	}
	if large["warning"] != "trace is too large" || large["is_incomplete"] != true {
		t.Errorf("a trace that is too large: %v, incomplete %v", large["warning"], large["is_incomplete"])
	}
}

func TestDeepestTraceIsWritten(t *testing.T) {
	w := &api.Writer{}
	WriteTree(w, rowOf(t, chainOf(trace.MaxNodes)).Tree)
	if got := strings.Count(string(w.JSON), "{"); got != trace.MaxNodes || strings.Count(string(w.JSON), "}") != got || !strings.HasSuffix(string(w.JSON), `"children":[]`+strings.Repeat("}]", trace.MaxNodes-1)+"}") {
		t.Errorf("%d nodes, and it ends with %q", got, w.JSON[len(w.JSON)-20:])
	}
}

func TestEveryTypeOfActionsHasAFormOfItsOwn(t *testing.T) {
	for _, typ := range actions.Types() {
		empty := make([]actions.Value, len(typ.Details))
		w := &api.Writer{Book: api.Book{}}
		Action.Write(w, ActionRow{Action: &actions.Action{Type: typ, Details: empty}})
		got := parse(t, w.JSON)
		if got["type"] != typ.Name {
			t.Errorf("%s is written as %v", typ.Name, got["type"])
		}
		details := got["details"].(map[string]any)
		for _, d := range typ.Details {
			v, there := details[d.Name]
			if there == d.Optional || v != nil {
				t.Errorf("%s of %s without a value: there %v, %v", d.Name, typ.Name, there, v)
			}
			delete(details, d.Name)
		}
		if delete(details, "error"); len(details) > 0 {
			t.Errorf("%s has details of nobody: %v", typ.Name, details)
		}
	}
}

func TestTransferWithExtraCurrenciesIsCalledSo(t *testing.T) {
	for _, name := range []string{"ton_transfer", "call_contract"} {
		typ := actions.TypeNamed(name)
		details := make([]actions.Value, len(typ.Details))
		for i, d := range typ.Details {
			if d.Kind == actions.KindCurrencies {
				details[i] = actions.Currencies{{Id: 7, Amount: []byte{1, 0}}}
			}
		}
		got := string(Action.Append(nil, ActionRow{Action: &actions.Action{Type: typ, Details: details}}))
		if !strings.Contains(got, `"type":"extra_currency_transfer"`) || !strings.Contains(got, `{"7":"256"}`) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// both is an answer with a trace and its actions.
type both struct {
	trace   TraceRow
	actions []ActionRow
}

func TestDocumentDescribesTracesAndTheDetailsOfEveryType(t *testing.T) {
	answer := api.New("Both",
		api.Object("trace", Trace, func(b both) TraceRow { return b.trace }, nil),
		api.List("actions", Action, func(b both) []ActionRow { return b.actions }, api.Same),
	)
	text, err := (&openapi.Document{Prefix: "/api", Error: answer, Operations: []*openapi.Operation{{Path: "/both", Method: "GET", Result: answer}}}).Render()
	if err != nil {
		t.Fatal(err)
	}
	schemas := parse(t, text)["components"].(map[string]any)["schemas"].(map[string]any)
	forms := schemas["ActionDetails"].(map[string]any)["anyOf"].([]any)
	if len(forms) != len(actions.Types()) {
		t.Errorf("%d forms of details, want one for each of %d types", len(forms), len(actions.Types()))
	}
	for _, typ := range actions.Types() {
		schema, ok := schemas[componentName(typ.Name)+"Details"].(map[string]any)
		if !ok {
			t.Errorf("%s is not described", typ.Name)
			continue
		}
		properties, required := schema["properties"].(map[string]any), fmt.Sprint(schema["required"])
		for _, d := range typ.Details {
			if _, there := properties[d.Name]; !there {
				t.Errorf("%s of %s is not described", d.Name, typ.Name)
			}
			if strings.Contains(" "+strings.Trim(required, "[]")+" ", " "+d.Name+" ") == d.Optional {
				t.Errorf("%s of %s: optional %v, required are %s", d.Name, typ.Name, d.Optional, required)
			}
		}
	}
	if schemas["TraceNode"] == nil || schemas["TraceMeta"] == nil {
		t.Error("the tree of a trace is not described")
	}
}

func TestATraceThatNobodyRecognisesIsUnclassified(t *testing.T) {
	for _, c := range []struct {
		nodes, pending uint32
		bytes          bool // too many
		want           string
	}{{1, 0, false, "ok"}, {1, 1, false, "unclassified"}, {trace.MaxNodes, 0, false, "ok"}, {trace.MaxNodes + 1, 0, false, "unclassified"}, {3, 0, true, "unclassified"}} {
		row := TraceRow{Trace: &record.Trace{Nodes: c.nodes, PendingEdges: c.pending, Unclassified: c.bytes}}
		if got := row.classification(); got != c.want {
			t.Errorf("a trace of %d transactions and %d open messages, of too many bytes %v, is %s, want %s", c.nodes, c.pending, c.bytes, got, c.want)
		}
	}
}

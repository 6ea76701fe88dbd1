package v2

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"
	"gopkg.in/yaml.v3"

	"tonscribe/query/api"
	"tonscribe/query/node"
	"tonscribe/query/stack"
	"tonscribe/test/support/realdata"
	"tonscribe/ton/code"
	"tonscribe/ton/tvm"
)

// exchange is a request to the public service and its answer.
type exchange struct {
	path, sent string
	method     string
	status     int
	body       map[string]any
}

func recordedExchanges(t *testing.T) []exchange {
	t.Helper()
	data := realdata.Path(t)
	files, err := filepath.Glob(filepath.Join(data, "api_v2_cassettes", "*", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in %s: %v", data, err)
	}
	var list []exchange
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var tape struct {
			Interactions []struct {
				Request  struct{ Body, URI string }
				Response struct {
					Status struct{ Code int }
					Body   struct{ String string }
				}
			}
		}
		if err := yaml.Unmarshal(text, &tape); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, i := range tape.Interactions {
			e := exchange{path: "/" + filepath.Base(i.Request.URI), sent: i.Request.Body, status: i.Response.Status.Code}
			var request struct{ Method string }
			if err := errors.Join(json.Unmarshal([]byte(i.Response.Body.String), &e.body), json.Unmarshal([]byte(i.Request.Body), &request)); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if e.method = request.Method; e.path == "/runGetMethod" {
				e.method = "runGetMethod"
			}
			list = append(list, e)
		}
	}
	return list
}

// resultsOf are the recorded results of a method.
func resultsOf(t *testing.T, method string) []any {
	var list []any
	for _, e := range recordedExchanges(t) {
		if e.method == method && e.body["ok"] == true {
			list = append(list, e.body["result"])
		}
	}
	if len(list) == 0 {
		t.Fatalf("nothing is recorded of %s", method)
	}
	return list
}

// encoded is a value in its form, taken apart again.
func encoded(t *testing.T, text []byte, err error) any {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return value
}

func fromBase64(t *testing.T, text any) *cell.Cell {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(text.(string))
	if err != nil {
		t.Fatal(err)
	}
	c, err := cell.FromBOC(data)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// differ tells where values differ; keys that only ours has are no difference,
// and neither are those that ignore names.
func differ(path string, got, want any, ignore func(path string, got, want any) bool, report func(string, any, any)) {
	if ignore(path, got, want) {
		return
	}
	switch want := want.(type) {
	case map[string]any:
		object, _ := got.(map[string]any)
		for key, value := range want {
			differ(path+"."+key, object[key], value, ignore, report)
		}
	case []any:
		list, _ := got.([]any)
		if len(list) != len(want) {
			report(path, got, want)
			return
		}
		for i := range want {
			differ(path+"[]", list[i], want[i], ignore, report)
		}
	default:
		if !reflect.DeepEqual(got, want) {
			report(path, got, want)
		}
	}
}

// knownDifferences are those of contract part 3: the recordings are of the
// Python implementation.
func knownDifferences(path string, _, want any) bool {
	switch {
	case strings.HasSuffix(path, ".@extra"):
		return true // made by the server, inside the envelope now
	case path == ".@type" && want == "raw.transaction", strings.HasSuffix(path, "msg.@type"), strings.HasSuffix(path, "msgs[].@type"):
		return true // the flat forms have types of their own
	}
	return false
}

func TestTransactionsEqualTheRecordedOnes(t *testing.T) {
	compared := 0
	for _, result := range resultsOf(t, "getTransactions") {
		for _, want := range result.([]any) {
			tx, err := node.ParseTransaction(0, fromBase64(t, at(want, "data")))
			if err != nil {
				t.Fatal(err)
			}
			text, err := written(extTransaction, tx)
			got := encoded(t, text, err)
			differ("", got, want, func(path string, got, want any) bool {
				if strings.HasSuffix(path, ".message") {
					// Line feeds inside are left out nowadays.
					text, _ := got.(string)
					return strings.TrimSuffix(text, "\n") == strings.ReplaceAll(want.(string), "\n", "")
				}
				return knownDifferences(path, got, want)
			}, func(path string, got, want any) {
				t.Errorf("transaction %v: %s is %v, recorded %v", at(want, "transaction_id.lt"), path, got, want)
			})
			compared++
		}
	}
	t.Logf("%d transactions", compared)
}

// A stack that was recorded is read and written again.
func TestStacksEqualTheRecordedOnes(t *testing.T) {
	compared := 0
	for _, result := range resultsOf(t, "runGetMethod") {
		for _, pair := range at(result, "stack").([]any) {
			label, value := at(pair, "0"), at(pair, "1")
			var on any
			if label == "num" {
				n, ok := new(big.Int).SetString(value.(string), 0)
				if !ok {
					t.Fatalf("number %v is not read", value)
				}
				on = n
			} else {
				on = fromBase64(t, at(value, "bytes"))
			}
			read, err := node.EntriesOf(tvm.Tuple{on}, maxLegacyDepth)
			if err != nil {
				t.Fatal(err)
			}
			text, err := written(api.Rows[stack.Pair]{Of: stack.PairForm}, stack.PairsOf(read))
			differ("", encoded(t, text, err).([]any)[0], pair, func(path string, got, want any) bool {
				// Bits after the last one were zero, now the first of them is one.
				return strings.HasSuffix(path, ".b64") && got != nil && len(got.(string)) == len(want.(string))
			}, func(path string, got, want any) { t.Errorf("%s is %v, recorded %v", path, got, want) })
			compared++
		}
	}
	t.Logf("%d values", compared)
}

// Every key of a recorded answer is in ours with a value of the same type.
func TestAnswersHaveTheRecordedKeysAndTypes(t *testing.T) {
	id := &ton.BlockIDExt{RootHash: make([]byte, 32), FileHash: make([]byte, 32)}
	account := &node.Account{Master: id, Balance: new(big.Int)}
	zero := uint32(0)
	answer := func(body []byte, err error) any { return encoded(t, body, err) }
	answers := map[string]any{
		"getMasterchainInfo":   answer(written(masterchainInfo, &node.MasterchainInfo{Last: id, Zero: id})),
		"shards":               answer(written(shardList, []*ton.BlockIDExt{id})),
		"getBlockTransactions": answer(written(blockTransactions, &blockPage[node.Listed]{id: id, list: []node.Listed{{Cell: cell.BeginCell().EndCell()}}})),
		"getAddressBalance":    "0",
		"getWalletInformation": answer(written(walletInformation, walletRow{account, true, code.Wallet{Type: "wallet v4 r2", ID: &zero}})),
		"packAddress":          someAddress,
		"runGetMethod":         answer(written(runResult, legacyRun{Ran: &node.Ran{Account: account}})),
	}
	compared := 0
	for _, e := range recordedExchanges(t) {
		if e.body["ok"] != true {
			continue // see below
		}
		ours, ok := answers[e.method]
		if !ok && e.method != "getTransactions" { // these are compared by value
			t.Errorf("%s is recorded, but compared with nothing", e.method)
		}
		if !ok {
			continue
		}
		shape(e.method, ours, e.body["result"], func(path string, got, want any) {
			t.Errorf("%s: %v (%T), recorded %v (%T)", path, got, got, want, want)
		})
		compared++
	}
	if compared == 0 {
		t.Fatal("nothing was compared")
	}
	t.Logf("%d answers", compared)
}

// tooFewDigits is a raw address that the recorded service filled up with zeros.
var tooFewDigits = regexp.MustCompile(`"0:[0-9a-f]{1,63}"`)

// Every request of the real client is understood as far as it goes without a lite
// server, and what the recorded service refused is refused here. Envelopes have
// the recorded keys.
func TestRecordedRequestsAreUnderstood(t *testing.T) {
	s := newService(t, nil)
	counts := map[string]int{}
	for _, e := range recordedExchanges(t) {
		r := s.send("POST", Prefix+e.path, e.sent)
		counts[fmt.Sprint(e.status, " is ", r.status)]++
		want := statusNoServer
		switch {
		case tooFewDigits.MatchString(e.sent): // contract 1.9: exactly 64
			want = 422
		case byName[e.method].Local:
			want = e.status
		case e.status == 416: // contract 1.6: an address that cannot be read
			want = 422
		case e.status == 500 && r.status == 422: // the lite server had been asked for block 0
			r.refusal(t, e.sent, 422, "seqno should be positive")
			want = 422
		}
		if r.status != want {
			t.Errorf("%s: %d %s, want %d; recorded is %d %v", e.sent, r.status, r.text, want, e.status, e.body["error"])
		}
		for key, value := range e.body {
			if key == "result" {
				continue // see above
			}
			if got, there := r.body[key]; !there || reflect.TypeOf(got) != reflect.TypeOf(value) {
				t.Errorf("%s: %s is %v (%T), recorded %v (%T)", e.sent, key, got, got, value, value)
			}
		}
	}
	t.Logf("%v", counts)
}

// shape compares keys, types and the values of @type.
func shape(path string, got, want any, report func(string, any, any)) {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			report(path, got, want)
			return
		}
		for key, value := range want {
			if key == "@extra" || key == "extra_currencies" && path == "getWalletInformation" {
				continue
			}
			if mine, ok := object[key]; !ok || key == "@type" && mine != value {
				report(path+"."+key, mine, value)
			} else {
				shape(path+"."+key, mine, value, report)
			}
		}
	case []any:
		list, ok := got.([]any)
		if !ok {
			report(path, got, want)
			return
		}
		for _, value := range want {
			if len(list) > 0 {
				shape(path+"[]", list[0], value, report)
			}
		}
	default:
		if reflect.TypeOf(got) != reflect.TypeOf(want) {
			report(path, got, want)
		}
	}
}

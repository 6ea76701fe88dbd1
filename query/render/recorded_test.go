package render

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"tonscribe/decode"
	"tonscribe/schema/record"
	"tonscribe/test/support/realdata"
)

// exceptions are the fields of recorded answers that a transaction's own BoC
// does not determine.
var exceptions = []string{
	"trace_id",             // traces
	"account_state_before", // account states: only .hash is compared
	"account_state_after",
	"finality",  // younger than the recordings
	"block_ref", // the block around the transaction
}

// hashNormSince is the time before which recorded rows have no hash_norm: the
// public index did not compute it yet.
const hashNormSince = 1745000000

// recorded pairs the BoC of each transaction with its JSON in the answers.
func recorded(t *testing.T) (bocs [][]byte, answers []json.RawMessage, seqnos []uint32) {
	dir := realdata.Path(t)
	files, err := filepath.Glob(filepath.Join(dir, "api_v3_rebuilt_txs/walletkit/*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no recorded transactions", err)
	}
	for _, file := range files {
		var rebuilt struct {
			Source       string `json:"source_file"`
			Transactions []struct {
				BOC, Hash string
				Seqno     string `json:"mc_block_seqno"`
			}
		}
		readJSON(t, file, &rebuilt)
		var answer struct {
			Traces []struct {
				Transactions map[string]json.RawMessage
			}
		}
		readJSON(t, filepath.Join(dir, "api_v3_traces/walletkit", rebuilt.Source), &answer)
		for _, tx := range rebuilt.Transactions {
			boc, err := base64.StdEncoding.DecodeString(tx.BOC)
			if err != nil {
				t.Fatal(err)
			}
			seqno, _ := strconv.ParseUint(tx.Seqno, 10, 32)
			for _, trace := range answer.Traces {
				if raw, ok := trace.Transactions[tx.Hash]; ok {
					bocs, answers, seqnos = append(bocs, boc), append(answers, raw), append(seqnos, uint32(seqno))
					break
				}
			}
		}
	}
	return bocs, answers, seqnos
}

func readJSON(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(file, err)
	}
}

func TestTransactionEqualsRecordedAnswers(t *testing.T) {
	bocs, answers, seqnos := recorded(t)
	for i, boc := range bocs {
		tx, err := decode.Transaction(boc)
		if err != nil {
			t.Fatal(err)
		}
		tx.McSeqno = seqnos[i]
		tx.Block = &record.BlockRef{}
		if tx.Now < hashNormSince {
			tx.InMsg.HashNorm = nil
		}
		got := Transaction.Append(nil, TransactionOf(tx))
		if diffs := compare("", parse(t, got), parse(t, answers[i])); len(diffs) > 0 {
			t.Errorf("transaction %x:\n%s", tx.Hash, strings.Join(diffs, "\n"))
		}
		if g, w := keys(t, got), keys(t, answers[i]); g != w {
			t.Errorf("transaction %x: keys\n got %s\nwant %s", tx.Hash, g, w)
		}
	}
	if len(bocs) < 28 {
		t.Errorf("%d transactions compared, want 28", len(bocs))
	}
}

func parse(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

func isException(path string) bool {
	for _, name := range exceptions {
		if path == name || strings.HasSuffix(path, "."+name) {
			return true
		}
	}
	return false
}

func compare(path string, got, want any) (diffs []string) {
	if isException(path) {
		if state, ok := want.(map[string]any); ok && strings.HasPrefix(path, "account_state") {
			return compare(path+".hash", got.(map[string]any)["hash"], state["hash"])
		}
		return nil
	}
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s: got %v, want an object", path, got)}
		}
		for name := range union(g, w) {
			_, there := g[name]
			_, wanted := w[name]
			inner := strings.TrimPrefix(path+"."+name, ".")
			if there != wanted && !isException(inner) {
				diffs = append(diffs, fmt.Sprintf("%s: there %v, wanted %v", inner, there, wanted))
				continue
			}
			diffs = append(diffs, compare(inner, g[name], w[name])...)
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return []string{fmt.Sprintf("%s: got %v, want %v", path, got, want)}
		}
		for i := range w {
			diffs = append(diffs, compare(path+"."+strconv.Itoa(i), g[i], w[i])...)
		}
	default:
		if !reflect.DeepEqual(got, want) {
			return []string{fmt.Sprintf("%s: got %v, want %v", path, got, want)}
		}
	}
	return diffs
}

func union(a, b map[string]any) map[string]bool {
	all := map[string]bool{}
	for k := range a {
		all[k] = true
	}
	for k := range b {
		all[k] = true
	}
	return all
}

// keys is the order of keys of everything but exceptions.
func keys(t *testing.T, text []byte) string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	var out strings.Builder
	var value func(show bool)
	value = func(show bool) {
		token, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		switch token {
		case json.Delim('{'):
			for d.More() {
				name, _ := d.Token()
				inner := show && !isException(name.(string))
				if inner {
					out.WriteString(" " + name.(string))
				}
				value(inner)
			}
			d.Token()
		case json.Delim('['):
			for d.More() {
				value(show)
			}
			d.Token()
		}
	}
	value(true)
	return out.String()
}

func TestExtraCurrenciesInTheOrderOfTheirText(t *testing.T) {
	got := string(appendCurrencies(nil, []*record.ExtraCurrency{{Id: 20, Amount: []byte{1, 0}}, {Id: 100, Amount: []byte{5}}}))
	if want := `{"100":"5","20":"256"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

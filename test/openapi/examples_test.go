package openapi

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v3 "tonscribe/query/v3"
	"tonscribe/query/v3/endpoints"
	"tonscribe/test/support/harness"
	"tonscribe/test/support/openapitest"
)

var (
	recording = flag.Bool("record", false, "record the examples of the documents")
	pictures  = flag.String("pictures", "", "folder for pictures of the page")
)

// streaming is the layer whose answers do not end: its document has no examples.
const streaming = "streaming"

// Examples of the documents are answers of a devnet. They are recorded with
//
//	go test -run Examples ./test/openapi -record
//
// into query/examples, where the build takes them from.
func TestExamplesAreAnswersThatTheDocumentAllows(t *testing.T) {
	if *recording {
		record(t)
		return
	}
	for layer, text := range documents(t) {
		if layer == streaming {
			continue
		}
		document, err := openapitest.Read(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range document.Operations() {
			example, there := document.Example(o)
			if !there {
				if o.HasExample || !isTwin(document, o) {
					t.Errorf("%s %s has no example: record it, see the comment of this test", o.Method, o.Path)
				}
				continue
			}
			var answer bytes.Buffer
			if err := json.Compact(&answer, example); err != nil {
				t.Fatal(err)
			}
			if err := document.Check(openapitest.Answer{Method: o.Method, Path: o.Path, Body: []byte(`{"method":"getMasterchainInfo"}`), Status: http.StatusOK, Text: answer.Bytes()}); err != nil {
				t.Errorf("%s: %v", layer, err)
			}
		}
	}
}

// neverFresh are examples that do not succeed on a devnet that just began, and
// why.
var neverFresh = map[string]string{
	"/api/v3/adjacentTransactions": "the hash of a transaction holds the time of its block",
	"/api/v3/pendingTransactions":  "what is to come has come",
	"/api/v3/balanceChanges":       "the id of an action is made of such a hash",
}

// Whoever tries the examples of the documents on a devnet of their own gets what
// they are examples of.
func TestExamplesSucceedOnAFreshDevnet(t *testing.T) {
	s := start(t, 1)
	s.learnTokens(t, facts{})
	harness.Await(t, startLimit, func() bool {
		status, _, err := harness.Get(s.base + "/api/v3/masterchainBlockShards?seqno=20")
		return err == nil && status == http.StatusOK
	}, func() string { return "masterchain block 20 is not there, before which all is that examples name" })
	for layer, document := range s.documents {
		if layer == streaming {
			continue
		}
		for _, o := range document.Operations() {
			query, body := url.Values{}, map[string]any{}
			for _, p := range o.Query {
				switch value := p.Example.(type) {
				case nil:
				case []any:
					for _, v := range value {
						query.Add(p.Name, text(v))
					}
				default:
					query.Set(p.Name, text(value))
				}
			}
			for name, p := range o.Body {
				if p.Example != nil {
					body[name] = p.Example
				}
			}
			want := http.StatusOK
			if neverFresh[o.Path] != "" {
				want = http.StatusNotFound
			}
			if answer := s.ask(t, o, query, body); answer.Status != want {
				t.Errorf("%s %s?%s %v: %d %.300s, want %d", o.Method, o.Path, query.Encode(), body, answer.Status, answer.Text, want)
			}
		}
	}
}

// isTwin reports whether a POST takes what a GET of the same path takes.
func isTwin(d *openapitest.Document, o *openapitest.Operation) bool {
	for _, other := range d.Operations() {
		if other.Path == o.Path && other.Method == http.MethodGet && o.Method == http.MethodPost {
			return true
		}
	}
	return false
}

// isAlias reports whether an operation is an endpoint at a further path, which
// has the example of the first.
func isAlias(o *openapitest.Operation) bool {
	for _, e := range endpoints.All {
		if slices.Contains(e.Aliases, strings.TrimPrefix(o.Path, v3.Prefix)) {
			return true
		}
	}
	return false
}

// recorded is a file of query/examples.
type recorded struct {
	Query  map[string]any  `json:"query,omitempty"`
	Body   map[string]any  `json:"body,omitempty"`
	Answer json.RawMessage `json:"answer"`
}

func record(t *testing.T) {
	s := startWithHistory(t)
	f := s.learn(t)
	known := s.exampleRequests(t, f)
	for layer, document := range s.documents {
		if layer == streaming {
			continue
		}
		for _, o := range document.Operations() {
			if isTwin(document, o) || isAlias(o) {
				continue
			}
			name := strings.TrimPrefix(o.Path, "/api/"+layer+"/")
			sent, ok := known[layer+"/"+name]
			if !ok {
				sent = plainRequest(o, f)
			}
			if owner, comes := comers[layer+"/"+name]; comes && !s.foresee(t, owner) {
				t.Errorf("%s: what was to come has come: record again", o.Path)
			}
			s.recordOne(t, o, filepath.Join(harness.Root(), "query", "examples", layer, filepath.FromSlash(name)+".json"), sent)
		}
	}
}

// plainRequest has the required parameters and a small page.
func plainRequest(o *openapitest.Operation, f facts) map[string]any {
	sent := map[string]any{}
	for _, p := range o.Query {
		switch values := f.of(p.Name); {
		case p.Name == "limit", p.Name == "count":
			sent[p.Name] = 2
		case p.Required && len(values) > 0:
			sent[p.Name] = values[0]
		}
	}
	return sent
}

func (s *server) recordOne(t *testing.T, o *openapitest.Operation, file string, sent map[string]any) {
	t.Helper()
	query := url.Values{}
	r := recorded{Body: sent}
	if o.Method == http.MethodGet {
		r = recorded{Query: sent}
		for name, value := range sent {
			list, ok := value.([]string)
			if !ok {
				list = []string{text(value)}
			}
			query[name] = list
		}
	}
	answer := s.ask(t, o, query, sent)
	if answer.Status != http.StatusOK {
		t.Errorf("%s %s %v: %d %.300s", o.Method, o.Path, sent, answer.Status, answer.Text)
		return
	}
	r.Answer = answer.Text
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(r); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d bytes", o.Path, out.Len())
}

// Package openapi proves the documents of the API on a running devnet: that they
// are OpenAPI, that their examples are answers, that whatever is sent by their
// word gets an answer that they allow, and that the page shows them.
package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tonscribe/test/support/harness"
	"tonscribe/test/support/openapitest"
)

// startLimit is for an `up` until it is ready.
const startLimit = 3 * time.Minute

// server is the API of a devnet with some history.
type server struct {
	base, key string
	data      string // folder
	process   *harness.Process
	documents map[string]*openapitest.Document // by layer
	client    *http.Client
	coding    string // of what is sent, as Content-Encoding says; empty is none
}

// One devnet serves them all.
func TestAPI(t *testing.T) {
	s := startWithHistory(t)
	for _, c := range []struct {
		name  string
		check func(*testing.T, *server)
	}{
		{"documents need no key", documentsNeedNoKey},
		{"the page shows every operation and sends requests", thePageShowsEveryOperationAndSendsRequests},
		{"every declared answer is seen", everyDeclaredAnswerIsSeen},
		{"schemathesis finds no difference", schemathesisFindsNoDifference},
		{"whatever is sent gets an answer that the document allows", whateverIsSentGetsAnAnswerThatTheDocumentAllows},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t, s) })
	}
}

// history is how long the chain is before a test that needs some begins.
const history = 40

func startWithHistory(t *testing.T) *server {
	return start(t, history, "--tps", "10", "--interval", "500ms")
}

// start runs a devnet and waits for so many blocks.
func start(t *testing.T, blocks int, flags ...string) *server {
	t.Helper()
	data, listen := t.TempDir(), harness.FreeAddress(t)
	s := &server{
		base: "http://" + listen, data: data, documents: map[string]*openapitest.Document{},
		// A request that takes longer than this hangs.
		client: &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
	}
	s.process = harness.Start(t, nil, append([]string{"up", "--data", data, "--listen", listen}, flags...)...)
	s.process.AwaitReady(s.base, startLimit)
	key, err := os.ReadFile(filepath.Join(data, "api-key"))
	if err != nil {
		t.Fatal(err)
	}
	s.key = strings.TrimSpace(string(key))
	harness.Await(t, startLimit, func() bool {
		var info struct{ Last struct{ Seqno int } }
		harness.GetJSON(t, s.base+"/api/v3/masterchainInfo", &info)
		return info.Last.Seqno >= blocks
	}, func() string { return "the devnet stands still" })
	for _, layer := range []string{"v2", "v3", "streaming"} {
		r := s.send(t, http.MethodGet, "/api/"+layer+"/openapi.json", "", "")
		if s.documents[layer], err = openapitest.Read(r.Text); err != nil {
			t.Fatalf("document of %s: %v", layer, err)
		}
	}
	return s
}

// send sends a request; kind is the content type of a body.
func (s *server) send(t testing.TB, method, target, kind, body string) openapitest.Answer {
	t.Helper()
	answer, err := s.try(t, method, target, kind, body)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func (s *server) try(t testing.TB, method, target, kind, body string) (openapitest.Answer, error) {
	answer := openapitest.Answer{Method: method, Path: target, Body: []byte(body)}
	request, err := http.NewRequestWithContext(t.Context(), method, s.base+target, strings.NewReader(body))
	if err != nil {
		return answer, err
	}
	if s.key != "" {
		request.Header.Set("X-API-Key", s.key)
	}
	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	if s.coding != "" {
		request.Header.Set("Content-Encoding", s.coding)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return answer, fmt.Errorf("%s %.300s %.300s: %w", method, target, body, err)
	}
	defer response.Body.Close()
	answer.Status, answer.Header = response.StatusCode, response.Header
	answer.Text, err = io.ReadAll(response.Body)
	return answer, err
}

// until sends a request until an answer counts; after startLimit any does.
func (s *server) until(t testing.TB, r shot, counts func(openapitest.Answer) bool) (answer openapitest.Answer, err error) {
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		answer, err = s.try(t, r.method, r.target, r.kind, r.body)
		if err != nil || counts(answer) || time.Since(began) > startLimit {
			return answer, err
		}
	}
}

// tooBusy reports whether the machine had too much to do for a query.
func tooBusy(a openapitest.Answer) bool {
	return a.Status == http.StatusUnprocessableEntity && bytes.Contains(a.Text, []byte("the query is too heavy"))
}

// layerOf is v2, v3 or streaming.
func layerOf(path string) string { return strings.Split(path, "/")[2] }

// ask sends an operation's request and holds the answer against its document.
func (s *server) ask(t testing.TB, o *openapitest.Operation, query url.Values, body map[string]any) openapitest.Answer {
	t.Helper()
	target, text, kind := o.Path, "", ""
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	if o.Method == http.MethodPost {
		encoded, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		text, kind = string(encoded), "application/json"
	}
	answer := s.send(t, o.Method, target, kind, text)
	if err := s.documents[layerOf(o.Path)].Check(answer); err != nil {
		t.Error(err)
	}
	return answer
}

// get is a value of a JSON answer.
func (s *server) get(t testing.TB, target string) map[string]any {
	t.Helper()
	answer, err := s.until(t, shot{method: http.MethodGet, target: target}, func(a openapitest.Answer) bool { return !tooBusy(a) })
	if err != nil {
		t.Fatal(err)
	}
	var value map[string]any
	decoder := json.NewDecoder(bytes.NewReader(answer.Text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil || answer.Status != http.StatusOK {
		t.Fatalf("%s: %d %.300s (%v)", target, answer.Status, answer.Text, err)
	}
	return value
}

// at walks into a value by names and indexes.
func at(value any, path ...any) any {
	for _, step := range path {
		switch key := step.(type) {
		case string:
			object, _ := value.(map[string]any)
			value = object[key]
		case int:
			list, _ := value.([]any)
			if key >= len(list) {
				return nil
			}
			value = list[key]
		}
	}
	return value
}

func text(value any) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

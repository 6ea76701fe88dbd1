package answers

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tonscribe/test/support/harness"
	"tonscribe/test/support/openapitest"
)

// server is a build that serves its index.
type server struct {
	base    string
	data    string
	key     string
	dsn     string
	process *harness.Process
	client  *http.Client
}

// newServer is one that is to be started.
func newServer(t *testing.T) *server {
	t.Helper()
	s := serverAt("http://" + harness.FreeAddress(t))
	s.data = t.TempDir()
	return s
}

func serverAt(base string) *server {
	return &server{base: base, client: &http.Client{
		Timeout:       10 * time.Minute,
		Transport:     &http.Transport{MaxIdleConnsPerHost: workers, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// start runs the build over a chain, in the server's folder.
func (s *server) start(t *testing.T, binary string, c chain, environment []string, flags ...string) {
	t.Helper()
	arguments := []string{"up", "--data", s.data, "--listen", strings.TrimPrefix(s.base, "http://"), "--source", c.source, "--from", "1"}
	s.process = harness.StartBuild(t, binary, environment, slices.Concat(arguments, flags, c.flags)...)
}

// awaitIndexed waits until all of the chain is visible, figures included.
func (s *server) awaitIndexed(t *testing.T) {
	t.Helper()
	s.process.AwaitReady(s.base, indexLimit)
	key, err := os.ReadFile(filepath.Join(s.data, "api-key"))
	if err != nil {
		t.Fatal(err)
	}
	s.key = strings.TrimSpace(string(key))
	s.dsn = harness.ReadRunFile(t, s.data).ClickHouse
	harness.RefreshFigures(t, s.dsn)
}

// answer is what a server gave.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (s *server) ask(ctx context.Context, r *request) (a answer, err error) {
	sent, err := http.NewRequestWithContext(ctx, r.method, s.base+r.target, strings.NewReader(r.body))
	if err != nil {
		return a, err
	}
	sent.Header.Set("X-API-Key", s.key)
	for name, value := range r.header {
		sent.Header.Set(name, value)
	}
	got, err := s.client.Do(sent)
	if err != nil {
		return a, err
	}
	defer got.Body.Close()
	a = answer{status: got.StatusCode, header: got.Header}
	a.body, err = io.ReadAll(got.Body)
	return a, err
}

// get is a JSON answer; nil when there is none.
func (s *server) get(t *testing.T, target string) any {
	t.Helper()
	got, err := s.ask(t.Context(), &request{method: http.MethodGet, target: target})
	if err != nil {
		t.Fatal(err)
	}
	if got.status != http.StatusOK {
		return nil
	}
	var value any
	decoder := json.NewDecoder(strings.NewReader(string(got.body)))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	return value
}

// operations are those that the server's documents have.
func (s *server) operations(t *testing.T) (list []*openapitest.Operation) {
	t.Helper()
	for _, layer := range []string{"v2", "v3"} {
		got, err := s.ask(t.Context(), &request{method: http.MethodGet, target: documentOf(layer)})
		if err != nil {
			t.Fatal(err)
		}
		document, err := openapitest.Read(got.body)
		if err != nil {
			t.Fatalf("%s: %d: %v", documentOf(layer), got.status, err)
		}
		list = append(list, document.Operations()...)
	}
	return list
}

func documentOf(layer string) string { return fmt.Sprintf("/api/%s/openapi.json", layer) }

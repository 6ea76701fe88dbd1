package openapi

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"net/http"
	"os/exec"
	"testing"

	"tonscribe/query/examples"
	"tonscribe/query/live"
	"tonscribe/query/openapi"
	v2 "tonscribe/query/v2"
	v3 "tonscribe/query/v3"
	"tonscribe/query/v3/endpoints"
	pythontest "tonscribe/test/support/python"
)

//go:embed requirements.txt
var requirements []byte

// documents are those that a server gives, by layer.
func documents(t *testing.T) map[string][]byte {
	t.Helper()
	texts := map[string][]byte{}
	for layer, d := range map[string]*openapi.Document{"v2": v2.Describe("chain", examples.V2("chain")), "v3": v3.Describe(endpoints.All, examples.V3()), "streaming": live.Describe(live.DefaultConfiguration())} {
		text, err := d.Render()
		if err != nil {
			t.Fatal(err)
		}
		texts[layer] = text
	}
	return texts
}

func TestDocumentsAreOpenAPI(t *testing.T) {
	python := pythontest.Interpreter(t, requirements)
	for layer, text := range documents(t) {
		command := exec.CommandContext(t.Context(), python, "testdata/validate.py")
		var out, report bytes.Buffer
		command.Stdin, command.Stdout, command.Stderr = bytes.NewReader(text), &out, &report
		if err := command.Run(); err != nil {
			t.Errorf("%s: %v\n%.3000s%.3000s", layer, err, out.Bytes(), report.Bytes())
		}
		t.Logf("%s: %d bytes, %s", layer, len(text), report.Bytes())
	}
}

func TestDocumentsNameTheVersionsOfTheLayers(t *testing.T) {
	for layer, text := range documents(t) {
		var d struct {
			OpenAPI string
			Info    struct{ Version string }
			Paths   map[string]map[string]struct {
				OperationID string
				Summary     string
				Responses   map[string]any
			}
		}
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"v2": "2.1.1", "v3": v3.Version, "streaming": live.Version}[layer]
		if d.OpenAPI != "3.1.1" || d.Info.Version != want {
			t.Errorf("%s: OpenAPI %s of version %s, want 3.1.1 of %s", layer, d.OpenAPI, d.Info.Version, want)
		}
		ids := map[string]string{}
		for path, item := range d.Paths {
			for method, o := range item {
				if before := ids[o.OperationID]; before != "" || o.OperationID == "" || o.Summary == "" {
					t.Errorf("%s %s: id %q (also of %q), summary %q", method, path, o.OperationID, before, o.Summary)
				}
				ids[o.OperationID] = path
				statuses := []string{"200", "401", "403", "429", "500"}
				switch o.OperationID {
				case "ws":
					statuses[0] = "101"
				case "healthz": // it needs no key
					statuses = []string{"200", "503"}
				}
				for _, status := range statuses {
					if o.Responses[status] == nil {
						t.Errorf("%s %s does not tell of %s", method, path, status)
					}
				}
			}
		}
	}
}

// documentsNeedNoKey: they and the page are there for everybody.
func documentsNeedNoKey(t *testing.T, with *server) {
	s := *with
	s.key = "none of ours"
	for _, c := range []struct {
		path, kind string
		status     int
	}{
		{"/api/v2/openapi.json", "application/json", 200}, {"/api/v3/openapi.json", "application/json", 200}, {"/api/v3/doc.json", "application/json", 200}, {"/api/streaming/openapi.json", "application/json", 200},
		{"/api/docs", "text/html; charset=utf-8", 200}, {"/api/docs/", "text/html; charset=utf-8", 200}, {"/api/docs/page.js", "text/javascript; charset=utf-8", 200},
		{"/api/docs/page.css", "text/css; charset=utf-8", 200}, {"/api/docs/nothing", "application/json", 404},
	} {
		for range 5 { // nor are they limited
			r := s.send(t, http.MethodGet, c.path, "", "")
			if r.Status != c.status || r.Header.Get("Content-Type") != c.kind {
				t.Errorf("%s: %d %s, want %d %s", c.path, r.Status, r.Header.Get("Content-Type"), c.status, c.kind)
			}
		}
	}
	s.client = &http.Client{Timeout: s.client.Timeout}
	s.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for path, want := range map[string]string{"/api/v2": "/api/docs#v2", "/api/v2/": "/api/docs#v2", "/api/v3/": "/api/docs#v3", "/api/v3/index.html": "/api/docs#v3", "/api/streaming": "/api/docs#streaming"} {
		if r := s.send(t, http.MethodGet, path, "", ""); r.Status != http.StatusFound || r.Header.Get("Location") != want {
			t.Errorf("%s: %d %s, want 302 %s", path, r.Status, r.Header.Get("Location"), want)
		}
	}
	if r := s.send(t, http.MethodGet, "/", "", ""); r.Status != http.StatusMovedPermanently || r.Header.Get("Location") != "/api/v3/index.html" {
		t.Errorf("/: %d %s, want 301 /api/v3/index.html", r.Status, r.Header.Get("Location"))
	}
	r := s.send(t, http.MethodGet, "/api/v2/openapi.json", "", "")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.base+"/api/v2/openapi.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("If-None-Match", r.Header.Get("ETag"))
	again, err := s.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Body.Close()
	if again.StatusCode != http.StatusNotModified {
		t.Errorf("a document that is known already: %d, want 304", again.StatusCode)
	}
}

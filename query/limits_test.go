package query

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/listen"
	"tonscribe/test/support/clienttest"
	"tonscribe/test/support/enginetest"
)

func TestRefusalsHaveTheFormOfTheirLayer(t *testing.T) {
	t.Parallel()
	engine := enginetest.UnmergedTables(t)
	configuration := DefaultConfiguration()
	configuration.Auth.AnonymousRate = 0.001
	c, err := New(configuration, Dependencies{Report: enginetest.Report(t), ClickHouse: clienttest.ClickHouse(t, engine.ReadOnlyDSN())})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer c.Stop(context.Background())
	ask := func(method, path, body string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		c.Handler().ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
		return w
	}
	for ask(http.MethodGet, "/api/v3/masterchainInfo", "").Code != http.StatusTooManyRequests {
		continue // the first uses the limit up
	}
	rpc := `{"jsonrpc":"2.0","id":7,"method":"getMasterchainInfo","params":{}}`
	for _, test := range []struct{ method, path, body, want string }{
		{"GET", "/api/v3/masterchainInfo", "", `{"ok":false,"error":"Ratelimit exceeded","code":429}`},
		{"HEAD", "/api/v3/masterchainInfo", "", ``},
		{"GET", "/api/v3/nothing", "", `{"ok":false,"error":"Ratelimit exceeded","code":429}`},
		{"GET", "/api/v2/getMasterchainInfo", "", `{"ok":false,"error":"Ratelimit exceeded","code":429,"@extra":"_"}`},
		{"POST", "/api/v2/jsonRPC", rpc, `{"ok":false,"error":"Ratelimit exceeded","code":429,"@extra":"_","jsonrpc":"2.0","id":"7"}`},
		{"POST", "/api/v2/jsonRPC", "[" + rpc, `{"ok":false,"error":"Ratelimit exceeded","code":429,"@extra":"_","jsonrpc":"2.0"}`},
	} {
		got := ask(test.method, test.path, test.body)
		header := got.Header()
		if got.Code != http.StatusTooManyRequests || got.Body.String() != test.want || header.Get("Content-Type") != "application/json" || header.Get("Retry-After") == "" {
			t.Errorf("%s %s: %d %s %v, want %s", test.method, test.path, got.Code, got.Body, header, test.want)
		}
	}
	for path, want := range map[string]string{
		"/api/v3/blocks?api_key=unknown":  `{"ok":false,"error":"API key does not exist","code":401}`,
		"/api/v2/getTime?api_key=unknown": `{"ok":false,"error":"API key does not exist","code":401,"@extra":"_"}`,
	} {
		for c.auth.Ready(t.Context()) != nil && t.Context().Err() == nil {
			continue // until the keys are read
		}
		if got := ask(http.MethodGet, path, ""); got.Code != http.StatusUnauthorized || got.Body.String() != want {
			t.Errorf("%s: %d %s, want 401 %s", path, got.Code, got.Body, want)
		}
	}
}

// busy is a body that had to wait for too many others.
type busy struct{}

func (busy) Read([]byte) (int, error) { return 0, listen.ErrBusy }

func TestWhoIsKeptFromBeingWorkedOnByOthersIsTold503(t *testing.T) {
	t.Parallel()
	s := smallWorld(t).serve(t, nil)
	tooLarge := listen.ErrBusy.Error()
	for path, want := range map[string]string{
		"/api/v2/estimateFee":  `{"ok":false,"error":"` + tooLarge + `","code":503,"@extra":`,
		"/api/v2/jsonRPC":      `{"ok":false,"error":"` + tooLarge + `","code":503,"@extra":`,
		"/api/v3/estimateFee":  `{"ok":false,"error":"` + tooLarge + `","code":503}`,
		"/api/v3/runGetMethod": `{"ok":false,"error":"` + tooLarge + `","code":503}`,
	} {
		r := httptest.NewRequest(http.MethodPost, path, busy{})
		r.Header.Set("Content-Type", "application/json")
		if got := s.send(r); got.Code != http.StatusServiceUnavailable || !strings.HasPrefix(got.Body.String(), want) {
			t.Errorf("%s: %d %s, want 503 %s", path, got.Code, got.Body, want)
		}
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for n := 0; ; n++ { // clients whose requests are worked on for ever
		done, err := s.component.store.Work(short, strconv.Itoa(n))
		if err != nil {
			break
		}
		defer done()
	}
	r := httptest.NewRequest(http.MethodGet, "/api/v3/blocks?limit=1", nil)
	r.Header.Set("X-Timeout", "20")
	want := `{"ok":false,"error":"` + clickhouse.ErrBusy.Error() + `","code":503}`
	if got := s.send(r); got.Code != http.StatusServiceUnavailable || got.Body.String() != want {
		t.Errorf("beside requests that end never: %d %s, want 503 %s", got.Code, got.Body, want)
	}
}

func TestPathsAreFoundHoweverTheyAreWritten(t *testing.T) {
	t.Parallel()
	w := smallWorld(t)
	s := w.serve(t, nil)
	for _, path := range []string{
		"/api/v3/masterchainInfo", "/api/v3/masterchainInfo/", "/API/V3/MASTERCHAININFO", "//api/v3/masterchainInfo", "/api/v3//masterchainInfo",
		"/api/v2/detectHash?hash=" + strings.Repeat("0", 64), "/api/v2//detecthash/?hash=" + strings.Repeat("0", 64),
		"/api/v3/account?address=0:" + strings.Repeat("0", 64), "/api/v3/wallet?address=0:" + strings.Repeat("0", 64),
	} {
		if got := s.ask(path); got.Code != http.StatusOK {
			t.Errorf("%s: %d %s, want 200", path, got.Code, got.Body)
		}
	}
}

func TestPagesAndHealthAnswerHEADAsGET(t *testing.T) {
	t.Parallel()
	w := smallWorld(t)
	s := w.serve(t, nil)
	for _, path := range []string{"/", "/healthcheck", "/api/v3/index.html", "/api/docs", "/api/v3/openapi.json", "/api/v3/masterchainInfo", "/api/streaming/healthz"} {
		want := s.ask(path)
		if got := s.send(httptest.NewRequest(http.MethodHead, path, nil)); got.Code != want.Code || got.Header().Get("Location") != want.Header().Get("Location") {
			t.Errorf("HEAD %s: %d to %q, want %d to %q", path, got.Code, got.Header().Get("Location"), want.Code, want.Header().Get("Location"))
		}
	}
}

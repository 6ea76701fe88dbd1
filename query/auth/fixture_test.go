package auth

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"tonscribe/internal/clickhouse"
	"tonscribe/test/support/clienttest"
	"tonscribe/test/support/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// world is a database with the tables of keys.
type world struct {
	testing.TB
	writer, reader *clickhouse.Client
	table          *Table
}

func newWorld(t testing.TB) *world {
	t.Helper()
	engine := enginetest.Tables(t)
	w := &world{TB: t, writer: clienttest.ClickHouse(t, engine.DSN()), reader: clienttest.ClickHouse(t, engine.ReadOnlyHTTPDSN())}
	w.table = NewTable(w.writer)
	return w
}

// key puts a new key into the table.
func (w *world) key(rate float64, burst uint32, networks ...string) (string, Key) {
	w.Helper()
	secret := NewSecret()
	k, err := KeyOf(secret)
	if err != nil {
		w.Fatal(err)
	}
	k.Name, k.Rate, k.Burst, k.Networks, k.Created = "key "+secret[:4], rate, burst, networks, time.Now()
	w.put(k)
	return secret, k
}

func (w *world) put(k Key) {
	w.Helper()
	if err := w.table.Put(w.Context(), k); err != nil {
		w.Fatal(err)
	}
}

// server is one replica with a layer of one path behind the gate.
type server struct {
	testing.TB
	*Component
	router *gin.Engine
	ended  bool
}

func (w *world) serve(change func(*Configuration)) *server {
	w.Helper()
	s := w.begin(change)
	for s.Ready(w.Context()) != nil {
		select {
		case <-w.Context().Done():
			w.Fatal("the keys were not read")
		case <-time.After(time.Millisecond):
		}
	}
	return s
}

// begin does not wait until the keys are read.
func (w *world) begin(change func(*Configuration)) *server {
	w.Helper()
	configuration := DefaultConfiguration()
	configuration.RedisTimeout = 10 * time.Second // the machine may be busy
	if change != nil {
		change(&configuration)
	}
	c, err := New(configuration, Dependencies{Report: enginetest.Report(w), Reader: w.reader, Writer: w.writer})
	if err != nil {
		w.Fatal(err)
	}
	if err := c.Start(w.Context()); err != nil {
		w.Fatal(err)
	}
	s := &server{TB: w.TB, Component: c, router: gin.New()}
	w.Cleanup(s.end)
	s.mount()
	return s
}

func (s *server) end() {
	if s.ended {
		return
	}
	s.ended = true
	if err := s.Stop(context.Background()); err != nil {
		s.Error(err)
	}
}

func (s *server) mount() {
	gin.SetMode(gin.ReleaseMode)
	s.router.HandleMethodNotAllowed = true
	s.router.Use(s.Gate(func(c *gin.Context, status int, text string) { c.String(status, text) }))
	answer := func(c *gin.Context) { c.String(http.StatusOK, c.Request.URL.RawQuery) }
	for _, path := range []string{"/api/v3/blocks", "/api/v2/getTime", "/api/v2/openapi.json", "/api/v3/openapi.json", "/api/docs", "/api/docs/", "/api/docs/page.js", "/api/v2/healthcheck", "/page",
		"/api/streaming/v2/ws", "/streaming/v2/ws", "/api/streaming/healthz", "/streaming/healthz"} {
		s.router.GET(path, answer)
	}
	s.router.GET("/api/merchant/v1/keys", func(c *gin.Context) {
		c.String(http.StatusOK, c.Request.URL.RawQuery+" "+Client(c.Request.Context()))
	})
	s.router.POST("/api/v2/jsonRPC", func(c *gin.Context) {
		NameMethod(c, "v2/getTime")
		answer(c)
	})
}

// ask sends a request, from an address of its own unless one is given.
func (s *server) ask(path, key string) *httptest.ResponseRecorder {
	return s.from("192.0.2.1", path, key)
}

func (s *server) from(address, path, key string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.RemoteAddr = address + ":4711"
	if key != "" {
		r.Header.Set("X-API-Key", key)
	}
	return s.send(r)
}

func (s *server) send(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.router.ServeHTTP(w, r)
	return w
}

func (s *server) want(what string, got *httptest.ResponseRecorder, status int, text string) {
	s.Helper()
	if got.Code != status || got.Body.String() != text {
		s.Errorf("%s: %d %s, want %d %s", what, got.Code, got.Body, status, text)
	}
}

// wantLimited checks a 429; the limits of these tests need 1000 s for a request.
func (s *server) wantLimited(what string, got *httptest.ResponseRecorder) {
	s.Helper()
	s.want(what, got, http.StatusTooManyRequests, "Ratelimit exceeded")
	if after, err := strconv.Atoi(got.Header().Get("Retry-After")); err != nil || after < 1 || after > 1000 {
		s.Errorf("%s: Retry-After %q, want seconds up to 1000", what, got.Header().Get("Retry-After"))
	}
}

// slow is the rate of limits whose time never comes in a test.
const slow = 0.001

func value(c prometheus.Counter) float64 { return testutil.ToFloat64(c) }

// failures is how often usage could not be written.
func failures(s *server) float64 { return value(s.metrics.usageFailures) }

package auth

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
)

// benchmark measures the gate alone: the router's own time is taken off by a
// router without one.
func benchmark(b *testing.B, gate gin.HandlerFunc, change func(r *http.Request, n int)) {
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	if gate != nil {
		router.Use(gate)
	}
	router.GET("/api/v3/blocks", func(*gin.Context) {})
	r := httptest.NewRequest(http.MethodGet, "/api/v3/blocks?limit=10&workchain=0&sort=asc", nil)
	w := httptest.NewRecorder()
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if change != nil {
			change(r, n)
		}
		router.ServeHTTP(w, r)
		n++
	}
}

func BenchmarkGate(b *testing.B) {
	w := newWorld(b)
	limited, _ := w.key(1e6, 1e6)
	unlimited, _ := w.key(0, 1)
	refuse := func(c *gin.Context, status int, _ string) { c.Status(status) }
	gate := w.serve(nil).Gate(refuse)
	remote := make([]string, 1<<16)
	for i := range remote {
		remote[i] = fmt.Sprintf("10.%d.%d.%d:4711", i>>12, i>>6&63, i&63)
	}
	b.Run("none", func(b *testing.B) { benchmark(b, nil, nil) })
	b.Run("key without limit", func(b *testing.B) {
		benchmark(b, gate, func(r *http.Request, _ int) { r.Header["X-Api-Key"] = []string{unlimited} })
	})
	b.Run("key with limit", func(b *testing.B) {
		benchmark(b, gate, func(r *http.Request, _ int) { r.Header["X-Api-Key"] = []string{limited} })
	})
	b.Run("key in the query", func(b *testing.B) {
		benchmark(b, gate, func(r *http.Request, _ int) { r.URL.RawQuery = "limit=10&workchain=0&api_key=" + limited })
	})
	b.Run("one address", func(b *testing.B) { benchmark(b, gate, nil) })
	b.Run("65536 addresses", func(b *testing.B) {
		benchmark(b, gate, func(r *http.Request, n int) { r.RemoteAddr = remote[n%len(remote)] })
	})
	b.Run("Redis", func(b *testing.B) {
		url := newRedis(b).url()
		shared := w.serve(func(c *Configuration) { c.Redis, c.RedisTimeout = url, time.Second }).Gate(refuse)
		benchmark(b, shared, func(r *http.Request, _ int) { r.Header["X-Api-Key"] = []string{limited} })
	})
}

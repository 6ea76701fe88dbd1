package compress

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// benchPage is the answer in the file that PAGE names, or a made one.
func benchPage(b *testing.B) []byte {
	if path := os.Getenv("PAGE"); path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		return text
	}
	return page(300_000)
}

// discard is an answer that nobody reads.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}

// BenchmarkHandler is what the handler costs an answer, without it and by coding.
func BenchmarkHandler(b *testing.B) {
	body := benchPage(b)
	length := []string{strconv.Itoa(len(body))}
	plain := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Length"] = length
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(body)
	})
	for _, c := range []struct {
		name, coding string
		handler      http.Handler
	}{{"without", "", plain}, {"unasked", "", Handler(plain)}, {"gzip", "gzip", Handler(plain)}, {"zstd", "zstd", Handler(plain)}} {
		b.Run(c.name, func(b *testing.B) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			if c.coding != "" {
				r.Header.Set("Accept-Encoding", c.coding)
			}
			b.ReportAllocs()
			for b.Loop() {
				c.handler.ServeHTTP(discard{http.Header{}}, r)
			}
		})
	}
}

// BenchmarkLevels is what each level takes and leaves of a page.
func BenchmarkLevels(b *testing.B) {
	body := benchPage(b)
	run := func(name string, c coder) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			var out bytes.Buffer
			for b.Loop() {
				out.Reset()
				c.Reset(&out)
				_, _ = c.Write(body)
				_ = c.Close()
			}
			b.ReportMetric(100*float64(out.Len())/float64(len(body)), "%left")
			c.Reset(io.Discard)
		})
	}
	for _, level := range []int{gzip.BestSpeed, 2, 3, 5, 6} {
		run("gzip"+strconv.Itoa(level), newGzip(level))
	}
	for _, level := range []zstd.EncoderLevel{zstd.SpeedFastest, zstd.SpeedDefault, zstd.SpeedBetterCompression} {
		run("zstd-"+level.String(), newZstd(level))
	}
}

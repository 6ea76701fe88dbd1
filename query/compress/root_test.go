package compress

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func TestTheCodingIsTheOneThatTheClientLikesBest(t *testing.T) {
	for _, c := range []struct{ accept, want string }{
		{"", ""}, {"identity", ""}, {"br", ""}, {"gzip", "gzip"}, {"GZip", "gzip"}, {"x-gzip", "gzip"}, {"zstd", "zstd"},
		{"gzip, deflate, br, zstd", "zstd"}, {"gzip;q=1.0, zstd;q=0.5", "gzip"}, {"gzip;q=0.5, zstd;q=0.5", "zstd"},
		{"gzip;q=0", ""}, {"gzip; Q=0.000", ""}, {"*", "zstd"}, {"*;q=0", ""}, {"zstd;q=0, *", "gzip"}, {"gzip;q=0.2, *;q=0.1", "gzip"},
		{"gzip;q=0.5, identity;q=0.9", ""}, {"gzip;q=0.9, identity;q=0.5", "gzip"}, {"identity;q=0, gzip;q=0", ""},
		{"gzip;q=two", ""}, {"gzip;q=1.5", ""}, {"gzip;q=-1", ""}, {"gzip;q=NaN", ""}, {",,;;,=", ""}, {" gzip ; q = 0.5 ", "gzip"}, {"gzip;level=1;q=0", ""},
	} {
		if got := Choose([]string{c.accept}); got != c.want {
			t.Errorf("Accept-Encoding %q: got %q, want %q", c.accept, got, c.want)
		}
	}
	if got := Choose([]string{"gzip;q=0.1", "zstd;q=0"}); got != "gzip" {
		t.Errorf("two lines: got %q, want gzip", got)
	}
}

func decoded(t *testing.T, coding string, body io.Reader) []byte {
	t.Helper()
	switch coding {
	case gzipName:
		r, err := gzip.NewReader(body)
		if err != nil {
			t.Fatal(err)
		}
		body = r
	case zstdName:
		r, err := zstd.NewReader(body)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		body = r
	}
	text, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// page is an answer of about n bytes.
func page(n int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, `{"hash":"%x","lt":"%d"},`, i*7919, i)
	}
	return b.Bytes()[:n]
}

func TestAnswersAreTheSameInEveryCoding(t *testing.T) {
	answers := map[string]http.HandlerFunc{
		"of known length": func(w http.ResponseWriter, r *http.Request) {
			body := page(50_000)
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			w.WriteHeader(http.StatusNotFound)
			if r.Method != http.MethodHead {
				_, _ = w.Write(body)
			}
		},
		"in pieces": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			for body := page(50_000); len(body) > 0; body = body[500:] {
				_, _ = w.Write(body[:500])
			}
		},
		"flushed": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			for body := page(50_000); len(body) > 0; body = body[10_000:] {
				_, _ = w.Write(body[:10_000])
				w.(http.Flusher).Flush()
			}
		},
	}
	for name, handler := range answers {
		server := httptest.NewServer(Handler(handler))
		for _, coding := range []string{"", gzipName, zstdName} {
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				request, _ := http.NewRequestWithContext(t.Context(), method, server.URL, nil)
				request.Header.Set("Accept-Encoding", coding)
				answer, err := server.Client().Do(request)
				if err != nil {
					t.Fatal(err)
				}
				var raw bytes.Buffer
				_, err = raw.ReadFrom(answer.Body)
				answer.Body.Close()
				if err != nil || answer.StatusCode != http.StatusNotFound || answer.Header.Get("Vary") != "Accept-Encoding" {
					t.Errorf("%s, %s %s: %d, Vary %q, %v", name, method, coding, answer.StatusCode, answer.Header.Get("Vary"), err)
				}
				if got := answer.Header.Get("Content-Encoding"); got != coding && (method == http.MethodGet || name == "of known length") {
					t.Errorf("%s, %s %s: in coding %q", name, method, coding, got)
				}
				if method == http.MethodHead {
					continue
				}
				if coding != "" && raw.Len() > 30_000 {
					t.Errorf("%s, %s: %d bytes are no fewer", name, coding, raw.Len())
				}
				if name != "flushed" && coding != "" && answer.ContentLength != int64(raw.Len()) {
					t.Errorf("%s, %s: Content-Length %d of %d", name, coding, answer.ContentLength, raw.Len())
				}
				if got := decoded(t, coding, &raw); !bytes.Equal(got, page(50_000)) {
					t.Errorf("%s, %s: another answer, of %d bytes", name, coding, len(got))
				}
			}
		}
		server.Close()
	}
}

func TestAnswersWithoutMuchOfABodyStayPlain(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"small": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(page(minBytes - 1)) },
		"small, told": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "3")
			_, _ = w.Write([]byte("abc"))
		},
		"204": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		"304": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("ETag", `"a"`)
			w.WriteHeader(http.StatusNotModified)
		},
		"in a coding": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			_, _ = w.Write(page(5000))
		},
		"nothing": func(http.ResponseWriter, *http.Request) {},
	} {
		plain, asked := httptest.NewRecorder(), httptest.NewRecorder()
		handler(plain, httptest.NewRequest(http.MethodGet, "/", nil))
		request := httptest.NewRequest(http.MethodGet, "/", nil)
		request.Header.Set("Accept-Encoding", "gzip, zstd")
		Handler(handler).ServeHTTP(asked, request)
		if asked.Code != plain.Code || asked.Body.String() != plain.Body.String() || asked.Header().Get("Content-Encoding") != plain.Header().Get("Content-Encoding") {
			t.Errorf("%s: %d %v of %d bytes, want %d %v of %d", name, asked.Code, asked.Header(), asked.Body.Len(), plain.Code, plain.Header(), plain.Body.Len())
		}
	}
}

func TestAWriterIsUsedAgainOnlyByOneAnswerAtATime(t *testing.T) {
	server := httptest.NewServer(Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(strings.Repeat(r.URL.Path, 5000)))
	})))
	defer server.Close()
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for i := range 20 {
				path := fmt.Sprintf("/%d/%d", worker, i)
				request, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
				coding := Codings[i%2]
				request.Header.Set("Accept-Encoding", coding)
				answer, err := server.Client().Do(request)
				if err != nil {
					t.Error(err)
					return
				}
				if got := string(decoded(t, coding, answer.Body)); got != strings.Repeat(path, 5000) {
					t.Errorf("%s in %s: %.40s of %d bytes", path, coding, got, len(got))
				}
				answer.Body.Close()
			}
		})
	}
	group.Wait()
}

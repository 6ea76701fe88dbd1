package metadata_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"tonscribe/metadata"
)

func TestWhatHostileServersAnswerIsContainedAndRecorded(t *testing.T) {
	bomb := zipped(t, make([]byte, 32<<20))
	inner := newSite(t, "127.0.0.2", nil) // not among the networks that are allowed
	web := newSite(t, "127.0.0.1", func(w http.ResponseWriter, r *http.Request, n int) {
		switch r.URL.Path {
		case "/large":
			piece := make([]byte, 64<<10)
			for i := range piece {
				piece[i] = ' '
			}
			for range 160 { // 10 MiB
				if _, err := w.Write(piece); err != nil {
					return
				}
			}
		case "/endless":
			for r.Context().Err() == nil {
				_, _ = w.Write([]byte(" "))
				w.(http.Flusher).Flush()
				time.Sleep(20 * time.Millisecond)
			}
		case "/headers":
			for n := range 2000 {
				w.Header().Set(fmt.Sprintf("X-%d", n), strings.Repeat("x", 100))
			}
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb)
		case "/inner":
			http.Redirect(w, r, inner.URL+"/secret", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/json":
			fmt.Fprint(w, `{"name":`)
		case "/utf8":
			fmt.Fprint(w, "{\"name\":\"a\xff\xfeb\",\"\xff\":1}")
		case "/picture":
			fmt.Fprintf(w, `{"name":"kept","image":"data:image/png;base64,%s"}`, strings.Repeat("A", 20<<10))
		case "/many":
			fmt.Fprint(w, `{"a":"`+strings.Repeat("x", 15<<10)+`"`)
			for n := range 5 {
				fmt.Fprintf(w, `,"%d":"%s"`, n, strings.Repeat("x", 15<<10))
			}
			fmt.Fprint(w, "}")
		}
	})
	i := newIndex(t)
	wants := map[string]string{ // beginnings of failures
		web.URL + "/large": "size: ", web.URL + "/endless": "network: ", web.URL + "/headers": "network: ", web.URL + "/gzip": "size: ",
		web.URL + "/inner": "address: ", web.URL + "/loop": "link: ", web.URL + "/json": "form: ", web.URL + "/many": "size: ",
		inner.URL + "/direct": "address: ", "tonstorage://ABC": "link: ", "data:application/json;base64,###": "link: ", "https://\x00'\\/": "link: ",
	}
	documents := map[string]string{
		web.URL + "/utf8": `{"name":"a` + "\ufffd\ufffd" + `b","` + "\ufffd" + `":1}`, web.URL + "/picture": `{"name":"kept"}`,
	}
	var links []string
	for link := range wants {
		links = append(links, link)
	}
	for link := range documents {
		links = append(links, link)
	}
	i.bundle(links...)
	i.start(func(c *metadata.Configuration) { c.Timeout, c.Retry = 8*time.Second, time.Hour })
	for link, want := range wants {
		got := i.awaitTries(link, 1)[0]
		if !strings.HasPrefix(got.failure, want) || got.attempts != 1 || got.had {
			t.Errorf("%.60q: %+v, want a failure that begins with %q", link, got, want)
		}
		i.await(link+" is shown as failed", func() bool { document, failure := i.shown(link); return document == "" && failure == got.failure })
	}
	for link, want := range documents {
		i.awaitShown(link, want)
	}
	if asked := inner.paths(); len(asked) != 0 {
		t.Errorf("an address that is not globally reachable was asked for %v", asked)
	}
	counts := map[string]float64{"ok": float64(len(documents))}
	for _, want := range wants {
		counts[strings.TrimSuffix(want, ": ")]++
	}
	if got := i.results(); !maps.Equal(got, counts) {
		t.Errorf("the metric counts %v, want %v", got, counts)
	}
}

// zipped is a thousandth of content that is nothing but zeros.
func zipped(t *testing.T, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

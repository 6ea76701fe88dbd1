package harness

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"tonscribe/test/support/openapitest"
)

// described is a transport that holds every answer of the API against the
// OpenAPI documents that its server gives. An answer that they do not allow is
// an error of the request.
type described struct {
	next http.RoundTripper

	mu        sync.Mutex
	documents map[string]*openapitest.Document // by the address of the layer
}

func newDescribed(next http.RoundTripper) *described {
	return &described{next: next, documents: map[string]*openapitest.Document{}}
}

// RoundTrip is http.RoundTripper's.
func (d *described) RoundTrip(r *http.Request) (*http.Response, error) {
	layer := layerOf(r.URL.Path)
	if layer == "" {
		return d.next.RoundTrip(r)
	}
	var sent []byte
	if r.Body != nil {
		var err error
		if sent, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close()
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(sent))
	}
	response, err := d.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(text))
	document, err := d.document(r, layer)
	if err != nil {
		return nil, err
	}
	err = document.Check(openapitest.Answer{
		Method: r.Method, Path: r.URL.RequestURI(), Body: sent, Status: response.StatusCode, Header: response.Header, Text: text,
	})
	if err != nil {
		return nil, &notDescribed{err, response}
	}
	return response, nil
}

// notDescribed is an answer that the server's own document does not allow.
type notDescribed struct {
	error
	response *http.Response
}

// layerOf is the path of the layer that a path belongs to, empty for none.
func layerOf(path string) string {
	for _, layer := range []string{"/api/v2", "/api/v3"} {
		if strings.HasPrefix(strings.ToLower(path), layer+"/") {
			return layer
		}
	}
	return ""
}

// document asks the server of a request for the document of a layer, once.
func (d *described) document(r *http.Request, layer string) (*openapitest.Document, error) {
	address := r.URL.Scheme + "://" + r.URL.Host + layer
	d.mu.Lock()
	defer d.mu.Unlock()
	if known := d.documents[address]; known != nil {
		return known, nil
	}
	request, err := http.NewRequestWithContext(r.Context(), http.MethodGet, address+"/openapi.json", nil)
	if err != nil {
		return nil, err
	}
	response, err := d.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	document, err := openapitest.Read(text)
	if err != nil {
		return nil, fmt.Errorf("%s/openapi.json: %d: %w", address, response.StatusCode, err)
	}
	d.documents[address] = document
	return document, nil
}

// Described puts a server in front of the one at base, for programs of other
// people. It hands everything on, and fails the test for every answer that the
// documents of the server do not allow. It gives its address.
func Described(t testing.TB, base string) string {
	t.Helper()
	target, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	reporting := &reporting{t: t, transport: newDescribed(&http.Transport{MaxIdleConnsPerHost: 16})}
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport: reporting,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() == nil { // the client waits for its answer
				t.Errorf("%s %s: %v", r.Method, r.URL, err)
			}
			w.WriteHeader(http.StatusBadGateway)
		},
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(func() {
		server.Close()
		if reporting.answers.Load() == 0 {
			t.Error("no answer was held against the documents")
		}
		t.Logf("%d answers were held against the documents", reporting.answers.Load())
	})
	return server.URL
}

// reporting fails a test where described gives an error.
type reporting struct {
	t         testing.TB
	transport *described
	answers   atomic.Int64
}

// RoundTrip is http.RoundTripper's.
func (r *reporting) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.transport.RoundTrip(request)
	var odd *notDescribed
	if errors.As(err, &odd) {
		r.t.Error(err)
		response, err = odd.response, nil
	}
	if err == nil && layerOf(request.URL.Path) != "" {
		r.answers.Add(1)
	}
	return response, err
}

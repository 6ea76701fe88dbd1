package web

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gin-gonic/gin"
)

const (
	testPage   = "<html>page</html>"
	testScript = "script()"
)

// served is a site below a router that answers as the API does: to pages of any origin.
func served(t *testing.T, s *Site) func(method, path string, header http.Header) *httptest.ResponseRecorder {
	t.Helper()
	gin.SetMode(gin.TestMode)
	router := gin.New()
	router.Use(func(c *gin.Context) { c.Header("Access-Control-Allow-Origin", "*") })
	s.Mount(router)
	return func(method, path string, header http.Header) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, nil)
		r.Header = header
		w := httptest.NewRecorder()
		router.ServeHTTP(w, r)
		return w
	}
}

func testSite(t *testing.T) *Site {
	t.Helper()
	s, err := newSite(fstest.MapFS{
		"index.html": {Data: []byte(testPage)}, "icon.svg": {Data: []byte("<svg/>")}, "assets/a-1.js": {Data: []byte(testScript)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestEveryPathIsThePageButForFilesAndMissingAssets(t *testing.T) {
	ask := served(t, testSite(t))
	for _, c := range []struct {
		path        string
		status      int
		body, cache string
	}{
		{"/dashboard", 200, testPage, "no-cache"},
		{"/dashboard/", 200, testPage, "no-cache"},
		{"/dashboard/deliveries/0123", 200, testPage, "no-cache"},
		{"/dashboard/..%2f..%2fetc/passwd", 200, testPage, "no-cache"},
		{"/dashboard/icon.svg", 200, "<svg/>", "no-cache"},
		{"/dashboard/assets/a-1.js", 200, testScript, "public, max-age=31536000, immutable"},
		{"/dashboard/assets/a-0.js", 404, "404 page not found\n", "no-store"},
		{"/dashboards", 404, "404 page not found", ""},
	} {
		a := ask(http.MethodGet, c.path, nil)
		if have := a.Body.String(); a.Code != c.status || have != c.body || a.Header().Get("Cache-Control") != c.cache {
			t.Errorf("%s: %d %q, kept %q; want %d %q, %q", c.path, a.Code, have, a.Header().Get("Cache-Control"), c.status, c.body, c.cache)
		}
	}
}

func TestPagesLoadNothingFromElsewhereAndAreFramedNowhere(t *testing.T) {
	a := served(t, testSite(t))(http.MethodGet, "/dashboard", nil)
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff",
		"Referrer-Policy": "no-referrer", "Access-Control-Allow-Origin": "",
	} {
		if have := a.Header().Get(name); have != want {
			t.Errorf("%s is %q, want %q", name, have, want)
		}
	}
	policy := a.Header().Get("Content-Security-Policy")
	for _, rule := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"} {
		if !strings.Contains(policy, rule) {
			t.Errorf("the policy %q lacks %q", policy, rule)
		}
	}
	if strings.Contains(policy, "unsafe") {
		t.Errorf("the policy %q lets inline code run", policy)
	}
}

func TestAFileThatIsThereAlreadyIsNotSentAgain(t *testing.T) {
	ask := served(t, testSite(t))
	first := ask(http.MethodGet, "/dashboard", nil)
	tag := first.Header().Get("ETag")
	if again := ask(http.MethodGet, "/dashboard", http.Header{"If-None-Match": {tag}}); again.Code != 304 || again.Body.Len() != 0 {
		t.Errorf("the page with tag %s: %d and %d bytes, want 304 and none", tag, again.Code, again.Body.Len())
	}
	coded := ask(http.MethodGet, "/dashboard", http.Header{"Accept-Encoding": {"gzip"}})
	if coded.Header().Get("Content-Encoding") != "gzip" || coded.Header().Get("ETag") == tag {
		t.Errorf("with gzip the page has coding %q and tag %s, want gzip and another tag than without", coded.Header().Get("Content-Encoding"), coded.Header().Get("ETag"))
	}
	head := ask(http.MethodHead, "/dashboard", nil)
	if head.Code != 200 || head.Body.Len() != 0 || head.Header().Get("Content-Length") != first.Header().Get("Content-Length") {
		t.Errorf("HEAD: %d, %d bytes of %s; want 200, none of %s", head.Code, head.Body.Len(), head.Header().Get("Content-Length"), first.Header().Get("Content-Length"))
	}
}

func TestABinaryWithoutTheDashboardSaysHowToBuildIt(t *testing.T) {
	if _, err := newSite(fstest.MapFS{}); err == nil {
		t.Error("no files are a dashboard")
	}
	page, err := site.ReadFile(unbuiltPage)
	if err != nil || !strings.Contains(string(page), "make build") {
		t.Errorf("the page is %q (%v), want how to build", page, err)
	}
	if _, err := New(); err != nil {
		t.Errorf("the files of this build: %v", err)
	}
}

// TestTheBuiltPageHasNoCodeInline: the policy would refuse it.
func TestTheBuiltPageHasNoCodeInline(t *testing.T) {
	page, err := fs.ReadFile(site, builtFolder+"/"+indexName)
	if err != nil {
		t.Skip("the dashboard is not built: make build")
	}
	for _, inline := range []string{"<script>", "<style", " style=", " onload=", "javascript:"} {
		if strings.Contains(string(page), inline) {
			t.Errorf("%s is in %s", inline, page)
		}
	}
}

package query

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"tonscribe/internal/report"
	"tonscribe/query/examples"
	"tonscribe/query/live"
	"tonscribe/query/openapi"
	v2 "tonscribe/query/v2"
	v3 "tonscribe/query/v3"
	"tonscribe/query/v3/endpoints"
	"tonscribe/test/support/clienttest"
	"tonscribe/test/support/openapitest"
)

func TestAllowNamesTheDocumentedMethods(t *testing.T) {
	t.Parallel()
	configuration := DefaultConfiguration()
	configuration.Auth.AnonymousRate = 0
	c, err := New(configuration, Dependencies{Report: report.Silent(), ClickHouse: clienttest.ClickHouse(t, "clickhouse://nobody@127.0.0.1:1/nothing")})
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string][]string{}
	for _, d := range []*openapi.Document{v2.Describe("ton", examples.V2("ton")), v3.Describe(endpoints.All, examples.V3()), live.Describe(configuration.Live)} {
		document, err := openapitest.New(d)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range document.Operations() {
			documented[o.Path] = append(documented[o.Path], o.Method)
		}
	}
	for _, path := range []string{"/api/v3/account", "/api/v3/wallet", "/api/streaming/v2/sse", "/api/streaming/v2/ws"} {
		if len(documented[path]) == 0 {
			t.Errorf("%s is not documented", path)
		}
	}
	for path, want := range documented {
		slices.Sort(want)
		for method, status := range map[string]int{http.MethodOptions: http.StatusNoContent, http.MethodDelete: http.StatusMethodNotAllowed} {
			w := httptest.NewRecorder()
			c.Handler().ServeHTTP(w, httptest.NewRequest(method, path, nil))
			var got []string
			for name := range strings.SplitSeq(w.Header().Get("Allow"), ", ") {
				if name != http.MethodHead {
					got = append(got, name)
				}
			}
			slices.Sort(got)
			if w.Code != status || !slices.Equal(got, want) {
				t.Errorf("%s %s: %d, Allow %v, want %d, %v", method, path, w.Code, got, status, want)
			}
		}
	}
}

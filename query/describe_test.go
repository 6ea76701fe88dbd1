package query

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	v3 "tonscribe/query/v3"
	"tonscribe/query/v3/endpoints"
	"tonscribe/test/support/openapitest"
)

var documentOfV3 = sync.OnceValues(func() (*openapitest.Document, error) { return openapitest.New(v3.Describe(endpoints.All, nil)) })

// forms counts the answers to requests with the same path and the same parameters.
var forms = struct {
	sync.Mutex
	answers map[string]int
}{answers: map[string]int{}}

// isDescribed holds an answer of the v3 layer against its document: of the thousands
// that requests of one form get, the first four and then every hundredth. Parameters by
// which rows are only chosen are of no form, and of the answers that have rows by the
// hundred the first is enough.
func (s *server) isDescribed(r *http.Request, got *httptest.ResponseRecorder) {
	s.Helper()
	if !strings.HasPrefix(strings.ToLower(r.URL.Path), v3.Prefix) {
		return
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(r.URL.Query())), choosesRows)
	form, first := fmt.Sprint(got.Code, r.URL.Path, names), 4
	if got.Body.Len() > 64<<10 {
		form, first = "large "+form, 1
	}
	forms.Lock()
	n := forms.answers[form]
	forms.answers[form]++
	forms.Unlock()
	if n >= first && n%100 != 0 {
		return
	}
	document, err := documentOfV3()
	if err == nil {
		err = document.Check(openapitest.Answer{Method: r.Method, Path: r.URL.Path, Status: got.Code, Header: got.Header(), Text: got.Body.Bytes()})
	}
	if err != nil {
		s.Error(err)
	}
}

func choosesRows(parameter string) bool {
	switch parameter {
	case "limit", "offset", "cursor", "sort", "start_lt", "end_lt", "start_utime", "end_utime":
		return true
	}
	return false
}

func TestEveryEndpointIsDescribed(t *testing.T) {
	t.Parallel()
	document, err := documentOfV3()
	if err != nil {
		t.Fatal(err)
	}
	if err := document.Compile(); err != nil {
		t.Fatal(err)
	}
	for _, e := range endpoints.All {
		if e.Result == nil || e.Summary == "" || e.Description == "" || e.Tag == "" {
			t.Errorf("%s lacks a result, a summary, a description or a tag", e.Path)
		}
		for _, p := range e.Params {
			if p.Description == "" {
				t.Errorf("%s: %s has no description", e.Path, p.Name)
			}
		}
	}
}

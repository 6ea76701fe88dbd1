package answers

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"tonscribe/test/support/openapitest"
)

// workers is how many requests are under way at a time.
const workers = 4

// Headers that cannot be equal, and why.
var unequalHeaders = map[string]string{
	"Date":          "the time of the answer",
	"Server-Timing": "how long it took",
	// The client holds it against the body, which is compared.
	"Content-Length": "counts the parts of bodies that cannot be equal",
}

// Parts of bodies that cannot be equal, and why.
var unequalParts = []struct {
	pattern *regexp.Regexp
	why     string
}{
	{regexp.MustCompile(`"@extra":"\d+:[^"]*:[0-9.e+-]+(:c)?"`), "made by v2 of the time, the lite servers that answered and how long it took; that of a request stays"},
	{regexp.MustCompile(`,"timestamp":\d+`), "the time of the answer to getConsensusBlock"},
	{regexp.MustCompile(`"computed_at":\d+`), "when figures of /stats were computed"},
}

// withoutUnequal is a body without the parts that cannot be equal.
func withoutUnequal(body []byte) []byte {
	for _, part := range unequalParts {
		body = part.pattern.ReplaceAll(body, nil)
	}
	return body
}

// differenceOf names the first difference of two answers, empty for none.
func differenceOf(r *request, a, b answer) string {
	if a.status != b.status {
		return fmt.Sprintf("status %d, then %d\n\tbefore %s\n\tafter  %s", a.status, b.status, excerpt(a.body, 0), excerpt(b.body, 0))
	}
	names := maps.Clone(a.header)
	maps.Copy(names, b.header)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if unequalHeaders[name] == "" && !slices.Equal(a.header[name], b.header[name]) {
			return fmt.Sprintf("header %s\n\tbefore %q\n\tafter  %q", name, a.header[name], b.header[name])
		}
	}
	if bytes.Equal(a.body, b.body) {
		return ""
	}
	first, second := withoutUnequal(a.plain()), withoutUnequal(b.plain())
	if bytes.Equal(first, second) {
		return ""
	}
	at := 0
	for at < min(len(first), len(second)) && first[at] == second[at] {
		at++
	}
	return fmt.Sprintf("bodies of %d and %d bytes from byte %d on\n\tbefore %s\n\tafter  %s", len(first), len(second), at, excerpt(first, at), excerpt(second, at))
}

// plain is the body as it was before it was compressed.
func (a *answer) plain() []byte {
	if a.header.Get("Content-Encoding") != "gzip" {
		return a.body
	}
	reader, err := gzip.NewReader(bytes.NewReader(a.body))
	if err != nil {
		return a.body
	}
	body, err := io.ReadAll(reader)
	if err != nil {
		return a.body
	}
	return body
}

// excerpt is what is around a byte.
func excerpt(body []byte, at int) string {
	const earlier, later = 60, 100
	from, to := max(0, at-earlier), min(len(body), at+later)
	text := string(body[from:to])
	if from > 0 {
		text = "…" + text
	}
	if to < len(body) {
		text += "…"
	}
	return text
}

// comparison is what came of requests to two servers.
type comparison struct {
	before, after *server

	mu        sync.Mutex
	found     [][]string // by request: differences of it and of the pages after it
	sent      int
	statuses  map[int]int
	succeeded map[string]bool // method and path of what was 200
	different int
}

// compare sends all requests to both.
func compare(t *testing.T, before, after *server, requests []*request) *comparison {
	t.Helper()
	c := &comparison{before: before, after: after, found: make([][]string, len(requests)), statuses: map[int]int{}, succeeded: map[string]bool{}}
	work := make(chan int)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := range work {
				c.one(t.Context(), i, requests[i])
			}
		})
	}
	for i := range requests {
		work <- i
	}
	close(work)
	group.Wait()
	return c
}

// one compares the answers to a request, and the pages that follow them.
func (c *comparison) one(ctx context.Context, i int, r *request) {
	a, errBefore := c.before.ask(ctx, r)
	b, errAfter := c.after.ask(ctx, r)
	var difference string
	switch {
	case errBefore != nil || errAfter != nil:
		difference = fmt.Sprintf("no answer\n\tbefore %v\n\tafter  %v", errBefore, errAfter)
	default:
		difference = differenceOf(r, a, b)
	}
	if difference != "" {
		if again, err := c.before.ask(ctx, r); err != nil || differenceOf(r, a, again) != "" {
			difference += "\n\tthe build before the change does not answer the same twice either"
		}
	}
	c.mu.Lock()
	c.sent++
	c.statuses[a.status]++
	if path, _, _ := strings.Cut(r.target, "?"); a.status == http.StatusOK {
		c.succeeded[r.method+" "+path] = true
	}
	if difference != "" {
		c.different++
		c.found[i] = append(c.found[i], r.String()+"\n\t"+difference)
	}
	c.mu.Unlock()
	if next := r.next(a); next != nil {
		c.one(ctx, i, next)
	}
}

// next is the request for the page after an answer, nil where none is wanted or
// there is none.
func (r *request) next(a answer) *request {
	if r.pages == 0 || a.status != http.StatusOK {
		return nil
	}
	cursor := a.header.Get("X-Next-Cursor")
	var page struct {
		Next string `json:"next_cursor"`
	}
	if json.Unmarshal(a.body, &page) == nil && page.Next != "" {
		cursor = page.Next
	}
	if cursor == "" {
		return nil
	}
	path, query, _ := strings.Cut(r.target, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil
	}
	values.Set("cursor", cursor)
	next := *r
	next.pages, next.target = r.pages-1, withQuery(path, values)
	return &next
}

// mostShown bounds how many differences are printed.
const mostShown = 60

func (c *comparison) report(t *testing.T) {
	t.Helper()
	shown := 0
	for _, found := range c.found {
		for _, difference := range found {
			if shown++; shown <= mostShown {
				t.Error(difference)
			}
		}
	}
	if c.different > mostShown {
		t.Errorf("and %d further differences", c.different-mostShown)
	}
}

// neverSucceeded are operations of which no request was answered with 200.
func (c *comparison) neverSucceeded(operations []*openapitest.Operation) (list []string) {
	for _, o := range operations {
		if name := o.Method + " " + o.Path; !c.succeeded[name] {
			list = append(list, name)
		}
	}
	return list
}

// serving is a server that answers every request with a body.
func serving(t *testing.T, header, body string) *server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Warning", header)
		_, _ = w.Write([]byte(body)) // the test has gone when this fails
	}))
	t.Cleanup(s.Close)
	return serverAt(s.URL)
}

func TestADifferenceIsFoundAndNamed(t *testing.T) {
	r := &request{method: http.MethodGet, target: "/api/v3/blocks?limit=1"}
	long := strings.Repeat("x", 500)
	for _, c := range []struct {
		name, first, second, header string
		want                        []string
	}{
		{name: "equal bodies", first: long, second: long},
		{name: "one byte", first: long + "a" + long, second: long + "b" + long, want: []string{"GET /api/v3/blocks?limit=1", "byte 500 ", "xxa", "xxb"}},
		{name: "a body that goes on", first: long, second: long + "!", want: []string{"500 and 501 bytes from byte 500"}},
		{name: "a header", first: long, second: long, header: "other", want: []string{"header Warning", "other"}},
		{name: "the extra that v2 makes", first: `{"@extra":"1:_:0.25"}`, second: `{"@extra":"2:0:7:c"}`},
		{name: "the extra of a request", first: `{"@extra":"mine"}`, second: `{"@extra":"yours"}`, want: []string{"mine", "yours"}},
		{name: "the time of the answer", first: `{"@type":"ext.blocks.consensusBlock","consensus_block":1,"timestamp":5}`, second: `{"@type":"ext.blocks.consensusBlock","consensus_block":1,"timestamp":6}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := compare(t, serving(t, "", c.first), serving(t, c.header, c.second), []*request{r})
			text := strings.Join(got.found[0], "\n")
			if (text != "") != (c.want != nil) || got.different != len(got.found[0]) || got.sent != 1 {
				t.Fatalf("%d requests, %d differences: %s", got.sent, got.different, text)
			}
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not in %s", want, text)
				}
			}
		})
	}
}

func TestThePageAfterAnAnswerIsComparedToo(t *testing.T) {
	page := func(text string) *server {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("cursor") == "abc" {
				_, _ = w.Write([]byte(text)) // the test has gone when this fails
				return
			}
			_, _ = w.Write([]byte(`{"next_cursor":"abc"}`))
		}))
		t.Cleanup(s.Close)
		return serverAt(s.URL)
	}
	got := compare(t, page("one"), page("two"), []*request{{method: http.MethodGet, target: "/list?limit=1", pages: 1}})
	if got.sent != 2 || got.different != 1 || !strings.Contains(got.found[0][0], "/list?cursor=abc&limit=1") {
		t.Errorf("%d requests, differences %v", got.sent, got.found)
	}
}

package query

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	v3 "tonscribe/query/v3"
	"tonscribe/test/support/enginetest"
)

func TestRequests(t *testing.T) {
	t.Parallel()
	w := smallWorld(t)
	s := w.serve(t, nil)
	for name, check := range map[string]func(*testing.T, *world, *server){
		"bad requests get the contracts errors":             badRequestsGetTheContractsErrors,
		"too many and too long parameters are refused":      tooManyAndTooLongParametersAreRefused,
		"paths and methods":                                 pathsAndMethods,
		"headers of answers":                                headersOfAnswers,
		"request options":                                   requestOptions,
		"every address of an answer is in the address book": everyAddressOfAnAnswerIsInTheAddressBook,
		"address book keeps the spelling":                   addressBookKeepsTheSpelling,
		"empty and repeated values":                         emptyAndRepeatedValues,
	} {
		t.Run(name, func(t *testing.T) {
			s := *s
			s.TB = t
			check(t, w, &s)
		})
	}
}

const zeros = "0000000000000000000000000000000000000000000000000000000000000000"

func badRequestsGetTheContractsErrors(t *testing.T, w *world, s *server) {
	conversion := func(name string) string {
		return fmt.Sprintf("failed to decode: schema: error converting value for %q", name)
	}
	element := func(i int, name string) string {
		return fmt.Sprintf("failed to decode: schema: error converting value for index %d of %q", i, name)
	}
	tooDeep := func(offset int) string {
		return fmt.Sprintf("offset %d is too deep, 100000 is the most: page with cursor, the next_cursor of the page before", offset)
	}
	cursor := s.get("/api/v3/transactions?limit=1").Next
	const wrongCursor = "wrong value for cursor parameter: send next_cursor of the page before with the same other parameters"
	cases := []struct {
		path   string
		status int
		text   string
	}{
		{"transactions?limit=1001", 422, "limit is not allowed: 1001 > 1000"},
		{"transactions?offset=100001", 422, tooDeep(100_001)},
		{"messages?offset=2147483647", 422, tooDeep(2_147_483_647)},
		{"topAccountsByBalance?offset=2147483647", 422, tooDeep(2_147_483_647)},
		{"blocks?limit=1001", 422, "limit is not allowed: 1001 > 1000"},
		{"transactions?limit=x", 422, conversion("limit")},
		{"transactions?limit=99999999999", 422, conversion("limit")},
		{"transactions?offset=1.5", 422, conversion("offset")},
		{"transactions?sort=sideways", 422, "wrong value for sort parameter"},
		{"transactions?sort=", 422, "wrong value for sort parameter"},
		{"transactions?account=zzz", 422, element(0, "account")},
		{"transactions?account=0:" + zeros + "&account=zzz", 422, element(1, "account")},
		{"transactions?account=0:" + zeros + ",zzz", 422, element(0, "account")},
		{"transactions?account=" + strings.Repeat("0", 9000), 422, element(0, "account")},
		{"transactions?exclude_account=1", 422, element(0, "exclude_account")},
		{"transactions?hash=zz", 422, element(0, "hash")},
		{"transactions?hash=" + strings.Repeat("A", 43), 422, element(0, "hash")},
		{"transactions?lt=-1", 422, conversion("lt")},
		{"transactions?start_lt=abc", 422, conversion("start_lt")},
		{"transactions?start_lt=18446744073709551616", 422, conversion("start_lt")},
		{"transactions?start_utime=-1", 422, conversion("start_utime")},
		{"transactions?start_utime=", 422, conversion("start_utime")},
		{"transactions?shard=", 422, conversion("shard")},
		{"transactions?workchain=a&seqno=b", 422, conversion("workchain") + " (and 1 other error)"},
		{"transactions?workchain=a&seqno=b&mc_seqno=c", 422, conversion("workchain") + " (and 2 other errors)"},
		{"transactions?end_lt=a&end_utime=b&limit=c", 422, conversion("end_utime")},
		{"transactions?end_lt=a&limit=c", 422, conversion("end_lt")},
		{"transactions?cursor=%00", 422, wrongCursor},
		{"transactions?cursor=AAAA", 422, wrongCursor},
		{"transactions?sort=asc&cursor=" + cursor, 422, wrongCursor},
		{"transactions?end_lt=5&cursor=" + cursor, 422, wrongCursor},
		{"messages?cursor=" + cursor, 422, wrongCursor},
		{"transactions?cursor=" + strings.Repeat("A", 100000), 422, wrongCursor},
		{"transactions?mc_seqno=1", 404, "masterchain block 1 not found"},
		{"transactions?mc_seqno=-7", 404, "masterchain block -7 not found"},
		{"transactions?mc_seqno=2147483647", 404, "masterchain block 2147483647 not found"},
		{"transactionsByMasterchainBlock", 404, "masterchain block 0 not found"},
		{"transactionsByMasterchainBlock?seqno=abc", 404, "masterchain block 0 not found"},
		{"masterchainBlockShards", 404, "blocks not found"},
		{"masterchainBlockShards?seqno=x", 404, "blocks not found"},
		{"masterchainBlockShardState?seqno=99999999999", 404, "blocks not found"},
		{"blocks?workchain=x", 422, conversion("workchain")},
		{"blocks?root_hash=", 422, conversion("root_hash")},
		{"blocks?root_hash=" + zeros + "," + zeros, 422, conversion("root_hash")},
		{"blocks?file_hash=%2B", 422, conversion("file_hash")},
		{"messages?direction=up", 422, "direction should be one of: in, out"},
		{"messages?opcode=4294967295", 422, conversion("opcode")},
		{"messages?opcode=", 422, conversion("opcode")},
		{"messages?source=nobody", 422, conversion("source")},
		{"messages?only_externals=yes", 422, conversion("only_externals")},
		{"messages?msg_hash=", 422, element(0, "msg_hash")},
		{"traces?msg_hash=", 422, element(0, "msg_hash")},
		{"events?msg_hash=&msg_hash[]=", 422, element(0, "msg_hash")},
		{"actions?msg_hash=&trace_id=", 422, element(0, "msg_hash")},
		{"transactionsByMessage", 422, "at least one of msg_hash, body_hash, opcode should be specified"},
		{"transactionsByMessage?source=null", 422, "at least one of msg_hash, body_hash, opcode should be specified"},
		{"transactionsByMessage?opcode=1&direction=up", 422, "direction should be one of: in, out"},
		{"adjacentTransactions", 404, "adjacent transactions not found"},
		{"adjacentTransactions?hash=" + zeros, 404, "adjacent transactions not found"},
		{"adjacentTransactions?hash=x", 422, conversion("hash")},
		{"addressBook", 422, "at least 1 address required"},
		{"addressBook?address=", 422, "at least 1 address required"},
		{"nothing", 404, "Cannot GET /api/v3/nothing"},
	}
	for _, c := range cases {
		got := s.ask("/api/v3/" + c.path)
		if got.Code != c.status {
			t.Errorf("%.80s: status %d, want %d: %.200s", c.path, got.Code, c.status, got.Body)
			continue
		}
		s.isError(t, c.path, got, c.text)
	}
}

// isError checks the shape of errors.
func (s *server) isError(t *testing.T, path string, got *httptest.ResponseRecorder, text string) {
	t.Helper()
	var body struct {
		OK    *bool
		Code  int
		Error string
	}
	if err := json.Unmarshal(got.Body.Bytes(), &body); err != nil || body.OK == nil || *body.OK || body.Code != got.Code || body.Error != text {
		t.Errorf("%.80s: %s, want %q", path, got.Body, text)
	}
	if got.Header().Get("Content-Type") != "application/json" || got.Header().Get("X-API-Version") == "" {
		t.Errorf("%.80s: headers %v", path, got.Header())
	}
}

func tooManyAndTooLongParametersAreRefused(t *testing.T, w *world, s *server) {
	var hashes strings.Builder
	for i := range 1025 {
		fmt.Fprintf(&hashes, "hash=%064x&", i)
	}
	got := s.ask("/api/v3/transactions?" + hashes.String())
	if got.Code != 422 {
		t.Errorf("1025 hashes: %d", got.Code)
	}
	s.isError(t, "1025 hashes", got, `"hash" has 1025 values, at most 1024 are allowed`)
	if got := s.ask("/api/v3/transactions?" + strings.Replace(hashes.String(), "hash=", "none=", 1)); got.Code != 200 {
		t.Errorf("1024 hashes: %d %s", got.Code, got.Body)
	}
	got = s.ask("/api/v3/transactions?account=" + strings.Repeat("0", v3.MaxQueryBytes))
	if got.Code != 414 {
		t.Errorf("a megabyte: %d", got.Code)
	}
	s.isError(t, "a megabyte", got, "query string is longer than 1048576 bytes")
}

func pathsAndMethods(t *testing.T, w *world, s *server) {
	for _, path := range []string{"/api/v3/masterchainInfo", "/API/V3/MasterchainINFO", "/api/v3/masterchaininfo/"} {
		if got := s.ask(path); got.Code != 200 || !strings.Contains(got.Body.String(), fmt.Sprintf(`"seqno":%d`, w.watermark)) {
			t.Errorf("%s: %d", path, got.Code)
		}
	}
	head := s.send(httptest.NewRequest(http.MethodHead, "/api/v3/masterchainInfo", nil))
	if head.Code != 200 || head.Body.Len() != 0 || head.Header().Get("Content-Length") == "0" {
		t.Errorf("HEAD: %d, %d bytes", head.Code, head.Body.Len())
	}
	post := s.send(httptest.NewRequest(http.MethodPost, "/api/v3/transactions", strings.NewReader("{}")))
	if post.Code != 405 {
		t.Errorf("POST: %d", post.Code)
	}
	s.isError(t, "POST", post, "Method Not Allowed")
	if got := s.ask("/api/v3"); got.Code != 302 || got.Header().Get("Location") != "/api/docs#v3" {
		t.Errorf("the layer itself: %d to %q, want 302 to its pages", got.Code, got.Header().Get("Location"))
	}
	if got := s.ask("/api/v2/getMasterchainInfo"); got.Code != 542 || !strings.Contains(got.Body.String(), "no workers available") {
		t.Errorf("without lite servers: %d %s, want 542", got.Code, got.Body)
	}
	for _, path := range []string{"/nothing", "/api/v2/nothing", "/api/v3/%3Cscript%3E"} {
		if got := s.ask(path); got.Code != 404 || strings.Contains(got.Body.String(), "<") {
			t.Errorf("%s: %d %s", path, got.Code, got.Body)
		}
	}
}

func headersOfAnswers(t *testing.T, w *world, s *server) {
	got := s.ask("/api/v3/blocks?limit=1")
	for name, want := range map[string]string{"Content-Type": "application/json", "X-Api-Version": "1.2.10", "Server-Timing": "app;dur=", "Warning": ""} {
		if value := got.Header().Get(name); !strings.HasPrefix(value, want) || want == "" && value != "" {
			t.Errorf("%s: %q, want %q", name, value, want)
		}
	}
	got = s.ask(`/api/v3/blocks?_=123&limt=5&limt=6&account%5B0%5D=x&a%22b%0d%0aX=1&api_key=&x_timeout=100&cursor=`)
	if want := `299 - "unknown parameters were ignored: _, limt, account[0], a?b??X"`; got.Code != 200 || got.Header().Get("Warning") != want {
		t.Errorf("%d, Warning %s", got.Code, got.Header().Get("Warning"))
	}
}

func requestOptions(t *testing.T, w *world, s *server) {
	book := func(query string, header ...string) int {
		r := httptest.NewRequest(http.MethodGet, "/api/v3/transactions?limit=5"+query, nil)
		if len(header) > 0 {
			r.Header.Set(header[0], header[1])
		}
		w := s.send(r)
		var a answer
		if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || w.Code != 200 || a.AddressBook == nil {
			t.Fatalf("%s %v: %d %v", query, header, w.Code, err)
		}
		return len(a.AddressBook)
	}
	if book("") == 0 || book("&x_no_address_book=false") == 0 || book("&x_no_address_book=maybe") == 0 {
		t.Error("the address book is missing")
	}
	if book("&x_no_address_book=1") != 0 || book("", "X-No-Address-Book", "true") != 0 {
		t.Error("the address book is there")
	}
	if book("&x_no_address_book=1", "X-No-Address-Book", "false") == 0 {
		t.Error("the header must win")
	}
	if book("&x_no_address_book=1", "X-No-Address-Book", "yes") != 0 {
		t.Error("a header that cannot be read wins over its query twin")
	}
	book("&x_timeout=soon", "X-Timeout", "-5")
}

func everyAddressOfAnAnswerIsInTheAddressBook(t *testing.T, w *world, s *server) {
	for _, path := range []string{"transactions?limit=1000", "messages?limit=1000"} {
		got := s.get("/api/v3/" + path)
		body := s.ask("/api/v3/" + path).Body.String()
		found := 0
		for _, name := range []string{"account", "source", "destination"} {
			for _, part := range strings.Split(body, `"`+name+`":"`)[1:] {
				address := part[:strings.IndexByte(part, '"')]
				if _, there := got.AddressBook[address]; !there {
					t.Fatalf("%s: %s is missing", path, address)
				}
				found++
			}
		}
		if found < 100 {
			t.Errorf("%s: %d addresses", path, found)
		}
	}
}

func addressBookKeepsTheSpelling(t *testing.T, w *world, s *server) {
	got := s.ask("/api/v3/addressBook?address=0:" + strings.Repeat("0", 64) + "&address[]=-1:" + zeros + ",junk&address=addr_none&address=" +
		url.QueryEscape("EQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAM9c"))
	row := func(key, form string) string {
		return `"` + key + `":{"user_friendly":` + form + `,"domain":null,"interfaces":[]}`
	}
	const basechain = `"UQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAJKZ"`
	want := "{" + row("-1:"+zeros, `"Uf8AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAG3R"`) + "," + row("0:"+zeros, basechain) + "," +
		row("EQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAM9c", basechain) + "," + row("addr_none", `"addr_none"`) + "," + row("junk", "null") + "}"
	if got.Body.String() != want {
		t.Errorf("got  %s\nwant %s", got.Body, want)
	}
	if got := s.ask("/api/v3/addressBook?address=junk"); got.Code != 422 {
		t.Errorf("nothing but junk: %d %s", got.Code, got.Body)
	}
}

func emptyAndRepeatedValues(t *testing.T, w *world, s *server) {
	all := len(s.get("/api/v3/transactions?limit=1000").Transactions)
	for query, want := range map[string]int{
		"":                      10,
		"limit=":                1,
		"limit=0":               1,
		"limit=-5":              1,
		"limit=5&limit=3":       3,
		"limit=3&offset=":       3,
		"limit=3&offset=-1":     3,
		"lt=&limit=3":           0,
		"account=&limit=3":      0,
		"hash=&limit=3":         3,
		"start_utime=0.9":       10,
		"end_utime=1e3":         0,
		"start_utime=1e30":      0,
		"end_utime=99999999999": 10,
		"start_lt=0":            10,
		"limit=1000&offset=5":   min(1000, all-5),
		"offset=100000":         0,
		"exclude_account=0:" + zeros + "&limit=3": 3,
	} {
		if got := len(s.get("/api/v3/transactions?" + query).Transactions); got != want {
			t.Errorf("%s: %d transactions, want %d", query, got, want)
		}
	}
}

func TestOthersCanMountPaths(t *testing.T) {
	t.Parallel()
	w := smallWorld(t)
	c, err := New(DefaultConfiguration(), Dependencies{Report: w.report(t), ClickHouse: w.reader, Mount: func(e *gin.Engine) {
		e.GET("/healthz", func(c *gin.Context) { c.String(200, "fine") })
	}})
	if err != nil {
		t.Fatal(err)
	}
	got := (&server{TB: t, component: c}).ask("/healthz/")
	if got.Code != 200 || got.Body.String() != "fine" {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}

// The check asks for one small row: that is not too heavy.
func TestACheckThatGetsNoAnswerInItsTimeSaysSo(t *testing.T) {
	t.Parallel()
	s := smallWorld(t).serve(t, nil)
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
	defer cancel()
	if err := s.component.Ready(ctx); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("the check: %v", err)
	}
}

func TestBeforeTheFirstBundleNothingIsServed(t *testing.T) {
	t.Parallel()
	w := &world{engine: enginetest.UnmergedTables(t)}
	w.connect(t)
	c, err := New(DefaultConfiguration(), Dependencies{Report: w.report(t), ClickHouse: w.reader})
	if err != nil {
		t.Fatal(err)
	}
	if c.Ready(t.Context()) == nil || c.Watermark() != 0 {
		t.Error("ready before the start")
	}
	s := &server{TB: t, component: c}
	got := s.ask("/api/v3/masterchainInfo")
	if got.Code != 500 {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	s.isError(t, "masterchainInfo", got, "internal server error: no masterchain block is indexed yet")
}

package openapi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tonscribe/devnet"
	"tonscribe/internal/lifetime/lifetimetest"
	"tonscribe/internal/report"
	"tonscribe/query"
	"tonscribe/test/support/clienttest"
	"tonscribe/test/support/harness"
	"tonscribe/test/support/litetest"
	"tonscribe/test/support/openapitest"
)

// neverSeen are declared responses that this test cannot make a server give, and
// why.
var neverSeen = map[string]string{
	"POST /api/v2/sendBocReturnHashNoError 504":  "its failures are 400; 504 is for requests that wait too long for their turn",
	"GET /api/v3/masterchainBlockShardState 422": onlyHeavy,
	"GET /api/v3/stats/accountsByBalance 422":    onlyHeavy,
	"GET /api/v3/masterchainInfo 422":            onlyHeavy,
	"GET /api/v3/balanceChanges 422":             "422 is for traces of more than 10,000 transactions, which a devnet does not have so soon",
}

// onlyBusy is the status of requests that others keep from being worked on, which a
// test of package query brings about.
const onlyBusy = " 503"

const onlyHeavy = "it reads no parameter that can be wrong; 422 is for queries that are too heavy for the database"

// everyDeclaredAnswerIsSeen brings every response about that the documents
// declare, and holds it against them.
func everyDeclaredAnswerIsSeen(t *testing.T, s *server) {
	f := s.learn(t)
	known := s.exampleRequests(t, f)
	var list []*call
	for _, layer := range []string{"v2", "v3"} {
		for _, o := range s.documents[layer].Operations() {
			name := layer + "/" + strings.TrimPrefix(o.Path, "/api/"+layer+"/")
			if known[name] == nil {
				known[name] = plainRequest(o, f) // of the GET, which comes before the POST of the same path
			}
			list = append(list, &call{o, known[name]})
		}
	}
	foreign, anonymous, broken := s.withKey(s.foreignKey(t)), s.withKey(""), s.withKey("unknown")
	s.each(t, list, func(c *call) {
		if c.Path == "/api/v3/pendingTransactions" { // found only while something is to come
			s.seeComing(t, c)
			return
		}
		s.expect(t, c.sends(), http.StatusOK)
	})
	s.each(t, list, func(c *call) { broken.expect(t, c.sends(), http.StatusUnauthorized) })
	s.each(t, list, func(c *call) { foreign.expect(t, c.sends(), http.StatusForbidden) })
	s.each(t, list, func(c *call) { anonymous.expectSoon(t, c.sends(), http.StatusTooManyRequests) })
	s.each(t, list, func(c *call) {
		for _, r := range c.malformed() {
			s.expect(t, r, 0)
		}
	})
	coded := s.withKey(s.key)
	coded.coding = "gzip"
	s.each(t, list, func(c *call) {
		if c.Method == http.MethodPost {
			coded.expect(t, c.sends(), http.StatusUnsupportedMediaType)
		}
	})
	for _, r := range s.particular(t, f) {
		s.expect(t, r.shot, r.status)
	}
	noDatabase := s.inside(t, func(*query.Configuration) {})
	s.each(t, list, func(c *call) { noDatabase.withKey(s.key).expect(t, c.sends(), http.StatusInternalServerError) })
	s.each(t, list, func(c *call) { noDatabase.withKey("").expect(t, c.sends(), 0) })
	silent := s.inside(t, func(c *query.Configuration) {
		c.V2.Lite.Config = litetest.GlobalConfig(t, nil, nil, litetest.Listen(t, func(context.Context, litetest.Request) any { return nil }))
		c.V2.Lite.Proofs, c.V2.Deadline = "off", 300*time.Millisecond
	})
	s.each(t, list, func(c *call) { silent.withKey("").expect(t, c.aboutTheNode().sends(), 0) })

	var unseen []string
	for _, layer := range []string{"v2", "v3"} {
		for _, response := range s.documents[layer].Unseen() {
			if neverSeen[response] == "" && !strings.HasSuffix(response, onlyBusy) {
				unseen = append(unseen, response)
			}
		}
	}
	for _, response := range unseen {
		t.Errorf("%s is declared, but no answer was seen", response)
	}
}

// seeComing sends messages of one owner after another until transactions of it are seen
// before they come.
func (s *server) seeComing(t *testing.T, c *call) {
	for owner := comers["v3/pendingTransactions"]; owner < devnet.Owners; owner++ {
		if !s.foresee(t, owner) {
			continue
		}
		c.sent = map[string]any{"account": []string{devnet.OwnerOf(seed, owner).Address(0).String()}}
		r := c.sends()
		answer := s.send(t, r.method, r.target, r.kind, r.body)
		if answer.Status != http.StatusOK {
			continue
		}
		if err := s.documents["v3"].Check(answer); err != nil {
			t.Error(err)
		}
		return
	}
	t.Errorf("%s: whatever is sent comes before it is seen", c.Path)
}

// call is an operation and parameters that are right.
type call struct {
	*openapitest.Operation
	sent map[string]any
}

// shot is a request.
type shot struct{ method, target, kind, body string }

func (c *call) sends() shot {
	if c.Method == http.MethodPost {
		body, _ := json.Marshal(c.sent) // maps of texts and numbers have a form
		return shot{c.Method, c.Path, "application/json", string(body)}
	}
	values := url.Values{}
	for name, value := range c.sent {
		list, ok := value.([]string)
		if !ok {
			list = []string{text(value)}
		}
		values[name] = list
	}
	return shot{method: c.Method, target: c.Path + "?" + values.Encode()}
}

// aboutTheNode makes endpoints that answer from the index ask lite servers.
func (c *call) aboutTheNode() *call {
	if !slices.ContainsFunc(c.Query, func(p openapitest.Parameter) bool { return p.Name == "use_v2" }) {
		return c
	}
	sent := map[string]any{"use_v2": true}
	for name, value := range c.sent {
		sent[name] = value
	}
	return &call{c.Operation, sent}
}

// malformed are requests that are refused for their form.
func (c *call) malformed() []shot {
	if c.Method == http.MethodPost {
		return []shot{
			{c.Method, c.Path, "application/json", "["},
			{c.Method, c.Path, "application/json", `{"a":"` + strings.Repeat("x", 1<<20) + `"}`},
			{c.Method, c.Path + "?a=" + strings.Repeat("x", 1<<20), "application/json", "{}"},
		}
	}
	values := url.Values{}
	for _, p := range c.Query {
		values.Set(p.Name, "\x00")
	}
	return []shot{
		{method: c.Method, target: c.Path + "?" + values.Encode()},
		{method: c.Method, target: c.Path + "?a=" + strings.Repeat("x", 1<<20)},
		{method: c.Method, target: c.Path + "?" + tooMany(c.Query)},
	}
}

// tooMany repeats every parameter more often than any list may be long.
func tooMany(list []openapitest.Parameter) string {
	values := url.Values{}
	for _, p := range list {
		for range 1100 {
			values.Add(p.Name, "1")
		}
	}
	return values.Encode()
}

// wanted is a request and the status that it gets.
type wanted struct {
	shot
	status int
}

// particular are requests for what only some operations answer.
func (s *server) particular(t *testing.T, f facts) []wanted {
	t.Helper()
	post := func(path string, status int, body map[string]any) wanted {
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		return wanted{shot{http.MethodPost, "/api/" + path, "application/json", string(text)}, status}
	}
	get := func(path string, status int) wanted {
		return wanted{shot{method: http.MethodGet, target: "/api/" + path}, status}
	}
	wallet := f.first(t, "address")
	nested := func(depth int) any { // what is in it comes back from an account without code
		entry := map[string]any{"@type": "tvm.stackEntryTuple", "tuple": map[string]any{"@type": "tvm.tuple", "elements": []any{}}}
		for range depth {
			entry = map[string]any{"@type": "tvm.stackEntryTuple", "tuple": map[string]any{"@type": "tvm.tuple", "elements": []any{entry}}}
		}
		return entry
	}
	noCell := map[string]any{"data": map[string]any{"b64": "", "len": 5}, "refs": []any{}}
	list := []wanted{
		get("v2/getTokenData?address="+rawWallet, http.StatusConflict),
		post("v2/getTokenData", http.StatusConflict, map[string]any{"address": rawWallet}),
		post("v2/sendBocReturnHashNoError", http.StatusBadRequest, map[string]any{"boc": "AAAA"}),
		post("v2/sendCellSimple", http.StatusBadRequest, map[string]any{"cell": noCell}),
		post("v2/sendQuerySimple", http.StatusBadRequest, map[string]any{"address": wallet, "body": noCell}),
		post("v2/estimateFeeSimple", http.StatusBadRequest, map[string]any{"address": wallet, "body": noCell}),
		post("v2/runGetMethod", 542, map[string]any{"address": wallet, "method": "seqno", "stack": []any{[]any{"tvm.Builder", ""}}}),
	}
	list = append(list,
		post("v2/runGetMethod", 533, map[string]any{"address": rawWallet, "method": "seqno", "stack": []any{[]any{"tuple", nested(100).(map[string]any)["tuple"]}}}),
		post("v2/runGetMethodStd", 533, map[string]any{"address": rawWallet, "method": "seqno", "stack": []any{nested(256)}}),
		get("v3/adjacentTransactions?hash="+strings.Repeat("0", 64), http.StatusNotFound),
		get("v3/masterchainBlockShards?seqno=1000000000", http.StatusNotFound),
		get("v3/transactions?mc_seqno=1000000000", http.StatusNotFound),
		get("v3/transactionsByMasterchainBlock?seqno=1000000000", http.StatusNotFound),
		get("v3/traces?mc_seqno=1000000000", http.StatusNotFound),
		get("v3/events?mc_seqno=1000000000", http.StatusNotFound),
		get("v3/actions?mc_seqno=1000000000", http.StatusNotFound),
		get("v3/balanceChanges", http.StatusBadRequest),
		get("v3/walletInformation?address="+f.first(t, "jetton"), http.StatusConflict),
		get("v3/wallet?address="+f.first(t, "jetton"), http.StatusConflict),
	)
	list = append(list, get("v3/pendingTransactions?account="+rawWallet, http.StatusNotFound))
	for _, name := range []string{"tryLocateTx", "tryLocateResultTx", "tryLocateSourceTx"} {
		list = append(list,
			get("v2/"+name+"?source="+rawWallet+"&destination="+rawWallet+"&created_lt=1", http.StatusNotFound),
			post("v2/"+name, http.StatusNotFound, map[string]any{"source": rawWallet, "destination": rawWallet, "created_lt": 1}),
		)
	}
	for _, w := range slices.Clone(list) { // the same as JSON-RPC
		if name, ok := strings.CutPrefix(w.target, "/api/v2/"); ok && w.method == http.MethodPost {
			list = append(list, post("v2/jsonRPC", w.status, map[string]any{"method": name, "params": json.RawMessage(w.body), "id": "1"}))
		}
	}
	return list
}

// rawWallet is an account of no kind.
const rawWallet = "0:00000000000000000000000000000000000000000000000000000000000000AA"

// expect sends a request and holds the answer against the document. A status of
// 0 is any.
func (s *server) expect(t *testing.T, r shot, status int) {
	s.expectOnce(t, r, status, func(answer openapitest.Answer) bool { return !tooBusy(answer) })
}

// expectSoon sends a request until it gets the status.
func (s *server) expectSoon(t *testing.T, r shot, status int) {
	s.expectOnce(t, r, status, func(answer openapitest.Answer) bool { return answer.Status == status })
}

// expectOnce sends a request until an answer counts.
func (s *server) expectOnce(t *testing.T, r shot, status int, counts func(openapitest.Answer) bool) {
	answer, err := s.until(t, r, counts)
	if err == nil {
		err = s.documents[layerOf(r.target)].Check(answer)
	}
	switch {
	case err != nil:
		t.Errorf("%.200s: %v", r.body, err)
	case status != 0 && answer.Status != status:
		t.Errorf("%s %.200s %.200s: %d %.300s, want %d", r.method, r.target, r.body, answer.Status, answer.Text, status)
	}
}

// each does something with every operation, some of them at a time.
func (s *server) each(t *testing.T, list []*call, do func(*call)) {
	t.Helper()
	work := make(chan *call)
	var group sync.WaitGroup
	for range fuzzWorkers {
		group.Go(func() {
			for c := range work {
				do(c)
			}
		})
	}
	for _, c := range list {
		work <- c
	}
	close(work)
	group.Wait()
}

func (s *server) withKey(key string) *server {
	other := *s
	other.key = key
	return &other
}

// foreignKey is good for another network.
func (s *server) foreignKey(t *testing.T) string {
	t.Helper()
	out, err := exec.Command(harness.Binary(t), "keys", "add", "foreign", "--networks", "testnet", "--data", s.data).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// inside is the API in this process, on a database that is not there.
func (s *server) inside(t *testing.T, change func(*query.Configuration)) *server {
	t.Helper()
	c := query.DefaultConfiguration()
	c.Auth.AnonymousRate = 0
	change(&c)
	client := clienttest.ClickHouse(t, "clickhouse://nobody@"+harness.FreeAddress(t)+"/nothing")
	component, err := query.New(c, query.Dependencies{Report: report.Silent(), ClickHouse: client})
	if err != nil {
		t.Fatal(err)
	}
	lifetimetest.Run(t, component)
	server := httptest.NewServer(component.Handler())
	t.Cleanup(server.Close)
	other := *s
	other.base = server.URL
	return &other
}

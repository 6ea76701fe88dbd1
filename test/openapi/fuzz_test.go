package openapi

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tonscribe/test/support/openapitest"
)

// How much is sent.
const (
	fuzzSeed    = 20
	fuzzWorkers = 8
	shortRounds = 50 // of every operation
	longFuzz    = 5 * time.Minute
)

// fuzz sends to every operation of the documents what they allow, and what they
// do not.
type fuzz struct {
	*server
	*generator
	t *testing.T

	mu      sync.Mutex
	counts  map[int]int // by status
	slowest time.Duration
	slow    string
	odd     map[string]string // texts of failures and a request that got each
}

func whateverIsSentGetsAnAnswerThatTheDocumentAllows(t *testing.T, s *server) {
	f := &fuzz{server: s, generator: &generator{facts: s.learn(t)}, t: t, counts: map[int]int{}, odd: map[string]string{}}
	var list []*openapitest.Operation
	for _, layer := range []string{"v2", "v3"} {
		list = append(list, s.documents[layer].Operations()...)
	}
	f.operations = list
	until := time.Now()
	if os.Getenv("TONSCRIBE_TEST_LONG") != "" {
		until = until.Add(longFuzz)
	}
	for round := 0; round < shortRounds || time.Now().Before(until); round++ {
		f.round(list, uint64(round))
		if t.Failed() {
			break
		}
	}
	total := 0
	for _, n := range f.counts {
		total += n
	}
	t.Logf("%d requests to %d operations, by status %v; the slowest took %s: %s", total, len(list), f.counts, f.slowest.Round(time.Millisecond), f.slow)
	for text, request := range f.odd {
		t.Logf("%s\n\t%s", text, request)
	}
	f.isWell()
}

// round sends one request to every operation.
func (f *fuzz) round(list []*openapitest.Operation, round uint64) {
	work := make(chan int)
	var group sync.WaitGroup
	for range fuzzWorkers {
		group.Go(func() {
			for i := range work {
				f.one(list[i], rand.New(rand.NewPCG(fuzzSeed+round, uint64(i))))
			}
		})
	}
	for i := range list {
		work <- i
	}
	close(work)
	group.Wait()
}

func (f *fuzz) one(o *openapitest.Operation, chance *rand.Rand) {
	target := o.Path
	if query := f.query(o, chance); query != "" {
		target += "?" + query
	}
	kind, body := "", ""
	if o.Method == http.MethodPost {
		kind, body = f.body(o, chance)
	}
	began := time.Now()
	answer, err := f.try(f.t, o.Method, target, kind, body)
	took := time.Since(began)
	if err != nil {
		f.t.Errorf("no answer after %s: %v", took.Round(time.Millisecond), err)
		return
	}
	if err := f.documents[layerOf(o.Path)].Check(answer); err != nil {
		f.t.Errorf("%v\nbody %.500q", err, body)
	}
	f.judge(o, answer, took)
}

// said are failures that a lite server or the virtual machine told of a request
// that was well-formed; others have to be named by the document.
var said = regexp.MustCompile(`^(LITE_SERVER_[A-Z]+|INVALID_BAG_OF_CELLS|CommonMsgInfo tag is not|Result stack )`)

// isTold reports whether a failure is one of the contract's own.
func (f *fuzz) isTold(o *openapitest.Operation, status int, text string) bool {
	for _, named := range f.documents[layerOf(o.Path)].Texts(o, strconv.Itoa(status)) {
		before, _, open := strings.Cut(named, "<")
		if named != "internal server error" && (text == named || open && before != "" && strings.HasPrefix(text, before)) {
			return true
		}
	}
	return said.MatchString(text)
}

// internal are signs of a text that was not meant for callers.
var internal = regexp.MustCompile(`(?i)goroutine|panic|runtime error|\.go:\d|/root/|/home/|/tmp/|/work/|clickhouse|db::exception|\bselect\b.*\bfrom\b|code: \d+|dial tcp|127\.0\.0\.1|context (canceled|deadline)|strconv|json: |invalid character '|unexpected EOF|cannot unmarshal|0xc000|tonutils|%!`)

func (f *fuzz) judge(o *openapitest.Operation, answer openapitest.Answer, took time.Duration) {
	var body struct{ Error string }
	_ = json.Unmarshal(answer.Text, &body) // what is no JSON was found before
	request := fmt.Sprintf("%s %.400s %.400q", answer.Method, answer.Path, answer.Body)
	switch {
	case answer.Status == http.StatusGatewayTimeout && body.Error == "LITE_SERVER_NETWORK timeout":
	case answer.Status >= http.StatusInternalServerError && !f.isTold(o, answer.Status, body.Error):
		f.t.Errorf("%d %s\n%s", answer.Status, answer.Text, request)
	}
	if answer.Status != http.StatusOK && internal.MatchString(withoutInput(body.Error, answer)) {
		f.t.Errorf("an internal text: %d %s\n%s", answer.Status, answer.Text, request)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts[answer.Status]++
	if took > f.slowest {
		f.slowest, f.slow = took, request
	}
	if answer.Status >= http.StatusInternalServerError && len(f.odd) < 40 {
		f.odd[fmt.Sprintf("%d %.80s", answer.Status, body.Error)] = request
	}
}

// withoutInput is a text without what the caller wrote himself.
func withoutInput(text string, answer openapitest.Answer) string {
	for _, hostile := range hostileTexts {
		if len(hostile) > 3 {
			text = strings.ReplaceAll(text, hostile, "")
		}
	}
	return text
}

// isWell says that the process has taken it all.
func (f *fuzz) isWell() {
	if !f.process.Running() {
		f.t.Fatal("the process has ended")
	}
	for line := range strings.Lines(f.process.Output()) {
		if strings.Contains(line, "request failed") || strings.Contains(line, `"level":"error"`) || strings.Contains(line, "panic") {
			f.t.Errorf("logged: %.1500s", line)
		}
	}
	f.get(f.t, "/api/v2/getMasterchainInfo")
	f.get(f.t, "/api/v3/masterchainInfo")
}

// generator makes requests.
type generator struct {
	facts      facts
	operations []*openapitest.Operation
}

func pick[T any](chance *rand.Rand, list []T) T { return list[chance.IntN(len(list))] }

// query has the required parameters most of the time and some of the others.
func (g *generator) query(o *openapitest.Operation, chance *rand.Rand) string {
	var parts []string
	for _, p := range o.Query {
		if rate := 0.25; chance.Float64() > rate && (!p.Required || chance.IntN(12) == 0) {
			continue
		}
		for range 1 + chance.IntN(2)*chance.IntN(2)*chance.IntN(3) {
			value := url.QueryEscape(g.text(p, chance))
			if chance.IntN(40) == 0 {
				value = pick(chance, []string{"%", "%zz", "%00", "%ff%fe", "a%0d%0ab", "+", ";", "%E2%82"})
			}
			parts = append(parts, url.QueryEscape(p.Name)+"="+value)
		}
	}
	if chance.IntN(30) == 0 {
		parts = append(parts, "unknown=1", "", "=", "&&&")
	}
	return strings.Join(parts, "&")
}

// text is a value of a query.
func (g *generator) text(p openapitest.Parameter, chance *rand.Rand) string {
	values := g.facts.of(p.Name)
	switch n := chance.IntN(10); {
	case n < 5 && len(values) > 0:
		return pick(chance, values)
	case n < 5 && p.Example != nil:
		return fmt.Sprint(p.Example)
	case n < 7:
		return g.allowed(p.Schema, chance)
	case n < 8:
		return pick(chance, edges)
	}
	return pick(chance, hostileTexts)
}

// edges are numbers at the ends of ranges.
var edges = []string{
	"0", "1", "-1", "-0", "2", "10", "255", "1000", "1001", "1024", "10000", "10001", "2147483647", "2147483648", "-2147483648", "-2147483649", "4294967295", "4294967296",
	"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616", "99999999999999999999999999",
	"1.5", "1e3", "1e400", "0x10", "+1", "007", "NaN", "Infinity",
}

var hostileTexts = []string{
	"", " ", "null", "true", "false", "undefined", "a", "%", "\x00", "a\x00b", "\r\n", "'", "\"", "\\", "`", ";", "--", "' OR '1'='1", "1; DROP TABLE blocks", "') UNION SELECT 1 FROM system.tables --",
	"{p0:String}", "${7*7}", "{{7*7}}", "<script>alert(1)</script>", "../../../../etc/passwd", "🦀", "\xff\xfe\xfd", "\u202e", strings.Repeat("A", 4000), strings.Repeat("9", 4000), strings.Repeat(",", 1100), strings.Repeat("0,", 1100),
	"[]", "{}", "[1,2]", "0:", ":", "0:zz", "-1:" + strings.Repeat("F", 64), "0:" + strings.Repeat("f", 64), "127:" + strings.Repeat("0", 64), "128:" + strings.Repeat("0", 64), "-129:" + strings.Repeat("0", 64), "99999999999:" + strings.Repeat("0", 64),
	strings.Repeat("0", 64), strings.Repeat("A", 44), strings.Repeat("A", 43) + "=", strings.Repeat("-_", 24), "0x" + strings.Repeat("e", 64), "addr_none",
	"te6cckEBAQEAAgAAAEysuc0=", "te6ccgEBAQEAAgAAAA==", "te6cck", "AAAA", "=", "====", "asc", "desc", "in", "out", "ton.ton", strings.Repeat("a.", 300), "seqno", "-13", "85143",
}

// allowed is a value that a schema allows, as a text.
func (g *generator) allowed(schema map[string]any, chance *rand.Rand) string {
	if list, ok := schema["enum"].([]any); ok {
		return fmt.Sprint(pick(chance, list))
	}
	if list, ok := schema["anyOf"].([]any); ok {
		return g.allowed(pick(chance, list).(map[string]any), chance)
	}
	switch fmt.Sprint(schema["type"]) {
	case "boolean":
		return pick(chance, []string{"true", "false", "1", "0"})
	case "integer", "number":
		return fmt.Sprint(chance.Int64N(1 << chance.IntN(40)))
	case "array":
		items, _ := schema["items"].(map[string]any)
		var list []string
		for range chance.IntN(4) {
			list = append(list, g.allowed(items, chance))
		}
		return strings.Join(list, ",")
	}
	if pattern, _ := schema["pattern"].(string); strings.Contains(pattern, "64}") {
		return pick(chance, g.facts.of(pick(chance, []string{"address", "hash"})))
	}
	return fmt.Sprint(chance.Uint64() >> chance.IntN(64))
}

// body is the content type and the body of a POST.
func (g *generator) body(o *openapitest.Operation, chance *rand.Rand) (kind, body string) {
	kind = "application/json"
	object := g.object(o, chance)
	if strings.HasSuffix(o.ID, "jsonRPC") {
		if inner := pick(chance, g.operations); inner.Method == http.MethodPost && layerOf(inner.Path) == "v2" && chance.IntN(4) > 0 {
			object = map[string]any{
				"method": strings.TrimPrefix(inner.Path, "/api/v2/"), "params": g.object(inner, chance),
				"id": pick(chance, []any{"1", 7, nil, -1, "\x00", strings.Repeat("x", 5000)}),
			}
		}
	}
	encoded, err := json.Marshal(object)
	if err != nil {
		encoded = []byte("{}")
	}
	body = string(encoded)
	switch chance.IntN(20) {
	case 0:
		body = body[:chance.IntN(len(body))]
	case 1:
		body = pick(chance, hostileBodies)
	case 2:
		kind = pick(chance, []string{"", "text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-16", "multipart/form-data", "\u00e9"})
	case 3:
		at := chance.IntN(len(body))
		body = body[:at] + string([]byte{byte(chance.IntN(256))}) + body[at+1:]
	}
	return kind, body
}

var hostileBodies = []string{
	"", "null", "[]", "{}", "7", `"x"`, "{", `{"address":}`, "\xef\xbb\xbf{}", "\xff\xfe", strings.Repeat("[", 3000), strings.Repeat(`{"a":`, 3000), `{"a":1,"a":2}`,
	strings.Repeat(" ", 1<<20) + "{}", `{"address":"` + strings.Repeat("x", 1<<20) + `"}`, `{"` + strings.Repeat("k", 100000) + `":1}`, "{}{}", "{} x",
}

// object are the members of a body.
func (g *generator) object(o *openapitest.Operation, chance *rand.Rand) map[string]any {
	object := map[string]any{}
	names := make([]string, 0, len(o.Body))
	for name := range o.Body {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		p := o.Body[name]
		if chance.IntN(3) > 0 || p.Required && chance.IntN(12) > 0 {
			object[name] = g.value(p, chance)
		}
	}
	if chance.IntN(30) == 0 {
		object["unknown"] = 1
	}
	return object
}

// value is a member of a body.
func (g *generator) value(p openapitest.Parameter, chance *rand.Rand) any {
	n := chance.IntN(10)
	switch {
	case n < 4 && p.Example != nil:
		return p.Example
	case p.Name == "stack" && n < 8:
		return g.stack(chance)
	case n < 8 && (p.Name == "cell" || p.Name == "body" && fmt.Sprint(p.Schema["type"]) == "object"):
		return g.cell(chance, 0)
	case n < 8 && p.Name == "method":
		return pick(chance, []any{"seqno", "get_jetton_data", "get_wallet_data", "get_nft_data", "recv_internal", 85143, 0, -1, -2, "0", "", "\x00", 1 << 40})
	case n < 5 && fmt.Sprint(p.Schema["type"]) == "string", n < 5 && p.Schema["anyOf"] != nil:
		return g.text(p, chance)
	case n < 7:
		return g.mutated(chance)
	}
	return pick(chance, hostileValues)
}

var hostileValues = []any{
	nil, true, false, 0, 1, -1, 1.5, json.RawMessage("1e400"), json.RawMessage("-0"), json.RawMessage("99999999999999999999999999999999999999"), "", " ", "\x00", []any{}, map[string]any{},
	[]any{nil}, []any{[]any{}}, []any{1, "a", nil}, map[string]any{"a": nil}, json.RawMessage(strings.Repeat("[", 500) + strings.Repeat("]", 500)), strings.Repeat("A", 100000), "1", "-1", "0x10",
	map[string]any{"@type": "tvm.stackEntryNumber"}, map[string]any{"data": map[string]any{"b64": "", "len": 5}, "refs": []any{}}, map[string]any{"data": map[string]any{"b64": "AAAA", "len": -1}},
}

// mutated is a real bag of cells with a byte changed, or without its end.
func (g *generator) mutated(chance *rand.Rand) any {
	boc := []byte(pick(chance, g.facts.of("boc")))
	switch chance.IntN(3) {
	case 0:
		boc[chance.IntN(len(boc))] = "ABCDEFGHabcdefgh0123456789+/"[chance.IntN(28)]
	case 1:
		boc = boc[:chance.IntN(len(boc))&^3]
	}
	return string(boc)
}

// stack is a stack of either form.
func (g *generator) stack(chance *rand.Rand) any {
	list := []any{}
	typed := chance.IntN(2) == 0
	for range chance.IntN(5) {
		if typed {
			list = append(list, g.typedEntry(chance, 0))
			continue
		}
		label := pick(chance, []string{"num", "int", "cell", "slice", "tvm.Cell", "tvm.Slice", "tuple", "list", "tvm.Tuple", "no such"})
		value := pick(chance, []any{"0x1f", "-5", 7, g.mutated(chance), map[string]any{"bytes": g.mutated(chance)}, g.cell(chance, 0), map[string]any{"@type": "tvm.tuple", "elements": []any{g.typedEntry(chance, 0)}}, nil})
		if chance.IntN(2) == 0 {
			list = append(list, []any{label, value})
		} else {
			list = append(list, map[string]any{"type": label, "value": value})
		}
	}
	return list
}

func (g *generator) typedEntry(chance *rand.Rand, depth int) any {
	kind := pick(chance, []string{"Number", "Cell", "Slice", "Tuple", "List", "Unsupported", "Nothing"})
	name := strings.ToLower(kind)
	entry := map[string]any{"@type": "tvm.stackEntry" + kind}
	switch kind {
	case "Number":
		entry[name] = map[string]any{"@type": "tvm.numberDecimal", "number": pick(chance, []any{"5", "-0x7", 3, nil, strings.Repeat("9", 100), ""})}
	case "Cell", "Slice":
		entry[name] = map[string]any{"@type": "tvm." + name, "bytes": g.mutated(chance)}
	case "Tuple", "List":
		elements := []any{}
		for range chance.IntN(4) {
			if depth < 40 {
				elements = append(elements, g.typedEntry(chance, depth+1))
			}
		}
		entry[name] = map[string]any{"@type": "tvm." + name, "elements": elements}
	}
	return entry
}

// cell is one spelt out, or nearly.
func (g *generator) cell(chance *rand.Rand, depth int) any {
	refs := []any{}
	for range chance.IntN(3) {
		if depth < 6 {
			refs = append(refs, g.cell(chance, depth+1))
		}
	}
	return map[string]any{"data": map[string]any{
		"b64": pick(chance, []any{"", "AA==", "AAAAAAAA", "x", nil, 5}), "len": pick(chance, []any{0, 8, 3, 1023, 1024, -1, "8", nil, 1 << 40}),
	}, "refs": refs}
}

package answers

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"tonscribe/test/support/openapitest"
)

// request is one that both servers get.
type request struct {
	method, target, body string
	header               map[string]string
	// pages is how many pages after the answer's are asked for too, by cursor.
	pages int
}

func (r *request) String() string {
	text := fmt.Sprintf("%s %.600s", r.method, r.target)
	if r.body != "" {
		text += fmt.Sprintf(" %.600s", r.body)
	}
	if len(r.header) > 0 {
		text += fmt.Sprint(" ", r.header)
	}
	return text
}

// effort is how many requests are made of an operation.
type effort struct {
	choices int // of a parameter alone; 0 are all
	pairs   int // of choices of every two parameters
	triples int // of choices of three parameters, for every parameter
	rows    int // of each list, whose values go together
	paths   int // one of so many is asked for in odd ways
}

var (
	fullEffort   = effort{pairs: 2, triples: 4, rows: 8, paths: 1}
	someEffort   = effort{pairs: 1, triples: 1, rows: 4, paths: 1}
	littleEffort = effort{choices: 1, rows: 1, paths: 10}
)

// plan makes the requests of what the first server says that it takes and has.
type plan struct {
	t          *testing.T
	chain      chain
	operations []*openapitest.Operation
	values     values
	rows       []row
	chance     *rand.Rand
	made       map[string]bool
	list       []*request
}

// harvested is how many elements of each list are looked at, from either end.
const harvested = 300

func newPlan(t *testing.T, s *server, c chain) *plan {
	t.Helper()
	p := &plan{t: t, chain: c, operations: s.operations(t), values: values{}, chance: rand.New(rand.NewPCG(seed, seed)), made: map[string]bool{}}
	for _, o := range p.operations {
		if o.Method != http.MethodGet || isV2(o) || !takes(o, "limit") {
			continue
		}
		for _, sort := range []string{"asc", "desc"} {
			answer := s.get(t, fmt.Sprintf("%s?limit=%d&sort=%s", o.Path, harvested, sort))
			p.values.walk("", "", answer)
			p.rows = append(p.rows, rows(answer, max(1, c.effort.rows))...)
		}
	}
	for _, address := range p.values.some(known["address"]...) {
		p.values.walk("", "", s.get(t, "/api/v3/accountStates?include_boc=true&address="+url.QueryEscape(address)))
	}
	p.values.addMessages()
	return p
}

func isV2(o *openapitest.Operation) bool { return strings.HasPrefix(o.Path, "/api/v2/") }

func takes(o *openapitest.Operation, name string) bool {
	return slices.ContainsFunc(o.Query, func(p openapitest.Parameter) bool { return p.Name == name })
}

// requests are all of them, in an order that the document and the chain give.
func (p *plan) requests() []*request {
	for _, o := range p.operations {
		p.operation(o)
	}
	p.odd()
	return p.list
}

func (p *plan) add(r *request) {
	if key := fmt.Sprint(r.method, " ", r.target, r.header, r.body); !p.made[key] {
		p.made[key] = true
		p.list = append(p.list, r)
	}
}

// operation adds the requests of one: nothing, what is required, each parameter
// alone, two and three of them, and what goes together.
func (p *plan) operation(o *openapitest.Operation) {
	var list []openapitest.Parameter
	for _, parameter := range parametersOf(o) {
		if !slices.Contains(notVaried, parameter.Name) {
			list = append(list, parameter)
		}
	}
	of := map[string][]choice{}
	base := map[string]choice{}
	for _, parameter := range list {
		of[parameter.Name] = p.choices(o, parameter)
		if parameter.Required {
			base[parameter.Name] = of[parameter.Name][0]
		}
	}
	p.complete(o, list, base)
	p.whole(o, base)
	p.send(o, nil)
	p.send(o, base)
	for _, parameter := range list {
		less := maps.Clone(base)
		delete(less, parameter.Name)
		p.send(o, less)
		for i, c := range of[parameter.Name] {
			if p.chain.effort.choices == 0 || i < p.chain.effort.choices {
				p.send(o, base, sent{parameter.Name, c})
			}
		}
	}
	p.sendTogether(o, list, base)
	for i := range list {
		for j := range i {
			for range p.chain.effort.pairs {
				p.send(o, base, p.pick(list[i], of), p.pick(list[j], of))
			}
		}
	}
	for range p.chain.effort.triples * len(list) {
		if len(list) > 2 {
			at := p.chance.Perm(len(list))
			p.send(o, base, p.pick(list[at[0]], of), p.pick(list[at[1]], of), p.pick(list[at[2]], of))
		}
	}
	if o.Method == http.MethodPost {
		p.brokenBodies(o, base)
	}
}

func parametersOf(o *openapitest.Operation) []openapitest.Parameter {
	if o.Method != http.MethodPost {
		return o.Query
	}
	return slices.SortedFunc(maps.Values(o.Body), func(a, b openapitest.Parameter) int { return strings.Compare(a.Name, b.Name) })
}

// pick is a choice of a parameter, one of the first more often than others: those
// are right.
func (p *plan) pick(parameter openapitest.Parameter, of map[string][]choice) sent {
	list := of[parameter.Name]
	if p.chance.IntN(4) > 0 {
		list = list[:min(3, len(list))]
	}
	return sent{parameter.Name, list[p.chance.IntN(len(list))]}
}

// complete gives the required parameters values that go together, where there are.
func (p *plan) complete(o *openapitest.Operation, list []openapitest.Parameter, base map[string]choice) {
	for _, r := range p.rows {
		whole := len(base) > 1
		for name := range base {
			whole = whole && (r[name] != "" || bodies[name] != nil)
		}
		if whole {
			maps.Copy(base, p.choicesOf(o, list, r, func(parameter openapitest.Parameter) bool { return parameter.Required }))
			return
		}
	}
}

// choicesOf are those of a row for the parameters that count.
func (p *plan) choicesOf(o *openapitest.Operation, list []openapitest.Parameter, r row, counts func(openapitest.Parameter) bool) map[string]choice {
	found := map[string]choice{}
	for _, parameter := range list {
		text := r[parameter.Name]
		if text == "" || !counts(parameter) {
			continue
		}
		if parameter.Name == "shard" && isV2(o) {
			text = decimalShard(text)
		}
		found[parameter.Name] = choice{texts: []string{text}}
	}
	return found
}

// sendTogether sends what goes together: all of it, and what is not required with
// one left out.
func (p *plan) sendTogether(o *openapitest.Operation, list []openapitest.Parameter, base map[string]choice) {
	for _, r := range p.rows {
		whole := p.choicesOf(o, list, r, func(openapitest.Parameter) bool { return true })
		if len(whole) < 2 {
			continue
		}
		all := maps.Clone(base)
		maps.Copy(all, whole)
		p.send(o, all)
		for _, name := range slices.Sorted(maps.Keys(whole)) {
			less := maps.Clone(all)
			delete(less, name)
			p.send(o, less)
		}
	}
}

// sent is a parameter with its value.
type sent struct {
	name string
	choice
}

// send adds a request with the parameters of base and others.
func (p *plan) send(o *openapitest.Operation, base map[string]choice, more ...sent) {
	all := maps.Clone(base)
	if all == nil {
		all = map[string]choice{}
	}
	for _, s := range more {
		all[s.name] = s.choice
	}
	if o.Method == http.MethodPost {
		p.post(o, all)
		return
	}
	query := url.Values{}
	for name, c := range all {
		query[name] = c.texts
	}
	r := &request{method: o.Method, target: withQuery(o.Path, query)}
	if takes(o, "cursor") && all["cursor"].texts == nil && len(more) < 2 {
		r.pages = 1
	}
	p.add(r)
}

// whole asks for all pages of a list from its oldest element on, so that every row
// is seen.
func (p *plan) whole(o *openapitest.Operation, base map[string]choice) {
	if o.Method != http.MethodGet || !takes(o, "cursor") {
		return
	}
	query := url.Values{"limit": {"1000"}, "sort": {"asc"}}
	for name, c := range base {
		query[name] = c.texts
	}
	p.add(&request{method: o.Method, target: withQuery(o.Path, query), pages: math.MaxInt})
}

func withQuery(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

var asJSON = map[string]string{"Content-Type": "application/json"}

// post adds a request with a body, and one of JSON-RPC of the methods of v2.
func (p *plan) post(o *openapitest.Operation, all map[string]choice) {
	body := map[string]any{}
	for name, c := range all {
		body[name] = c.member(o.Body[name])
	}
	p.add(&request{method: o.Method, target: o.Path, header: asJSON, body: encoded(body)})
	if name := strings.TrimPrefix(o.Path, "/api/v2/"); isV2(o) && !strings.EqualFold(name, "jsonRPC") && len(all) <= 3 {
		p.add(&request{method: o.Method, target: "/api/v2/jsonRPC", header: asJSON, body: encoded(map[string]any{"method": name, "params": body, "id": "1", "jsonrpc": "2.0"})})
	}
}

func encoded(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // the values here all have a form
	}
	return string(text)
}

// member is the value as a body has it: a number or a list where the schema says
// so, else a text.
func (c choice) member(parameter openapitest.Parameter) any {
	kind := fmt.Sprint(parameter.Schema["type"], parameter.Schema["anyOf"])
	switch {
	case c.texts == nil:
		return c.value
	case len(c.texts) > 1 || strings.Contains(kind, "array"):
		return c.texts
	case strings.Contains(kind, "integer") && numberForm.MatchString(c.texts[0]):
		return json.Number(c.texts[0])
	case strings.Contains(kind, "boolean") && (c.texts[0] == "true" || c.texts[0] == "false"):
		return c.texts[0] == "true"
	}
	return c.texts[0]
}

// brokenBodies are no JSON objects, or say that they are something else.
func (p *plan) brokenBodies(o *openapitest.Operation, base map[string]choice) {
	for _, body := range []string{"", "{", "null", "[]", "7", `"x"`, "{}{}", `{"a":1,"a":2}`, "\xff\xfe", strings.Repeat("[", 3000)} {
		p.add(&request{method: o.Method, target: o.Path, header: asJSON, body: body})
	}
	whole := map[string]any{}
	for name, c := range base {
		whole[name] = c.member(o.Body[name])
	}
	for _, header := range []map[string]string{{}, {"Content-Type": "text/plain"}, {"Content-Type": "application/x-www-form-urlencoded"}, {"Content-Type": "application/json", "Content-Encoding": "gzip"}} {
		p.add(&request{method: o.Method, target: o.Path, header: header, body: encoded(whole)})
	}
	whole["unknown"] = 1
	p.add(&request{method: o.Method, target: o.Path, header: asJSON, body: encoded(whole)})
}

// odd are requests that no operation takes, or takes in another writing.
func (p *plan) odd() {
	paths := map[string]bool{}
	for _, o := range p.operations {
		paths[o.Path] = true
	}
	for i, path := range slices.Sorted(maps.Keys(paths)) {
		if i%p.chain.effort.paths != 0 {
			continue
		}
		for _, method := range []string{http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
			p.add(&request{method: method, target: path})
		}
		for _, target := range []string{strings.ToUpper(path), path + "/", path + "/more", path + "?unknown=1&limit=1", path + "?limit=1&limit=2", path + "?%zz=%", path + "?limit=1&x_no_address_book=true&x_no_metadata=true"} {
			p.add(&request{method: http.MethodGet, target: target})
		}
		for _, header := range []map[string]string{{"X-API-Key": "unknown"}, {"X-No-Address-Book": "true", "X-No-Metadata": "1"}} {
			p.add(&request{method: http.MethodGet, target: path + "?limit=1", header: header})
		}
	}
	for _, target := range []string{
		documentOf("v2"), documentOf("v3"), "/", "/api", "/api/", "/api/v1/blocks", "/api/v2", "/api/v3", "/api/v2/", "/api/v3/", "/api/v3/unknown", "/api/v2/unknown", "/api/docs", "/api/v2/docs", "/api/v3/docs", "/healthcheck",
	} {
		p.add(&request{method: http.MethodGet, target: target})
		p.add(&request{method: http.MethodPost, target: target})
	}
	for _, o := range p.operations {
		if o.Method == http.MethodGet && !isV2(o) && takes(o, "limit") {
			p.add(&request{method: http.MethodGet, target: o.Path + "?limit=100", header: map[string]string{"Accept-Encoding": "gzip"}})
		}
	}
	for _, method := range []any{"getMasterchainInfo", "no such", "", nil, 7} {
		for _, id := range []any{"1", 7, nil, []any{}} {
			p.add(&request{method: http.MethodPost, target: "/api/v2/jsonRPC", header: asJSON, body: encoded(map[string]any{"method": method, "id": id, "jsonrpc": "2.0"})})
		}
	}
}

func TestRequestsAreTheSameEachTimeAndHaveAllParameters(t *testing.T) {
	o := &openapitest.Operation{Path: "/api/v3/transactions", Method: http.MethodGet, Query: []openapitest.Parameter{
		{Name: "account", Schema: map[string]any{"type": "array"}}, {Name: "lt"}, {Name: "sort", Schema: map[string]any{"enum": []any{"asc", "desc"}}}, {Name: "seqno", Required: true},
	}}
	made := func() (texts []string) {
		p := &plan{
			t: t, chain: chain{effort: fullEffort}, operations: []*openapitest.Operation{o}, chance: rand.New(rand.NewPCG(1, 1)), made: map[string]bool{},
			values: values{"transactions.account": {"0:" + strings.Repeat("A", 64): 2, "0:" + strings.Repeat("B", 64): 1}, "mc_block_seqno": {"5": 1}},
			rows:   []row{{"account": "0:" + strings.Repeat("A", 64), "lt": "77"}},
		}
		for _, r := range p.requests() {
			texts = append(texts, r.String())
		}
		return texts
	}
	first := made()
	if !slices.Equal(first, made()) {
		t.Error("the requests are others at the second time")
	}
	all := strings.Join(first, "\n")
	for _, want := range []string{
		"GET /api/v3/transactions?seqno=5\n", "account=0%3A" + strings.Repeat("A", 64) + "&lt=77&seqno=5\n", "sort=desc", "account=" + url.QueryEscape(absentAddress),
		"account=0%3A" + strings.Repeat("A", 64) + "&account=0%3A" + strings.Repeat("B", 64), "PUT /api/v3/transactions\n", "map[X-API-Key:unknown]",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no request has %q", want)
		}
	}
	t.Logf("%d requests", len(first))
}

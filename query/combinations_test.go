package query

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"tonscribe/bench/synthetic"
	"tonscribe/schema/record"
)

// combination is a request made of some of the parameters that a path has.
type combination struct {
	path   string
	query  url.Values
	status int
	read   float64 // rows
	most   float64
	took   time.Duration
	shows  []int32 // what it covers, by numbers of one list of combinations
}

func (c *combination) String() string { return c.path + "?" + c.query.Encode() }

// documentedParameters are those that the document allows with each path that it
// has a GET for.
func (s *server) documentedParameters() map[string][]string {
	s.Helper()
	var document struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name string
				In   string
				Ref  string `json:"$ref"`
			}
		}
		Components struct {
			Parameters map[string]struct{ Name, In string }
		}
	}
	if err := json.Unmarshal(s.ask("/api/v3/openapi.json").Body.Bytes(), &document); err != nil {
		s.Fatal(err)
	}
	found := map[string][]string{}
	for path, methods := range document.Paths {
		get, ok := methods["get"]
		if !ok || nodeOnly[path[strings.LastIndex(path, "/v3")+3:]] {
			continue
		}
		for _, p := range get.Parameters {
			if p.Ref != "" {
				shared := document.Components.Parameters[p.Ref[strings.LastIndexByte(p.Ref, '/')+1:]]
				p.Name, p.In = shared.Name, shared.In
			}
			if p.In == "query" && !isRequestOption(p.Name) {
				found[path] = append(found[path], p.Name)
			}
		}
		slices.Sort(found[path])
	}
	return found
}

// nodeOnly are paths that are answered by lite servers.
var nodeOnly = map[string]bool{"/estimateFee": true, "/message": true, "/runGetMethod": true}

func isRequestOption(name string) bool { return name == "api_key" || strings.HasPrefix(name, "x_") }

// valuesOf are what is sent for a parameter: what much, little and nothing of the
// chain has.
func valuesOf(name string, keys *synthetic.Keys, bundles []*synthetic.Bundle) [][]string {
	old, middle := bundles[len(bundles)/10], bundles[len(bundles)/2]
	tx, block := middle.Transactions[0], middle.Blocks[0]
	nobody := "0:" + strings.Repeat("0F", 32)
	absent := strings.Repeat("0f", 32)
	addresses := func(some ...string) [][]string {
		values := [][]string{{nobody}}
		for _, a := range some {
			values = append(values, []string{a})
		}
		return append(values, keys.States[0][:40])
	}
	one := func(some ...any) (values [][]string) {
		for _, value := range some {
			values = append(values, []string{fmt.Sprint(value)})
		}
		return values
	}
	switch name {
	case "account", "address", "owner_address", "wallet_address", "wallet", "exclude_account", "admin_address", "source", "destination", "contract_address":
		values := addresses(keys.Popular, keys.Ordinary[0], keys.Jetton, keys.Item[0])
		if name == "source" || name == "destination" {
			values = append(values[:4], []string{"null"})
		}
		return values
	case "jetton_address", "jetton_master":
		return addresses(keys.Jetton, keys.JettonSmall[3])
	case "jetton_wallet":
		return addresses(keys.JettonWallet[1])
	case "collection_address":
		return addresses(keys.Collection[1])
	case "item_address":
		return addresses(keys.Item[3])
	case "multisig_address":
		return addresses(keys.Multisig[0])
	case "workchain":
		return one(0, -1, 5)
	case "shard":
		return one(fmt.Sprintf("%x", block.Id.Shard), "8000000000000000", 7)
	case "seqno":
		return one(block.Id.Seqno, middle.Seqno, 2_000_000_000)
	case "mc_seqno":
		return one(middle.Seqno, 2_000_000_000)
	case "trace_id", "action_id":
		for _, tx := range middle.Transactions {
			if m := tx.InMsg; name == "trace_id" && m.Kind == record.Message_EXTERNAL_IN {
				return one(b64(tx.Hash), absent)
			} else if name == "action_id" && m.Kind == record.Message_INTERNAL {
				id := sha256.Sum256([]byte(b64(m.Hash) + "call_contract"))
				return one(b64(id[:]), absent)
			}
		}
		return one(absent)
	case "action_type", "exclude_action_type":
		return one("ton_transfer", "call_contract", "nft_mint")
	case "supported_action_types":
		return one("v1", "dns", "latest")
	case "hash", "msg_hash", "tx_hash", "ext_msg_hash":
		return one(keys.Tx[0], keys.Msg[0], absent)
	case "root_hash", "file_hash":
		return one(b64(block.Id.RootHash), absent)
	case "body_hash":
		for _, m := range append(tx.OutMsgs, tx.InMsg) {
			if m != nil && len(m.BodyHash) > 0 {
				return one(b64(m.BodyHash), absent)
			}
		}
		return one(absent)
	case "opcode":
		return one("0x0f8a7ea5", "0x178d4519", "0xdeadbeef")
	case "opcodes":
		return one("0x0f8a7ea5", "0xdeadbeef,7")
	case "bodies":
		return [][]string{{"te6cckEBAQEACgAAEAAAAABoZXkhk4nkgQ=="}, {"x"}}
	case "code_hash":
		return one(absent)
	case "lt":
		return one(tx.Lt, 7)
	case "start_lt":
		return one(old.Transactions[0].Lt, 1, uint64(1)<<62)
	case "end_lt":
		return one(old.Transactions[0].Lt, 7, uint64(1)<<62)
	case "start_utime":
		return one(old.Utime, 1, 4_000_000_000)
	case "end_utime":
		return one(old.Utime, 7, 4_000_000_000)
	case "direction":
		return one("in", "out")
	case "sort":
		return one("asc", "desc")
	case "limit":
		return one(1000)
	case "offset":
		return one(1000, 100_000, 1_000_000_000)
	case "index":
		return one(1, 1_000_000_007)
	case "domain":
		return one(keys.Domain[0], "nobody-has-this.ton")
	case "days":
		return one(1, 30)
	case "by":
		return one("holders", "transfers")
	case "cursor":
		return nil // of a page before; other tests go on with it
	case "only_externals", "exclude_externals", "exclude_zero_balance", "include_boc", "include_actions", "include_accounts", "include_transactions", "include_delivery", "include_on_sale", "include_orders",
		"check_whitelist", "parse_actions", "sort_by_last_transaction_lt", "use_v2":
		return one("true")
	}
	return [][]string{{"?"}} // has to be added here
}

// combinations are the requests with up to three parameters in an order made of a seed,
// the covering ones first.
func combinations(t *testing.T, documented map[string][]string, keys *synthetic.Keys, bundles []*synthetic.Bundle) (all []*combination) {
	var paths []string
	for path := range documented {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, path := range paths {
		names := documented[path]
		var choose func(from, left int, query url.Values)
		choose = func(from, left int, query url.Values) {
			all = append(all, &combination{path: path, query: query})
			for i := from; left > 0 && i < len(names); i++ {
				for _, values := range valuesOf(names[i], keys, bundles) {
					if values[0] == "?" {
						t.Fatalf("%s has the parameter %s, of which no values are known here", path, names[i])
					}
					more := url.Values{names[i]: values}
					for name, sent := range query {
						more[name] = sent
					}
					choose(i+1, left-1, more)
				}
			}
		}
		choose(0, 3, url.Values{})
	}
	random := rand.New(rand.NewPCG(7, 7))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	first, rest := covering(all)
	return append(first, rest...)
}

// covering takes out of requests those by which each path is asked for with each value
// of each parameter, and with each two parameters at once.
func covering(all []*combination) (chosen, rest []*combination) {
	numbers := map[string]int32{}
	for _, c := range all {
		c.numberWhatItShows(numbers)
	}
	seen := make([]bool, len(numbers))
	for fewest := 6; fewest > 0; fewest-- { // those first that show the most at once
		rest = nil
		for _, c := range all {
			fresh := 0
			for _, what := range c.shows {
				if !seen[what] {
					fresh++
				}
			}
			if fresh < fewest {
				rest = append(rest, c)
				continue
			}
			chosen = append(chosen, c)
			for _, what := range c.shows {
				seen[what] = true
			}
		}
		all = rest
	}
	return chosen, rest
}

// numberWhatItShows gives what a request covers numbers, those of others where they cover
// the same.
func (c *combination) numberWhatItShows(numbers map[string]int32) {
	var what []byte
	c.shows = c.shows[:0]
	add := func(parts ...string) {
		what = append(what[:0], c.path...)
		for _, part := range parts {
			what = append(append(what, ' '), part...)
		}
		n, ok := numbers[string(what)]
		if !ok {
			n = int32(len(numbers))
			numbers[string(what)] = n
		}
		c.shows = append(c.shows, n)
	}
	add()
	for name, values := range c.query {
		add(append([]string{name, "="}, values...)...)
		for other := range c.query {
			if name < other {
				add(name, "&", other)
			}
		}
	}
}

func long() bool { return os.Getenv("TONSCRIBE_TEST_LONG") != "" }

// mostRows is what a combination may make ClickHouse go through.
func (c *combination) mostRows() float64 {
	items, skipped := 10.0, 0.0
	for name, values := range c.query {
		switch name {
		case "limit":
			items += 1000
		case "offset":
			_, _ = fmt.Sscan(values[0], &skipped)
		default:
			items += float64(len(values) - 1)
		}
	}
	// Rows are skipped by their keys, where only records tell with their granules.
	if long() { // a scan goes on to its own bound where a small chain ends
		return 90_000 + 1000*items + 150*min(skipped, 1000) + 10*min(skipped, 100_000)
	}
	return 15_000 + 1000*items + 96*min(skipped, 1000) + 4*min(skipped, 100_000)
}

// boundedScans makes a scan be refused that a small chain would hide.
func boundedScans(c *Configuration) {
	holdNothing(c)
	c.Store.Poll = time.Hour
	c.Store.ScanBytes = 256 << 10
}

// No request that the document allows makes ClickHouse go through much more than
// its page: it is answered, or refused with what helps. The short run takes those that
// cover all parameters, the long run all.
func checkCombinations(t *testing.T, s *server, keys *synthetic.Keys, bundles []*synthetic.Bundle) {
	all := combinations(t, s.documentedParameters(), keys, bundles)
	if !long() {
		all, _ = covering(all)
	}
	refused := 0
	for _, c := range all {
		before, began := s.rowsRead(), time.Now()
		got := s.ask("/api/v3" + strings.TrimPrefix(c.path, "/api/v3") + "?" + c.query.Encode())
		c.read, c.took, c.status, c.most = s.rowsRead()-before, time.Since(began), got.Code, c.mostRows()
		if c.read > c.most {
			t.Errorf("%s: %.0f rows were gone through, want at most %.0f", c, c.read, c.most)
		}
		switch {
		case got.Code == http.StatusOK, got.Code == http.StatusNotFound, got.Code == http.StatusConflict, got.Code == http.StatusUnauthorized:
		case got.Code == http.StatusUnprocessableEntity && strings.Contains(got.Body.String(), "too heavy"), strings.Contains(got.Body.String(), "too deep"):
			refused++
			if !strings.Contains(got.Body.String(), "cursor") {
				t.Errorf("%s: %s does not name the cursor", c, got.Body)
			}
		case got.Code == http.StatusUnprocessableEntity:
		case got.Code == http.StatusInternalServerError && strings.Contains(got.Body.String(), "trace not found"): // the contract's answer
		case c.query.Get("use_v2") == "true" && strings.Contains(got.Body.String(), "ton-http-api endpoint is not specified"): // no lite servers here
		default:
			t.Errorf("%s: %d %.200s", c, got.Code, got.Body)
		}
	}
	slices.SortFunc(all, func(a, b *combination) int { return cmp.Compare(b.read/b.most, a.read/a.most) })
	t.Logf("%d requests, %d refused as too deep or too heavy; those that come nearest to their bounds:", len(all), refused)
	for _, c := range all[:min(15, len(all))] {
		t.Logf("%7.0f rows of %.0f, %3.0f ms, %d: %.160s", c.read, c.most, c.took.Seconds()*1000, c.status, c)
	}
}

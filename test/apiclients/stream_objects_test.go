package apiclients

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tonscribe/test/support/harness"
)

// streamedBundles is how much of a chain is compared.
const streamedBundles = 40

// live is a devnet whose key may have the whole chain.
type live struct {
	testing.TB
	base, key string
	from, to  uint32 // masterchain blocks
}

func startLive(t *testing.T) *live {
	t.Helper()
	l := &live{TB: t}
	data, listen := t.TempDir(), harness.FreeAddress(t)
	l.base = "http://" + listen
	t.Setenv("TONSCRIBE_QUERY_LIVE_EVERYTHING", "*")
	p := harness.Start(t, nil, "up", "--data", data, "--listen", listen, "--seed", strconv.Itoa(seed), "--interval", "300ms", "--tps", "20")
	p.AwaitReady(l.base, time.Minute)
	key, err := os.ReadFile(filepath.Join(data, "api-key"))
	if err != nil {
		t.Fatal(err)
	}
	l.key = strings.TrimSpace(string(key))
	var info struct{ Last struct{ Seqno uint32 } }
	l.get("masterchainInfo", nil, &info)
	l.from, l.to = info.Last.Seqno, info.Last.Seqno+streamedBundles
	return l
}

// ask sends a request with the key.
func (l *live) ask(method, path string, body io.Reader) *http.Response {
	l.Helper()
	r, err := http.NewRequestWithContext(l.Context(), method, l.base+path, body)
	if err != nil {
		l.Fatal(err)
	}
	r.Header.Set("X-API-Key", l.key)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		l.Fatal(err)
	}
	return answer
}

// get is an answer of v3.
func (l *live) get(endpoint string, query url.Values, into any) {
	l.Helper()
	answer := l.ask(http.MethodGet, "/api/v3/"+endpoint+"?"+query.Encode(), nil)
	defer answer.Body.Close()
	decoder := json.NewDecoder(answer.Body)
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil || answer.StatusCode != http.StatusOK {
		l.Fatalf("%s?%s: %d, %v", endpoint, query.Encode(), answer.StatusCode, err)
	}
}

type object = map[string]any

type told struct {
	Type, Position, Finality, Error, Account string
	Trace                                    string `json:"trace_external_hash_norm"`
	Transactions, Actions                    []object
	State, Jetton                            object
}

func (e *told) seqno(t testing.TB) uint32 {
	text, _, _ := strings.Cut(e.Position, "-")
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(n)
}

// events are those of the bundles that are compared; whatever else is asked for, states
// of the elector show where those are over.
func (l *live) events(subscription map[string]any) (list []*told) {
	l.Helper()
	subscription["from"] = fmt.Sprint(l.from)
	body, err := json.Marshal(subscription)
	if err != nil {
		l.Fatal(err)
	}
	answer := l.ask(http.MethodPost, "/api/streaming/v2/sse", bytes.NewReader(body))
	defer answer.Body.Close()
	lines := bufio.NewReader(answer.Body)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			l.Fatal(err)
		}
		if seqno, is := strings.CutPrefix(strings.TrimSpace(string(line)), ": keepalive "); is {
			line = []byte(`data: {"type":"alive","position":"` + seqno + `"}`)
		}
		data, is := bytes.CutPrefix(line, []byte("data: "))
		if !is {
			continue
		}
		e := new(told)
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.UseNumber()
		if err := decoder.Decode(e); err != nil || e.Error != "" || answer.StatusCode != http.StatusOK {
			l.Fatalf("%d %s: %v", answer.StatusCode, data, err)
		}
		if e.Type == "" {
			continue
		}
		if e.seqno(l) > l.to {
			return list
		}
		list = append(list, e)
	}
}

const elector = "-1:3333333333333333333333333333333333333333333333333333333333333333"

// byHash are the last objects of transactions.
func byHash(list []*told) map[string]object {
	found := map[string]object{}
	for _, e := range list {
		for _, tx := range e.Transactions {
			found[tx["hash"].(string)] = tx
		}
	}
	return found
}

func TestStreamsOfALiveChainHaveWhatV3Answers(t *testing.T) {
	l := startLive(t)
	all := l.events(map[string]any{"types": []string{"transactions", "actions", "account_state_change", "jettons_change", "gap"}})
	transactions := l.transactions(all)
	l.checkActions(all)
	l.checkStates(all, transactions)
	l.checkWallets(all)
	jetton, collection := l.named(all, "jetton_transfer", "asset"), l.named(all, "nft_transfer", "nft_collection")
	names := func(address string) func(object) bool {
		return func(a object) bool {
			text, err := json.Marshal(a)
			if err != nil {
				t.Fatal(err)
			}
			return bytes.Contains(text, []byte(`"`+address+`"`))
		}
	}
	l.checkActionsOf("jetton", map[string]any{"jettons": []string{jetton}}, all, names(jetton))
	l.checkActionsOf("collection", map[string]any{"collections": []string{collection}}, all, names(collection))
	for _, name := range []string{"jetton_transfer", "ton_transfer"} {
		l.checkActionsOf(name, map[string]any{"action_types": []string{name}}, all, func(a object) bool { return a["type"] == name })
	}
	l.checkOpcodes(transactions)
	l.checkWalletsOf(jetton, all)
}

// named is the first address that actions of a type name.
func (l *live) named(all []*told, name, detail string) string {
	l.Helper()
	for _, e := range all {
		for _, a := range e.Actions {
			details, _ := a["details"].(object)
			if address, is := details[detail].(string); is && e.Type == "actions" && a["type"] == name {
				return address
			}
		}
	}
	l.Fatalf("no %s with %s is among %d events", name, detail, len(all))
	return ""
}

// transactions are those of the bundles as v3 has them; the stream has them all, and alike.
func (l *live) transactions(all []*told) map[string]object {
	l.Helper()
	want := map[string]object{}
	for seqno := l.from + 1; seqno <= l.to; seqno++ {
		var answer struct{ Transactions []object }
		l.get("transactionsByMasterchainBlock", url.Values{"seqno": {fmt.Sprint(seqno)}, "limit": {"1000"}}, &answer)
		for _, tx := range answer.Transactions {
			want[tx["hash"].(string)] = tx
		}
	}
	got := byHash(all)
	for hash := range got { // a trace shows what came before, too
		if want[hash] == nil {
			if n, _ := got[hash]["mc_block_seqno"].(json.Number).Int64(); uint32(n) > l.from {
				l.Errorf("transaction %s is in no bundle", hash)
			}
			delete(got, hash)
		}
	}
	l.same("transactions", got, want)
	return want
}

// same compares objects by their names.
func (l *live) same(what string, got, want map[string]object) {
	l.Helper()
	if len(want) == 0 {
		l.Errorf("%s: there are none", what)
	}
	if a, b := slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)); !slices.Equal(a, b) {
		l.Errorf("%s: %d come, v3 has %d:\n%v\n%v", what, len(a), len(b), a, b)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if !reflect.DeepEqual(got[name], want[name]) {
			a, _ := json.Marshal(got[name])
			b, _ := json.Marshal(want[name])
			l.Errorf("%s: %s is\n%s\nv3 has\n%s", what, name, a, b)
			return
		}
	}
}

func (l *live) checkActions(all []*told) {
	l.Helper()
	const traces = 40
	newest := map[string][]object{}
	for _, e := range all {
		if e.Type == "actions" {
			newest[e.Actions[0]["trace_id"].(string)] = e.Actions
		}
	}
	for _, trace := range slices.Sorted(maps.Keys(newest))[:min(traces, len(newest))] {
		var answer struct{ Actions []object }
		l.get("actions", url.Values{"trace_id": {trace}, "limit": {"1000"}, "include_accounts": {"true"}}, &answer)
		l.same("actions of "+trace, byID(newest[trace]), byID(answer.Actions))
	}
}

func byID(actions []object) map[string]object {
	found := map[string]object{}
	for _, a := range actions {
		found[a["action_id"].(string)] = a
	}
	return found
}

func (l *live) checkStates(all []*told, transactions map[string]object) {
	l.Helper()
	want := map[string]object{} // by bundle and account
	lts := map[string]uint64{}
	for _, tx := range transactions {
		lt, err := strconv.ParseUint(tx["lt"].(string), 10, 64)
		if err != nil {
			l.Fatal(err)
		}
		if name := fmt.Sprint(tx["mc_block_seqno"], " ", tx["account"]); lt > lts[name] {
			want[name], lts[name] = tx["account_state_after"].(object), lt
		}
	}
	got := map[string]object{}
	for _, e := range all {
		if e.Type == "account_state_change" {
			got[fmt.Sprint(e.seqno(l), " ", e.Account)] = e.State
		}
	}
	l.same("states", got, want)
}

// checkWallets compares those that have not changed since.
func (l *live) checkWallets(all []*told) {
	l.Helper()
	newest := map[string]object{}
	for _, e := range all {
		if e.Type == "jettons_change" {
			newest[e.Jetton["address"].(string)] = e.Jetton
		}
	}
	got, want := map[string]object{}, map[string]object{}
	for _, some := range slices.Collect(slices.Chunk(slices.Sorted(maps.Keys(newest)), 100)) {
		var answer struct {
			Wallets []object `json:"jetton_wallets"`
		}
		l.get("jetton/wallets", url.Values{"address": some, "limit": {"1000"}}, &answer)
		for _, w := range answer.Wallets {
			if a := w["address"].(string); newest[a]["last_transaction_lt"] == w["last_transaction_lt"] {
				got[a], want[a] = newest[a], w
			}
		}
	}
	l.same("wallets", got, want)
}

// checkActionsOf compares a stream of some actions with those of all that are such.
func (l *live) checkActionsOf(what string, subscription map[string]any, all []*told, wanted func(object) bool) {
	l.Helper()
	subscription["types"] = []string{"actions", "account_state_change"}
	if subscription["jettons"] != nil || subscription["collections"] != nil {
		subscription["addresses"] = []string{elector}
	}
	choose := func(list []*told) map[string]object {
		chosen := map[string]object{}
		for _, e := range list {
			for _, a := range e.Actions {
				if e.Type == "actions" && wanted(a) {
					chosen[e.Position+" "+a["action_id"].(string)] = a
				}
			}
		}
		return chosen
	}
	events := l.events(subscription)
	for _, e := range events {
		for _, a := range e.Actions {
			if e.Type == "actions" && !wanted(a) && !slices.ContainsFunc(a["accounts"].([]any), func(b any) bool { return b == elector }) {
				l.Errorf("%s: %v comes", what, a)
			}
		}
	}
	l.same(what, choose(events), choose(all))
}

func (l *live) checkOpcodes(transactions map[string]object) {
	l.Helper()
	const transfer = "0x0f8a7ea5" // of jettons
	want := map[string]object{}
	for hash, tx := range transactions {
		if in, is := tx["in_msg"].(object); is && in["opcode"] == transfer {
			want[hash] = tx
		}
	}
	got := byHash(l.events(map[string]any{"types": []string{"transactions", "account_state_change"}, "opcodes": []string{transfer}}))
	maps.DeleteFunc(got, func(hash string, _ object) bool { return transactions[hash] == nil })
	l.same("opcode "+transfer, got, want)
}

// checkWalletsOf compares a stream of a jetton's wallets with those of all.
func (l *live) checkWalletsOf(jetton string, all []*told) {
	l.Helper()
	choose := func(list []*told) map[string]object {
		newest := map[string]object{}
		for _, e := range list {
			if e.Type == "jettons_change" && e.Jetton["jetton"] == jetton {
				newest[e.Jetton["address"].(string)] = e.Jetton
			}
		}
		return newest
	}
	events := l.events(map[string]any{"types": []string{"jettons_change", "account_state_change"}, "jettons": []string{jetton}, "addresses": []string{elector}})
	l.same("wallets of "+jetton, choose(events), choose(all))
}

package query

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"tonscribe/bench/synthetic"
	"tonscribe/decode/action"
	"tonscribe/internal/engine"
	"tonscribe/schema/record"
	"tonscribe/test/support/enginetest"
)

// traced is a world with its traces, as a reader sees them who has all in memory.
type traced struct {
	*town
	steps  map[string]*record.TraceStep   // the newest of each trace, by id
	traces map[string][]*record.TraceStep // all of each trace
	of     map[string]*record.TraceStep   // by the hash of a transaction
	txs    map[string]*record.Transaction
}

// varied makes actions of other types of some: of a trace with two or more, the second is
// a part of the first, which is of v3; every fifth is of v2.
func varied(n *int) func(*record.TraceStep) {
	set := func(a *record.Action, name string, ancestors ...string) {
		a.Type, a.Ancestors, a.Until = name, ancestors, uint32(action.NoVersion)
		a.Since = uint32(action.TypeNamed(name).Version)
		for _, ancestor := range ancestors {
			a.Until = min(a.Until, uint32(action.TypeNamed(ancestor).Version-1))
		}
	}
	return func(s *record.TraceStep) {
		if len(s.Actions) > 1 {
			set(s.Actions[0], "nft_purchase")
			set(s.Actions[1], s.Actions[1].Type, "nft_purchase")
		}
		if len(s.Actions) > 2 {
			set(s.Actions[2], "nft_discovery", "nft_purchase")
		}
		for _, a := range s.Actions {
			if *n++; *n%5 == 0 && len(a.Ancestors) == 0 {
				set(a, "nft_discovery")
			}
		}
	}
}

// tracedTables are those of the tests that only read them.
var tracedTables kept[*traced]

// newTraced makes tables of the test's own.
func newTraced(t *testing.T) *traced {
	t.Helper()
	x := fillTraced(t, enginetest.UnmergedTables(t))
	x.server = x.serve(t, nil)
	return x
}

// sharedTraced is newTraced for a test that changes nothing in the tables.
func sharedTraced(t *testing.T) *traced {
	t.Helper()
	x := *tracedTables.get(t, func() *traced { return fillTraced(t, enginetest.KeptTables(t)) })
	w := x.world.again(t)
	x.town = &town{world: w, server: w.serve(t, nil)}
	return &x
}

func fillTraced(t *testing.T, tables *engine.ClickHouse, more ...func(*record.TraceStep)) *traced {
	t.Helper()
	return fillTracedOf(t, tables, syntheticBundles(1600, 31), more...)
}

func fillTracedOf(t *testing.T, tables *engine.ClickHouse, bundles []*synthetic.Bundle, more ...func(*record.TraceStep)) *traced {
	t.Helper()
	varying := func() func(*record.TraceStep) {
		var n int
		change := varied(&n)
		return func(s *record.TraceStep) {
			change(s)
			for _, f := range more {
				f(s)
			}
		}
	}
	w := &world{engine: tables, bundles: bundles, change: varying()}
	w.fill(t)
	w.double(t)
	visible := bundles[:len(bundles)-hiddenBundles]
	w.setWatermark(t, visible[len(visible)-1])
	x := &traced{town: &town{world: w}, steps: map[string]*record.TraceStep{}, traces: map[string][]*record.TraceStep{}, of: map[string]*record.TraceStep{}, txs: map[string]*record.Transaction{}}
	traces, change := synthetic.NewTraces(), varying()
	for _, b := range visible {
		for _, tx := range b.Transactions {
			x.txs[string(tx.Hash)] = tx
		}
		for _, r := range traces.Records(b, 1)[0] {
			for _, s := range r.GetTraces().GetTraces() {
				change(s)
				id := string(s.Trace.Id)
				x.steps[id], x.traces[id] = s, append(x.traces[id], s)
				for _, tx := range s.Transactions {
					x.of[string(tx.Hash)] = s
				}
			}
		}
	}
	for hash, s := range x.of {
		x.of[hash] = x.steps[string(s.Trace.Id)]
	}
	return x
}

// closed are the traces without open messages that match, in order.
func (x *traced) closed(match func(*record.TraceStep) bool, byTime, descending bool) (ids []string) {
	var list []*record.TraceStep
	for _, s := range x.inOrder() {
		if s.Trace.PendingEdges == 0 && match(s) {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b *record.TraceStep) int {
		c := cmp.Compare(a.Trace.EndLt, b.Trace.EndLt)
		if byTime {
			c = cmp.Compare(a.Trace.EndUtime, b.Trace.EndUtime)
		}
		if c = cmp.Or(c, bytes.Compare(a.Trace.Id, b.Trace.Id)); descending {
			return -c
		}
		return c
	})
	for _, s := range list {
		ids = append(ids, b64(s.Trace.Id))
	}
	return ids
}

// actions are those that match, in order.
func (x *traced) actions(match func(*record.TraceStep, *record.Action) bool, byTime, descending bool) (ids []string) {
	type one struct {
		s *record.TraceStep
		a *record.Action
	}
	var list []one
	for _, s := range x.inOrder() {
		for _, a := range s.Actions {
			if match(s, a) {
				list = append(list, one{s, a})
			}
		}
	}
	slices.SortFunc(list, func(a, b one) int {
		t, u := a.s.Trace, b.s.Trace
		c := cmp.Or(cmp.Compare(t.EndLt, u.EndLt), bytes.Compare(t.Id, u.Id), cmp.Compare(a.a.EndLt, b.a.EndLt), bytes.Compare(a.a.Id, b.a.Id))
		if byTime {
			c = cmp.Or(cmp.Compare(t.EndUtime, u.EndUtime), bytes.Compare(t.Id, u.Id), cmp.Compare(a.a.EndUtime, b.a.EndUtime), bytes.Compare(a.a.Id, b.a.Id))
		}
		if descending {
			return -c
		}
		return c
	})
	for _, o := range list {
		ids = append(ids, b64(o.a.Id))
	}
	return ids
}

func member(name string) func(map[string]any) string {
	return func(r map[string]any) string { return fmt.Sprint(r[name]) }
}

// inOrder are the newest of each trace, by id.
func (x *traced) inOrder() []*record.TraceStep {
	var list []*record.TraceStep
	for _, id := range slices.Sorted(maps.Keys(x.steps)) {
		list = append(list, x.steps[id])
	}
	return list
}

// popular is the account that most closed traces have.
func (x *traced) popular() (account []byte) {
	count := map[string]int{}
	for _, s := range x.inOrder() {
		for _, a := range s.Accounts {
			count[string(a)]++
		}
	}
	for _, a := range slices.Sorted(maps.Keys(count)) {
		if count[a] > count[string(account)] {
			account = []byte(a)
		}
	}
	return account
}

func has(list [][]byte, b []byte) bool {
	return slices.ContainsFunc(list, func(x []byte) bool { return bytes.Equal(x, b) })
}

func TestListsOfTracesAndActionsAreThoseOfTheReference(t *testing.T) {
	t.Parallel()
	x := sharedTraced(t)
	account := x.popular()
	ids := x.closed(func(s *record.TraceStep) bool { return has(s.Accounts, account) }, false, true)
	var some *record.TraceStep // in the midst of its block
	for _, s := range x.inOrder() {
		if b64(s.Trace.Id) == ids[len(ids)/2] {
			some = s
		}
	}
	spans := []struct {
		query  string
		byTime bool
		match  func(*record.TraceStep) bool
	}{
		{"", false, func(*record.TraceStep) bool { return true }},
		{"start_utime=1&", true, func(*record.TraceStep) bool { return true }},
		{fmt.Sprintf("end_lt=%d&", some.Trace.EndLt), false, func(s *record.TraceStep) bool { return s.Trace.EndLt <= some.Trace.EndLt }},
		{fmt.Sprintf("start_utime=%d&", some.Trace.EndUtime), true, func(s *record.TraceStep) bool { return s.Trace.EndUtime >= some.Trace.EndUtime }},
		{fmt.Sprintf("mc_seqno=%d&", some.Trace.McSeqnoEnd), false, func(s *record.TraceStep) bool { return s.Trace.McSeqnoEnd == some.Trace.McSeqnoEnd }},
	}
	types := []struct {
		query string
		match func(*record.Action) bool
	}{
		{"", func(a *record.Action) bool { return len(a.Ancestors) == 0 }},
		{"supported_action_types=v2", func(a *record.Action) bool { return a.Type != "nft_purchase" }},
		{"supported_action_types=v1", func(a *record.Action) bool {
			return a.Type != "nft_purchase" && a.Type != "nft_discovery" && a.Type != "unknown"
		}},
		{"supported_action_types=nft_purchase", func(a *record.Action) bool {
			return len(a.Ancestors) == 0 && a.Type != "nft_discovery" && a.Type != "unknown"
		}},
		{"action_type=nft_discovery&supported_action_types=v2", func(a *record.Action) bool { return a.Type == "nft_discovery" }},
		{"action_type=nft_discovery,ton_transfer", func(a *record.Action) bool {
			return (a.Type == "nft_discovery" || a.Type == "ton_transfer") && len(a.Ancestors) == 0
		}},
		{"exclude_action_type=call_contract", func(a *record.Action) bool { return a.Type != "call_contract" && len(a.Ancestors) == 0 }},
		{"action_type=nothing", func(*record.Action) bool { return false }},
	}
	for _, of := range []struct {
		query         string
		traces        func(*record.TraceStep) bool
		accountAction func(*record.Action) bool
	}{
		{"", func(*record.TraceStep) bool { return true }, func(*record.Action) bool { return true }},
		{"account=" + url.QueryEscape(rawOf(account)) + "&", func(s *record.TraceStep) bool { return has(s.Accounts, account) }, func(a *record.Action) bool { return has(a.Accounts, account) }},
	} {
		for n, span := range spans {
			for _, descending := range []bool{true, false} {
				sort := "sort=desc"
				if !descending {
					sort = "sort=asc"
				}
				want := x.closed(func(s *record.TraceStep) bool { return of.traces(s) && span.match(s) }, span.byTime, descending)
				if len(want) == 0 {
					t.Fatalf("no trace is wanted by %s%s", of.query, span.query)
				}
				x.walks("/traces?"+of.query+span.query+sort, "traces", member("trace_id"), want, 397)
				for i, typ := range types {
					if !descending && i > 1 || n > 1 && i > 3 {
						continue
					}
					want := x.actions(func(s *record.TraceStep, a *record.Action) bool {
						return of.accountAction(a) && span.match(s) && typ.match(a)
					}, span.byTime, descending)
					path := "/actions?" + of.query + span.query + sort + "&" + typ.query
					x.walksByCursor(path, "actions", member("action_id"), want, 397)
					if i == 0 && (descending || n < 2) || n == 0 { // each span, and each type
						x.pagesByOffset(path, "actions", member("action_id"), want, 397)
					}
				}
			}
		}
	}
}

func TestTracesAndActionsAreFoundByWhatIsInThem(t *testing.T) {
	t.Parallel()
	x := sharedTraced(t)
	var open, done *record.TraceStep
	for _, s := range x.inOrder() {
		switch {
		case s.Trace.PendingEdges > 0 && s.Trace.Nodes > 1:
			open = s
		case s.Trace.PendingEdges == 0 && len(s.Actions) > 1 && s.Trace.McSeqnoStart < s.Trace.McSeqnoEnd:
			done = s
		}
	}
	for name, s := range map[string]*record.TraceStep{"open": open, "done": done} {
		id := b64(s.Trace.Id)
		for _, step := range x.traces[string(s.Trace.Id)] {
			for _, one := range step.Transactions {
				tx := x.txs[string(one.Hash)]
				for _, query := range []string{"tx_hash=" + hex.EncodeToString(tx.Hash), "msg_hash=" + hex.EncodeToString(tx.InMsg.Hash)} {
					if got, _ := x.page("/traces?"+query, "traces", member("trace_id")); !slices.Equal(got, []string{id}) {
						t.Errorf("%s trace by %s: %v, want %s", name, query, got, id)
					}
				}
			}
		}
		var answer struct {
			Traces []struct {
				Order        []string `json:"transactions_order"`
				Transactions map[string]struct {
					Trace    string `json:"trace_id"`
					External string `json:"trace_external_hash"`
				}
				Info struct {
					State string `json:"trace_state"`
					Nodes int    `json:"transactions"`
				} `json:"trace_info"`
				Actions []struct {
					ID string `json:"action_id"`
				}
			}
		}
		body := x.ask("/api/v3/traces?include_actions=true&supported_action_types=v1&trace_id=" + url.QueryEscape(id)).Body.Bytes()
		if err := json.Unmarshal(body, &answer); err != nil || len(answer.Traces) != 1 {
			t.Fatalf("%s: %v in %s", name, err, body)
		}
		got := answer.Traces[0]
		if got.Info.Nodes != int(s.Trace.Nodes) || len(got.Order) != int(s.Trace.Nodes) || len(got.Transactions) != len(got.Order) {
			t.Errorf("%s: %d transactions in order, %d in all, %d told, want %d", name, len(got.Order), len(got.Transactions), got.Info.Nodes, s.Trace.Nodes)
		}
		for hash, tx := range got.Transactions {
			if tx.Trace != id || tx.External != b64(s.Trace.ExternalHash) {
				t.Errorf("%s: transaction %s is of trace %s, begun by %s", name, hash, tx.Trace, tx.External)
			}
		}
		if wantState := map[string]string{"open": "pending", "done": "complete"}[name]; got.Info.State != wantState {
			t.Errorf("%s: state is %s, want %s", name, got.Info.State, wantState)
		}
		wanted := slices.DeleteFunc(slices.Clone(s.Actions), func(a *record.Action) bool { return a.Since > 1 || a.Until < 1 })
		if len(got.Actions) != len(wanted) {
			t.Errorf("%s: %d actions, want %d", name, len(got.Actions), len(wanted))
		}
	}
	one := done.Actions[1]
	for query, want := range map[string][]string{
		"action_id=" + hex.EncodeToString(one.Id) + "&supported_action_types=v2&end_utime=1":                                                        {b64(one.Id)},
		"action_id=" + hex.EncodeToString(one.Id):                                                                                                   nil,
		"supported_action_types=v2&trace_id=" + hex.EncodeToString(done.Trace.Id) + "&account=" + url.QueryEscape(rawOf(make([]byte, 36))):          nil,
		"supported_action_types=v2&tx_hash=" + hex.EncodeToString(one.Transactions[0]) + "&action_type=" + one.Type + "&action_id=" + b64Of(one.Id): nil,
	} {
		if strings.Contains(query, "tx_hash") {
			want = []string{b64(one.Id)} // the id alone counts
		}
		if got, _ := x.page("/actions?"+query, "actions", member("action_id")); !slices.Equal(got, want) {
			t.Errorf("actions by %s: %v, want %v", query, got, want)
		}
	}
	for _, tx := range []*record.Transaction{x.txs[string(one.Transactions[0])]} {
		want := x.actions(func(_ *record.TraceStep, a *record.Action) bool {
			return has(a.Transactions, tx.Hash) && len(a.Ancestors) == 0
		}, false, true)
		if got, _ := x.page("/actions?tx_hash="+hex.EncodeToString(tx.Hash), "actions", member("action_id")); !slices.Equal(got, want) {
			t.Errorf("actions of transaction %x: %v, want %v", tx.Hash, got, want)
		}
		holds := func(o *record.Transaction) bool {
			return bytes.Equal(o.InMsg.GetHash(), tx.InMsg.Hash) || slices.ContainsFunc(o.OutMsgs, func(m *record.Message) bool { return bytes.Equal(m.Hash, tx.InMsg.Hash) })
		}
		want = x.actions(func(_ *record.TraceStep, a *record.Action) bool {
			return len(a.Ancestors) == 0 && slices.ContainsFunc(a.Transactions, func(h []byte) bool { return x.txs[string(h)] != nil && holds(x.txs[string(h)]) })
		}, false, true)
		if got, _ := x.page("/actions?msg_hash="+hex.EncodeToString(tx.InMsg.Hash), "actions", member("action_id")); !slices.Equal(got, want) {
			t.Errorf("actions of the message of transaction %x: %v, want %v", tx.Hash, got, want)
		}
	}
	x.everyTransactionHasItsTrace()
	x.manyAtOnce("tx_hash", func(tx *record.Transaction) []byte { return tx.Hash })
	x.manyAtOnce("msg_hash", func(tx *record.Transaction) []byte { return tx.InMsg.Hash })
	x.refusals(done)
	x.parts(done)
	x.balanceChanges(open, done)
}

func b64Of(b []byte) string { return url.QueryEscape(b64(b)) }

func (x *traced) everyTransactionHasItsTrace() {
	x.Helper()
	seen := 0
	paths := []string{"/transactions?limit=1000", "/transactions?limit=1000&sort=asc", "/transactions?limit=300&account=" + url.QueryEscape(rawOf(x.popular()))}
	for _, hash := range slices.Sorted(maps.Keys(x.txs))[:20] {
		paths = append(paths, "/transactions?hash="+hex.EncodeToString([]byte(hash)), "/transactionsByMessage?direction=in&msg_hash="+hex.EncodeToString(x.txs[hash].InMsg.Hash))
	}
	for _, path := range paths {
		var answer struct {
			Transactions []struct {
				Hash     []byte
				Trace    string `json:"trace_id"`
				External string `json:"trace_external_hash"`
			}
		}
		if err := json.Unmarshal(x.ask("/api/v3"+path).Body.Bytes(), &answer); err != nil {
			x.Fatal(err)
		}
		for _, tx := range answer.Transactions {
			seen++
			s := x.of[string(tx.Hash)]
			if s == nil || tx.Trace != b64(s.Trace.Id) || tx.External != b64(s.Trace.ExternalHash) {
				x.Errorf("%s: transaction %x is of trace %q, want %v", path, tx.Hash, tx.Trace, s)
			}
		}
	}
	if seen < 1500 {
		x.Errorf("%d transactions were seen", seen)
	}
}

// manyAtOnce asks for the traces of some transactions by what names these.
func (x *traced) manyAtOnce(name string, of func(*record.Transaction) []byte) {
	x.Helper()
	for _, n := range []int{3, 40} {
		query, want := url.Values{"limit": {"100"}}, map[string]bool{}
		for _, hash := range slices.Sorted(maps.Keys(x.txs))[:n] {
			query.Add(name, hex.EncodeToString(of(x.txs[hash])))
			want[b64(x.of[hash].Trace.Id)] = true
		}
		got, _ := x.page("/traces?"+query.Encode(), "traces", member("trace_id"))
		if slices.Sort(got); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
			x.Errorf("traces of %d by %s: %v, want %v", n, name, got, want)
		}
	}
}

// Rows from before the column trace_rest leave it to table traces.
func TestTracesOfTransactionsAreThereWhereTheirRowsDoNotTellThem(t *testing.T) {
	t.Parallel()
	x := newTraced(t)
	x.exec(t, "CREATE TABLE older ENGINE = Memory AS SELECT * REPLACE ('' AS trace_rest) FROM transaction_traces")
	x.exec(t, "TRUNCATE TABLE transaction_traces")
	x.exec(t, "INSERT INTO transaction_traces SELECT * FROM older")
	x.town = &town{world: x.world, server: x.serve(t, nil)}
	x.everyTransactionHasItsTrace()
}

// A chain may have a contract at the address from which it sends itself: what that sent is
// no message of the chain.
func TestTracesOfTransactionsAreThoseOfWhoSentTheirMessagesAlsoFromTheAddressOfTheChain(t *testing.T) {
	t.Parallel()
	bundles, n := syntheticBundles(1600, 31), 0
	for _, b := range bundles {
		for _, tx := range b.Transactions {
			if n++; n%20 == 0 && tx.InMsg.Kind == record.Message_INTERNAL && !tx.InMsg.Bounced {
				tx.InMsg.Source = append([]byte{0xff, 0xff, 0xff, 0xff}, make([]byte, 32)...)
			}
		}
	}
	x := fillTracedOf(t, enginetest.UnmergedTables(t), bundles)
	x.server = x.serve(t, nil)
	x.everyTransactionHasItsTrace()
	x.manyAtOnce("tx_hash", func(tx *record.Transaction) []byte { return tx.Hash })
}

func (x *traced) refusals(done *record.TraceStep) {
	x.Helper()
	hash, id := strings.Repeat("ab", 32), b64Of(done.Trace.Id)
	for path, want := range map[string]struct {
		status int
		text   string
	}{
		"/traces?tx_hash=" + hash + "&msg_hash=" + hash:  {422, "only one of account, trace_id, tx_hash, msg_hash should be specified"},
		"/events?trace_id=" + hash + "&msg_hash=" + hash: {422, "only one of account, trace_id, tx_hash, msg_hash should be specified"},
		"/traces?mc_seqno=4":                             {404, "masterchain block 4 not found"},
		"/actions?mc_seqno=4":                            {404, "masterchain block 4 not found"},
		"/actions?mc_seqno=4&trace_id=" + hash:           {404, "masterchain block 4 not found"},
		"/actions?mc_seqno=4&action_id=" + hash:          {404, "masterchain block 4 not found"},
		"/actions?mc_seqno=4&trace_id=" + id:             {404, "masterchain block 4 not found"},
		"/actions?action_type=a-b":                       {422, "action_type contains invalid characters"},
		"/actions?exclude_action_type=a%20b":             {422, "exclude_action_type contains invalid characters"},
		"/actions?sort=up":                               {422, "wrong value for sort parameter"},
		"/traces?limit=1001":                             {422, "limit is not allowed: 1001"},
		"/balanceChanges":                                {400, "trace_id or action_id is required"},
		"/balanceChanges?trace_id=&action_id=":           {400, "trace_id or action_id is required"},
		"/balanceChanges?trace_id=" + hash:               {500, "trace not found"},
		"/balanceChanges?trace_id=zz":                    {500, "trace not found"},
		"/balanceChanges?action_id=zz":                   {404, "action_id not found"},
		"/balanceChanges?action_id=" + hash:              {404, "action_id not found"},
		"/traces?trace_id=zz":                            {422, `failed to decode: schema: error converting value for index 0 of \"trace_id\"`},
	} {
		if w := x.ask("/api/v3" + path); w.Code != want.status || !strings.Contains(w.Body.String(), want.text) {
			x.Errorf("%s: %d %s, want %d %s", path, w.Code, w.Body, want.status, want.text)
		}
	}
	for _, path := range []string{"/traces?trace_id=" + hash, "/traces?tx_hash=" + hash, "/traces?msg_hash=" + hash, "/actions?trace_id=" + hash, "/actions?action_id=" + hash, "/actions?msg_hash=" + hash} {
		if w := x.ask("/api/v3" + path); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `s":[]`) {
			x.Errorf("%s: %d %s, want an empty list", path, w.Code, w.Body)
		}
	}
}

// parts are what requests add to an answer.
func (x *traced) parts(s *record.TraceStep) {
	x.Helper()
	id := url.QueryEscape(b64(s.Trace.Id))
	plain := x.ask("/api/v3/actions?trace_id=" + id).Body.String()
	for query, name := range map[string]string{"include_accounts=true": `"accounts":[`, "include_transactions=true": `"transactions_full":[`} {
		if got := x.ask("/api/v3/actions?trace_id=" + id + "&" + query).Body.String(); strings.Contains(plain, name) || strings.Count(got, name) != strings.Count(plain, `"action_id"`) {
			x.Errorf("%s: %s", query, got)
		}
	}
	if got := x.ask("/api/v3/events?trace_id=" + id).Body.String(); !strings.HasPrefix(got, `{"events":[{`) || !strings.Contains(got, `"actions":[{`) {
		x.Errorf("events: %.300s", got)
	}
	seen := func(s *record.TraceStep, version uint32) (ids []string) {
		for _, a := range s.Actions {
			if a.Since <= version && version <= a.Until {
				ids = append(ids, b64(a.Id))
			}
		}
		slices.Sort(ids)
		return ids
	}
	var some *record.TraceStep
	for _, s := range x.inOrder() {
		if s.Trace.PendingEdges == 0 && len(seen(s, 1)) > 0 && !slices.Equal(seen(s, 1), seen(s, 4)) {
			some = s
		}
	}
	if some == nil {
		x.Fatal("no trace of which clients of v1 see other actions than those of v4")
	}
	r := httptest.NewRequest(http.MethodGet, "/api/v3/actions?trace_id="+url.QueryEscape(b64(some.Trace.Id))+"&limit=1000&supported_action_types=v4", nil)
	for _, version := range []uint32{4, 1} {
		if version == 1 {
			r.Header.Set("X-Actions-Version", "v1")
		}
		var answer struct {
			Actions []struct {
				ID string `json:"action_id"`
			}
		}
		if err := json.Unmarshal(x.send(r).Body.Bytes(), &answer); err != nil {
			x.Fatal(err)
		}
		var got []string
		for _, a := range answer.Actions {
			got = append(got, a.ID)
		}
		slices.Sort(got)
		if want := seen(some, version); !slices.Equal(got, want) {
			x.Errorf("version %d: actions %v, want %v", version, got, want)
		}
	}
}

// balanceChanges are of the accounts of a trace, or of the transactions of an action of it.
func (x *traced) balanceChanges(open, done *record.TraceStep) {
	x.Helper()
	check := func(query string, hashes [][]byte) {
		x.Helper()
		want := map[string]uint64{}
		for _, h := range hashes {
			tx := x.txs[string(h)]
			want[rawOf(tx.Account)] += tx.TotalFees
			for _, m := range tx.OutMsgs {
				want[rawOf(tx.Account)] += m.FwdFee
			}
		}
		var got struct{ Changes, Fees map[string]int64 }
		w := x.ask("/api/v3/balanceChanges?" + query)
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != http.StatusOK || len(got.Changes) != len(want) || len(got.Fees) != len(want) {
			x.Fatalf("balanceChanges?%s: %d %s, want those of %d accounts", query, w.Code, w.Body, len(want))
		}
		for a, fee := range want {
			if got.Fees[a] != int64(fee) {
				x.Errorf("balanceChanges?%s: fees of %s are %d, want %d", query, a, got.Fees[a], fee)
			}
		}
	}
	for _, s := range []*record.TraceStep{open, done} {
		var hashes [][]byte
		for _, step := range x.traces[string(s.Trace.Id)] {
			for _, tx := range step.Transactions {
				hashes = append(hashes, tx.Hash)
			}
		}
		check("trace_id="+b64Of(s.Trace.Id), hashes)
	}
	for _, a := range done.Actions { // also a part of another one
		check("action_id="+hex.EncodeToString(a.Id), a.Transactions)
		check("trace_id="+b64Of(done.Trace.Id)+"&action_id="+b64Of(a.Id), a.Transactions)
		if w := x.ask("/api/v3/balanceChanges?trace_id=" + b64Of(open.Trace.Id) + "&action_id=" + b64Of(a.Id)); w.Code != http.StatusNotFound {
			x.Errorf("an action of another trace: %d %s", w.Code, w.Body)
		}
	}
}

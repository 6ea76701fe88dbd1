package query

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"tonscribe/bench/synthetic"
	"tonscribe/internal/kafka"
	"tonscribe/query/live"
	"tonscribe/schema/record"
)

// streamEvent is an event as clients read it.
type streamEvent struct {
	Type         string
	Position     string
	Finality     string
	Trace        string `json:"trace_external_hash_norm"`
	Account      string
	Transactions json.RawMessage
	Actions      []struct {
		Type     string
		Accounts []string
	}
	Jetton struct{ Address, Owner, Jetton string }
	Status string
	Error  string
	ID     *string
	raw    string
}

func (e *streamEvent) at(t testing.TB) live.Position {
	t.Helper()
	p, err := live.ParsePosition(e.Position)
	if err != nil {
		t.Fatal(err, e.raw)
	}
	return p
}

// stream is a stream of events that a test reads.
type stream struct {
	testing.TB
	body   io.ReadCloser
	lines  *bufio.Reader
	cancel context.CancelFunc
}

// open begins a stream of events.
func (s *server) open(at string, subscription map[string]any, header ...string) (*stream, *http.Response) {
	s.Helper()
	raw, err := json.Marshal(subscription)
	if err != nil {
		s.Fatal(err)
	}
	ctx, cancel := context.WithCancel(s.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, at+"/api/streaming/v2/sse", bytes.NewReader(raw))
	if err != nil {
		s.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { cancel(); response.Body.Close() })
	return &stream{s, response.Body, bufio.NewReaderSize(response.Body, 1<<20), cancel}, response
}

// next is the next event, nil at the end of the stream.
func (s *stream) next() *streamEvent {
	s.Helper()
	var id, data string
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			return nil
		}
		switch line = strings.TrimSuffix(line, "\n"); {
		case strings.HasPrefix(line, "id: "):
			id = line[4:]
		case strings.HasPrefix(line, "data: "):
			data = line[6:]
		case line == "" && data != "":
			e := &streamEvent{raw: data}
			if err := json.Unmarshal([]byte(data), e); err != nil {
				s.Fatal(err, data)
			}
			if e.Type != "" && id != e.Position {
				s.Errorf("an event has the id %s and the position %s", id, e.Position)
			}
			return e
		}
	}
}

// until reads events up to one behind or at a position.
func (s *stream) until(last live.Position) (list []*streamEvent) {
	s.Helper()
	for {
		e := s.next()
		if e == nil {
			s.Fatalf("the stream ends after %d events, %s is wanted", len(list), last)
		}
		if e.Type == "" {
			if e.Error != "" {
				s.Fatal(e.raw)
			}
			continue
		}
		list = append(list, e)
		if e.at(s).Compare(last) >= 0 {
			return list
		}
	}
}

// manyStreams lets a test open as many as it wants.
func manyStreams(c *Configuration) {
	c.Live.AnonymousConnections, c.Live.AnonymousAddresses, c.Live.Everything = 10_000, 10_000, []string{"anonymous"}
}

// listening is the world's server at an address.
func (s *server) listening() string {
	at := httptest.NewServer(s.component.Handler())
	s.Cleanup(at.Close)
	s.Cleanup(s.component.Drain)
	return at.URL
}

// lastState is the position of what became of the account of a bundle's last transaction.
func lastState(b *synthetic.Bundle) live.Position {
	n := uint32(len(b.Transactions))
	return live.Position{MCSeqno: b.Seqno, Event: 5*n - 2}
}

var chainTypes = []string{"transactions", "actions", "trace", "account_state_change"}

// streamWorld is a chain of which one server has the newest bundles one by one out of
// memory, and another one all in tables.
type streamWorld struct {
	bundles []*synthetic.Bundle
	from    int
	log     *growingLog
	growing *world
	whole   *world
}

func newStreamWorld(t *testing.T) *streamWorld {
	t.Helper()
	rows := synthetic.NewRows(synthetic.RowOptions{Transactions: 1500, Seed: 5, Whole: true})
	x := &streamWorld{}
	for b := rows.Next(); b != nil; b = rows.Next() {
		x.bundles = append(x.bundles, b)
	}
	for len(x.bundles[len(x.bundles)-1].Transactions) == 0 {
		x.bundles = x.bundles[:len(x.bundles)-1]
	}
	x.from = len(x.bundles) / 2
	x.growing, x.whole = newWorldWith(t, x.bundles[:x.from], synthetic.NewTokens(rows)), newWorldWith(t, x.bundles, synthetic.NewTokens(rows))
	x.log = &growingLog{heldLog: inMemory(t, x.bundles, synthetic.NewTokens(rows), x.from-2), visible: 2, changed: make(chan struct{}, 1)}
	prev := x.bundles[x.from-3].Seqno
	for _, b := range x.log.bundles {
		b.PrevMCSeqno, prev = prev, b.MCSeqno
	}
	x.growing.log = x.log
	return x
}

// grow shows the rest of the chain.
func (x *streamWorld) grow() {
	for x.log.visible < len(x.log.bundles) {
		x.log.grow()
		time.Sleep(time.Millisecond)
	}
}

func raws(list []*streamEvent) []string {
	texts := make([]string, len(list))
	for i, e := range list {
		texts[i] = e.raw
	}
	return texts
}

func sameEvents(t testing.TB, what string, got, want []string) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			at := func(list []string) string {
				if i < len(list) {
					return list[i][:min(len(list[i]), 300)]
				}
				return "nothing"
			}
			t.Fatalf("%s: of %d events, %d are wanted; number %d is\n%s, want\n%s", what, len(got), len(want), i, at(got), at(want))
		}
	}
}

func TestAStreamGoesOnBehindAnyPositionOnAnyReplica(t *testing.T) {
	x := newStreamWorld(t)
	first, last := x.bundles[x.from-1], x.bundles[len(x.bundles)-1]
	growing := x.growing.serve(t, manyStreams)
	growing.await(first.Seqno)
	whole := x.whole.serve(t, manyStreams)
	here, there := growing.listening(), whole.listening()
	now, _ := growing.open(here, map[string]any{"types": chainTypes})
	if ack := now.next(); ack.Status != "subscribed" || ack.Position != fmt.Sprint(first.Seqno) {
		t.Fatalf("the first is %s, want it to be subscribed behind %d", ack.raw, first.Seqno)
	}
	go x.grow()
	events := now.until(lastState(last))
	want := raws(events)
	seen := map[string]int{}
	for i, e := range events {
		seen[e.Type]++
		if i > 0 && e.at(t).Compare(events[i-1].at(t)) <= 0 {
			t.Fatalf("%s comes behind %s", e.Position, events[i-1].Position)
		}
	}
	for _, name := range chainTypes {
		if seen[name] == 0 {
			t.Errorf("no event %s comes: the test proves nothing", name)
		}
	}
	accounts := 0
	for _, b := range x.bundles[x.from:] {
		distinct := map[string]bool{}
		for _, tx := range b.Transactions {
			distinct[string(tx.Account)] = true
		}
		accounts += len(distinct)
	}
	if seen["account_state_change"] != accounts {
		t.Errorf("%d states come, %d accounts had transactions in bundles", seen["account_state_change"], accounts)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 12 {
		n, at := random.IntN(len(events)-1), map[string]string{"memory": here, "tables": there}
		for what, base := range at {
			again, _ := growing.open(base, map[string]any{"types": chainTypes}, "Last-Event-ID", events[n].Position)
			if i%2 == 0 {
				again, _ = growing.open(base, map[string]any{"types": chainTypes, "from": events[n].Position})
			}
			sameEvents(t, fmt.Sprintf("behind %s out of %s", events[n].Position, what), raws(again.until(lastState(last))), want[n+1:])
			again.cancel()
		}
	}
}

func TestAStreamOfAddressesHasWhatConcernsThem(t *testing.T) {
	x := newStreamWorld(t)
	s := x.whole.serve(t, manyStreams)
	at := s.listening()
	before, last := x.bundles[x.from-1], x.bundles[len(x.bundles)-1]
	everything := func(types ...string) []*streamEvent {
		all, _ := s.open(at, map[string]any{"types": types, "from": fmt.Sprint(before.Seqno)})
		return all.until(lastState(last))
	}
	all := everything(chainTypes...)
	of := map[string]int{}
	for _, b := range x.bundles[x.from:] {
		for _, tx := range b.Transactions {
			of[rawOf(tx.Account)]++
		}
	}
	var accounts []string
	for a := range of {
		accounts = append(accounts, a)
	}
	slices.Sort(accounts)
	busy := rawOf(last.Transactions[len(last.Transactions)-1].Account)
	for n := range 6 {
		some := []string{busy}
		for i := range 10 {
			some = append(some, accounts[(n*10+i)%len(accounts)])
		}
		named, _ := s.open(at, map[string]any{"types": []string{"actions", "account_state_change"}, "from": fmt.Sprint(before.Seqno), "addresses": some})
		var want, got []string
		for _, e := range all {
			switch e.Type {
			case "account_state_change":
				if slices.Contains(some, e.Account) {
					want = append(want, e.raw)
				}
			case "actions":
				for _, a := range e.Actions {
					if slices.ContainsFunc(a.Accounts, func(b string) bool { return slices.Contains(some, b) }) {
						want = append(want, e.Position+" actions")
						break
					}
				}
			}
		}
		for _, e := range named.until(lastState(last)) {
			if e.Type == "actions" {
				got = append(got, e.Position+" actions")
				continue
			}
			got = append(got, e.raw)
		}
		sameEvents(t, fmt.Sprint(some), got, want)
		named.cancel()
		transactions, _ := s.open(at, map[string]any{"types": []string{"transactions", "account_state_change"}, "from": fmt.Sprint(before.Seqno), "addresses": some})
		received := map[string]bool{}
		for _, e := range transactions.until(lastState(last)) {
			if e.Type != "transactions" {
				continue
			}
			var list []struct{ Hash, Account, Finality string }
			if err := json.Unmarshal(e.Transactions, &list); err != nil {
				t.Fatal(err)
			}
			for _, tx := range list {
				received[tx.Hash] = true
				if !slices.Contains(some, tx.Account) || tx.Finality != "finalized" {
					t.Errorf("transaction %+v comes to a stream of %v", tx, some)
				}
			}
		}
		for _, b := range x.bundles[x.from:] {
			for _, tx := range b.Transactions {
				if slices.Contains(some, rawOf(tx.Account)) && !received[b64(tx.Hash)] {
					t.Errorf("transaction %s of bundle %d does not come", b64(tx.Hash), b.Seqno)
				}
			}
		}
		transactions.cancel()
	}
}

// socket is a WebSocket that a test uses.
type socket struct {
	testing.TB
	*websocket.Conn
}

func (s *server) dial(at string) *socket {
	s.Helper()
	c, _, err := websocket.Dial(s.Context(), strings.Replace(at, "http", "ws", 1)+"/api/streaming/v2/ws", &websocket.DialOptions{
		HTTPHeader: http.Header{"Accept-Encoding": {"gzip, deflate, br, zstd"}},
	})
	if err != nil {
		s.Fatal(err)
	}
	c.SetReadLimit(64 << 20)
	s.Cleanup(func() { _ = c.CloseNow() })
	return &socket{s, c}
}

func (s *socket) tell(text string) {
	s.Helper()
	if err := s.Write(s.Context(), websocket.MessageText, []byte(text)); err != nil {
		s.Fatal(err)
	}
}

func (s *socket) next() *streamEvent {
	s.Helper()
	_, raw, err := s.Read(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	e := &streamEvent{raw: string(raw)}
	if err := json.Unmarshal(raw, e); err != nil {
		s.Fatal(err)
	}
	return e
}

func TestASocketDoesWhatItsOperationsSay(t *testing.T) {
	x := newStreamWorld(t)
	s := x.growing.serve(t, manyStreams)
	s.await(x.bundles[x.from-1].Seqno)
	at := s.listening()
	c := s.dial(at)
	account := rawOf(x.bundles[len(x.bundles)-1].Transactions[0].Account)
	position := fmt.Sprint(x.bundles[x.from-1].Seqno)
	for _, step := range [][2]string{
		{`{"operation":"ping","id":"p"}`, `{"id":"p","status":"pong","position":"0-0"}`},
		{`{"operation":"ping"}`, `{"status":"pong","position":"0-0"}`},
		{`{"operation":"unsubscribe","id":"2"}`, `{"id":"2","error":"addresses or trace_external_hash_norms are required"}`},
		{`{"operation":"subscribe","id":"3","types":["blocks"]}`, `{"id":"3","error":"invalid event type: blocks"}`},
		{`{"operation":"dance","id":"4"}`, `{"id":"4","error":"unknown operation: dance"}`},
		{`{"operation":"subscribe","id":"5","addresses":["` + account + `"]}`, `{"id":"5","error":"types are required"}`},
		{`{"operation":"subscribe","id":"6","types":["account_state_change"],"addresses":["` + account + `"]}`, `{"id":"6","status":"subscribed","position":"` + position + `"}`},
		{`{"operation":"subscribe","id":"7","types":["transactions"],"addresses":["nobody"]}`, `{"id":"7","error":"invalid address: nobody"}`},
		{`{"operation":"unsubscribe","id":"8","addresses":["` + account + `"]}`, `{"id":"8","status":"unsubscribed","position":"` + position + `"}`},
		{`{"operation":"subscribe","id":"9","types":["account_state_change"],"addresses":["` + account + `"]}`, `{"id":"9","status":"subscribed","position":"` + position + `"}`},
	} {
		c.tell(step[0])
		if got := c.next(); got.raw != step[1] {
			t.Errorf("%s is answered by\n%s, want\n%s", step[0], got.raw, step[1])
		}
	}
	c.tell("no JSON")
	if got := c.next(); got.ID != nil || !strings.HasPrefix(got.Error, "invalid request envelope: ") {
		t.Errorf("what is no JSON is answered by %s", got.raw)
	}
	c.tell(`{"operation":"subscribe","id":"1","types":"transactions"}`)
	if got := c.next(); !strings.HasPrefix(got.Error, "invalid subscribe request: ") {
		t.Errorf("types that are no list are answered by %s", got.raw)
	}
	go x.grow()
	for e := c.next(); e.at(t).MCSeqno < x.bundles[len(x.bundles)-1].Seqno; e = c.next() {
		if e.Type != "account_state_change" || e.Account != account || e.ID != nil {
			t.Errorf("%s comes to a stream of %s", e.raw, account)
		}
	}
}

func TestSubscriptionsAreRefusedInTheContractsWords(t *testing.T) {
	x := newStreamWorld(t)
	s := x.whole.serve(t, func(c *Configuration) { c.Live.AnonymousAddresses = 3 })
	at := s.listening()
	account := func(n int) string { return fmt.Sprintf("0:%064X", n) }
	none := "k2vT5BkqNUzVJ/ErkO5bT2ytJ+xA5dHbXxK0BlkzGgI="
	for _, bad := range []struct {
		body, want string
	}{
		{`{"addresses":["` + account(1) + `"]}`, "types are required for subscription"},
		{`{"types":["transactions"]}`, "addresses are required for subscription"},
		{`{"types":["trace"]}`, "trace_external_hash_norms are required for trace subscription"},
		{`{"types":["transactions"],"addresses":["` + account(1) + `"],"trace_external_hash_norms":["` + none + `"]}`, `trace_external_hash_norms requires type "trace"`},
		{`{"types":["transactions","trace_invalidated","what"],"addresses":["` + account(1) + `"]}`, "invalid event type: what"},
		{`{"types":["transactions"],"addresses":["` + account(1) + `","xyz"]}`, "invalid address: xyz"},
		{`{"types":["transactions"],"addresses":["` + account(1) + `"],"min_finality":"soon"}`, "invalid min_finality: soon"},
		{`{"types":["transactions"],"addresses":["` + account(1) + `"],"msg_body_hash":"soon"}`, "invalid msg_body_hash"},
		{`{"types":["actions"],"addresses":["` + account(1) + `"],"msg_body_hash":"` + none + `"}`, `msg_body_hash requires addresses and type "transactions"`},
		{`{"types":["actions"],"addresses":["` + strings.Join([]string{account(1), account(2), account(3), account(4)}, `","`) + `"]}`, "too many addresses: 4 > max 3"},
		{`{"types":["actions"],"addresses":["` + account(1) + `"],"from":"yesterday"}`, "invalid position: yesterday"},
		{`{"types":["actions"],"addresses":["` + account(1) + `"],"from":"4000000000"}`, fmt.Sprintf("position 4000000000 is ahead of the index, whose newest masterchain block is %d", x.whole.watermark)},
	} {
		response, err := http.Post(at+"/streaming/v2/sse", "application/json", strings.NewReader(bad.body))
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(response.Body)
		response.Body.Close()
		want, _ := json.Marshal(map[string]string{"error": bad.want})
		if response.StatusCode != http.StatusBadRequest || string(text) != string(want) {
			t.Errorf("%s: %d %s, want 400 %s", bad.body, response.StatusCode, text, want)
		}
	}
	body := map[string]any{"types": []string{"actions", "trace_invalidated"}, "addresses": []string{account(1)}, "id": "mine"}
	for range 2 {
		held, _ := s.open(at, body)
		if ack := held.next(); ack.ID == nil || *ack.ID != "mine" || ack.Status != "subscribed" {
			t.Errorf("the first event is %s", ack.raw)
		}
	}
	refused, response := s.open(at, body)
	if text, _ := io.ReadAll(refused.body); response.StatusCode != http.StatusTooManyRequests || string(text) != `{"id":"mine","error":"connection limit reached: 2 active connections"}` {
		t.Errorf("a third stream of one client: %d %s", response.StatusCode, text)
	}
	c := s.dial(at)
	if e := c.next(); e.raw != `{"error":"connection limit reached: 2 active connections"}` {
		t.Errorf("a socket beside two streams is told %s", e.raw)
	}
	if _, _, err := c.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
		t.Errorf("and is closed by %v", err)
	}
	if response, err := http.Get(at + "/api/streaming/v2/ws"); err != nil || response.StatusCode != http.StatusUpgradeRequired {
		t.Errorf("a request without an upgrade: %v %v", response, err)
	}
}

func TestWhoReadsTooSlowlyIsToldAndOthersDoNotNotice(t *testing.T) {
	x := newStreamWorld(t)
	s := x.growing.serve(t, func(c *Configuration) {
		manyStreams(c)
		c.Live.Queue, c.Live.WriteTimeout = 8, 2*time.Second
	})
	s.await(x.bundles[x.from-1].Seqno)
	at := s.listening()
	last := x.bundles[len(x.bundles)-1]
	slow := s.dial(at)
	slow.tell(`{"operation":"subscribe","id":"1","types":["transactions","actions","trace","account_state_change"]}`)
	position := slow.next().Position
	account := rawOf(last.Transactions[len(last.Transactions)-1].Account)
	quick, _ := s.open(at, map[string]any{"types": []string{"account_state_change"}, "addresses": []string{account}})
	quick.next()
	go x.grow()
	quick.until(lastState(last))
	// What it was not sent it gets behind the position that it is told.
	var events []string
	var told *streamEvent
	for told == nil {
		_, raw, err := slow.Read(t.Context())
		if err != nil {
			break
		}
		e := &streamEvent{raw: string(raw)}
		if err := json.Unmarshal(raw, e); err != nil {
			t.Fatal(err)
		}
		if e.Error != "" {
			told = e
			break
		}
		position = e.Position
		events = append(events, e.raw)
	}
	if told == nil || told.Error != "slow consumer" || told.Position != position {
		t.Fatalf("behind %s the client is told %+v", position, told)
	}
	if _, _, err := slow.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusTryAgainLater || !strings.Contains(err.Error(), "slow consumer") {
		t.Errorf("the socket is closed by %v", err)
	}
	again, _ := s.open(at, map[string]any{"types": chainTypes, "from": position})
	events = append(events, raws(again.until(lastState(last)))...)
	all, _ := s.open(at, map[string]any{"types": chainTypes, "from": fmt.Sprint(x.bundles[x.from-1].Seqno)})
	sameEvents(t, "both parts", events, raws(all.until(lastState(last))))
}

func TestHostileClientsAreBounded(t *testing.T) {
	x := newStreamWorld(t)
	s := x.whole.serve(t, func(c *Configuration) { manyStreams(c); c.Live.Operations = 200 })
	at := s.listening()
	large := s.dial(at)
	_ = large.Write(t.Context(), websocket.MessageText, bytes.Repeat([]byte(" "), 16<<20)) // it may be broken off
	if _, raw, err := large.Read(t.Context()); err == nil {
		t.Errorf("a message of 16 MiB is answered by %.100s", raw)
	}
	flood := s.dial(at)
	go func() {
		for range 150 {
			_ = flood.Write(t.Context(), websocket.MessageText, []byte(`{"operation":"ping","id":"1"}`))
		}
	}()
	pongs, told := 0, 0
	for pongs < 150 {
		switch e := flood.next(); {
		case e.Status == "pong":
			pongs++
		case strings.HasPrefix(e.Error, "too many operations: "):
			told++
		default:
			t.Fatal(e.raw)
		}
	}
	if told == 0 {
		t.Error("a flood of pings is not told that it is one")
	}
	var many []string
	for i := range 10_001 {
		many = append(many, fmt.Sprintf("0:%064X", i))
	}
	raw, _ := json.Marshal(map[string]any{"operation": "subscribe", "types": []string{"transactions"}, "addresses": many})
	c := s.dial(at)
	c.tell(string(raw))
	if e := c.next(); e.Error != "address limit exceeded: current 0 + new 10001 > max 10000" {
		t.Errorf("10001 addresses are answered by %s", e.raw)
	}
	raw, _ = json.Marshal(map[string]any{"operation": "subscribe", "types": []string{"transactions"}, "addresses": many[1:]})
	remove, _ := json.Marshal(map[string]any{"operation": "unsubscribe", "addresses": many[1:]})
	for range 5 {
		c.tell(string(raw))
		c.tell(string(remove))
		for range 2 {
			if e := c.next(); e.Error != "" {
				t.Error(e.raw)
			}
		}
	}
	_ = c.CloseNow()
	_ = flood.CloseNow()
	for s.counter(t, "tonscribe_live_connections") > 0 || s.counter(t, "tonscribe_live_addresses") > 0 {
		time.Sleep(time.Millisecond)
	}
	if got := s.counter(t, "tonscribe_live_queued_bytes"); got != 0 {
		t.Errorf("%v bytes wait for nobody", got)
	}
}

// Whatever streams are open, a server that stops ends them first.
func TestStreamsEndWhenTheServerStops(t *testing.T) {
	x := newStreamWorld(t)
	s := x.whole.serve(t, manyStreams)
	at := s.listening()
	events, _ := s.open(at, map[string]any{"types": chainTypes})
	events.next()
	c := s.dial(at)
	c.tell(`{"operation":"subscribe","types":["transactions"]}`)
	c.next()
	closed := make(chan error, 1)
	go func() {
		_, _, err := c.Read(context.WithoutCancel(t.Context()))
		closed <- err
	}()
	s.component.Drain()
	if e := events.next(); e != nil {
		t.Errorf("after the end comes %s", e.raw)
	}
	if err := <-closed; websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("the socket is closed by %v", err)
	}
}

// tellingLog is a log that tells what messages will do when a test wants it.
type tellingLog struct {
	told
	more chan *record.PendingTrace
}

func (l tellingLog) Watch(ctx context.Context, _ string, _ int, take func(kafka.Item)) error {
	for {
		select {
		case t := <-l.more:
			take(kafka.Item{Record: &record.Record{Content: &record.Record_Pending{Pending: t}}})
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// normal is the hash that events name a pending trace by.
func normal(p *record.PendingTrace) string {
	in := p.Transactions[0].InMsg
	if len(in.HashNorm) > 0 {
		return b64(in.HashNorm)
	}
	return b64(in.Hash)
}

func TestWhatIsForeseenIsToldAndComesOrIsInvalidated(t *testing.T) {
	x := &traced{txs: map[string]*record.Transaction{}, steps: map[string]*record.TraceStep{}, traces: map[string][]*record.TraceStep{}}
	s := newStreamWorld(t)
	traces := synthetic.NewTraces()
	begins := map[string]int{}
	for i, b := range s.bundles {
		for _, tx := range b.Transactions {
			x.txs[string(tx.Hash)] = tx
			begins[string(tx.Hash)] = i
		}
		for _, r := range traces.Records(b, 1)[0] {
			for _, step := range r.GetTraces().GetTraces() {
				x.steps[string(step.Trace.Id)] = step
				x.traces[string(step.Trace.Id)] = append(x.traces[string(step.Trace.Id)], step)
			}
		}
	}
	_, closed := x.fromOutside()
	var coming []*record.TraceStep // whose roots are in bundles that are not there yet
	for _, step := range closed {
		// Another message to the same account that comes before takes its place.
		overtaken := slices.ContainsFunc(s.bundles[s.from:max(s.from, begins[string(step.Trace.Id)]+1)], func(b *synthetic.Bundle) bool {
			return slices.ContainsFunc(b.Transactions, func(tx *record.Transaction) bool {
				return tx.InMsg.GetKind() == record.Message_EXTERNAL_IN && bytes.Equal(tx.Account, x.txs[string(step.Trace.Id)].Account) && !bytes.Equal(tx.Hash, step.Trace.Id)
			})
		})
		if begins[string(step.Trace.Id)] > s.from+3 && !overtaken {
			coming = append(coming, step)
		}
	}
	if len(coming) < 3 {
		t.Fatalf("%d traces begin outside and end in time", len(coming))
	}
	asForeseen, _ := x.foreseen(coming[0])
	otherwise, _ := x.foreseen(coming[1])
	root := otherwise.Transactions[0]
	root.Aborted = !root.Aborted
	never, _ := x.foreseen(coming[2])
	never.Transactions[0].InMsg.Hash, never.Transactions[0].InMsg.HashNorm = newHash(1), newHash(2)
	never.Transactions[0].Account = append(root.Account[:4:4], newHash(3)...)
	log := tellingLog{more: make(chan *record.PendingTrace)}
	s.growing.shared = log
	server := s.growing.serve(t, func(c *Configuration) {
		manyStreams(c)
		c.Live.PendingDeadline, c.Live.Queue, c.Live.QueueBytes = 2*time.Second, 100_000, 64<<20
	})
	server.await(s.bundles[s.from-1].Seqno)
	at := server.listening()
	all, _ := server.open(at, map[string]any{"types": []string{"transactions", "actions", "trace"}, "min_finality": "pending"})
	final, _ := server.open(at, map[string]any{"types": []string{"transactions", "account_state_change"}})
	all.next()
	final.next()
	last := lastState(s.bundles[len(s.bundles)-1])
	history := map[string][]string{}
	take := func(e *streamEvent) {
		history[e.Trace] = append(history[e.Trace], e.Type+" "+e.Finality)
	}
	for _, p := range []*record.PendingTrace{asForeseen, otherwise, never} {
		log.more <- p
		want := normal(p)
		for {
			e := all.next()
			if take(e); e.Trace != want || e.Finality != "pending" {
				t.Fatalf("%s comes, want what is foreseen of %s", e.raw[:min(300, len(e.raw))], want)
			}
			if p, err := live.ParsePosition(e.Position); err != nil || p.MCSeqno != s.bundles[s.from-1].Seqno {
				t.Errorf("what is foreseen has the position %s", e.Position)
			}
			if e.Type == "trace" {
				break
			}
		}
	}
	go s.grow()
	for _, e := range final.until(last) {
		if e.Finality != "finalized" {
			t.Errorf("who wants what is final gets %s", e.raw[:min(300, len(e.raw))])
		}
	}
	for len(history[normal(never)]) == 0 || !strings.HasPrefix(history[normal(never)][len(history[normal(never)])-1], "trace_invalidated") {
		take(all.next())
	}
	check := func(what string, p *record.PendingTrace, invalidated bool) {
		t.Helper()
		list := history[normal(p)]
		seenFinal, seenInvalid := false, false
		for _, e := range list {
			switch {
			case strings.HasPrefix(e, "trace_invalidated"):
				seenInvalid = true
			case strings.HasSuffix(e, " finalized"):
				seenFinal = true
			case seenFinal:
				t.Errorf("%s: %s comes behind what is final: %q", what, e, list)
			}
		}
		if seenInvalid != invalidated || !seenFinal {
			t.Errorf("%s: %q", what, list)
		}
	}
	check("as it was foreseen", asForeseen, false)
	check("otherwise", otherwise, true)
}

func TestStreamsOfTokensAndOpcodes(t *testing.T) {
	x := newStreamWorld(t)
	s := x.whole.serve(t, manyStreams)
	at, from, last := s.listening(), fmt.Sprint(x.bundles[x.from-1].Seqno), lastState(x.bundles[len(x.bundles)-1])
	all, _ := s.open(at, map[string]any{"types": []string{"jettons_change", "account_state_change"}, "from": from})
	want := map[string][]string{}
	for _, e := range all.until(last) {
		if e.Type == "jettons_change" {
			want[e.Jetton.Jetton] = append(want[e.Jetton.Jetton], e.raw)
			want[e.Jetton.Owner] = append(want[e.Jetton.Owner], e.raw)
		}
	}
	if len(want) < 4 {
		t.Fatalf("wallets of %d jettons and owners change", len(want))
	}
	busy := rawOf(x.bundles[len(x.bundles)-1].Transactions[len(x.bundles[len(x.bundles)-1].Transactions)-1].Account)
	tested := 0
	for account, events := range want {
		if account == busy || tested == 6 {
			continue
		}
		tested++
		for _, field := range []string{"jettons", "addresses"} {
			named := map[string]any{"types": []string{"jettons_change", "account_state_change"}, "from": from, field: []string{account}, "addresses": []string{busy}}
			if field == "addresses" {
				named["addresses"] = []string{account, busy}
			}
			stream, _ := s.open(at, named)
			got := slices.DeleteFunc(stream.until(last), func(e *streamEvent) bool {
				return e.Type != "jettons_change" || e.Jetton.Jetton != account && (field == "jettons" || e.Jetton.Owner != account)
			})
			stream.cancel()
			matching := slices.DeleteFunc(slices.Clone(events), func(raw string) bool {
				return !strings.Contains(raw, `"jetton":"`+account) && field == "jettons" || !strings.Contains(raw, `"owner":"`+account) && field == "addresses"
			})
			sameEvents(t, field+" "+account, raws(got), matching)
		}
	}
	opcodes := map[uint32]int{}
	for _, b := range x.bundles[x.from:] {
		for _, tx := range b.Transactions {
			if tx.InMsg != nil && tx.InMsg.Opcode != nil {
				opcodes[*tx.InMsg.Opcode]++
			}
		}
	}
	tested = 0
	for opcode, n := range opcodes {
		if tested++; tested > 3 {
			break
		}
		text := fmt.Sprintf("0x%08x", opcode)
		stream, _ := s.open(at, map[string]any{"types": []string{"transactions", "account_state_change"}, "from": from, "opcodes": []string{text}})
		received := map[string]bool{}
		for _, e := range stream.until(last) {
			var list []struct {
				Hash  string
				Seqno uint32                  `json:"mc_block_seqno"`
				In    struct{ Opcode string } `json:"in_msg"`
			}
			if e.Type == "transactions" {
				if err := json.Unmarshal(e.Transactions, &list); err != nil {
					t.Fatal(err)
				}
			}
			for _, tx := range list {
				if tx.In.Opcode != text {
					t.Errorf("a stream of %s has a message %s", text, tx.In.Opcode)
				}
				if tx.Seqno >= x.bundles[x.from].Seqno {
					received[tx.Hash] = true
				}
			}
		}
		stream.cancel()
		if len(received) != n {
			t.Errorf("%d transactions of %s come, want %d", len(received), text, n)
		}
	}
}

// Keys that may have the whole chain are named; others have to name what they want.
func TestTheWholeChainIsForThoseWhoMayHaveIt(t *testing.T) {
	w := newWorld(t, syntheticBundles(200, 3))
	none := map[string]any{"types": []string{"transactions"}}
	for _, c := range []struct {
		everything []string
		status     int
	}{{[]string{"anonymous"}, http.StatusOK}, {[]string{"*"}, http.StatusBadRequest}, {nil, http.StatusBadRequest}} {
		s := w.serve(t, func(c2 *Configuration) { c2.Live.Everything = c.everything })
		_, response := s.open(s.listening(), none)
		if response.StatusCode != c.status {
			t.Errorf("without a key, where %v may: %d, want %d", c.everything, response.StatusCode, c.status)
		}
	}
}

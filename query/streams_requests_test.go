package query

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"tonscribe/query/auth"
)

func TestASocketDoesWhatItsOperationsSay(t *testing.T) {
	t.Parallel()
	x := newStreamWorld(t)
	s := x.growing.serve(t, manyStreams)
	s.await(x.bundles[x.from-1].Seqno)
	at := s.listening()
	c := s.dial(at)
	account := rawOf(x.bundles[len(x.bundles)-1].Transactions[0].Account)
	position := fmt.Sprint(x.bundles[x.from-1].Seqno)
	for _, step := range [][2]string{
		{`{"operation":"ping","id":"p"}`, `{"id":"p","status":"pong","position":"` + position + `"}`},
		{`{"operation":"ping"}`, `{"status":"pong","position":"` + position + `"}`},
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
	t.Parallel()
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
		{`{"types":["actions"],"addresses":["` + account(1) + `"],"from":"4294967295"}`, fmt.Sprintf("position 4294967295 is ahead of the index, whose newest masterchain block is %d", x.whole.watermark)},
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

// Whatever streams are open, a server that stops ends them first.
func TestStreamsEndWhenTheServerStops(t *testing.T) {
	t.Parallel()
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

// Keys that may have the whole chain are named; others have to name what they want.
func TestTheWholeChainIsForThoseWhoMayHaveIt(t *testing.T) {
	t.Parallel()
	w := wholeStreamWorld(t)
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

func TestAKeyHasAsManyStreamsAndAddressesAsItWasGiven(t *testing.T) {
	t.Parallel()
	w := wholeStreamWorld(t)
	s := w.serve(t, func(c *Configuration) { c.Live.ClientConnections, c.Live.Addresses = 2, 4 })
	at := s.listening()
	for name, c := range map[string]struct {
		own                  auth.Streams
		connections, maximum int
	}{"own": {auth.Streams{Connections: 1, Addresses: 3}, 1, 3}, "more": {auth.Streams{Connections: 3, Addresses: 5}, 3, 5}, "none": {auth.Streams{}, 2, 4}} {
		secret := auth.NewSecret()
		key, err := auth.KeyOf(secret)
		if err != nil {
			t.Fatal(err)
		}
		key.Name, key.Burst, key.Streams, key.Created = name, 1, c.own, time.Now()
		if err := auth.NewTable(w.tables).Put(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		naming := func(n int) map[string]any {
			var addresses []string
			for i := range n {
				addresses = append(addresses, fmt.Sprintf("0:%064X", i))
			}
			return map[string]any{"types": []string{"transactions"}, "addresses": addresses}
		}
		refused, response := s.open(at, naming(c.maximum+1), "X-API-Key", secret)
		told, want := refused.failure(), fmt.Sprintf("too many addresses: %d > max %d", c.maximum+1, c.maximum)
		if response.StatusCode != http.StatusBadRequest || told != want {
			t.Errorf("%s: %d %s, want 400 %s", name, response.StatusCode, told, want)
		}
		for range c.connections {
			if held, response := s.open(at, naming(c.maximum), "X-API-Key", secret); response.StatusCode != http.StatusOK || held.next().Status != "subscribed" {
				t.Errorf("%s: a stream that it may have: %d", name, response.StatusCode)
			}
		}
		refused, response = s.open(at, naming(1), "X-API-Key", secret)
		told, want = refused.failure(), fmt.Sprintf("connection limit reached: %d active connections", c.connections)
		if response.StatusCode != http.StatusTooManyRequests || told != want {
			t.Errorf("%s: %d %s, want 429 %s", name, response.StatusCode, told, want)
		}
	}
}

// A key that is revoked gets nothing more, also over the streams that it has.
func TestStreamsEndWhenTheirKeyIsRevoked(t *testing.T) {
	t.Parallel()
	w := wholeStreamWorld(t)
	s := w.serve(t, func(c *Configuration) { c.Auth.Refresh, c.Live.KeepAlive = 100*time.Millisecond, 2*time.Second }) // a client that does not read answers no pings
	at, secret := s.listening(), auth.NewSecret()
	key, err := auth.KeyOf(secret)
	if err != nil {
		t.Fatal(err)
	}
	key.Name, key.Burst, key.Created = "lost", 10, time.Now()
	put := func() {
		t.Helper()
		if err := auth.NewTable(w.tables).Put(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	put()
	wanted := map[string]any{"types": []string{"transactions"}, "addresses": addressesFrom(0, 1)}
	events, _ := s.open(at, wanted, "X-API-Key", secret)
	anonymous, _ := s.open(at, wanted)
	c := s.dialWith(at, secret)
	wanted["operation"] = "subscribe"
	c.tell(operation(t, wanted))
	for _, ack := range []*streamEvent{events.next(), anonymous.next(), c.next()} {
		if ack.Status != "subscribed" {
			t.Fatalf("a stream begins with %s", ack.raw)
		}
	}
	key.Revoked = true
	put()
	const patience = time.Minute
	defer time.AfterFunc(patience, func() { events.cancel(); _ = c.CloseNow() }).Stop()
	const want = "API key does not exist"
	if e := events.next(); e == nil || e.Error != want || e.Position == "" {
		t.Errorf("a stream of events of a revoked key is told %+v, want %q", e, want)
	}
	_, raw, err := c.Read(t.Context())
	if err != nil || !strings.HasPrefix(string(raw), `{"error":"`+want+`","position":"`) {
		t.Errorf("a socket of a revoked key is told %s (%v), want %q", raw, err, want)
	}
	if _, _, err := c.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusPolicyViolation {
		t.Errorf("and is closed by %v, want %d", err, websocket.StatusPolicyViolation)
	}
	s.component.Drain()
	if e := anonymous.next(); e != nil {
		t.Errorf("a stream without a key is told %s", e.raw)
	}
}

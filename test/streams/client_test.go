package streams

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"tonscribe/query/live"
	"tonscribe/query/live/events"
)

// event is one that a client got.
type event struct {
	at   events.Position
	kind string
	raw  string
}

// client follows a stream, and comes back behind its last event whenever it ends, to any
// of the replicas.
type client struct {
	testing.TB
	name     string
	servers  []string
	key      string
	socket   bool
	wanted   map[string]any // the subscription
	random   *rand.Rand
	returned int // how often it came back

	mu     sync.Mutex
	events []event
	begun  *events.Position
	last   events.Position
}

// run follows until ctx ends.
func (c *client) run(ctx context.Context) {
	follow := c.followEvents
	if c.socket {
		follow = c.followSocket
	}
	for ctx.Err() == nil {
		server := c.servers[c.random.IntN(len(c.servers))]
		attempt, cancel := context.WithCancel(ctx)
		err := follow(attempt, server)
		cancel()
		var wrong *wrongEvent
		if errors.As(err, &wrong) {
			c.Errorf("%s: %v", c.name, err)
			return
		}
		c.returned++
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// subscription is that of the next attempt.
func (c *client) subscription() map[string]any {
	c.mu.Lock()
	defer c.mu.Unlock()
	wanted := map[string]any{"operation": "subscribe"}
	for name, value := range c.wanted {
		wanted[name] = value
	}
	if c.begun != nil {
		wanted["from"] = c.last.String()
	}
	return wanted
}

// wrongEvent is what a server must not send.
type wrongEvent struct{ text string }

// Error is error's.
func (w *wrongEvent) Error() string { return w.text }

// take notes an event; an error ends the stream.
func (c *client) take(raw []byte) error {
	var e struct{ Type, Position, Status, Error string }
	if err := json.Unmarshal(raw, &e); err != nil {
		return &wrongEvent{fmt.Sprintf("%v: %.300s", err, raw)}
	}
	if e.Error != "" {
		return errors.New(e.Error)
	}
	at, err := events.ParsePosition(e.Position)
	if err != nil {
		return &wrongEvent{fmt.Sprintf("%v: %.300s", err, raw)}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case e.Status != "" && c.begun == nil:
		c.begun, c.last = &at, at
	case e.Status != "":
		if at != c.last {
			return &wrongEvent{fmt.Sprintf("goes on behind %s, %s was wanted", at, c.last)}
		}
	case c.begun == nil:
		return &wrongEvent{fmt.Sprintf("an event comes before the answer: %.300s", raw)}
	case at.Compare(c.last) <= 0:
		return &wrongEvent{fmt.Sprintf("%s comes behind %s: %.300s", at, c.last, raw)}
	default:
		c.events, c.last = append(c.events, event{at, e.Type, string(raw)}), at
	}
	return nil
}

// got are the events so far, up to the end of a bundle.
func (c *client) got(upTo uint32) (list []event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.events {
		if e.at.MCSeqno <= upTo {
			list = append(list, e)
		}
	}
	return list
}

// silence is how long a server may say nothing: what was killed may not even close.
const silence = 15 * time.Second

func (c *client) followEvents(ctx context.Context, server string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	body, err := json.Marshal(c.subscription())
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+server+live.Prefix+"/v2/sse", bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("X-API-Key", c.key)
	quiet := time.AfterFunc(silence, cancel)
	defer quiet.Stop()
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	lines := bufio.NewReaderSize(answer.Body, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return err
		}
		quiet.Reset(silence)
		if data, is := bytes.CutPrefix(line, []byte("data: ")); is {
			if err := c.take(bytes.TrimSuffix(data, []byte("\n"))); err != nil {
				return err
			}
		}
	}
}

func (c *client) followSocket(ctx context.Context, server string) error {
	socket, _, err := websocket.Dial(ctx, "ws://"+server+live.Prefix+"/v2/ws?api_key="+c.key, nil)
	if err != nil {
		return err
	}
	defer func() { _ = socket.CloseNow() }()
	socket.SetReadLimit(64 << 20)
	body, err := json.Marshal(c.subscription())
	if err != nil {
		return err
	}
	if err := socket.Write(ctx, websocket.MessageText, body); err != nil {
		return err
	}
	for {
		_, raw, err := socket.Read(ctx)
		if err != nil {
			return err
		}
		if err := c.take(raw); err != nil {
			return err
		}
	}
}

// reference reads the events of a subscription, as a server has them at once, until there
// are as many as are wanted.
func reference(t testing.TB, server, key string, wanted map[string]any, from events.Position, until func([]event) bool) (list []event) {
	t.Helper()
	c := &client{TB: t, name: "the reference", servers: []string{server}, key: key, wanted: map[string]any{}, random: rand.New(rand.NewPCG(1, 1))}
	for name, value := range wanted {
		c.wanted[name] = value
	}
	c.wanted["from"] = from.String()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); c.run(ctx) }()
	defer func() { cancel(); <-done }()
	for deadline, had := time.Now().Add(patience), 0; ; time.Sleep(20 * time.Millisecond) {
		if list = c.got(1<<32 - 1); until(list) {
			return list
		}
		if len(list) > had {
			deadline, had = time.Now().Add(patience), len(list)
		}
		if time.Now().After(deadline) {
			t.Fatalf("behind %s a server has %d events of %v, more are wanted; the last is %s", from, len(list), wanted, c.last)
		}
	}
}

// sameEvents compares what a client got with what it was to get.
func sameEvents(t testing.TB, name string, got, want []event) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		at := func(list []event) event {
			if i < len(list) {
				return list[i]
			}
			return event{raw: "nothing"}
		}
		g, w := at(got), at(want)
		if g == w {
			continue
		}
		n := 0
		for n < min(len(g.raw), len(w.raw)) && g.raw[n] == w.raw[n] {
			n++
		}
		part := func(raw string) string { return strings.ToValidUTF8(raw[max(0, n-100):min(len(raw), n+200)], "") }
		t.Errorf("%s: of %d events, %d are wanted; number %d is %s %s, want %s %s, from byte %d on\n…%s, want\n…%s", name, len(got), len(want), i, g.at, g.kind, w.at, w.kind, n, part(g.raw), part(w.raw))
		return
	}
}

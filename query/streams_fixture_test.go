package query

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"tonscribe/bench/synthetic"
	"tonscribe/query/live/events"
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

func (e *streamEvent) at(t testing.TB) events.Position {
	t.Helper()
	p, err := events.ParsePosition(e.Position)
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
	if response.StatusCode == http.StatusOK && !response.Close {
		s.Error("a client may ask something else over the connection of a stream that has ended")
	}
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

// failure is the error of an answer that is no stream.
func (s *stream) failure() string {
	s.Helper()
	var answer struct{ Error string }
	if err := json.NewDecoder(s.body).Decode(&answer); err != nil {
		s.Fatal(err)
	}
	return answer.Error
}

// until reads events up to one behind or at a position.
func (s *stream) until(last events.Position) (list []*streamEvent) {
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
func (s *server) listening() string { return s.listeningWith(0) }

// listeningWith is the same with so many bytes in the system for each client to read.
func (s *server) listeningWith(bytes int) string {
	at := httptest.NewUnstartedServer(s.component.Handler())
	if bytes > 0 {
		at.Listener = narrow{at.Listener, bytes}
	}
	at.Start()
	s.Cleanup(at.Close)
	s.Cleanup(s.component.Drain)
	return at.URL
}

// narrow is a listener whose connections hold few bytes that are not read.
type narrow struct {
	net.Listener
	bytes int
}

// Accept is net.Listener's.
func (n narrow) Accept() (net.Conn, error) {
	c, err := n.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return c, c.(*net.TCPConn).SetWriteBuffer(n.bytes)
}

// lastState is the position of what became of the account of a bundle's last transaction.
func lastState(b *synthetic.Bundle) events.Position {
	n := uint32(len(b.Transactions))
	return events.Position{MCSeqno: b.Seqno, Event: 5*n - 2}
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

// streamTables are the tables of all stream worlds, in which nobody changes
// more than the keys of the API.
var streamTables = kept[[2]*world]{alone: true}

func newStreamWorld(t *testing.T) *streamWorld {
	t.Helper()
	x, rows := tablesOfStreams(t)
	x.log = &growingLog{heldLog: inMemory(t, x.bundles, synthetic.NewTokens(rows), x.from-2), visible: 2, changed: make(chan struct{}, 1)}
	prev := x.bundles[x.from-3].Seqno
	for _, b := range x.log.bundles {
		b.PrevMCSeqno, prev = prev, b.MCSeqno
	}
	x.growing.log = x.log
	return x
}

// wholeStreamWorld is the world that has all in tables, for tests to which the chain is all one.
func wholeStreamWorld(t *testing.T) *world {
	t.Helper()
	x, _ := tablesOfStreams(t)
	return x.whole
}

// tablesOfStreams is a stream world with nothing in memory.
func tablesOfStreams(t *testing.T) (*streamWorld, *synthetic.Rows) {
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
	filled := streamTables.get(t, func() [2]*world {
		return [2]*world{keptWorld(t, x.bundles[:x.from], synthetic.NewTokens(rows)), keptWorld(t, x.bundles, synthetic.NewTokens(rows))}
	})
	x.growing, x.whole = filled[0].again(t), filled[1].again(t)
	return x, rows
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

// socket is a WebSocket that a test uses.
type socket struct {
	testing.TB
	*websocket.Conn
}

func (s *server) dial(at string) *socket {
	s.Helper()
	return s.dialWith(at, "")
}

// dialWith opens one with an API key, which may be empty.
func (s *server) dialWith(at, key string) *socket {
	s.Helper()
	c, _, err := websocket.Dial(s.Context(), strings.Replace(at, "http", "ws", 1)+"/api/streaming/v2/ws", &websocket.DialOptions{
		HTTPHeader: http.Header{"Accept-Encoding": {"gzip, deflate, br, zstd"}, "X-Api-Key": {key}},
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

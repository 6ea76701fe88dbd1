package query

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"tonscribe/query/live"
	"tonscribe/query/live/events"
	"tonscribe/query/render"
	"tonscribe/schema/record"
	"tonscribe/test/support/enginetest"
)

// A bundle may have more events than wait for a client. Whoever reads gets them all, and
// whoever does not is told where to go on.
func TestWhoReadsTooSlowlyIsToldAndOthersDoNotNotice(t *testing.T) {
	t.Parallel()
	x := newStreamWorld(t)
	s := x.growing.serve(t, func(c *Configuration) {
		manyStreams(c)
		c.Live.Queue, c.Live.WriteTimeout = 2, 20*time.Second
	})
	s.await(x.bundles[x.from-1].Seqno)
	at := s.listeningWith(4 << 10)
	first, last := fmt.Sprint(x.bundles[x.from-1].Seqno), x.bundles[len(x.bundles)-1]
	slow := s.dial(at)
	slow.tell(`{"operation":"subscribe","id":"1","types":["transactions","actions","trace","account_state_change"]}`)
	position := slow.next().Position
	account := rawOf(last.Transactions[len(last.Transactions)-1].Account)
	quick, _ := s.open(at, map[string]any{"types": []string{"account_state_change"}, "addresses": []string{account}})
	quick.next()
	reader, _ := s.open(at, map[string]any{"types": chainTypes})
	reader.next()
	slowEvents, _ := s.open(at, map[string]any{"types": chainTypes})
	slowEvents.next()
	go x.grow()
	read := raws(reader.until(lastState(last)))
	quick.until(lastState(last))
	if s.counter(t, "tonscribe_live_behind_total") == 0 {
		t.Error("no stream fell behind: the queue is too large for this chain")
	}
	for s.counter(t, "tonscribe_live_slow_total") < 2 {
		time.Sleep(time.Millisecond)
	}
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
	reached := position
	if _, _, err := slow.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusTryAgainLater || !strings.Contains(err.Error(), "slow consumer") {
		t.Errorf("the socket is closed by %v", err)
	}
	// A stream of events ends alike.
	position = first
	for told = slowEvents.next(); told != nil && told.Error == ""; told = slowEvents.next() {
		position = told.Position
	}
	if told == nil || told.Error != "slow consumer" || told.Position != position {
		t.Errorf("behind %s the reader of events is told %+v", position, told)
	}
	if slowEvents.next() != nil {
		t.Error("more comes behind the end")
	}
	again, _ := s.open(at, map[string]any{"types": chainTypes, "from": reached})
	events = append(events, raws(again.until(lastState(last)))...)
	all, _ := s.open(at, map[string]any{"types": chainTypes, "from": first})
	want := raws(all.until(lastState(last)))
	sameEvents(t, "both parts", events, want)
	sameEvents(t, "who reads", read, want)
}

// rawSocket is a WebSocket of which a test writes the bytes.
type rawSocket struct {
	testing.TB
	net.Conn
	in *bufio.Reader
}

// dialRaw opens one, with some more lines in the head of its request; the answer's head is
// returned.
func dialRaw(t testing.TB, at string, lines ...string) (*rawSocket, *http.Response) {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(at, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	lines = append([]string{"GET /api/streaming/v2/ws HTTP/1.1", "Host: here", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="}, lines...)
	if _, err := io.WriteString(c, strings.Join(lines, "\r\n")+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	s := &rawSocket{t, c, bufio.NewReader(c)}
	response, err := http.ReadResponse(s.in, nil)
	if err != nil || response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("the handshake: %v, %v", response, err)
	}
	return s, response
}

const (
	textFrame, closeFrame, pingFrame, pongFrame = 0x1, 0x8, 0x9, 0xA
	compressedBit                               = 0x40
)

// frame writes the head of a frame that is masked by zeros, and a payload that may be
// shorter than the head says.
func (s *rawSocket) frame(opcode byte, length int, payload []byte) error {
	head := append([]byte{0x80 | opcode, 0x80 | 127}, binary.BigEndian.AppendUint64(nil, uint64(length))...)
	if length < 126 { // frames of control have no other form
		head = []byte{0x80 | opcode, 0x80 | byte(length)}
	}
	_, err := s.Write(append(append(head, 0, 0, 0, 0), payload...))
	return err
}

// nextFrame reads a frame of the server.
func (s *rawSocket) nextFrame() (opcode byte, payload []byte, err error) {
	var head [2]byte
	if _, err := io.ReadFull(s.in, head[:]); err != nil {
		return 0, nil, err
	}
	length := uint64(head[1] & 0x7f)
	for form, bytes := range map[uint64]int{126: 2, 127: 8} {
		if uint64(head[1]&0x7f) == form {
			var long [8]byte
			if _, err := io.ReadFull(s.in, long[8-bytes:]); err != nil {
				return 0, nil, err
			}
			length = binary.BigEndian.Uint64(long[:])
		}
	}
	payload = make([]byte, length)
	_, err = io.ReadFull(s.in, payload)
	return head[0] & 0xf, payload, err
}

// closedBy reads up to the end and returns the status of the frame that closes, 0 for none.
func (s *rawSocket) closedBy() (status int) {
	for {
		opcode, payload, err := s.nextFrame()
		if err != nil {
			return status
		}
		if opcode == closeFrame && len(payload) >= 2 {
			status = int(binary.BigEndian.Uint16(payload))
		}
	}
}

// nothingIsLeft waits until all streams have ended, and nothing is counted of them.
func (s *server) nothingIsLeft(t *testing.T) {
	t.Helper()
	for _, name := range []string{"connections", "addresses", "queued_bytes"} {
		for s.counter(t, "tonscribe_live_"+name) != 0 {
			select {
			case <-t.Context().Done():
				t.Fatalf("%s: %v are left", name, s.counter(t, "tonscribe_live_"+name))
			case <-time.After(time.Millisecond):
			}
		}
	}
}

func addressesFrom(first, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("0:%064X", first+i)
	}
	return list
}

func operation(t testing.TB, members map[string]any) string {
	t.Helper()
	raw, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// Whatever a client does, it is told in the contract's words, and takes no more than its
// limits: of nobody anything is left.
func TestHostileClientsAreBounded(t *testing.T) { // not beside others: it measures memory
	w := wholeStreamWorld(t)
	serve := func(change func(*live.Configuration)) (*server, string) {
		s := w.serve(t, func(c *Configuration) { manyStreams(c); change(&c.Live) })
		return s, s.listening()
	}
	s, at := serve(func(c *live.Configuration) { c.Operations, c.AllAddresses, c.WriteTimeout = 200, 25_000, 2*time.Second })
	for _, c := range []struct {
		what string
		test func(*testing.T, *server, string)
	}{
		{"frames of 16 MiB", framesThatAreTooLarge},
		{"compressed bombs", compressedBombs},
		{"floods of pings", floodsOfPings},
		{"a million subscriptions", aMillionSubscriptions},
		{"subscribing and unsubscribing", subscribingAndUnsubscribing},
		{"texts that are no operations", textsThatAreNoOperations},
		{"types that there are not", typesThatThereAreNot},
	} {
		t.Run(c.what, func(t *testing.T) {
			c.test(t, s, at)
			s.nothingIsLeft(t)
		})
	}
	t.Run("half-open sockets", func(t *testing.T) {
		s, at := serve(func(c *live.Configuration) { c.KeepAlive = 100 * time.Millisecond })
		for range 20 {
			silent, _ := dialRaw(t, at)
			defer silent.Close()
			if err := silent.frame(textFrame, 16, []byte(`{"operation":""}`)); err != nil {
				t.Fatal(err)
			}
		}
		s.nothingIsLeft(t) // they neither answer pings, nor end
	})
}

func framesThatAreTooLarge(t *testing.T, _ *server, at string) {
	const size, sockets = 16 << 20, 20
	payload := bytes.Repeat([]byte(" "), 1<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range sockets {
		c, _ := dialRaw(t, at)
		go func() { // it may be broken off
			if c.frame(textFrame, size, nil) == nil {
				for range size / len(payload) {
					if _, err := c.Write(payload); err != nil {
						return
					}
				}
			}
		}()
		if status := c.closedBy(); status != int(websocket.StatusMessageTooBig) && status != 0 {
			t.Errorf("a frame of 16 MiB is closed by %d", status)
		}
		c.Close()
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > sockets*size/2 {
		t.Errorf("%d frames of %d bytes took %d bytes", sockets, size, took)
	}
}

func compressedBombs(t *testing.T, _ *server, at string) {
	c, response := dialRaw(t, at, "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits")
	if agreed := response.Header.Get("Sec-WebSocket-Extensions"); agreed != "" {
		t.Errorf("the server agrees to %s", agreed)
	}
	if err := c.frame(textFrame|compressedBit, 10, bytes.Repeat([]byte{1}, 10)); err != nil {
		t.Fatal(err)
	}
	if status := c.closedBy(); status != int(websocket.StatusProtocolError) {
		t.Errorf("a compressed frame is closed by %d, want %d", status, websocket.StatusProtocolError)
	}
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 64 {
		_, _ = z.Write(bytes.Repeat([]byte(" "), 1<<20))
	}
	z.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at+"/api/streaming/v2/sse", &bomb)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Encoding", "gzip")
	response, err = http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	if want := `{"error":"invalid subscription request: Content-Encoding is not supported"}`; response.StatusCode != http.StatusUnsupportedMediaType || string(text) != want {
		t.Errorf("a compressed body: %d %s, want 415 %s", response.StatusCode, text, want)
	}
}

func floodsOfPings(t *testing.T, s *server, at string) {
	flood := s.dial(at)
	defer flood.CloseNow()
	go func() {
		for range 150 {
			_ = flood.Write(t.Context(), websocket.MessageText, []byte(`{"operation":"ping","id":"1"}`))
		}
	}()
	began := time.Now()
	for range 150 {
		if e := flood.next(); e.Status != "pong" {
			t.Fatalf("a ping is answered by %s", e.raw)
		}
	}
	if took := time.Since(began); took < time.Second/2 {
		t.Errorf("150 pings are answered in %s, want 20 at once and 200 a second", took)
	}
	// Frames of control are counted alike: they are read as slowly as they may come.
	frames, _ := dialRaw(t, at)
	defer frames.Close()
	const pings = 100
	for i := range pings {
		if err := frames.frame(pingFrame, 1, []byte{byte(i)}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range pings {
		if opcode, payload, err := frames.nextFrame(); err != nil || opcode != pongFrame || !bytes.Equal(payload, []byte{byte(i)}) {
			t.Fatalf("ping %d is answered by %d %v, %v", i, opcode, payload, err)
		}
	}
	// Who reads no answers is not answered for ever, nor at length.
	for _, id := range []string{strings.Repeat("<", 1024), strings.Repeat("<", 1_000_000)} {
		text := []byte(`{"operation":"ping","id":"` + id + `"}`)
		c, _ := dialRaw(t, at)
		if err := c.frame(textFrame, len(text), text); err != nil {
			t.Fatal(err)
		}
		if _, answer, err := c.nextFrame(); err != nil || len(answer) > 8<<10 || strings.Contains(string(answer), "longer") != (len(id) > 1024) {
			t.Errorf("an id of %d bytes is answered by %.200s, %v", len(id), answer, err)
		}
		c.Close()
	}
	deaf, _ := dialRaw(t, at)
	_ = deaf.Conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	text := []byte(`{"operation":"dance","id":"` + strings.Repeat("<", 1000) + `"}`)
	for deaf.frame(textFrame, len(text), text) == nil {
	}
}

func aMillionSubscriptions(t *testing.T, s *server, at string) {
	all := operation(t, map[string]any{"operation": "subscribe", "types": []string{"transactions"}, "addresses": addressesFrom(0, 1_000_000)})
	large := s.dial(at)
	_ = large.Write(t.Context(), websocket.MessageText, []byte(all)) // it may be broken off
	if _, raw, err := large.Read(t.Context()); err == nil {
		t.Errorf("a million addresses are answered by %.100s", raw)
	}
	response, err := http.Post(at+"/api/streaming/v2/sse", "application/json", strings.NewReader(all))
	if err == nil { // the server may end the connection
		text, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if want := `{"error":"invalid subscription request: the body is larger than 1048576 bytes"}`; response.StatusCode != http.StatusBadRequest || string(text) != want {
			t.Errorf("a million addresses: %d %s, want 400 %s", response.StatusCode, text, want)
		}
	}
	subscribe := func(first, n int) string {
		return operation(t, map[string]any{"operation": "subscribe", "types": []string{"transactions"}, "addresses": addressesFrom(first, n)})
	}
	var held []*socket
	for i := range 3 {
		held = append(held, s.dial(at))
		defer held[i].CloseNow()
	}
	for i, step := range []struct {
		by, n int
		want  string // the error
	}{
		{0, 10_001, "address limit exceeded: current 0 + new 10001 > max 10000"}, {0, 10_000, ""}, {1, 10_000, ""},
		{2, 10_000, "the server has as many addresses as it can have, try again later"}, {2, 5_000, ""}, {1, 5_000, ""}, {2, 10_000, ""},
	} {
		held[step.by].tell(subscribe(i*20_000, step.n))
		if e := held[step.by].next(); e.Error != step.want {
			t.Errorf("step %d: %d addresses are answered by %s, want %q", i, step.n, e.raw, step.want)
		}
	}
	if got := s.counter(t, "tonscribe_live_addresses"); got != 25_000 {
		t.Errorf("%v addresses are counted, want 25000", got)
	}
}

func subscribingAndUnsubscribing(t *testing.T, s *server, at string) {
	c := s.dial(at)
	defer c.CloseNow()
	many := addressesFrom(0, 5_000)
	subscribe := operation(t, map[string]any{"operation": "subscribe", "types": []string{"transactions"}, "addresses": many, "replay_existing": true})
	remove := operation(t, map[string]any{"operation": "unsubscribe", "addresses": many})
	for range 10 {
		c.tell(subscribe)
		c.tell(remove)
		for range 2 {
			for e := c.next(); e.Type != ""; e = c.next() {
			}
		}
	}
	if got := s.counter(t, "tonscribe_live_addresses"); got != 0 {
		t.Errorf("%v addresses are counted after all were taken away", got)
	}
}

func textsThatAreNoOperations(t *testing.T, s *server, at string) {
	for _, text := range []string{"", "null", "[]", "7", `{"operation":{}}`, strings.Repeat("[", 100_000), `{"id":"` + strings.Repeat("x", 1000) + `"`, "\x00\xff"} {
		c := s.dial(at)
		c.tell(text)
		if e := c.next(); e.Error == "" || len(e.raw) > 300 {
			t.Errorf("%.50q is answered by %.400s", text, e.raw)
		}
		_ = c.CloseNow()
	}
}

func typesThatThereAreNot(t *testing.T, _ *server, at string) {
	const sockets = 20
	names := make([]string, 100_000)
	for i := range names {
		names[i] = fmt.Sprintf("%06x", i)
	}
	held := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	order := map[string]any{"operation": "subscribe", "types": []string{"actions"}, "addresses": addressesFrom(0, 1)}
	before := held()
	for i, member := range []string{"action_types", "supported_action_types"} {
		order[member] = names
		text := []byte(operation(t, order))
		delete(order, member)
		for range sockets {
			c, _ := dialRaw(t, at, "X-Actions-Version: "+strings.Join(names[:50_000], ","))
			defer c.Close()
			if err := c.frame(textFrame, len(text), text); err != nil {
				t.Fatal(err)
			}
			_, answer, err := c.nextFrame()
			if want := []string{`{"error":"too many action_types: 100000 `, `{"status":"subscribed"`}[i]; err != nil || !strings.HasPrefix(string(answer), want) {
				t.Errorf("%d names of %s are answered by %.200s, %v", len(names), member, answer, err)
			}
		}
	}
	if after := held(); after > before+2*sockets*(100<<10) {
		t.Errorf("%d streams hold %d bytes", 2*sockets, after-before)
	}
}

// Traces that stay open are read again with each bundle: however large they are together,
// streams go on, and the small ones are told as a whole.
func TestABundleOfLargeTracesIsTold(t *testing.T) {
	t.Parallel()
	bundles := syntheticBundles(600, 3)
	w := &world{engine: enginetest.UnmergedTables(t), bundles: bundles}
	busy := bundles[0]
	for _, b := range bundles[:len(bundles)-hiddenBundles] {
		if len(b.Transactions) > len(busy.Transactions) {
			busy = b
		}
	}
	all, small := 0, map[string]bool{}
	w.change = func(s *record.TraceStep) {
		if s.Trace.McSeqnoEnd == busy.Seqno {
			if all++; len(small) < 2 {
				small[string(s.Trace.Id)] = true
			}
		}
		if !small[string(s.Trace.Id)] {
			s.Trace.Nodes = render.MaxTraceTransactions
		}
	}
	w.fill(t)
	if all < 14 {
		t.Fatalf("bundle %d has %d traces", busy.Seqno, all)
	}
	s := w.serve(t, manyStreams)
	s.await(w.watermark)
	stream, _ := s.open(s.listening(), map[string]any{"types": []string{"trace", "account_state_change"}, "from": events.EndOf(busy.Seqno - 1).String()})
	traces := 0
	for _, e := range stream.until(lastState(busy)) {
		if e.Type == "trace" {
			traces++
		}
	}
	if traces < 2 || traces >= all {
		t.Errorf("%d of %d traces are told as a whole", traces, all)
	}
}

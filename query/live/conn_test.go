package live

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"tonscribe/internal/report"
	"tonscribe/query/live/events"
	"tonscribe/query/rows"
	"tonscribe/query/store"
	"tonscribe/test/support/clienttest"
)

// newComponent is one without an index: subscriptions that begin now can be made.
func newComponent(t testing.TB, change func(*Configuration)) *Component {
	t.Helper()
	return newComponentAt(t, "127.0.0.1:1", change)
}

// newComponentAt is one whose database is at an address.
func newComponentAt(t testing.TB, at string, change func(*Configuration)) *Component {
	t.Helper()
	c := DefaultConfiguration()
	if change != nil {
		change(&c)
	}
	client := clienttest.ClickHouse(t, "clickhouse://nobody@"+at+"/nothing")
	s, err := store.New(store.DefaultConfiguration(), client.Options(), nil, report.Silent())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	l, err := New(c, Dependencies{Report: report.Silent(), Index: rows.Reader{Store: s}})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func eventAt(n uint32, bytes int) item {
	return item{raw: []byte(strings.Repeat("x", bytes)), position: events.Position{MCSeqno: 1, Event: n}}
}

// sendAll takes what waits, and sends it.
func sendAll(c *conn) batch {
	b := c.take()
	c.sent(b)
	return b
}

func TestAQueueThatIsFullTakesNothingUntilSomethingIsTaken(t *testing.T) {
	for name, change := range map[string]func(*Configuration){
		"events":       func(c *Configuration) { c.Queue = 20 },
		"bytes":        func(c *Configuration) { c.QueueBytes = 2000 },
		"bytes of all": func(c *Configuration) { c.AllQueuedBytes = 2000 },
	} {
		l := newComponent(t, change)
		c := newConn(t.Context(), l, nil, events.Limits{})
		var given, got []uint32
		for n := range uint32(100) {
			if c.offer(eventAt(n, 100)) {
				given = append(given, n)
			} else {
				for _, i := range sendAll(c).events {
					got = append(got, i.position.Event)
				}
			}
		}
		if len(given) != 95 || given[20] != 21 {
			t.Errorf("%s: %d of 100 events were given: %v", name, len(given), given)
		}
		for b := sendAll(c); len(b.events) > 0; b = sendAll(c) {
			for _, i := range b.events {
				got = append(got, i.position.Event)
			}
		}
		if !slices.Equal(got, given) {
			t.Errorf("%s: %v are sent, %v were given", name, got, given)
		}
		if got := l.queued.Load(); got != 0 {
			t.Errorf("%s: %d bytes wait of a stream that has all", name, got)
		}
	}
}

func TestAStreamThatTakesNothingEndsAtWhatItTook(t *testing.T) {
	for name, change := range map[string]func(*Configuration){
		"for long":            func(c *Configuration) { c.Queue, c.WriteTimeout = 20, time.Second },
		"and all are crowded": func(c *Configuration) { c.AllQueuedBytes, c.WriteTimeout = 2000, time.Hour },
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newComponent(t, change)
			c := newConn(t.Context(), l, nil, events.Limits{})
			for n := range uint32(20) {
				c.offer(eventAt(n, 100))
			}
			first := sendAll(c)
			began := time.Now()
			var err error
			for n := uint32(20); err == nil; n++ {
				err = c.offerInTime(t.Context(), eventAt(n, 100))
			}
			c.end(err)
			second := sendAll(c)
			if first.fault != nil || len(first.events) != maxBatch || !errors.Is(second.fault, errSlow) || len(second.events) != 0 || c.position() != first.events[maxBatch-1].position {
				t.Errorf("%s: %d events (%v), then %d (%v) behind %s", name, len(first.events), first.fault, len(second.events), second.fault, c.position())
			}
			if waited := time.Since(began); waited < time.Second/2 || waited > 3*time.Second {
				t.Errorf("%s: it ends after %s", name, waited)
			}
			if got := l.queued.Load(); got != 0 {
				t.Errorf("%s: %d bytes wait of a stream that ended", name, got)
			}
		})
	}
}

// What there was no room for may be more than there is in a queue that is half empty.
func TestRoomIsAwaitedUntilThereIsSomeForWhatWasRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newConn(t.Context(), newComponent(t, func(c *Configuration) { c.Queue = 40 }), nil, events.Limits{})
		for n := range uint32(20) {
			c.offer(eventAt(n, 10))
		}
		if err := c.awaitRoom(t.Context()); err != nil {
			t.Fatal(err)
		}
		if c.offer(slices.Repeat([]item{eventAt(20, 10)}, 30)...) {
			t.Fatal("more wait than may")
		}
		awaited := false
		go func() {
			_ = c.awaitRoom(t.Context())
			awaited = true
		}()
		for left := 20; left > 0; left -= len(sendAll(c).events) {
			if synctest.Wait(); awaited {
				t.Errorf("there is room while %d wait", left)
			}
		}
		if synctest.Wait(); !awaited {
			t.Error("there is no room while nothing waits")
		}
	})
}

// What comes once is not left out where a stream is behind, and tells no position that is
// ahead of what it has.
func TestNotesComeBesideAQueueThatIsFull(t *testing.T) {
	c := newConn(t.Context(), newComponent(t, func(c *Configuration) { c.Queue = 2 }), nil, events.Limits{})
	for n := range uint32(2) {
		c.offer(eventAt(n, 10))
	}
	write := func(at events.Position) []byte { return at.Append(nil) }
	c.note(events.EndOf(7), write)
	b := c.take()
	if len(b.events) != 3 || string(b.events[2].raw) != "1-1" || c.position() != (events.Position{MCSeqno: 1, Event: 1}) {
		t.Errorf("behind %s: %d events, of which the last is %s", c.position(), len(b.events), b.events[len(b.events)-1].raw)
	}
	c.current.Store(new(events.Subscription))
	for range 5 {
		c.note(events.EndOf(7), write)
	}
	if b := c.take(); !errors.Is(b.fault, errSlow) || c.position() != (events.Position{MCSeqno: 1, Event: 1}) {
		t.Errorf("more notes than wait: %v behind %s", b.fault, c.position())
	}
}

func subscriptionOf(t testing.TB, order string) *events.Subscription {
	t.Helper()
	o, err := events.ReadOrder([]byte(order), "")
	if err != nil {
		t.Fatal(err)
	}
	s, err := o.Subscription(&events.WSWords, events.Limits{Addresses: 10, Everything: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// subscribed is a stream of a component without an index, to what comes.
func subscribed(t testing.TB, l *Component, order string) *conn {
	t.Helper()
	c := newConn(t.Context(), l, nil, events.Limits{})
	if err := c.subscribe(subscriptionOf(t, order), func(events.Position) []byte { return nil }); err != nil {
		t.Fatal(err)
	}
	c.take()
	return c
}

// Whoever comes back to a stream of which nothing came for days is not made to look through
// those days again.
func TestThePositionOfAQuietStreamGoesOnWithTheChain(t *testing.T) {
	l := newComponent(t, nil)
	fresh, quiet := newConn(t.Context(), l, nil, events.Limits{}), subscribed(t, l, `{"types":["transactions"],"addresses":["`+rawAddress(1)+`"]}`)
	check := func(what string, c *conn, want events.Position) {
		t.Helper()
		if got := c.position(); got != want {
			t.Errorf("%s: the position is %s, want %s", what, got, want)
		}
	}
	l.hub.publish(t.Context(), &events.Bundle{MCSeqno: 5}, nil)
	check("before a subscription", fresh, events.EndOf(5))
	check("nothing came", quiet, events.EndOf(5))
	at := events.Position{MCSeqno: 6, Event: 1}
	quiet.offer(item{position: at})
	check("an event of a bundle that is given out waits", quiet, events.EndOf(5))
	quiet.take()
	check("it is taken", quiet, at)
	quiet.offer(item{position: events.Position{MCSeqno: 6, Event: 2}})
	l.hub.publish(t.Context(), &events.Bundle{MCSeqno: 6}, nil)
	check("one waits of a bundle that was given out", quiet, at)
	l.hub.replace(quiet, nil)
	quiet.end(errSlow)
	l.hub.publish(t.Context(), &events.Bundle{MCSeqno: 7}, nil)
	check("the other is let go of", quiet, at)
}

// Who breaks off while a stream looks through the past for it goes on where that was.
func TestThePositionOfAStreamGoesOnWithWhatItIsBroughtUpTo(t *testing.T) {
	l := newComponent(t, nil)
	c := newConn(t.Context(), l, nil, events.Limits{})
	ctx, stop := context.WithCancel(t.Context())
	check := func(what string, want events.Position) {
		t.Helper()
		if got := c.delivered; got != want {
			t.Errorf("%s: the position is %s, want %s", what, got, want)
		}
	}
	c.pass(ctx, events.EndOf(5))
	check("nothing was wanted of five bundles", events.EndOf(5))
	at := events.Position{MCSeqno: 6, Event: 1}
	c.offer(item{position: at})
	c.pass(ctx, events.EndOf(6))
	check("an event waits", events.EndOf(5))
	c.take()
	check("it is taken", at)
	c.pass(ctx, events.EndOf(7))
	check("nothing was wanted of another one", events.EndOf(7))
	stop()
	c.pass(ctx, events.EndOf(8))
	check("another subscription has come", events.EndOf(7))
}

// What a client does not take from the system takes memory as what waits does.
func TestWhatIsBeingSentCountsUntilItIsSent(t *testing.T) {
	l := newComponent(t, nil)
	c := newConn(t.Context(), l, nil, events.Limits{})
	client, server := net.Pipe()
	var sending sync.WaitGroup
	sending.Go(func() {
		l.sendEvents(t.Context(), &eventWriter{to: &wire{Conn: server, timeout: time.Minute}}, c)
	})
	defer sending.Wait()
	defer client.Close()
	const bytes = 1000
	c.offer(eventAt(1, bytes))
	var one [1]byte
	if _, err := client.Read(one[:]); err != nil {
		t.Fatal(err)
	}
	if got := l.queued.Load(); got != bytes {
		t.Errorf("while they are sent, %d bytes are counted, want %d", got, bytes)
	}
	go func() { _, _ = io.Copy(io.Discard, client) }()
	for l.queued.Load() != 0 {
		select {
		case <-t.Context().Done():
			t.Fatalf("%d bytes are counted of what was sent", l.queued.Load())
		case <-time.After(time.Millisecond):
		}
	}
	c.end(errSlow)
}

// A client of a stream of events has nothing to say: one that talks on is not listened to
// for ever.
func TestAStreamOfEventsEndsWhenItsClientTalksOn(t *testing.T) {
	const said = 10 << 20
	from, gone := strings.NewReader(strings.Repeat("x", said)), 0
	drain(from, func() { gone++ })
	if heard := said - from.Len(); gone != 1 || heard > 1<<20 {
		t.Errorf("%d bytes are read before it ends, want up to %d", heard, 1<<20)
	}
}

// socketOf is a client of a socket that the component reads, and whether each of its messages
// was worked on.
func socketOf(t *testing.T, l *Component) (*websocket.Conn, <-chan bool) {
	t.Helper()
	read := make(chan bool, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		socket, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer socket.CloseNow()
		socket.SetReadLimit(int64(l.configuration.MessageBytes))
		s := &session{c: l, conn: newConn(t.Context(), l, nil, events.Limits{}), socket: socket, operations: newRateLimiter(1e6)}
		for s.read(t.Context()) {
			read <- true
		}
		read <- false
	}))
	t.Cleanup(server.Close)
	client, _, err := websocket.Dial(t.Context(), server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.CloseNow() })
	return client, read
}

// What has come of a message that does not end is not held for ever, whatever else the
// client says meanwhile.
func TestASocketEndsWhoseMessageDoesNotEnd(t *testing.T) {
	l := newComponent(t, func(c *Configuration) { c.KeepAlive = 100 * time.Millisecond })
	client, read := socketOf(t, l)
	if err := client.Write(t.Context(), websocket.MessageText, []byte(`{"operation":"ping"}`)); err != nil {
		t.Fatal(err)
	}
	if !<-read {
		t.Fatal("a whole message ends the socket")
	}
	time.Sleep(2 * quietTimes * l.configuration.KeepAlive) // it may be silent for longer
	message, err := client.Writer(t.Context(), websocket.MessageText)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := message.Write(make([]byte, 8<<10)); err != nil { // more than the client buffers
		t.Fatal(err)
	}
	const patience = time.Minute
	select {
	case whole := <-read:
		if whole {
			t.Error("half of a message is worked on")
		}
	case <-time.After(patience):
		t.Errorf("after %s it still waits for the end of a message", patience)
	}
}

// What all clients together have the server hold of messages that are not answered yet has a
// bound; short ones are none of that.
func TestLargeMessagesOfAllSocketsHaveABound(t *testing.T) {
	l := newComponent(t, nil)
	ping := func(more int) []byte {
		return []byte(`{"operation":"ping","padding":"` + strings.Repeat("x", more) + `"}`)
	}
	client, read := socketOf(t, l)
	worked := func(message []byte) bool {
		if err := client.Write(t.Context(), websocket.MessageText, message); err != nil {
			t.Fatal(err)
		}
		return <-read
	}
	if !worked(ping(100 << 10)) {
		t.Fatal("a large message ends the socket")
	}
	const others = largeMessages - 50<<10
	if held := l.messages.Load(); held != 0 {
		t.Errorf("%d bytes are counted of what was answered", held)
	}
	l.messages.Store(others)
	if !worked(ping(100)) {
		t.Error("a short message is refused for large ones of others")
	}
	if worked(ping(100 << 10)) {
		t.Error("a large message is taken beside large ones of others")
	}
	if _, _, err := client.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusTryAgainLater {
		t.Errorf("the socket ends with %v, want status %d", err, websocket.StatusTryAgainLater)
	}
	if held := l.messages.Load(); held != others {
		t.Errorf("%d bytes are counted after it, want those of others, %d", held, int64(others))
	}
}

// However large it is, one event fits: otherwise a stream could never go on.
func TestAnEventLargerThanTheQueueIsSentAlone(t *testing.T) {
	l := newComponent(t, func(c *Configuration) { c.QueueBytes, c.AllQueuedBytes = 10, 10 })
	c := newConn(t.Context(), l, nil, events.Limits{})
	c.offer(eventAt(1, 1000))
	if b := c.take(); b.fault != nil || len(b.events) != 1 {
		t.Errorf("%d events, %v", len(b.events), b.fault)
	}
}

func TestAReplayWaitsForRoom(t *testing.T) {
	l := newComponent(t, func(c *Configuration) { c.Queue = 2 })
	c := newConn(t.Context(), l, nil, events.Limits{})
	const events = 100
	var pushing sync.WaitGroup
	pushing.Go(func() {
		for n := range uint32(events) {
			if err := c.offerInTime(t.Context(), eventAt(n, 10)); err != nil {
				t.Error(err)
			}
		}
	})
	var got []item
	for len(got) < events {
		<-c.wake
		got = append(got, sendAll(c).events...)
	}
	pushing.Wait()
	if !slices.IsSortedFunc(got, func(a, b item) int { return a.position.Compare(b.position) }) {
		t.Error("events come in another order")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 {
		c.offer(eventAt(1, 10))
	}
	if err := c.offerInTime(ctx, eventAt(1, 10)); err == nil {
		t.Error("a replay goes on behind its end")
	}
}

func TestAnswersThatNobodyReadsEndTheStream(t *testing.T) {
	c := newConn(t.Context(), newComponent(t, nil), nil, events.Limits{})
	n := 0
	for c.answer(nil) {
		n++
	}
	if n == 0 || n > 1000 {
		t.Errorf("%d answers wait", n)
	}
}

// An operation whose answer has no room is not passed over in silence.
func TestOperationsWhoseAnswersNobodyReadsEndTheStream(t *testing.T) {
	for _, operation := range []string{
		`{"operation":"ping"}`, `{"operation":"dance"}`, `{"operation":"unsubscribe","addresses":["` + rawAddress(1) + `"]}`,
		`{"operation":"subscribe","types":["transactions"],"addresses":["` + rawAddress(1) + `"]}`,
	} {
		l := newComponent(t, nil)
		c := newConn(t.Context(), l, nil, events.Limits{Addresses: 5})
		for c.answer(nil) {
		}
		if c.answerTo(&session{c: l, conn: c}, []byte(operation)) {
			t.Errorf("%s has no answer, and the stream goes on", operation)
		}
		c.close()
	}
}

// A client that sends the same body again says by the header how far it came meanwhile.
func TestLastEventIDIsInPlaceOfFrom(t *testing.T) {
	l := newComponent(t, nil)
	for _, c := range [][3]string{{`"from":"5"`, "7-1", "7-1"}, {`"from":""`, "7-1", "7-1"}, {`"from":null`, "7-1", "7-1"}, {`"from":"5"`, "", "5"}} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"types":["transactions"],"addresses":["`+rawAddress(1)+`"],`+c[0]+`}`))
		r.Header.Set("Last-Event-ID", c[1])
		_, s, err := l.readBody(httptest.NewRecorder(), r, events.Limits{Addresses: 5})
		if err != nil {
			t.Fatal(err)
		}
		if s.From == nil || s.From.String() != c[2] {
			t.Errorf("%s and %q begin behind %v, want %s", c[0], c[1], s.From, c[2])
		}
	}
}

func TestOperationsWaitBehindABurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newRateLimiter(10)
		began := time.Now()
		for range 1 + operationBurst {
			p.wait(t.Context())
		}
		if waited := time.Since(began); waited != 0 {
			t.Errorf("operations at once wait for %s", waited)
		}
		for range 10 {
			p.wait(t.Context())
		}
		if waited := time.Since(began); waited < 900*time.Millisecond || waited > time.Second {
			t.Errorf("ten operations more wait for %s, want a second, or a tenth of one less", waited)
		}
		time.Sleep(3 * time.Second)
		began = time.Now()
		if p.wait(t.Context()); time.Since(began) != 0 {
			t.Error("an operation after a rest waits")
		}
	})
}

func TestClientsHaveAsManyStreamsAndAddressesAsTheyMay(t *testing.T) {
	l := newComponent(t, func(c *Configuration) { c.Connections, c.AllAddresses = 3, 10 })
	for i, step := range []struct {
		client string
		limit  int
		want   string
	}{
		{"a", 2, ""}, {"a", 2, ""}, {"a", 2, "connection limit reached: 2 active connections"},
		{"b", 2, ""}, {"b", 2, errFull.Error()}, {"c", 0, "connection limit reached: 0 active connections"},
	} {
		got := ""
		if err := l.clients.enter(step.client, step.limit); err != nil {
			got = err.Error()
		}
		if got != step.want {
			t.Errorf("step %d: %q, want %q", i, got, step.want)
		}
	}
	for range 2 {
		l.clients.leave("a")
	}
	l.clients.leave("b")
	if n, _ := l.clients.count(); n != 0 || len(l.clients.of) != 0 {
		t.Errorf("%d streams of %d clients are left", n, len(l.clients.of))
	}
	first, second := newConn(t.Context(), l, nil, events.Limits{}), newConn(t.Context(), l, nil, events.Limits{})
	for i, step := range []struct {
		c    *conn
		n    int
		fits bool
	}{{first, 6, true}, {second, 5, false}, {second, 4, true}, {first, 7, false}, {first, 3, true}, {second, 7, true}, {first, 0, true}, {second, 0, true}} {
		if err := step.c.reserve(step.n); (err == nil) != step.fits {
			t.Errorf("step %d: %v", i, err)
		}
	}
	if _, n := l.clients.count(); n != 0 {
		t.Errorf("%d addresses are left", n)
	}
}

// An answer repeats the id of its operation.
func TestAnswersThatWaitAreBoundedInBytes(t *testing.T) {
	c := newConn(t.Context(), newComponent(t, nil), nil, events.Limits{})
	long, bytes := make([]byte, 900_000), 0
	for c.answer(long) {
		bytes += len(long)
	}
	if bytes == 0 || bytes > 2<<20 {
		t.Errorf("%d bytes of answers wait", bytes)
	}
	for range 2 {
		if c.take(); !c.answer(make([]byte, 6<<20)) {
			t.Error("a long answer is not given when none waits")
		}
	}
}

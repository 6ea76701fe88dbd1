package listen

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"tonscribe/internal/report"
)

// limit is for what happens at once.
const limit = time.Minute

func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after %s: %s", limit, what)
		}
	}
}

// serve serves a handler with a configuration that change has changed.
func serve(t *testing.T, change func(*Configuration, *Options), handler http.HandlerFunc) (*Listener, string) {
	t.Helper()
	c, o := DefaultConfiguration(), Options{Name: "test", Report: report.Silent(), Part: 1}
	change(&c, &o)
	l, err := Listen(t.Context(), "tcp", "127.0.0.1:0", c, o)
	if err != nil {
		t.Fatal(err)
	}
	s := l.Serve(handler)
	t.Cleanup(func() {
		began := time.Now()
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > drainTime+limit {
			t.Errorf("the stop took %s", took)
		}
		await(t, "connections are open after the stop", func() bool { open, _ := l.Open(); return open == 0 })
		if held := l.held.Load(); held != 0 {
			t.Errorf("%d bytes are held by nobody", held)
		}
	})
	return l, l.Addr().String()
}

// send opens a connection and writes to it; it is closed at the end of the test.
func send(t *testing.T, at, text string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_, _ = io.WriteString(c, text) // refused ones are closed already
	return c
}

// isClosed waits for the end of a connection.
func isClosed(t *testing.T, c net.Conn) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(limit))
	_, err := io.Copy(io.Discard, c)
	if timeout := net.Error(nil); errors.As(err, &timeout) && timeout.Timeout() {
		t.Errorf("the connection is open after %s", limit)
	}
}

func readBody(w http.ResponseWriter, r *http.Request) {
	if _, err := io.ReadAll(r.Body); err != nil {
		w.WriteHeader(http.StatusUnprocessableEntity)
	}
}

const halfSent = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{\"boc\":\""

func TestHalfSentBodiesPushEachOtherOutAndABystanderOfTheSameAddressIsServed(t *testing.T) {
	const bound = 8
	l, at := serve(t, func(c *Configuration, _ *Options) { c.PerAddress = bound }, readBody)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: limit}
	for i := range 300 {
		send(t, at, halfSent)
		if open, _ := l.Open(); open > bound {
			t.Fatalf("%d connections are open, want at most %d", open, bound)
		}
		if i%30 == 0 {
			answer, err := client.Get("http://" + at)
			if err != nil {
				t.Fatalf("a bystander beside %d half-sent bodies: %v", i, err)
			}
			answer.Body.Close()
		}
	}
	await(t, "half-sent bodies make no room", func() bool { return testutil.ToFloat64(l.metrics.shed.WithLabelValues(overAddress)) > 250 })
}

func TestABodyHasOneDeadlineForTheWholeOfIt(t *testing.T) {
	const whole = 300 * time.Millisecond
	l, at := serve(t, func(c *Configuration, _ *Options) { c.BodyTimeout = whole }, readBody)
	c := send(t, at, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n")
	go func() {
		for { // each byte comes well within the deadline
			if _, err := io.WriteString(c, "x"); err != nil {
				return
			}
			time.Sleep(whole / 20)
		}
	}()
	isClosed(t, c)
	if got := testutil.ToFloat64(l.metrics.bodiesLate); got != 1 {
		t.Errorf("%v bodies were late, want 1", got)
	}
}

// Who asks whether to send a body waits for an answer, and sends nothing before it.
func TestWhoAsksWhetherToSendABodyIsRefusedWithoutIt(t *testing.T) {
	_, at := serve(t, func(c *Configuration, _ *Options) { c.BodyTimeout = time.Hour }, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/read" {
			_, _ = io.Copy(io.Discard, r.Body)
		}
		w.WriteHeader(http.StatusTeapot)
	})
	for path, want := range map[string]int{"/refused": http.StatusTeapot, "/read": http.StatusContinue} {
		for _, size := range []string{"Content-Length: 5", "Content-Length: 5000000", "Transfer-Encoding: chunked"} {
			c := send(t, at, "POST "+path+" HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"+size+"\r\n\r\n")
			_ = c.SetReadDeadline(time.Now().Add(limit))
			answer, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Errorf("%s, %s: %v", path, size, err)
				continue
			}
			if answer.StatusCode != want {
				t.Errorf("%s, %s: %s, want %d", path, size, answer.Status, want)
			}
		}
	}
}

func TestTheDeadlineOfABodyDoesNotEndTheWorkOnIt(t *testing.T) {
	const whole = 500 * time.Millisecond
	_, at := serve(t, func(c *Configuration, _ *Options) { c.BodyTimeout = whole }, func(w http.ResponseWriter, r *http.Request) {
		readBody(w, r)
		select {
		case <-r.Context().Done():
			t.Error("the work was ended by the deadline of the body")
		case <-time.After(2 * whole):
		}
	})
	answer, err := http.Post("http://"+at, "text/plain", strings.NewReader("body"))
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("got %v, %v", answer, err)
	}
	answer.Body.Close()
}

func TestAnswersAreSentAsLongAsTheClientTakesThem(t *testing.T) {
	const step = 3 * time.Second
	text := bytes.Repeat([]byte("0123456789abcdef"), 1<<20) // 16 MiB: more than the kernel keeps
	l, at := serve(t, func(c *Configuration, _ *Options) { c.WriteTimeout = step }, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(text)))
		_, _ = w.Write(text)
	})
	standing := send(t, at, "GET / HTTP/1.1\r\nHost: x\r\n\r\n") // takes nothing
	await(t, "the answer is not held", func() bool { return l.held.Load() > int64(len(text))/2 })
	await(t, "a client that takes nothing holds its answer", func() bool { return l.held.Load() == 0 })
	if got := testutil.ToFloat64(l.metrics.answersLate); got != 1 {
		t.Errorf("%v answers were late, want 1", got)
	}
	standing.Close()

	slow := send(t, at, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	began, got := time.Now(), 0
	for buffer := make([]byte, 256<<10); ; {
		n, err := slow.Read(buffer)
		if got += n; err != nil {
			break
		}
		if time.Since(began) < 2*step {
			time.Sleep(step / 40) // the kernel lets a writer go on when a third of what it keeps was taken
		}
	}
	if took := time.Since(began); got <= len(text) || took < step {
		t.Errorf("a slow client got %d bytes in %s, want all of %d in more than %s", got, took, len(text), step)
	}
}

func TestWhatIsHeldForAllConnectionsIsBounded(t *testing.T) {
	const budget = 2 << 20
	l, at := serve(t, func(c *Configuration, _ *Options) { c.HeldBytes = budget }, readBody)
	chunk := strings.Repeat("x", 256<<10)
	for range 40 { // 10 MiB in all
		send(t, at, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"+chunk)
		send(t, at, "GET /?"+chunk) // the line does not end
	}
	await(t, "nobody was closed", func() bool { return testutil.ToFloat64(l.metrics.shed.WithLabelValues(overBytes)) > 60 })
	await(t, "too much is held", func() bool { return l.held.Load() <= budget })
}

func TestConnectionsThatWorkAreNotClosedForOthers(t *testing.T) {
	const bound = 4
	going := make(chan struct{})
	l, at := serve(t, func(c *Configuration, _ *Options) { c.Connections, c.PerAddress = 2*bound, bound }, func(http.ResponseWriter, *http.Request) { <-going })
	var working []net.Conn
	for range bound {
		working = append(working, send(t, at, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
	}
	await(t, "the requests do not work", func() bool { open, waiting := l.Open(); return open == bound && waiting == 0 })
	isClosed(t, send(t, at, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
	if n := testutil.CollectAndCount(l.metrics.refused); n != 4 {
		t.Errorf("refused connections are counted for %d bounds, want 4, those without any too", n)
	}
	if got := testutil.ToFloat64(l.metrics.refused.WithLabelValues(overAddress)); got != 1 {
		t.Errorf("%v connections were refused, want 1", got)
	}
	close(going)
	for i, c := range working {
		_ = c.SetReadDeadline(time.Now().Add(limit))
		if answer, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || answer.StatusCode != http.StatusOK {
			t.Errorf("request %d: %v, %v", i, answer, err)
		}
	}
}

func TestATrustedProxyHasAsManyConnectionsAsAll(t *testing.T) {
	const all, each = 12, 3
	l, at := serve(t, func(c *Configuration, o *Options) {
		c.Connections, c.PerAddress = all, each
		o.Trusted = func(a netip.Addr) bool { return a.IsLoopback() }
	}, readBody)
	for range 3 * all {
		send(t, at, halfSent)
	}
	await(t, "connections make no room for others", func() bool {
		return testutil.ToFloat64(l.metrics.shed.WithLabelValues(overAll))+testutil.ToFloat64(l.metrics.refused.WithLabelValues(overAll)) == 2*all
	})
	if open, _ := l.Open(); open != all {
		t.Errorf("a proxy has %d connections, want %d", open, all)
	}
}

func TestAddressesOfIPv6CountByTheirNetwork(t *testing.T) {
	of := func(text string) address { return together(netip.MustParseAddr(text)) }
	if of("2001:db8::1") != of("2001:db8::ffff:1") || of("2001:db8::1") == of("2001:db8:0:1::1") || of("192.0.2.1") == of("192.0.2.2") {
		t.Error("a /64 of IPv6 counts together, and an address of IPv4 alone")
	}
}

// failing fails to accept before it goes on.
type failing struct {
	net.Listener
	left int
}

func (f *failing) Accept() (net.Conn, error) {
	if f.left--; f.left >= 0 {
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return f.Listener.Accept()
}

func TestTooFewDescriptorsDoNotEndTheListener(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := newListener(&failing{inner, 3}, DefaultConfiguration(), Options{Name: "test", Report: report.Silent(), Part: 1})
	defer l.CloseAll()
	send(t, inner.Addr().String(), "x")
	if c, err := l.Accept(); err != nil || c == nil {
		t.Errorf("got %v, %v, want the connection", c, err)
	}
	if got := testutil.ToFloat64(l.metrics.retry); got != 3 {
		t.Errorf("%v failures were tried again, want 3", got)
	}
}

func TestLargeBodiesTakeTurnsAndSmallOnesNeedNone(t *testing.T) {
	release, began := make(chan struct{}), make(chan int, 64)
	var working, most atomic.Int32
	l, at := serve(t, func(*Configuration, *Options) {}, func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if len(text) > largeBody {
			most.Store(max(most.Load(), working.Add(1)))
			began <- len(text)
			<-release
			working.Add(-1)
		}
	})
	post := func(from byte, size int) int {
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, from)}}
		client := http.Client{Transport: &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}}
		answer, err := client.Post("http://"+at, "text/plain", strings.NewReader(strings.Repeat("x", size)))
		if err != nil {
			t.Error(err)
			return 0
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	waiting := func() int {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.patient
	}
	turns := cap(l.turns)
	answers := make(chan int)
	for range turns {
		go func() { answers <- post(1, largeBody+1) }()
		<-began
	}
	for n := range maxWaiting {
		from := 1 + byte(n/maxWaitingOfOne)
		go func() { answers <- post(from, largeBody+1) }()
		await(t, "a large body does not wait for its turn", func() bool { return waiting() == n+1 })
		if (n+1)%maxWaitingOfOne == 0 {
			if status := post(from, largeBody+1); status != http.StatusServiceUnavailable {
				t.Errorf("one too many of an address: status %d, want %d", status, http.StatusServiceUnavailable)
			}
		}
	}
	if status := post(200, largeBody+1); status != http.StatusServiceUnavailable {
		t.Errorf("one too many in all: status %d, want %d", status, http.StatusServiceUnavailable)
	}
	if status := post(1, largeBody); status != http.StatusOK {
		t.Errorf("a small body beside large ones: status %d, want 200", status)
	}
	close(release)
	for range turns + maxWaiting {
		if status := <-answers; status != http.StatusOK {
			t.Errorf("a large body: status %d, want 200", status)
		}
	}
	if got := most.Load(); int(got) != turns {
		t.Errorf("%d large bodies were worked on at once, want %d", got, turns)
	}
	if n := len(l.patience); n != 0 {
		t.Errorf("%d addresses are kept in mind after all is done, want 0", n)
	}
}

func TestATurnEndsWhereTheAnswerBegins(t *testing.T) {
	slow := make(chan struct{})
	defer close(slow)
	l, at := serve(t, func(*Configuration, *Options) {}, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		if r.URL.Path == "/slow" { // as to a client that does not read
			<-slow
		}
	})
	body := strings.Repeat("x", largeBody+1)
	for range cap(l.turns) {
		answer, err := http.Post("http://"+at+"/slow", "text/plain", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
	}
	client := http.Client{Timeout: limit}
	answer, err := client.Post("http://"+at+"/quick", "text/plain", strings.NewReader(body))
	if err != nil {
		t.Fatalf("a large body beside answers that are read slowly: %v, want an answer", err)
	}
	answer.Body.Close()
}

package clickhouse

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	driver "github.com/ClickHouse/clickhouse-go/v2"

	"tonscribe/test/support/enginetest"
)

func optionsOf(t *testing.T, dsn string) driver.Options {
	t.Helper()
	o, err := driver.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	return *o
}

// poolOf is a pool with room for two statements.
func poolOf(t *testing.T, o driver.Options) *Pool {
	t.Helper()
	p := NewPool(o, 2)
	t.Cleanup(p.Close)
	return p
}

// eachProtocol runs a test with the options of each kind of pool.
func eachProtocol(t *testing.T, test func(t *testing.T, o driver.Options)) {
	engine := enginetest.ClickHouse(t)
	for name, dsn := range map[string]string{"native": engine.ReadOnlyDSN(), "http": engine.ReadOnlyHTTPDSN()} {
		t.Run(name, func(t *testing.T) { test(t, optionsOf(t, dsn)) })
	}
}

// sum runs a statement whose columns are n and s, and gives how many rows came,
// the sum of n, how many bytes are in s, and how many rows were gone through.
func (p *Pool) sum(ctx context.Context, statement string) (rows int, total uint64, length int, read uint64, err error) {
	var n proto.ColUInt64
	s := new(proto.ColStr).LowCardinality()
	result := proto.Results{{Name: "n", Data: &n}, {Name: "s", Data: s}}
	err = p.Do(ctx, statement, nil, result, func(count int) error {
		rows += count
		for i := range count {
			total += n[i]
			length += len(s.Row(i))
		}
		return nil
	}, func(some uint64) { read += some })
	return rows, total, length, read, err
}

const few = "SELECT number AS n, toLowCardinality(toString(modulo(number, 7))) AS s FROM numbers(%d)"

func TestAnswersOfManyBlocksAndOfNoneComeWholeOverBothProtocols(t *testing.T) {
	eachProtocol(t, func(t *testing.T, o driver.Options) {
		p := poolOf(t, o)
		for _, count := range []int{0, 1, 1000, 3_000_000} { // the last is longer than what the server holds
			rows, total, length, read, err := p.sum(t.Context(), fmt.Sprintf(few, count))
			want := uint64(count) * uint64(max(count-1, 0)) / 2
			if err != nil || rows != count || total != want || length != count || read != uint64(count) {
				t.Errorf("%d rows: %d, sum %d, %d bytes, %d gone through, %v; want sum %d", count, rows, total, length, read, err, want)
			}
		}
	})
}

func TestFailuresHaveTheirNamesOverBothProtocols(t *testing.T) {
	eachProtocol(t, func(t *testing.T, o driver.Options) {
		p := poolOf(t, o)
		for name, c := range map[string]struct {
			statement string
			code      proto.Error
			want      error
		}{
			"syntax":            {"SELEC 1", 62, nil},
			"no table":          {"SELECT n, s FROM nothing", 60, nil},
			"no right":          {"SELECT toUInt64(1) AS n, toLowCardinality(name) AS s FROM system.users", 497, nil},
			"fails at the end":  {"SELECT number AS n, toLowCardinality(toString(throwIf(number = 2999999, 'late'))) AS s FROM numbers(3000000)", 395, nil},
			"takes too long":    {"SELECT number AS n, toLowCardinality(toString(sleepEachRow(0.05))) AS s FROM numbers(1000) SETTINGS max_block_size = 1, max_execution_time = 0.3", proto.ErrTimeoutExceeded, ErrTooHeavy},
			"takes many memory": {"SELECT count() AS n, toLowCardinality('') AS s FROM (SELECT DISTINCT number FROM numbers(10000000)) SETTINGS max_memory_usage = 1000000", proto.ErrMemoryLimitExceeded, ErrTooHeavy},
		} {
			_, _, _, _, err := p.sum(t.Context(), c.statement)
			if exception, is := errors.AsType[*ch.Exception](err); !is || exception.Code != c.code || c.want != nil && !errors.Is(err, c.want) || c.want == nil && errors.Is(err, ErrTooHeavy) {
				t.Errorf("%s: %v, want code %d, %v", name, err, c.code, c.want)
			}
			if rows, _, _, _, err := p.sum(t.Context(), fmt.Sprintf(few, 10)); rows != 10 || err != nil {
				t.Errorf("after %s: %d rows, %v; want 10", name, rows, err)
			}
		}
	})
}

func TestWhatOthersKeepOrLackIsNoFaultOfTheStatement(t *testing.T) {
	for _, c := range []struct {
		code proto.Error
		text string
		want error
	}{
		{proto.ErrAllConnectionTriesFailed, "All connection tries failed. Log: \n\nCode: 210. DB::NetException: Connection refused (127.0.0.1:9001)", ErrUnavailable},
		{proto.ErrNetworkError, "Connection reset by peer, while reading from socket (peer: 127.0.0.1:9001, local: 127.0.0.1:40000): While executing Remote", ErrUnavailable},
		{proto.ErrSocketTimeout, "Timeout exceeded while reading from socket (peer: 127.0.0.1:9001)", ErrUnavailable},
		{proto.ErrAttemptToReadAfterEOF, "Attempt to read after eof: while receiving packet from 127.0.0.1:9001, local address: 127.0.0.1:40000: While executing Remote", ErrUnavailable},
		{proto.ErrAttemptToReadAfterEOF, "Attempt to read after eof: (while reading column hash): While executing MergeTreeSelect", ErrDamaged},
		{proto.ErrMemoryLimitExceeded, "(total) memory limit exceeded: would use 1.47 GiB (attempt to allocate chunk of 5.31 MiB), current RSS: 2.00 GiB, maximum: 2.00 GiB", ErrBusy},
		{proto.ErrMemoryLimitExceeded, "Memory limit (total) exceeded: would use 1.50 GiB, maximum: 1.49 GiB", ErrBusy},
		{proto.ErrMemoryLimitExceeded, "User memory limit exceeded: would use 5.00 MiB, maximum: 976.56 KiB", ErrBusy},
		{proto.ErrMemoryLimitExceeded, "Query memory limit exceeded: would use 5.00 MiB, maximum: 976.56 KiB", ErrTooHeavy},
	} {
		err := classify(t.Context(), &ch.Exception{Code: c.code, Name: "DB::Exception", Message: c.text})
		for _, name := range []error{ErrUnavailable, ErrDamaged, ErrTooHeavy, ErrBusy} {
			if errors.Is(err, name) != errors.Is(c.want, name) {
				t.Errorf("%s: %v, want %v", c.text, err, c.want)
			}
		}
	}
}

func TestAServerThatTakesNoStatementInItsTimeDoesNotAnswer(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	o := optionsOf(t, "clickhouse://"+silent.Addr().String())
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, _, _, _, err := poolOf(t, o).sum(ctx, fmt.Sprintf(few, 1)); !errors.Is(err, ErrUnavailable) || errors.Is(err, ErrTooHeavy) {
		t.Errorf("%v, want %v", err, ErrUnavailable)
	}
}

func TestAServerThatNobodyReachesIsToldOnceOverBothProtocols(t *testing.T) {
	for _, scheme := range []string{"clickhouse", "http"} {
		_, _, _, _, err := poolOf(t, optionsOf(t, scheme+"://127.0.0.1:1")).sum(t.Context(), fmt.Sprintf(few, 1))
		if !errors.Is(err, ErrUnavailable) || strings.Count(err.Error(), ErrUnavailable.Error()) != 1 {
			t.Errorf("%s: %v, want %q once", scheme, err, ErrUnavailable)
		}
	}
}

// through leads connections to a server until stop is called; from then on nothing comes
// through any more, and new ones are taken and not answered.
func through(t *testing.T, o driver.Options) (led driver.Options, stop func()) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var stopped atomic.Bool
	carry := func(from, to net.Conn) {
		buffer := make([]byte, 64<<10)
		for {
			n, err := from.Read(buffer)
			if err != nil {
				_, _ = from.Close(), to.Close()
				return
			}
			if !stopped.Load() {
				_, _ = to.Write(buffer[:n])
			}
		}
	}
	server := o.Addr[0]
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			behind, err := net.Dial("tcp", server)
			if err != nil {
				client.Close()
				continue
			}
			go carry(client, behind)
			go carry(behind, client)
		}
	}()
	t.Cleanup(func() { listener.Close() })
	o.Addr = []string{listener.Addr().String()}
	return o, func() { stopped.Store(true) }
}

func TestAServerThatFallsSilentDoesNotAnswer(t *testing.T) {
	eachProtocol(t, func(t *testing.T, o driver.Options) {
		o, stop := through(t, o)
		p := poolOf(t, o)
		if _, _, _, _, err := p.sum(t.Context(), fmt.Sprintf(few, 1)); err != nil { // it has a connection
			t.Fatal(err)
		}
		stop()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, _, _, _, err := p.sum(ctx, fmt.Sprintf(few, 1))
		if !errors.Is(err, ErrUnavailable) || errors.Is(err, ErrTooHeavy) {
			t.Errorf("%v, want %v", err, ErrUnavailable)
		}
		if strings.Contains(err.Error(), context.Canceled.Error()) {
			t.Errorf("%v: nobody has canceled it", err)
		}
	})
}

// Whoever logs it asked a light statement of a busy machine, more often than not.
func TestALateAnswerDoesNotBlameTheStatement(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	if err := classify(ctx, ctx.Err()); !errors.Is(err, ErrTooHeavy) || strings.Contains(err.Error(), ErrTooHeavy.Error()) {
		t.Errorf("%v, want that no answer came in time", err)
	}
}

func TestAStatementThatNobodyWaitsForAnyMoreEndsSoonOverBothProtocols(t *testing.T) {
	eachProtocol(t, func(t *testing.T, o driver.Options) {
		p := poolOf(t, o)
		if _, _, _, _, err := p.sum(t.Context(), fmt.Sprintf(few, 1)); err != nil { // it has a connection
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_, _, _, _, err := p.sum(ctx, "SELECT number AS n, toLowCardinality(toString(sleepEachRow(0.01))) AS s FROM numbers(10000) SETTINGS max_block_size = 1")
		if took := time.Since(began); !errors.Is(err, ErrTooHeavy) || took > time.Minute {
			t.Errorf("a statement of 100 s with a second to go: %v after %s, want %v", err, took, ErrTooHeavy)
		}
		gone, leave := context.WithCancel(t.Context())
		leave()
		if _, _, _, _, err := p.sum(gone, fmt.Sprintf(few, 1)); err == nil {
			t.Error("a statement for somebody who has gone was run")
		}
		if rows, _, _, _, err := p.sum(t.Context(), fmt.Sprintf(few, 10)); rows != 10 || err != nil {
			t.Errorf("afterwards: %d rows, %v; want 10", rows, err)
		}
	})
}

func TestAWrongPasswordIsRefusedOverBothProtocols(t *testing.T) {
	eachProtocol(t, func(t *testing.T, o driver.Options) {
		o.Auth.Password = "wrong"
		_, _, _, _, err := poolOf(t, o).sum(t.Context(), fmt.Sprintf(few, 1))
		if exception, is := errors.AsType[*ch.Exception](err); !is || exception.Code != 516 {
			t.Errorf("%v, want an exception of code 516", err)
		}
	})
}

// behind answers what a function makes of the real server's answer.
func behind(t *testing.T, change func(http.ResponseWriter, *http.Request, *httputil.ReverseProxy)) driver.Options {
	t.Helper()
	o := optionsOf(t, enginetest.ClickHouse(t).ReadOnlyHTTPDSN())
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: o.Addr[0]})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { change(w, r, proxy) }))
	t.Cleanup(server.Close)
	o.Addr = []string{strings.TrimPrefix(server.URL, "http://")}
	return o
}

func TestAnAnswerThatIsCutOffIsNotTakenForAShortOne(t *testing.T) {
	o := behind(t, func(w http.ResponseWriter, r *http.Request, proxy *httputil.ReverseProxy) {
		recorded := httptest.NewRecorder()
		proxy.ServeHTTP(recorded, r)
		whole := recorded.Body.Bytes()
		w.Write(whole[:len(whole)/2])
		w.(http.Flusher).Flush()
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			conn.Close()
		}
	})
	rows, _, _, _, err := poolOf(t, o).sum(t.Context(), fmt.Sprintf(few+" SETTINGS max_block_size = 1000", 4000))
	if !errors.Is(err, ErrUnavailable) {
		t.Errorf("half an answer: %d rows, %v; want %v", rows, err, ErrUnavailable)
	}
}

func TestStatementsOneAfterTheOtherShareAConnectionUnlessOneWasAbandoned(t *testing.T) {
	engine := enginetest.ClickHouse(t)
	for name, dsn := range map[string]string{"native": engine.ReadOnlyDSN(), "http": engine.ReadOnlyHTTPDSN()} {
		t.Run(name, func(t *testing.T) {
			o := optionsOf(t, dsn)
			var dialed atomic.Int32
			o.Addr = []string{forwarded(t, o.Addr[0], &dialed)}
			p := poolOf(t, o)
			for i := range 10 {
				ctx, leave := context.WithTimeout(t.Context(), time.Minute)
				statement := fmt.Sprintf(few, 10)
				if i == 5 {
					time.AfterFunc(100*time.Millisecond, leave)
					statement = "SELECT number AS n, toLowCardinality(toString(sleepEachRow(0.01))) AS s FROM numbers(1000) SETTINGS max_block_size = 1"
				}
				if rows, _, _, _, err := p.sum(ctx, statement); (err == nil) == (i == 5) {
					t.Errorf("statement %d: %d rows, %v", i, rows, err)
				}
				leave()
			}
			if n := dialed.Load(); n != 2 {
				t.Errorf("%d connections were made for ten statements of which the sixth was abandoned, want 2", n)
			}
		})
	}
}

// forwarded is an address whose connections go on to another, and are counted. The nth
// breaks when the server was sent as many bytes as the nth limit says; with a limit below
// zero the server seems to take no more.
func forwarded(t *testing.T, to string, count *atomic.Int32, limits ...int64) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			limit := int64(math.MaxInt64)
			if n := int(count.Add(1)); n <= len(limits) {
				limit = limits[n-1]
			}
			server, err := net.Dial("tcp", to)
			if err != nil {
				client.Close()
				return
			}
			for _, way := range []struct {
				from  net.Conn
				to    net.Conn
				limit int64
			}{{client, server, limit}, {server, client, math.MaxInt64}} {
				go func() {
					io.CopyN(way.to, way.from, max(way.limit, -way.limit))
					if way.limit < 0 {
						<-t.Context().Done()
					}
					way.to.Close()
				}()
			}
		}
	}()
	return listener.Addr().String()
}

func TestWhatIsNoClickHouseIsSaidToBeNone(t *testing.T) {
	o := behind(t, func(w http.ResponseWriter, _ *http.Request, _ *httputil.ReverseProxy) { http.NotFound(w, nil) })
	_, _, _, _, err := poolOf(t, o).sum(t.Context(), fmt.Sprintf(few, 1))
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "no ClickHouse") {
		t.Errorf("%v, want %v and why", err, ErrUnavailable)
	}
}

func TestAConnectionThatTheServerClosedIsReplacedUnseen(t *testing.T) {
	var dialed atomic.Int32
	upstream := optionsOf(t, enginetest.ClickHouse(t).ReadOnlyHTTPDSN())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() { // one request for each connection, which then goes without a word
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			dialed.Add(1)
			go func() {
				defer client.Close()
				server, err := net.Dial("tcp", upstream.Addr[0])
				if err != nil {
					return
				}
				defer server.Close()
				request, err := http.ReadRequest(bufio.NewReader(client))
				if err != nil || request.Write(server) != nil {
					return
				}
				if answer, err := http.ReadResponse(bufio.NewReader(server), request); err == nil {
					answer.Write(client)
				}
			}()
		}
	}()
	o := upstream
	o.Addr = []string{listener.Addr().String()}
	p := poolOf(t, o)
	for i := range 5 {
		if rows, _, _, _, err := p.sum(t.Context(), fmt.Sprintf(few, 10)); rows != 10 || err != nil {
			t.Fatalf("statement %d: %d rows, %v; want 10", i, rows, err)
		}
	}
	if n := dialed.Load(); n != 5 {
		t.Errorf("%d connections were made for 5 statements, want 5", n)
	}
}

func TestHTTPCanBeSecured(t *testing.T) {
	o := optionsOf(t, enginetest.ClickHouse(t).ReadOnlyHTTPDSN())
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: o.Addr[0]})
	server := httptest.NewUnstartedServer(proxy)
	server.Config.ErrorLog = nil
	server.StartTLS()
	defer server.Close()
	o.Addr = []string{strings.TrimPrefix(server.URL, "https://")}
	o.TLS = &tls.Config{RootCAs: server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
	if rows, _, _, _, err := poolOf(t, o).sum(t.Context(), fmt.Sprintf(few, 10)); rows != 10 || err != nil {
		t.Errorf("with its certificate: %d rows, %v; want 10", rows, err)
	}
	o.TLS = optionsOf(t, "https://reader:secret@"+o.Addr[0]+"/tonscribe?secure=true").TLS
	if _, _, _, _, err := poolOf(t, o).sum(t.Context(), fmt.Sprintf(few, 10)); !errors.Is(err, ErrUnavailable) {
		t.Errorf("with a certificate that nobody knows: %v, want %v", err, ErrUnavailable)
	}
}

func BenchmarkStatement(b *testing.B) {
	engine := enginetest.ClickHouse(b)
	for name, dsn := range map[string]string{"native": engine.ReadOnlyDSN(), "http": engine.ReadOnlyHTTPDSN()} {
		o, err := driver.ParseDSN(dsn)
		if err != nil {
			b.Fatal(err)
		}
		p := NewPool(*o, 2)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, _, _, _, err := p.sum(b.Context(), fmt.Sprintf(few, 1)); err != nil {
					b.Fatal(err)
				}
			}
		})
		p.Close()
	}
}

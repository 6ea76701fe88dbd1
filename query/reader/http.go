package reader

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2"
)

// httpLink is a kept-alive connection to ClickHouse's HTTP interface. The server
// runs a statement in the thread that has the connection, where the native
// protocol hands every block from one thread to another: a look-up takes a
// quarter less, the slowest of a hundred half.
type httpLink struct {
	conn     net.Conn
	in       *bufio.Reader
	out      *bufio.Writer
	request  http.Request // of every statement, but for what differs
	settings string
	body     *bufio.Reader
	blocks   *proto.Reader // reads body
	ended    bool
}

const (
	// maxHeld is how long an answer may be that the server holds in memory until
	// it is complete; what is longer it writes to a file. An answer that has begun
	// can not fail any more.
	maxHeld = 16 << 20
	// lastWait is how long an answer is waited for when the time of its request is
	// over: the statement's own limit ends it about then, and until then it counts.
	lastWait = time.Second
	// bodyBuffer is what proto.Reader wants; a smaller one it would wrap.
	bodyBuffer = 128 << 10
	// maxRefusal is how much is read of what the server says when it refuses.
	maxRefusal = 64 << 10
)

func dialHTTP(o clickhouse.Options) func(context.Context, string) (link, error) {
	settings := url.Values{
		"default_format": {"Native"}, "client_protocol_version": {strconv.Itoa(proto.Version)},
		"wait_end_of_query": {"1"}, "buffer_size": {strconv.Itoa(maxHeld)}, "enable_analyzer": {oldAnalyzer},
		"cancel_http_readonly_queries_on_client_close": {"1"},
	}
	if o.Auth.Database != "" {
		settings.Set("database", o.Auth.Database)
	}
	for name, value := range o.Settings {
		settings.Set(name, fmt.Sprint(value))
	}
	header := http.Header{"User-Agent": {clientName}, "X-Clickhouse-User": {o.Auth.Username}, "X-Clickhouse-Key": {o.Auth.Password}}
	dialer := net.Dialer{Timeout: o.DialTimeout}
	return func(ctx context.Context, address string) (link, error) {
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err != nil {
			return nil, err
		}
		if o.TLS != nil {
			if conn, err = secure(ctx, conn, o.TLS, address); err != nil {
				return nil, err
			}
		}
		l := &httpLink{
			conn: conn, in: bufio.NewReader(conn), out: bufio.NewWriter(conn), settings: settings.Encode(),
			request: http.Request{Method: http.MethodPost, Host: address, Header: header},
			body:    bufio.NewReaderSize(nil, bodyBuffer),
		}
		l.blocks = proto.NewReader(l.body)
		return l, nil
	}
}

func secure(ctx context.Context, conn net.Conn, configuration *tls.Config, address string) (net.Conn, error) {
	configuration = configuration.Clone()
	if host, _, err := net.SplitHostPort(address); err == nil && configuration.ServerName == "" {
		configuration.ServerName = host
	}
	secured := tls.Client(conn, configuration)
	if err := secured.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return secured, nil
}

func (l *httpLink) closed() bool { return l.ended }

func (l *httpLink) close() {
	l.ended = true
	l.conn.Close()
}

// do hangs up when the client of its request has: the server, which looks at the
// connection whenever it has read a block, then ends the statement.
func (l *httpLink) do(ctx context.Context, s statement) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := l.conn.SetDeadline(time.Time{}); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() {
		last := time.Now()
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			last = last.Add(lastWait)
		}
		_ = l.conn.SetDeadline(last) // fails when it is closed
	})
	defer func() {
		if !stop() {
			l.close() // what was to end this statement might end the next
		}
	}()
	answer, err := l.ask(s)
	if err != nil {
		l.close()
		return err
	}
	defer answer.Body.Close()
	if answer.Close {
		defer l.close()
	}
	s.read(rowsOf(answer.Header.Get("X-Clickhouse-Summary")))
	if answer.StatusCode != http.StatusOK {
		return l.refusal(answer)
	}
	if err := l.decode(answer.Body, s); err != nil {
		l.close()
		return err
	}
	return nil
}

func (l *httpLink) ask(s statement) (*http.Response, error) {
	r := l.request
	query := l.settings + "&query_id=" + s.id
	for _, limit := range s.limits {
		query += "&" + limit.name + "=" + limit.value
	}
	r.URL = &url.URL{Path: "/", RawQuery: query}
	r.ContentLength, r.Body = int64(len(s.text)), io.NopCloser(strings.NewReader(s.text))
	if err := r.Write(l.out); err != nil {
		return nil, err
	}
	if err := l.out.Flush(); err != nil {
		return nil, err
	}
	return http.ReadResponse(l.in, &r)
}

// refusal is the exception that the server answered with.
func (l *httpLink) refusal(answer *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxRefusal))
	if err != nil || len(text) == maxRefusal {
		l.close() // what is left unread would be taken for the next answer
	}
	code, err := strconv.Atoi(answer.Header.Get("X-Clickhouse-Exception-Code"))
	if err != nil {
		l.close()
		return fmt.Errorf("%w: %s answered %s, as no ClickHouse does", ErrUnavailable, l.request.Host, answer.Status)
	}
	prefix := fmt.Sprintf("Code: %d. DB::Exception: ", code)
	return &ch.Exception{Code: proto.Error(code), Name: "DB::Exception", Message: strings.TrimPrefix(strings.TrimSpace(string(text)), prefix)}
}

func (l *httpLink) decode(body io.Reader, s statement) error {
	l.body.Reset(body)
	for {
		if _, err := l.body.Peek(1); err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
		var block proto.Block
		if err := block.DecodeBlock(l.blocks, proto.Version, s.result); err != nil {
			return err
		}
		if err := s.each(block.Rows); err != nil {
			return err
		}
	}
}

// rowsOf is the number of rows that a summary says were gone through, 0 when it
// says nothing.
func rowsOf(summary string) uint64 {
	_, rest, _ := strings.Cut(summary, `"read_rows":"`)
	digits, _, _ := strings.Cut(rest, `"`)
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

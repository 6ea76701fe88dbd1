package clickhouse

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
	"sync"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	driver "github.com/ClickHouse/clickhouse-go/v2"
)

// overHTTP runs statements over ClickHouse's HTTP interface. The server runs a
// statement in the thread that has the connection, where the native protocol hands
// every block from one thread to another: a look-up takes a quarter less, the
// slowest of a hundred half.
type overHTTP struct {
	transport http.Transport
	request   http.Request // of every statement, but for what differs
	settings  string
	decoders  sync.Pool // of *decoder
}

// decoder reads blocks of the format Native.
type decoder struct {
	body   *bufio.Reader
	blocks *proto.Reader // reads body
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

func newOverHTTP(o driver.Options, connections int) *overHTTP {
	settings := url.Values{
		"default_format": {"Native"}, "client_protocol_version": {strconv.Itoa(proto.Version)},
		"wait_end_of_query": {"1"}, "buffer_size": {strconv.Itoa(maxHeld)},
		"cancel_http_readonly_queries_on_client_close": {"1"},
	}
	if o.Auth.Database != "" {
		settings.Set("database", o.Auth.Database)
	}
	for name, value := range o.Settings {
		settings.Set(name, fmt.Sprint(value))
	}
	for _, s := range planning {
		settings.Set(s.Name, s.Value)
	}
	dialer, addresses := net.Dialer{Timeout: o.DialTimeout}, newRotation(o.Addr)
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return connect(addresses, func(address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			if err != nil || o.TLS == nil {
				return conn, err
			}
			return secure(ctx, conn, o.TLS, address)
		})
	}
	return &overHTTP{
		// All addresses are one server to the transport, which dial chooses from.
		transport: http.Transport{DialContext: dial, MaxIdleConns: connections, MaxIdleConnsPerHost: connections, DisableCompression: true},
		request: http.Request{Method: http.MethodPost, Host: strings.Join(o.Addr[:min(1, len(o.Addr))], ""), Header: http.Header{
			"User-Agent": {clientName}, "X-Clickhouse-User": {o.Auth.Username}, "X-Clickhouse-Key": {o.Auth.Password},
			// Reading may be repeated, by the transport too, on a connection that was
			// closed meanwhile. The empty list is not sent.
			"Idempotency-Key": {},
		}},
		settings: settings.Encode(),
		decoders: sync.Pool{New: func() any {
			body := bufio.NewReaderSize(nil, bodyBuffer)
			return &decoder{body, proto.NewReader(body)}
		}},
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

func (h *overHTTP) close() { h.transport.CloseIdleConnections() }

// do hangs up when the client of its request has: the server, which looks at the
// connection whenever it has read a block, then ends the statement.
func (h *overHTTP) do(ctx context.Context, s statement) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	answered, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() {
		err := ctx.Err()
		if errors.Is(err, context.DeadlineExceeded) {
			time.AfterFunc(lastWait, func() { cancel(err) })
			return
		}
		cancel(err)
	})()
	answer, err := h.transport.RoundTrip(h.requestOf(answered, s))
	if err != nil {
		if expired(ctx) || errors.Is(err, ErrUnavailable) { // connect tells it
			return err
		}
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	defer answer.Body.Close()
	s.read(rowsOf(answer.Header.Get("X-Clickhouse-Summary")))
	if answer.StatusCode != http.StatusOK {
		return h.refusal(answer)
	}
	return h.decode(answer.Body, s)
}

func (h *overHTTP) requestOf(ctx context.Context, s statement) *http.Request {
	query := h.settings + "&query_id=" + s.id
	for _, limit := range s.limits {
		query += "&" + limit.Name + "=" + limit.Value
	}
	r := h.request.WithContext(ctx)
	r.URL = &url.URL{Scheme: "http", Host: "clickhouse", Path: "/", RawQuery: query}
	r.ContentLength = int64(len(s.text))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(s.text)), nil }
	r.Body, _ = r.GetBody()
	return r
}

// refusal is the exception that the server answered with.
func (h *overHTTP) refusal(answer *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxRefusal))
	if err != nil {
		return err
	}
	code, err := strconv.Atoi(answer.Header.Get("X-Clickhouse-Exception-Code"))
	if err != nil {
		return fmt.Errorf("%w: %s answered %s, as no ClickHouse does", ErrUnavailable, h.request.Host, answer.Status)
	}
	prefix := fmt.Sprintf("Code: %d. DB::Exception: ", code)
	return &ch.Exception{Code: proto.Error(code), Name: "DB::Exception", Message: strings.TrimPrefix(strings.TrimSpace(string(text)), prefix)}
}

func (h *overHTTP) decode(body io.Reader, s statement) error {
	d := h.decoders.Get().(*decoder)
	defer h.decoders.Put(d)
	d.body.Reset(body)
	defer d.body.Reset(nil)
	for {
		if _, err := d.body.Peek(1); err != nil {
			if err == io.EOF {
				return nil
			}
			return err
		}
		var block proto.Block
		if err := block.DecodeBlock(d.blocks, proto.Version, s.result); err != nil {
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

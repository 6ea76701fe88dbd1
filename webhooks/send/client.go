package send

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"tonscribe/internal/egress"
)

// Bounds of what a receiver may answer.
const (
	maxHeaderBytes = 32 << 10
	maxBodyRead    = 64 << 10
	maxBodyKept    = 16 << 10
	maxHeaderKept  = 8 << 10
	maxTextKept    = 300
)

const (
	// idleTime is shorter than the 5 s after which Node.js closes an idle connection: a
	// request on one that is being closed would fail.
	idleTime       = 4 * time.Second
	maxTLSSessions = 4096
)

// client posts to addresses that strangers name. Any number of goroutines may use it.
type client struct {
	transport *http.Transport
	timeout   time.Duration
	allowHTTP bool
	userAgent string
}

func newClient(c Configuration, version string) (*client, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	dialer, err := dialerOf(c)
	if err != nil {
		return nil, err
	}
	roots, err := rootsOf(c.CAFile)
	if err != nil {
		return nil, err
	}
	made := &client{timeout: c.Timeout, allowHTTP: c.AllowHTTP, userAgent: "tonscribe/" + version}
	if c.Documentation != "" {
		made.userAgent += " (+" + c.Documentation + ")"
	}
	made.transport = &http.Transport{
		// No proxy of the environment: it would be reached instead of the address that
		// was checked. No HTTP/2: events of one endpoint would share a connection, and
		// wait for each other.
		Proxy:                  nil,
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, ClientSessionCache: tls.NewLRUClientSessionCache(maxTLSSessions)},
		TLSHandshakeTimeout:    c.Timeout,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeaderBytes,
		MaxIdleConns:           c.Attempts,
		MaxIdleConnsPerHost:    c.Attempts, // many endpoints may lie on one host
		IdleConnTimeout:        idleTime,
	}
	return made, nil
}

// Reaches returns whether requests go to an address: to what the guard lets through, and
// not to denied networks.
func Reaches(c Configuration) (func(netip.Addr) bool, error) {
	allowed, err := egress.Networks(c.AllowNetworks)
	if err != nil {
		return nil, err
	}
	denied, err := egress.Networks(c.DenyNetworks)
	if err != nil {
		return nil, err
	}
	guard := egress.NewGuard(allowed...)
	return func(a netip.Addr) bool {
		return guard.Allows(a) && !slices.ContainsFunc(denied, func(n netip.Prefix) bool { return n.Contains(a) })
	}, nil
}

// dialerOf looks at the very address that is connected to, after a name was resolved.
func dialerOf(c Configuration) (*net.Dialer, error) {
	reaches, err := Reaches(c)
	if err != nil {
		return nil, err
	}
	return &net.Dialer{Timeout: c.Timeout, Control: func(_, address string, _ syscall.RawConn) error {
		if to, err := netip.ParseAddrPort(address); err != nil || !reaches(to.Addr()) {
			return egress.ErrNotGlobal
		}
		return nil
	}}, nil
}

func rootsOf(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("webhooks.send: ca_file: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("webhooks.send: ca_file %s holds no certificate", file)
	}
	return roots, nil
}

func (c *client) close() { c.transport.CloseIdleConnections() }

// target parses where an endpoint is, or says why nothing is sent there.
func (c *client) target(text string) (to *url.URL, reason string) {
	to, err := url.Parse(text)
	switch {
	case text == "":
		return nil, ReasonNoEndpoint
	case err != nil || to.Host == "" || to.User != nil || to.Scheme != "https" && to.Scheme != "http":
		return nil, ReasonInvalid
	case to.Scheme == "http" && !c.allowHTTP:
		return nil, ReasonInsecure
	}
	return to, ""
}

// post makes a request, and puts down in the attempt what came of it. It returns when the
// answer was read, or at the timeout: its body may take the rest of that time.
func (c *client) post(ctx context.Context, to *url.URL, a *Attempt, body []byte) {
	p := &phases{began: time.Now()} // before the timeout, which no attempt falls short of
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	request := (&http.Request{
		Method: http.MethodPost, URL: to, Host: to.Host, Header: a.RequestHeaders, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
		GetBody: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil },
	}).WithContext(httptrace.WithClientTrace(ctx, p.trace()))
	response, err := c.transport.RoundTrip(request) // which follows no redirects
	if err == nil {
		a.answer(response)
	} else {
		a.Class, a.Text = classOf(err)
	}
	a.Total = time.Since(p.began)
	p.fill(a)
}

// cut takes at most n bytes, of a text no part of a character.
func cut(content []byte, n int) []byte {
	if len(content) <= n {
		return content
	}
	for kept := n; kept > n-utf8.UTFMax; kept-- {
		if utf8.Valid(content[:kept]) {
			return content[:kept]
		}
	}
	return content[:n]
}

// answer puts down what a receiver answered.
func (a *Attempt) answer(r *http.Response) {
	defer r.Body.Close()
	a.Code, a.ResponseHeaders = r.StatusCode, r.Header
	if a.Code != http.StatusSwitchingProtocols { // its body is the connection, which no timeout ends
		// Whether the body comes is of no matter.
		content, _ := io.ReadAll(io.LimitReader(r.Body, maxBodyRead+1))
		a.ResponseBody = cut(content, maxBodyKept)
	}
	if a.Code >= 200 && a.Code <= 299 {
		return
	}
	a.Class, a.Text = ClassStatus, fmt.Sprintf("the receiver answered %d", a.Code)
	if to := r.Header.Get("Location"); to != "" && a.Code >= 300 && a.Code <= 399 {
		a.Text = shortened(fmt.Sprintf("%s, a redirect to %s, which is not followed", a.Text, to))
	}
}

// phases are the times of a request. Its events come from several goroutines, some
// after its end.
type phases struct {
	began time.Time
	mutex sync.Mutex

	dnsBegan, connectBegan, tlsBegan time.Time
	dns, connect, tls, firstByte     time.Duration
	remote                           string
	reused                           bool
}

func (p *phases) trace() *httptrace.ClientTrace {
	locked := func(do func()) {
		p.mutex.Lock()
		defer p.mutex.Unlock()
		do()
	}
	return &httptrace.ClientTrace{
		DNSStart: func(httptrace.DNSStartInfo) { locked(func() { p.dnsBegan = time.Now() }) },
		DNSDone:  func(httptrace.DNSDoneInfo) { locked(func() { p.dns = time.Since(p.dnsBegan) }) },
		ConnectStart: func(_, _ string) {
			locked(func() {
				if p.connectBegan.IsZero() {
					p.connectBegan = time.Now()
				}
			})
		},
		ConnectDone: func(_, address string, err error) {
			locked(func() {
				p.connect = time.Since(p.connectBegan)
				if err == nil {
					p.remote = address
				}
			})
		},
		TLSHandshakeStart: func() { locked(func() { p.tlsBegan = time.Now() }) },
		TLSHandshakeDone:  func(tls.ConnectionState, error) { locked(func() { p.tls = time.Since(p.tlsBegan) }) },
		GotConn: func(i httptrace.GotConnInfo) {
			locked(func() { p.remote, p.reused = i.Conn.RemoteAddr().String(), i.Reused })
		},
		GotFirstResponseByte: func() { locked(func() { p.firstByte = time.Since(p.began) }) },
	}
}

func (p *phases) fill(a *Attempt) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	a.Remote, a.reused = p.remote, p.reused
	a.DNS, a.Connect, a.TLS, a.FirstByte = p.dns, p.connect, p.tls, p.firstByte
}

// classOf says what kept a request from an answer. The text may be shown to anybody.
func classOf(err error) (Class, string) {
	var (
		lookup      *net.DNSError
		certificate *tls.CertificateVerificationError
		invalid     x509.CertificateInvalidError
		name        x509.HostnameError
		issuer      x509.UnknownAuthorityError
		header      tls.RecordHeaderError
		alert       tls.AlertError
		operation   *net.OpError
	)
	text := shortened(egress.Describe(err))
	switch {
	case errors.Is(err, egress.ErrNotGlobal):
		return ClassAddress, text
	case errors.As(err, &lookup):
		return ClassDNS, text
	case errors.As(err, &certificate):
		switch {
		case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
			return ClassExpired, text
		case errors.As(err, &name):
			return ClassName, text
		case errors.As(err, &issuer):
			return ClassIssuer, text
		}
		return ClassCertificate, text
	case errors.Is(err, context.Canceled):
		return ClassInterrupted, "the sender was stopped"
	case isTimeout(err):
		return ClassTimeout, text
	case errors.As(err, &header), errors.As(err, &alert), errors.As(err, &operation) && operation.Op == "remote error", strings.HasPrefix(err.Error(), "tls: "):
		return ClassTLS, text
	case errors.Is(err, syscall.ECONNREFUSED):
		return ClassRefused, text
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return ClassReset, text
	case strings.Contains(err.Error(), "response headers exceeded"):
		return ClassHeaders, text
	case strings.Contains(err.Error(), "malformed"), strings.Contains(err.Error(), "unsupported transfer encoding"), strings.Contains(err.Error(), "Content-Length"):
		return ClassProtocol, text
	}
	return ClassNetwork, text
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

// shortened is a text as it is kept: a receiver chooses some.
func shortened(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), maxTextKept)], "")
}

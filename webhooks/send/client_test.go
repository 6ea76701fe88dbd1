package send

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tonscribe/test/support/harness"
)

// posted is what came of one request by a client.
func posted(t *testing.T, c *client, address string) *Attempt {
	t.Helper()
	to, reason := c.target(address)
	if reason != "" {
		t.Fatalf("%s: %s", address, reason)
	}
	a := &Attempt{RequestHeaders: http.Header{"Content-Type": {"application/json"}}}
	c.post(t.Context(), to, a, []byte(`{"event":"transfer.completed"}`))
	a.Ended = time.Now()
	return a
}

func newTestClient(t *testing.T, change func(*Configuration)) *client {
	t.Helper()
	c := DefaultConfiguration()
	c.AllowNetworks, c.CAFile = []string{"127.0.0.0/8"}, authority(t).file(t)
	if change != nil {
		change(&c)
	}
	made, err := newClient(c, "test")
	must(t, err)
	t.Cleanup(made.close)
	return made
}

// raw is a receiver that does as it likes with each connection after the request's headers came.
func raw(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{authority(t).issue(t, certificate{})}})
	must(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if _, err := conn.Read(make([]byte, 4096)); err == nil {
					serve(conn)
				}
			}()
		}
	}()
	return "https://" + l.Addr().String()
}

func TestOnlyA2xxIsASuccess(t *testing.T) {
	var other *shop
	s := newShop(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		var code int
		for _, digit := range strings.TrimPrefix(r.URL.Path, "/") {
			code = 10*code + int(digit-'0')
		}
		w.Header().Set("Location", other.URL)
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(code)
	})
	other = newShop(t, nil)
	c := newTestClient(t, nil)
	for code, class := range map[string]Class{"200": "", "201": "", "202": "", "204": "", "299": "", "300": ClassStatus, "301": ClassStatus, "302": ClassStatus, "303": ClassStatus, "304": ClassStatus,
		"307": ClassStatus, "308": ClassStatus, "400": ClassStatus, "401": ClassStatus, "404": ClassStatus, "410": ClassStatus, "429": ClassStatus, "500": ClassStatus, "503": ClassStatus, "599": ClassStatus} {
		a := posted(t, c, s.URL+"/"+code)
		if a.Class != class || a.Succeeded() != (class == "") {
			t.Errorf("%s: class %q (%s), want %q", code, a.Class, a.Text, class)
		}
		if code == "302" && (!strings.Contains(a.Text, "a redirect to "+other.URL) || a.ResponseHeaders.Get("Location") != other.URL) {
			t.Errorf("302: %q does not tell where to", a.Text)
		}
	}
	if n := other.count(); n != 0 {
		t.Errorf("redirects were followed %d times", n)
	}
}

func TestReceiversThatMisbehaveAreToldApart(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\n"
	answer := func(text string) func(net.Conn) { return func(c net.Conn) { io.WriteString(c, text) } }
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	z.Write(make([]byte, 64<<20))
	z.Close()
	patient, hurried := newTestClient(t, nil), newTestClient(t, func(c *Configuration) { c.Timeout = 2 * time.Second })
	for _, test := range []struct {
		name   string
		serve  func(net.Conn)
		class  Class
		kept   int // bytes of the body
		inTime bool
	}{
		{"hangs", func(c net.Conn) { io.Copy(io.Discard, c) }, ClassTimeout, 0, false},
		{"drips headers", func(c net.Conn) {
			for _, b := range []byte(ok + strings.Repeat("A: b\r\n", 100)) {
				if _, err := c.Write([]byte{b}); err != nil {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
		}, ClassTimeout, 0, false},
		{"drips a body", func(c net.Conn) {
			io.WriteString(c, ok+"Content-Length: 1000\r\n\r\n")
			for range 1000 {
				if _, err := c.Write([]byte{'x'}); err != nil {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
		}, "", -1, false},
		{"endless body", func(c net.Conn) {
			io.WriteString(c, ok+"\r\n")
			for {
				if _, err := c.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		}, "", maxBodyKept, true},
		{"gzip bomb", answer(ok + "Content-Encoding: gzip\r\nConnection: close\r\n\r\n" + bomb.String()), "", maxBodyKept, true},
		{"a text that would be cut in a character", answer(ok + "Connection: close\r\n\r\n." + strings.Repeat("я", maxBodyKept)), "", maxBodyKept - 1, true},
		{"no text", answer(ok + "Connection: close\r\n\r\n" + strings.Repeat("\x8f", 2*maxBodyKept)), "", maxBodyKept, true},
		{"body that is cut", answer(ok + "Content-Length: 100\r\n\r\nabc"), "", 3, true},
		{"large headers", answer(ok + strings.Repeat("X-Large: "+strings.Repeat("x", 1000)+"\r\n", 40) + "\r\n"), ClassHeaders, 0, true},
		{"endless headers", func(c net.Conn) {
			io.WriteString(c, ok)
			for {
				if _, err := io.WriteString(c, "X-More: "+strings.Repeat("x", 1000)+"\r\n"); err != nil {
					return
				}
			}
		}, ClassHeaders, 0, true},
		{"closes", func(net.Conn) {}, ClassReset, 0, true},
		{"resets", func(c net.Conn) { c.(*tls.Conn).NetConn().(*net.TCPConn).SetLinger(0) }, ClassReset, 0, true},
		{"ends amid the status line", func(c net.Conn) { io.WriteString(c, "HTTP/1.1 2") }, ClassProtocol, 0, true},
		{"speaks something else", answer("220 smtp.example ESMTP\r\n"), ClassProtocol, 0, true},
		{"a length below nothing", answer(ok + "Content-Length: -5\r\n\r\n"), ClassProtocol, 0, true},
		{"two lengths", answer(ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"), ClassProtocol, 0, true},
		{"HTTP/1.0", answer("HTTP/1.0 200 OK\r\n\r\nyes"), "", 3, true},
		{"switches protocols and stays", func(c net.Conn) {
			io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n")
			io.Copy(io.Discard, c)
		}, ClassStatus, 0, true},
		{"says 200 in the end", answer("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + ok + "Content-Length: 0\r\n\r\n"), "", 0, true},
	} {
		c := hurried // and busy machines have time for what is not to be late
		if test.inTime {
			c = patient
		}
		a := posted(t, c, raw(t, test.serve))
		if a.Class != test.class || test.kept >= 0 && len(a.ResponseBody) != test.kept || len(a.ResponseBody) > maxBodyKept {
			t.Errorf("%s: class %q (%s) with %d bytes of a body, want %q with %d", test.name, a.Class, a.Text, len(a.ResponseBody), test.class, test.kept)
		}
		if test.inTime == (a.Total >= c.timeout) {
			t.Errorf("%s took %s of %s", test.name, a.Total, c.timeout)
		}
	}
}

func TestCertificatesAreVerifiedAndTheirFaultsToldApart(t *testing.T) {
	serve := func(config *tls.Config) string {
		t.Helper()
		l, err := tls.Listen("tcp", "127.0.0.1:0", config)
		must(t, err)
		s := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request got through") }), ErrorLog: quiet()}
		go s.Serve(l)
		t.Cleanup(func() { s.Close() })
		return "https://" + l.Addr().String()
	}
	with := func(c certificate) *tls.Config {
		return &tls.Config{Certificates: []tls.Certificate{authority(t).issue(t, c)}}
	}
	old := with(certificate{})
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	go http.Serve(plain, http.NotFoundHandler())
	t.Cleanup(func() { plain.Close() })
	c := newTestClient(t, nil)
	for _, test := range []struct {
		name, url string
		class     Class
	}{
		{"expired", serve(with(certificate{expired: true})), ClassExpired},
		{"another host's", serve(with(certificate{name: "other.example"})), ClassName},
		{"of nobody known", serve(with(certificate{selfSigned: true})), ClassIssuer},
		{"TLS 1.1", serve(old), ClassTLS},
		{"no TLS", "https://" + plain.Addr().String(), ClassTLS},
		{"nobody", "https://" + harness.DeafAddress(t), ClassRefused},
		{"no name", "https://shop.invalid/", ClassDNS},
	} {
		if a := posted(t, c, test.url); a.Class != test.class || a.Text == "" {
			t.Errorf("%s: class %q (%s), want %q", test.name, a.Class, a.Text, test.class)
		}
	}
}

// What the guard refuses is refused whatever it is called, before a connection is made.
func TestAddressesThatAreNotGloballyReachableAreNotConnectedTo(t *testing.T) {
	c := newTestClient(t, func(c *Configuration) {
		c.AllowNetworks, c.DenyNetworks = nil, []string{"1.1.1.1/32", "2606:4700:4700::1111/128"}
	})
	addresses := []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254", "169.254.169.254", "169.254.170.2",
		"172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.0.1", "198.18.0.1", "198.19.255.255", "198.51.100.1",
		"203.0.113.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "168.63.129.16",
		"[::]", "[::1]", "[::7f00:1]", "[::ffff:127.0.0.1]", "[::ffff:10.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::a00:1]", "[100::1]", "[2001::1]", "[2001:db8::1]",
		"[2002:7f00:1::1]", "[3fff::1]", "[5f00::1]", "[fc00::1]", "[fd00:ec2::254]", "[fe80::1]", "[fec0::1]", "[ff02::1]", "[4000::1]",
		// Denied by the configuration, and other spellings.
		"1.1.1.1", "[2606:4700:4700::1111]", "localhost", "127.1", "2130706433", "0x7f000001", "0177.0.0.1",
	}
	configuration := DefaultConfiguration()
	configuration.DenyNetworks = []string{"1.1.1.1/32", "2606:4700:4700::1111/128"}
	reaches, err := Reaches(configuration)
	must(t, err)
	for _, address := range addresses {
		if ip, err := netip.ParseAddr(strings.Trim(address, "[]")); err == nil && reaches(ip) {
			t.Errorf("%s may be saved, and is not connected to", ip)
		}
	}
	if !reaches(netip.MustParseAddr("1.1.1.2")) {
		t.Error("1.1.1.2 may not be saved")
	}
	const literal = 45
	for n, address := range addresses {
		a := posted(t, c, "https://"+address+":1/")
		refused := a.Class == ClassAddress
		if n >= literal+2 { // which a resolver may not know
			refused = refused || a.Class == ClassDNS
		}
		if !refused || a.Remote != "" {
			t.Errorf("%s: class %q (%s) of %q, want %q of none", address, a.Class, a.Text, a.Remote, ClassAddress)
		}
	}
	own, err := net.InterfaceAddrs()
	must(t, err)
	for _, address := range own {
		if ip, _, err := net.ParseCIDR(address.String()); err == nil && !ip.IsLinkLocalUnicast() {
			if of, ok := netip.AddrFromSlice(ip); ok && reaches(of.Unmap()) {
				t.Errorf("this machine's %s may be saved", ip)
			}
			if a := posted(t, c, "https://"+net.JoinHostPort(ip.String(), "1")); a.Class != ClassAddress {
				t.Errorf("this machine's %s: class %q, want %q", ip, a.Class, ClassAddress)
			}
		}
	}
}

func TestNoProxyOfTheEnvironmentIsAsked(t *testing.T) {
	proxy := newShop(t, nil)
	t.Setenv("HTTPS_PROXY", proxy.URL)
	t.Setenv("HTTP_PROXY", proxy.URL)
	s := newShop(t, nil)
	if a := posted(t, newTestClient(t, nil), s.URL); !a.Succeeded() || proxy.count() != 0 || s.count() != 1 {
		t.Errorf("the attempt is %q, the proxy was asked %d times, the shop %d; want success, 0, 1", a.Class, proxy.count(), s.count())
	}
}

func TestConnectionsAreReused(t *testing.T) {
	s := newShop(t, nil)
	c := newTestClient(t, nil)
	first, second := posted(t, c, s.URL), posted(t, c, s.URL)
	if first.reused || !second.reused || second.TLS != 0 || second.Remote == "" {
		t.Errorf("the first attempt has reused %t, the second %t with TLS %s; want false, true, 0", first.reused, second.reused, second.TLS)
	}
}

func TestURLsThatAreNotForWebhooksAreRefused(t *testing.T) {
	c, open := newTestClient(t, nil), newTestClient(t, func(c *Configuration) { c.AllowHTTP = true })
	for address, want := range map[string]string{"": ReasonNoEndpoint, "https://shop.example/hook?x=1": "", "http://shop.example": ReasonInsecure, "HTTP://shop.example": ReasonInsecure,
		"ftp://shop.example": ReasonInvalid, "https://user:password@shop.example": ReasonInvalid, "https://": ReasonInvalid, "shop.example": ReasonInvalid, "https://a b": ReasonInvalid,
		"file:///etc/passwd": ReasonInvalid} {
		if _, reason := c.target(address); reason != want {
			t.Errorf("%q: %q, want %q", address, reason, want)
		}
	}
	if _, reason := open.target("http://127.0.0.1"); reason != "" {
		t.Errorf("http where it is allowed: %q, want none", reason)
	}
}

// piped is a client whose connections end in a server in memory, so that both are in the
// virtual time of a test.
func piped(t *testing.T, handler http.HandlerFunc) (*client, *url.URL) {
	t.Helper()
	c := newTestClient(t, func(c *Configuration) { c.AllowHTTP = true })
	l := &pipes{make(chan net.Conn), make(chan struct{})}
	c.transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		select {
		case l.connections <- theirs:
			return ours, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	s := &http.Server{Handler: handler, ErrorLog: quiet()}
	go s.Serve(l)
	t.Cleanup(func() {
		c.close()
		s.Close()
		time.Sleep(2 * time.Minute) // handlers end
	})
	to, _ := c.target("http://shop.example")
	return c, to
}

type pipes struct {
	connections chan net.Conn
	closed      chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.connections:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error {
	select {
	case <-p.closed:
		return errors.New("closed twice")
	default:
		close(p.closed)
	}
	return nil
}
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func TestAStatusLineCountsIfItComesWithinTenSeconds(t *testing.T) {
	for _, test := range []struct {
		name         string
		status, body time.Duration // until they come
		class        Class
		took         time.Duration
	}{
		{"after 9.9 s", 9900 * time.Millisecond, 0, "", 9900 * time.Millisecond},
		{"after 10.1 s", 10100 * time.Millisecond, 0, ClassTimeout, 10 * time.Second},
		{"after 9 s, with a body that takes a minute", 9 * time.Second, time.Minute, "", 10 * time.Second},
		{"at once, with a body that takes 5 s", 0, 5 * time.Second, "", 5 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			c, to := piped(t, func(w http.ResponseWriter, r *http.Request) {
				time.Sleep(test.status)
				w.WriteHeader(http.StatusOK)
				w.(http.Flusher).Flush()
				time.Sleep(test.body)
				io.WriteString(w, "done")
			})
			a := &Attempt{RequestHeaders: http.Header{}}
			c.post(t.Context(), to, a, []byte("{}"))
			if a.Class != test.class || a.Total != test.took {
				t.Errorf("%s: class %q (%s) after %s, want %q after %s", test.name, a.Class, a.Text, a.Total, test.class, test.took)
			}
		})
	}
}

func TestRetriesAreDueOneFiveAndFifteenSecondsAfterTheEndOfEachAttempt(t *testing.T) {
	for _, test := range []struct {
		name  string
		takes time.Duration
		want  []time.Duration
	}{
		{"that fail at once", 0, []time.Duration{0, 1 * time.Second, 6 * time.Second, 21 * time.Second}},
		{"that time out", time.Minute, []time.Duration{0, 11 * time.Second, 26 * time.Second, 51 * time.Second}},
	} {
		synctest.Test(t, func(t *testing.T) {
			c, to := piped(t, func(w http.ResponseWriter, r *http.Request) {
				time.Sleep(test.takes)
				w.WriteHeader(http.StatusInternalServerError)
			})
			began := time.Now()
			d := &delivery{number: 1, Delivery: Delivery{State: Pending, Due: began}}
			var at []time.Duration
			for d.State == Pending {
				time.Sleep(time.Until(d.Due))
				at = append(at, time.Since(began))
				a := &Attempt{Number: d.number, RequestHeaders: http.Header{}}
				c.post(t.Context(), to, a, []byte("{}"))
				a.Ended = time.Now()
				d.note(a)
			}
			if len(at) != len(test.want) || d.State != Exhausted {
				t.Fatalf("attempts %s: at %v, then %s, want %v, then %s", test.name, at, d.State, test.want, Exhausted)
			}
			for n := range at {
				if at[n] != test.want[n] {
					t.Errorf("attempts %s: number %d after %s, want %s", test.name, n+1, at[n], test.want[n])
				}
			}
		})
	}
}

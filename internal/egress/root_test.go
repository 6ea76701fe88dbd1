package egress

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestWhatIsNotGloballyReachableIsRefused(t *testing.T) {
	g := NewGuard()
	for _, refused := range []string{
		// The IPv4 registry, and the ends of its blocks.
		"0.0.0.0", "0.255.255.255", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254",
		"169.254.169.254", "172.16.3.4", "172.31.255.255", "192.0.0.1", "192.0.0.192", "192.0.2.1", "192.31.196.1", "192.52.193.1",
		"192.88.99.1", "192.168.1.1", "192.175.48.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1",
		"224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
		// Public by number, a cloud's own by use.
		"168.63.129.16",
		// The IPv6 registry.
		"::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:0:7f00:1", "::ffff:0:808:808", "64:ff9b::7f00:1", "64:ff9b::808:808",
		"64:ff9b:1::a00:1", "100::1", "100:0:0:1::1", "2001::1", "2001:0:7f00:1::1", "2001:2::1", "2001:10::1", "2001:20::1", "2001:db8::1",
		"2002:7f00:1::1", "2002:a00:1::1", "2620:4f:8000::1", "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%lo",
		"fec0::1", "ff02::1", "4000::1",
	} {
		network := "tcp4"
		if netip.MustParseAddr(refused).Is6() {
			network = "tcp6"
		}
		if err := g.control(network, netip.AddrPortFrom(netip.MustParseAddr(refused), 80).String(), nil); !errors.Is(err, ErrNotGlobal) {
			t.Errorf("%s by %s: %v, want %v", refused, network, err, ErrNotGlobal)
		}
	}
	for network, allowed := range map[string][]string{
		"tcp4": {"1.1.1.1:443", "8.8.8.8:80", "9.255.255.255:8080", "11.0.0.0:1", "100.63.255.255:80", "168.63.129.15:80", "172.32.0.1:80", "223.255.255.255:80"},
		"tcp6": {"[2606:4700:4700::1111]:443", "[2a00:1450::1]:80", "[2003::1]:9"},
	} {
		for _, address := range allowed {
			if err := g.control(network, address, nil); err != nil {
				t.Errorf("%s: %v, want a connection", address, err)
			}
		}
	}
	if err := g.control("tcp4", "no address", nil); !errors.Is(err, ErrNotGlobal) {
		t.Errorf("no address: %v, want %v", err, ErrNotGlobal)
	}
}

func TestAllowedNetworksAreReachedAndNoOthers(t *testing.T) {
	networks, err := Networks([]string{"127.0.0.1/32", "fd00::/16"})
	if err != nil {
		t.Fatal(err)
	}
	g := NewGuard(networks...)
	for address, want := range map[string]error{
		"127.0.0.1:80": nil, "127.0.0.2:80": ErrNotGlobal, "10.0.0.1:80": ErrNotGlobal, "1.1.1.1:80": nil,
	} {
		if got := g.control("tcp4", address, nil); !errors.Is(got, want) {
			t.Errorf("%s: %v, want %v", address, got, want)
		}
	}
	for address, want := range map[string]error{
		"[fd00::1]:80": nil, "[fd01::1]:80": ErrNotGlobal, "[::1]:80": ErrNotGlobal, "[::ffff:127.0.0.1]:80": ErrNotGlobal,
	} {
		if got := g.control("tcp6", address, nil); !errors.Is(got, want) {
			t.Errorf("%s: %v, want %v", address, got, want)
		}
	}
	for address, want := range map[string]bool{"127.0.0.1": true, "127.0.0.2": false, "1.1.1.1": true, "::ffff:127.0.0.1": false, "fd00::1": true, "fd01::1": false} {
		if got := g.Allows(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s is allowed: %t, want %t", address, got, want)
		}
	}
	for _, text := range []string{"10.0.0.1", "10.0.0.1/99", "localhost"} {
		if _, err := Networks([]string{text}); err == nil || !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), "netip") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestThisMachineIsNotReachedByItsPublicAddresses(t *testing.T) {
	networks, err := Networks([]string{"1.1.1.1/32"})
	if err != nil {
		t.Fatal(err)
	}
	own := func() (list []net.Addr, err error) {
		for _, text := range []string{"127.0.0.1/8", "1.1.1.1/24", "2606:4700:4700::1111/64", "fe80::1/64"} {
			ip, network, err := net.ParseCIDR(text)
			if err != nil {
				return nil, err
			}
			list = append(list, &net.IPNet{IP: ip, Mask: network.Mask})
		}
		return list, nil
	}
	unknown := func() ([]net.Addr, error) { return nil, errors.New("no permission") }
	for _, test := range []struct {
		own     func() ([]net.Addr, error)
		allowed []netip.Prefix
		address string
		want    bool
	}{
		{own, nil, "1.1.1.1", false}, {own, nil, "2606:4700:4700::1111", false}, {own, nil, "1.1.1.2", true}, {own, nil, "2606:4700:4700::1112", true},
		{own, networks, "1.1.1.1", true}, {own, networks, "2606:4700:4700::1111", false},
		{unknown, nil, "1.1.1.2", false}, {unknown, networks, "1.1.1.1", true},
	} {
		g := NewGuard(test.allowed...)
		g.own = test.own
		if got := g.Allows(netip.MustParseAddr(test.address)); got != test.want {
			t.Errorf("%s with %v allowed: %t, want %t", test.address, test.allowed, got, test.want)
		}
	}
}

func TestTheDialerReachesNoLoopbackByAnyOfItsNames(t *testing.T) {
	reached := false
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer server.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "http://"), ":")
	dialer := NewGuard().Dialer(5 * time.Second)
	for _, host := range []string{"127.0.0.1", "localhost", "::ffff:127.0.0.1", "::1", "0.0.0.0", "::"} {
		c, err := dialer.DialContext(t.Context(), "tcp", net.JoinHostPort(host, port))
		if !errors.Is(err, ErrNotGlobal) {
			t.Errorf("%s: %v, want %v", host, err, ErrNotGlobal)
		}
		if c != nil {
			c.Close()
		}
	}
	if reached {
		t.Error("the server was reached")
	}
}

// lameResolver asks a name server that is not there.
func lameResolver(t *testing.T) (resolver *net.Resolver, address string) {
	t.Helper()
	l, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = l.LocalAddr().String()
	l.Close()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", address)
	}}, address
}

func TestTextsOfFailuresHoldNoAddress(t *testing.T) {
	resolver, nameServer := lameResolver(t)
	_, lookup := (&net.Dialer{Resolver: resolver}).DialContext(t.Context(), "tcp", "token.site:80")
	if lookup == nil || !strings.Contains(lookup.Error(), nameServer) {
		t.Fatalf("the lookup fails with %v, want a text that holds %s", lookup, nameServer)
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	_, refused := http.Get(gone.URL)
	reset := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c, _, _ := w.(http.Hijacker).Hijack()
		c.(*net.TCPConn).SetLinger(0)
		c.Close()
	}))
	defer reset.Close()
	_, broken := http.Get(reset.URL)
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer slow.Close()
	_, late := (&http.Client{Timeout: 50 * time.Millisecond}).Get(slow.URL)
	guarded := http.Client{Transport: &http.Transport{DialContext: NewGuard().Dialer(time.Second).DialContext}}
	_, private := guarded.Get(slow.URL)
	for _, c := range []struct {
		err  error
		want string
	}{
		{lookup, "the name of the host could not be resolved"},
		{&net.DNSError{Err: "no such host", Name: "token.site", Server: "10.0.0.2:53", IsNotFound: true}, "no such host"},
		{&net.DNSError{Err: "read udp 10.1.2.3:999->10.0.0.2:53: i/o timeout", Name: "token.site", Server: "10.0.0.2:53", IsTimeout: true}, "the name of the host could not be resolved in time"},
		{refused, "dial: connection refused"},
		{broken, "read: connection reset by peer"},
		{late, "no answer in time"},
		{private, "the address is not globally reachable"},
	} {
		if got := Describe(c.err); got != c.want {
			t.Errorf("%v is told as %q, want %q", c.err, got, c.want)
		}
	}
}

package auth

import (
	"math/rand/v2"
	"net/http"
	"net/netip"
	"testing"
	"time"
)

func TestALimitAllowsItsBurstAtOnceAndItsRateOnTheLongRun(t *testing.T) {
	for _, c := range []struct {
		rate  float64
		burst uint32
	}{{1, 1}, {1, 5}, {25, 25}, {0.01, 1}, {1000, 1}} {
		r, b := newRule(c.rate, c.burst), &bucket{}
		var now time.Duration
		allowed := uint32(0)
		for range 2 * c.burst {
			if b.take(r, now) == 0 {
				allowed++
			}
		}
		if allowed != c.burst {
			t.Errorf("%v/s, burst %d: %d at once", c.rate, c.burst, allowed)
		}
		// Greedy: ask again exactly when told to.
		const more = 1000
		for range more {
			for wait := b.take(r, now); wait > 0; wait = b.take(r, now) {
				now += wait
			}
			allowed++
		}
		if even := float64(now) / float64(r.interval); even < more-1.5 || even > more {
			t.Errorf("%v/s, burst %d: %d requests more took %.2f intervals, want about %d", c.rate, c.burst, more, even, more)
		}
	}
}

func TestAnEvenPaceOverAnUnevenNetworkIsNotRefused(t *testing.T) {
	r, b := newRule(1, 1), &bucket{}
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 1000 {
		sent := time.Duration(n) * time.Second
		if wait := b.take(r, sent+time.Duration(random.Int64N(int64(90*time.Millisecond)))); wait > 0 {
			t.Fatalf("request %d, a second after the one before, has to wait %s", n, wait)
		}
	}
	if wait := b.take(r, 999*time.Second+200*time.Millisecond); wait == 0 {
		t.Error("two requests 0.2 s apart are allowed at 1/s")
	}
}

func TestMillionsOfAddressesNeedBoundedMemoryAndBusyOnesAreRemembered(t *testing.T) {
	const most = 4096
	a, r := newAddresses(most), newRule(0.001, 1)
	busy := household(netip.MustParseAddr("192.0.2.1"))
	if a.take(busy, r, 0) != 0 {
		t.Fatal("the first request is refused")
	}
	for n := range uint64(1_000_000) {
		if a.take(address{high: n}, r, 0) != 0 {
			t.Fatalf("the first request of address %d is refused", n)
		}
		if n%256 == 0 && a.take(busy, r, 0) == 0 {
			t.Fatalf("after %d others the busy address is forgotten", n)
		}
	}
	if n := a.size(); n > most {
		t.Errorf("%d addresses are remembered, want at most %d", n, most)
	}
}

func TestAddressesOfOneHouseholdCountTogether(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"192.0.2.1", "192.0.2.1", true},
		{"192.0.2.1", "192.0.2.2", false},
		{"::ffff:192.0.2.1", "192.0.2.1", true},
		{"2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", true},
		{"2001:db8:1:2::1", "2001:db8:1:3::1", false},
		{"fe80::1%eth0", "fe80::1%eth1", true},
		{"::1", "192.0.2.1", false},
	} {
		if a, b := household(addressIn(c.a)), household(addressIn(c.b)); (a == b) != c.same {
			t.Errorf("%s and %s: %v and %v, want the same: %v", c.a, c.b, a, b, c.same)
		}
	}
}

func TestForwardedAddressesAreBelievedOfTrustedProxiesOnly(t *testing.T) {
	proxies, err := parseProxies([]string{"10.0.0.0/8", "192.0.2.9", "2001:db8::/32"})
	if err != nil {
		t.Fatal(err)
	}
	c := &Component{proxies: proxies}
	for _, test := range []struct {
		name, peer string
		forwarded  []string
		want       string
	}{
		{"no proxy", "203.0.113.5:4711", nil, "203.0.113.5"},
		{"a client that lies", "203.0.113.5:4711", []string{"198.51.100.7"}, "203.0.113.5"},
		{"one proxy", "10.1.2.3:80", []string{"198.51.100.7"}, "198.51.100.7"},
		{"two proxies", "10.1.2.3:80", []string{"198.51.100.7, 192.0.2.9"}, "198.51.100.7"},
		{"a lie before the proxy", "10.1.2.3:80", []string{"8.8.8.8, 198.51.100.7"}, "198.51.100.7"},
		{"a lie in a line of its own", "10.1.2.3:80", []string{"8.8.8.8", "198.51.100.7"}, "198.51.100.7"},
		{"a lie that looks like a proxy", "10.1.2.3:80", []string{"10.0.0.1, 198.51.100.7,10.0.0.2"}, "198.51.100.7"},
		{"IPv6 with port", "[2001:db8::1]:80", []string{"[2001:470::7]:1234"}, "2001:470::7"},
		{"IPv4 with port", "10.1.2.3:80", []string{"198.51.100.7:1234"}, "198.51.100.7"},
		{"mapped", "[::ffff:10.1.2.3]:80", []string{"::ffff:198.51.100.7"}, "198.51.100.7"},
		{"junk", "10.1.2.3:80", []string{"unknown"}, "10.1.2.3"},
		{"junk further left", "10.1.2.3:80", []string{"<script>, 198.51.100.7"}, "198.51.100.7"},
		{"proxies only", "10.1.2.3:80", []string{"10.9.9.9"}, "10.9.9.9"},
		{"empty", "10.1.2.3:80", []string{""}, "10.1.2.3"},
	} {
		r := &http.Request{RemoteAddr: test.peer, Header: http.Header{}}
		if test.forwarded != nil {
			r.Header["X-Forwarded-For"] = test.forwarded
		}
		if got := c.clientOf(r).String(); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestBadConfigurationsAreRefusedByTheNameOfTheKey(t *testing.T) {
	for name, change := range map[string]func(*Configuration){
		"anonymous_rate":  func(c *Configuration) { c.AnonymousRate = -1 },
		"anonymous_burst": func(c *Configuration) { c.AnonymousBurst = 0 },
		"trusted_proxies": func(c *Configuration) { c.TrustedProxies = []string{"10.0.0.0/8", "everyone"} },
		"redis_timeout":   func(c *Configuration) { c.RedisTimeout = 0 },
		"redis":           func(c *Configuration) { c.Redis = "http://user:secret@host" },
		"refresh":         func(c *Configuration) { c.Refresh = 0 },
		"usage":           func(c *Configuration) { c.Usage = -time.Second },
		"addresses":       func(c *Configuration) { c.Addresses = 0 },
	} {
		c := DefaultConfiguration()
		change(&c)
		_, err := New(c, Dependencies{})
		if err == nil || !contains(err.Error(), name) || contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

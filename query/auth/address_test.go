package auth

import (
	"net/http"
	"testing"
	"time"
)

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
	proxies, err := parseProxies([]string{"10.0.0.0/8", "192.0.2.9", "2001:db8::/32", "::ffff:172.16.0.0/108"})
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
		{"a network written as mapped", "172.31.0.1:80", []string{"198.51.100.7"}, "198.51.100.7"},
		{"beside a network written as mapped", "172.32.0.1:80", []string{"198.51.100.7"}, "172.32.0.1"},
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

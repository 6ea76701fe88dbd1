package auth

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"time"
)

// Configuration of keys and limits.
type Configuration struct {
	// AnonymousRate is how many requests a second an address makes without a key;
	// 0 is no limit. IPv6 addresses count together by their /64.
	AnonymousRate float64 `yaml:"anonymous_rate"`
	// AnonymousBurst is how many of them may come at once.
	AnonymousBurst uint32 `yaml:"anonymous_burst"`
	// TrustedProxies are addresses and networks (10.0.0.0/8) whose
	// X-Forwarded-For is believed.
	TrustedProxies []string `yaml:"trusted_proxies"`
	// Redis is redis://user:password@host:port/db (rediss: with TLS): limits then
	// hold over all replicas of query. Empty: each replica has limits of its own.
	Redis string `yaml:"redis" secret:"true"`
	// RedisTimeout is how long a request waits for Redis before it is counted
	// here.
	RedisTimeout time.Duration `yaml:"redis_timeout"`
	// Refresh is how often the table of keys is looked at.
	Refresh time.Duration `yaml:"refresh"`
	// Usage is how often the use of keys is written.
	Usage time.Duration `yaml:"usage"`
	// Addresses is the most client addresses that are remembered.
	Addresses int `yaml:"addresses"`
	// Network is the one that the API shows; keys may be for some only.
	Network string `yaml:"-"`
}

// DefaultConfiguration is that of the public service.
func DefaultConfiguration() Configuration {
	return Configuration{
		AnonymousRate: 1, AnonymousBurst: 1,
		RedisTimeout: 100 * time.Millisecond,
		Refresh:      5 * time.Second, Usage: 10 * time.Second,
		Addresses: 1 << 18,
		Network:   "mainnet",
	}
}

func (c Configuration) validate() ([]netip.Prefix, error) {
	if err := CheckRate(c.AnonymousRate); err != nil {
		return nil, fmt.Errorf("anonymous_rate: %w", err)
	}
	if err := CheckBurst(c.AnonymousBurst); err != nil {
		return nil, fmt.Errorf("anonymous_burst: %w", err)
	}
	switch {
	case c.Refresh <= 0:
		return nil, fmt.Errorf("refresh is %s, it must be positive", c.Refresh)
	case c.Usage <= 0:
		return nil, fmt.Errorf("usage is %s, it must be positive", c.Usage)
	case c.RedisTimeout <= 0:
		return nil, fmt.Errorf("redis_timeout is %s, it must be positive", c.RedisTimeout)
	case c.Addresses < 1:
		return nil, fmt.Errorf("addresses is %d, it must be positive", c.Addresses)
	}
	return parseProxies(c.TrustedProxies)
}

// Bounds of limits that somebody may set.
const (
	minRate  = 0.001
	maxRate  = 1e6
	maxBurst = 1e6
)

// CheckRate is nil for a rate that limits can have: 0 is none.
func CheckRate(rate float64) error {
	if rate != 0 && (math.IsNaN(rate) || rate < minRate || rate > maxRate) {
		return fmt.Errorf("a rate of %v requests a second: want 0 for no limit, or %v to %v", rate, minRate, float64(maxRate))
	}
	return nil
}

// CheckBurst is nil for a burst that limits can have.
func CheckBurst(burst uint32) error {
	if burst < 1 || burst > maxBurst {
		return fmt.Errorf("a burst of %d requests: want 1 to %d", burst, int(maxBurst))
	}
	return nil
}

// Trusts returns what reports whether an address is a trusted proxy's.
func (c Configuration) Trusts() (func(netip.Addr) bool, error) {
	proxies, err := parseProxies(c.TrustedProxies)
	if err != nil {
		return nil, fmt.Errorf("auth: %w", err)
	}
	return func(address netip.Addr) bool { return within(proxies, address) }, nil
}

// mappedBits stand before an IPv4 address that is written as an IPv6 address.
const mappedBits = 128 - 32

func parseProxies(texts []string) ([]netip.Prefix, error) {
	var proxies []netip.Prefix
	var problems error
	for _, text := range texts {
		if address, err := netip.ParseAddr(text); err == nil {
			address = address.Unmap()
			proxies = append(proxies, netip.PrefixFrom(address, address.BitLen()))
			continue
		}
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			problems = errors.Join(problems, fmt.Errorf("trusted_proxies: %q is neither an address nor a network like 10.0.0.0/8", text))
			continue
		}
		// Addresses of clients that are IPv4 are compared as such.
		if bits := prefix.Bits() - mappedBits; prefix.Addr().Is4In6() && bits >= 0 {
			prefix = netip.PrefixFrom(prefix.Addr().Unmap(), bits)
		}
		proxies = append(proxies, prefix.Masked())
	}
	return proxies, problems
}

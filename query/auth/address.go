package auth

import (
	"encoding/binary"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// clientOf is the address that a request counts for: that of the connection or,
// behind trusted proxies, the last one in X-Forwarded-For that is not theirs.
// What a client writes into that header itself stands further left.
func (c *Component) clientOf(r *http.Request) netip.Addr {
	client := addressIn(r.RemoteAddr)
	if !c.trusted(client) {
		return client
	}
	hops := r.Header["X-Forwarded-For"]
	for i := len(hops) - 1; i >= 0; i-- {
		for rest := hops[i]; rest != ""; {
			var hop string
			if comma := strings.LastIndexByte(rest, ','); comma >= 0 {
				rest, hop = rest[:comma], rest[comma+1:]
			} else {
				rest, hop = "", rest
			}
			next := addressIn(strings.TrimSpace(hop))
			if !next.IsValid() {
				return client
			}
			if client = next; !c.trusted(client) {
				return client
			}
		}
	}
	return client
}

func (c *Component) trusted(address netip.Addr) bool { return within(c.proxies, address) }

func within(proxies []netip.Prefix, address netip.Addr) bool {
	return slices.ContainsFunc(proxies, func(proxy netip.Prefix) bool { return proxy.Contains(address) })
}

// addressIn reads an address with or without a port.
func addressIn(text string) netip.Addr {
	if both, err := netip.ParseAddrPort(text); err == nil {
		return both.Addr().Unmap().WithZone("")
	}
	alone, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		return netip.Addr{}
	}
	return alone.Unmap().WithZone("")
}

// An address is one of IPv6, of which the first half counts, or of IPv4.
type address struct{ high, low uint64 }

// household is what limits count an address as: networks give a customer a /64
// of IPv6, and one address of IPv4.
func household(a netip.Addr) address {
	full := a.As16()
	of := address{high: binary.BigEndian.Uint64(full[:8])}
	if !a.Is6() {
		of.low = binary.BigEndian.Uint64(full[8:])
	}
	return of
}

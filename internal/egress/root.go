// Package egress dials addresses that strangers name: links in token contents,
// receivers of webhooks.
//
// In: names and addresses out of anybody's hands. Out: connections to the public
// internet, and texts of failures that may be shown to anybody. The package must
// never connect to an address that IANA's special-purpose registries do not call
// globally reachable, or that is this machine's own, unless the operator allows its
// network, and its texts must never hold an address of our own side: that of the resolver, of the socket, or
// of a host that was refused.
package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// ErrNotGlobal is what a connection to an address ends with that is not globally
// reachable.
var ErrNotGlobal = errors.New("the address is not globally reachable")

// cloudServices are addresses that look public and lead to the machine's own
// cloud: the wire server of Azure, which hands out settings and credentials.
var cloudServices = []netip.Prefix{netip.MustParsePrefix("168.63.129.16/32")}

// Guard decides which addresses are connected to. Any number of goroutines may
// use it.
type Guard struct {
	guardian *ssrf.Guardian
	allowed  []netip.Prefix
	own      func() ([]net.Addr, error) // addresses of this machine
}

// NewGuard makes a guard that lets through what is globally reachable and not this
// machine, whose services may be open to itself only, and the allowed networks.
func NewGuard(allowed ...netip.Prefix) *Guard {
	var v4, v6 []netip.Prefix
	for _, network := range allowed {
		if network.Addr().Is4() {
			v4 = append(v4, network)
		} else {
			v6 = append(v6, network)
		}
	}
	return &Guard{ssrf.New(ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(cloudServices...),
		ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...)), allowed, net.InterfaceAddrs}
}

// Networks parses prefixes such as 10.1.0.0/16.
func Networks(texts []string) (networks []netip.Prefix, err error) {
	for _, text := range texts {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("%q is no network, such as 10.1.0.0/16, or 10.1.0.7/32 for an address", text)
		}
		networks = append(networks, network)
	}
	return networks, nil
}

// Dialer is a dialer that connects to nothing but what the guard allows. It
// looks at the very address that is connected to, after a name was resolved, so
// that a name cannot mean another address a moment later.
func (g *Guard) Dialer(timeout time.Duration) *net.Dialer {
	return &net.Dialer{Timeout: timeout, Control: g.control}
}

// Allows reports whether an address is connected to.
func (g *Guard) Allows(address netip.Addr) bool {
	network := "tcp6"
	if address.Is4() {
		network = "tcp4"
	}
	return g.control(network, netip.AddrPortFrom(address, 443).String(), nil) == nil
}

func (g *Guard) control(network, address string, c syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || g.guardian.Safe(network, address, c) != nil || g.isOwn(to.Addr()) {
		return ErrNotGlobal // the others' texts name the address
	}
	return nil
}

// isOwn reports whether an address that is not allowed is one of this machine's, or
// whether that cannot be told.
func (g *Guard) isOwn(a netip.Addr) bool {
	if slices.ContainsFunc(g.allowed, func(n netip.Prefix) bool { return n.Contains(a) }) {
		return false
	}
	own, err := g.own()
	return err != nil || slices.ContainsFunc(own, func(of net.Addr) bool {
		prefix, err := netip.ParsePrefix(of.String())
		return err != nil || prefix.Addr() == a
	})
}

// Describe is the text of a failed request that may be kept and shown: what
// happened, without the addresses that Go's texts carry.
func Describe(err error) string {
	var (
		lookup      *net.DNSError
		operation   *net.OpError
		number      syscall.Errno
		request     *url.Error
		certificate *tls.CertificateVerificationError
	)
	switch {
	case err == nil:
		return ""
	case errors.Is(err, ErrNotGlobal):
		return ErrNotGlobal.Error()
	case errors.As(err, &lookup) && lookup.IsNotFound:
		return "no such host"
	case errors.As(err, &lookup) && lookup.IsTimeout:
		return "the name of the host could not be resolved in time"
	case errors.As(err, &lookup):
		return "the name of the host could not be resolved"
	case timedOut(err):
		return "no answer in time"
	case errors.As(err, &operation) && errors.As(err, &number):
		return fmt.Sprintf("%s: %s", operation.Op, number.Error())
	case errors.As(err, &certificate):
		return certificate.Error()
	case errors.As(err, &operation):
		return operation.Op + " failed"
	case errors.As(err, &request):
		return request.Err.Error()
	}
	return err.Error()
}

func timedOut(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

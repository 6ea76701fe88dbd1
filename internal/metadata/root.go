// Package metadata fetches the documents that token contents point to (TEP-64).
// In come links as contracts hold them: http, https, ipfs or data; out come the
// documents, read as JSON objects. It must never reach an address of a private
// network, hold more than a document's limit, or follow links without end:
// whoever writes a contract chooses what we are asked to fetch.
package metadata

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// Reasons for which a document is not to be had, as Failure.Reason and in the
// metric's label.
const (
	ReasonLink    = "link"    // not a link that we follow
	ReasonAddress = "address" // leads to a private network
	ReasonNetwork = "network" // no connection, no answer in time
	ReasonStatus  = "status"  // answered otherwise than with 200
	ReasonSize    = "size"    // larger than the limit
	ReasonForm    = "form"    // not a JSON object
)

// Failure is a document that could not be had.
type Failure struct {
	Reason string
	// Final says that asking again later will not help.
	Final bool
	Err   error
}

func (f *Failure) Error() string { return f.Reason + ": " + f.Err.Error() }
func (f *Failure) Unwrap() error { return f.Err }

// errPrivate is what a connection to a private network ends with.
var errPrivate = errors.New("the address belongs to a private network")

// Fetcher fetches documents. Any number of goroutines may use it.
type Fetcher struct {
	configuration Configuration
	client        *http.Client
}

// NewFetcher checks the configuration.
func NewFetcher(c Configuration) (*Fetcher, error) {
	if c.Timeout <= 0 || c.MaxBytes <= 0 {
		return nil, fmt.Errorf("metadata: timeout %s and max_bytes %d must be positive", c.Timeout, c.MaxBytes)
	}
	gateway, err := url.Parse(c.IPFSGateway)
	if c.IPFSGateway != "" && (err != nil || gateway.Host == "" || gateway.Scheme != "http" && gateway.Scheme != "https") {
		return nil, fmt.Errorf("metadata: ipfs_gateway %q is not an http or https address", c.IPFSGateway)
	}
	dialer := &net.Dialer{Timeout: c.Timeout, Control: c.refusePrivate}
	return &Fetcher{configuration: c, client: &http.Client{
		Timeout: c.Timeout,
		Transport: &http.Transport{
			// No proxy of the environment: it would be reached instead of the
			// address that was checked.
			DialContext:            dialer.DialContext,
			TLSHandshakeTimeout:    c.Timeout,
			ResponseHeaderTimeout:  c.Timeout,
			MaxResponseHeaderBytes: 64 << 10,
			MaxIdleConns:           32,
			MaxConnsPerHost:        4,
			IdleConnTimeout:        30 * time.Second,
		},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > mostRedirects {
				return fmt.Errorf("more than %d redirects", mostRedirects)
			}
			if r.URL.Scheme != "http" && r.URL.Scheme != "https" {
				return fmt.Errorf("a redirect to %s", r.URL.Scheme)
			}
			return nil
		},
	}}, nil
}

const mostRedirects = 4

// refusePrivate is asked after a name was resolved, for the very address that
// is connected to, so that a name cannot mean another address a moment later.
func (c Configuration) refusePrivate(_, address string, _ syscall.RawConn) error {
	if c.AllowPrivate {
		return nil
	}
	at, err := netip.ParseAddrPort(address)
	if err != nil || !public(at.Addr().Unmap()) {
		return errPrivate
	}
	return nil
}

// reserved are ranges that are not private by name and still lead nowhere
// public: this network, carrier NAT, protocol assignments, documentation,
// benchmarks, reserved; and the IPv6 forms that carry an IPv4 address.
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2001::/23"),
	netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"),
}

func public(a netip.Addr) bool {
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() {
		return false
	}
	for _, p := range reserved {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// Fetch reads the document behind a link. The error is a *Failure, or that of
// ctx.
func (f *Fetcher) Fetch(ctx context.Context, link string) (Document, error) {
	content, err := f.content(ctx, strings.TrimSpace(link))
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, err
	}
	return parse(content)
}

func (f *Fetcher) content(ctx context.Context, link string) ([]byte, error) {
	if strings.HasPrefix(link, "data:") {
		return f.inline(link)
	}
	address, err := f.address(link)
	if err != nil {
		return nil, &Failure{ReasonLink, true, err}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, &Failure{ReasonLink, true, err}
	}
	request.Header.Set("Accept", "application/json, */*;q=0.5")
	request.Header.Set("User-Agent", "tonscribe")
	response, err := f.client.Do(request)
	switch {
	case errors.Is(err, errPrivate):
		return nil, &Failure{ReasonAddress, true, errPrivate}
	case err != nil:
		return nil, &Failure{ReasonNetwork, false, err}
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, &Failure{ReasonStatus, gone(response.StatusCode), fmt.Errorf("the server answered %d", response.StatusCode)}
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, f.configuration.MaxBytes+1))
	if err != nil {
		return nil, &Failure{ReasonNetwork, false, err}
	}
	return f.limited(content)
}

// gone are answers that do not change soon.
func gone(status int) bool {
	return status == http.StatusNotFound || status == http.StatusGone || status == http.StatusUnauthorized || status == http.StatusForbidden
}

func (f *Fetcher) limited(content []byte) ([]byte, error) {
	if int64(len(content)) > f.configuration.MaxBytes {
		return nil, &Failure{ReasonSize, true, fmt.Errorf("the document is larger than %d bytes", f.configuration.MaxBytes)}
	}
	return content, nil
}

// address is where a link is fetched from.
func (f *Fetcher) address(link string) (string, error) {
	u, err := url.Parse(link)
	if err != nil {
		return "", errors.New("not a link")
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		if u.Host == "" || u.User != nil {
			return "", errors.New("a link without host, or with a password")
		}
		return link, nil
	case "ipfs":
		if f.configuration.IPFSGateway == "" {
			return "", errors.New("no ipfs gateway is configured")
		}
		path := strings.TrimPrefix(strings.TrimPrefix(link[len("ipfs:"):], "//"), "ipfs/")
		if path == "" || strings.Contains(path, "..") {
			return "", errors.New("an ipfs link without content id")
		}
		return strings.TrimSuffix(f.configuration.IPFSGateway, "/") + "/" + path, nil
	}
	return "", fmt.Errorf("links of kind %.20q are not followed", u.Scheme)
}

// inline is the content of a data link (RFC 2397).
func (f *Fetcher) inline(link string) ([]byte, error) {
	kind, data, found := strings.Cut(link[len("data:"):], ",")
	if !found || int64(len(data)) > 2*f.configuration.MaxBytes {
		return nil, &Failure{ReasonLink, true, errors.New("not a data link, or too long a one")}
	}
	kind, isBase64 := strings.CutSuffix(kind, ";base64")
	if _, _, err := mime.ParseMediaType(kind); kind != "" && err != nil {
		return nil, &Failure{ReasonLink, true, errors.New("a data link of no known kind")}
	}
	text, err := url.PathUnescape(data)
	if err != nil {
		return nil, &Failure{ReasonLink, true, errors.New("a data link with broken escapes")}
	}
	if !isBase64 {
		return f.limited([]byte(text))
	}
	content, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, &Failure{ReasonLink, true, errors.New("a data link with broken base64")}
	}
	return f.limited(content)
}

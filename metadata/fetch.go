package metadata

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"tonscribe/internal/egress"
)

// Reasons for which a document is not to be had, as Failure.Reason and in the
// metric's label.
const (
	ReasonLink    = "link"    // not a link that we follow
	ReasonAddress = "address" // not globally reachable
	ReasonNetwork = "network" // no connection, no answer in time
	ReasonStatus  = "status"  // answered otherwise than with 200
	ReasonSize    = "size"    // larger than the limit
	ReasonForm    = "form"    // not a JSON object, or not a dump of the airdrop
)

// ReasonDocument is one for dumps only: the document that names the dump is not there,
// or names none.
const ReasonDocument = "document"

// Reasons are all of them.
var Reasons = []string{ReasonLink, ReasonAddress, ReasonNetwork, ReasonStatus, ReasonSize, ReasonForm}

// Failure is a document that could not be had.
type Failure struct {
	Reason string
	// Final reports whether asking again soon will not help.
	Final bool
	// Busy reports whether the host wants to be left alone: it does not answer, or says
	// so. After is for how long, where it tells.
	Busy  bool
	After time.Duration
	Err   error
}

// failed is a failure that asking again soon does not help against.
func failed(reason string, err error) error { return &Failure{Reason: reason, Final: true, Err: err} }

func (f *Failure) Error() string { return f.Reason + ": " + f.Err.Error() }
func (f *Failure) Unwrap() error { return f.Err }

// Fetcher fetches documents. Any number of goroutines may use it.
type Fetcher struct {
	configuration    Configuration
	documents, dumps reading
}

// reading is how one kind of content is read.
type reading struct {
	client   *http.Client
	maxBytes int64
	accept   string
}

// NewFetcher checks the configuration.
func NewFetcher(c Configuration) (*Fetcher, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	allowed, err := egress.Networks(c.AllowNetworks)
	if err != nil {
		return nil, fmt.Errorf("metadata: allow_networks: %w", err)
	}
	transport := &http.Transport{
		// No proxy of the environment: it would be reached instead of the
		// address that was checked.
		DialContext:            egress.NewGuard(allowed...).Dialer(c.Timeout).DialContext,
		TLSHandshakeTimeout:    c.Timeout,
		ResponseHeaderTimeout:  c.Timeout,
		MaxResponseHeaderBytes: 64 << 10,
		MaxIdleConns:           64,
		MaxConnsPerHost:        c.HostRequests,
		IdleConnTimeout:        30 * time.Second,
	}
	client := func(timeout time.Duration) *http.Client {
		return &http.Client{Timeout: timeout, Transport: connections{transport.Clone(), transport.Clone()}, CheckRedirect: checkRedirect}
	}
	return &Fetcher{
		configuration: c,
		documents:     reading{client(c.Timeout), c.MaxBytes, "application/json, */*;q=0.5"},
		// They have connections of their own: one takes minutes.
		dumps: reading{client(c.Dumps.Timeout), c.Dumps.MaxBytes, "*/*"},
	}, nil
}

// connections are those to the hosts that links name, and apart from them those to hosts
// that other hosts redirect to: whoever has names without end leads all of them to one
// host, which must not lack connections for its own links.
type connections struct{ own, led *http.Transport }

// RoundTrip is http.RoundTripper's.
func (c connections) RoundTrip(r *http.Request) (*http.Response, error) {
	first := r
	for first.Response != nil { // the redirect that led here
		first = first.Response.Request
	}
	if strings.EqualFold(first.URL.Hostname(), r.URL.Hostname()) {
		return c.own.RoundTrip(r)
	}
	return c.led.RoundTrip(r)
}

// checkRedirect refuses with a *Failure: it is the link that leads nowhere, its host answers.
func checkRedirect(r *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return failed(ReasonLink, fmt.Errorf("more than %d redirects", maxRedirects))
	}
	if r.URL.Scheme != "http" && r.URL.Scheme != "https" {
		return failed(ReasonLink, fmt.Errorf("a redirect to %s", r.URL.Scheme))
	}
	return nil
}

const maxRedirects = 4

// Fetch reads the document behind a link. The error is a *Failure, or that of
// ctx.
func (f *Fetcher) Fetch(ctx context.Context, link string) (Document, error) {
	content, err := f.content(ctx, link, &f.documents)
	if err != nil {
		return nil, err
	}
	return parse(content)
}

// Dump reads the dump of an airdrop. The error is a *Failure, or that of ctx.
func (f *Fetcher) Dump(ctx context.Context, link string) ([]byte, error) {
	return f.content(ctx, link, &f.dumps)
}

func (f *Fetcher) content(ctx context.Context, link string, r *reading) ([]byte, error) {
	content, err := f.read(ctx, strings.TrimSpace(link), r)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return content, err
}

func (f *Fetcher) read(ctx context.Context, link string, r *reading) ([]byte, error) {
	switch host := hostOf(link); {
	case isData(link):
		return r.inline(link)
	case nobodys(host):
		return nil, failed(ReasonAddress, fmt.Errorf("%s is a name for examples (RFC 2606)", host))
	}
	address, err := f.address(link)
	if err != nil {
		return nil, failed(ReasonLink, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, failed(ReasonLink, err)
	}
	request.Header.Set("Accept", r.accept)
	request.Header.Set("User-Agent", "tonscribe")
	response, err := r.client.Do(request)
	var refusal *Failure
	switch {
	case errors.As(err, &refusal):
		return nil, refusal
	case errors.Is(err, egress.ErrNotGlobal):
		return nil, failed(ReasonAddress, egress.ErrNotGlobal)
	case err != nil:
		return nil, unreachable(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, refused(response)
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, r.maxBytes+1))
	if err != nil {
		return nil, unreachable(err)
	}
	return r.limited(content)
}

// unreachable is a failure on the way to a host. Its text is kept in a table, so
// it holds no address of ours.
func unreachable(err error) *Failure {
	return &Failure{Reason: ReasonNetwork, Busy: true, Err: errors.New(egress.Describe(err))}
}

// refused is an answer other than 200. What is not found may come yet: a token
// is often there before its document.
func refused(r *http.Response) *Failure {
	failure := &Failure{Reason: ReasonStatus, Err: fmt.Errorf("the server answered %d", r.StatusCode)}
	switch {
	case r.StatusCode == http.StatusGone || r.StatusCode == http.StatusUnauthorized || r.StatusCode == http.StatusForbidden:
		failure.Final = true
	case r.StatusCode == http.StatusTooManyRequests || r.StatusCode >= http.StatusInternalServerError:
		failure.Busy = true
		// What is too large a number is the largest.
		if seconds, err := strconv.ParseUint(r.Header.Get("Retry-After"), 10, 16); err == nil || errors.Is(err, strconv.ErrRange) {
			failure.After = time.Duration(seconds) * time.Second
		}
	}
	return failure
}

func (r *reading) limited(content []byte) ([]byte, error) {
	if int64(len(content)) > r.maxBytes {
		return nil, failed(ReasonSize, fmt.Errorf("the content is larger than %d bytes", r.maxBytes))
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
		if plain, err := url.PathUnescape(path); path == "" || err != nil || strings.Contains(plain, "..") {
			return "", errors.New("an ipfs link without content id")
		}
		return strings.TrimSuffix(f.configuration.IPFSGateway, "/") + "/" + path, nil
	}
	return "", fmt.Errorf("links of kind %.20q are not followed", u.Scheme)
}

func isData(link string) bool {
	return len(link) >= len(inLink) && strings.EqualFold(link[:len(inLink)], inLink)
}

// inline is the content of a data link (RFC 2397), whatever kind it says it is: contracts
// have kinds like application/json;utf8, and texts whose percent signs begin no escape.
func (r *reading) inline(link string) ([]byte, error) {
	kind, data, found := strings.Cut(link[len(inLink):], ",")
	if !found || int64(len(data)) > 2*r.maxBytes {
		return nil, failed(ReasonLink, errors.New("not a data link, or too long a one"))
	}
	text, err := url.PathUnescape(data)
	if err != nil {
		text = data
	}
	if coding := kind[strings.LastIndexByte(kind, ';')+1:]; coding == kind || !strings.EqualFold(strings.TrimSpace(coding), "base64") {
		return r.limited([]byte(text))
	}
	// As browsers read it: with white space in it, and without its padding.
	content, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(strings.Join(strings.Fields(text), ""), "="))
	if err != nil {
		return nil, failed(ReasonLink, errors.New("a data link with broken base64"))
	}
	return r.limited(content)
}

// InLink is what is kept of the document that a data link holds.
func InLink(link string) (string, error) {
	link = strings.TrimSpace(link)
	if !isData(link) {
		return "", errors.New("not a data link")
	}
	r := &reading{maxBytes: int64(len(link))}
	content, err := r.inline(link)
	if err != nil {
		return "", err
	}
	return Kept(content)
}

// inGateway and inLink stand for a host where a link has none.
const (
	inGateway = "ipfs:"
	inLink    = "data:"
)

// nobodys reports whether a name is reserved for examples and tests.
func nobodys(host string) bool {
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	n := len(labels)
	switch labels[n-1] {
	case "example", "invalid", "test":
		return true
	case "com", "net", "org":
		return n > 1 && labels[n-2] == "example"
	}
	return false
}

// hostOf is whom a link asks: a host, inGateway, or inLink for what needs nobody.
func hostOf(link string) string {
	u, err := url.Parse(strings.TrimSpace(link))
	if err != nil {
		return inLink
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		return strings.ToLower(u.Hostname())
	case "ipfs":
		return inGateway
	}
	return inLink
}

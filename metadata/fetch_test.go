package metadata_test

import (
	"context"
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tonscribe/metadata"
)

func fetcher(t *testing.T, change func(*metadata.Configuration)) *metadata.Fetcher {
	t.Helper()
	c := metadata.DefaultConfiguration()
	c.AllowNetworks = []string{"127.0.0.0/8"}
	if change != nil {
		change(&c)
	}
	f, err := metadata.NewFetcher(c)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func serve(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return server.URL
}

func reason(t *testing.T, f *metadata.Fetcher, link string) string {
	t.Helper()
	_, err := f.Fetch(t.Context(), link)
	var failure *metadata.Failure
	if !errors.As(err, &failure) {
		t.Fatalf("%s: the error is %v, want a failure", link, err)
	}
	return failure.Reason
}

const document = `{"name":"Token ✓","decimals":6,"supply":123456789012345678901234567890}`

func checkDocument(t *testing.T, f *metadata.Fetcher, link string) {
	t.Helper()
	d, err := f.Fetch(t.Context(), link)
	if err != nil {
		t.Fatalf("%s: %v", link, err)
	}
	for key, want := range map[string]string{"name": "Token ✓", "decimals": "6", "supply": "123456789012345678901234567890"} {
		if got := d.Text(key); got != want {
			t.Errorf("%s: %s is %q, want %q", link, key, got, want)
		}
	}
}

func TestDocumentsComeFromEveryKindOfLink(t *testing.T) {
	web := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/a.json", "/ipfs/QmTest/1.json":
			_, _ = w.Write([]byte(document))
		case "/moved":
			http.Redirect(w, r, "/a.json", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	})
	f := fetcher(t, func(c *metadata.Configuration) { c.IPFSGateway = web + "/ipfs/" })
	for _, link := range []string{
		web + "/a.json", " " + web + "/moved", "ipfs://QmTest/1.json", "ipfs://ipfs/QmTest/1.json",
		"data:application/json," + strings.ReplaceAll(document, `"`, "%22"),
		"data:application/json;base64," + base64.StdEncoding.EncodeToString([]byte(document)),
		"data:application/json;base64," + base64.RawStdEncoding.EncodeToString([]byte(document)),
		"DATA:application/json; Base64," + base64.StdEncoding.EncodeToString([]byte(document)),
		"data:;base64," + base64.StdEncoding.EncodeToString([]byte(document))[:40] + "%20\n" + base64.StdEncoding.EncodeToString([]byte(document))[40:],
		"data:application/json;utf8," + document, "data:application/json," + strings.Replace(document, "{", `{"share": "5% of sales",`, 1),
	} {
		checkDocument(t, f, link)
	}
}

func TestWhatIsNotGloballyReachableIsNeverReached(t *testing.T) {
	reached := false
	web := serve(t, func(http.ResponseWriter, *http.Request) { reached = true })
	f := fetcher(t, func(c *metadata.Configuration) { c.AllowNetworks = nil })
	port := web[strings.LastIndex(web, ":"):]
	for _, host := range []string{
		"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "10.0.0.1", "172.16.3.4", "192.168.1.1", "169.254.169.254",
		"100.64.0.1", "[fd00::1]", "[fe80::1]", "[fec0::1]", "[64:ff9b::7f00:1]", "[::ffff:0:7f00:1]", "[2002:7f00:1::1]", "168.63.129.16",
	} {
		if got := reason(t, f, "http://"+host+port+"/"); got != metadata.ReasonAddress {
			t.Errorf("%s: %s, want %s", host, got, metadata.ReasonAddress)
		}
	}
	if got := reason(t, f, web); got != metadata.ReasonAddress || reached {
		t.Errorf("loopback: %s, reached %v", got, reached)
	}
	if _, err := f.Fetch(t.Context(), "http://2130706433"+port+"/"); err == nil || reached {
		t.Errorf("loopback as one number: %v, reached %v", err, reached)
	}
}

func TestTheResolversAddressStaysOutOfFailures(t *testing.T) {
	gone, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nameServer := gone.LocalAddr().String()
	gone.Close()
	theirs := net.DefaultResolver
	defer func() { net.DefaultResolver = theirs }()
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", nameServer)
	}}
	_, err = fetcher(t, nil).Fetch(t.Context(), "https://token.site/1.json")
	if want := "network: the name of the host could not be resolved"; err == nil || err.Error() != want {
		t.Errorf("the failure is %v, want %s", err, want)
	}
}

func TestWhatIsNotADocumentIsNamed(t *testing.T) {
	web := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/large":
			_, _ = w.Write([]byte(`{"a":"` + strings.Repeat("x", 300<<10) + `"}`))
		case "/deep":
			_, _ = w.Write([]byte(strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000)))
		case "/list":
			_, _ = w.Write([]byte(`[1,2]`))
		case "/page":
			_, _ = w.Write([]byte(`<html>`))
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case "/slow":
			<-r.Context().Done()
		default:
			http.NotFound(w, r)
		}
	})
	hurried := fetcher(t, func(c *metadata.Configuration) { c.Timeout = 300 * time.Millisecond })
	if got := reason(t, hurried, web+"/slow"); got != metadata.ReasonNetwork {
		t.Errorf("slow: %s, want %s", got, metadata.ReasonNetwork)
	}
	f := fetcher(t, nil)
	for link, want := range map[string]string{
		web + "/large": metadata.ReasonSize, web + "/deep": metadata.ReasonForm, web + "/list": metadata.ReasonForm,
		web + "/page": metadata.ReasonForm, web + "/loop": metadata.ReasonLink, web + "/file": metadata.ReasonLink,
		web + "/none": metadata.ReasonStatus,
		"":            metadata.ReasonLink, "file:///etc/passwd": metadata.ReasonLink, "ftp://a/b": metadata.ReasonLink, "http://": metadata.ReasonLink,
		"http://user:secret@host.site/": metadata.ReasonLink, "ipfs://": metadata.ReasonLink, "ipfs://../x": metadata.ReasonLink,
		"ipfs://cid/%2e%2E/%2e./x": metadata.ReasonLink, "ipfs:%2e%2e/x": metadata.ReasonLink,
		"https://example.com/1.json": metadata.ReasonAddress, "https://a.Example.ORG./": metadata.ReasonAddress, "http://devnet.example/": metadata.ReasonAddress,
		"data:application/json;base64,###": metadata.ReasonLink, "data:nothing": metadata.ReasonLink, "\x00": metadata.ReasonLink,
	} {
		if got := reason(t, f, link); got != want {
			t.Errorf("%.60q: %s, want %s", link, got, want)
		}
	}
}

func TestALinkWhoseRedirectsAreNotFollowedLeavesItsHostToOthers(t *testing.T) {
	web := serve(t, func(w http.ResponseWriter, r *http.Request) {
		to := map[string]string{"/loop": "/loop", "/file": "file:///etc/passwd"}
		http.Redirect(w, r, to[r.URL.Path], http.StatusFound)
	})
	for _, path := range []string{"/loop", "/file"} {
		_, err := fetcher(t, nil).Fetch(t.Context(), web+path)
		var failure *metadata.Failure
		if !errors.As(err, &failure) || failure.Busy {
			t.Errorf("%s: %+v, want a failure of a host that is not busy", path, failure)
		}
	}
}

// A gateway is one host for many: who names dumps there, and gives them slowly, must not
// keep its documents from everybody.
func TestSlowDumpsDoNotTakeTheConnectionsOfDocuments(t *testing.T) {
	const dumps = 2
	asked, end := make(chan struct{}, dumps), make(chan struct{})
	site := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/dump") {
			asked <- struct{}{}
			<-end
			return
		}
		_, _ = w.Write([]byte(document))
	})
	defer close(end)
	f := fetcher(t, func(c *metadata.Configuration) {
		c.IPFSGateway, c.HostRequests, c.Timeout = site, dumps, 20*time.Second
	})
	for range dumps {
		go func() { _, _ = f.Dump(t.Context(), "ipfs://cid/dump") }()
		<-asked
	}
	checkDocument(t, f, "ipfs://cid/document")
}

// Names of hosts cost nothing: who leads many of them to one host must not keep its own
// links from it.
func TestRedirectsToAHostDoNotTakeTheConnectionsOfItsOwnLinks(t *testing.T) {
	const requests = 2
	asked, end := make(chan struct{}, requests), make(chan struct{})
	site := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/slow":
			asked <- struct{}{}
			<-end
		case "/moved":
			http.Redirect(w, r, "/document", http.StatusFound)
		default:
			_, _ = w.Write([]byte(document))
		}
	})
	defer close(end)
	other := newSite(t, "127.0.0.2", func(w http.ResponseWriter, r *http.Request, _ int) {
		http.Redirect(w, r, site+r.URL.Path, http.StatusFound)
	})
	f := fetcher(t, func(c *metadata.Configuration) { c.HostRequests = requests })
	for range requests {
		go func() { _, _ = f.Fetch(t.Context(), other.URL+"/slow") }()
		<-asked
	}
	checkDocument(t, f, site+"/document")
	checkDocument(t, f, site+"/moved")
}

func TestAPauseThatIsTooLargeANumberIsTheLongest(t *testing.T) {
	for asked, want := range map[string]time.Duration{"120": 2 * time.Minute, "31536000": 65535 * time.Second, "99999999999999999999": 65535 * time.Second, "-1": 0, "soon": 0} {
		web := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", asked)
			w.WriteHeader(http.StatusTooManyRequests)
		})
		_, err := fetcher(t, nil).Fetch(t.Context(), web)
		var failure *metadata.Failure
		if !errors.As(err, &failure) || !failure.Busy || failure.After != want {
			t.Errorf("Retry-After %s: %+v, want a busy host's failure with a pause of %s", asked, failure, want)
		}
	}
}

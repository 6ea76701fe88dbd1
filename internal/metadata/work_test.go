package metadata_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/engine/enginetest"
	"tonscribe/internal/metadata"
	"tonscribe/schema"
	"tonscribe/schema/migrations"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// limit is for what takes some seconds on a quiet machine.
const limit = 5 * time.Minute

// index is a database that a sink fills.
type index struct {
	testing.TB
	*clickhouse.Client
	seqno   uint32
	metrics *prometheus.Registry // of the process that was started last
}

// newIndex lets the test run beside others: most of its time it waits.
func newIndex(t *testing.T) *index {
	t.Helper()
	t.Parallel()
	dsn := enginetest.ClickHouse(t).DSN()
	configuration := clickhouse.DefaultConfiguration()
	configuration.DSN = dsn
	client, err := clickhouse.New(configuration, clickhouse.Dependencies{Report: enginetest.Report(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	i := &index{TB: t, Client: client}
	var all strings.Builder
	if err := migrations.Print(t.Context(), &all, "unused", migrations.Options{}); err != nil {
		t.Fatal(err)
	}
	for statement := range strings.SplitSeq(all.String(), ";") {
		// The tables that are needed; all of them take longer than a test.
		if strings.Contains(statement, "EXISTS metadata") || strings.Contains(statement, "EXISTS progress") {
			i.exec(statement)
		}
	}
	i.exec("SYSTEM STOP MERGES metadata_fetches") // so that tests see every try
	return i
}

func (i *index) exec(statement string, arguments ...any) {
	i.Helper()
	if err := i.Conn().Exec(i.Context(), statement, arguments...); err != nil {
		i.Fatal(err)
	}
}

// bundle makes a bundle visible in which contracts have these links.
func (i *index) bundle(links ...string) {
	i.Helper()
	i.seqno++
	if len(links) > 0 {
		encoded := make([]string, len(links))
		for n, link := range links {
			encoded[n] = hex.EncodeToString([]byte(link))
		}
		i.exec("INSERT INTO metadata_links SELECT ?, unhex(arrayJoin(splitByChar(',', ?)))", i.seqno, strings.Join(encoded, ","))
	}
	for _, topic := range schema.Topics {
		if topic.Table {
			i.exec("INSERT INTO progress VALUES (?, 0, 1, ?, ?)", topic.Name, i.seqno, i.seqno)
		}
	}
}

// start starts a process that fetches; change changes its configuration.
func (i *index) start(change func(*metadata.Configuration)) *metadata.Component {
	i.Helper()
	c := metadata.DefaultConfiguration()
	c.AllowNetworks, c.HostPause, c.Poll, c.Lease, c.Retry = []string{"127.0.0.1/32"}, 0, 20*time.Millisecond, time.Minute, time.Second
	c.Timeout = 20 * time.Second
	if change != nil {
		change(&c)
	}
	reporter := enginetest.Report(i)
	i.metrics = prometheus.NewRegistry()
	reporter.Metrics = i.metrics
	worker, err := metadata.New(c, metadata.Dependencies{Report: reporter, ClickHouse: i.Client})
	if err != nil {
		i.Fatal(err)
	}
	if err := worker.Start(i.Context()); err != nil {
		i.Fatal(err)
	}
	i.Cleanup(func() { i.stop(worker) })
	return worker
}

func (i *index) stop(worker *metadata.Component) {
	i.Helper()
	if err := worker.Stop(context.Background()); err != nil {
		i.Error(err)
	}
}

// try is a row of metadata_fetches.
type try struct {
	tried    uint64
	failure  string
	attempts uint32
	due      uint32
	had      bool
}

// tries are those of a link, the first one first.
func (i *index) tries(link string) (list []try) {
	i.Helper()
	sum := sha256.Sum256([]byte(link))
	rows, err := i.Conn().Query(i.Context(), "SELECT tried, failure, attempts, due, had FROM metadata_fetches WHERE hash = unhex(?) AND tried > 0 ORDER BY tried", hex.EncodeToString(sum[:]))
	if err != nil {
		i.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var r try
		if err := rows.Scan(&r.tried, &r.failure, &r.attempts, &r.due, &r.had); err != nil {
			i.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

// shown is a link's document as the API reads it.
func (i *index) shown(link string) (document, failure string) {
	i.Helper()
	sum := sha256.Sum256([]byte(link))
	err := i.Conn().QueryRow(i.Context(), "SELECT argMax(document, fetched), argMax(failure, fetched) FROM metadata WHERE hash = unhex(?)", hex.EncodeToString(sum[:])).Scan(&document, &failure)
	if err != nil {
		i.Fatal(err)
	}
	return document, failure
}

func (i *index) await(what string, condition func() bool) {
	i.Helper()
	deadline := time.Now().Add(limit)
	for !condition() {
		if time.Now().After(deadline) {
			i.Fatalf("after %s: still not so: %s", limit, what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (i *index) awaitShown(link, want string) {
	i.Helper()
	var document, failure string
	deadline := time.Now().Add(limit)
	for document != want {
		if time.Now().After(deadline) {
			i.Fatalf("%s: document %q, failure %q, want document %q", link, document, failure, want)
		}
		time.Sleep(10 * time.Millisecond)
		document, failure = i.shown(link)
	}
}

func (i *index) awaitTries(link string, n int) []try {
	i.Helper()
	var list []try
	i.await(fmt.Sprintf("%s was tried %d times", link, n), func() bool {
		list = i.tries(link)
		return len(list) >= n
	})
	return list
}

// awaitAll waits until each of so many links was tried.
func (i *index) awaitAll(links int) {
	i.Helper()
	var n uint64
	i.await(fmt.Sprintf("%d links were tried", links), func() bool {
		if err := i.Conn().QueryRow(i.Context(), "SELECT uniqExact(hash) FROM metadata_fetches WHERE tried > 0").Scan(&n); err != nil {
			i.Fatal(err)
		}
		return n >= uint64(links)
	})
}

// site is a web server that remembers what it was asked for.
type site struct {
	URL     string
	mutex   sync.Mutex
	asked   []string
	now     int // requests at this moment
	most    int // of them
	handler func(w http.ResponseWriter, r *http.Request, n int)
}

// newSite serves at an address of the loopback. The handler is told how often
// the path was asked for, from 1 on; nil answers a document that names the path.
func newSite(t testing.TB, host string, handler func(w http.ResponseWriter, r *http.Request, n int)) *site {
	t.Helper()
	listener, err := net.Listen("tcp", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	s := &site{handler: handler}
	server := httptest.NewUnstartedServer(s)
	server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	s.asked = append(s.asked, r.URL.Path)
	s.now++
	s.most = max(s.most, s.now)
	n := s.countLocked(r.URL.Path)
	s.mutex.Unlock()
	defer func() {
		s.mutex.Lock()
		s.now--
		s.mutex.Unlock()
	}()
	if s.handler != nil {
		s.handler(w, r, n)
		return
	}
	fmt.Fprint(w, named(r.URL.Path))
}

func named(path string) string { return `{"name":"` + path + `"}` }

func (s *site) countLocked(path string) (n int) {
	for _, p := range s.asked {
		if p == path {
			n++
		}
	}
	return n
}

func (s *site) count(path string) int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.countLocked(path)
}

// paths is all that was asked for, in order.
func (s *site) paths() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.asked)
}

func TestDocumentIsFetchedOnceAndAChangedLinkAnew(t *testing.T) {
	i, web := newIndex(t), newSite(t, "127.0.0.1", nil)
	i.bundle(web.URL+"/1", web.URL+"/1")
	i.start(nil)
	i.awaitShown(web.URL+"/1", named("/1"))
	i.bundle(web.URL + "/1") // the contract changed, its link did not
	i.bundle(web.URL + "/2")
	i.awaitShown(web.URL+"/2", named("/2"))
	if n := web.count("/1"); n != 1 {
		t.Errorf("the document was asked for %d times, want 1", n)
	}
	if document, _ := i.shown(web.URL + "/1"); document != named("/1") {
		t.Errorf("the first document is %q, want %q", document, named("/1"))
	}
	if tries := i.tries(web.URL + "/1"); len(tries) != 1 || !tries[0].had || tries[0].attempts != 0 || tries[0].failure != "" {
		t.Errorf("the first link's tries are %+v, want one success", tries)
	}
}

func TestLinksAboveTheWatermarkAreLeftAlone(t *testing.T) {
	i, web := newIndex(t), newSite(t, "127.0.0.1", nil)
	i.exec("INSERT INTO metadata_links VALUES (2, ?)", web.URL+"/hidden")
	i.bundle(web.URL + "/1")
	i.start(nil)
	i.awaitShown(web.URL+"/1", named("/1"))
	if n := web.count("/hidden"); n != 0 {
		t.Errorf("a link of a bundle that is not visible was asked for %d times", n)
	}
	i.bundle()
	i.awaitShown(web.URL+"/hidden", named("/hidden"))
}

func TestFailureIsRecordedAndTriedAgainWithGrowingPausesUntilItSucceeds(t *testing.T) {
	web := newSite(t, "127.0.0.1", func(w http.ResponseWriter, r *http.Request, n int) {
		if n <= 2 {
			http.Error(w, "later", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, `{"name":"at last"}`)
	})
	i := newIndex(t)
	i.bundle(web.URL + "/1")
	i.start(nil)
	tries := i.awaitTries(web.URL+"/1", 1)
	if document, failure := i.shown(web.URL + "/1"); len(tries) == 1 && (document != "" || failure != "status: the server answered 503") {
		t.Errorf("after the first failure the API reads %q, %q", document, failure)
	}
	i.awaitShown(web.URL+"/1", `{"name":"at last"}`)
	tries = i.awaitTries(web.URL+"/1", 3)
	for n, want := range []try{{failure: "status: the server answered 503", attempts: 1}, {failure: "status: the server answered 503", attempts: 2}, {had: true}} {
		if got := tries[n]; got.failure != want.failure || got.attempts != want.attempts || got.had != want.had {
			t.Errorf("try %d is %+v, want %+v", n+1, got, want)
		}
	}
	for n, least := range []uint64{1000, 2000} {
		if pause := tries[n+1].tried - tries[n].tried; pause < least-1000 || uint64(tries[n].due)*1000 > tries[n+1].tried {
			t.Errorf("between try %d and the next one there were %d ms, want %d, rounded to seconds; it was due at %d", n+1, pause, least, tries[n].due)
		}
	}
	if n := web.count("/1"); n != 3 {
		t.Errorf("asked for %d times, want 3", n)
	}
}

func TestOldDocumentIsFetchedAgainAndStaysWhenThatFails(t *testing.T) {
	web := newSite(t, "127.0.0.1", func(w http.ResponseWriter, r *http.Request, n int) {
		if n > 2 {
			http.Error(w, "gone", http.StatusGone)
			return
		}
		fmt.Fprintf(w, `{"version":%d}`, n)
	})
	i := newIndex(t)
	i.bundle(web.URL + "/1")
	i.start(func(c *metadata.Configuration) { c.Refresh = time.Second })
	i.awaitShown(web.URL+"/1", `{"version":2}`)
	tries := i.awaitTries(web.URL+"/1", 3)
	if got := tries[2]; !got.had || got.attempts != 1 || got.failure != "status: the server answered 410" {
		t.Errorf("the third try is %+v, want a failure 410 with the document had", got)
	}
	if document, failure := i.shown(web.URL + "/1"); document != `{"version":2}` || failure != "" {
		t.Errorf("the API reads %q, %q, want version 2", document, failure)
	}
}

func TestRestartRepeatsNeitherWhatIsDoneNorWhatFailed(t *testing.T) {
	gate, reached := make(chan struct{}), make(chan struct{}, 100)
	web := newSite(t, "127.0.0.1", func(w http.ResponseWriter, r *http.Request, n int) {
		switch {
		case r.URL.Path == "/bad":
			http.Error(w, "no", http.StatusInternalServerError)
		case strings.HasPrefix(r.URL.Path, "/slow") && n == 1:
			reached <- struct{}{}
			select {
			case <-gate:
			case <-r.Context().Done():
			}
		default:
			fmt.Fprint(w, named(r.URL.Path))
		}
	})
	defer close(gate)
	i := newIndex(t)
	patient := func(c *metadata.Configuration) { c.Retry, c.HostRequests = time.Hour, 2 }
	links := []string{web.URL + "/bad"}
	for n := range 10 {
		links = append(links, fmt.Sprintf("%s/%d", web.URL, n))
	}
	i.bundle(links...)
	first := i.start(patient)
	i.awaitAll(len(links))
	i.bundle(web.URL+"/slow1", web.URL+"/slow2")
	<-reached
	<-reached
	i.stop(first) // in the middle of two

	i.bundle(web.URL + "/last")
	i.start(patient)
	for _, path := range []string{"/slow1", "/slow2", "/last"} {
		i.awaitShown(web.URL+path, named(path))
	}
	for _, link := range links {
		if n := web.count(strings.TrimPrefix(link, web.URL)); n != 1 {
			t.Errorf("%s was asked for %d times, want 1", link, n)
		}
	}
	for _, path := range []string{"/slow1", "/slow2"} {
		if n := web.count(path); n != 2 {
			t.Errorf("%s, which was broken off, was asked for %d times, want 2", path, n)
		}
		if tries := i.tries(web.URL + path); len(tries) != 1 || tries[0].failure != "" {
			t.Errorf("the tries of %s are %+v, want one success: being broken off is no failure", path, tries)
		}
	}
}

func TestWhatHostileServersAnswerIsContainedAndRecorded(t *testing.T) {
	bomb := zipped(t, make([]byte, 32<<20))
	inner := newSite(t, "127.0.0.2", nil) // not among the networks that are allowed
	web := newSite(t, "127.0.0.1", func(w http.ResponseWriter, r *http.Request, n int) {
		switch r.URL.Path {
		case "/large":
			piece := make([]byte, 64<<10)
			for i := range piece {
				piece[i] = ' '
			}
			for range 160 { // 10 MiB
				if _, err := w.Write(piece); err != nil {
					return
				}
			}
		case "/endless":
			for r.Context().Err() == nil {
				_, _ = w.Write([]byte(" "))
				w.(http.Flusher).Flush()
				time.Sleep(20 * time.Millisecond)
			}
		case "/headers":
			for n := range 2000 {
				w.Header().Set(fmt.Sprintf("X-%d", n), strings.Repeat("x", 100))
			}
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb)
		case "/inner":
			http.Redirect(w, r, inner.URL+"/secret", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/json":
			fmt.Fprint(w, `{"name":`)
		case "/utf8":
			fmt.Fprint(w, "{\"name\":\"a\xff\xfeb\",\"\xff\":1}")
		case "/picture":
			fmt.Fprintf(w, `{"name":"kept","image":"data:image/png;base64,%s"}`, strings.Repeat("A", 20<<10))
		case "/many":
			fmt.Fprint(w, `{"a":"`+strings.Repeat("x", 15<<10)+`"`)
			for n := range 5 {
				fmt.Fprintf(w, `,"%d":"%s"`, n, strings.Repeat("x", 15<<10))
			}
			fmt.Fprint(w, "}")
		}
	})
	i := newIndex(t)
	wants := map[string]string{ // beginnings of failures
		web.URL + "/large": "size: ", web.URL + "/endless": "network: ", web.URL + "/headers": "network: ", web.URL + "/gzip": "size: ",
		web.URL + "/inner": "address: ", web.URL + "/loop": "network: ", web.URL + "/json": "form: ", web.URL + "/many": "size: ",
		inner.URL + "/direct": "address: ", "tonstorage://ABC": "link: ", "data:application/json;base64,###": "link: ", "https://\x00'\\/": "link: ",
	}
	documents := map[string]string{
		web.URL + "/utf8": `{"name":"a` + "\ufffd\ufffd" + `b","` + "\ufffd" + `":1}`, web.URL + "/picture": `{"name":"kept"}`,
	}
	var links []string
	for link := range wants {
		links = append(links, link)
	}
	for link := range documents {
		links = append(links, link)
	}
	i.bundle(links...)
	i.start(func(c *metadata.Configuration) { c.Timeout, c.Retry = 8*time.Second, time.Hour })
	for link, want := range wants {
		got := i.awaitTries(link, 1)[0]
		if !strings.HasPrefix(got.failure, want) || got.attempts != 1 || got.had {
			t.Errorf("%.60q: %+v, want a failure that begins with %q", link, got, want)
		}
		i.await(link+" is shown as failed", func() bool { document, failure := i.shown(link); return document == "" && failure == got.failure })
	}
	for link, want := range documents {
		i.awaitShown(link, want)
	}
	if asked := inner.paths(); len(asked) != 0 {
		t.Errorf("an address of a private network was asked for %v", asked)
	}
	counts := map[string]float64{"ok": float64(len(documents))}
	for _, want := range wants {
		counts[strings.TrimSuffix(want, ": ")]++
	}
	if got := i.results(); !maps.Equal(got, counts) {
		t.Errorf("the metric counts %v, want %v", got, counts)
	}
}

// zipped is a thousandth of content that is nothing but zeros.
func zipped(t *testing.T, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// results is what the metric says became of documents.
func (i *index) results() map[string]float64 {
	i.Helper()
	families, err := i.metrics.Gather()
	if err != nil {
		i.Fatal(err)
	}
	counts := map[string]float64{}
	for _, family := range families {
		if family.GetName() == "tonscribe_metadata_documents_total" {
			for _, m := range family.GetMetric() {
				counts[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
			}
		}
	}
	return counts
}

func TestDocumentsInLinksAndBehindTheGatewayAreThere(t *testing.T) {
	web, i := newSite(t, "127.0.0.1", nil), newIndex(t)
	inline := "data:application/json;base64,eyJuYW1lIjoiaW5saW5lIn0="
	i.bundle("ipfs://bafyA/1.json", inline)
	i.start(func(c *metadata.Configuration) { c.IPFSGateway = web.URL + "/ipfs" })
	i.awaitShown("ipfs://bafyA/1.json", named("/ipfs/bafyA/1.json"))
	i.awaitShown(inline, `{"name":"inline"}`)
	if tries := i.awaitTries(inline, 1); tries[0].due != ^uint32(0) {
		t.Errorf("a document that is in its link is due again at %d, want never", tries[0].due)
	}
}

func TestOfSeveralProcessesOneFetchesAndAnotherFollows(t *testing.T) {
	web, i := newSite(t, "127.0.0.1", nil), newIndex(t)
	first := i.start(nil)
	i.await("the first process is there", func() bool { return i.workers() == 1 })
	second := i.start(nil)
	i.await("the second process is there", func() bool { return i.workers() == 2 })
	var links []string
	for n := range 50 {
		links = append(links, fmt.Sprintf("%s/%d", web.URL, n))
	}
	i.bundle(links...)
	i.awaitAll(len(links))
	i.stop(first)
	i.bundle(web.URL + "/next")
	i.awaitShown(web.URL+"/next", named("/next"))
	i.stop(second)
	for _, path := range web.paths() {
		if n := web.count(path); n != 1 {
			t.Errorf("%s was asked for %d times, want 1", path, n)
		}
	}
}

func (i *index) workers() (n uint64) {
	i.Helper()
	if err := i.Conn().QueryRow(i.Context(), "SELECT uniqExact(worker) FROM metadata_workers").Scan(&n); err != nil {
		i.Fatal(err)
	}
	return n
}

func TestProcessThatDiedIsFollowedWhenItsLeaseIsOver(t *testing.T) {
	web, i := newSite(t, "127.0.0.1", nil), newIndex(t)
	i.exec("INSERT INTO metadata_workers SELECT 'dead', 1, toUnixTimestamp64Milli(now64(3)), true, 0")
	i.bundle(web.URL + "/1")
	i.start(func(c *metadata.Configuration) { c.Lease = 2 * time.Second })
	i.awaitShown(web.URL+"/1", named("/1"))
	var waited int64
	err := i.Conn().QueryRow(t.Context(), "SELECT toInt64(fetched) - toInt64((SELECT seen FROM metadata_workers WHERE worker = 'dead')) FROM metadata").Scan(&waited)
	if err != nil || waited < 2000 {
		t.Errorf("the document was there %d ms after the dead process was seen last, %v; want its lease of 2000 or more", waited, err)
	}
}

func TestHostIsAskedByFewRequestsAtOnceAndHoldsNobodyUp(t *testing.T) {
	gate := make(chan struct{})
	slow := newSite(t, "127.0.0.2", func(w http.ResponseWriter, r *http.Request, n int) {
		select {
		case <-gate:
		case <-r.Context().Done():
		}
		fmt.Fprint(w, named(r.URL.Path))
	})
	quick, i := newSite(t, "127.0.0.1", nil), newIndex(t)
	var links []string
	for n := range 60 {
		links = append(links, fmt.Sprintf("%s/%d", slow.URL, n))
	}
	i.bundle(links...)
	i.start(func(c *metadata.Configuration) {
		c.AllowNetworks, c.HostRequests, c.Timeout = []string{"127.0.0.0/8"}, 3, time.Hour
	})
	i.await("the slow host is asked", func() bool { return len(slow.paths()) == 3 })
	i.bundle(quick.URL + "/1")
	i.awaitShown(quick.URL+"/1", named("/1"))
	close(gate)
	i.awaitAll(len(links))
	if slow.most != 3 {
		t.Errorf("the slow host had up to %d requests at once, want 3", slow.most)
	}
}

func TestNewLinkComesBeforeABacklogOfItsHost(t *testing.T) {
	gate := make(chan struct{})
	web := newSite(t, "127.0.0.1", func(w http.ResponseWriter, r *http.Request, n int) {
		select {
		case <-gate:
		case <-r.Context().Done():
		}
		fmt.Fprint(w, named(r.URL.Path))
	})
	i := newIndex(t)
	var links []string
	for n := range 100 {
		links = append(links, fmt.Sprintf("%s/%d", web.URL, n))
	}
	i.bundle(links...)
	i.start(func(c *metadata.Configuration) { c.HostRequests, c.Timeout = 1, time.Hour })
	i.await("the host is asked", func() bool { return len(web.paths()) == 1 })
	i.bundle(web.URL + "/new")
	i.await("the new link is due", func() bool {
		var due uint32
		return i.Conn().QueryRow(t.Context(), "SELECT due FROM metadata_fetches WHERE link = ?", web.URL+"/new").Scan(&due) == nil && due <= uint32(time.Now().Unix())
	})
	close(gate)
	i.awaitAll(len(links) + 1)
	if at := slices.Index(web.paths(), "/new"); at > 40 || len(web.paths()) != 101 {
		t.Errorf("the new link was the %d. of %d that were asked for, want one of the first 40 of 101", at+1, len(web.paths()))
	}
}

func TestPagesOfLinksAreReadToTheirEnd(t *testing.T) {
	i := newIndex(t)
	i.seqno++
	i.exec("INSERT INTO metadata_links SELECT 1, 'data:,{\"n\":' || toString(number) || '}' FROM numbers(1200)")
	i.bundle("data:,{}")
	i.start(nil)
	var n uint64
	deadline := time.Now().Add(limit)
	for n < 1201 {
		if time.Now().After(deadline) {
			t.Fatalf("after %s there are %d documents, want 1201", limit, n)
		}
		time.Sleep(50 * time.Millisecond)
		if err := i.Conn().QueryRow(t.Context(), "SELECT uniqExact(hash) FROM metadata WHERE document != ''").Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
	var document struct{ N int }
	text, _ := i.shown(`data:,{"n":1199}`)
	if err := json.Unmarshal([]byte(text), &document); err != nil || document.N != 1199 {
		t.Errorf("the last document is %q, %v", text, err)
	}
}

package metadata_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"tonscribe/metadata"
)

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
			http.Error(w, "no", http.StatusNotFound) // which does not make the host a busy one
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

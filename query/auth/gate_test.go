package auth

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"tonscribe/internal/clickhouse"
	"tonscribe/internal/ratelimit"
)

func TestRequestsAreAdmittedByKeyNetworkAndRateInThatOrder(t *testing.T) {
	w := newWorld(t)
	good, _ := w.key(slow, 3)
	foreign, _ := w.key(slow, 1, "testnet")
	both, _ := w.key(slow, 1, "testnet", "mainnet")
	unlimited, _ := w.key(0, 1)
	gone, revoked := w.key(0, 1)
	revoked.Revoked = true
	w.put(revoked)
	s := w.serve(func(c *Configuration) { c.AnonymousRate, c.AnonymousBurst = slow, 2 })

	for n := range 3 {
		s.want("a good key", s.ask("/api/v3/blocks", good), 200, "")
		s.want("no limit", s.ask("/api/v3/blocks?n=1&api_key="+unlimited, ""), 200, "n=1")
		s.want("another network", s.ask("/api/v3/blocks", foreign), 403, "Network not allowed")
		s.want("unknown", s.ask("/api/v3/blocks", NewSecret()), 401, "API key does not exist")
		s.want("revoked", s.ask("/api/v3/blocks?api_key="+gone, ""), 401, "API key does not exist")
		s.want("of the wrong form", s.ask("/api/v3/blocks", "x"+strings.Repeat("y", n)), 401, "API key does not exist")
	}
	s.wantLimited("a good key, too often", s.ask("/api/v3/blocks", good))
	s.wantLimited("the same key from elsewhere, in the other layer", s.from("198.51.100.1", "/api/v2/getTime?api_key="+good, ""))
	s.want("two networks", s.ask("/api/v2/getTime", both), 200, "")
	s.wantLimited("two networks, too often", s.ask("/api/v2/getTime", both))

	// Nothing above counts for the address, which has no key.
	s.want("no key", s.ask("/api/v3/blocks", ""), 200, "")
	s.want("an empty key", s.ask("/api/v3/blocks?api_key=", ""), 200, "")
	s.wantLimited("no key, too often", s.ask("/api/v3/blocks", ""))
	s.wantLimited("no key, unknown path", s.ask("/api/v3/none", ""))
	s.want("no key, another address", s.from("192.0.2.2", "/api/v3/blocks", ""), 200, "")
}

func TestStreamsTakeKeysInFurtherWaysAndTheirHealthHasNoLimits(t *testing.T) {
	w := newWorld(t)
	good, _ := w.key(0, 1)
	s := w.serve(func(c *Configuration) { c.AnonymousRate, c.AnonymousBurst = slow, 1 })
	authorized := func(path, value string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("Authorization", value)
		return s.send(r)
	}
	for range 3 {
		for _, path := range []string{"/api/streaming/v2/ws", "/streaming/v2/ws"} {
			s.want("header", s.ask(path, good), 200, "")
			s.want("token", s.ask(path+"?n=1&token="+good, ""), 200, "n=1")
			for _, scheme := range []string{"Bearer", "bearer"} { // schemes know no case (RFC 9110)
				s.want(scheme, authorized(path, scheme+" "+good), 200, "")
			}
			s.want("unknown token", s.ask(path+"?token="+NewSecret(), ""), 401, "API key does not exist")
		}
		s.want("health", s.ask("/api/streaming/healthz", ""), 200, "")
		s.want("health without /api", s.ask("/streaming/healthz", ""), 200, "")
	}
	s.want("no key", s.ask("/streaming/v2/ws", ""), 200, "")
	s.wantLimited("no key, too often", s.ask("/streaming/v2/ws", ""))
	s.wantLimited("a bearer token of another layer is no key", authorized("/api/v3/blocks", "Bearer "+good))
}

func TestWithoutAKeyTheDefaultIsOneRequestASecond(t *testing.T) {
	c := DefaultConfiguration()
	r, b := ratelimit.New(c.AnonymousRate, c.AnonymousBurst), ratelimit.Bucket{}
	if wait := b.Take(r, 0); wait != 0 {
		t.Errorf("the first: wait %s", wait)
	}
	if wait := b.Take(r, 500*time.Millisecond); wait == 0 || wait > 500*time.Millisecond {
		t.Errorf("half a second later: wait %s, want up to 500ms", wait)
	}
}

func TestPathsOfMerchantsAreNeitherCountedNorRefusedNorOpenToOtherSites(t *testing.T) {
	w := newWorld(t)
	s := w.serve(func(c *Configuration) { c.AnonymousRate, c.AnonymousBurst = slow, 1 })
	for range 3 {
		got := s.ask("/api/merchant/v1/keys?api_key=left", "a key that is none here")
		s.want("a merchant's path", got, 200, "api_key=left address:192.0.2.1")
		if origin := got.Header().Get("Access-Control-Allow-Origin"); origin != "" {
			t.Errorf("pages of %s may call a merchant's path", origin)
		}
	}
	s.want("no key, after those", s.ask("/api/v3/blocks", ""), 200, "")
	if got := s.send(httptest.NewRequest(http.MethodOptions, "/api/merchant/v1/keys", nil)); got.Code == http.StatusNoContent {
		t.Error("a browser is told that it may")
	}
}

func TestDescriptionsPagesAndHealthHaveNoLimits(t *testing.T) {
	w := newWorld(t)
	s := w.serve(func(c *Configuration) { c.AnonymousRate = slow })
	for range 5 {
		for _, path := range []string{"/api/v2/openapi.json", "/api/v3/openapi.json", "/api/docs", "/api/docs/", "/api/docs/page.js", "/api/v2/healthcheck", "/page"} {
			s.want(path, s.ask(path, ""), 200, "")
			s.want(path+" with an unknown key", s.ask(path, NewSecret()), 200, "")
		}
		if got := s.ask("/none", ""); got.Code != 404 {
			t.Errorf("an unknown path: %d", got.Code)
		}
	}
}

func TestBrowsersOfAnyOriginMaySendKeysAndReadWhenToRetry(t *testing.T) {
	w := newWorld(t)
	s := w.serve(func(c *Configuration) { c.AnonymousRate = slow })
	for range 3 { // preflights do not count
		for _, path := range []string{"/api/v3/blocks", "/api/v2/jsonRPC", "/api/v2/none", "/page"} {
			r := httptest.NewRequest(http.MethodOptions, path, nil)
			r.Header.Set("Origin", "https://wallet.example")
			r.Header.Set("Access-Control-Request-Method", "POST")
			r.Header.Set("Access-Control-Request-Headers", "content-type,x-api-key")
			got := s.send(r)
			header := got.Header()
			if got.Code != http.StatusNoContent || got.Body.Len() != 0 || header.Get("Access-Control-Allow-Origin") != "*" || header.Get("Access-Control-Max-Age") == "" {
				t.Errorf("%s: %d %v", path, got.Code, header)
			}
			for name, want := range map[string][]string{
				"Access-Control-Allow-Methods": {"GET", "POST"},
				"Access-Control-Allow-Headers": {"Content-Type", "Authorization", "X-API-Key", "X-Ton-Client-Version"},
			} {
				have := strings.Split(header.Get(name), ", ")
				for _, one := range want {
					if !slices.Contains(have, one) {
						t.Errorf("%s: %s is %v, %s is missing", path, name, have, one)
					}
				}
			}
		}
	}
	s.want("the request itself", s.ask("/api/v3/blocks", ""), 200, "")
	for what, got := range map[string]*httptest.ResponseRecorder{
		"an answer": s.ask("/page", ""), "a refusal": s.ask("/api/v3/blocks", ""), "an unknown path": s.ask("/none", ""),
	} {
		if origin, shown := got.Header().Get("Access-Control-Allow-Origin"), got.Header().Get("Access-Control-Expose-Headers"); origin != "*" || !strings.Contains(shown, "Retry-After") || !strings.Contains(shown, "X-Next-Cursor") {
			t.Errorf("%s: Access-Control-Allow-Origin %q, exposed %q", what, origin, shown)
		}
	}
}

func TestANewKeyIsGoodAtOnceAndARevokedOneNoMore(t *testing.T) {
	w := newWorld(t)
	s := w.serve(func(c *Configuration) { c.Refresh = time.Hour }) // unknown keys are looked for besides
	for range 3 {
		secret, key := w.key(0, 1)
		s.want("new", s.ask("/api/v3/blocks", secret), 200, "")
		key.Revoked = true
		key.changed = 0 // the clock of who revokes may be behind: the row must win anyhow
		known, err := w.table.Get(t.Context(), key.Hash)
		if err != nil {
			t.Fatal(err)
		}
		known.Revoked = true
		w.put(known)
		s.ask("/api/v3/blocks", NewSecret()) // makes the replica look
		s.want("revoked", s.ask("/api/v3/blocks", secret), 401, "API key does not exist")
	}
}

func TestAKeyIsGoodBeforeTheTableWasFirstRead(t *testing.T) {
	w := newWorld(t)
	secret, _ := w.key(0, 1)
	for range 5 {
		s := w.begin(nil)
		began := time.Now()
		answer := s.ask("/api/v3/blocks", secret)
		if answer.Code == http.StatusInternalServerError && time.Since(began) >= clickhouse.MaxLookWait {
			continue // on a busy machine the first look may take longer
		}
		s.want("at once", answer, 200, "")
	}
}

func TestAKeyKeepsWhatItHasUsedUpWhenOthersChange(t *testing.T) {
	w := newWorld(t)
	secret, key := w.key(slow, 2)
	s := w.serve(nil)
	s.want("first", s.ask("/api/v3/blocks", secret), 200, "")
	other, _ := w.key(0, 1)
	s.want("another key", s.ask("/api/v3/blocks", other), 200, "")
	s.want("second", s.ask("/api/v3/blocks", secret), 200, "")
	s.wantLimited("third", s.ask("/api/v3/blocks", secret))

	known, err := w.table.Get(t.Context(), key.Hash)
	if err != nil {
		t.Fatal(err)
	}
	known.Rate = 0
	w.put(known)
	s.ask("/api/v3/blocks", NewSecret()) // makes the replica look
	s.want("with a new limit", s.ask("/api/v3/blocks", secret), 200, "")
}

func TestUsageIsCountedByKeyAndMethodOverReplicasAndRestarts(t *testing.T) {
	w := newWorld(t)
	secret, key := w.key(slow, 7)
	often, _ := w.key(0, 1)
	for range 2 {
		a, b := w.serve(nil), w.serve(func(c *Configuration) { c.Usage = 10 * time.Millisecond })
		for _, s := range []*server{a, b} {
			for range 4 {
				s.ask("/api/v3/blocks", secret)
			}
			s.ask("/api/v3/none", secret)
			s.send(withKey(httptest.NewRequest(http.MethodPost, "/api/v2/jsonRPC", strings.NewReader("{}")), secret))
			s.ask("/api/v2/getTime", secret)
			s.ask("/api/v2/getTime", secret) // over the limit
			s.ask("/api/v3/blocks", often)
			s.end()
		}
	}
	uses, err := w.table.Usage(t.Context(), key.Hash)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][2]uint64{"v3/blocks": {16, 0}, "v2/getTime": {12, 4}, "other": {4, 0}}
	for _, u := range uses {
		if got := [2]uint64{u.Requests, u.Limited}; got != want[u.Method] {
			t.Errorf("%s: %v requests and over the limit, want %v", u.Method, got, want[u.Method])
		}
		if age := time.Since(u.Last); age < -time.Minute || age > time.Hour {
			t.Errorf("%s: last used %s", u.Method, u.Last)
		}
		delete(want, u.Method)
	}
	for method := range want {
		t.Errorf("%s is missing in %v", method, uses)
	}
}

func withKey(r *http.Request, key string) *http.Request {
	r.Header.Set("X-API-Key", key)
	return r
}

func TestUsageOfADayIsThatOfItsRequests(t *testing.T) {
	u := &usage{}
	u.count("m", false)
	u.count("m", true)
	c := u.counter("m")
	evening := time.Date(2026, 1, 1, 23, 59, 58, 0, time.UTC)
	expect := func(what string, now time.Time, day int, requests, limited uint64, due bool) {
		t.Helper()
		row, is := c.due(now)
		if is != due || due && (row.day.Day() != day || row.requests != requests || row.limited != limited) {
			t.Errorf("%s: %+v, due %v, want day %d, %d requests, %d over the limit, due %v", what, row, is, day, requests, limited, due)
		}
	}
	expect("first", evening, 1, 2, 1, true)
	expect("nothing new", evening.Add(time.Second), 1, 2, 1, false)
	u.count("m", false)
	expect("the last of the day", evening.Add(3*time.Second), 1, 3, 1, true)
	expect("nothing on the next day", evening.Add(4*time.Second), 2, 0, 0, false)
	u.count("m", true)
	expect("the next day", evening.Add(5*time.Second), 2, 1, 1, true)
}

func TestWhatTheDatabaseCannotTakeIsWrittenLater(t *testing.T) {
	w := newWorld(t)
	secret, key := w.key(0, 1)
	if err := w.writer.Conn().Exec(t.Context(), "RENAME TABLE api_usage TO away"); err != nil {
		t.Fatal(err)
	}
	s := w.serve(func(c *Configuration) { c.Usage = 5 * time.Millisecond })
	s.want("usage cannot be written", s.ask("/api/v3/blocks", secret), 200, "")
	for failures(s) == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := w.writer.Conn().Exec(t.Context(), "RENAME TABLE away TO api_usage"); err != nil {
		t.Fatal(err)
	}
	s.end()
	uses, err := w.table.Usage(t.Context(), key.Hash)
	if err != nil || len(uses) != 1 || uses[0].Requests != 1 {
		t.Errorf("%v %v, want one request", uses, err)
	}
}

func TestKeysAreFoundByIDNameAndBeginningOfTheID(t *testing.T) {
	w := newWorld(t)
	_, a := w.key(25, 50, "testnet")
	a.Name = "shop"
	w.put(a)
	_, old := w.key(0, 1)
	old.Name, old.Revoked = "shop", true
	w.put(old)
	for _, text := range []string{a.ID(), "shop", a.ID()[:8]} {
		got, err := w.table.Find(t.Context(), text)
		if err != nil || got.Hash != a.Hash || got.Rate != 25 || got.Burst != 50 || !slices.Equal(got.Networks, a.Networks) {
			t.Errorf("%q: %+v %v, want %+v", text, got, err, a)
		}
	}
	if got, err := w.table.Find(t.Context(), old.ID()); err != nil || !got.Revoked {
		t.Errorf("a revoked one by its id: %+v %v", got, err)
	}
	for _, text := range []string{"", "nobody", a.ID()[:2]} {
		if got, err := w.table.Find(t.Context(), text); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "`tonscribe keys list`") {
			t.Errorf("%q: %+v, %v, want an error that says where the keys are listed", text, got, err)
		}
	}
	if err := w.writer.Conn().Exec(context.Background(), "DROP TABLE api_keys"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.table.List(t.Context()); err == nil || !strings.Contains(err.Error(), "migrate up") {
		t.Errorf("without the table: %v", err)
	}
}

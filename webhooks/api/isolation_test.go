package api

import (
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"tonscribe/webhooks/store"
)

// sample is a request to an endpoint that names what a shop has.
type sample struct {
	path string // with the ids of the shop; a query may follow
	body any
}

// samples are good requests of a shop to each endpoint. An endpoint without one fails the
// tests.
func samples(s *shop) map[string]sample {
	event := hex.EncodeToString(s.event[:])
	at := time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)
	return map[string]sample{
		"createTransfer":   {"/create-transfer", map[string]any{"amount": "2", "asset": "TON", "senderAddr": accountOf(1).String()}},
		"getTransfer":      {"/transfer?reference=" + s.reference, nil},
		"listTransfers":    {"/transfers", nil},
		"getWebhook":       {"/webhook", nil},
		"putWebhook":       {"/webhook", map[string]any{"enabled": true}},
		"revealSecret":     {"/webhook/secret/reveal", map[string]any{}},
		"rotateSecret":     {"/webhook/secret/rotate", map[string]any{}},
		"switchSecret":     {"/webhook/secret/switch", map[string]any{}},
		"undoSecret":       {"/webhook/secret/undo", map[string]any{}},
		"testWebhook":      {"/webhook/test", map[string]any{"status": "failed"}},
		"getHealth":        {"/webhook/health", nil},
		"listDeliveries":   {"/deliveries?reference=" + s.reference + "&event=" + event, nil},
		"exportDeliveries": {"/deliveries.csv?event=" + event, nil},
		"getDelivery":      {"/deliveries/" + event, nil},
		"redeliver":        {"/deliveries/evt_" + event + "/redeliver", map[string]any{}},
		"replay":           {"/deliveries/replay", map[string]any{"from": at, "to": time.Now().UTC().Format(time.RFC3339)}},
		"getReplay":        {"/replays/" + hex.EncodeToString(s.replay[:]), nil},
		"cancelReplay":     {"/replays/" + hex.EncodeToString(s.replay[:]), nil},
		"listKeys":         {"/keys", nil},
		"makeKey":          {"/keys", map[string]any{"name": "another", "scopes": []string{"transfers"}}},
		"revokeKey":        {"/keys/" + s.keyID, nil},
		"listAudit":        {"/audit", nil},
		"verify":           {"/verify", map[string]any{"body": "{}", "header": "sha256=00"}},
		"eventSchema":      {"/event-schema", nil},
		"signIn":           {"/session", map[string]any{"token": s.token}},
		"getSession":       {"/session", nil},
		"signOut":          {"/session", nil},
	}
}

// sampleOf is the sample of an endpoint, or the end of the test.
func sampleOf(t *testing.T, s *shop, e *Endpoint) sample {
	t.Helper()
	found, ok := samples(s)[e.Name]
	if !ok {
		t.Fatalf("%s %s has no sample: how it keeps merchants apart is not tested", e.Method, e.Path)
	}
	return found
}

func TestEveryEndpointIsDescribed(t *testing.T) {
	document, err := Describe().Render()
	if err != nil {
		t.Fatal(err)
	}
	var described struct {
		Paths map[string]map[string]struct {
			OperationID string
			Summary     string
			Responses   map[string]any
			Parameters  []struct{ Name, In string }
		}
	}
	if err := json.Unmarshal(document, &described); err != nil {
		t.Fatal(err)
	}
	operations := 0
	for _, item := range described.Paths {
		operations += len(item)
	}
	if operations != len(Endpoints()) {
		t.Errorf("%d operations are described, want %d", operations, len(Endpoints()))
	}
	for _, e := range Endpoints() {
		o, ok := described.Paths[Prefix+e.Path][strings.ToLower(e.Method)]
		if !ok || o.OperationID != e.Name || o.Summary == "" {
			t.Errorf("%s %s: described as %+v", e.Method, e.Path, o)
		}
		for _, status := range []string{"200", "429", "500", "503"} {
			if o.Responses[status] == nil {
				t.Errorf("%s %s: %s is not described", e.Method, e.Path, status)
			}
		}
		for _, p := range e.InPath {
			if !strings.Contains(e.Path, "{"+p.Name+"}") || !slices.ContainsFunc(o.Parameters, func(d struct{ Name, In string }) bool { return d.Name == p.Name && d.In == "path" }) {
				t.Errorf("%s %s: the parameter %s is not in the path, or not described", e.Method, e.Path, p.Name)
			}
		}
		if e.Access == merchants && !slices.Contains(store.Scopes, e.Scope) {
			t.Errorf("%s %s: its scope %q is none", e.Method, e.Path, e.Scope)
		}
	}
}

func TestNoEndpointLetsInWhoIsNoMerchant(t *testing.T) {
	w := newWorld(t)
	own := w.newShop("victim")
	gone := w.newShop("gone")
	_, err := w.store.Keys.Revoke(t.Context(), gone.ID, gone.keyID)
	w.must(err)
	narrow := map[string]string{} // keys by their only scope
	for _, scope := range store.Scopes {
		k, secret := store.NewKey(own.ID, "only "+scope, []string{scope})
		w.must(w.store.Keys.Put(t.Context(), k))
		narrow[scope] = secret
	}
	before := w.everything(own)
	var running sync.WaitGroup // who is unknown waits for a look at the tables
	defer running.Wait()
	strangers := func(e *Endpoint, s sample) {
		ask := func(change func(*request)) request {
			r := request{method: e.Method, path: s.path, body: s.body}
			change(&r)
			return r
		}
		for what, c := range map[string]struct {
			change func(*request)
			code   string
		}{
			"a stranger":            {func(*request) {}, "key_wanted"},
			"an unknown key":        {func(r *request) { r.key = store.KeyPrefix + strings.Repeat("0", 64) }, "key_unknown"},
			"a key of another kind": {func(r *request) { r.key = strings.Repeat("0", 64) }, "key_unknown"},
			"an endless key":        {func(r *request) { r.key = store.KeyPrefix + strings.Repeat("0", 4096) }, "key_unknown"},
			"a revoked key":         {func(r *request) { r.key = gone.key }, "key_unknown"},
			"a key in the query": {func(r *request) {
				path, query, _ := strings.Cut(r.path, "?")
				r.path = path + "?api_key=" + own.key + "&" + query
			}, "key_wanted"},
			"the token as a key":  {func(r *request) { r.key = own.token }, "key_unknown"},
			"an unknown cookie":   {func(r *request) { r.cookie, r.csrf = strings.Repeat("0", 64), csrf(strings.Repeat("0", 64)) }, "session_over"},
			"the key as a cookie": {func(r *request) { r.cookie, r.csrf = own.key, csrf(own.key) }, "session_over"},
		} {
			w.refused(what, ask(c.change), http.StatusUnauthorized, c.code)
		}
		if e.Method != http.MethodGet {
			w.refused("a session without csrf", ask(func(r *request) { r.cookie = own.cookie }), http.StatusForbidden, "csrf")
			w.refused("a session with the csrf of another", ask(func(r *request) { r.cookie, r.csrf = own.cookie, gone.csrf }), http.StatusForbidden, "csrf")
		}
		switch e.Access {
		case sessions:
			w.refused("a key", ask(func(r *request) { r.key = own.key }), http.StatusForbidden, "session_wanted")
		case merchants:
			for scope, key := range narrow {
				if scope != e.Scope {
					w.refused("a key for "+scope, ask(func(r *request) { r.key = key }), http.StatusForbidden, "scope_missing")
				}
			}
		}
	}
	for _, e := range Endpoints() {
		if s := sampleOf(t, own, e); e.Access != anybody {
			running.Go(func() { strangers(e, s) })
		}
	}
	running.Wait()
	if after := w.everything(own); after != before {
		t.Errorf("what the merchant has was\n%s, and is\n%s", before, after)
	}
}

func TestNoEndpointShowsOrChangesWhatBelongsToAnotherMerchant(t *testing.T) {
	w := newWorld(t)
	victim, thief := w.newShop("victim"), w.newShop("thief")
	before := w.everything(victim)
	for _, e := range Endpoints() {
		s := sampleOf(t, victim, e)
		if e.Access == anybody {
			continue
		}
		for _, r := range []request{thief.asks(e.Method, s.path, s.body), thief.clicks(e.Method, s.path, s.body)} {
			if e.Access == sessions && r.key != "" {
				continue
			}
			answer := w.send(r)
			if e.Name == "signOut" || e.Name == "makeKey" { // the thief's own
				w.signIn(thief)
			}
			if answer.Code >= 500 {
				t.Errorf("%s %s: %d %s", e.Method, s.path, answer.Code, answer.Body)
			}
			for _, mark := range victim.marks() {
				if strings.Contains(answer.Body.String(), mark) {
					t.Errorf("%s %s shows %q of another merchant: %s", e.Method, s.path, mark, answer.Body)
				}
			}
			if len(e.InPath) == 0 && e.Name != "getTransfer" {
				continue
			}
			unknown := *victim
			unknown.event, unknown.replay, unknown.keyID, unknown.reference = store.ID(uuid.New()), store.ID(uuid.New()), "0123456789ab", uuid.Must(uuid.NewV7()).String()
			r.path = sampleOf(t, &unknown, e).path
			nothing := w.send(r)
			if answer.Code != http.StatusNotFound || nothing.Code != answer.Code || nothing.Body.String() != answer.Body.String() {
				t.Errorf("%s %s: %d %s, but for what is nobody's %d %s", e.Method, s.path, answer.Code, answer.Body, nothing.Code, nothing.Body)
			}
		}
	}
	if after := w.everything(victim); after != before {
		t.Errorf("what the merchant has was\n%s, and is\n%s", before, after)
	}
	if d := w.deliveries; len(d.of[victim.ID]) != 1 || d.replays[victim.replay] != victim.ID {
		t.Errorf("deliveries of the merchant: %v, %v", d.of[victim.ID], d.replays)
	}
	// All of it is there for the merchant itself.
	for _, e := range Endpoints() {
		s := sampleOf(t, victim, e)
		if e.Name == "signIn" || e.Name == "signOut" {
			continue
		}
		if e.Name == "switchSecret" || e.Name == "undoSecret" {
			w.send(victim.clicks(http.MethodPost, "/webhook/secret/rotate", map[string]any{}))
		}
		if answer := w.send(victim.clicks(e.Method, s.path, s.body)); answer.Code != http.StatusOK {
			t.Errorf("%s %s of the merchant itself: %d %s", e.Method, s.path, answer.Code, answer.Body)
		}
	}
	logged := w.log.String()
	for _, secret := range append(victim.secrets(), thief.secrets()...) {
		if strings.Contains(logged, secret) {
			t.Errorf("the log has %q:\n%s", secret, logged)
		}
	}
}

func TestADisabledMerchantIsRefusedEverywhere(t *testing.T) {
	w := newWorld(t)
	s := w.newShop("shop")
	m, err := w.store.Merchants.Find(t.Context(), s.Name)
	w.must(err)
	m.Disabled = true
	w.must(w.store.Merchants.Put(t.Context(), m))
	w.must(w.store.Merchants.Refresh(t.Context()))
	for _, e := range Endpoints() {
		sample := sampleOf(t, s, e)
		switch e.Access {
		case merchants:
			w.refused("its key", s.asks(e.Method, sample.path, sample.body), http.StatusForbidden, "merchant_disabled")
			fallthrough
		case sessions:
			w.refused("its session", s.clicks(e.Method, sample.path, sample.body), http.StatusForbidden, "merchant_disabled")
		}
	}
	w.refused("its token", request{method: http.MethodPost, path: "/session", body: map[string]any{"token": s.token}}, http.StatusUnauthorized, "token_unknown")
}

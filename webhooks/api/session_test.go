package api

import (
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"

	"tonscribe/webhooks/store"
)

func TestASessionBelongsToABrowserAndEnds(t *testing.T) {
	w := newWorld(t)
	s := w.newShop("shop")
	answer := w.send(request{method: http.MethodPost, path: "/session", body: map[string]any{"token": s.token}, header: http.Header{"X-Forwarded-Proto": {"https"}, "Content-Type": {"application/json; charset=utf-8"}}})
	cookies := answer.Result().Cookies()
	if answer.Code != http.StatusOK || len(cookies) != 1 {
		t.Fatalf("%d %s %v", answer.Code, answer.Body, cookies)
	}
	if c := cookies[0]; !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || !c.Secure || c.Path != Prefix || c.MaxAge != int((12*time.Hour).Seconds()) || c.Value == s.cookie {
		t.Errorf("the cookie is %s", c)
	}
	if answer.Header().Get("Cache-Control") != "no-store" || answer.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("headers %v", answer.Header())
	}
	for range 2 { // asking again changes nothing
		got := w.ok(s.clicks(http.MethodGet, "/session", nil))
		if merchant := got["merchant"].(map[string]any); merchant["id"] != hex.EncodeToString(s.ID[:]) || merchant["name"] != "shop" || got["csrf"] != s.csrf {
			t.Errorf("the session is %v", got)
		}
	}
	for what, body := range map[string]any{"another kind of token": map[string]any{"token": s.key}, "an unknown one": map[string]any{"token": store.TokenPrefix + strings.Repeat("0", 64)}, "a part": map[string]any{"token": s.token[:20]}} {
		w.refused(what, request{method: http.MethodPost, path: "/session", body: body}, http.StatusUnauthorized, "token_unknown")
	}
	w.refused("no token", request{method: http.MethodPost, path: "/session", body: map[string]any{}}, http.StatusBadRequest, "missing_token")
	w.refused("a form of another site", request{method: http.MethodPost, path: "/session", body: `{"token":"` + s.token + `"}`, header: http.Header{"Content-Type": {"text/plain"}}}, http.StatusBadRequest, "content_type")

	signedOut := w.send(s.clicks(http.MethodDelete, "/session", nil))
	if c := signedOut.Result().Cookies(); signedOut.Code != http.StatusOK || len(c) != 1 || c[0].MaxAge >= 0 || c[0].Value != "" {
		t.Errorf("signed out: %d %s %v", signedOut.Code, signedOut.Body, c)
	}
	w.refused("after signing out", s.clicks(http.MethodGet, "/session", nil), http.StatusUnauthorized, "session_over")
	s.cookie, s.csrf = cookies[0].Value, csrf(cookies[0].Value)
	w.ok(s.clicks(http.MethodGet, "/keys", nil)) // the other browser stays
	w.clock.pass(12 * time.Hour)
	w.refused("half a day later", s.clicks(http.MethodGet, "/keys", nil), http.StatusUnauthorized, "session_over")
}

func TestATokenThatWasReplacedOpensNoSession(t *testing.T) {
	w := newWorld(t)
	s := w.newShop("shop")
	m, err := w.store.Merchants.Find(t.Context(), "shop")
	w.must(err)
	token := m.NewToken()
	w.must(w.store.Merchants.Put(t.Context(), m)) // by another process: memory has the one before yet
	w.refused("the old token", request{method: http.MethodPost, path: "/session", body: map[string]any{"token": s.token}}, http.StatusUnauthorized, "token_unknown")
	w.ok(request{method: http.MethodPost, path: "/session", body: map[string]any{"token": token}})
}

func TestASignInBeyondTheLimitOfItsMerchantIsRefusedOrOpensASession(t *testing.T) {
	w := newWorld(t)
	s := w.newShop("shop")
	w.open(func(c *Configuration) { c.Rate, c.Burst = 6, 1 }) // one more is due while the refusal waits
	w.ok(s.asks(http.MethodGet, "/keys", nil))
	answer := w.send(request{method: http.MethodPost, path: "/session", body: map[string]any{"token": s.token}})
	if opened := len(answer.Result().Cookies()) == 1; answer.Code != http.StatusTooManyRequests && !opened {
		t.Errorf("%d %s without a cookie, want %d or a session", answer.Code, answer.Body, http.StatusTooManyRequests)
	}
}

package api

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"tonscribe/webhooks/signature"
	"tonscribe/webhooks/store"
)

func TestKeysAreShownOnceAndMakeNoneThatMayMore(t *testing.T) {
	w := newWorld(t)
	s := w.newShop("shop")
	made := w.ok(s.clicks(http.MethodPost, "/keys", map[string]any{"name": "till", "scopes": []string{"transfers", "manage"}}))
	till := made["key"].(string)
	list := w.send(s.clicks(http.MethodGet, "/keys", nil))
	if strings.Contains(list.Body.String(), till) || !strings.Contains(list.Body.String(), till[:9]) {
		t.Errorf("the list is %s, want the beginning of %s alone", list.Body, till)
	}
	w.ok(request{method: http.MethodPost, path: "/keys", key: till, body: map[string]any{"name": "narrow", "scopes": []string{"transfers"}}})
	w.refused("a key that may more", request{method: http.MethodPost, path: "/keys", key: till, body: map[string]any{"name": "wide", "scopes": []string{"transfers", "deliveries"}}}, http.StatusForbidden, "scope_missing")
	for name, c := range map[string]struct {
		body any
		code string
	}{
		"no name":        {map[string]any{"scopes": []string{"transfers"}}, "missing_name"},
		"an empty name":  {map[string]any{"name": "", "scopes": []string{"transfers"}}, "bad_name"},
		"a line feed":    {map[string]any{"name": "a\nb", "scopes": []string{"transfers"}}, "bad_name"},
		"a long name":    {map[string]any{"name": strings.Repeat("n", 101), "scopes": []string{"transfers"}}, "bad_name"},
		"no scopes":      {map[string]any{"name": "x"}, "missing_scopes"},
		"empty scopes":   {map[string]any{"name": "x", "scopes": []string{}}, "bad_scopes"},
		"unknown scopes": {map[string]any{"name": "x", "scopes": []string{"admin"}}, "bad_scopes"},
		"a scope twice":  {map[string]any{"name": "x", "scopes": []string{"transfers", "transfers"}}, "bad_scopes"},
		"a text":         {map[string]any{"name": "x", "scopes": "transfers"}, "bad_scopes"},
		"more":           {map[string]any{"name": "x", "scopes": []string{"transfers"}, "merchant": "y"}, "unknown_parameter"},
	} {
		w.refused(name, s.clicks(http.MethodPost, "/keys", c.body), http.StatusBadRequest, c.code)
	}
	revoked := w.ok(s.clicks(http.MethodDelete, "/keys/"+made["id"].(string), nil))
	if at, err := time.Parse(time.RFC3339, fmt.Sprint(revoked["revoked"])); err != nil || time.Since(at).Abs() > time.Minute {
		t.Errorf("revoked: %v", revoked)
	}
	w.refused("a revoked key", request{method: http.MethodGet, path: "/keys", key: till}, http.StatusUnauthorized, "key_unknown")
	for _, id := range []string{"x", "0123456789ab", strings.Repeat("0", 64), "%2e%2e", "evt_" + s.keyID} {
		w.refused("no key of the merchant", s.clicks(http.MethodDelete, "/keys/"+id, nil), http.StatusNotFound, "not_found")
	}
}

func TestAMerchantHasFiftyKeysInUseAndMakesAsManyInADay(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		name    string
		age     time.Duration
		revoked bool
		refused bool
	}{
		{"in use, of long ago", 48 * time.Hour, false, true},
		{"revoked, of today", time.Hour, true, true},
		{"revoked, of long ago", 48 * time.Hour, true, false},
	} {
		s := w.newShop(c.name)
		var keys []store.Key
		for range maxKeys {
			k, _ := store.NewKey(s.ID, "many", []string{"transfers"})
			k.Created, k.Revoked = k.Created.Add(-c.age), c.revoked
			keys = append(keys, k)
		}
		w.must(w.store.Keys.Put(t.Context(), keys...))
		oneMore := s.clicks(http.MethodPost, "/keys", map[string]any{"name": "x", "scopes": []string{"transfers"}})
		if c.refused {
			w.refused(c.name, oneMore, http.StatusConflict, "too_many_keys")
		} else {
			w.ok(oneMore)
		}
	}
}

func TestKeysThatAreMadeAtOnceAreNoMoreThanAMerchantMakes(t *testing.T) {
	w := newWorld(t)
	s := w.newShop("shop")
	codes := make([]int, maxKeys+10)
	var running sync.WaitGroup
	for i := range codes {
		running.Go(func() {
			codes[i] = w.send(s.clicks(http.MethodPost, "/keys", map[string]any{"name": "x", "scopes": []string{"transfers"}})).Code
		})
	}
	running.Wait()
	made := 1 // that of the shop
	for _, code := range codes {
		if code == http.StatusOK {
			made++
		}
	}
	if keys, err := w.store.Keys.List(t.Context(), s.ID); made != maxKeys || len(keys) != maxKeys || err != nil {
		t.Errorf("%d keys were made, the merchant has %d, %v; want %d", made, len(keys), err, maxKeys)
	}
}

func TestWebhooksMayBeSignedByAnAPIKeyOfTheMerchant(t *testing.T) {
	w := newWorld(t)
	s, other := w.newShop("shop"), w.newShop("other")
	byKey := map[string]any{"signing": "key"}
	w.refused("a session without a key", s.clicks(http.MethodPut, "/webhook", byKey), http.StatusBadRequest, "key_wanted")
	for _, wrong := range []string{other.key, store.KeyPrefix + "none", s.token} {
		w.refused("a key that is not the merchant's", s.clicks(http.MethodPut, "/webhook", map[string]any{"signing": "key", "key": wrong}), http.StatusBadRequest, "bad_key")
	}
	current := func() string {
		t.Helper()
		e, err := w.store.Endpoints.Get(t.Context(), s.ID)
		w.must(err)
		return e.Current()
	}
	if got := w.ok(s.asks(http.MethodPut, "/webhook", byKey)); got["signing"] != "key" || got["keyId"] != s.keyID || s.keyID != signature.KeyID(s.key) || current() != s.key {
		t.Errorf("by the key of the request: %v", got)
	}
	second := w.ok(s.clicks(http.MethodPost, "/keys", map[string]any{"name": "second", "scopes": []string{"transfers"}}))
	if got := w.ok(s.clicks(http.MethodPut, "/webhook", map[string]any{"signing": "key", "key": second["key"]})); got["keyId"] != second["id"] || current() != second["key"] {
		t.Errorf("by a key that is named: %v", got)
	}
	w.ok(s.clicks(http.MethodPut, "/webhook", byKey)) // it stays
	w.refused("the key that signs", s.clicks(http.MethodDelete, "/keys/"+second["id"].(string), nil), http.StatusConflict, "key_signs")
	if got := w.ok(s.clicks(http.MethodPut, "/webhook", map[string]any{"signing": "secret"})); got["signing"] != "secret" || got["keyId"] != nil || current() != s.secret {
		t.Errorf("by the secret again: %v", got)
	}
	w.ok(s.clicks(http.MethodDelete, "/keys/"+second["id"].(string), nil))
	if strings.Contains(w.everything(s), second["key"].(string)) {
		t.Error("the key is in a table")
	}
}

func TestAKeyThatIsRevokedAndChosenToSignAtOnceDoesNotBoth(t *testing.T) {
	w := newWorld(t)
	s := w.newShop("shop")
	for range 5 {
		key := w.ok(s.clicks(http.MethodPost, "/keys", map[string]any{"name": "x", "scopes": []string{"transfers"}}))
		var running sync.WaitGroup
		var chosen, revoked int
		running.Go(func() {
			chosen = w.send(s.clicks(http.MethodPut, "/webhook", map[string]any{"signing": "key", "key": key["key"]})).Code
		})
		running.Go(func() { revoked = w.send(s.clicks(http.MethodDelete, "/keys/"+key["id"].(string), nil)).Code })
		running.Wait()
		if (chosen == http.StatusOK) == (revoked == http.StatusOK) {
			t.Errorf("chosen to sign: %d, revoked: %d; want one of them refused", chosen, revoked)
		}
		w.ok(s.clicks(http.MethodPut, "/webhook", map[string]any{"signing": "secret"}))
	}
}

package auth

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func contains(text, part string) bool { return strings.Contains(text, part) }

func TestTheKeyIsTakenOutOfTheURL(t *testing.T) {
	for _, c := range []struct{ query, header, key, rest string }{
		{"", "", "", ""},
		{"a=1&b=2", "", "", "a=1&b=2"},
		{"", "h", "h", ""},
		{"api_key=q", "", "q", ""},
		{"a=1&api_key=q&b=2", "", "q", "a=1&b=2"},
		{"a=1&api_key=q&b=2", "h", "h", "a=1&b=2"},
		{"api_key=one&api_key=two", "", "two", ""},
		{"%61pi%5Fkey=q&a=1", "", "q", "a=1"},
		{"a=%zz&api_key=q", "", "q", "a=%zz"},
		{"api_key=%71%2B", "", "q+", ""},
		{"api_key", "", "", ""},
		{"api_key=", "h", "h", ""},
		{"x=api_key&my_api_key=1", "", "", "x=api_key&my_api_key=1"},
		{"a=%26api_key=1", "", "", "a=%26api_key=1"},
	} {
		target := "/api/v3/blocks"
		if c.query != "" {
			target += "?" + c.query
		}
		r := httptest.NewRequest(http.MethodGet, target, nil)
		if c.header != "" {
			r.Header.Set("x-api-key", c.header)
		}
		key := takeKey(r)
		if key != c.key || r.URL.RawQuery != c.rest {
			t.Errorf("%s, header %q: key %q, rest %q, want %q and %q", c.query, c.header, key, r.URL.RawQuery, c.key, c.rest)
		}
		if c.key != "" && c.header == "" && strings.Contains(r.RequestURI, "api_key="+c.key) {
			t.Errorf("%s: the request's URI still has the key: %s", c.query, r.RequestURI)
		}
	}
}

func TestKeysAreRandomAndShowOnlyHowTheyBegin(t *testing.T) {
	a, b := NewSecret(), NewSecret()
	if len(a) != 64 || a == b {
		t.Fatalf("%q and %q", a, b)
	}
	key, err := KeyOf(a)
	if err != nil {
		t.Fatal(err)
	}
	if key.Prefix != a[:6] || len(key.ID()) != 12 || strings.Contains(a, key.ID()) {
		t.Errorf("prefix %q, id %q of %q", key.Prefix, key.ID(), a)
	}
	for _, bad := range []string{"", "short", strings.Repeat("x", 257), strings.Repeat("x", 40) + " y", strings.Repeat("ä", 20)} {
		if _, err := KeyOf(bad); err == nil {
			t.Errorf("%q is taken for a key", bad)
		}
	}
}

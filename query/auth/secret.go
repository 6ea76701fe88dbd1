package auth

import (
	"net/http"
	"net/url"
	"strings"
)

// parameter is the query twin of the header X-API-Key.
const parameter = "api_key"

// takeKey is the key of a request, empty for none. The header wins over the
// query parameter, and the last of several counts. The parameter is taken out
// of the URL: whoever logs it later has no key to log.
func takeKey(r *http.Request) string {
	key, rest, found := cutKey(r.URL.RawQuery)
	if found {
		r.URL.RawQuery = rest
		r.RequestURI = r.URL.RequestURI()
	}
	if header := r.Header["X-Api-Key"]; len(header) > 0 && header[0] != "" {
		return header[0]
	}
	return key
}

// cutKey takes the key out of a query string.
func cutKey(raw string) (key, rest string, found bool) {
	if !mayHoldKey(raw) {
		return "", raw, false
	}
	kept := make([]string, 0, strings.Count(raw, "&")+1)
	for pair := range strings.SplitSeq(raw, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if unescaped(name) == parameter {
			key, found = unescaped(value), true
			continue
		}
		kept = append(kept, pair)
	}
	if !found {
		return "", raw, false
	}
	return key, strings.Join(kept, "&"), true
}

// mayHoldKey is a quick look. A name that is written with escapes is rare.
func mayHoldKey(raw string) bool {
	if strings.Contains(raw, parameter) {
		return true
	}
	for rest := raw; ; {
		name, _, _ := strings.Cut(rest, "&")
		name, _, _ = strings.Cut(name, "=")
		if strings.Contains(name, "%") && unescaped(name) == parameter {
			return true
		}
		var more bool
		if _, rest, more = strings.Cut(rest, "&"); !more {
			return false
		}
	}
}

// unescaped leaves alone what is no escape.
func unescaped(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}

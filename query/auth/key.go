package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Hash is the SHA-256 of a key. Keys are 256 random bits, so nothing slower is
// needed to keep them from being found.
type Hash = [sha256.Size]byte

// Key is what is known of an API key.
type Key struct {
	Hash Hash
	// Prefix is how the key begins, so that its owner recognises it.
	Prefix string
	Name   string
	// Networks that the key is good for; none is all.
	Networks []string
	// Rate is requests a second, 0 without limit; Burst is how many at once.
	Rate    float64
	Burst   uint32
	Streams Streams
	Created time.Time
	Revoked bool

	changed uint64 // microseconds; the greatest of a key's rows counts
}

// Streams says how many streams a key has at a time, and how many addresses each of them
// names. What is 0 is as the server has it.
type Streams struct{ Connections, Addresses uint32 }

// ID names a key without giving it away.
func (k Key) ID() string { return hex.EncodeToString(k.Hash[:6]) }

func (k Key) isFor(network string) bool {
	return len(k.Networks) == 0 || slices.Contains(k.Networks, network)
}

const (
	prefixLength = 6
	minKeyLength = 32
	maxKeyLength = 256
)

// NewSecret is a new key, 64 hexadecimal digits.
func NewSecret() string {
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails: it ends the process instead
	return hex.EncodeToString(random[:])
}

// KeyOf is what is known of a key from itself.
func KeyOf(secret string) (Key, error) {
	if len(secret) < minKeyLength || len(secret) > maxKeyLength {
		return Key{}, errors.New("an API key has 32 to 256 characters")
	}
	for _, r := range secret {
		if r <= ' ' || r >= 0x7f {
			return Key{}, errors.New("an API key is of printable ASCII characters without spaces")
		}
	}
	return Key{Hash: hashOf(secret), Prefix: secret[:prefixLength]}, nil
}

func hashOf(secret string) Hash { return sha256.Sum256([]byte(secret)) }

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

// takeToken is the key of a request as clients of streams send it, too: as a bearer token
// (RFC 6750) or as the query parameter token, which is taken out of the URL.
func takeToken(r *http.Request) string {
	key, rest, found := cut(r.URL.RawQuery, tokenParameter)
	if found {
		r.URL.RawQuery = rest
		r.RequestURI = r.URL.RequestURI()
	}
	if scheme, bearer, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(bearer)
	}
	return key
}

// tokenParameter is what some clients of streams call the key.
const tokenParameter = "token"

// cutKey takes the key out of a query string.
func cutKey(raw string) (key, rest string, found bool) {
	if !mayHoldKey(raw) {
		return "", raw, false
	}
	return cut(raw, parameter)
}

// cut takes a parameter out of a query string.
func cut(raw, parameter string) (key, rest string, found bool) {
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

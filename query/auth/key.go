package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
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
	Created time.Time
	Revoked bool

	changed uint64 // microseconds; the greatest of a key's rows counts
}

// ID names a key without giving it away.
func (k Key) ID() string { return hex.EncodeToString(k.Hash[:6]) }

func (k Key) isFor(network string) bool {
	return len(k.Networks) == 0 || slices.Contains(k.Networks, network)
}

const (
	prefixLength  = 6
	shortestKey   = 32
	longestSecret = 256
)

// NewSecret is a new key, 64 hexadecimal digits.
func NewSecret() string {
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails: it ends the process instead
	return hex.EncodeToString(random[:])
}

// KeyOf is what is known of a key from itself.
func KeyOf(secret string) (Key, error) {
	if len(secret) < shortestKey || len(secret) > longestSecret {
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

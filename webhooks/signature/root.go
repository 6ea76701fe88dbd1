// Package signature signs the bodies of webhooks, and checks signatures.
//
// In: the bytes of a body and a secret. Out: the values of headers, or whether one of
// these is right. Two schemes stand side by side: X-Pay-Signature, keyed with the text of
// the secret as the merchant copies it, and Standard Webhooks, keyed with the bytes that
// this text encodes behind its prefix.
package signature

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// The headers of a request. Header is the one whose name an operator may change for
// receivers that expect another.
const (
	Header          = "X-Pay-Signature"
	HeaderID        = "webhook-id"
	HeaderTimestamp = "webhook-timestamp"
	HeaderStandard  = "webhook-signature"
)

const (
	// prefix of the value of Header.
	prefix = "sha256="
	// standardPrefix is that of one signature of HeaderStandard.
	standardPrefix = "v1,"
	// secretPrefix is that of a secret's text.
	secretPrefix = "whsec_"
	secretBytes  = 32
)

// NewSecret makes a secret: whsec_ and the base64 of 32 random bytes.
func NewSecret() string {
	raw := make([]byte, secretBytes)
	_, _ = rand.Read(raw) // never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(raw)
}

// KeyID tells secrets and API keys apart without giving them away.
func KeyID(secret string) string { return KeyIDOf(sha256.Sum256([]byte(secret))) }

// KeyIDOf is the KeyID of what has a SHA-256: the first six bytes of that, in hex.
func KeyIDOf(hash [32]byte) string { return hex.EncodeToString(hash[:6]) }

// Sign returns the value of Header: sha256= and 64 lower-case hex digits, HMAC-SHA256 of
// the body, keyed with the text of the secret.
func Sign(body []byte, secret string) string {
	return prefix + hex.EncodeToString(sum([]byte(secret), body))
}

// Verify reports whether a value of Header is right for one of some secrets: during a
// rotation there are two. Upper-case digits are wrong, and no secret is the empty text.
func Verify(body []byte, value string, secrets ...string) bool {
	right := false
	for _, secret := range secrets {
		right = right || secret != "" && hmac.Equal([]byte(value), []byte(Sign(body, secret)))
	}
	return right
}

// Standard returns the value of HeaderStandard, with a signature by each secret, for the
// values of HeaderID and HeaderTimestamp.
func Standard(id string, at time.Time, body []byte, secrets ...string) string {
	list := make([]string, len(secrets))
	content := append(fmt.Appendf(nil, "%s.%d.", id, at.Unix()), body...)
	for i, secret := range secrets {
		list[i] = standardPrefix + base64.StdEncoding.EncodeToString(sum(keyOf(secret), content))
	}
	return strings.Join(list, " ")
}

// keyOf is what the text of a secret encodes, or the text where it encodes nothing.
func keyOf(secret string) []byte {
	if encoded, is := strings.CutPrefix(secret, secretPrefix); is {
		if key, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			return key
		}
	}
	return []byte(secret)
}

func sum(key, content []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(content)
	return h.Sum(nil)
}

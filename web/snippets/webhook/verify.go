// Package webhook checks who sent a webhook.
package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
)

// Verify reports whether the value of X-Pay-Signature is right for a body, byte by byte as
// it came. The secret is used as it is shown, whsec_ included; nothing is right for an empty one.
func Verify(body []byte, header, secret string) bool {
	sum := hmac.New(sha256.New, []byte(secret))
	sum.Write(body)
	want := "sha256=" + hex.EncodeToString(sum.Sum(nil))
	return secret != "" && hmac.Equal([]byte(want), []byte(header))
}

// Handler takes webhooks and hands the body of each on to process, which may see one twice.
func Handler(secret string, process func(body []byte) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
		switch {
		case err != nil:
			w.WriteHeader(http.StatusBadRequest)
		case !Verify(body, r.Header.Get("X-Pay-Signature"), secret):
			w.WriteHeader(http.StatusUnauthorized)
		case process(body) != nil:
			w.WriteHeader(http.StatusInternalServerError) // it is sent again
		}
	}
}

package store

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Errors of secrets.
var (
	// ErrNoSealKey says that secrets can be neither written nor read.
	ErrNoSealKey = errors.New("webhooks.seal_key is empty: secrets of webhooks need it")
	// ErrSealKey says that a secret was sealed with another key, or altered.
	ErrSealKey = errors.New("a secret of webhooks cannot be opened: webhooks.seal_key is not the key that it was sealed with")
)

// sealKeySize is that of AES-256.
const sealKeySize = 32

// NewSealKey makes a key for Configuration.SealKey.
func NewSealKey() string {
	var key [sealKeySize]byte
	_, _ = rand.Read(key[:]) // never fails
	return base64.StdEncoding.EncodeToString(key[:])
}

// sealer keeps texts so that only who has the key can read them: AES-256-GCM, a version
// byte and the nonce in front. A text belongs to a merchant and a column, so that a row
// cannot have that of another one. Without a key it has no cipher.
type sealer struct{ cipher cipher.AEAD }

const sealVersion = 1

func newSealer(text string) (*sealer, error) {
	if text == "" {
		return &sealer{}, nil
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || len(key) != sealKeySize {
		key, err = hex.DecodeString(strings.TrimSpace(text))
	}
	if err != nil || len(key) != sealKeySize {
		return nil, errors.New("seal_key: want 32 bytes as base64 or hex, as `openssl rand -base64 32` prints them")
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("seal_key: %w", err)
	}
	gcm, err := cipher.NewGCM(block)
	return &sealer{gcm}, err
}

// seal returns "" for "".
func (s *sealer) seal(text string, merchant ID, column string) (string, error) {
	if text == "" {
		return "", nil
	}
	if s.cipher == nil {
		return "", ErrNoSealKey
	}
	sealed := make([]byte, 1+s.cipher.NonceSize(), 1+s.cipher.NonceSize()+len(text)+s.cipher.Overhead())
	sealed[0] = sealVersion
	_, _ = rand.Read(sealed[1:]) // never fails
	return string(s.cipher.Seal(sealed, sealed[1:], []byte(text), belongs(merchant, column))), nil
}

func (s *sealer) open(sealed string, merchant ID, column string) (string, error) {
	if sealed == "" {
		return "", nil
	}
	if s.cipher == nil {
		return "", ErrNoSealKey
	}
	head := 1 + s.cipher.NonceSize()
	if len(sealed) < head || sealed[0] != sealVersion {
		return "", ErrSealKey
	}
	text, err := s.cipher.Open(nil, []byte(sealed[1:head]), []byte(sealed[head:]), belongs(merchant, column))
	if err != nil {
		return "", ErrSealKey
	}
	return string(text), nil
}

func belongs(merchant ID, column string) []byte { return slices.Concat(merchant[:], []byte(column)) }

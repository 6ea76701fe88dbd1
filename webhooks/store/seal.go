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
	"unicode"
)

// Errors of secrets.
var (
	// ErrNoSealKey says that secrets can be neither written nor read.
	ErrNoSealKey = errors.New("webhooks.seal_key is empty: secrets of webhooks need it")
	// ErrSealKey says that a secret was sealed with another key, or altered.
	ErrSealKey = errors.New("a secret of webhooks cannot be opened: webhooks.seal_key has not the key that it was sealed with")
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
// cannot have that of another one. The first cipher seals, all of them open: keys are
// replaced one after another. Without a key there is none.
type sealer struct{ ciphers []cipher.AEAD }

const sealVersion = 1

// newSealer takes keys between which there are commas or white space.
func newSealer(text string) (*sealer, error) {
	s := &sealer{}
	for _, one := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) }) {
		key, err := base64.StdEncoding.DecodeString(one)
		if err != nil || len(key) != sealKeySize {
			key, err = hex.DecodeString(one)
		}
		if err != nil || len(key) != sealKeySize {
			return nil, errors.New("seal_key: want 32 bytes as base64 or hex, as `openssl rand -base64 32` prints them, or several such keys with commas between them")
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, fmt.Errorf("seal_key: %w", err)
		}
		gcm, err := cipher.NewGCM(block)
		if err != nil {
			return nil, fmt.Errorf("seal_key: %w", err)
		}
		s.ciphers = append(s.ciphers, gcm)
	}
	return s, nil
}

func (s *sealer) isEmpty() bool { return len(s.ciphers) == 0 }

// seal returns "" for "".
func (s *sealer) seal(text string, merchant ID, column string) (string, error) {
	if text == "" {
		return "", nil
	}
	if s.isEmpty() {
		return "", ErrNoSealKey
	}
	gcm := s.ciphers[0]
	sealed := make([]byte, 1+gcm.NonceSize(), 1+gcm.NonceSize()+len(text)+gcm.Overhead())
	sealed[0] = sealVersion
	_, _ = rand.Read(sealed[1:]) // never fails
	return string(gcm.Seal(sealed, sealed[1:], []byte(text), belongs(merchant, column))), nil
}

func (s *sealer) open(sealed string, merchant ID, column string) (string, error) {
	if sealed == "" {
		return "", nil
	}
	if s.isEmpty() {
		return "", ErrNoSealKey
	}
	for _, gcm := range s.ciphers {
		head := 1 + gcm.NonceSize()
		if len(sealed) < head || sealed[0] != sealVersion {
			break
		}
		if text, err := gcm.Open(nil, []byte(sealed[1:head]), []byte(sealed[head:]), belongs(merchant, column)); err == nil {
			return string(text), nil
		}
	}
	return "", ErrSealKey
}

func belongs(merchant ID, column string) []byte { return slices.Concat(merchant[:], []byte(column)) }

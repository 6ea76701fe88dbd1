package params

import (
	"encoding/base64"
	"encoding/hex"
	"math"
	"strconv"
	"strings"
)

// Hash is a 256-bit value.
type Hash = [32]byte

// ParseHash reads 64 hex digits, with or without 0x, and 44 characters of
// base64 or base64url.
func ParseHash(text string) (h Hash, ok bool) {
	switch {
	case len(text) == 66 && (text[:2] == "0x" || text[:2] == "0X"):
		text = text[2:]
		fallthrough
	case len(text) == 64:
		_, err := hex.Decode(h[:], []byte(text))
		return h, err == nil
	case len(text) == 44 && !strings.ContainsAny(text, "\r\n"):
		encoding := base64.StdEncoding
		if strings.ContainsAny(text, "-_") {
			encoding = base64.URLEncoding
		}
		var buffer [33]byte
		n, err := encoding.Decode(buffer[:], []byte(text))
		return Hash(buffer[:len(h)]), err == nil && n == len(h)
	}
	return h, false
}

// parseHex reads hex first, so 10 is 16, then a signed decimal of as many bits.
func parseHex(text string, bits int) (uint64, bool) {
	digits := text
	if strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0X") {
		digits = text[2:]
	}
	if n, err := strconv.ParseUint(digits, 16, bits); err == nil {
		return n, true
	}
	n, err := strconv.ParseInt(text, 10, bits)
	return uint64(n), err == nil
}

// parseUtime cuts fractions off; times after 2106 count as the last one.
func parseUtime(text string) (uint64, bool) {
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || f < 0 {
		return 0, false
	}
	return uint64(math.Min(f, math.MaxUint32)), true
}

// BoolWords are the texts that ParseBool reads.
var BoolWords = []string{"1", "t", "T", "TRUE", "true", "True", "on", "0", "f", "F", "FALSE", "false", "False"}

// ParseBool reads the words of contract 1.5.
func ParseBool(text string) (value, ok bool) {
	if text == "on" {
		return true, true
	}
	value, err := strconv.ParseBool(text)
	return value, err == nil
}

package v2

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"tonscribe/query/render"
)

// Address is an account and the form in which it was written.
type Address struct {
	Workchain     int32
	ID            [32]byte
	Friendly      bool
	NonBounceable bool
	TestOnly      bool
}

// IsAddress reports whether a text is an account's address in a form that this
// layer reads.
func IsAddress(text string) bool {
	_, ok := parseAddress(text)
	return ok
}

// The flags of the user-friendly form (TEP-2).
const (
	flagBounceable    = 0x11
	flagNonBounceable = 0x51
	flagTestOnly      = 0x80
)

// parseAddress reads the raw form and the user-friendly form in either
// alphabet. Workchains that the user-friendly form cannot hold are refused.
func parseAddress(text string) (a Address, ok bool) {
	if workchain, id, found := strings.Cut(text, ":"); found {
		n, err := strconv.ParseInt(workchain, 10, 8)
		if err != nil || len(id) != 64 || len(workchain) > 10 {
			return a, false
		}
		a.Workchain = int32(n)
		_, err = hex.Decode(a.ID[:], []byte(id))
		return a, err == nil
	}
	var form [36]byte
	if len(text) != 48 || !decodeExactly(form[:], text) {
		return a, false
	}
	tag := form[0] &^ flagTestOnly
	if tag != flagBounceable && tag != flagNonBounceable || render.CRC16(form[:34]) != binary.BigEndian.Uint16(form[34:]) {
		return a, false
	}
	a = Address{
		Workchain: int32(int8(form[1])), Friendly: true,
		NonBounceable: tag == flagNonBounceable, TestOnly: form[0]&flagTestOnly != 0,
	}
	copy(a.ID[:], form[2:34])
	return a, true
}

var toStandard = strings.NewReplacer("-", "+", "_", "/")

// decodeExactly fills dst from base64 of either alphabet, mixed or not.
func decodeExactly(dst []byte, text string) bool {
	if strings.ContainsAny(text, "\r\n") {
		return false
	}
	decoded, err := base64.StdEncoding.DecodeString(toStandard.Replace(text))
	return err == nil && len(decoded) == len(dst) && copy(dst, decoded) == len(dst)
}

// friendly writes the user-friendly form.
func (a *Address) friendly(bounceable, testOnly bool, encoding *base64.Encoding) string {
	var form [36]byte
	form[0] = flagNonBounceable
	if bounceable {
		form[0] = flagBounceable
	}
	if testOnly {
		form[0] |= flagTestOnly
	}
	form[1] = byte(a.Workchain)
	copy(form[2:], a.ID[:])
	binary.BigEndian.PutUint16(form[34:], render.CRC16(form[:34]))
	return encoding.EncodeToString(form[:])
}

// packed is the user-friendly form with the flags of the given form.
func (a *Address) packed() string {
	return a.friendly(!a.NonBounceable, a.TestOnly, base64.URLEncoding)
}

// bounceable is how answers name other accounts.
func (a *Address) bounceable() string { return a.friendly(true, false, base64.URLEncoding) }

func (a *Address) lower() string {
	return strconv.Itoa(int(a.Workchain)) + ":" + hex.EncodeToString(a.ID[:])
}

func (a *Address) upper() string { return strings.ToUpper(a.lower()) }

// normal is the form in which an answer repeats the request's address.
func (a *Address) normal() string {
	if a.Friendly {
		return a.packed()
	}
	return a.upper()
}

// same compares accounts, not forms.
func (a *Address) same(b *Address) bool { return a.Workchain == b.Workchain && a.ID == b.ID }

// parseHash reads the forms of contract 1.10.
func parseHash(text string) (h [32]byte, ok bool) {
	if len(text) == 66 && (text[:2] == "0x" || text[:2] == "0X") {
		text = text[2:]
	}
	var decoded []byte
	var err error
	switch {
	case strings.ContainsAny(text, "\r\n"):
		return h, false
	case len(text) == 64:
		decoded, err = hex.DecodeString(text)
	case len(text) == 44 && strings.ContainsAny(text, "-_"):
		decoded, err = base64.URLEncoding.DecodeString(text)
	case len(text) == 44:
		decoded, err = base64.StdEncoding.DecodeString(text)
	case len(text) == 43:
		decoded, err = base64.RawURLEncoding.DecodeString(text)
	}
	return h, err == nil && copy(h[:], decoded) == len(h) && len(decoded) == len(h)
}

// parseShard reads signed decimals, and unsigned and hexadecimal ones that
// other tools print.
func parseShard(text string) (int64, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return int64(n), true
	}
	if len(text) == 18 && (text[:2] == "0x" || text[:2] == "0X") {
		n, err := strconv.ParseUint(text[2:], 16, 64)
		return int64(n), err == nil
	}
	return 0, false
}

// parseInteger reads decimals of 32 or 64 bits.
func parseInteger(kind Kind, text string) (int64, bool) {
	size := 64
	if kind == Int32Kind {
		size = 32
	}
	n, err := strconv.ParseInt(text, 10, size)
	return n, err == nil
}

func fitsInt32(n int64) bool { return n >= math.MinInt32 && n <= math.MaxInt32 }

func parseWord(text string) (value, ok bool) {
	switch strings.ToLower(text) {
	case "y", "yes", "t", "true", "on", "1":
		return true, true
	case "n", "no", "f", "false", "off", "0":
		return false, true
	}
	return false, false
}

// parseBytes reads base64 of either alphabet.
func parseBytes(text string) ([]byte, error) {
	return base64.StdEncoding.DecodeString(toStandard.Replace(text))
}

package v2

import (
	"encoding/base64"
	"strconv"
	"strings"

	"tonscribe/query/params"
	"tonscribe/ton/address"
)

// Address is an account and the form in which it was written.
type Address struct {
	address.Address
	address.Form
}

// ParseAddress reads an account's address in a form that this layer reads: workchains
// that the user-friendly form cannot hold are refused.
func ParseAddress(text string) (a Address, ok bool) {
	const maxDigits = 10 // of a workchain
	account, form, err := address.Parse(text)
	n := account.Workchain()
	if err != nil || n != int32(int8(n)) || strings.IndexByte(text, ':') > maxDigits {
		return a, false
	}
	return Address{account, form}, true
}

// friendly returns the user-friendly form.
func (a *Address) friendly(nonBounceable, testOnly bool, alphabet *base64.Encoding) string {
	return string(address.AppendFriendly(nil, a.Address[:], address.Form{NonBounceable: nonBounceable, TestOnly: testOnly}, alphabet))
}

// packed is the user-friendly form with the flags of the given form.
func (a *Address) packed() string {
	return a.friendly(a.NonBounceable, a.TestOnly, base64.URLEncoding)
}

func (a *Address) lower() string { return strings.ToLower(a.String()) }

// normal is the form in which an answer repeats the request's address.
func (a *Address) normal() string {
	if a.Friendly {
		return a.packed()
	}
	return a.String()
}

func (a *Address) givenType() string {
	switch {
	case !a.Friendly:
		return "raw_form"
	case a.NonBounceable:
		return "friendly_non_bounceable"
	}
	return "friendly_bounceable"
}

// parseHash reads the forms of contract 1.10: besides those of v3, base64url without
// padding.
func parseHash(text string) (h [32]byte, ok bool) {
	if len(text) != 43 || strings.ContainsAny(text, "\r\n") {
		return params.ParseHash(text)
	}
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	return h, err == nil && copy(h[:], decoded) == len(h)
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

func parseWord(text string) (value, ok bool) {
	switch strings.ToLower(text) {
	case "y", "yes", "t", "true", "on", "1":
		return true, true
	case "n", "no", "f", "false", "off", "0":
		return false, true
	}
	return false, false
}

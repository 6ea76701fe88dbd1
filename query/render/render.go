// Package render writes records as the JSON of the v3 API.
//
// In: records of schema/record, as decode makes them and ClickHouse keeps them.
// Out: JSON appended to a byte slice, keys in the order of the contract. The
// package is pure: it asks nobody for anything, keeps nothing, and never fails;
// what a record does not say is null or absent as the contract has it.
//
// Hashes are standard base64 with padding, addresses raw with upper-case hex,
// amounts and logical times decimal text.
package render

import (
	"encoding/base64"
	"math/big"
	"slices"
	"strconv"
	"unicode/utf8"

	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

const upperHex = "0123456789ABCDEF"

// Hash appends a 256-bit value as a base64 string, null when there is none.
func Hash(dst, hash []byte) []byte {
	if len(hash) == 0 {
		return append(dst, "null"...)
	}
	return base64String(dst, hash)
}

func base64String(dst, b []byte) []byte {
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, b)
	return append(dst, '"')
}

// Address appends an address of a record as a string, null for addr_none.
func Address(dst, account []byte) []byte {
	if len(account) != address.Size {
		return append(dst, "null"...)
	}
	dst = append(dst, '"')
	dst = address.AppendRaw(dst, account)
	return append(dst, '"')
}

// Decimal appends an integer as a decimal string.
func Decimal(dst []byte, n uint64) []byte {
	dst = append(dst, '"')
	dst = strconv.AppendUint(dst, n, 10)
	return append(dst, '"')
}

// Shard appends a shard as upper-case hex without padding.
func Shard(dst []byte, shard uint64) []byte {
	var digits [16]byte
	at := len(digits)
	for ok := true; ok; ok = shard != 0 {
		at--
		digits[at] = upperHex[shard&15]
		shard >>= 4
	}
	dst = append(dst, '"')
	dst = append(dst, digits[at:]...)
	return append(dst, '"')
}

// Opcode appends an opcode as 0x and eight lower-case hex digits.
func Opcode(dst []byte, opcode uint32) []byte {
	dst = append(dst, `"0x`...)
	for shift := 28; shift >= 0; shift -= 4 {
		dst = append(dst, "0123456789abcdef"[opcode>>shift&15])
	}
	return append(dst, '"')
}

// ExtraCurrencies appends currency id → amount, ids in the order of their text.
func ExtraCurrencies(dst []byte, list []*record.ExtraCurrency) []byte {
	if len(list) > 1 {
		list = slices.Clone(list)
		slices.SortFunc(list, func(a, b *record.ExtraCurrency) int {
			return compareText(uint64(a.Id), uint64(b.Id))
		})
	}
	dst = append(dst, '{')
	for i, c := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = Decimal(dst, uint64(c.Id))
		dst = append(dst, `:"`...)
		dst = new(big.Int).SetBytes(c.Amount).Append(dst, 10)
		dst = append(dst, '"')
	}
	return append(dst, '}')
}

func compareText(a, b uint64) int {
	var x, y [20]byte
	return slices.Compare(strconv.AppendUint(x[:0], a, 10), strconv.AppendUint(y[:0], b, 10))
}

// Text appends a string with the escapes of the contract: besides what JSON
// asks for, the characters < > & and U+2028, U+2029.
func Text(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			dst = appendASCII(dst, c)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			dst = append(dst, `\ufffd`...)
		case r == '\u2028' || r == '\u2029':
			dst = append(dst, `\u202`...)
			dst = append(dst, upperHex[r&15])
		default:
			dst = append(dst, s[i:i+size]...)
		}
		i += size
	}
	return append(dst, '"')
}

func appendASCII(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	case '<', '>', '&':
	default:
		if c >= 0x20 {
			return append(dst, c)
		}
	}
	const lower = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', lower[c>>4], lower[c&15])
}

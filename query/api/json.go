package api

import (
	"encoding/base64"
	"math/big"
	"math/bits"
	"strconv"
	"unicode/utf8"

	"tonscribe/ton/address"
)

const (
	upperHex = "0123456789ABCDEF"
	lowerHex = "0123456789abcdef"
	null     = "null"
)

// AppendBytes appends bytes as a base64 string, null when there are none.
func AppendBytes(dst, b []byte) []byte {
	if len(b) == 0 {
		return append(dst, null...)
	}
	return AppendBase64(dst, b)
}

// AppendBase64 appends bytes as a base64 string, an empty one when there are none.
func AppendBase64(dst, b []byte) []byte {
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, b)
	return append(dst, '"')
}

// WithoutCRC is the bag of cells of code or data as account states show it: without
// the CRC-32C that records have.
func WithoutCRC(boc []byte) []byte {
	const hasCRC = 0x40
	if len(boc) < 10 || boc[4]&hasCRC == 0 {
		return boc
	}
	plain := append(make([]byte, 0, len(boc)), boc[:len(boc)-4]...)
	plain[4] &^= hasCRC
	return plain
}

// AppendAddress appends an address of a record as a string, null for addr_none.
func AppendAddress(dst, account []byte) []byte {
	if len(account) != address.Size {
		return append(dst, null...)
	}
	dst = append(dst, '"')
	dst = address.AppendRaw(dst, account)
	return append(dst, '"')
}

// AppendDecimal appends an integer as a decimal string.
func AppendDecimal(dst []byte, n uint64) []byte {
	dst = append(dst, '"')
	dst = strconv.AppendUint(dst, n, 10)
	return append(dst, '"')
}

// AppendAmount appends a magnitude of a record as a decimal string.
func AppendAmount(dst, magnitude []byte) []byte {
	dst = append(dst, '"')
	dst = AppendInteger(dst, magnitude)
	return append(dst, '"')
}

// AppendInteger appends a magnitude of a record as a number.
func AppendInteger(dst, magnitude []byte) []byte {
	if len(magnitude) <= 8 {
		var n uint64
		for _, b := range magnitude {
			n = n<<8 | uint64(b)
		}
		return strconv.AppendUint(dst, n, 10)
	}
	return new(big.Int).SetBytes(magnitude).Append(dst, 10)
}

// AppendShard appends a shard as upper-case hex without padding.
func AppendShard(dst []byte, shard uint64) []byte {
	dst = append(dst, '"')
	for shift := max(bits.Len64(shard)-1, 0) &^ 3; shift >= 0; shift -= 4 {
		dst = append(dst, upperHex[shard>>shift&15])
	}
	return append(dst, '"')
}

// AppendOpcode appends an opcode as 0x and eight lower-case hex digits.
func AppendOpcode(dst []byte, opcode uint32) []byte {
	dst = append(dst, `"0x`...)
	for shift := 28; shift >= 0; shift -= 4 {
		dst = append(dst, lowerHex[opcode>>shift&15])
	}
	return append(dst, '"')
}

// AppendTexts appends a list of texts, null for nil.
func AppendTexts(dst []byte, texts []string) []byte {
	if texts == nil {
		return append(dst, null...)
	}
	return AppendList(dst, texts, AppendText)
}

// AppendList appends the values of a list, each by write.
func AppendList[V any](dst []byte, list []V, write func([]byte, V) []byte) []byte {
	dst = append(dst, '[')
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = write(dst, v)
	}
	return append(dst, ']')
}

// AppendText appends a string with the escapes of the contract: besides what JSON
// asks for, the characters < > & and U+2028, U+2029.
func AppendText(dst []byte, s string) []byte {
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
	return append(dst, '\\', 'u', '0', '0', lowerHex[c>>4], lowerHex[c&15])
}

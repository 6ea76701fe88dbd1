// Package address reads and writes the addresses of accounts: the one type, the
// one parser of every text form and their one writer. In come texts and the
// 36 bytes of records; out come the same. The package must never ask whether an
// account exists.
package address

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Size is the length of an Address.
const Size = 36

// Address is a workchain (int32, big endian) and a 256-bit account id, as in
// records (TL-B addr_std without anycast).
type Address [Size]byte

// Form is how an address was written, or is to be written.
type Form struct {
	// Friendly is false for the raw form, which has no flags.
	Friendly      bool
	NonBounceable bool
	TestOnly      bool
}

// Tags of the user-friendly form (TEP-2).
const (
	tagBounceable    = 0x11
	tagNonBounceable = 0x51
	tagTestOnly      = 0x80
)

// friendlySize is the length of the user-friendly form in base64.
const friendlySize = 48

// ErrInvalid is returned for a text that is no address.
var ErrInvalid = errors.New("not an address")

var errHash = fmt.Errorf("%w: behind the colon are no 64 hex digits", ErrInvalid)

// New returns the address of an account id of 32 bytes.
func New(workchain int32, id []byte) (a Address) {
	binary.BigEndian.PutUint32(a[:4], uint32(workchain))
	copy(a[4:], id)
	return a
}

// Workchain returns the workchain.
func (a *Address) Workchain() int32 { return int32(binary.BigEndian.Uint32(a[:4])) }

// ID returns the account id, which shares memory with the address.
func (a *Address) ID() []byte { return a[4:] }

// String returns the raw form.
func (a Address) String() string { return string(AppendRaw(nil, a[:])) }

// Parse reads the raw form, workchain:hash in hex digits of any case, and the
// user-friendly form (TEP-2) in either alphabet of base64.
func Parse(text string) (a Address, f Form, err error) {
	if workchain, hash, raw := strings.Cut(text, ":"); raw {
		n, err := strconv.ParseInt(workchain, 10, 32)
		if err != nil {
			return a, f, fmt.Errorf("%w: its workchain is no number of 32 bits", ErrInvalid)
		}
		var id [Size - 4]byte
		if len(hash) != hex.EncodedLen(len(id)) {
			return a, f, errHash
		}
		if _, err := hex.Decode(id[:], []byte(hash)); err != nil {
			return a, f, errHash
		}
		return New(int32(n), id[:]), f, nil
	}
	var form [Size]byte
	switch {
	case len(text) != friendlySize || strings.ContainsAny(text, "\r\n"):
		return a, f, fmt.Errorf("%w: neither workchain:hash nor %d characters of base64", ErrInvalid, friendlySize)
	case !decode(&form, text):
		return a, f, fmt.Errorf("%w: it is not in base64", ErrInvalid)
	case Checksum(form[:Size-2]) != binary.BigEndian.Uint16(form[Size-2:]):
		return a, f, fmt.Errorf("%w: its checksum is wrong", ErrInvalid)
	}
	tag := form[0] &^ tagTestOnly
	if tag != tagBounceable && tag != tagNonBounceable {
		return a, f, fmt.Errorf("%w: it begins with 0x%02x", ErrInvalid, form[0])
	}
	f = Form{Friendly: true, NonBounceable: tag == tagNonBounceable, TestOnly: form[0]&tagTestOnly != 0}
	return New(int32(int8(form[1])), form[2:Size-2]), f, nil
}

// MustParse is Parse for texts of the program's own; it panics when they are no
// addresses.
func MustParse(text string) Address {
	a, _, err := Parse(text)
	if err != nil {
		panic(fmt.Sprintf("%q: %v", text, err))
	}
	return a
}

var toStandard = strings.NewReplacer("-", "+", "_", "/")

// decode reads both alphabets, mixed or not.
func decode(form *[Size]byte, text string) bool {
	n, err := base64.StdEncoding.Decode(form[:], []byte(toStandard.Replace(text)))
	return err == nil && n == len(form)
}

// AppendRaw appends workchain:HASH with upper-case digits of an account of a
// record.
func AppendRaw(dst, account []byte) []byte {
	dst = strconv.AppendInt(dst, int64(int32(binary.BigEndian.Uint32(account))), 10)
	dst = append(dst, ':')
	const digits = "0123456789ABCDEF"
	for _, b := range account[4:Size] {
		dst = append(dst, digits[b>>4], digits[b&15])
	}
	return dst
}

// AppendFriendly appends the 48 characters of the user-friendly form (TEP-2) of
// an account of a record, whose workchain has to fit into a byte.
func AppendFriendly(dst, account []byte, f Form, alphabet *base64.Encoding) []byte {
	var form [Size]byte
	form[0] = tagBounceable
	if f.NonBounceable {
		form[0] = tagNonBounceable
	}
	if f.TestOnly {
		form[0] |= tagTestOnly
	}
	form[1] = account[3]
	copy(form[2:], account[4:Size])
	binary.BigEndian.PutUint16(form[Size-2:], Checksum(form[:Size-2]))
	return alphabet.AppendEncode(dst, form[:])
}

// Checksum returns the CRC-16/XMODEM that the user-friendly form ends with.
func Checksum(b []byte) uint16 {
	var crc uint16
	for _, c := range b {
		crc = crc<<8 ^ table[byte(crc>>8)^c]
	}
	return crc
}

var table = func() (table [256]uint16) {
	for i := range table {
		crc := uint16(i) << 8
		for range 8 {
			carry := crc & 0x8000
			crc <<= 1
			if carry != 0 {
				crc ^= 0x1021
			}
		}
		table[i] = crc
	}
	return table
}()

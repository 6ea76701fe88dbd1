package paging

import (
	"bytes"
	"cmp"
	"slices"

	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/ton/address"
)

// NoAddress is how a key of a list says that there is no account.
var NoAddress = address.Address{0x80}

// Somebody leaves out of a list what stands for none in keys: who looks for it would read
// all rows that have nobody there, to find none that fits.
func Somebody(list []address.Address) []address.Address {
	return slices.DeleteFunc(slices.Clone(list), IsNobody)
}

// IsNobody reports whether an address is of the workchain that stands for none in keys.
func IsNobody(a address.Address) bool { return a.Workchain() == sql.NoWorkchain }

// AddressOf returns an address of a record in a key.
func AddressOf(a []byte) address.Address {
	if len(a) != schema.AddressSize {
		return NoAddress
	}
	return address.Address(a)
}

// CompareAddresses is the order of accounts in lists: by workchain, then by bytes.
func CompareAddresses(a, b address.Address) int {
	return cmp.Or(cmp.Compare(schema.Workchain(a[:]), schema.Workchain(b[:])), bytes.Compare(a[4:], b[4:]))
}

// HasAddress reports whether an address is in a list, or the list is empty.
func HasAddress(list []address.Address, a []byte) bool {
	return len(list) == 0 || len(a) == schema.AddressSize && slices.Contains(list, address.Address(a))
}

// HasAny reports whether one of some addresses is in a list, or the list is empty.
func HasAny(list []address.Address, some [][]byte) bool {
	return len(list) == 0 || slices.ContainsFunc(some, func(a []byte) bool { return HasAddress(list, a) })
}

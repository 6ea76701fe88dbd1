package table

import (
	"math"

	"tonscribe/schema"
)

// noWorkchain marks the absence of an account in the columns of a workchain.
const noWorkchain = math.MinInt32

// noHash stands where a hash is not there.
var noHash = make([]byte, 32)

func hashOrZero(hash []byte) []byte {
	if len(hash) != len(noHash) {
		return noHash
	}
	return hash
}

// accountKey is an account as keys have it: its workchain and the first 8 bytes of its
// id, noWorkchain and 0 for none.
type accountKey struct {
	workchain int32
	prefix    uint64
}

func accountKeyOf(address []byte) accountKey {
	if len(address) != schema.AddressSize {
		return accountKey{noWorkchain, 0}
	}
	return accountKey{schema.Workchain(address), schema.Prefix(schema.AccountID(address))}
}

// accountID is zeros for none.
func accountID(address []byte) []byte {
	if len(address) != schema.AddressSize {
		return noHash
	}
	return schema.AccountID(address)
}

// accountColumns are the three columns of the account that a row is of.
func accountColumns[R any](what string, address func(R) []byte) []column[R] {
	return []column[R]{
		col("workchain", Int32, "workchain of "+what, func(r R) int32 { return schema.Workchain(address(r)) }),
		col("account_prefix", Prefix, "first 8 bytes of the account id", func(r R) uint64 { return schema.Prefix(schema.AccountID(address(r))) }),
		col("account", Hash, "account id of "+what, func(r R) []byte { return schema.AccountID(address(r)) }),
	}
}

// partyColumns are the three columns of an address that may be none.
func partyColumns[R any](name, what string, address func(R) []byte) []column[R] {
	return []column[R]{
		col(name+"_workchain", Int32, "workchain of "+what+"; -2147483648 for none", func(r R) int32 { return accountKeyOf(address(r)).workchain }),
		col(name+"_prefix", Prefix, "first 8 bytes of "+name, func(r R) uint64 { return accountKeyOf(address(r)).prefix }),
		col(name, Hash, "account id of "+what+"; zeros for none", func(r R) []byte { return accountID(address(r)) }),
	}
}

package sink

import (
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// account is an account as the tables see it.
type account struct {
	*record.Account
	raw       string
	workchain int32
	prefix    uint64 // of the account id
	// version tells newer rows from older ones.
	version uint64
}

// accounts has the newest state of every account.
var accounts = table[*account]{
	name: "accounts",
	columns: []column[*account]{
		col("workchain", func(a *account) int32 { return a.workchain }),
		col("account_prefix", func(a *account) uint64 { return a.prefix }),
		col("account", func(a *account) []byte { return schema.AccountID(a.Account.Account) }),
		col("version", func(a *account) uint64 { return a.version }),
		col("mc_seqno", func(a *account) uint32 { return a.McSeqno }),
		col("now", func(a *account) uint32 { return a.Now }),
		col("status", func(a *account) int8 { return int8(a.State.Status) }),
		col("balance", func(a *account) uint64 { return a.State.Balance }),
		col("code_hash", func(a *account) []byte { return hashOrZero(a.State.CodeHash) }),
		col("record", func(a *account) string { return a.raw }),
	},
}

func hashOrZero(hash []byte) []byte {
	if len(hash) != 32 {
		return noHash
	}
	return hash
}

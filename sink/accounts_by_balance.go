package sink

import (
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// accountsByBalance has the balance of every account.
var accountsByBalance = table[*account]{
	name: "accounts_by_balance",
	columns: []column[*account]{
		col("workchain", func(a *account) int32 { return a.workchain }),
		col("account_prefix", func(a *account) uint64 { return a.prefix }),
		col("account", func(a *account) []byte { return schema.AccountID(a.Account.Account) }),
		col("version", func(a *account) uint64 { return a.version }),
		col("balance", func(a *account) uint64 { return a.State.Balance }),
		col("gone", func(a *account) bool { return a.State.Status == record.AccountStatus_ACCOUNT_NONEXIST }),
	},
}

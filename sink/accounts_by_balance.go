package sink

import (
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// accountsByBalance has accounts in classes of their balances: a row for the
// class that an account is in, and one that is gone for the class that it left.
var accountsByBalance = table[*account]{
	name: "accounts_by_balance",
	each: func(a *account, add func(*account)) {
		row := *a
		row.class = schema.BalanceClass(a.State.Balance)
		row.gone = a.State.Status == record.AccountStatus_ACCOUNT_NONEXIST
		left := schema.BalanceClass(a.BalanceBefore)
		if a.StatusBefore != record.AccountStatus_ACCOUNT_NONEXIST && left != row.class {
			old := row
			old.class, old.gone = left, true
			add(&old)
		}
		if !row.gone || left == row.class {
			add(&row)
		}
	},
	columns: []column[*account]{
		col("class", func(a *account) uint16 { return a.class }),
		col("workchain", func(a *account) int32 { return a.workchain }),
		col("account_prefix", func(a *account) uint64 { return a.prefix }),
		col("account", func(a *account) []byte { return schema.AccountID(a.Account.Account) }),
		col("version", func(a *account) uint64 { return a.version }),
		col("balance", func(a *account) uint64 { return a.State.Balance }),
		col("gone", func(a *account) bool { return a.gone }),
	},
}

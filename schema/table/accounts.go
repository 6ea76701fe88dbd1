package table

import (
	"fmt"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// Account is the state of an account as the tables see it.
type Account struct {
	*record.Account
	Raw string
	// Version tells newer rows from older ones.
	Version uint64
}

// NewAccount returns the row of an account that was read from raw. Address, hash
// and state must be there. Late is one that is published once more, with data that
// could not be had before.
func NewAccount(a *record.Account, raw []byte, late bool) (*Account, error) {
	if len(a.Account) != schema.AddressSize || len(a.Hash) != 32 || a.State == nil {
		return nil, fmt.Errorf("account %x of lt %d: address, hash or state is missing", a.Account, a.LastTransLt)
	}
	row := &Account{Account: a, Raw: text(raw), Version: a.LastTransLt << 1}
	if late {
		row.Version |= 1
	}
	return row, nil
}

// account makes rows without data that is not kept.
func (o Options) account(late bool) func(*record.Account, []byte) (*Account, error) {
	return func(a *record.Account, raw []byte) (*Account, error) {
		if len(a.Data) > 0 && o.KeepsData != nil && !o.KeepsData(a.DataDepth) {
			a = a.CloneVT()
			a.Data = nil
			var err error
			if raw, err = a.MarshalVT(); err != nil {
				return nil, fmt.Errorf("account %x: %w", a.Account, err)
			}
		}
		return NewAccount(a, raw, late)
	}
}

// accountKeyNames tell accounts apart.
var accountKeyNames = []string{"workchain", "account_prefix", "account"}

func addressOfAccount(a *Account) []byte { return a.Account.Account }

// Accounts has the newest state of every account.
var Accounts = declare(Table{Name: "accounts", Doc: "the newest state of an account", Key: accountKeyNames, Newest: "version"}, nil,
	accountColumns("the account", addressOfAccount), []column[*Account]{
		col("version", UInt64, "twice the lt of the last transaction, and 1 more when the account came once more, with data that could not be had before",
			func(a *Account) uint64 { return a.Version }),
		col("mc_seqno", UInt32, "masterchain block that commits the last transaction", func(a *Account) uint32 { return a.McSeqno }),
		col("now", UInt32, "time of the last transaction", func(a *Account) uint32 { return a.Now }),
		col("status", status, "status of the account", func(a *Account) int8 { return int8(a.State.Status) }),
		col("balance", UInt64, "balance, in nanotons", func(a *Account) uint64 { return a.State.Balance }),
		col("code_hash", Hash, "hash of the code; zeros without code", func(a *Account) []byte { return hashOrZero(a.State.CodeHash) }),
		recordCol("the protobuf Account, without data that is too deep to be kept", func(a *Account) string { return a.Raw }),
	})

// AccountsByBalance has the balance of every account.
var AccountsByBalance = declare(Table{Name: "accounts_by_balance", Internal: true, Doc: "the balance of an account", Key: accountKeyNames, Newest: "version"}, nil,
	accountColumns("the account", addressOfAccount), []column[*Account]{
		col("version", UInt64, "version of the account's row of accounts", func(a *Account) uint64 { return a.Version }),
		col("balance", UInt64, "balance, in nanotons", func(a *Account) uint64 { return a.State.Balance }),
		col("gone", Bool, "whether the account does not exist any more", func(a *Account) bool { return a.State.Status == record.AccountStatus_ACCOUNT_NONEXIST }),
	})

// Code is a code as the tables see it.
type Code struct {
	*record.Code
	Raw string
}

func newCode(c *record.Code, raw []byte) (*Code, error) {
	if len(c.Hash) != 32 {
		return nil, fmt.Errorf("a code with a hash of %d bytes", len(c.Hash))
	}
	return &Code{c, text(raw)}, nil
}

// Codes has every code by its hash.
var Codes = declare(Table{Name: "codes", Doc: "a code", Key: []string{"hash"}}, nil, []column[*Code]{
	col("hash", Hash, "hash of the code's root cell", func(c *Code) []byte { return c.Hash }),
	col("methods", UInt32s, "ids of its get-methods", func(c *Code) []uint32 { return c.Methods }),
	col("methods_known", Bool, "whether it has a method dictionary where compilers put it", func(c *Code) bool { return c.MethodsKnown }),
	col("boc", String, "the code as a bag of cells", func(c *Code) string { return text(c.Boc) }),
})

package sql

import (
	"cmp"
	"fmt"

	"tonscribe/schema"
	"tonscribe/ton/address"
)

// AccountKey is an account as far as the keys of tables tell it: its workchain and
// its first 64 bits.
type AccountKey struct {
	Workchain int32
	Prefix    uint64
}

// NoWorkchain marks the absence of an account in the columns of a workchain.
const NoWorkchain = -1 << 31

// KeyOf returns the key of an address of a record; one of another length is none.
func KeyOf(a []byte) AccountKey {
	if len(a) != schema.AddressSize {
		return AccountKey{Workchain: NoWorkchain}
	}
	return AccountKey{schema.Workchain(a), schema.Prefix(schema.AccountID(a))}
}

// KeysOf returns the keys of addresses.
func KeysOf(list []address.Address) []AccountKey {
	keys := make([]AccountKey, len(list))
	for i := range list {
		keys[i] = KeyOf(list[i][:])
	}
	return keys
}

// Compare is the order of tables.
func (a AccountKey) Compare(b AccountKey) int {
	return cmp.Or(cmp.Compare(a.Workchain, b.Workchain), cmp.Compare(a.Prefix, b.Prefix))
}

// String is the key as a tuple.
func (a AccountKey) String() string { return fmt.Sprintf("(%d,%d)", a.Workchain, a.Prefix) }

// Account is the columns of an account: those of its key.
var Account = []string{"workchain", "account_prefix"}

// AccountColumns returns the columns of another account of a row, by their name.
func AccountColumns(name string) []string { return []string{name + "_workchain", name + "_prefix"} }

// Is is the condition on an account's columns, exact but for accounts that share
// 64 bits.
func (a AccountKey) Is(columns []string) Conditions {
	return Conditions{Is(columns[0], a.Workchain), Is(columns[1], a.Prefix)}
}

// AmongAccounts is the same for any of a list.
func AmongAccounts(columns []string, list []AccountKey) Conditions {
	if len(list) == 1 {
		return list[0].Is(columns)
	}
	return Conditions{AmongKeys(columns, list)}
}

// AmongKeys is the same as one condition.
func AmongKeys(columns []string, list []AccountKey) Among {
	c := Among{Columns: columns, Tuples: make([][]any, len(list))}
	for i, a := range list {
		c.Tuples[i] = []any{a.Workchain, a.Prefix}
	}
	return c
}

// Prefixes returns the first 64 bits of hashes.
func Prefixes(list [][32]byte) []uint64 {
	prefixes := make([]uint64, len(list))
	for i, h := range list {
		prefixes[i] = schema.Prefix(h[:])
	}
	return prefixes
}

// TransactionKey is the columns by which rows of other tables name one of
// transactions. The bundle belongs to them because it tells ClickHouse which parts
// cannot hold the row.
const TransactionKey = "workchain, account_prefix, lt, mc_seqno"

// TransactionsAt reads the records of the transactions that rows of a table name.
func TransactionsAt(table string, c Conditions) string {
	if table == "transactions" {
		return "SELECT record FROM transactions WHERE " + c.String()
	}
	return "SELECT record FROM transactions WHERE (" + TransactionKey + ") IN (SELECT " + TransactionKey + " FROM " + Beside(table) + " WHERE " + c.String() + ")"
}

package cache

import (
	"context"

	"github.com/ClickHouse/ch-go/proto"

	"tonscribe/query/sql"
	"tonscribe/ton/address"
)

// accountCode is which code an account has, by the row with the greatest version.
type accountCode struct {
	version uint64
	hash    Hash
	active  bool
}

// bytes is negative for an active account without a code, whose code is not known yet:
// the row that tells it later is one of the same bundle.
func (a accountCode) bytes() int {
	if a.active && a.hash == (Hash{}) {
		return -1
	}
	return 48
}

// Entry is what an address book says of an account.
type Entry struct {
	// Known says that the account is or was on the chain.
	Known bool
	// Code is nil when it has none.
	Code *Code
}

// Directory has an entry for every account of the list.
func (c *Cache) Directory(ctx context.Context, list []address.Address) (map[address.Address]Entry, error) {
	bundles := c.Memory()
	found, err := c.accounts.at(ctx, list)
	if err != nil {
		return nil, err
	}
	if err := addHeldCodes(ctx, bundles, found, list); err != nil {
		return nil, err
	}
	wanted := make([]Hash, 0, len(found))
	for _, a := range found {
		if a.hash != (Hash{}) {
			wanted = append(wanted, a.hash)
		}
	}
	known, err := c.Codes(ctx, wanted)
	if err != nil {
		return nil, err
	}
	entries := make(map[address.Address]Entry, len(list))
	for _, a := range list {
		code, there := found[a]
		entries[a] = Entry{Known: there, Code: known[code.hash]}
	}
	return entries, nil
}

func (c *Cache) readAccountCodes(ctx context.Context, list []address.Address) (map[address.Address]accountCode, error) {
	return c.accountCodes(ctx, sql.AmongAccounts(sql.Account, sql.KeysOf(list)).String()) // of others, too, who share the first 64 bits
}

// accountCodes reads which codes accounts have.
func (c *Cache) accountCodes(ctx context.Context, where string) (map[address.Address]accountCode, error) {
	found := map[address.Address]accountCode{}
	var workchain proto.ColInt32
	var version proto.ColUInt64
	var active proto.ColUInt8
	account, code := proto.ColFixedStr{Size: 32}, proto.ColFixedStr{Size: 32}
	result := proto.Results{
		{Name: "workchain", Data: &workchain}, {Name: "account", Data: &account}, {Name: "version", Data: &version},
		{Name: "code_hash", Data: &code}, {Name: "active", Data: &active},
	}
	statement := "SELECT workchain, account, version, code_hash, status = 'active' AS active FROM accounts WHERE " + where
	err := c.reader.Run(ctx, "directory", statement, result, func(rows int) error {
		for i := range rows {
			a := address.New(workchain[i], account.Row(i))
			if version[i] >= found[a].version {
				found[a] = accountCode{version[i], Hash(code.Row(i)), active[i] != 0}
			}
		}
		return nil
	})
	return found, err
}

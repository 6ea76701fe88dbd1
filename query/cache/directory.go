package cache

import (
	"context"
	"slices"

	"github.com/ClickHouse/ch-go/proto"
	"golang.org/x/sync/errgroup"

	"tonscribe/query/sql"
	"tonscribe/ton/address"
)

// accountCode is which code an account has, by the row with the greatest version.
type accountCode struct {
	account address.Address
	version uint64
	hash    Hash
	active  bool
}

// known is false for an active account without a code, whose code is not known yet: the
// row that tells it later is one of the same bundle.
func (a accountCode) known() bool { return !a.active || a.hash != (Hash{}) }

// accountCodes are those of the accounts with a key, nearly always of one.
type accountCodes []accountCode

// bytes is negative when the code of one is not known yet.
func (a accountCodes) bytes() int {
	for _, one := range a {
		if !one.known() {
			return -1
		}
	}
	return 24 + 88*len(a)
}

// with are the same with the code of another account, or a newer one.
func (a accountCodes) with(code accountCode) accountCodes {
	for i, old := range a {
		if old.account == code.account {
			if old.version <= code.version {
				a = slices.Clone(a)
				a[i] = code
			}
			return a
		}
	}
	return append(slices.Clip(a), code)
}

// Entry is what an address book says of an account.
type Entry struct {
	// Known reports whether the account is or was on the chain.
	Known bool
	// Code is nil when it has none.
	Code *Code
}

// Directory has an entry for every account of the list.
func (c *Cache) Directory(ctx context.Context, list []address.Address) (map[address.Address]Entry, error) {
	bundles, keys := c.Memory(), sql.KeysOf(list)
	rows, err := c.accounts.at(ctx, keys)
	if err != nil {
		return nil, err
	}
	found := make(map[address.Address]accountCode, len(list))
	for _, some := range rows {
		for _, one := range some {
			found[one.account] = one
		}
	}
	if err := addHeldCodes(ctx, bundles, found, keys); err != nil {
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

// Ahead reads side by side what Directory, Domains and, when nobody else asks, ContractsAt
// will be asked for soon, so that it is held then.
func (c *Cache) Ahead(ctx context.Context, keys []sql.AccountKey, contracts bool) {
	if c.held == nil {
		return
	}
	contracts = contracts && c.reader.Quiet()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		_, err := c.accounts.at(ctx, keys)
		return err
	})
	if named := c.namedAmong(keys, nil); len(named) > 0 {
		group.Go(func() error {
			_, err := c.names.at(ctx, named)
			return err
		})
	}
	if contracts {
		group.Go(func() error {
			_, err := c.contracts.at(ctx, keys)
			return err
		})
	}
	_ = group.Wait() // what fails here fails again for who asks
}

func (c *Cache) readAccountCodes(ctx context.Context, keys []sql.AccountKey) (map[sql.AccountKey]accountCodes, error) {
	codes, err := c.accountCodes(ctx, sql.AmongAccounts(sql.Account, keys).String())
	found := make(map[sql.AccountKey]accountCodes, len(keys))
	for a, code := range codes {
		key := sql.KeyOf(a[:])
		found[key] = append(found[key], code)
	}
	return found, err
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
				found[a] = accountCode{a, version[i], Hash(code.Row(i)), active[i] != 0}
			}
		}
		return nil
	})
	return found, err
}

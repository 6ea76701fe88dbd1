package cache

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"tonscribe/query/memory"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/schema/table"
	"tonscribe/ton/address"
	"tonscribe/ton/code"
)

// Memory has the bundles of the newest view that are newer than the tables. Who reads both
// takes it before he reads the tables: what leaves it meanwhile is in neither otherwise.
func (c *Cache) Memory() memory.Bundles {
	if v := c.newest.Load(); v != nil {
		return v.Memory
	}
	return nil
}

// Watermark is the bundle of the newest view, 0 before the first.
func (c *Cache) Watermark() uint32 {
	if v := c.newest.Load(); v != nil {
		return v.Watermark
	}
	return 0
}

// find returns the rows of a table in memory that are of one of some accounts, which
// the columns name, the oldest first.
func find(ctx context.Context, bundles memory.Bundles, name, version string, columns []string, keys []sql.AccountKey, more ...sql.Condition) ([]memory.Row, error) {
	if len(bundles) == 0 || len(keys) == 0 {
		return nil, nil
	}
	found, err := bundles.Find(ctx, name, append(sql.Conditions{sql.AmongKeys(columns, keys)}, more...))
	if len(found) > 1 {
		place, _ := table.ByName(name).Place(version)
		slices.SortStableFunc(found, func(a, b memory.Row) int { return cmp.Compare(a.Words[place.At], b.Words[place.At]) })
	}
	return found, err
}

// addHeld appends the records of accounts in memory to those that tables have: they are
// as new or newer.
func addHeld(ctx context.Context, bundles memory.Bundles, found map[sql.AccountKey]packed, name, version string, keys []sql.AccountKey) error {
	held, err := find(ctx, bundles, name, version, sql.Account, keys)
	if err != nil {
		return err
	}
	for _, row := range held {
		at := accountOf(name, row)
		found[at] = append(binary.AppendUvarint(slices.Clip(found[at]), uint64(len(row.Source))), row.Source...)
	}
	return nil
}

// accountOf is the account that a row is of.
func accountOf(name string, row memory.Row) sql.AccountKey {
	t := table.ByName(name)
	workchain, _ := t.Place(sql.Account[0])
	prefix, _ := t.Place(sql.Account[1])
	return sql.AccountKey{Workchain: int32(row.Words[workchain.At]), Prefix: row.Words[prefix.At]}
}

// addHeldCodes replaces the codes of accounts by those that they have in memory.
func addHeldCodes(ctx context.Context, bundles memory.Bundles, found map[address.Address]accountCode, keys []sql.AccountKey) error {
	held, err := find(ctx, bundles, "accounts", "version", sql.Account, keys)
	if err != nil {
		return err
	}
	version, _ := table.Accounts.Place("version")
	for _, row := range held {
		a := new(record.Account)
		if err := a.UnmarshalVT([]byte(row.Source)); err != nil || len(a.Account) != schema.AddressSize {
			return fmt.Errorf("record of an account in memory: %w", err)
		}
		has := accountCode{account: address.Address(a.Account), version: row.Words[version.At], active: a.State.GetStatus() == record.AccountStatus_ACCOUNT_ACTIVE}
		copy(has.hash[:], a.State.GetCodeHash())
		found[has.account] = has
	}
	return nil
}

// heldLinks are the DNS items in memory that name some accounts, by these.
func (c *Cache) heldLinks(ctx context.Context, accounts []sql.AccountKey) (map[sql.AccountKey]items, error) {
	key := sql.AccountColumns("key")
	held, err := find(ctx, c.Memory(), "contract_links", "mc_seqno", key, accounts, sql.Is("role", sql.Name(schema.LinkWallet.String())))
	if err != nil || len(held) == 0 {
		return nil, err
	}
	workchain, _ := table.ContractLinks.Place(key[0])
	prefix, _ := table.ContractLinks.Place(key[1])
	links := map[sql.AccountKey]items{}
	for _, row := range held {
		named := sql.AccountKey{Workchain: int32(row.Words[workchain.At]), Prefix: row.Words[prefix.At]}
		links[named] = append(links[named], accountOf("contract_links", row))
	}
	return links, nil
}

// heldCodes are the codes in memory that have some hashes.
func heldCodes(ctx context.Context, bundles memory.Bundles, hashes []Hash) ([]*record.Code, error) {
	if len(bundles) == 0 || len(hashes) == 0 {
		return nil, nil
	}
	rows, err := bundles.Find(ctx, "codes", sql.Conditions{HashesIn(hashes)})
	if err != nil {
		return nil, err
	}
	found := make([]*record.Code, len(rows))
	for i, row := range rows {
		found[i] = new(record.Code)
		if err := found[i].UnmarshalVT([]byte(row.Source)); err != nil {
			return nil, fmt.Errorf("record of a code in memory: %w", err)
		}
	}
	return found, nil
}

// codeOf is what is known of a code.
func codeOf(hash Hash, methods []uint32, known bool) *Code {
	one := unknownCode(hash)
	if known {
		one.Methods = append([]uint32{}, methods...)
		one.Interfaces = code.Interfaces(one.Hash, one.Methods)
	}
	return one
}

package cache

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/ClickHouse/ch-go/proto"

	"tonscribe/query/memory"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// packed are the records of the accounts with a key, each after its length, the newest
// of an account last.
type packed []byte

func (p packed) bytes() int { return cap(p) + 24 }

// States are the newest states of the accounts with some keys.
func (c *Cache) States(ctx context.Context, keys []sql.AccountKey) (map[address.Address]*record.Account, error) {
	bundles := c.Memory()
	found, err := c.states.at(ctx, keys)
	if err != nil {
		return nil, err
	}
	if err := addHeld(ctx, bundles, found, "accounts", "version", keys); err != nil {
		return nil, err
	}
	return unpack[record.Account](found)
}

// ContractsAt are the newest facts of the accounts with some keys, in the tables and in
// what was in memory before; contracts that are nothing any more are left out.
func (c *Cache) ContractsAt(ctx context.Context, bundles memory.Bundles, keys []sql.AccountKey) (map[address.Address]*record.Contract, error) {
	found, err := c.contracts.at(ctx, keys)
	if err != nil {
		return nil, err
	}
	if err := addHeld(ctx, bundles, found, "contracts", "mc_seqno", keys); err != nil {
		return nil, err
	}
	newest, err := unpack[record.Contract](found)
	for a, contract := range newest {
		if schema.RolesOf(contract) == 0 {
			delete(newest, a)
		}
	}
	return newest, err
}

// unpack returns the newest record of each account: others may share its first 64 bits.
func unpack[T any, R interface {
	*T
	UnmarshalVT(record []byte) error
	GetAccount() []byte
}](found map[sql.AccountKey]packed) (map[address.Address]R, error) {
	newest := make(map[address.Address]R, len(found))
	for _, rest := range found {
		for len(rest) > 0 {
			size, n := binary.Uvarint(rest)
			r := R(new(T))
			if err := r.UnmarshalVT(rest[n : n+int(size)]); err != nil {
				return nil, fmt.Errorf("record of an account: %w", err)
			}
			if len(r.GetAccount()) != schema.AddressSize {
				return nil, fmt.Errorf("record of an account of %d bytes", len(r.GetAccount()))
			}
			newest[address.Address(r.GetAccount())], rest = r, rest[n+int(size):]
		}
	}
	return newest, nil
}

func (c *Cache) readStates(ctx context.Context, keys []sql.AccountKey) (map[sql.AccountKey]packed, error) {
	return c.readRecords(ctx, "accounts", "version", keys)
}

func (c *Cache) readContracts(ctx context.Context, keys []sql.AccountKey) (map[sql.AccountKey]packed, error) {
	return c.readRecords(ctx, "contracts", "mc_seqno", keys)
}

// readRecords reads a table of records of accounts, of which the one with the greatest
// version is the newest.
func (c *Cache) readRecords(ctx context.Context, table, version string, keys []sql.AccountKey) (map[sql.AccountKey]packed, error) {
	type row struct {
		version uint64
		packed
	}
	read := make(map[sql.AccountKey][]row, len(keys))
	var workchain proto.ColInt32
	var prefix, versions proto.ColUInt64
	var column proto.ColStr
	result := proto.Results{{Name: "workchain", Data: &workchain}, {Name: "account_prefix", Data: &prefix}, {Name: "v", Data: &versions}, {Name: "record", Data: &column}}
	statement := fmt.Sprintf("SELECT workchain, account_prefix, toUInt64(%s) AS v, record FROM %s WHERE %s", version, table, sql.AmongAccounts(sql.Account, keys))
	err := c.reader.Run(ctx, table, statement, result, func(rows int) error {
		for i := range rows {
			at, raw := sql.AccountKey{Workchain: workchain[i], Prefix: prefix[i]}, column.RowBytes(i)
			p := append(binary.AppendUvarint(make(packed, 0, len(raw)+binary.MaxVarintLen32), uint64(len(raw))), raw...)
			read[at] = append(read[at], row{versions[i], p})
		}
		return nil
	})
	found := make(map[sql.AccountKey]packed, len(read))
	for at, rows := range read {
		slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.version, b.version) })
		for _, r := range rows {
			if found[at] == nil {
				found[at] = r.packed
			} else {
				found[at] = append(found[at], r.packed...)
			}
		}
	}
	return found, err
}

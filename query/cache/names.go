package cache

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"tonscribe/query/list/contract"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// items are the DNS items that gave the accounts with a key their names; there may be
// thousands that do not. Another one that comes to name an account is a change of
// contract_links; one of these that does so no more is found out when the name is wanted.
type items []sql.AccountKey

func (n items) bytes() int { return 16 * len(n) }

// Domains are the shortest names of those of the accounts that own a name whose record
// wallet is the account.
func (c *Cache) Domains(ctx context.Context, accounts []address.Address) (map[address.Address]string, error) {
	upTo, err := c.current(ctx)
	if err != nil {
		return nil, err
	}
	keys := sql.KeysOf(accounts)
	held, err := c.heldLinks(ctx, keys)
	if err != nil {
		return nil, err
	}
	wanted := c.namedAmong(keys, held)
	if len(wanted) == 0 {
		return nil, nil
	}
	found, err := c.names.at(ctx, wanted)
	if err != nil {
		return nil, err
	}
	for at, links := range held {
		found[at] = slices.Concat(found[at], links)
	}
	best, err := c.bestNames(ctx, found, itemsOf(found))
	if err != nil {
		return nil, err
	}
	owners := map[sql.AccountKey]int{}
	for a := range best {
		owners[sql.KeyOf(a[:])]++
	}
	var lost []sql.AccountKey
	for at, items := range found {
		if owners[at] < len(items) {
			lost = append(lost, at)
		}
	}
	if len(lost) > 0 {
		if found, err = c.names.fresh(ctx, lost, upTo); err != nil {
			return nil, err
		}
		for _, at := range lost {
			found[at] = slices.Concat(found[at], held[at])
		}
		others, err := c.bestNames(ctx, found, itemsOf(found))
		if err != nil {
			return nil, err
		}
		maps.Copy(best, others)
	}
	domains := make(map[address.Address]string, len(best))
	for a, item := range best {
		domains[a] = item.NftItem.Dns.Domain
	}
	return domains, nil
}

// namedAmong are those of some accounts that items name, in the tables or in memory.
func (c *Cache) namedAmong(keys []sql.AccountKey, held map[sql.AccountKey]items) (named []sql.AccountKey) {
	c.dropping.RLock()
	defer c.dropping.RUnlock()
	for _, k := range keys {
		if _, ok := c.named[k]; ok || held[k] != nil {
			named = append(named, k)
		}
	}
	return named
}

func itemsOf(found map[sql.AccountKey]items) items {
	return slices.Concat(slices.Collect(maps.Values(found))...)
}

// bestNames returns, for those of the wanted accounts that own some of the items and are
// named by them, the one with the shortest name.
func (c *Cache) bestNames(ctx context.Context, wanted map[sql.AccountKey]items, among items) (map[address.Address]*record.Contract, error) {
	contracts, err := c.ContractsAt(ctx, c.Memory(), among)
	best := map[address.Address]*record.Contract{}
	for _, item := range contracts {
		owner := item.NftItem.GetOwner()
		if item.NftItem.GetDns() == nil || len(owner) != schema.AddressSize || string(owner) != string(item.NftItem.Dns.Wallet) {
			continue
		}
		_, asked := wanted[sql.KeyOf(owner)]
		if old := best[address.Address(owner)]; asked && (old == nil || contract.CompareNames(item, old) < 0) {
			best[address.Address(owner)] = item
		}
	}
	return best, err
}

func (c *Cache) readNames(ctx context.Context, accounts []sql.AccountKey) (map[sql.AccountKey]items, error) {
	at, err := accountKeys(ctx, c.reader, fmt.Sprintf("SELECT workchain, account_prefix FROM contract_links WHERE role = '%s' AND %s", schema.LinkWallet, sql.AmongAccounts(sql.AccountColumns("key"), accounts)))
	if err != nil {
		return nil, err
	}
	found := make(map[sql.AccountKey]items, len(accounts))
	for _, a := range accounts {
		found[a] = nil // it may have none
	}
	best, err := c.bestNames(ctx, found, at)
	for a, item := range best {
		key := sql.KeyOf(a[:])
		found[key] = append(found[key], sql.KeyOf(item.Account))
	}
	return found, err
}

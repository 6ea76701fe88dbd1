package contract

import (
	"context"

	"tonscribe/query/list/paging"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// VestingFilter says which vesting contracts are wanted; the zero value means
// all.
type VestingFilter struct {
	Addresses, Wallets []address.Address
	// Whitelisted counts whom a contract may send to, too.
	Whitelisted bool
}

// Vestings is a page of the list, and whether there are more after it.
func (l *Lists) Vestings(ctx context.Context, f *VestingFilter, page paging.Page, after *Key) ([]*record.Contract, bool, error) {
	return l.contractPage(ctx, f.list(), page, after)
}

func (f *VestingFilter) list() *contractList {
	list := linkList(schema.LinkVesting, f.Wallets, len(f.Wallets) == 0)
	list.addresses = f.Addresses
	list.match = func(c *record.Contract) bool {
		v := c.Vesting
		return v != nil && paging.HasAddress(f.Addresses, c.Account) &&
			(len(f.Wallets) == 0 || paging.HasAddress(f.Wallets, v.Owner) || paging.HasAddress(f.Wallets, v.Sender) || f.Whitelisted && paging.HasAny(f.Wallets, v.Whitelist))
	}
	if f.Whitelisted {
		list.ranges = append(list.ranges, linkRanges(schema.LinkWhitelist, sql.KeysOf(paging.Somebody(f.Wallets)))...)
	}
	return list
}

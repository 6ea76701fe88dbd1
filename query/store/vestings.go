package store

import (
	"context"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// VestingFilter says which vesting contracts are wanted; the zero value means
// all.
type VestingFilter struct {
	Addresses, Wallets []Address
	// Whitelisted counts whom a contract may send to, too.
	Whitelisted bool
}

// Vestings is a page of the list, and whether there are more after it.
func (s *Store) Vestings(ctx context.Context, f *VestingFilter, page Page, after *ContractKey) ([]*record.Contract, bool, error) {
	page.Descending = false
	l := &contractList{
		order: firstIndexed, page: page, after: after, addresses: f.Addresses, keyOf: keyOfFirst,
		match: func(c *record.Contract) bool {
			v := c.Vesting
			return v != nil && hasAddress(f.Addresses, c.Account) &&
				(len(f.Wallets) == 0 || hasAddress(f.Wallets, v.Owner) || hasAddress(f.Wallets, v.Sender) || f.Whitelisted && hasAny(f.Wallets, v.Whitelist))
		},
		plan: linkPlan(schema.LinkVesting, f.Wallets, len(f.Wallets) == 0),
	}
	if f.Whitelisted {
		l.plan.pieces = append(l.plan.pieces, linkPlan(schema.LinkWhitelist, f.Wallets, false).pieces...)
	}
	return s.contractPage(ctx, l)
}

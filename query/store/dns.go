package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// DNSKey is a place in a list of names: a name can be long, so its item stands
// for it.
type DNSKey struct {
	Length uint32
	Item   Address
}

// DNSFilter has one of both.
type DNSFilter struct {
	Domain string
	Wallet *Address
}

// AllNames is a page of the list of all DNS items, the first indexed first.
func (s *Store) AllNames(ctx context.Context, page Page, after *ContractKey) ([]*record.Contract, bool, error) {
	return s.contractPage(ctx, &contractList{
		order: firstIndexed, page: page, after: after, keyOf: keyOfFirst, plan: linkPlan(schema.LinkWallet, nil, true),
		match: func(c *record.Contract) bool { return c.NftItem.GetDns() != nil },
	})
}

// mostNames is how many names one account may have before the list is refused.
const mostNames = 20_000

// Names is a page of the list of DNS items, and whether there are more after it:
// the shortest first, then by text.
func (s *Store) Names(ctx context.Context, f *DNSFilter, page Page, after *DNSKey) ([]*record.Contract, bool, error) {
	match := func(c *record.Contract) bool { return c.NftItem.GetDns() != nil && c.NftItem.Dns.Domain == f.Domain }
	var plan contractPlan
	if f.Wallet != nil {
		match = func(c *record.Contract) bool {
			return c.NftItem.GetDns() != nil && string(c.NftItem.Dns.Wallet) == string(f.Wallet[:])
		}
		plan = linkPlan(schema.LinkWallet, []Address{*f.Wallet}, false)
	} else {
		plan = linkPlan(schema.LinkDomain, []Address{{}}, false)
		plan.pieces[0].conditions = conditions{fmt.Sprintf("role = '%s' AND key_workchain = 0 AND key_prefix = %d", schema.LinkDomain, schema.DomainPrefix(f.Domain))}
	}
	list, more, err := s.contractPage(ctx, &contractList{order: firstIndexed, page: Page{Limit: mostNames}, match: match, keyOf: keyOfFirst, plan: plan})
	if err != nil {
		return nil, false, err
	}
	if more {
		return nil, false, fmt.Errorf("%w: the account has more than %d names", ErrTooHeavy, mostNames)
	}
	slices.SortFunc(list, compareNames)
	if after != nil {
		at := slices.IndexFunc(list, func(c *record.Contract) bool { return Address(c.Account) == after.Item }) + 1
		if at == 0 { // it has another owner now
			at, _ = slices.BinarySearchFunc(list, int(after.Length), func(c *record.Contract, length int) int { return len(c.NftItem.Dns.Domain) - length })
		}
		list = list[at:]
	}
	list = list[min(page.Offset, len(list)):]
	if len(list) > page.Limit {
		return list[:page.Limit], true, nil
	}
	return list, false, nil
}

func compareNames(a, b *record.Contract) int {
	x, y := a.NftItem.Dns.Domain, b.NftItem.Dns.Domain
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y), compareAddresses(Address(a.Account), Address(b.Account)))
}

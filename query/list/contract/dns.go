package contract

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"tonscribe/internal/clickhouse"
	"tonscribe/query/list/paging"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// DNSKey is the key of a name in a list: a name can be long, so its item stands
// for it.
type DNSKey struct {
	Length uint32
	Item   address.Address
}

// DNSFilter has one of both.
type DNSFilter struct {
	Domain string
	Wallet *address.Address
}

// AllNames is a page of the list of all DNS items, the first indexed first.
func (l *Lists) AllNames(ctx context.Context, page paging.Page, after *Key) ([]*record.Contract, bool, error) {
	return l.contractPage(ctx, allNames(), page, after)
}

func allNames() *contractList {
	list := linkList(schema.LinkWallet, nil, true)
	list.match = func(c *record.Contract) bool { return c.NftItem.GetDns() != nil }
	return list
}

func (f *DNSFilter) list() *contractList {
	if f.Wallet == nil {
		list := linkList(schema.LinkDomain, nil, false)
		list.ranges = linkRanges(schema.LinkDomain, []sql.AccountKey{{Prefix: schema.DomainPrefix(f.Domain)}})
		list.match = func(c *record.Contract) bool { return c.NftItem.GetDns() != nil && c.NftItem.Dns.Domain == f.Domain }
		return list
	}
	list := linkList(schema.LinkWallet, []address.Address{*f.Wallet}, false)
	list.match = func(c *record.Contract) bool {
		return c.NftItem.GetDns() != nil && string(c.NftItem.Dns.Wallet) == string(f.Wallet[:])
	}
	return list
}

// maxNames is how many names one account may have before the list is refused.
const maxNames = 20_000

// Names is a page of the list of DNS items, and whether there are more after it:
// the shortest first, then by text.
func (l *Lists) Names(ctx context.Context, f *DNSFilter, page paging.Page, after *DNSKey) ([]*record.Contract, bool, error) {
	list, more, err := l.contractPage(ctx, f.list(), paging.Page{Limit: maxNames}, nil)
	if err != nil {
		return nil, false, err
	}
	if more {
		return nil, false, fmt.Errorf("%w: the account has more than %d names", clickhouse.ErrTooHeavy, maxNames)
	}
	slices.SortFunc(list, CompareNames)
	if after != nil {
		at := slices.IndexFunc(list, func(c *record.Contract) bool { return address.Address(c.Account) == after.Item }) + 1
		if at == 0 { // it has another owner now
			at, _ = slices.BinarySearchFunc(list, int(after.Length), func(c *record.Contract, length int) int { return len(c.NftItem.Dns.Domain) - length })
		}
		list = list[at:]
	}
	list = list[min(page.Offset, len(list)):]
	return list[:min(page.Limit, len(list))], len(list) > page.Limit, nil
}

// CompareNames is the order of names: the shortest first, then by text.
func CompareNames(a, b *record.Contract) int {
	x, y := a.NftItem.Dns.Domain, b.NftItem.Dns.Domain
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y), paging.CompareAddresses(address.Address(a.Account), address.Address(b.Account)))
}

package contract

import (
	"context"
	"math/big"
	"slices"
	"strings"

	"tonscribe/query/list/paging"
	"tonscribe/query/list/plan"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// NFTCollectionFilter says which collections are wanted; the zero value means
// all.
type NFTCollectionFilter struct {
	Addresses, Owners []address.Address
}

// NFTCollections is a page of the list, and whether there are more after it.
func (l *Lists) NFTCollections(ctx context.Context, f *NFTCollectionFilter, page paging.Page, after *Key) ([]*record.Contract, bool, error) {
	return l.contractPage(ctx, f.list(), page, after)
}

func (f *NFTCollectionFilter) list() *contractList {
	return &contractList{
		table: "nft_collections", seqno: "first_mc_seqno", order: firstIndexed, keyOf: keyOfFirst, addresses: f.Addresses,
		match: func(c *record.Contract) bool {
			return c.NftCollection != nil && paging.HasAddress(f.Addresses, c.Account) && paging.HasAddress(f.Owners, c.NftCollection.Owner)
		},
		ranges: rangesOf("owner", f.Owners, active), stays: len(f.Owners) == 0, fixed: len(f.Owners) == 0,
	}
}

// NFTItemFilter says which items are wanted; the zero value means all.
type NFTItemFilter struct {
	Addresses, Owners, Collections []address.Address
	// Indexes of items, with Collections only.
	Indexes []Number
	// OnSale counts sellers as owners too.
	OnSale bool
	// ByLt puts the items that changed last first.
	ByLt bool
}

func (f *NFTItemFilter) order() contractOrder {
	switch {
	case f.ByLt:
		return contractOrder{fields: []keyField{bySeqno, byAccount}, descending: true}
	case len(f.Addresses) > 0:
		return contractOrder{fields: []keyField{byAccount}}
	case len(f.Owners) > 0:
		return contractOrder{fields: []keyField{byOwner, byParent, byNumber, byAccount}}
	case len(f.Collections) > 0:
		return contractOrder{fields: []keyField{byParent, byNumber, byAccount}}
	}
	return firstIndexed
}

func (f *NFTItemFilter) match(c *record.Contract) bool {
	i := c.NftItem
	return i != nil && paging.HasAddress(f.Addresses, c.Account) && paging.HasAddress(f.Collections, i.Collection) &&
		(paging.HasAddress(f.Owners, i.Owner) || f.OnSale && paging.HasAddress(f.Owners, i.RealOwner)) &&
		(len(f.Indexes) == 0 || slices.Contains(f.Indexes, NumberOf(i.Index)))
}

// KeyOf returns the key of an item in the list.
func (f *NFTItemFilter) KeyOf(c *record.Contract) Key {
	i := c.NftItem
	k := Key{Account: address.Address(c.Account), Seqno: uint64(c.FirstMcSeqno)}
	if f.ByLt {
		k.Seqno = c.LastTransLt
		return k
	}
	k.Parent, k.Number = paging.AddressOf(i.GetCollection()), NumberOf(i.GetIndex())
	if k.Owner = paging.AddressOf(i.GetOwner()); !paging.HasAddress(f.Owners, i.GetOwner()) {
		k.Owner = paging.AddressOf(i.GetRealOwner())
	}
	return k
}

// NFTItems is a page of the list, and whether there are more after it.
func (l *Lists) NFTItems(ctx context.Context, f *NFTItemFilter, page paging.Page, after *Key) ([]*record.Contract, bool, error) {
	return l.contractPage(ctx, f.list(), page, after)
}

func (f *NFTItemFilter) list() *contractList {
	l := &contractList{table: "nft_items", order: f.order(), addresses: f.Addresses, match: f.match, keyOf: f.KeyOf}
	switch {
	case f.ByLt:
		l.seqno = "lt"
	case len(f.Owners) > 0 || len(f.Collections) > 0:
		l.parent, l.number = "collection", "item_index"
	default:
		l.seqno = "first_mc_seqno"
	}
	if len(f.Owners) > 0 {
		l.ranges = f.ownerRanges()
		l.whole = f.ByLt && len(f.Collections) > 0 // there are by index only
	} else {
		l.ranges = rangesOf("collection", f.Collections, active)
		l.stays, l.fixed = true, len(f.Collections) == 0 && !f.ByLt
	}
	if len(f.Indexes) > 0 {
		indexes := make([]sql.Uint256, len(f.Indexes))
		for i, n := range f.Indexes {
			indexes[i] = n
		}
		restrict(l.ranges, sql.Any("item_index", indexes))
		l.whole = f.ByLt
	}
	return l
}

// ownerRanges are the ranges of the owners, and of them as sellers.
func (f *NFTItemFilter) ownerRanges() []plan.Range {
	ranges := rangesOf("owner", f.Owners)
	if f.OnSale {
		ranges = append(ranges, rangesOf("seller", f.Owners)...)
		slices.SortStableFunc(ranges, func(a, b plan.Range) int { return a.Owner.Compare(b.Owner) })
	}
	if len(f.Collections) > 0 {
		restrict(ranges, sql.AmongAccounts(sql.AccountColumns("collection"), sql.KeysOf(f.Collections))...)
	}
	return ranges
}

// maxDigits is how many digits a number of 256 bits has.
const maxDigits = 78

// ParseNumber reads an unsigned decimal of up to 256 bits. The time that a longer one
// takes grows with the square of its length.
func ParseNumber(text string) (n Number, ok bool) {
	digits := len(strings.TrimLeft(text, "0"))
	if digits > maxDigits {
		return n, false
	}
	text = text[max(len(text)-digits-1, 0):] // with one zero, which may be all
	v, ok := new(big.Int).SetString(text, 10)
	if !ok || v.Sign() < 0 || v.BitLen() > 256 {
		return n, false
	}
	v.FillBytes(n[:])
	return n, true
}

// Sales are those of the accounts that are sales, auctions or items of Telegram.
func (l *Lists) Sales(ctx context.Context, list []address.Address) ([]*record.Contract, error) {
	found, err := l.Contracts(ctx, list)
	if err != nil {
		return nil, err
	}
	var sales []*record.Contract
	for _, c := range found {
		if schema.RolesOf(c)&(schema.RoleSale|schema.RoleAuction|schema.RoleTelemint) != 0 {
			sales = append(sales, c)
		}
	}
	kind := func(c *record.Contract) int {
		switch {
		case c.Sale != nil:
			return 0
		case c.Auction != nil:
			return 1
		}
		return 2
	}
	slices.SortFunc(sales, func(a, b *record.Contract) int {
		if d := kind(a) - kind(b); d != 0 {
			return d
		}
		return paging.CompareAddresses(address.Address(a.Account), address.Address(b.Account))
	})
	return sales, nil
}

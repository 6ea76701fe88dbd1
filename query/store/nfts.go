package store

import (
	"context"
	"math/big"
	"slices"
	"strings"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// NFTCollectionFilter says which collections are wanted; the zero value means
// all.
type NFTCollectionFilter struct {
	Addresses, Owners []Address
}

// NFTCollections is a page of the list, and whether there are more after it.
func (s *Store) NFTCollections(ctx context.Context, f *NFTCollectionFilter, page Page, after *ContractKey) ([]*record.Contract, bool, error) {
	l := &contractList{
		order: firstIndexed, page: page, after: after, addresses: f.Addresses, keyOf: keyOfFirst,
		match: func(c *record.Contract) bool {
			return c.NftCollection != nil && hasAddress(f.Addresses, c.Account) && hasAddress(f.Owners, c.NftCollection.Owner)
		},
		plan: contractPlan{table: "nft_collections", columns: contractColumns{seqno: "first_mc_seqno"}, stays: len(f.Owners) == 0, fixed: len(f.Owners) == 0},
	}
	l.plan.pieces = piecesOf("owner", f.Owners, "active")
	return s.contractPage(ctx, l)
}

// NFTItemFilter says which items are wanted; the zero value means all.
type NFTItemFilter struct {
	Addresses, Owners, Collections []Address
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
	return i != nil && hasAddress(f.Addresses, c.Account) && hasAddress(f.Collections, i.Collection) &&
		(hasAddress(f.Owners, i.Owner) || f.OnSale && hasAddress(f.Owners, i.RealOwner)) &&
		(len(f.Indexes) == 0 || slices.Contains(f.Indexes, NumberOf(i.Index)))
}

// KeyOf is the place of an item in the list.
func (f *NFTItemFilter) KeyOf(c *record.Contract) ContractKey {
	i := c.NftItem
	k := ContractKey{Account: Address(c.Account), Seqno: uint64(c.FirstMcSeqno)}
	if f.ByLt {
		k.Seqno = c.LastTransLt
		return k
	}
	k.Parent, k.Number = addressOf(i.GetCollection()), NumberOf(i.GetIndex())
	if k.Owner = addressOf(i.GetOwner()); !hasAddress(f.Owners, i.GetOwner()) {
		k.Owner = addressOf(i.GetRealOwner())
	}
	return k
}

// NFTItems is a page of the list, and whether there are more after it.
func (s *Store) NFTItems(ctx context.Context, f *NFTItemFilter, page Page, after *ContractKey) ([]*record.Contract, bool, error) {
	l := &contractList{
		order: f.order(), page: page, after: after, addresses: f.Addresses, match: f.match, keyOf: f.KeyOf,
		plan: contractPlan{table: "nft_items"},
	}
	p := &l.plan
	switch {
	case f.ByLt:
		p.columns.seqno = "lt"
	case len(f.Owners) > 0 || len(f.Collections) > 0:
		p.columns = contractColumns{parent: "collection", number: "item_index"}
	default:
		p.columns.seqno = "first_mc_seqno"
	}
	if len(f.Owners) > 0 {
		p.pieces = f.ownerPieces()
		p.whole = f.ByLt && len(f.Collections) > 0 // there are by index only
	} else {
		p.pieces = piecesOf("collection", f.Collections, "active")
		p.stays, p.fixed = true, len(f.Collections) == 0 && !f.ByLt
	}
	if len(f.Indexes) > 0 {
		for i := range p.pieces {
			p.pieces[i].conditions.add("item_index IN (%s)", numbers(f.Indexes))
		}
		p.whole = f.ByLt
	}
	return s.contractPage(ctx, l)
}

// ownerPieces are the ranges of the owners, and of them as sellers.
func (f *NFTItemFilter) ownerPieces() []piece {
	pieces := piecesOf("owner", f.Owners, "")
	if f.OnSale {
		pieces = append(pieces, piecesOf("seller", f.Owners, "")...)
		slices.SortStableFunc(pieces, func(a, b piece) int { return a.owner.compare(b.owner) })
	}
	if len(f.Collections) > 0 {
		for i := range pieces {
			pieces[i].conditions.add("%s", accounts("collection_workchain", "collection_prefix", f.Collections))
		}
	}
	return pieces
}

func numbers(list []Number) string {
	texts := make([]string, len(list))
	for i, n := range list {
		texts[i] = numberLiteral(n)
	}
	return strings.Join(texts, ",")
}

// ParseNumber reads an unsigned decimal of up to 256 bits.
func ParseNumber(text string) (n Number, ok bool) {
	v, ok := new(big.Int).SetString(text, 10)
	if !ok || v.Sign() < 0 || v.BitLen() > 256 {
		return n, false
	}
	v.FillBytes(n[:])
	return n, true
}

// Sales are those of the accounts that are sales, auctions or items of Telegram.
func (s *Store) Sales(ctx context.Context, list []Address) ([]*record.Contract, error) {
	found, err := s.Contracts(ctx, list)
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
		return compareAddresses(Address(a.Account), Address(b.Account))
	})
	return sales, nil
}

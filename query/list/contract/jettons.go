package contract

import (
	"context"

	"tonscribe/query/list/paging"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// JettonMasterFilter says which jetton masters are wanted; the zero value means
// all.
type JettonMasterFilter struct {
	Addresses, Admins []address.Address
}

// firstIndexed is the order in which contracts became known.
var firstIndexed = contractOrder{fields: []keyField{bySeqno, byAccount}}

func keyOfFirst(c *record.Contract) Key {
	return Key{Seqno: uint64(c.FirstMcSeqno), Account: address.Address(c.Account)}
}

// JettonMasters is a page of the list, and whether there are more after it. With
// after, the list begins behind that key.
func (l *Lists) JettonMasters(ctx context.Context, f *JettonMasterFilter, page paging.Page, after *Key) ([]*record.Contract, bool, error) {
	return l.contractPage(ctx, f.list(), page, after)
}

func (f *JettonMasterFilter) list() *contractList {
	return &contractList{
		table: "jetton_masters", seqno: "first_mc_seqno", order: firstIndexed, keyOf: keyOfFirst, addresses: f.Addresses,
		match: func(c *record.Contract) bool {
			return c.JettonMaster != nil && paging.HasAddress(f.Addresses, c.Account) && paging.HasAddress(f.Admins, c.JettonMaster.Admin)
		},
		ranges: rangesOf("admin", f.Admins, active), stays: len(f.Admins) == 0, fixed: len(f.Admins) == 0,
	}
}

// JettonWalletFilter says which jetton wallets are wanted; the zero value means
// all.
type JettonWalletFilter struct {
	Addresses, Owners, Masters []address.Address
	// ExcludeZero leaves out wallets that neither have a balance nor, as far as that is
	// known, something to claim.
	ExcludeZero bool
	// ByBalance is false for the order in which they became known.
	ByBalance bool
	// claims are those without a balance that have something to claim.
	claims map[address.Address]struct{}
}

// order is that of the contract (2.4, /jetton/wallets): the first filter of
// master, owner, address tells it.
func (f *JettonWalletFilter) order(descending bool) contractOrder {
	o := firstIndexed
	if f.ByBalance {
		o = contractOrder{fields: []keyField{byNumber, byAccount}, descending: descending}
	}
	switch {
	case len(f.Masters) == 1:
	case len(f.Owners) > 0:
		o.fields = append([]keyField{byOwner}, o.fields...)
	case len(f.Addresses) > 0:
		o = contractOrder{fields: []keyField{byAccount}}
	}
	return o
}

func (f *JettonWalletFilter) match(c *record.Contract) bool {
	w := c.JettonWallet
	if w == nil || !paging.HasAddress(f.Addresses, c.Account) || !paging.HasAddress(f.Owners, w.Owner) || !paging.HasAddress(f.Masters, w.Master) {
		return false
	}
	_, claims := f.claims[address.Address(c.Account)]
	return !f.ExcludeZero || NumberOf(w.Balance) != Number{} || claims
}

// JettonWalletKey returns the key of a jetton wallet in any list of them.
func JettonWalletKey(c *record.Contract) Key {
	return Key{
		Owner: paging.AddressOf(c.JettonWallet.GetOwner()), Number: NumberOf(c.JettonWallet.GetBalance()),
		Seqno: uint64(schema.WalletSince(c)), Account: address.Address(c.Account),
	}
}

// JettonWallets is a page of the list, and whether there are more after it.
func (l *Lists) JettonWallets(ctx context.Context, f *JettonWalletFilter, page paging.Page, after *Key) ([]*record.Contract, bool, error) {
	list := f.list(page.Descending)
	if f.ExcludeZero {
		if err := l.addClaims(ctx, f, list); err != nil {
			return nil, false, err
		}
	}
	return l.contractPage(ctx, list, page, after)
}

func (f *JettonWalletFilter) list(descending bool) *contractList {
	l := &contractList{
		table: "jetton_wallets", number: "balance", seqno: "first_mc_seqno",
		order: f.order(descending), addresses: f.Addresses, match: f.match, keyOf: JettonWalletKey,
	}
	if len(f.Owners) > 0 {
		l.ranges = rangesOf("owner", f.Owners)
		if len(f.Masters) > 0 {
			restrict(l.ranges, sql.AmongAccounts(sql.AccountColumns("master"), sql.KeysOf(f.Masters))...)
		}
	} else {
		l.ranges = rangesOf("master", f.Masters, active)
		l.stays, l.fixed = true, !f.ByBalance && !f.ExcludeZero
	}
	if f.ExcludeZero {
		restrict(l.ranges, sql.Above("balance", 0))
	}
	return l
}

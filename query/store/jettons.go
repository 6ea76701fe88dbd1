package store

import (
	"context"
	"slices"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// JettonMasterFilter says which jetton masters are wanted; the zero value means
// all.
type JettonMasterFilter struct {
	Addresses, Admins []Address
}

// firstIndexed is the order in which contracts became known.
var firstIndexed = contractOrder{fields: []keyField{bySeqno, byAccount}}

func keyOfFirst(c *record.Contract) ContractKey {
	return ContractKey{Seqno: uint64(c.FirstMcSeqno), Account: Address(c.Account)}
}

// JettonMasters is a page of the list, and whether there are more after it. With
// after, the list begins behind that place.
func (s *Store) JettonMasters(ctx context.Context, f *JettonMasterFilter, page Page, after *ContractKey) ([]*record.Contract, bool, error) {
	l := &contractList{
		order: firstIndexed, page: page, after: after, addresses: f.Addresses, keyOf: keyOfFirst,
		match: func(c *record.Contract) bool {
			return c.JettonMaster != nil && hasAddress(f.Addresses, c.Account) && hasAddress(f.Admins, c.JettonMaster.Admin)
		},
		plan: contractPlan{table: "jetton_masters", columns: contractColumns{seqno: "first_mc_seqno"}},
	}
	l.plan.pieces = piecesOf("admin", f.Admins, "active")
	l.plan.stays, l.plan.fixed = len(f.Admins) == 0, len(f.Admins) == 0
	return s.contractPage(ctx, l)
}

// hasAddress says that an address is in a list, or that the list says nothing.
func hasAddress(list []Address, a []byte) bool {
	return len(list) == 0 || len(a) == schema.AddressSize && slices.Contains(list, Address(a))
}

// piecesOf are the ranges of some accounts in the columns of a name; without
// accounts it is all that a condition holds for.
func piecesOf(name string, list []Address, all string) []piece {
	if len(list) == 0 {
		return []piece{{conditions: conditions{all}}}
	}
	list = slices.Clone(list)
	slices.SortFunc(list, compareAddresses)
	pieces := make([]piece, len(list))
	for i, a := range list {
		pieces[i] = piece{
			owner: spotOf(a[:]), key: spotOf(a[:]), leading: []string{name + "_workchain", name + "_prefix"},
			conditions: conditions{account(name+"_workchain", name+"_prefix", a)},
		}
	}
	return pieces
}

// JettonWalletFilter says which jetton wallets are wanted; the zero value means
// all.
type JettonWalletFilter struct {
	Addresses, Owners, Masters []Address
	ExcludeZero                bool
	// ByBalance is false for the order in which they became known.
	ByBalance bool
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
	return w != nil && hasAddress(f.Addresses, c.Account) && hasAddress(f.Owners, w.Owner) && hasAddress(f.Masters, w.Master) &&
		(!f.ExcludeZero || NumberOf(w.Balance) != Number{})
}

// JettonWalletKey is the place of a jetton wallet in any list of them.
func JettonWalletKey(c *record.Contract) ContractKey {
	k := keyOfFirst(c)
	k.Number = NumberOf(c.JettonWallet.GetBalance())
	k.Owner = addressOf(c.JettonWallet.GetOwner())
	return k
}

// JettonWallets is a page of the list, and whether there are more after it.
func (s *Store) JettonWallets(ctx context.Context, f *JettonWalletFilter, page Page, after *ContractKey) ([]*record.Contract, bool, error) {
	l := &contractList{
		order: f.order(page.Descending), page: page, after: after, addresses: f.Addresses, match: f.match, keyOf: JettonWalletKey,
		plan: contractPlan{table: "jetton_wallets", columns: contractColumns{number: "balance", seqno: "first_mc_seqno"}},
	}
	if f.ByBalance {
		l.plan.columns.seqno = ""
	} else {
		l.plan.columns.number = ""
	}
	switch {
	case len(f.Owners) > 0:
		l.plan.pieces = piecesOf("owner", f.Owners, "")
		if len(f.Masters) > 0 {
			for i := range l.plan.pieces {
				l.plan.pieces[i].conditions.add("%s", accounts("master_workchain", "master_prefix", f.Masters))
			}
		}
	default:
		l.plan.pieces = piecesOf("master", f.Masters, "active")
		l.plan.stays, l.plan.fixed = true, !f.ByBalance && !f.ExcludeZero
	}
	if f.ExcludeZero {
		for i := range l.plan.pieces {
			l.plan.pieces[i].conditions.add("balance > 0")
		}
	}
	return s.contractPage(ctx, l)
}

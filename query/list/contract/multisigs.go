package contract

import (
	"context"
	"slices"

	"tonscribe/query/list/paging"
	"tonscribe/query/list/plan"
	"tonscribe/query/reader"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// MultisigFilter says which multisigs, or orders, are wanted; the zero value means
// all.
type MultisigFilter struct {
	Addresses []address.Address
	// Members are signers or proposers of multisigs; Multisigs those of orders.
	Members, Multisigs []address.Address
}

// Multisigs is a page of the list, and whether there are more after it.
func (l *Lists) Multisigs(ctx context.Context, f *MultisigFilter, page paging.Page, after *Key) ([]*record.Contract, bool, error) {
	return l.contractPage(ctx, f.multisigs(page.Descending), page, after)
}

func (f *MultisigFilter) multisigs(descending bool) *contractList {
	list := linkList(schema.LinkSigner, f.Members, len(f.Members) == 0)
	list.addresses, list.order.descending = f.Addresses, descending
	list.match = func(c *record.Contract) bool {
		return c.Multisig != nil && paging.HasAddress(f.Addresses, c.Account) && (paging.HasAny(f.Members, c.Multisig.Signers) || paging.HasAny(f.Members, c.Multisig.Proposers))
	}
	return list
}

// MultisigOrders is a page of the list, and whether there are more after it.
func (l *Lists) MultisigOrders(ctx context.Context, f *MultisigFilter, page paging.Page, after *Key) ([]*record.Contract, bool, error) {
	return l.contractPage(ctx, f.orders(page.Descending), page, after)
}

func (f *MultisigFilter) orders(descending bool) *contractList {
	list := linkList(schema.LinkOrder, f.Multisigs, len(f.Multisigs) == 0)
	list.addresses, list.order.descending = f.Addresses, descending
	list.match = func(c *record.Contract) bool {
		return c.MultisigOrder != nil && paging.HasAddress(f.Addresses, c.Account) && paging.HasAddress(f.Multisigs, c.MultisigOrder.Multisig)
	}
	return list
}

// maxOrders is how many orders are attached to one answer of multisigs.
const maxOrders = 10_000

// ordersOf is the list of all orders of some multisigs at once, however many.
func ordersOf(multisigs []address.Address) *contractList {
	list := (&MultisigFilter{Multisigs: multisigs}).orders(false)
	list.whole = true
	list.ranges = []plan.Range{{Where: linksOf(schema.LinkOrder).With(sql.AmongAccounts(sql.AccountColumns("key"), sql.KeysOf(multisigs))...)}}
	return list
}

// OrdersOf are all orders of some multisigs, oldest first. Where they are too many it is
// cut: then they are the newest of each. Anybody makes a multisig without end of orders,
// and it names whom he likes, so that it must not hide those of others.
func (l *Lists) OrdersOf(ctx context.Context, multisigs []address.Address) (byMultisig map[address.Address][]*record.Contract, cut bool, err error) {
	if len(multisigs) == 0 {
		return nil, false, nil
	}
	list, cut, err := l.contractPage(ctx, ordersOf(multisigs), paging.Page{Limit: maxOrders}, nil)
	if err == nil && cut {
		list, err = reader.Gather(ctx, multisigs, func(ctx context.Context, one address.Address) ([]*record.Contract, error) {
			f := &MultisigFilter{Multisigs: []address.Address{one}}
			newest, _, err := l.contractPage(ctx, f.orders(true), paging.Page{Limit: maxOrders / len(multisigs), Descending: true}, nil)
			slices.Reverse(newest)
			return newest, err
		})
	}
	if err != nil {
		return nil, false, err
	}
	byMultisig = map[address.Address][]*record.Contract{}
	for _, c := range list {
		a := address.Address(c.MultisigOrder.Multisig)
		byMultisig[a] = append(byMultisig[a], c)
	}
	return byMultisig, cut, nil
}

package store

import (
	"context"
	"fmt"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// MultisigFilter says which multisigs, or orders, are wanted; the zero value means
// all.
type MultisigFilter struct {
	Addresses []Address
	// Members are signers or proposers of multisigs; Multisigs those of orders.
	Members, Multisigs []Address
}

// Multisigs is a page of the list, and whether there are more after it.
func (s *Store) Multisigs(ctx context.Context, f *MultisigFilter, page Page, after *ContractKey) ([]*record.Contract, bool, error) {
	l := &contractList{
		order: contractOrder{fields: firstIndexed.fields, descending: page.Descending}, page: page, after: after, addresses: f.Addresses, keyOf: keyOfFirst,
		match: func(c *record.Contract) bool {
			return c.Multisig != nil && hasAddress(f.Addresses, c.Account) && (hasAny(f.Members, c.Multisig.Signers) || hasAny(f.Members, c.Multisig.Proposers))
		},
		plan: linkPlan(schema.LinkSigner, f.Members, len(f.Members) == 0),
	}
	return s.contractPage(ctx, l)
}

// MultisigOrders is a page of the list, and whether there are more after it.
func (s *Store) MultisigOrders(ctx context.Context, f *MultisigFilter, page Page, after *ContractKey) ([]*record.Contract, bool, error) {
	return s.contractPage(ctx, orderList(f, page, after))
}

func orderList(f *MultisigFilter, page Page, after *ContractKey) *contractList {
	return &contractList{
		order: contractOrder{fields: firstIndexed.fields, descending: page.Descending}, page: page, after: after, addresses: f.Addresses, keyOf: keyOfFirst,
		match: func(c *record.Contract) bool {
			return c.MultisigOrder != nil && hasAddress(f.Addresses, c.Account) && hasAddress(f.Multisigs, c.MultisigOrder.Multisig)
		},
		plan: linkPlan(schema.LinkOrder, f.Multisigs, len(f.Multisigs) == 0),
	}
}

// mostOrders is how many orders are attached to one answer of multisigs.
const mostOrders = 10_000

// OrdersOf are all orders of some multisigs, oldest first.
func (s *Store) OrdersOf(ctx context.Context, multisigs []Address) (map[Address][]*record.Contract, error) {
	if len(multisigs) == 0 {
		return nil, nil
	}
	l := orderList(&MultisigFilter{Multisigs: multisigs}, Page{Limit: mostOrders}, nil)
	// All at once, however many multisigs: they are put in order here.
	l.plan.whole, l.plan.pieces = true, []piece{{conditions: conditions{fmt.Sprintf("role = '%s'", schema.LinkOrder), accounts("key_workchain", "key_prefix", multisigs)}}}
	list, more, err := s.contractPage(ctx, l)
	if err != nil {
		return nil, err
	}
	if more {
		return nil, fmt.Errorf("%w: more than %d orders belong to these multisigs", ErrTooHeavy, mostOrders)
	}
	byMultisig := map[Address][]*record.Contract{}
	for _, c := range list {
		a := Address(c.MultisigOrder.Multisig)
		byMultisig[a] = append(byMultisig[a], c)
	}
	return byMultisig, nil
}

package store

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

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

// hasAny says that one of some addresses is in a list, or that the list says
// nothing.
func hasAny(list []Address, some [][]byte) bool {
	return len(list) == 0 || slices.ContainsFunc(some, func(a []byte) bool { return hasAddress(list, a) })
}

// MultisigOrders is a page of the list, and whether there are more after it.
func (s *Store) MultisigOrders(ctx context.Context, f *MultisigFilter, page Page, after *ContractKey) ([]*record.Contract, bool, error) {
	l := &contractList{
		order: contractOrder{fields: firstIndexed.fields, descending: page.Descending}, page: page, after: after, addresses: f.Addresses, keyOf: keyOfFirst,
		match: func(c *record.Contract) bool {
			return c.MultisigOrder != nil && hasAddress(f.Addresses, c.Account) && hasAddress(f.Multisigs, c.MultisigOrder.Multisig)
		},
		plan: linkPlan(schema.LinkOrder, f.Multisigs, len(f.Multisigs) == 0),
	}
	return s.contractPage(ctx, l)
}

// mostOrders is how many orders are attached to one answer of multisigs.
const mostOrders = 10_000

// OrdersOf are all orders of some multisigs, oldest first.
func (s *Store) OrdersOf(ctx context.Context, multisigs []Address) (map[Address][]*record.Contract, error) {
	if len(multisigs) == 0 {
		return nil, nil
	}
	list, more, err := s.MultisigOrders(ctx, &MultisigFilter{Multisigs: multisigs}, Page{Limit: mostOrders}, nil)
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
	plan := contractPlan{}
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

// names remembers which accounts some record wallet names, so that hardly any
// account of an address book has to be looked up, and which DNS item gave the
// name that was found last: an account may have thousands of names.
type names struct {
	mutex sync.Mutex
	known map[spot]struct{}
	found map[spot]spot // the DNS item of an account
	upTo  uint32        // the bundle
}

// among gives those of the accounts that may have a name, apart from those whose
// DNS item is known, and the bundle up to which that holds.
func (n *names) among(ctx context.Context, s *Store, v *View, list []Address) (some []Address, found map[Address]spot, upTo uint32, err error) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if n.known == nil || n.upTo < v.Watermark {
		if err := n.read(ctx, s, v); err != nil {
			return nil, nil, 0, err
		}
	}
	found = map[Address]spot{}
	for _, a := range list {
		at := spotOf(a[:])
		if item, ok := n.found[at]; ok {
			found[a] = item
		} else if _, ok := n.known[at]; ok {
			some = append(some, a)
		}
	}
	return some, found, n.upTo, nil
}

// keep remembers the items of some names, unless more has become visible since
// they were looked for.
func (n *names) keep(items map[Address]*record.Contract, upTo uint32) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if n.upTo != upTo {
		return
	}
	for a, item := range items {
		n.found[spotOf(a[:])] = spotOf(item.Account)
	}
}

// read learns of the bundles that have become visible.
func (n *names) read(ctx context.Context, s *Store, v *View) error {
	statement := fmt.Sprintf("SELECT key_workchain AS workchain, key_prefix AS account_prefix FROM contract_links WHERE role = '%s' AND mc_seqno > %d", schema.LinkWallet, n.upTo)
	rows, err := s.pointers(ctx, statement, nil)
	if err != nil {
		return err
	}
	if n.known == nil {
		n.known, n.found = make(map[spot]struct{}, len(rows)), map[spot]spot{}
	}
	for i := range rows {
		// An item that changed may give its account another name.
		n.known[rows[i].account] = struct{}{}
		delete(n.found, rows[i].account)
	}
	n.upTo = v.Watermark
	return nil
}

// Domains are the shortest names of those of the accounts that own a name whose
// record wallet is the account.
func (s *Store) Domains(ctx context.Context, v *View, list []Address) (map[Address]string, error) {
	unknown, known, upTo, err := s.names.among(ctx, s, v, list)
	if err != nil || len(unknown)+len(known) == 0 {
		return nil, err
	}
	names := map[Address]*record.Contract{}
	if len(known) > 0 {
		if names, err = s.namesOf(ctx, slices.Collect(maps.Keys(known)), slices.Collect(maps.Values(known))); err != nil {
			return nil, err
		}
		for a := range known {
			if names[a] == nil { // the item is another's now
				unknown = append(unknown, a)
			}
		}
	}
	if len(unknown) > 0 {
		found, err := s.searchNames(ctx, unknown)
		if err != nil {
			return nil, err
		}
		s.names.keep(found, upTo)
		maps.Copy(names, found)
	}
	domains := make(map[Address]string, len(names))
	for a, c := range names {
		domains[a] = c.NftItem.Dns.Domain
	}
	return domains, nil
}

// searchNames are the DNS items that give some accounts their names, out of all
// whose record wallet names them.
func (s *Store) searchNames(ctx context.Context, list []Address) (map[Address]*record.Contract, error) {
	statement := fmt.Sprintf("SELECT workchain, account_prefix FROM contract_links WHERE role = '%s' AND %s",
		schema.LinkWallet, accounts("key_workchain", "key_prefix", list))
	rows, err := s.pointers(ctx, statement, nil)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	at := make([]spot, len(rows))
	for i := range rows {
		at[i] = rows[i].account
	}
	return s.namesOf(ctx, list, at)
}

// namesOf are those of the DNS items at some spots that give some accounts their
// names.
func (s *Store) namesOf(ctx context.Context, list []Address, at []spot) (map[Address]*record.Contract, error) {
	found, err := s.contractsAt(ctx, at)
	if err != nil {
		return nil, err
	}
	wanted := make(map[Address]bool, len(list))
	for _, a := range list {
		wanted[a] = true
	}
	names := map[Address]*record.Contract{}
	for _, c := range found {
		item := c.NftItem
		if item.GetDns() == nil || len(item.Owner) != schema.AddressSize || string(item.Owner) != string(item.Dns.Wallet) || !wanted[Address(item.Owner)] {
			continue
		}
		if old := names[Address(item.Owner)]; old == nil || compareNames(c, old) < 0 {
			names[Address(item.Owner)] = c
		}
	}
	return names, nil
}

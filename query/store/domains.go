package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

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

package cache

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"tonscribe/query/head"
	"tonscribe/query/list"
	"tonscribe/query/reader"
	"tonscribe/query/sql"
	"tonscribe/schema"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// Names remembers which accounts some record wallet names, so that hardly any
// account of an address book has to be looked up, and what those are called: an
// account may have thousands of names.
type Names struct {
	reader    *reader.Reader
	contracts list.ReadContracts
	mutex     sync.Mutex
	known     map[sql.AccountKey]struct{}
	found     map[sql.AccountKey]name
	items     map[sql.AccountKey]sql.AccountKey // whose name a DNS item gave
	upTo      uint32                            // the bundle
	first     uint32                            // the oldest bundle then
}

// NewNames makes an empty cache.
func NewNames(r *reader.Reader, contracts list.ReadContracts) *Names {
	return &Names{reader: r, contracts: contracts}
}

// name is what an account is called, nothing when no item that names it is its
// own.
type name struct {
	account address.Address
	domain  string
	item    sql.AccountKey
}

// maxHeldNames bounds how many accounts' names are remembered.
const maxHeldNames = 200_000

// Advance brings the names to a view: those that may be others now are forgotten.
func (n *Names) Advance(ctx context.Context, v *head.View) error {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	anew := n.known == nil || n.first > v.First.Id.Seqno // an older range was indexed
	if !anew && n.upTo >= v.Watermark {
		return nil
	}
	after := n.upTo
	if anew {
		after = 0
	}
	var named, items []sql.AccountKey
	group, groupContext := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		named, err = accountKeys(groupContext, n.reader, fmt.Sprintf("SELECT key_workchain AS workchain, key_prefix AS account_prefix FROM contract_links WHERE role = '%s' AND mc_seqno > %d", schema.LinkWallet, after))
		return err
	})
	if !anew {
		group.Go(func() (err error) {
			items, err = accountKeys(groupContext, n.reader, fmt.Sprintf("SELECT workchain, account_prefix FROM nft_items WHERE mc_seqno > %d SETTINGS optimize_use_projections = 0", after))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if anew {
		n.known, n.found, n.items = make(map[sql.AccountKey]struct{}, len(named)), map[sql.AccountKey]name{}, map[sql.AccountKey]sql.AccountKey{}
	}
	for i := range named {
		n.known[named[i]] = struct{}{}
		n.forget(named[i])
	}
	for i := range items {
		if a, gave := n.items[items[i]]; gave {
			n.forget(a)
		}
	}
	n.upTo, n.first = v.Watermark, v.First.Id.Seqno
	return nil
}

func (n *Names) forget(account sql.AccountKey) {
	if old, ok := n.found[account]; ok {
		delete(n.items, old.item)
		delete(n.found, account)
	}
}

// keep remembers what some accounts are called, unless more has become visible
// since they were looked for.
func (n *Names) keep(found map[sql.AccountKey]name, upTo uint32) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	if n.upTo != upTo {
		return
	}
	for at, one := range found {
		if n.forget(at); len(n.found) >= maxHeldNames {
			return
		}
		if n.found[at] = one; one.domain != "" {
			n.items[one.item] = at
		}
	}
}

// Domains are the shortest names of those of the accounts that own a name whose
// record wallet is the account.
func (n *Names) Domains(ctx context.Context, v *head.View, accounts []address.Address) (map[address.Address]string, error) {
	if err := n.Advance(ctx, v); err != nil {
		return nil, err
	}
	domains := map[address.Address]string{}
	var unknown []address.Address
	n.mutex.Lock()
	upTo := n.upTo
	for _, a := range accounts {
		if one, ok := n.found[sql.KeyOf(a[:])]; ok && one.belongsTo(a) {
			domains[a] = one.domain
		} else if _, ok := n.known[sql.KeyOf(a[:])]; ok {
			unknown = append(unknown, a)
		}
	}
	n.mutex.Unlock()
	if len(unknown) == 0 {
		return domains, nil
	}
	found, err := n.search(ctx, sql.KeysOf(unknown), func(owner address.Address) bool { return slices.Contains(unknown, owner) })
	if err != nil {
		return nil, err
	}
	n.keep(found, upTo)
	for _, a := range unknown {
		if one := found[sql.KeyOf(a[:])]; one.belongsTo(a) {
			domains[a] = one.domain
		}
	}
	return domains, nil
}

// belongsTo is false for another account with the same first 64 bits.
func (n name) belongsTo(a address.Address) bool { return n.domain == "" || n.account == a }

// namesAtOnce is how many names are looked for before anybody asks for them.
const namesAtOnce = 100

// Find looks for some names that nobody asked for yet. There may be more
// when it found some.
func (n *Names) Find(ctx context.Context) (more bool, err error) {
	var unknown []sql.AccountKey
	n.mutex.Lock()
	upTo := n.upTo
	if len(n.found) < min(len(n.known), maxHeldNames) {
		for at := range n.known {
			if _, ok := n.found[at]; !ok {
				if unknown = append(unknown, at); len(unknown) == namesAtOnce {
					break
				}
			}
		}
	}
	n.mutex.Unlock()
	if len(unknown) == 0 {
		return false, nil
	}
	found, err := n.search(ctx, unknown, func(address.Address) bool { return true })
	if err == nil {
		n.keep(found, upTo)
	}
	return true, err
}

// search returns the names of some accounts, by the DNS items whose record
// wallet names them.
func (n *Names) search(ctx context.Context, accounts []sql.AccountKey, wanted func(address.Address) bool) (map[sql.AccountKey]name, error) {
	at, err := accountKeys(ctx, n.reader, fmt.Sprintf("SELECT workchain, account_prefix FROM contract_links WHERE role = '%s' AND %s", schema.LinkWallet, sql.AmongAccounts(sql.AccountColumns("key"), accounts)))
	if err != nil {
		return nil, err
	}
	items, err := n.contracts(ctx, at)
	if err != nil {
		return nil, err
	}
	best := map[sql.AccountKey]*record.Contract{}
	for _, c := range items {
		owner := c.NftItem.GetOwner()
		if c.NftItem.GetDns() == nil || len(owner) != schema.AddressSize || string(owner) != string(c.NftItem.Dns.Wallet) || !wanted(address.Address(owner)) {
			continue
		}
		if old := best[sql.KeyOf(owner)]; old == nil || list.CompareNames(c, old) < 0 {
			best[sql.KeyOf(owner)] = c
		}
	}
	found := make(map[sql.AccountKey]name, len(accounts))
	for _, at := range accounts {
		found[at] = name{}
		if c := best[at]; c != nil {
			found[at] = name{address.Address(c.NftItem.Owner), c.NftItem.Dns.Domain, sql.KeyOf(c.Account)}
		}
	}
	return found, nil
}

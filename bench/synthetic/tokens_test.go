package synthetic

import (
	"bytes"
	"testing"

	"tonscribe/schema"
	"tonscribe/schema/record"
)

// facts are what a whole chain of a few transactions publishes, by account.
type facts struct {
	accounts  map[string]*record.Account
	contracts map[string]*record.Contract
	transfers map[string]int // delivered or not, by owner
	burners   map[string]bool
	keys      *Keys
	end       int
}

func wholeChain(t *testing.T, transactions int) *facts {
	t.Helper()
	rows := NewRows(RowOptions{Transactions: transactions, Seed: 4, Whole: true})
	tokens := NewTokens(rows)
	f := &facts{accounts: map[string]*record.Account{}, contracts: map[string]*record.Contract{}, transfers: map[string]int{}, burners: map[string]bool{}}
	for b := rows.Next(); b != nil; b = rows.Next() {
		for _, list := range tokens.Records(b, 2) {
			for _, r := range list {
				for _, c := range r.GetContracts().GetContracts() {
					if old := f.contracts[string(c.Account)]; old != nil && old.FirstMcSeqno != c.FirstMcSeqno {
						t.Fatalf("contract %x became known twice", c.Account)
					}
					f.contracts[string(c.Account)] = c
				}
				for _, j := range r.GetContracts().GetJettonTransfers() {
					if !j.Aborted {
						f.transfers[string(j.Source)]++
					}
				}
				for _, j := range r.GetContracts().GetJettonBurns() {
					f.burners[string(j.Owner)] = true
				}
			}
		}
		for _, a := range b.Late {
			if f.accounts[string(a.Account)] != nil {
				t.Fatalf("account %x is shown, but was there before", a.Account)
			}
			f.accounts[string(a.Account)] = a
		}
		for _, a := range b.Accounts {
			f.accounts[string(a.Account)] = a
		}
	}
	f.keys, f.end = rows.Keys(), rows.accounts.first[kinds]
	tokens.AddKeys(f.keys)
	return f
}

func TestAWholeChainHasEveryAccountAndContractOfEveryKind(t *testing.T) {
	f := wholeChain(t, 20_000)
	if len(f.accounts) != f.end {
		t.Errorf("%d accounts instead of %d", len(f.accounts), f.end)
	}
	roles := map[uint32]int{}
	for _, c := range f.contracts {
		for bit := range 32 {
			if schema.RolesOf(c)&(1<<bit) != 0 {
				roles[1<<bit]++
			}
		}
	}
	for role, want := range map[uint32]int{
		schema.RoleJettonMaster: 201, schema.RoleJettonWallet: 1000 + 500, schema.RoleNFTCollection: 50, schema.RoleNFTItem: 200, schema.RoleDNSItem: 4,
		schema.RoleSale: 6, schema.RoleAuction: 4, schema.RoleMultisig: 4, schema.RoleMultisigOrder: 20, schema.RoleVesting: 2,
	} {
		if roles[role] != want {
			t.Errorf("role %d: %d contracts instead of %d", role, roles[role], want)
		}
	}
	for _, c := range f.contracts {
		item := c.NftItem
		if item == nil || len(item.Sale)+len(item.Auction) == 0 {
			continue
		}
		sale := f.contracts[string(item.Owner)]
		if sale == nil || !bytes.Equal(append(sale.Sale.GetItem(), sale.Auction.GetItem()...), c.Account) {
			t.Errorf("item %x is sold by %v", c.Account, sale)
		}
	}
}

func TestKeysOfTokensFindSomething(t *testing.T) {
	f := wholeChain(t, 20_000)
	k := f.keys
	known := map[string]string{}
	for account := range f.accounts {
		known[nameOf([]byte(account))] = account
	}
	for what, list := range map[string][]string{
		"jetton wallet": k.JettonWallet, "collection": k.Collection, "item": k.Item, "sale": k.Sale, "multisig": k.Multisig,
		"order": k.MultisigOrder, "vesting": k.Vesting,
	} {
		for _, name := range list {
			if f.contracts[known[name]] == nil {
				t.Fatalf("%s %s is no contract", what, name)
			}
		}
		if len(list) == 0 {
			t.Errorf("no key of a %s", what)
		}
	}
	for _, name := range k.Owner {
		if f.transfers[known[name]] == 0 {
			t.Fatalf("owner %s sent nothing", name)
		}
	}
	for _, name := range k.Burner {
		if !f.burners[known[name]] {
			t.Fatalf("%s burned nothing", name)
		}
	}
	owners, named := map[string]bool{}, map[string]bool{}
	for _, c := range f.contracts {
		if c.NftItem != nil {
			owners[nameOf(c.NftItem.Owner)] = true
			named[c.NftItem.GetDns().GetDomain()] = true
		}
	}
	for _, name := range k.ItemOwner {
		if !owners[name] {
			t.Fatalf("%s owns no item", name)
		}
	}
	for _, domain := range k.Domain {
		if !named[domain] {
			t.Fatalf("no item has the name %q", domain)
		}
	}
	if len(k.ItemOwner) == 0 || len(k.Domain) == 0 || k.Accounts != f.end {
		t.Errorf("%d owners of items, %d domains, %d accounts instead of %d", len(k.ItemOwner), len(k.Domain), k.Accounts, f.end)
	}
}

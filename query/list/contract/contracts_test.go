package contract

import (
	"fmt"
	"testing"

	"tonscribe/query/list/paging"
	"tonscribe/test/support/plantest"
	"tonscribe/ton/address"
)

func TestTheStatementsOfEveryListOfContracts(t *testing.T) {
	var g plantest.Golden
	add := func(label string, l *contractList) {
		p := l.plan()
		k := Key{Parent: address.Address{11: 6}, Number: Number{31: 8}, Seqno: 9, Account: address.Address{11: 7}}
		from := rowOfContract(&k)
		if len(p.Ranges) > 0 {
			from.SetAccount(contractAt[byOwner], p.Ranges[0].Owner)
		}
		g.Plan(label, p, from)
		if len(p.Ranges) == 1 && !p.Whole {
			fmt.Fprintf(&g, "  deep: %s\n", l.deep(p, nil, 300, 12))
		}
	}
	for _, n := range []int{0, 1, 9} {
		for _, desc := range []bool{true, false} {
			add(fmt.Sprintf("jetton masters admins %d descending %t", n, desc), (&JettonMasterFilter{Admins: plantest.Accounts(n)}).list())
			add(fmt.Sprintf("nft collections owners %d descending %t", n, desc), (&NFTCollectionFilter{Owners: plantest.Accounts(n)}).list())
			add(fmt.Sprintf("multisigs members %d descending %t", n, desc), (&MultisigFilter{Members: plantest.Accounts(n)}).multisigs(desc))
			add(fmt.Sprintf("multisig orders multisigs %d descending %t", n, desc), (&MultisigFilter{Multisigs: plantest.Accounts(n)}).orders(desc))
			for _, w := range []bool{false, true} {
				add(fmt.Sprintf("vestings wallets %d whitelisted %t descending %t", n, w, desc), (&VestingFilter{Wallets: plantest.Accounts(n), Whitelisted: w}).list())
			}
			for _, masters := range []int{0, 1, 2} {
				for _, zero := range []bool{false, true} {
					for _, balance := range []bool{false, true} {
						if masters == 2 && n != 1 || !desc && !balance {
							continue
						}
						f := &JettonWalletFilter{Owners: plantest.Accounts(n), Masters: plantest.Accounts(masters), ExcludeZero: zero, ByBalance: balance}
						add(fmt.Sprintf("jetton wallets owners %d masters %d exclude zero %t by balance %t descending %t", n, masters, zero, balance, desc), f.list(desc))
					}
				}
				for _, sale := range []bool{false, true} {
					for _, lt := range []bool{false, true} {
						for _, indexes := range []int{0, 2} {
							if masters == 2 && n != 1 || indexes > 0 && masters == 0 || !desc {
								continue
							}
							f := &NFTItemFilter{Owners: plantest.Accounts(n), Collections: plantest.Accounts(masters), OnSale: sale, ByLt: lt}
							if indexes > 0 {
								f.Indexes = []Number{{31: 3}, {30: 1}}
							}
							add(fmt.Sprintf("nft items owners %d collections %d on sale %t by lt %t indexes %d descending %t", n, masters, sale, lt, indexes, desc), f.list())
						}
					}
				}
			}
		}
	}
	add("all names", allNames())
	add("names of a wallet", (&DNSFilter{Wallet: plantest.Account(1)}).list())
	add("names by domain", (&DNSFilter{Domain: "alice.ton"}).list())
	add("orders of", ordersOf(plantest.Accounts(2)))
	g.Check(t, "contracts")
}

// A client may name the address that stands for none in keys: all that belong to nobody
// would be read, to find none that fits.
func TestContractsOfWhatStandsForNoneAreNotLookedFor(t *testing.T) {
	nobody, one := []address.Address{paging.NoAddress}, []address.Address{{31: 1}}
	for name, c := range map[string]struct {
		list *contractList
		want int
	}{
		"admin of jettons":                    {(&JettonMasterFilter{Admins: nobody}).list(), 0},
		"owner of jetton wallets":             {(&JettonWalletFilter{Owners: nobody}).list(true), 0},
		"owner of wallets of a jetton":        {(&JettonWalletFilter{Owners: nobody, Masters: one}).list(true), 0},
		"master of jetton wallets":            {(&JettonWalletFilter{Masters: nobody}).list(true), 0},
		"owner of collections":                {(&NFTCollectionFilter{Owners: nobody}).list(), 0},
		"owner and seller of items":           {(&NFTItemFilter{Owners: nobody, OnSale: true}).list(), 0},
		"collection of items":                 {(&NFTItemFilter{Collections: nobody}).list(), 0},
		"signer of multisigs":                 {(&MultisigFilter{Members: nobody}).multisigs(true), 0},
		"multisig of orders":                  {(&MultisigFilter{Multisigs: nobody}).orders(true), 0},
		"owner or whitelisted of vestings":    {(&VestingFilter{Wallets: nobody, Whitelisted: true}).list(), 0},
		"one of two signers":                  {(&MultisigFilter{Members: append(one, nobody...)}).multisigs(true), 1},
		"one of two owners of jetton wallets": {(&JettonWalletFilter{Owners: append(one, nobody...)}).list(true), 1},
		"nothing":                             {(&MultisigFilter{}).multisigs(true), 1},
	} {
		if got := len(c.list.ranges); got != c.want {
			t.Errorf("none as %s: %d ranges are read, want %d", name, got, c.want)
		}
	}
}

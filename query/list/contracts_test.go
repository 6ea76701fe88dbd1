package list

import (
	"fmt"
	"testing"
)

func TestTheStatementsOfEveryListOfContracts(t *testing.T) {
	var g golden
	add := func(label string, l *contractList) {
		p := l.plan()
		k := ContractKey{Parent: Address{11: 6}, Number: Number{31: 8}, Seqno: 9, Account: Address{11: 7}}
		from := rowOfContract(&k)
		if len(p.Ranges) > 0 {
			from.SetAccount(contractAt[byOwner], p.Ranges[0].Owner)
		}
		g.plan(label, p, from)
		if len(p.Ranges) == 1 && !p.Whole {
			fmt.Fprintf(&g, "  deep: %s\n", l.deep(p, nil, 300, 12))
		}
	}
	for _, n := range []int{0, 1, 9} {
		for _, desc := range []bool{true, false} {
			add(fmt.Sprintf("jetton masters admins %d descending %t", n, desc), (&JettonMasterFilter{Admins: addrs(n)}).list())
			add(fmt.Sprintf("nft collections owners %d descending %t", n, desc), (&NFTCollectionFilter{Owners: addrs(n)}).list())
			add(fmt.Sprintf("multisigs members %d descending %t", n, desc), (&MultisigFilter{Members: addrs(n)}).multisigs(desc))
			add(fmt.Sprintf("multisig orders multisigs %d descending %t", n, desc), (&MultisigFilter{Multisigs: addrs(n)}).orders(desc))
			for _, w := range []bool{false, true} {
				add(fmt.Sprintf("vestings wallets %d whitelisted %t descending %t", n, w, desc), (&VestingFilter{Wallets: addrs(n), Whitelisted: w}).list())
			}
			for _, masters := range []int{0, 1, 2} {
				for _, zero := range []bool{false, true} {
					for _, balance := range []bool{false, true} {
						if masters == 2 && n != 1 || !desc && !balance {
							continue
						}
						f := &JettonWalletFilter{Owners: addrs(n), Masters: addrs(masters), ExcludeZero: zero, ByBalance: balance}
						add(fmt.Sprintf("jetton wallets owners %d masters %d exclude zero %t by balance %t descending %t", n, masters, zero, balance, desc), f.list(desc))
					}
				}
				for _, sale := range []bool{false, true} {
					for _, lt := range []bool{false, true} {
						for _, indexes := range []int{0, 2} {
							if masters == 2 && n != 1 || indexes > 0 && masters == 0 || !desc {
								continue
							}
							f := &NFTItemFilter{Owners: addrs(n), Collections: addrs(masters), OnSale: sale, ByLt: lt}
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
	add("names of a wallet", (&DNSFilter{Wallet: one(1)}).list())
	add("names by domain", (&DNSFilter{Domain: "alice.ton"}).list())
	add("orders of", ordersOf(addrs(2)))
	g.check(t, "contracts")
}

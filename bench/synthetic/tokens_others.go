package synthetic

import (
	"fmt"
	"math/rand/v2"

	"tonscribe/schema/record"
)

// others are the contracts of a whole chain that no transaction changes. Their
// people are wallets by number.
type others struct {
	signers  [][multisigSigners + 1]int32 // the last one is a proposer
	vestings [][vestingPeople]int32       // owner, sender, and the whitelist
}

const (
	multisigSigners = 3
	vestingPeople   = 4
	// The first multisig has this share of all orders.
	popularOrders = 5
	// nameCollection is the collection whose items are names.
	nameCollection = collectionCount - 1
	// One of so many sales is an auction.
	auctionsOf = 3
)

func newOthers(a *accounts, random *rand.Rand) (o others) {
	o.signers, o.vestings = make([][multisigSigners + 1]int32, a.count(multisigs)), make([][vestingPeople]int32, a.count(vestings))
	for i := range o.signers {
		for j := range o.signers[i] {
			o.signers[i][j] = int32(a.wallet(random))
		}
	}
	for i := range o.vestings {
		for j := range o.vestings[i] {
			o.vestings[i][j] = int32(a.wallet(random))
		}
	}
	return o
}

func isAuction(sale int) bool { return sale%auctionsOf == 0 }

// multisigOf is the multisig that an order belongs to.
func (a *accounts) multisigOf(order int) int {
	if order < a.count(orders)/popularOrders {
		return 0
	}
	return order % a.count(multisigs)
}

func domainOf(item int) string { return fmt.Sprintf("name-%d.ton", item) }

// sellOrName puts some items on sale, and makes those of a collection names.
func (t *Tokens) sellOrName(i *record.NFTItem, number int) {
	a := t.rows.accounts
	owner := i.Owner
	if number%itemsPerSale == 0 {
		sale := number / itemsPerSale
		i.RealOwner, i.Owner = owner, a.of(sales, sale)
		if isAuction(sale) {
			i.Auction = i.Owner
		} else {
			i.Sale = i.Owner
		}
	}
	if number%collectionCount == nameCollection {
		i.Dns = &record.DNSName{Domain: domainOf(number), Wallet: owner}
	}
}

func (t *Tokens) multisig(number int) *record.Multisig {
	people := t.people(t.others.signers[number][:])
	return &record.Multisig{
		NextOrderSeqno: amount(ordersPerMultisig), Threshold: multisigSigners - 1, Signers: people[:multisigSigners], Proposers: people[multisigSigners:],
	}
}

func (t *Tokens) people(numbers []int32) (addresses [][]byte) {
	for _, n := range numbers {
		addresses = append(addresses, t.rows.accounts.address(int(n)))
	}
	return addresses
}

func (t *Tokens) vesting(number int) *record.Vesting {
	people := t.people(t.others.vestings[number][:])
	return &record.Vesting{
		StartTime: firstRowUtime, TotalDuration: 360 * 86400, UnlockPeriod: 30 * 86400, CliffDuration: 90 * 86400,
		TotalAmount: amount(t.some(1e12)), Owner: people[0], Sender: people[1], Whitelist: people[2:],
	}
}

func (t *Tokens) order(number int) *record.MultisigOrder {
	a := t.rows.accounts
	multisig := a.multisigOf(number)
	text := make([]byte, 100)
	seeded(text, t.rows.seed, kindData, uint64(number)<<40)
	return &record.MultisigOrder{
		Multisig: a.of(multisigs, multisig), Seqno: amount(uint64(number)), Threshold: multisigSigners - 1,
		Signers: t.people(t.others.signers[multisig][:multisigSigners]), ApprovalsMask: amount(1), ApprovalsNum: 1,
		ExpirationDate: firstRowUtime + 365*86400, Order: t.cells.boc(t.cells.of(text)),
	}
}

func (t *Tokens) sale(c *record.Contract, number int) {
	a := t.rows.accounts
	item := number * itemsPerSale
	address, owner, marketplace := a.of(items, item), a.address(t.owner(item)), a.address(1)
	price := amount(1e9 + uint64(t.random.ExpFloat64()*1e11))
	if isAuction(number) {
		c.Auction = &record.Auction{
			EndTime: firstRowUtime + 365*86400, Marketplace: marketplace, Item: address, Owner: owner, MinBid: price, MinStep: amount(5),
			FeeAddress: marketplace, RoyaltyAddress: marketplace, CreatedAt: firstRowUtime,
		}
		return
	}
	c.Sale = &record.Sale{
		CreatedAt: firstRowUtime, Marketplace: marketplace, Item: address, Owner: owner, Price: price,
		FeeAddress: marketplace, Fee: amount(1e7), RoyaltyAddress: marketplace, Royalty: amount(1e7), Version: 1,
	}
}

// Document is what is behind a link of a token's content.
type Document struct {
	Link, JSON string
}

// Documents hands out those behind the links of all items and collections.
func (t *Tokens) Documents(each func(Document) error) error {
	for i := range t.rows.accounts.count(items) {
		text := fmt.Sprintf(`{"name":"Item %[1]d","description":"Number %[1]d of a collection","image":"https://example.com/nft/%[1]d.png","attributes":[{"trait_type":"Kind","value":"%[2]d"}]}`, i, i%7)
		if err := each(Document{itemLink(i), text}); err != nil {
			return err
		}
	}
	for i := range collectionCount {
		text := fmt.Sprintf(`{"name":"Collection %[1]d","description":"A collection","image":"https://example.com/collection/%[1]d.png"}`, i)
		if err := each(Document{collectionLink(i), text}); err != nil {
			return err
		}
	}
	return nil
}

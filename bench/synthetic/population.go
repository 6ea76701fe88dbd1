package synthetic

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"

	"tonscribe/schema"
)

// Kinds of accounts, in the order in which they are numbered.
const (
	wallets       = iota
	jettonWallets // of the one big jetton, then of the small ones
	items
	masters
	collections
	sales
	auctions // have no numbers of their own: some of the sales are auctions
	multisigs
	orders
	vestings
	kinds
)

// accounts are all accounts of a synthetic chain, by number. What is kept of each
// is small: a chain of ten million transactions has two million of them.
type accounts struct {
	seed    uint64
	first   [kinds + 1]int // number of each kind, the end last
	holders int            // jetton wallets of the big jetton
	state   []accountState
	// cumulated is the sum of the Zipf weights of the wallets up to each.
	cumulated []float64
}

type accountState struct {
	lt      uint64 // of the last transaction, 0 before the first
	balance uint64
	last    int32 // its number; before the first shown when the account is there, else 0
	count   int32
}

// shown marks an account that is there without a transaction.
const shown = -1

// exists reports whether the account is on the chain.
func (s *accountState) exists() bool { return s.lt != 0 || s.last == shown }

// Proportions of transactions to accounts and things.
const (
	transactionsPerWallet      = 10
	transactionsPerHolder      = 20
	transactionsPerSmallHolder = 40
	transactionsPerItem        = 100
	transactionsPerMultisig    = 5000
	transactionsPerVesting     = 10_000
	ordersPerMultisig          = 5
	itemsPerSale               = 20
	masterCount                = 201
	smallJettons               = masterCount - 1
	collectionCount            = 50

	// popularShare of the wallets' transactions are the first wallet's, which
	// makes it about 5 % of all: the rest goes to jetton wallets and NFT items.
	popularShare = 0.0665
	jettonShare  = 0.267
	itemShare    = 0.0134
	bigJetton    = 0.7 // of the transactions of jetton wallets
)

func newAccounts(o RowOptions) *accounts {
	share := func(of int) int { return max(1, o.Transactions/of) }
	a := &accounts{seed: o.Seed, holders: cmp.Or(o.Holders, share(transactionsPerHolder))}
	counts := [kinds]int{
		wallets: cmp.Or(o.Accounts, share(transactionsPerWallet)), jettonWallets: a.holders + share(transactionsPerSmallHolder),
		items: share(transactionsPerItem), masters: masterCount, collections: collectionCount,
		multisigs: share(transactionsPerMultisig), vestings: share(transactionsPerVesting),
	}
	counts[sales] = (counts[items] + itemsPerSale - 1) / itemsPerSale
	counts[orders] = counts[multisigs] * ordersPerMultisig
	for kind, n := range counts {
		a.first[kind+1] = a.first[kind] + n
	}
	a.state = make([]accountState, a.first[kinds])
	exponent := zipfExponent(a.count(wallets))
	a.cumulated = make([]float64, a.count(wallets))
	sum := 0.0
	for k := range a.cumulated {
		sum += math.Pow(float64(k+1), -exponent)
		a.cumulated[k] = sum
	}
	return a
}

// zipfExponent gives the first of n its share.
func zipfExponent(n int) float64 {
	low, high := 0.3, 1.5
	for range 40 {
		middle, sum := (low+high)/2, 0.0
		for k := 1; k <= n; k++ {
			sum += math.Pow(float64(k), -middle)
		}
		if 1/sum < popularShare {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

func (a *accounts) count(kind int) int { return a.first[kind+1] - a.first[kind] }

// kindOf is the kind of an account and its number among those of the kind.
func (a *accounts) kindOf(id int) (kind, number int) {
	for id >= a.first[kind+1] {
		kind++
	}
	return kind, id - a.first[kind]
}

// owner is the wallet that owns a jetton wallet: the first one has some of every
// jetton.
func (a *accounts) owner(jettonWallet int) int {
	if jettonWallet < a.holders {
		return jettonWallet % a.count(wallets)
	}
	if k := jettonWallet - a.holders; k >= smallJettons {
		return k % a.count(wallets)
	}
	return 0
}

// master is the number of a jetton wallet's master.
func (a *accounts) master(jettonWallet int) int {
	if jettonWallet < a.holders {
		return 0
	}
	return 1 + (jettonWallet-a.holders)%smallJettons
}

// address of an account of the basechain, in the form of records.
func (a *accounts) address(id int) []byte {
	out := make([]byte, schema.AddressSize)
	seeded(schema.AccountID(out), a.seed, kindAccount, uint64(id))
	return out
}

// of is the address of one of a kind.
func (a *accounts) of(kind, number int) []byte { return a.address(a.first[kind] + number) }

// name is the raw form of an account's address.
func (a *accounts) name(kind, number int) string { return nameOf(a.of(kind, number)) }

func nameOf(address []byte) string { return fmt.Sprintf("0:%X", schema.AccountID(address)) }

// wallet picks one by Zipf's law.
func (a *accounts) wallet(random *rand.Rand) int {
	x := random.Float64() * a.cumulated[len(a.cumulated)-1]
	return min(sort.SearchFloat64s(a.cumulated, x), a.count(wallets)-1)
}

// any picks whom a message goes to.
func (a *accounts) any(random *rand.Rand) int {
	switch x := random.Float64(); {
	case x < jettonShare:
		owner := a.wallet(random)
		if random.Float64() < bigJetton {
			return a.first[jettonWallets] + owner%a.holders
		}
		return a.first[jettonWallets] + a.holders + owner%(a.count(jettonWallets)-a.holders)
	case x < jettonShare+itemShare:
		return a.first[items] + random.IntN(a.count(items))
	}
	return a.wallet(random)
}

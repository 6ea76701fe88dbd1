package synthetic

import (
	"math"
	"math/rand/v2"
	"sort"

	"tonscribe/schema"
)

// accounts are all accounts of a synthetic chain, by number: wallets first, then
// the jetton wallets of one big and many small jettons, then NFT items, then the
// jetton masters and collections, then sales, multisigs, their orders and vesting
// contracts. What is kept of each is small: a chain of ten million transactions
// has two million of them.
type accounts struct {
	seed                               uint64
	wallets, holders, rest             int // rest: wallets of small jettons
	items                              int
	sales, multisigs, orders, vestings int
	state                              []accountState
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

// exists says that the account is on the chain.
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
	jettonMasters              = 201
	smallJettons               = jettonMasters - 1

	// popularShare of the wallets' transactions are the first wallet's, which
	// makes it about 5 % of all: the rest goes to jetton wallets and NFT items.
	popularShare = 0.0665
	jettonShare  = 0.267
	itemShare    = 0.0134
	bigJetton    = 0.7 // of the transactions of jetton wallets
)

func newAccounts(o RowOptions) *accounts {
	share := func(of int) int { return max(1, o.Transactions/of) }
	a := &accounts{
		seed:    o.Seed,
		wallets: share(transactionsPerWallet), holders: share(transactionsPerHolder),
		rest: share(transactionsPerSmallHolder), items: share(transactionsPerItem),
		multisigs: share(transactionsPerMultisig), vestings: share(transactionsPerVesting),
	}
	if o.Accounts > 0 {
		a.wallets = o.Accounts
	}
	if o.Holders > 0 {
		a.holders = o.Holders
	}
	a.sales, a.orders = (a.items+itemsPerSale-1)/itemsPerSale, a.multisigs*ordersPerMultisig
	a.state = make([]accountState, a.end())
	exponent := zipfExponent(a.wallets)
	a.cumulated = make([]float64, a.wallets)
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

func (a *accounts) jettonWallets() int { return a.holders + a.rest }
func (a *accounts) firstItem() int     { return a.wallets + a.jettonWallets() }
func (a *accounts) firstMaster() int   { return a.firstItem() + a.items }
func (a *accounts) firstSale() int     { return a.firstMaster() + jettonMasters + collections }
func (a *accounts) firstMultisig() int { return a.firstSale() + a.sales }
func (a *accounts) firstOrder() int    { return a.firstMultisig() + a.multisigs }
func (a *accounts) firstVesting() int  { return a.firstOrder() + a.orders }
func (a *accounts) end() int           { return a.firstVesting() + a.vestings }

// owner is the wallet that owns a jetton wallet: the first one has some of every
// jetton.
func (a *accounts) owner(jettonWallet int) int {
	if jettonWallet < a.holders {
		return jettonWallet % a.wallets
	}
	if k := jettonWallet - a.holders; k >= smallJettons {
		return k % a.wallets
	}
	return 0
}

func (a *accounts) between(id, least, most int) bool {
	n := int(a.state[id].count)
	return n >= least && n <= most
}

// address of an account of the basechain, in the form of records.
func (a *accounts) address(id int) []byte {
	out := make([]byte, schema.AddressSize)
	a.putAddress(out, id)
	return out
}

func (a *accounts) putAddress(dst []byte, id int) {
	clear(dst[:4])
	seeded(dst[4:], a.seed, kindAccount, uint64(id))
}

// wallet picks one by Zipf's law.
func (a *accounts) wallet(random *rand.Rand) int {
	x := random.Float64() * a.cumulated[len(a.cumulated)-1]
	return min(sort.SearchFloat64s(a.cumulated, x), a.wallets-1)
}

// any picks whom a message goes to.
func (a *accounts) any(random *rand.Rand) int {
	switch x := random.Float64(); {
	case x < jettonShare:
		owner := a.wallet(random)
		if random.Float64() < bigJetton {
			return a.wallets + owner%a.holders
		}
		return a.wallets + a.holders + owner%a.rest
	case x < jettonShare+itemShare:
		return a.firstItem() + random.IntN(a.items)
	}
	return a.wallet(random)
}

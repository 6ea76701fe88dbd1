package synthetic

import (
	"math"
	"math/rand/v2"
	"sort"

	"tonscribe/schema"
)

// accounts are all accounts of a synthetic chain, by number: wallets first, then
// the jetton wallets of one big and many small jettons, then NFT items, then the
// jetton masters. What is kept of each is small: a chain of ten million
// transactions has two million of them.
type accounts struct {
	seed                   uint64
	wallets, holders, rest int // rest: wallets of small jettons
	items                  int
	state                  []accountState
	// cumulated is the sum of the Zipf weights of the wallets up to each.
	cumulated []float64
}

type accountState struct {
	lt    uint64 // of the last transaction, 0 before the first
	last  int32  // its number
	count int32
}

// Proportions of transactions to accounts and things.
const (
	transactionsPerWallet      = 10
	transactionsPerHolder      = 20
	transactionsPerSmallHolder = 40
	transactionsPerItem        = 100
	jettonMasters              = 201

	// popularShare of the wallets' transactions are the first wallet's, which
	// makes it about 5 % of all: the rest goes to jetton wallets and NFT items.
	popularShare = 0.0665
	jettonShare  = 0.267
	itemShare    = 0.0134
	bigJetton    = 0.7 // of the transactions of jetton wallets
)

func newAccounts(transactions int, seed uint64) *accounts {
	a := &accounts{
		seed:    seed,
		wallets: max(1, transactions/transactionsPerWallet), holders: max(1, transactions/transactionsPerHolder),
		rest: max(1, transactions/transactionsPerSmallHolder), items: max(1, transactions/transactionsPerItem),
	}
	a.state = make([]accountState, a.firstMaster())
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

// owner is the wallet that owns a jetton wallet.
func (a *accounts) owner(jettonWallet int) int {
	if jettonWallet < a.holders {
		return jettonWallet % a.wallets
	}
	return (jettonWallet - a.holders) % a.wallets
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

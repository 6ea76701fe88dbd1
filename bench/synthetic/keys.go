package synthetic

import (
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"os"
)

// Keys are what to ask a server about that holds the rows: accounts, hashes and
// seqnos that are there. Addresses are raw, in upper case; hashes are base64.
type Keys struct {
	Popular     string     `json:"popular"`  // the account with 5 % of all transactions
	Ordinary    []string   `json:"ordinary"` // accounts with 10 to 200 transactions
	Tx          []string   `json:"tx"`
	AdjTx       []string   `json:"adj_tx"` // transactions that another one caused
	Msg         []string   `json:"msg"`    // messages with both ends
	Mc          []int32    `json:"mc"`
	States      [][]string `json:"states"` // lists of 100 accounts
	Jetton      string     `json:"jetton"`
	JettonSmall []string   `json:"jetton_small"`
	Owner       []string   `json:"owner"` // owners of jetton wallets with 1 to 100 transactions
	Holders     int        `json:"holders"`
	N           int        `json:"n"`
	PopularTx   int        `json:"popular_tx"`

	// Of the tokens and the other contracts of a whole chain.
	JettonWallet  []string `json:"jetton_wallet,omitempty"` // with 1 to 100 transactions
	Burner        []string `json:"burner,omitempty"`        // owners of wallets that burned
	Collection    []string `json:"collection,omitempty"`
	Item          []string `json:"item,omitempty"` // with a transaction
	ItemOwner     []string `json:"item_owner,omitempty"`
	Sale          []string `json:"sale,omitempty"`
	Domain        []string `json:"domain,omitempty"`
	DomainOwner   []string `json:"domain_owner,omitempty"`
	Multisig      []string `json:"multisig,omitempty"` // the first has a fifth of all orders
	MultisigOrder []string `json:"multisig_order,omitempty"`
	Signer        []string `json:"signer,omitempty"`
	Vesting       []string `json:"vesting,omitempty"`
	VestingOwner  []string `json:"vesting_owner,omitempty"`
	Accounts      int      `json:"accounts,omitempty"` // that are there
	Items         int      `json:"items,omitempty"`
}

const (
	keysOfAKind   = 5000 // enough to ask about none twice
	stateLists    = 1250
	statesPerKey  = 100
	ordinaryLeast = 10
	ordinaryMost  = 200
	ownerMost     = 100
	keyTries      = 1_000_000 // a small chain may have no ordinary accounts
)

// WriteFile writes the keys as JSON.
func (k *Keys) WriteFile(path string) error {
	b, err := json.MarshalIndent(k, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}

// ReadKeys reads what WriteFile wrote.
func ReadKeys(path string) (*Keys, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	k := &Keys{}
	return k, json.Unmarshal(b, k)
}

// sample keeps a fixed number of all values that it is offered, each with the
// same chance.
type sample struct {
	random *rand.Rand
	kept   []string
	seen   int
}

func (s *sample) offer(value string) {
	s.seen++
	if len(s.kept) < keysOfAKind {
		s.kept = append(s.kept, value)
		return
	}
	if i := s.random.IntN(s.seen); i < keysOfAKind {
		s.kept[i] = value
	}
}

func (s *sample) offerHash(hash []byte) { s.offer(base64.StdEncoding.EncodeToString(hash)) }

// Keys are the keys of the rows made so far: to be called in the end.
func (r *Rows) Keys() *Keys {
	a, random := r.accounts, rand.New(rand.NewPCG(r.seed, 3))
	k := &Keys{
		Popular: a.name(wallets, 0), PopularTx: int(a.state[0].count), N: r.made, Holders: a.holders,
		Jetton: a.name(masters, 0), Tx: r.txKeys.kept, AdjTx: r.causedKeys.kept, Msg: r.messageKeys.kept,
	}
	for range keysOfAKind {
		k.Mc = append(k.Mc, int32(firstMaster)+int32(random.IntN(max(1, r.bundles))))
		if w, ok := a.try(random, wallets, func(w int) bool { return a.between(wallets, w, ordinaryLeast, ordinaryMost) }); ok {
			k.Ordinary = append(k.Ordinary, a.name(wallets, w))
		}
		if w, ok := a.try(random, jettonWallets, func(w int) bool { return a.owner(w) != 0 && a.between(jettonWallets, w, 1, ownerMost) }); ok {
			k.Owner = append(k.Owner, a.name(wallets, a.owner(w)))
		}
	}
	for i := range smallJettons {
		k.JettonSmall = append(k.JettonSmall, a.name(masters, 1+i))
	}
	for range stateLists {
		list := make([]string, statesPerKey)
		first := random.IntN(a.first[masters])
		for j := range list { // addresses are not in the order of numbers
			list[j] = nameOf(a.address((first + j) % a.first[masters]))
		}
		k.States = append(k.States, list)
	}
	return k
}

// try picks one of a kind that fits.
func (a *accounts) try(random *rand.Rand, kind int, fits func(number int) bool) (number int, ok bool) {
	for range keyTries {
		if n := random.IntN(a.count(kind)); fits(n) {
			return n, true
		}
	}
	return 0, false
}

// between reports whether an account has so many transactions.
func (a *accounts) between(kind, number, least, most int) bool {
	n := int(a.state[a.first[kind]+number].count)
	return n >= least && n <= most
}

// AddKeys adds those of the tokens and the other contracts of a whole chain: to be
// called in the end.
func (t *Tokens) AddKeys(k *Keys) {
	a, random := t.rows.accounts, rand.New(rand.NewPCG(t.rows.seed, 7))
	some := func(kind int, fits func(number int) bool) (list []string) {
		taken := map[int]bool{}
		for try := 0; len(list) < min(keysOfAKind, a.count(kind)) && try < keyTries; try++ {
			if n := random.IntN(a.count(kind)); !taken[n] && fits(n) {
				taken[n] = true
				list = append(list, a.name(kind, n))
			}
		}
		return list
	}
	all := func(kind int) (list []string) {
		for i := range min(a.count(kind), keysOfAKind) {
			list = append(list, a.name(kind, i))
		}
		return list
	}
	whichever := func(int) bool { return true }
	sent := func(w int) bool { return t.sent[w] && a.between(jettonWallets, w, 1, ownerMost) }
	k.Accounts, k.Items = len(a.state), a.count(items)
	k.JettonWallet = some(jettonWallets, sent)
	k.Item = some(items, func(n int) bool { return a.between(items, n, 1, a.count(items)) })
	for i := range k.Owner { // those that a list of transfers is not empty for
		if w, ok := a.try(random, jettonWallets, func(w int) bool { return sent(w) && a.owner(w) != 0 }); ok {
			k.Owner[i] = a.name(wallets, a.owner(w))
		}
	}
	k.Burner, k.Collection, k.Sale = t.burners.kept, all(collections), some(sales, whichever)
	k.Multisig, k.MultisigOrder, k.Vesting = all(multisigs), some(orders, whichever), some(vestings, whichever)
	for range keysOfAKind {
		// Those that are on sale belong to their sales.
		if item := random.IntN(a.count(items)); item%itemsPerSale != 0 && t.owners[item] > 1 {
			k.ItemOwner = append(k.ItemOwner, a.name(wallets, t.owner(item)))
		}
		if item := random.IntN(a.count(items))/collectionCount*collectionCount + nameCollection; item < a.count(items) && t.owners[item] > 1 {
			k.Domain = append(k.Domain, domainOf(item))
			k.DomainOwner = append(k.DomainOwner, a.name(wallets, t.owner(item)))
		}
		k.Signer = append(k.Signer, a.name(wallets, int(t.others.signers[random.IntN(a.count(multisigs))][0])))
		k.VestingOwner = append(k.VestingOwner, a.name(wallets, int(t.others.vestings[random.IntN(a.count(vestings))][0])))
	}
}

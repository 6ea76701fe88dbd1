package synthetic

import (
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"os"

	"tonscribe/schema"
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
	random := rand.New(rand.NewPCG(r.seed, 3))
	k := &Keys{
		Popular: r.accounts.name(0), PopularTx: int(r.accounts.state[0].count), N: r.made, Holders: r.accounts.holders,
		Jetton: r.accounts.name(r.accounts.firstMaster()), Tx: r.txKeys.kept, AdjTx: r.causedKeys.kept, Msg: r.messageKeys.kept,
	}
	for range keysOfAKind {
		k.Mc = append(k.Mc, int32(firstMaster)+int32(random.IntN(max(1, r.bundles))))
		for range keyTries {
			if a := random.IntN(r.accounts.wallets); r.accounts.between(a, ordinaryLeast, ordinaryMost) {
				k.Ordinary = append(k.Ordinary, r.accounts.name(a))
				break
			}
		}
		for range keyTries {
			if w := random.IntN(r.accounts.jettonWallets()); r.accounts.owner(w) != 0 && r.accounts.between(r.accounts.wallets+w, 1, ownerMost) {
				k.Owner = append(k.Owner, r.accounts.name(r.accounts.owner(w)))
				break
			}
		}
	}
	for i := range smallJettons {
		k.JettonSmall = append(k.JettonSmall, r.accounts.name(r.accounts.firstMaster()+1+i))
	}
	for range stateLists {
		list := make([]string, statesPerKey)
		first := random.IntN(r.accounts.firstMaster())
		for j := range list { // addresses are not in the order of numbers
			list[j] = r.accounts.name((first + j) % r.accounts.firstMaster())
		}
		k.States = append(k.States, list)
	}
	return k
}

// AddKeys adds those of the tokens and the other contracts of a whole chain: to be
// called in the end.
func (t *Tokens) AddKeys(k *Keys) {
	a, random := t.rows.accounts, rand.New(rand.NewPCG(t.rows.seed, 7))
	some := func(first, count int, fits func(number int) bool) (list []string) {
		taken := map[int]bool{}
		for try := 0; len(list) < min(keysOfAKind, count) && try < keyTries; try++ {
			if n := random.IntN(count); !taken[n] && (fits == nil || fits(n)) {
				taken[n] = true
				list = append(list, a.name(first+n))
			}
		}
		return list
	}
	all := func(first, count int) (list []string) {
		for i := range min(count, keysOfAKind) {
			list = append(list, a.name(first+i))
		}
		return list
	}
	sent := func(w int) bool { return t.sent[w] && a.between(a.wallets+w, 1, ownerMost) }
	k.Accounts, k.Items = len(a.state), a.items
	k.JettonWallet = some(a.wallets, a.jettonWallets(), sent)
	k.Item = some(a.firstItem(), a.items, func(n int) bool { return a.between(a.firstItem()+n, 1, a.items) })
	for i := range k.Owner { // those that a list of transfers is not empty for
		for range keyTries {
			if w := random.IntN(a.jettonWallets()); sent(w) && a.owner(w) != 0 {
				k.Owner[i] = a.name(a.owner(w))
				break
			}
		}
	}
	k.Burner, k.Collection = t.burners.kept, all(a.firstMaster()+jettonMasters, collections)
	k.Sale = some(a.firstSale(), a.sales, nil)
	k.Multisig, k.MultisigOrder = all(a.firstMultisig(), a.multisigs), some(a.firstOrder(), a.orders, nil)
	k.Vesting = some(a.firstVesting(), a.vestings, nil)
	for range keysOfAKind {
		// Those that are on sale belong to their sales.
		if item := random.IntN(a.items); item%itemsPerSale != 0 && t.owners[item] > 1 {
			k.ItemOwner = append(k.ItemOwner, a.name(t.owner(item)))
		}
		if item := random.IntN(a.items)/collections*collections + nameCollection; item < a.items && t.owners[item] > 1 {
			k.Domain = append(k.Domain, domainOf(item))
			k.DomainOwner = append(k.DomainOwner, a.name(t.owner(item)))
		}
		k.Signer = append(k.Signer, a.name(int(t.others.signers[random.IntN(a.multisigs)][0])))
		k.VestingOwner = append(k.VestingOwner, a.name(int(t.others.vestings[random.IntN(a.vestings)][0])))
	}
}

// name is the raw form of an account's address.
func (a *accounts) name(id int) string { return nameOf(a.address(id)) }

func nameOf(address []byte) string {
	const digits = "0123456789ABCDEF"
	out := []byte("0:")
	for _, b := range schema.AccountID(address) {
		out = append(out, digits[b>>4], digits[b&15])
	}
	return string(out)
}

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
}

const (
	keysOfAKind   = 5000 // enough to ask about none twice
	smallJettons  = jettonMasters - 1
	stateLists    = 200
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

func (s *sample) offer(hash []byte) {
	s.seen++
	if len(s.kept) < keysOfAKind {
		s.kept = append(s.kept, base64.StdEncoding.EncodeToString(hash))
		return
	}
	if i := s.random.IntN(s.seen); i < keysOfAKind {
		s.kept[i] = base64.StdEncoding.EncodeToString(hash)
	}
}

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
			if w := random.IntN(r.accounts.jettonWallets()); r.accounts.between(r.accounts.wallets+w, 1, ownerMost) {
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
		for j := range list {
			list[j] = r.accounts.name(random.IntN(r.accounts.firstMaster()))
		}
		k.States = append(k.States, list)
	}
	return k
}

// name is the raw form of an account's address.
func (a *accounts) name(id int) string {
	const digits = "0123456789ABCDEF"
	out := []byte("0:")
	for _, b := range schema.AccountID(a.address(id)) {
		out = append(out, digits[b>>4], digits[b&15])
	}
	return string(out)
}

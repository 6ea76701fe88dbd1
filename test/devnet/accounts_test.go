package devnet

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/xssnick/tonutils-go/address"
	"github.com/xssnick/tonutils-go/tlb"
	"github.com/xssnick/tonutils-go/ton"
	"github.com/xssnick/tonutils-go/tvm/cell"
)

// accountsChecked is for how many accounts, chosen by chance, the lite server is
// asked; all when there are fewer.
const accountsChecked = 10_000

func TestTheIndexSaysWhatTheChainSays(t *testing.T) {
	w := newTown(t)
	t.Logf("%d masterchain blocks, %d transactions, %d accounts", w.block.SeqNo, len(w.history), len(w.accounts))
	for _, part := range []struct {
		what string
		test func(*town)
	}{
		{"account states are the lite server's", (*town).checkStates},
		{"interfaces are those of appendix C", (*town).checkInterfaces},
		{"wallets are what their methods say", (*town).checkWallets},
		{"jettons are what their methods say", (*town).checkJettons},
		{"NFTs are what their methods say", (*town).checkNFTs},
		{"sales are what their methods say", (*town).checkSales},
		{"names are what their methods say", (*town).checkNames},
		{"multisigs are what their methods say", (*town).checkMultisigs},
		{"vestings are what their methods say", (*town).checkVestings},
		{"the ranking has every account with its balance", (*town).checkTop},
		{"transfers ended as their transactions say", (*town).checkTransfers},
	} {
		t.Run(part.what, func(t *testing.T) {
			at := *w
			at.T = t
			part.test(&at)
		})
	}
}

// everyone is each account that is in the states or has had a transaction, in
// random order.
func (w *town) everyone() []string {
	known := map[string]bool{}
	for a := range w.accounts {
		known[a] = true
	}
	for _, tx := range w.history {
		known[tx.account] = true
	}
	list := slices.Sorted(maps.Keys(known))
	random := rand.New(rand.NewPCG(1, 2))
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// standing is what the lite server says of an account.
type standing struct {
	root  *cell.Cell // nil without an account
	state tlb.AccountState
	lt    uint64
	hash  []byte
}

// ask is a getAccountState whose proof is checked.
func (w *town) ask(raw string) (*standing, error) {
	a, err := address.ParseRawAddr(raw)
	if err != nil {
		return nil, err
	}
	var answer any
	var reply ton.AccountState
	if err := w.client.Client().QueryLiteserver(w.Context(), ton.GetAccountState{ID: w.block, Account: ton.AccountID{Workchain: a.Workchain(), ID: a.Data()}}, &answer); err != nil {
		return nil, err
	}
	reply, ok := answer.(ton.AccountState)
	if !ok {
		return nil, fmt.Errorf("%s: %v", raw, answer)
	}
	if reply.State == nil {
		return &standing{}, nil
	}
	var proven *tlb.ShardAccount
	if a.Workchain() == -1 {
		proven, _, err = ton.CheckAccountStateProof(a, w.block, reply.Proof, reply.ShardProof, nil, false)
	} else {
		proven, _, err = ton.CheckAccountStateProofForShard(a, w.block, reply.Proof, reply.ShardProof, reply.Shard, false)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", raw, err)
	}
	if !bytes.Equal(proven.Account.Hash(0), reply.State.Hash()) {
		return nil, fmt.Errorf("%s: the lite server proves state %x and gives %x", raw, proven.Account.Hash(0), reply.State.Hash())
	}
	s := &standing{root: reply.State, lt: proven.LastTransLT, hash: proven.LastTransHash}
	return s, parseState(s)
}

func parseState(s *standing) error { return tlb.Parse(&s.state, s.root) }

// each asks for every address, several at a time.
func each[T any](t testing.TB, addresses []string, ask func(string) (T, error)) map[string]T {
	t.Helper()
	found := make(map[string]T, len(addresses))
	var mu sync.Mutex
	var group sync.WaitGroup
	next := make(chan string)
	for range 8 {
		group.Go(func() {
			for a := range next {
				answer, err := ask(a)
				if err != nil {
					t.Error(err)
					continue
				}
				mu.Lock()
				found[a] = answer
				mu.Unlock()
			}
		})
	}
	for _, a := range addresses {
		next <- a
	}
	close(next)
	group.Wait()
	return found
}

// largestData is the size of the largest bag of cells with data that is kept,
// deepestData the depth of the deepest tree.
const (
	largestData = 64 << 10
	deepestData = 12
)

// hash64 is a hash as the API shows it.
func hash64(hash []byte) string { return base64.StdEncoding.EncodeToString(hash) }

var statusWords = map[tlb.AccountStatus]string{
	tlb.AccountStatusActive: "active", tlb.AccountStatusUninit: "uninit", tlb.AccountStatusFrozen: "frozen"}

// expected are the members of an AccountStateFull that the lite server's answer
// has a word for.
func (s *standing) expected() map[string]any {
	if s.root == nil {
		return map[string]any{"status": "nonexist", "balance": "0", "account_state_hash": hash64(cell.BeginCell().MustStoreUInt(0, 1).EndCell().Hash()),
			"code_hash": nil, "data_hash": nil, "code_boc": nil, "data_boc": nil, "frozen_hash": nil}
	}
	want := map[string]any{
		"account_state_hash": hash64(s.root.Hash()), "status": statusWords[s.state.Status], "balance": s.state.Balance.Nano().String(),
		"code_hash": nil, "data_hash": nil, "code_boc": nil, "data_boc": nil, "frozen_hash": nil,
	}
	if s.lt > 0 {
		want["last_transaction_lt"], want["last_transaction_hash"] = fmt.Sprint(s.lt), hash64(s.hash)
	}
	if s.state.Status == tlb.AccountStatusFrozen {
		want["frozen_hash"] = hash64(s.state.StateHash)
	}
	if s.state.StateInit == nil {
		return want
	}
	if c := s.state.StateInit.Code; c != nil {
		want["code_hash"], want["code_boc"] = hash64(c.Hash()), hash64(c.Hash())
	}
	if c := s.state.StateInit.Data; c != nil {
		want["data_hash"] = hash64(c.Hash())
		if len(c.ToBOC()) <= largestData && c.Depth() <= deepestData {
			want["data_boc"] = hash64(c.Hash())
		}
	}
	return want
}

// hashOfBoC replaces a bag of cells in a row by the hash of its root.
func hashOfBoC(t testing.TB, row map[string]any, name string) {
	t.Helper()
	text, ok := row[name].(string)
	if !ok {
		return
	}
	boc, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	root, err := cell.FromBOC(boc)
	if err != nil {
		t.Fatalf("%s of %v: %v", name, row["address"], err)
	}
	row[name] = hash64(root.Hash())
}

func (w *town) checkStates() {
	chosen := w.everyone()
	chosen = chosen[:min(len(chosen), accountsChecked)]
	said := each(w, chosen, w.ask)
	rows := w.rows("accountStates", "address", "accounts", "address", chosen)
	count := map[string]int{}
	for _, a := range chosen {
		s, row := said[a], rows[a]
		if s == nil {
			continue // told already
		}
		if inState := w.accounts[a] != nil; inState != (s.root != nil) {
			w.Errorf("%s: in the chain's state: %t, by the lite server: %t", a, inState, s.root != nil)
		}
		if row == nil {
			w.Errorf("%s: the index does not have it, the lite server says %v", a, s.expected())
			continue
		}
		hashOfBoC(w, row, "code_boc")
		hashOfBoC(w, row, "data_boc")
		want := s.expected()
		count[want["status"].(string)]++
		w.compare(fmt.Sprintf("%s (%s, lt %d)", a, kindOf(&s.state), s.lt), row, want)
	}
	if len(chosen) < len(w.accounts) && len(chosen) < accountsChecked || count["active"] == 0 || count["uninit"] == 0 || count["nonexist"] == 0 {
		w.Errorf("%d accounts compared: %v; want some of each status", len(chosen), count)
	}
	w.Logf("%d accounts compared: %v", len(chosen), count)
}

// compare says where the members of a row are not what they should be.
func (w *town) compare(who string, row, want map[string]any) {
	w.Helper()
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got := row[name]; fmt.Sprint(got) != fmt.Sprint(want[name]) {
			wrong = append(wrong, fmt.Sprintf("%s is %v, want %v", name, got, want[name]))
		}
	}
	if len(wrong) > 0 {
		w.Errorf("%s: %s", who, strings.Join(wrong, "; "))
	}
}

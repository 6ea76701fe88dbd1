package query

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"tonscribe/bench/synthetic"
	"tonscribe/schema"
	"tonscribe/schema/record"
)

// heldTown is a world in which some accounts are jetton wallets, and every bundle
// changes a few of them.
type heldTown struct {
	*world
	*testing.T
	random   *rand.Rand
	accounts [][]byte
	lt       uint64
}

// tell writes what a bundle says of some accounts. A wallet that has nothing left
// may be none any more.
func (w *heldTown) tell(b *synthetic.Bundle, accounts ...[]byte) {
	w.Helper()
	var states, facts, wallets []string
	for _, a := range accounts {
		w.lt += 10
		balance := w.random.Uint64N(1 << 40)
		place := fmt.Sprintf("%d, %d, unhex('%x')", schema.Workchain(a), schema.Prefix(schema.AccountID(a)), schema.AccountID(a))
		state := &record.Account{Account: a, McSeqno: b.Seqno, LastTransLt: w.lt, LastTransHash: hashOf(byte(w.lt)), Hash: hashOf(byte(w.lt + 1)), State: &record.AccountState{Balance: balance, Status: record.AccountStatus_ACCOUNT_ACTIVE}}
		states = append(states, fmt.Sprintf("(%s, %d, %d, 'active', unhex('%x'))", place, 2*w.lt, b.Seqno, packed(w.T, state)))
		c := &record.Contract{Account: a, McSeqno: b.Seqno, FirstMcSeqno: w.bundles[0].Seqno, LastTransLt: w.lt}
		row := fmt.Sprintf("(%s, %d, %d, 0, 0, -2147483648, 0, 0, 0)", place, b.Seqno, c.FirstMcSeqno)
		if w.random.IntN(8) > 0 {
			c.JettonWallet = &record.JettonWallet{Balance: []byte{byte(balance)}, Owner: w.accounts[0], Master: addressOf(200)}
			owner, master := schema.Prefix(schema.AccountID(w.accounts[0])), schema.Prefix(schema.AccountID(addressOf(200)))
			row = fmt.Sprintf("(%s, %d, %d, 0, %d, 0, %d, %d, 1)", place, b.Seqno, c.FirstMcSeqno, owner, master, byte(balance))
		}
		facts = append(facts, fmt.Sprintf("(%s, %d, %d, unhex('%x'))", place, b.Seqno, c.FirstMcSeqno, packed(w.T, c)))
		wallets = append(wallets, row)
	}
	w.exec(w.T, "INSERT INTO accounts (workchain, account_prefix, account, version, mc_seqno, status, record) VALUES "+strings.Join(states, ","))
	w.exec(w.T, "INSERT INTO contracts (workchain, account_prefix, account, mc_seqno, first_mc_seqno, record) VALUES "+strings.Join(facts, ","))
	w.exec(w.T, "INSERT INTO jetton_wallets (workchain, account_prefix, account, mc_seqno, first_mc_seqno, owner_workchain, owner_prefix, master_workchain, master_prefix, balance, active) VALUES "+strings.Join(wallets, ","))
}

// What is held of accounts and contracts is what ClickHouse has of them at every
// bundle: with room for all of it, with room for little, and while it is read. What
// a replica had too late is there some bundles later.
func TestWhatIsHeldIsWhatTheTablesSayAtEveryBundle(t *testing.T) {
	t.Parallel()
	w := &heldTown{world: newWorld(t, syntheticBundles(3000, 9)), T: t, random: rand.New(rand.NewPCG(7, 8))}
	if len(w.bundles) < 120 {
		t.Fatalf("%d bundles, at least 120 are needed", len(w.bundles))
	}
	for _, table := range []string{"accounts", "contracts", "jetton_wallets"} {
		w.exec(t, "TRUNCATE TABLE "+table)
	}
	for i := range 60 {
		a := addressOf(byte(100 + i))
		if i%10 == 9 { // the first 64 bits are those of the account before
			copy(a[4:], w.accounts[i-1][4:20])
		}
		w.accounts = append(w.accounts, a)
	}
	w.tell(w.bundles[0], w.accounts...)
	w.setWatermark(t, w.bundles[0])
	bare := w.serve(t, holdNothing)
	held := w.serve(t, nil)
	servers := map[string]*server{"all held": held}
	for what, bytes := range map[string]int{"little held": 6_000, "half held": 30_000} {
		servers[what] = w.serve(t, func(c *Configuration) { c.Store.CacheBytes = bytes })
	}
	raw := func(list [][]byte) string {
		var b strings.Builder
		for _, a := range list {
			b.WriteString("&address=" + rawOf(a))
		}
		return b.String()
	}
	compare := func(what string) {
		t.Helper()
		some := slices.Clone(w.accounts)
		w.random.Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
		some = some[:1+w.random.IntN(20)]
		for _, path := range []string{
			"accountStates?include_boc=true" + raw(some), "walletStates?" + raw(w.accounts)[1:], "metadata?" + raw(some)[1:],
			"jetton/wallets?limit=100" + raw(some), "jetton/wallets?sort=desc&limit=7&jetton_address=" + rawOf(addressOf(200)),
			"jetton/wallets?limit=9&offset=5&owner_address=" + rawOf(w.accounts[0]),
		} {
			want := bare.ask("/api/v3/" + path)
			if want.Code != 200 {
				t.Fatalf("%s: %d %s", path, want.Code, want.Body)
			}
			for name, s := range servers {
				for range 2 { // the second time it is held
					got := httptest.NewRecorder()
					s.component.Handler().ServeHTTP(got, httptest.NewRequest(http.MethodGet, "/api/v3/"+path, nil))
					if !bytes.Equal(got.Body.Bytes(), want.Body.Bytes()) {
						t.Fatalf("%s, %s, %s: got\n%s\nwant\n%s", what, name, path, got.Body, want.Body)
					}
				}
			}
		}
	}
	few := func() [][]byte {
		list := make([][]byte, 1+w.random.IntN(6))
		for i := range list {
			list[i] = w.accounts[w.random.IntN(len(w.accounts))]
		}
		return list
	}
	show := func(b *synthetic.Bundle) {
		w.setWatermark(t, b)
		bare.await(b.Seqno)
		for _, s := range servers {
			s.await(b.Seqno)
		}
	}
	last, rounds := 0, 0
	for i := 1; i < 16; i += 1 + w.random.IntN(4) {
		for ; last < i; last++ {
			w.tell(w.bundles[last+1], few()...)
		}
		show(w.bundles[i])
		if rounds++; rounds%3 == 0 { // nothing that comes later is there, so the newest rows stay
			for _, table := range []string{"accounts", "contracts", "jetton_wallets"} {
				w.merge(t, table)
			}
		}
		compare(fmt.Sprintf("bundle %d", i))
		if i%4 == 0 { // what comes with the next bundle may be read, and held, before it
			w.tell(w.bundles[i+1], few()...)
			for _, s := range servers {
				s.ask("/api/v3/accountStates?" + raw(w.accounts)[1:])
			}
		}
		if i > 8 && servers["begun anew"] == nil {
			fresh := w.serve(t, nil) // reads everything while bundles go on
			servers["begun anew"] = fresh
			fresh.await(w.bundles[i].Seqno)
		}
	}
	late := w.bundles[last-5]
	compare("before something is late")
	w.tell(late, w.accounts[3:20]...)
	show(w.bundles[last+70])
	compare("late")
	if n := bare.counter(t, "tonscribe_query_cache_bytes"); n != 0 {
		t.Errorf("%v bytes are held where nothing is to be", n)
	}
}

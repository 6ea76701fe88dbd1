package query

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"testing"

	"tonscribe/bench/synthetic"
	chain "tonscribe/query/head"
	"tonscribe/query/store"
	"tonscribe/schema/record"
	"tonscribe/ton/address"
)

// The ranking is that of the newest balances, whether rows are merged or not, and
// some are there twice: page by page with cursors, and from offsets, which are
// answered from memory and, far away, from the table. Where bundles were skipped
// it is that of the balances that were seen.
func TestTopAccountsAreThoseWithTheGreatestNewestBalances(t *testing.T) {
	t.Parallel()
	for name, skipped := range map[string]func(n int) bool{
		"whole":           func(int) bool { return false },
		"single bundles":  func(n int) bool { return n%3 == 1 },
		"ranges":          func(n int) bool { return n/10%2 == 1 },
		"after the first": func(n int) bool { return 1 <= n && n < 40 },
	} {
		if name == "after the first" && !long() { // ranges have what it has
			continue
		}
		t.Run(name, func(t *testing.T) { checkTopAccounts(t, skipped) })
	}
}

func checkTopAccounts(t *testing.T, skipped func(n int) bool) {
	rows := synthetic.NewRows(synthetic.RowOptions{Transactions: 2_400, Seed: 7, Accounts: 300, Whole: true})
	var all []*synthetic.Bundle
	for b := rows.Next(); b != nil; b = rows.Next() {
		for n, a := range b.Accounts {
			// Many have the same, and some nothing.
			if n%3 == 0 {
				a.State.Balance = uint64(len(all)%2) * 5_000_000_000
			}
		}
		all = append(all, b)
	}
	bundles := without(all, skipped)
	newest := map[string]*record.Account{}
	for _, b := range bundles {
		for _, list := range [][]*record.Account{b.Late, b.Accounts} {
			for _, a := range list {
				newest[string(a.Account)] = a
			}
		}
	}
	var want []*record.Account
	for _, a := range newest {
		want = append(want, a)
	}
	slices.SortFunc(want, func(a, b *record.Account) int {
		return cmp.Or(cmp.Compare(b.State.Balance, a.State.Balance), bytes.Compare(b.Account, a.Account))
	})
	w := newWorld(t, bundles)
	w.exec(t, "INSERT INTO accounts_by_balance SELECT * FROM accounts_by_balance WHERE cityHash64(*) % 3 = 0 SETTINGS insert_deduplicate = 0")
	s := w.serve(t, nil)
	page := func(query string) (names []string, next string) {
		answer := s.ask("/api/v3/topAccountsByBalance?" + query)
		var list []struct{ Account, Balance string }
		if err := json.Unmarshal(answer.Body.Bytes(), &list); err != nil || answer.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", query, answer.Code, answer.Body)
		}
		for _, a := range list {
			names = append(names, a.Account+" "+a.Balance)
		}
		return names, answer.Header().Get("X-Next-Cursor")
	}
	named := make([]string, len(want))
	for i, a := range want {
		named[i] = rawOf(a.Account) + " " + strconv.FormatUint(a.State.Balance, 10)
	}
	for _, limit := range []int{71, 400} {
		var got []string
		for cursor := ""; ; {
			some, next := page(fmt.Sprintf("limit=%d%s", limit, cursor))
			if got = append(got, some...); next == "" || len(got) > len(named) {
				break
			}
			cursor = "&cursor=" + url.QueryEscape(next)
		}
		if at := slices.IndexFunc(named, func(n string) bool { return !slices.Contains(got, n) }); len(got) != len(named) || at >= 0 {
			t.Fatalf("by cursor, %d a page: %d accounts instead of %d, the first one that is missing is %d", limit, len(got), len(named), at)
		}
		for i := range got {
			if got[i] != named[i] {
				t.Fatalf("by cursor, %d a page: number %d is %s instead of %s", limit, i, got[i], named[i])
			}
		}
	}
	for _, offset := range []int{0, 1, 99, len(named) / 2, len(named) - 1, len(named), len(named) + 1} {
		got, _ := page(fmt.Sprintf("limit=20&offset=%d", offset))
		rest := named[min(offset, len(named)):]
		if rest = rest[:min(20, len(rest))]; !slices.Equal(got, rest) {
			t.Errorf("from %d: %v instead of %v", offset, got, rest)
		}
	}
}

// The ranking has what the view has in memory, though the newest view is of more bundles,
// and has less in memory, when the tables have been read.
func TestTopAccountsAreThoseOfTheView(t *testing.T) {
	t.Parallel()
	rows := synthetic.NewRows(synthetic.RowOptions{Transactions: 600, Seed: 7, Accounts: 300, Whole: true})
	var bundles []*synthetic.Bundle
	for b := rows.Next(); b != nil; b = rows.Next() {
		bundles = append(bundles, b)
	}
	const behind = 3
	w := newWorldWith(t, bundles[:len(bundles)-behind], synthetic.NewTokens(rows))
	alone := w.serve(t, nil).component.store // as one that has let go of what tables have, which were read before
	w.log = inMemory(t, bundles, synthetic.NewTokens(rows), len(bundles)-behind)
	s := w.serve(t, nil)
	s.await(bundles[len(bundles)-1].Seqno)
	v, err := s.component.store.View()
	if err != nil {
		t.Fatal(err)
	}
	want, err := s.component.store.TopAccounts(t.Context(), v, 0, 1000, nil)
	if err != nil || len(want) < 100 {
		t.Fatalf("%d accounts: %v", len(want), err)
	}
	got, err := alone.TopAccounts(t.Context(), v, 0, 1000, nil)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%d accounts: %v\nwant %d: %v; %v", len(got), got, len(want), want, err)
	}
}

// An offset up to what a ranking holds is answered however many accounts there are: where the accounts lie in the table says nothing of their balances.
func TestTopAccountsFromADeepOffsetAmongMany(t *testing.T) {
	t.Parallel()
	const accounts = 400_000
	rows := synthetic.NewRows(synthetic.RowOptions{Transactions: 60, Seed: 7, Whole: true})
	w := newWorld(t, []*synthetic.Bundle{rows.Next()})
	for part := range 4 {
		w.exec(t, fmt.Sprintf(`INSERT INTO accounts_by_balance WITH SHA256(toString(number)) AS id
			SELECT 0, reinterpretAsUInt64(reverse(substring(id, 1, 8))), id, %d, 1000000000000 + number * 1000 + %d, 0 FROM numbers(%d)`, part+1, part, accounts))
	}
	s := w.serve(t, nil)
	for _, at := range []int{0, 20_000, 49_000, 48_000} {
		answer := s.ask(fmt.Sprintf("/api/v3/topAccountsByBalance?limit=20&offset=%d", at))
		var list []struct{ Balance string }
		if err := json.Unmarshal(answer.Body.Bytes(), &list); err != nil || answer.Code != http.StatusOK || len(list) != 20 {
			t.Fatalf("from %d: %d %.300s", at, answer.Code, answer.Body)
		}
		for i, a := range list {
			if want := strconv.Itoa(1_000_000_000_000 + (accounts-1-at-i)*1000 + 3); a.Balance != want {
				t.Fatalf("number %d has %s, want %s", at+i, a.Balance, want)
			}
		}
	}
}

// The ranking follows bundles that are in memory without reading tables anew, and what it
// reads does not grow with what is in memory.
func TestTopAccountsFollowWhatIsInMemory(t *testing.T) {
	t.Parallel()
	rows := synthetic.NewRows(synthetic.RowOptions{Transactions: 6_000, Seed: 9, Accounts: 60_000, Whole: true})
	var bundles []*synthetic.Bundle
	for b := rows.Next(); b != nil; b = rows.Next() {
		bundles = append(bundles, b)
	}
	behind := len(bundles) / 2
	w := newWorldWith(t, bundles[:len(bundles)-behind], synthetic.NewTokens(rows))
	read := func(s *server) float64 { return s.rowsRead("ranking", "balances") }
	page := func(s *server, v *chain.View, after *store.Balance) []store.Balance {
		list, err := s.component.store.TopAccounts(t.Context(), v, 0, 200, after)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	alone := w.serve(t, nil)
	old, err := alone.component.store.View()
	if err != nil {
		t.Fatal(err)
	}
	first := page(alone, old, nil)
	most := 1.2 * read(alone)

	w.log = inMemory(t, bundles, synthetic.NewTokens(rows), len(bundles)-behind)
	s := w.serve(t, nil)
	s.await(bundles[len(bundles)-1].Seqno)
	newest, err := s.component.store.View()
	if err != nil {
		t.Fatal(err)
	}
	balances := map[string]*record.Account{}
	compared, again := 0, 0
	for n, b := range bundles {
		for _, list := range [][]*record.Account{b.Late, b.Accounts} {
			for _, a := range list {
				balances[string(a.Account)] = a
			}
		}
		if n < len(bundles)-behind-1 || n%7 > 0 { // most views nobody asks
			continue
		}
		v := *newest
		v.Watermark, v.Memory = b.Seqno, newest.Memory.UpTo(b.Seqno)
		var want []store.Balance
		for _, a := range balances {
			want = append(want, store.Balance{Account: address.Address(a.Account), Amount: a.State.Balance})
		}
		slices.SortFunc(want, func(a, b store.Balance) int {
			return cmp.Or(cmp.Compare(b.Amount, a.Amount), bytes.Compare(a.Account[:], b.Account[:]))
		})
		before := read(s)
		if got := page(s, &v, nil); !slices.Equal(got, want[:len(got)]) || len(got) != 200 {
			t.Fatalf("bundle %d: %d accounts: %v, want %v", b.Seqno, len(got), got, want[:200])
		}
		compared++
		if read(s) > before {
			again++
		}
	}
	if again > compared/10+1 {
		t.Errorf("the ranking was read anew for %d of %d views", again, compared)
	}
	w.exec(t, "INSERT INTO accounts_by_balance SELECT * REPLACE (9000000000000000000 AS balance, version + 1000000000000000 AS version) FROM accounts_by_balance LIMIT 1")
	moved := *newest
	moved.Tables, moved.Watermark, moved.Memory = newest.Tables+1, newest.Watermark+1, newest.Memory.After(newest.Tables+1)
	if got := page(s, &moved, nil)[0].Amount; got != 9_000_000_000_000_000_000 {
		t.Errorf("the richest has %d, want what came into the tables without a newer bundle", got)
	}
	before := read(s)
	page(s, newest, &first[150])
	if got := read(s) - before; got > most {
		t.Errorf("%.0f rows were gone through with %d bundles in memory, want at most %.0f", got, behind, most)
	}
}
